"""Exact counts about a file, for whoever holds the data: its lines, people and columns, and conditions of a plan."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass


@dataclass(frozen=True)
class FileCounts:
    """The file: what of it becomes rows, and what does not."""

    name: str
    size: int
    rows: int
    declared_rows: int | None
    exact_rows: bool
    """Whether a release refuses any other number of rows: the secrecy of the sample depends on it."""
    unread: Mapping[str, int]
    """Lines that are no rows, by what is wrong with them."""
    cut: Mapping[str, int]
    """Lines of which a part is not read."""
    longest_cell: int
    """Line breaks in the one cell that has most."""
    not_utf8: int | None
    """The first line that is not UTF-8; None if all are, or if the file is no text."""
    unmentioned: tuple[str, ...]
    """Columns that the plan does not name."""


@dataclass(frozen=True)
class PersonCounts:
    """Whose rows they are; rows beyond `allowed` of one person are dropped, and so are rows of nobody."""

    column: str
    people: int
    rows: int
    nobody: int
    most: int
    allowed: int
    over: int
    """People with more rows than allowed."""
    dropped: int


@dataclass(frozen=True)
class ColumnCounts:
    """A declared column; every row is missing, unreadable or unknown, or one of the values that count."""

    name: str
    kind: str
    rows: int
    missing: int
    unreadable: int = 0
    """Cells that are there and hold no number."""
    rounded: int = 0
    """Numbers that are not whole, in a column of integers."""
    below: int = 0
    above: int = 0
    low: float | None = None
    high: float | None = None
    least: float | None = None
    greatest: float | None = None
    """The ends of what could be read, infinities left out."""
    unknown: int = 0
    """Cells that are there and hold none of the categories."""
    other: int = 0
    """Rows in the bucket for the rest: unknown or missing."""
    examples: tuple[str, ...] = ()
    """The most frequent cells that are unreadable or unknown."""
    unseen: tuple[str, ...] = ()
    """Categories that no row has."""
    reckoned: float | None = None
    """The share of rows with a value that errors are stated for; None if no error depends on it."""

    @property
    def values(self) -> int:
        """Rows that hold something readable."""
        return self.rows - self.missing - self.unreadable


@dataclass(frozen=True)
class ConditionCounts:
    """The condition of a statistic, and how many rows satisfy it."""

    statistic: str
    where: str
    rows: int
    declared: int | None
    """As the statistic says, or those of the table."""
    own: bool
    """Whether the statistic says so itself."""
    matters: bool
    """Whether the stated error depends on it."""
    values: int | None = None
    """How many of them have a value, if the stated error depends on it."""
    reckoned: int | None = None
    """For how many the error is stated."""
