"""A small table, and how tests of ledgers read amounts."""

from __future__ import annotations

from fractions import Fraction
from typing import Any

import pyarrow

from optcomp.ledger import Ledger
from optcomp.statistics import Integers, Table


def people(**declared: Any) -> Table:
    """A hundred rows; `declared` as for a table."""
    columns = {"age": Integers(0, 99)}
    data = {"age": list(range(100)), "who": [f"p{number // 2}" for number in range(100)]}
    return Table(pyarrow.table(data), columns, name="people", **declared)


def spent(holder: Any) -> Fraction:
    """Σε of an account or a session."""
    found: Fraction = holder.budget.spent.epsilon
    return found


def kinds(ledger: Ledger) -> list[str]:
    """Of all entries in the chain."""
    with ledger._books.database.read() as connection:
        return [row.kind for row in connection.exec_driver_sql("SELECT kind FROM entries ORDER BY sequence")]
