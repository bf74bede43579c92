"""A ledger in which a bit of everything has happened."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pyarrow as pa
import pytest
from sqlalchemy import text

from optcomp.errors import MechanismFailed
from optcomp.guarantees import PureDP
from optcomp.interactive import SparseVector, SumFilter
from optcomp.ledger import Account, DurableSession, Ledger
from optcomp.statistics import Count, Declared, Integers, Question, Table

TABLE = {"age": list(range(40, 80)) * 2}


def table(**more: Any) -> Table:
    """Eighty people."""
    return Table(pa.table(TABLE), {"age": Integers(0, 110)}, name="people", **more)


def filled(place: tuple[str, Path]) -> tuple[Ledger, Account, DurableSession]:
    """Questions, a mechanism, a plan, slots, a release entered, a lower cap, a request without an answer."""
    ledger = Ledger(place[0], private=place[1])
    people = table()
    account = ledger.open("survey", epsilon="3", delta="1e-6", neighbours="replace", person=False)
    session = account.session(people, SumFilter("0.6"), name="ada")
    session.ask(Count(), epsilon="0.1")
    session.ask(Count("age > 60"), epsilon="0.05", key="mine")
    run = session.open(SparseVector(10**6, epsilon="0.1"))
    run.ask(Count("age > 100"))
    run.ask(Count("age > 101"))
    plan = session.commit([Question(Count(), epsilon="0.01"), Question(Count("age > 50"), epsilon="0.02")])
    plan.answer(1)
    slots = account.cut({"left": "0.1", "middle": "0.1", "right": "0.2"}, delta="1e-8")
    slots["left"].session(people, SumFilter("0.05")).ask(Count(), epsilon="0.01")
    slots["right"].split({"a": "0.05", "b": "0.1"})["a"].hand_on("c")
    other = ledger.open("others", SumFilter("1"), disjoint=True)
    declared = Declared({"age": Integers(0, 110)})
    other.enter(key="old", what="a release of last year", offers=[(PureDP("1/3"),)], declared=declared)
    other.enter(key="older", what="a release of the year before", offers=[(PureDP("2/3"),)], declared=declared)
    other.enter(key="too much", what="another one", offers=[(PureDP("1/9"),)], declared=declared)
    interrupt(session)
    session.close()
    return ledger, account, session


def interrupt(session: DurableSession) -> None:
    """Pay for something that fails while it runs: it waits for whoever tries again."""

    def broken() -> int:
        raise RuntimeError

    with pytest.raises(MechanismFailed):
        session.pay("something", [PureDP("1/100")], broken, key="later")


def change(ledger: Ledger, statement: str, **values: Any) -> None:
    """Plain SQL, as somebody who holds the database would write it."""
    with ledger._books.database.engine.connect() as connection, connection.begin():
        if connection.dialect.name == "postgresql":
            connection.execute(text("SET TRANSACTION READ WRITE"))
        connection.execute(text(statement), values)
