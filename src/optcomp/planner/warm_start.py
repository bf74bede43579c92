"""What the search for a plan found, as plain JSON: whoever has it begins the next search near the end of this one.

It is a hint and no more.  A plan that begins with it is certified like any other, so a wrong hint costs time and
nothing else.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

from optcomp.statistics.noise import EPSILON, RHO, Currency

Way = tuple[Currency, Currency]
"""What noise that is left open is paid in: that of statistics held at an error, and that of the others."""
_CURRENCIES = {each.name: each for each in (EPSILON, RHO)}
"""By the names that are written down."""
_MOST = 1e100
"""Numbers that floats can compute with, squared too."""


@dataclass(frozen=True)
class WarmStart:
    """The amounts of a plan by the names of its statistics, and what each way to choose noise came to."""

    amounts: Mapping[str, float] = field(default_factory=dict)
    values: Mapping[Way, float] = field(default_factory=dict)

    def document(self) -> dict[str, Any]:
        """Ready for JSON."""
        ways = [[held.name, free.name, value] for (held, free), value in self.values.items()]
        return {"amounts": dict(self.amounts), "ways": ways}


def read_warm_start(document: object) -> WarmStart:
    """The same again; what cannot be read is left out, for it is only a hint."""
    if not isinstance(document, Mapping):
        return WarmStart()
    amounts, ways = document.get("amounts"), document.get("ways")
    named = amounts.items() if isinstance(amounts, Mapping) else ()
    found = map(_way, ways if isinstance(ways, list) else ())
    return WarmStart(
        {str(name): number for name, each in named if (number := _positive(each)) is not None},
        dict(each for each in found if each is not None),
    )


def _way(entry: object) -> tuple[Way, float] | None:
    if not isinstance(entry, list) or len(entry) != 3:
        return None
    held, free = (_CURRENCIES.get(name) if isinstance(name, str) else None for name in entry[:2])
    value = _positive(entry[2])
    return None if held is None or free is None or value is None else ((held, free), value)


def _positive(value: object) -> float | None:
    """A positive finite number, or nothing."""
    if isinstance(value, bool) or not isinstance(value, int | float):
        return None
    return float(value) if 0 < value < _MOST else None
