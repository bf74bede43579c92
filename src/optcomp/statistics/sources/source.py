"""What a source of cells is."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Collection, Generator, Mapping
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

from optcomp.errors import InvalidInput

if TYPE_CHECKING:
    import pyarrow as pa

BATCH = 1 << 16
"""Rows at a time."""


@dataclass
class Lines:
    """Lines of a file that could not be told apart into cells, by what is wrong; and where the first such line is."""

    bad: dict[str, int] = field(default_factory=dict)
    first: tuple[int, str] | None = None
    longest: int = 1
    """Lines of the one record that has most."""
    file: str | None = None
    """Which file that line is in, if there are several."""

    def note(self, why: str, line: int) -> None:
        """One more."""
        self.bad[why] = self.bad.get(why, 0) + 1
        if self.first is None or line < self.first[0]:
            self.first = line, why


class Source(ABC):
    """Cells of some columns, in batches."""

    name: str
    """For people, if the table has no other name."""
    where: str = "the table"
    """For people, where something in it is told."""
    kinds: Mapping[str, pa.DataType]
    """The type of each column that is asked for."""
    dialect: Mapping[str, Any] = {}
    """What was taken for a record and for a cell, if it is a file of lines."""
    columns: tuple[str, ...] = ()
    """All columns that the source has."""
    size: int | None = None
    """In bytes, if it is a file."""

    def __init__(self) -> None:
        self.lines = Lines()

    @abstractmethod
    def batches(self) -> Generator[Any]:
        """Record batches of Arrow, with the columns that are asked for; once."""

    def close(self) -> None:
        """Let go of what was opened, where nothing will be read."""
        return

    def in_numbers(self, column: Any) -> Any:
        """A plain column in which numbers in text are written with a decimal point."""
        return column

    def share(self, rows: int) -> float:
        """How much of it has been read after so many rows, between 0 and 1; 0 where nobody can tell."""
        return 0.0

    def number(self, row: int) -> int:
        """The number of a row, or of its line, counted from 1; rows are counted from 0."""
        return row + 1

    def place(self, row: int) -> str:
        """Where a row is, for whoever holds the data."""
        return f"row {self.number(row):,}"


def all_known(used: Collection[str], known: Collection[Any]) -> None:
    """Refuses columns that are not there."""
    for column in used:
        if column not in known:
            raise InvalidInput("columns", column, f"is not in the table, which has {', '.join(map(str, known))}")
