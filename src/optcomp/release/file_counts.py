"""Exact counts about a file, for whoever holds the data: its lines, people and columns, and conditions of a plan."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field

from optcomp.statistics import BadCells


@dataclass(frozen=True)
class FileCounts:
    """The file: how many rows it has, and which of its lines cannot be read."""

    name: str
    size: int
    rows: int
    """Lines that cannot be read are among them: rows without a value."""
    declared_rows: int | None
    exact_rows: bool
    """Whether a release refuses any other number of rows: the secrecy of the sample depends on it."""
    bad_cells: BadCells
    """What preparation does with what it cannot read."""
    unread: Mapping[str, int]
    """Lines that cannot be told apart into cells, by what is wrong with them."""
    first_unread: str | None
    """Where the first of them is."""
    longest_record: int
    """Lines of the one record that has most."""
    unmentioned: tuple[str, ...]
    """Columns that the plan does not name."""


@dataclass(frozen=True)
class PersonCounts:
    """Whose rows they are; rows beyond `allowed` of one person are dropped, and so are rows of nobody."""

    column: str
    people: int
    rows: int
    """Those that belong to somebody."""
    nobody: int
    allowed: int
    dropped: int
    """Rows of somebody that the lot does not leave."""
    most: int | None = None
    """Rows of the one person who has most; None if nobody counted."""
    over: int | None = None
    """People with more rows than allowed."""
    unreadable: int = 0
    """Cells that are there and cannot be read: their rows belong to nobody."""
    reasons: Mapping[str, int] = field(default_factory=dict)
    """Why not."""
    first_unread: str | None = None
    """Where the first of them is."""


@dataclass(frozen=True)
class MovedShare:
    """The category whose share the lot moves most: its share of all rows of somebody, and of those that stay."""

    category: str
    everything: float
    kept: float


@dataclass(frozen=True)
class ColumnCounts:
    """A declared column; every row is missing, unreadable or unknown, or one of the values that count."""

    name: str
    kind: str
    rows: int
    missing: int
    unreadable: int = 0
    """Cells that are there and cannot be read."""
    reasons: Mapping[str, int] = field(default_factory=dict)
    """Why not."""
    first_unread: str | None = None
    """Where the first of them is."""
    rounded: int = 0
    """Numbers that are not whole, in a column of integers."""
    below: int = 0
    above: int = 0
    low: float | str | None = None
    high: float | str | None = None
    least: float | str | None = None
    greatest: float | str | None = None
    """The ends of what could be read, infinities left out."""
    unknown: int = 0
    """Cells that are there and hold none of the categories."""
    other: int = 0
    """Rows in the bucket for the rest: unknown, missing or unreadable."""
    examples: tuple[str, ...] = ()
    """The most frequent cells that are unknown, or no numbers."""
    unseen: tuple[str, ...] = ()
    """Categories that no row has."""
    reckoned: float | None = None
    """The share of rows with a value that errors are stated for; None if no error depends on it."""
    mean: float | None = None
    """Of the values as they count, over all rows of somebody; None if there is none, or if nobody counted."""
    mean_kept: float | None = None
    """Over the rows that the lot leaves."""
    moved: MovedShare | None = None
    """What the lot does to categories; None if nobody counted."""
    counted: int | None = None
    """Rows that count in its histograms, where groups and rows in a group are bounded too."""
    left: int | None = None
    """Of so many that the lot leaves."""

    @property
    def values(self) -> int:
        """Rows that hold something readable."""
        return self.rows - self.missing - self.unreadable


@dataclass(frozen=True)
class ConditionCounts:
    """The condition of a statistic, and how many rows and people satisfy it before and after the lot."""

    statistic: str
    where: str
    rows: int
    """After the lot: those that the statistic is about."""
    people: int
    rows_before: int
    people_before: int
    declared: int | None
    """As the statistic says, or those of the table."""
    own: bool
    """Whether the statistic says so itself."""
    matters: bool
    """Whether the stated error depends on it."""
    values: int | None = None
    """How many of the rows have a value, if the stated error depends on it."""
    reckoned: int | None = None
    """For how many the error is stated."""
