"""A small centre for tests: a ledger with an account, a snapshot, and slots of two analysts."""

from __future__ import annotations

import os
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from fractions import Fraction
from pathlib import Path
from typing import Any

import pyarrow

from optcomp.ledger import Ledger
from optcomp.statistics import Categories, Domain, Integers, Question, Statistic, Table

ACCOUNT, SLOTS = "survey", {"ada": ("1", "1e-7"), "ben": ("1/2", "0")}
"""Names and shares."""
ROWS = 200
"""Rows of the table."""


@dataclass(frozen=True)
class PlaceOfTests:
    """What stands for the settings of a service."""

    home: Path
    ledger: str
    private: Path
    witness: str | None = None
    seconds: float = 60.0
    runners: int = 1
    databases: tuple[str, ...] = ()
    readers: int = 0
    waiting: int = 100
    memory: int = 4096
    free_seconds: float = 60.0
    free_memory: int = 4096


def people(name: str = "people", rows: int = ROWS) -> Table:
    """Rows whose counts are known."""
    regions = ["north", "south", "islands", "north"]
    data: dict[str, list[Any]] = {
        "age": [row % 100 for row in range(rows)],
        "region": [regions[row % 4] for row in range(rows)],
    }
    data |= {"place": list(range(rows)), "time": list(range(rows))}
    columns: dict[str, Domain] = {"age": Integers(0, 99), "region": Categories(["north", "south"])}
    columns |= {"place": Integers(0, 219), "time": Integers(0, 219)}
    return Table(pyarrow.table(data), columns, name=name)


@dataclass(frozen=True)
class SmallCenter:
    """Everything that a job needs."""

    settings: PlaceOfTests
    snapshot: Path

    def seat(self, slot: str = "ada") -> dict[str, str]:
        """The seat of an analyst."""
        return {"account": ACCOUNT, "slot": slot, "snapshot": str(self.snapshot)}

    def ledger(self) -> Ledger:
        """The same ledger, opened in this process."""
        return Ledger(self.settings.ledger, private=self.settings.private)

    def spent(self, slot: str = "ada") -> Fraction:
        """Σε of a slot, as the ledger has it."""
        with self.ledger() as ledger:
            found: Fraction = ledger.account(ACCOUNT).slot(slot).budget.spent.epsilon  # type: ignore[assignment]
            return found

    @contextmanager
    def without_rows(self, instead: bytes | None = None) -> Iterator[None]:
        """As long as this lasts, the rows are lost, or something else is in their place."""
        rows, kept = self.snapshot / "rows.parquet", self.snapshot / "kept.parquet"
        os.rename(rows, kept)
        try:
            if instead is not None:
                rows.write_bytes(instead)
            yield
        finally:
            os.replace(kept, rows)

    def waiting(self) -> int:
        """How many requests are paid for and have no answer."""
        with self.ledger() as ledger:
            return len(ledger.waiting())


def small_center(folder: Path, rows: int = ROWS, ledger: str | None = None, **settings: Any) -> SmallCenter:
    """A new centre in an empty folder; its ledger is a file, or at an address."""
    address = str(folder / "center.ledger") if ledger is None else ledger
    place = PlaceOfTests(folder, address, folder / "center.ledger.private", **settings)
    snapshot = people(rows=rows).save(folder / "snapshots" / "people" / "1")
    with Ledger(place.ledger, private=place.private) as made:
        made.open(ACCOUNT, epsilon="3", delta="1e-6").cut(SLOTS, delta="1e-7", name="first")
    return SmallCenter(place, snapshot)


def form(statistic: Statistic, **spent: Any) -> dict[str, Any]:
    """A question as it is sent."""
    return Question(statistic, **spent).document()
