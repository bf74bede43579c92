"""What everybody may know about the values of a column: how many are there, and about where they lie.

Errors of means depend on it.  It is declared by people, as bounds are; a stated error is for data of which it is true.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from fractions import Fraction

from optcomp.errors import InvalidInput, Written
from optcomp.numerics.exact import exact
from optcomp.statistics.domains import Numbers

FACTS = ("present", "centre", "spread")
"""What a plan may say about the values of a column of numbers."""


@dataclass(frozen=True, repr=False)
class Known(Written):
    """What everybody may know about the values of a column; None is what nobody says."""

    present: Fraction | None = None
    """The share of rows that have a value."""
    centre: tuple[Fraction, Fraction] | None = None
    """Between which numbers their mean lies."""
    spread: tuple[Fraction, Fraction] | None = None
    """Between which numbers their standard deviation lies."""

    def __or__(self, other: Known) -> Known:
        """What either says; the other one where both do."""
        mine, others = (
            {name: value for name, value in vars(each).items() if value is not None} for each in (self, other)
        )
        return Known(**mine | others)


UNKNOWN = Known()
"""Nobody says anything."""


def known_from(facts: Mapping[str, object], domain: Numbers, place: str) -> Known:
    """What is said about the values of a column, or of a statistic."""
    low, high = Fraction(domain.low), Fraction(domain.high)
    limits = {"present": (Fraction(0), Fraction(1)), "centre": (low, high), "spread": (Fraction(0), (high - low) / 2)}
    found = {name: _range(value, *limits[name], f"{place}.{name}") for name, value in facts.items()}
    share = found.pop("present", None)
    if share is not None and (share[0] != share[1] or not share[0]):
        raise InvalidInput(f"{place}.present", facts["present"], "must be one share, above 0 and at most 1")
    return Known(present=None if share is None else share[0], **found)


def _range(value: object, least: Fraction, most: Fraction, place: str) -> tuple[Fraction, Fraction]:
    """A number, or two between which it lies."""
    ends = list(value) if isinstance(value, Sequence) and not isinstance(value, str) else [value, value]
    if len(ends) != 2 or any(isinstance(end, bool) or not isinstance(end, int | float | str) for end in ends):
        raise InvalidInput(place, value, "must be a number, or two: [low, high]")
    low, high = (Fraction(exact(repr(end) if isinstance(end, float) else end, place)) for end in ends)
    if not least <= low <= high <= most:
        raise InvalidInput(place, value, f"must lie between {float(least):g} and {float(most):g}, the lower end first")
    return low, high
