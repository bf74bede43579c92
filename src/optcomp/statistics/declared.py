"""What is declared about a table: its columns, whose row it is, how much one person may be, who counts as a neighbour.

Two data sets are neighbours if they differ in all rows of one person: added or removed ("add-remove"), or exchanged
for the rows of another one ("replace").  Nothing here holds data.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, get_args

from optcomp.errors import InvalidInput
from optcomp.guarantees import Neighbours as Neighbours
from optcomp.numerics import whole
from optcomp.statistics.domains import Categories, Domain, Listed, Numbers, Text
from optcomp.statistics.fixed import Fixed

_KINDS: dict[type[Any], str] = {
    Numbers: "integers or reals",
    Listed: "integers, reals, dates or categories",
    Text: "text",
}
"""What a column must be declared as, for people."""
_MOST_ROWS = 10**6
"""Of one person: beyond, noise drowns everything."""


@dataclass(frozen=True)
class Contribution:
    """How much of the table one person can be: rows in all, cells of a histogram, rows in one cell."""

    rows: int
    groups: int
    rows_per_group: int
    replace: bool

    @property
    def of_rows(self) -> Contribution:
        """Where nothing but the number of rows is bounded."""
        return Contribution(self.rows, self.rows, self.rows, self.replace)

    @property
    def cells_l1(self) -> int:
        """The most that the counts of disjoint cells can change in all."""
        return min(self.rows, self.groups * self.rows_per_group) * (2 if self.replace else 1)

    @property
    def cells_l2_squared(self) -> int:
        """The same for the sum of squares: as many full cells as fit, and one with the rest."""
        full = min(self.groups, self.rows // self.rows_per_group)
        rest = min(self.rows - full * self.rows_per_group, self.rows_per_group) if full < self.groups else 0
        return (full * self.rows_per_group**2 + rest**2) * (2 if self.replace else 1)

    def cells_change(self, low: int, high: int) -> tuple[int, int]:
        """The most that sums of disjoint cells can change in all, and the sum of their squares.

        Each row adds something in [low, high], or nothing, to one cell.  Say M is the largest |x|, and S the largest
        sum of squares of one person's counts.  If rows u become v, |u - v|² ≤ 2S·M² - 2u·v, and -u·v ≤ S·high·(-low).
        Where all rows may be in one cell, u and v are mixtures of such, and |u - v|² is largest at two of them: both
        in one cell, or in two.
        """
        top, bottom = max(high, 0), min(low, 0)
        most, alone = max(top, -bottom), Contribution(self.rows, self.groups, self.rows_per_group, replace=False)
        l1, squares = alone.cells_l1 * most, alone.cells_l2_squared
        if not self.replace:
            return l1, squares * most**2
        if self.rows_per_group == self.rows:
            return 2 * l1, squares * max((top - bottom) ** 2, 2 * most**2)
        return 2 * l1, 2 * squares * (most**2 - top * bottom)

    def sum_change(self, low: int, high: int) -> int:
        """The most that a sum can change to which each row adds something in [low, high], or nothing."""
        top, bottom = max(high, 0), min(low, 0)
        return self.rows * (top - bottom if self.replace else max(top, -bottom))


@dataclass(frozen=True, init=False, eq=False, repr=False)
class Declared:
    """What is declared about a table: all that sensitivities and accuracies depend on, and no data; it never changes.

    `columns` declares the columns that may be used, `person` the column that says whose row it is; without it every row
    is a person of its own.  `rows_per_person` bounds what a person contributes; in histograms of the columns
    `grouped_by` (all categories and texts, unless named) so do `groups_per_person` and `rows_per_group`.  `population`
    names the people whom the table is about: tables with different names are taken to be about different people, and a
    table without one may be about anybody.
    """

    columns: Fixed[Domain]
    person: str | None
    neighbours: Neighbours
    name: str
    population: str | None
    contribution: Contribution
    grouped_by: tuple[str, ...]

    def __init__(
        self,
        columns: Mapping[str, Domain],
        *,
        person: str | None = None,
        rows_per_person: int = 1,
        groups_per_person: int | None = None,
        rows_per_group: int | None = None,
        grouped_by: Sequence[str] | None = None,
        neighbours: Neighbours = "add-remove",
        name: str = "table",
        population: str | None = None,
    ) -> None:
        if neighbours not in get_args(Neighbours):
            raise InvalidInput("neighbours", neighbours, "must be 'add-remove' or 'replace'")
        rows = whole(rows_per_person, "rows_per_person", 1, _MOST_ROWS)
        groups = rows if groups_per_person is None else whole(groups_per_person, "groups_per_person", 1, rows)
        each = rows if rows_per_group is None else whole(rows_per_group, "rows_per_group", 1, rows)
        if person is None and rows > 1:
            raise InvalidInput("rows_per_person", rows_per_person, "needs a column `person` that tells people apart")
        for argument, value in (("person", person), ("population", population)):
            if value is not None and not isinstance(value, str):
                raise InvalidInput(argument, value, "must be a name")
        object.__setattr__(self, "columns", _declared(columns))
        object.__setattr__(self, "person", person)
        object.__setattr__(self, "neighbours", neighbours)
        object.__setattr__(self, "name", name)
        object.__setattr__(self, "population", population)
        object.__setattr__(self, "contribution", Contribution(rows, groups, each, neighbours == "replace"))
        object.__setattr__(self, "grouped_by", self._groups(grouped_by))

    @property
    def arguments(self) -> dict[str, Any]:
        """By which the same is declared again, of this table or of another one."""
        bounds = self.contribution
        return {
            "columns": self.columns,
            "person": self.person,
            "rows_per_person": bounds.rows,
            "groups_per_person": bounds.groups,
            "rows_per_group": bounds.rows_per_group,
            "grouped_by": self.grouped_by or None,
            "neighbours": self.neighbours,
            "name": self.name,
            "population": self.population,
        }

    @property
    def declared(self) -> Declared:
        """The declarations by themselves, without any data."""
        return Declared(**self.arguments)

    def _groups(self, named: Sequence[str] | None) -> tuple[str, ...]:
        """The columns in whose groups people are bounded; none if the number of rows says it all."""
        bounds = self.contribution
        if min(bounds.groups, bounds.rows_per_group) == bounds.rows:
            if named:
                raise InvalidInput(
                    "grouped_by", named, "needs groups_per_person or rows_per_group below rows_per_person"
                )
            return ()
        if isinstance(named, str) or not (named is None or isinstance(named, Sequence)):
            raise InvalidInput("grouped_by", named, "must be a list of columns")
        for column in named or ():
            self.domain(column, Domain, "grouped_by")
        if named:
            return tuple(dict.fromkeys(named))
        found = tuple(name for name, domain in self.columns.items() if isinstance(domain, Categories | Text))
        if not found:
            raise InvalidInput("grouped_by", named, "must name the columns in whose groups people are bounded")
        return found

    def domain(self, column: str, kind: type[Any], argument: str = "column") -> Any:
        """The declared domain of a column, which must be of this kind."""
        if not isinstance(column, str) or column not in self.columns:
            declared = ", ".join(self.columns) or "none"
            raise InvalidInput(argument, column, f"is not a declared column of {self.name} ({declared})")
        domain = self.columns[column]
        if not isinstance(domain, kind):
            wanted = _KINDS.get(kind, kind.__name__)
            raise InvalidInput(argument, column, f"must be declared as {wanted}, and is {domain!r}")
        return domain

    def __repr__(self) -> str:
        whose = f"person={self.person!r}, rows_per_person={self.contribution.rows}" if self.person else "one row each"
        return f"{type(self).__name__}({self.name!r}, {len(self.columns)} columns, {whose}, {self.neighbours})"


def _declared(columns: Mapping[str, Domain]) -> Fixed[Domain]:
    if not isinstance(columns, Mapping) or any(not isinstance(each, Domain) for each in columns.values()):
        raise InvalidInput("columns", columns, "must map names to Integers, Reals, Dates, Categories or Text")
    return Fixed(columns)
