"""What sums, means and variances share: sums of distances from an origin, and how far off ratios of sums are."""

from __future__ import annotations

import math
from abc import abstractmethod
from collections.abc import Hashable, Mapping, Sequence
from dataclasses import replace
from fractions import Fraction
from functools import cached_property

from optcomp.errors import InvalidInput
from optcomp.numerics import whole as whole_number
from optcomp.statistics.domains import Coarse, Numbers
from optcomp.statistics.fragments import Schema, whole
from optcomp.statistics.joint_noise import UP, Noises
from optcomp.statistics.part import Part
from optcomp.statistics.stated import Setting, StatedError
from optcomp.statistics.table import Shape

MOST_ROWS = 10**15
"""More than there are people, and floats count them exactly."""
Ends = tuple[float, float]
"""Two numbers between which something lies."""
NARROWER = 3
"""How often a bound on an error is put into itself: after that it hardly moves."""


def steps(column: str, coarse: Coarse) -> dict[str, Shape]:
    """The column of a statistic in whole units counted from the lowest."""
    return {"steps": (column, coarse.of)}


def ratio(total: Fraction, count: Fraction) -> Fraction:
    """A noisy count may be zero or less; there is at least one row then, or the ratio is of no use anyway."""
    return total / max(count, Fraction(1))


def most_from_middle(domain: Numbers, coarse: Coarse) -> float:
    """The most that a value on a grid, or an answer, differs from the middle."""
    low, high, unit = coarse.low, coarse.high, coarse.unit
    return float(max(-low * unit, high * unit, domain.high - domain.middle, domain.middle - domain.low)) * UP


PUBLIC_ROWS: Mapping[str, Schema] = {
    "public_rows": whole(
        "How many rows have a value, if everybody may know that: all of the budget goes to the sums then.", 1, MOST_ROWS
    )
}
"""The entry of plans."""


def checked_rows(rows: int | None, grouped: bool) -> int | None:
    """A public number of rows with a value; of all rows, not of groups."""
    if rows is None:
        return None
    if grouped:
        raise InvalidInput("public_rows", rows, "is about all rows at once: it cannot be told together with by")
    return whole_number(rows, "public_rows", 1, MOST_ROWS)


def mean_off(noises: Noises, far: float, most: float, unit: float, rows: float, share: float = 1.0) -> float:
    """An e with e·rows no less than the reach of (far + e)·t + s: from the largest factor downwards."""
    off = noises.together((most, unit), share) / rows
    for _ in range(NARROWER):
        off = noises.together((min(far + off, most), unit), share) / rows
    return off


class RatioError(StatedError):
    """The error of a mean or a variance: for all means and variances that the plan says are possible.

    `counted`: the first part is the number of rows, with noise; if not, that number is public.
    """

    def __init__(
        self, setting: Setting, parts: tuple[Part, ...], domain: Numbers, half: float, *, counted: bool = True
    ) -> None:
        super().__init__(setting, parts)
        self.domain, self.half, self.counted = domain, half, counted
        self.width = float(domain.high - domain.low)

    @property
    @abstractmethod
    def most(self) -> float:
        """Answers stay within the bounds."""

    @property
    @abstractmethod
    def factors(self) -> list[float]:
        """By how much the noise of each part counts at worst."""

    @property
    @abstractmethod
    def unit_reaches(self) -> Ends:
        """What the noises come to at a budget of 1 if continuous; and those of the mean whose square is added."""

    @abstractmethod
    def off(self, noises: Noises, rows: float) -> float:
        """From the quantile of the noises together."""

    @abstractmethod
    def elsewhere(self, setting: Setting) -> StatedError:
        """The same statistic in another setting."""

    @cached_property
    def means(self) -> Ends:
        """How far the mean may be from the middle."""
        if self.setting.known.centre is None:
            return -self.half, self.half
        low, high = (float(end - self.domain.middle) for end in self.setting.known.centre)
        return low, high

    @cached_property
    def far(self) -> float:
        """The larger of both."""
        return max(map(abs, self.means))

    @cached_property
    def variances(self) -> Ends:
        """Between which numbers the variance lies."""
        spread = self.setting.known.spread
        if spread is None:
            return 0.0, self.half**2
        return float(spread[0] ** 2), float(spread[1] ** 2)

    @property
    def likeness(self) -> tuple[Hashable, ...]:
        """Bounds, and what the plan says."""
        return self.half, self.width, self.means, self.variances, self.counted, self.setting.rows

    def error(self, scales: Sequence[float]) -> float:
        """For the noise that is drawn, within the bounds."""
        sure = self.setting.confidence
        if self.counted:
            sure += self.noise.below_one(scales[0], self.setting.rows or 0)
        if not sure < 1:
            return min(math.inf, self.most)
        return min(self.off(self.noises(scales, sure), float(self.setting.rows or 1)), self.most)

    def smooth(self, times: float) -> float:
        """About the same."""
        rows, (reach, square) = self.setting.rows or 1, self.unit_reaches
        return (reach * times + 0.5 * self.factors[0]) / rows + (square * times / rows) ** 2

    @property
    def stated_for(self) -> str:
        """For which means the error holds: it is stated for the worst of them."""
        centre = self.setting.known.centre
        mean = ", wherever their mean lies" if centre is None else f", for a mean {anywhere(centre)}"
        return self.setting.where + mean

    def otherwise(self, scales: Sequence[float]) -> tuple[str, float] | None:
        """In the middle, if nobody says where the mean is."""
        if self.setting.known.centre is not None:
            return None
        middle = Fraction(self.domain.middle)
        there = replace(self.setting, known=replace(self.setting.known, centre=(middle, middle)))
        return "if the mean is in the middle of the bounds: tell `centre`", self.elsewhere(there).error(scales)


def anywhere(ends: tuple[Fraction, Fraction]) -> str:
    """Between two numbers, for people."""
    low, high = (f"{float(end):,.12g}" for end in ends)
    return f"of {low}" if low == high else f"anywhere from {low} to {high}"
