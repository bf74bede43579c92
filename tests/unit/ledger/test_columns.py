"""Columns of both databases: numbered rows, and values from a list."""

from __future__ import annotations

import pytest
from sqlalchemy import Column, MetaData, String, Table, create_engine, insert, select
from sqlalchemy.exc import IntegrityError
from sqlalchemy.schema import CreateTable

from optcomp.ledger import RowNumber, one_of
from optcomp.ledger.states import SlotState


def test_rows_are_numbered_and_values_are_checked() -> None:
    states = Column("state", String(16), nullable=False)
    made = Table("made", MetaData(), Column("id", RowNumber, primary_key=True), states, one_of("state", *SlotState))
    engine = create_engine("sqlite://")
    with engine.begin() as connection:
        made.create(connection)
        for state in SlotState:
            connection.execute(insert(made).values(state=state))
        assert list(connection.scalars(select(made.c.id))) == list(range(1, len(SlotState) + 1))
    with engine.begin() as connection, pytest.raises(IntegrityError):
        connection.execute(insert(made).values(state="another"))
    engine.dispose()
    assert "id BIGSERIAL" in str(CreateTable(made).compile(dialect=create_engine("postgresql+psycopg://").dialect))
