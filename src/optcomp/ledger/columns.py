"""Columns and functions that mean the same in SQLite and in PostgreSQL, as far as both have them."""

from __future__ import annotations

from typing import Any

from sqlalchemy import BigInteger, CheckConstraint, Integer
from sqlalchemy.ext.compiler import compiles
from sqlalchemy.sql.expression import ColumnElement, FunctionElement

RowNumber = BigInteger().with_variant(Integer, "sqlite")
"""SQLite numbers rows by itself only in columns of this type, which hold 64 bits there and need no index."""


def one_of(column: str, *values: str) -> CheckConstraint:
    """The database refuses any other value in a column."""
    return CheckConstraint(f"{column} IN ({', '.join(repr(str(value)) for value in values)})")


class PostgresNumber(FunctionElement[int]):
    """A whole number that an expression of PostgreSQL gives; NULL in SQLite."""

    inherit_cache = False
    type = BigInteger()

    def __init__(self, expression: str) -> None:
        super().__init__()
        self.written = expression


@compiles(PostgresNumber)
def _in_sqlite(element: PostgresNumber, compiler: Any, **more: Any) -> str:
    return "NULL"


@compiles(PostgresNumber, "postgresql")
def _in_postgres(element: PostgresNumber, compiler: Any, **more: Any) -> str:
    return f"CAST({element.written} AS BIGINT)"


def transaction_number() -> ColumnElement[int]:
    """The number of the current transaction, 64 bits with its epoch."""
    return PostgresNumber("txid_current()")


def inserting_transaction(table: str) -> ColumnElement[int]:
    """The low 32 bits of the number of the transaction that inserted a row of this table, as PostgreSQL keeps it."""
    return PostgresNumber(f"CAST({table}.xmin AS TEXT)")


def table_number(table: str) -> ColumnElement[int]:
    """The number (oid) of a table: one that was dropped and made anew has another."""
    return PostgresNumber(f"CAST('{table}' AS regclass)")
