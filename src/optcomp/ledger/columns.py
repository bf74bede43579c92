"""Columns that mean the same in SQLite and in PostgreSQL."""

from __future__ import annotations

from sqlalchemy import BigInteger, CheckConstraint, Integer

RowNumber = BigInteger().with_variant(Integer, "sqlite")
"""SQLite numbers rows by itself only in columns of this type, which hold 64 bits there and need no index."""


def one_of(column: str, *values: str) -> CheckConstraint:
    """The database refuses any other value in a column."""
    return CheckConstraint(f"{column} IN ({', '.join(repr(str(value)) for value in values)})")
