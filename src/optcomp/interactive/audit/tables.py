"""Two neighbouring tables of a few people, for audits: they differ in one person, and by as much as is declared.

That person's values lie at or beyond the upper ends of their domains, and where rows are bounded there are more of
them than allowed: nothing less would do for an attack, and clamping and bounding are attacked with the rest.
"""

from __future__ import annotations

from functools import cache
from typing import Any, get_args

from optcomp.extras import needed
from optcomp.statistics import Categories, Integers, Neighbourhood, Reals, Table

NEIGHBOURHOODS: tuple[Neighbourhood, ...] = get_args(Neighbourhood)
"""All of them."""

_Row = tuple[int, int, float | None, str, int | None]
"""What is known of a person, in the order of the columns."""
_COLUMNS = ("person", "age", "income", "region", "score")
"""The names of the columns."""
_DECLARED = {
    "age": Integers(0, 10),
    "income": Reals(0, 1000),
    "region": Categories(["north", "south"]),
    "score": Integers(0, 19),
}
"""What they may hold."""
_PEOPLE: list[_Row] = [
    (1, 2, 100.0, "north", 4),
    (2, 5, 200.5, "north", 4),
    (3, 8, 900.25, "north", 4),
    (4, 5, None, "south", None),
    *((person, 6, 500.0, "north", None) for person in range(5, 22)),
]
"""Whom all tables share; some have cells that are missing."""
_HIGH: _Row = (99, 999, 1e9, "south", 999)
"""In whom they differ: values far beyond the bounds, so that clamping is attacked too."""
_LOW: _Row = (99, -999, -1e9, "north", -999)
"""The same person at the other end."""


class Remembered(Table):
    """A table whose engine is asked each query once: from then on only the noise differs from run to run.

    So does not, then, which rows of a person are kept; here those are all alike.
    """

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
    if how == "added":
        return _table([]), _table([_HIGH])
    if how == "replaced":
        return _table([_LOW], neighbours="replace"), _table([_HIGH], neighbours="replace")
    if how == "rows":
        return _table([], person="person", rows_per_person=2), _table([_HIGH] * 3, person="person", rows_per_person=2)
    bounds = {"person": "person", "rows_per_person": 2, "rows_per_group": 1}
    return _table([], **bounds), _table([_HIGH, _HIGH, (99, 999, 1e9, "north", 999)], **bounds)


def _table(rows: list[_Row], **bounds: object) -> Remembered:
    arrow: Any = needed("pyarrow", "data")
    columns = zip(*_PEOPLE, *rows, strict=True)
    source = arrow.table({name: list(values) for name, values in zip(_COLUMNS, columns, strict=True)})
    return Remembered(source, _DECLARED, name="people", **bounds)  # type: ignore[arg-type]
