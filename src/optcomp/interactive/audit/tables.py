"""Two neighbouring tables of a few people, for audits: they differ in one person, and by as much as is declared.

That person's values lie at or beyond the upper ends of their domains, and where rows are bounded there are more of
them than allowed: nothing less would do for an attack, and clamping and bounding are attacked with the rest.
"""

from __future__ import annotations

from collections.abc import Callable, Hashable
from functools import cache
from typing import Any, get_args

from optcomp.extras import needed
from optcomp.statistics import Categories, Integers, Neighbourhood, Reals, Table, Text

NEIGHBOURHOODS: tuple[Neighbourhood, ...] = get_args(Neighbourhood)
"""All of them."""

Row = tuple[int, int, float | None, str, int | None, str]
"""What is known of a person, in the order of the columns."""
COLUMNS = ("person", "age", "income", "region", "score", "word")
"""The names of the columns."""
DECLARED = {
    "age": Integers(0, 10),
    "income": Reals(0, 1000),
    "region": Categories(["north", "south"]),
    "score": Integers(0, 19),
    "word": Text(20),
}
"""What they may hold."""
PEOPLE: list[Row] = [
    (1, 2, 100.0, "north", 4, "first"),
    (2, 5, 200.5, "north", 4, "first"),
    (3, 8, 900.25, "north", 4, "first"),
    (4, 5, None, "south", None, "second"),
    *((person, 6, 500.0, "north", None, ("first", "second")[person % 2]) for person in range(5, 22)),
]
"""Whom all tables share; some have cells that are missing."""
DIFFERS = 99
"""The person in whom they differ."""
_HIGH: Row = (DIFFERS, 999, 1e9, "south", 999, "first")
"""Their row: values far beyond the bounds, so that clamping is attacked too."""
_LOW: Row = (DIFFERS, -999, -1e9, "north", -999, "second")
"""The same person at the other end."""

BOUNDS: dict[Neighbourhood, dict[str, Any]] = {
    "added": {},
    "replaced": {"neighbours": "replace"},
    "rows": {"person": "person", "rows_per_person": 2},
    "groups": {"person": "person", "rows_per_person": 2, "rows_per_group": 1},
}
"""What is declared about one person."""
LOT = bytes(32)
"""A key of the lot under which the person in whom the tables differ keeps a row in each of two groups.

The guarantee holds for every key; under others, that person may count for less than is declared.
"""
FIRST: dict[Neighbourhood, list[Row]] = {"added": [], "replaced": [_LOW], "rows": [], "groups": []}
"""The rows of the person in whom the tables differ, in the first table."""
_SECOND: dict[Neighbourhood, list[Row]] = {
    "added": [_HIGH],
    "replaced": [_HIGH],
    "rows": [_HIGH] * 3,
    "groups": [_HIGH, _HIGH, (DIFFERS, 999, 1e9, "north", 999, "nobody else's")],
}
"""The same in the second table."""


class Remembered(Table):
    """A table whose engine is asked each query once: from then on only the noise differs from run to run.

    With `like` it takes the text of its queries from a table of the same declaration: building them takes longest.
    """

    like: Remembered | None = None

    def prepared(self, question: Hashable, build: Callable[[Table], Any]) -> str:
        """The query for a question."""
        return super().prepared(question, build) if self.like is None else self.like.prepared(question, build)

    def run(self, query: str) -> list[tuple[object, ...]]:
        """The rows of a result."""
        found: dict[str, list[tuple[object, ...]]] = self.__dict__.setdefault("_found", {})
        if query not in found:
            found[query] = super().run(query)
        return found[query]


Tables = tuple[Remembered, Remembered]
"""Two neighbours."""


@cache
def neighbouring(how: Neighbourhood) -> Tables:
    """The first and the second table."""
    return _table(how, FIRST[how]), _table(how, _SECOND[how])


def _table(how: Neighbourhood, rows: list[Row]) -> Remembered:
    arrow: Any = needed("pyarrow", "data")
    columns = zip(*PEOPLE, *rows, strict=True)
    source = arrow.table({name: list(values) for name, values in zip(COLUMNS, columns, strict=True)})
    return Remembered(source, DECLARED, name="people", lot_key=LOT, **BOUNDS[how])
