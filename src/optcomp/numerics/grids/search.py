"""Answers by laws on a grid: coarse grids first, then one as fine as the wanted width needs."""

from __future__ import annotations

import math
from abc import ABC, abstractmethod
from collections.abc import Sequence
from dataclasses import replace
from fractions import Fraction
from typing import Generic, Protocol, TypeVar

from optcomp.numerics.exact_numbers import Exact
from optcomp.numerics.grids.answers import NEAR, NOTHING, Found, Way, given_up, meet, root
from optcomp.numerics.grids.convolved import convolved_root
from optcomp.numerics.grids.every_sum import EverySum, listed_laws
from optcomp.numerics.grids.few_rounds import Grid
from optcomp.numerics.grids.grid_law import GridLaw
from optcomp.numerics.grids.grid_sum import Counted
from optcomp.numerics.grids.guess import Guess, Setting, faint_from
from optcomp.numerics.grids.laplaces import LaplaceWay
from optcomp.numerics.grids.lattice import LatticeLaw, lattice, lost_by
from optcomp.numerics.grids.mirrored import MirroredGrid
from optcomp.numerics.grids.replaced_sides import side_of
from optcomp.numerics.grids.sides import Above, Below, Both
from optcomp.numerics.laws.atoms import AtomicLaw
from optcomp.numerics.laws.discrete_gaussian import DiscreteGaussianLaw
from optcomp.numerics.laws.laplace import LaplaceLaw
from optcomp.numerics.laws.law import Summand
from optcomp.numerics.laws.mixed_normal import MixedNormalLaw
from optcomp.numerics.laws.replaced import GluedNormalLaw, ReplacedNormalLaw

_FIRST, _MOST = 1 << 13, 1 << 21
"""Places of the first grid, and of the finest."""
_COARSE = 1 << 11
"""Cells of a grid that is only good for guesses."""
_PLACE, _LONG_PLACE = 250.0, 700.0
"""About the nanoseconds that a place costs, in floats and in long doubles."""
_PASSES = 5
"""Grids at most, each finer than the one before."""
_SHARE = 0.4
"""Of the wanted width goes to the grid."""
_FAINT_TAIL = 1e-14
"""Of F may lie beyond the grid where no giant is sure."""
_MOST_RISE = 600.0
"""Exponentials of larger losses overflow."""
_LEAST_LOG = -600.0
"""Smaller F is left to other methods."""

_LEAST_RATE = Fraction(1, 10**290)
"""Rates nearer to 0 or 1 may not be a float, or not one of full precision."""

Laws = Sequence[tuple[Summand, int]]
Kind = TypeVar("Kind")
"""A kind of law."""


def way_for(laws: Laws) -> Way | None:
    """The way on a grid, if all laws can be put on one."""
    if all(isinstance(law, MixedNormalLaw) and _within(law.q) for law, _ in laws):
        return Grid(laws)
    if all(isinstance(law, ReplacedNormalLaw | GluedNormalLaw) and _within(law.q) for law, _ in laws):
        return Mirrored(laws)
    if all(isinstance(law, AtomicLaw | DiscreteGaussianLaw) for law, _ in laws):
        return Lattice(laws)
    if (listed := listed_laws(laws)) is not None:
        return EverySum(listed)
    noise = [(law, copies) for law, copies in laws if isinstance(law, LaplaceLaw)]
    if len(noise) == len(laws) and LaplaceWay.serves(noise):
        return LaplaceWay(noise)
    return None


def _within(rate: Exact) -> bool:
    """Whether a rate and what it leaves are floats of full precision."""
    return _LEAST_RATE < rate < 1 - _LEAST_RATE


class Lattice:
    """A sum of laws on their own grid."""

    def __init__(self, laws: Laws) -> None:
        self._laws = laws

    def root(self, log_t: tuple[float, float], rtol: float, work: float, known: float = 0.0) -> Found | None:
        """The y >= 0 with F(y) = t; None where this is no way to find it."""
        if log_t[0] < _LEAST_LOG or (on_grid := lattice(self._laws, log_t[0])) is None:
            return None
        laws, h = on_grid
        best = convolved_root(laws, h, log_t, rtol)
        if best is not None and best.upper - best.lower <= rtol * best.upper + NOTHING:
            return best
        ups, downs, lost = _both(laws)
        guess = Guess(ups, h)
        tilt, y = guess.tilt_for(log_t[0])
        near = max(NEAR, 1e-3 * rtol)
        for long in (False, True):
            setting = guess.setting(tilt, max(y, 0.0), log_t[0] - 3)
            if not self._affordable(laws, setting, h, long, work):
                return given_up(best)
            both = Both(ups, downs, h, setting, loss=lost, long=long)
            y = both.near(max(y, 0.0), log_t[0])
            upper = root(both.most, log_t[0], y, tilt, +1, near)
            if math.isinf(upper):
                return given_up(best)
            lower = root(both.least, log_t[1], min(y, upper), tilt, -1, near)
            best = meet(best, Found(lower, upper, int(setting.period / h), False))
            if best.upper - best.lower <= rtol * best.upper + NOTHING:
                return best
            tilt, y = guess.tilt_at(best.upper), best.upper
        assert best is not None
        return replace(best, capped=True)

    def excess(self, y: float, rtol: float, work: float) -> Found | None:
        """log F(y); None where this is no way to find it."""
        on_grid = lattice(self._laws, _LEAST_LOG / 4)
        if on_grid is None:
            return None
        laws, h = on_grid
        ups, downs, lost = _both(laws)
        guess = Guess(ups, h)
        tilt = guess.tilt_at(y)
        log_f, best = guess.log_at(tilt, y), None
        for long in (False, True):
            setting = guess.setting(tilt, y, log_f - 5)
            if log_f < _LEAST_LOG or not self._affordable(laws, setting, h, long, work):
                return given_up(best)
            both = Both(ups, downs, h, setting, loss=lost, long=long)
            best = meet(best, Found(both.least(y), both.most(y), int(setting.period / h), False))
            if best.upper < _LEAST_LOG:
                return None
            if -math.expm1(best.lower - best.upper) <= rtol:
                return best
            log_f = best.upper
        assert best is not None
        return replace(best, capped=True)

    def _affordable(
        self, laws: Sequence[tuple[LatticeLaw, int]], setting: Setting, h: float, long: bool, work: float
    ) -> bool:
        places = setting.period / h
        return places <= _MOST and places * len(laws) * (_LONG_PLACE if long else _PLACE) <= work


def _both(laws: Sequence[tuple[LatticeLaw, int]]) -> tuple[Counted, Counted, float]:
    """The laws from above and from below, and how far they are apart, as a log."""
    lost = lost_by(laws)
    return [(law.above(), copies) for law, copies in laws], [(law.below(), copies) for law, copies in laws], lost


class Placed(Protocol):
    """A law that can be put on a grid."""

    @property
    def count(self) -> int:
        """About how many places it takes."""

    def above(self) -> GridLaw:
        """A law that is larger."""

    def below(self) -> GridLaw:
        """A law that is smaller."""


class OnGrid(ABC, Generic[Kind]):
    """A sum of laws on grids of any width."""

    def __init__(self, laws: Sequence[tuple[Kind, int]]) -> None:
        self._laws = laws

    @abstractmethod
    def _placed(self, law: Kind, h: float, rise: float) -> Placed:
        """A law on a grid of width h."""

    @abstractmethod
    def _rise(self, law: Kind, y: float, log_f: float) -> float:
        """How far its losses matter."""

    @abstractmethod
    def _first_place(self, log_t: float) -> float | None:
        """At least the root, or a guess of it: from a coarse grid over everything that matters."""

    def root(self, log_t: tuple[float, float], rtol: float, work: float, known: float = 0.0) -> Found | None:
        """The y >= 0 with F(y) = t; None where this is no way to find it.

        If it is proved to be at most `known`, that is all that is said.
        """
        if log_t[0] < _LEAST_LOG or work < _FIRST * _PLACE:
            return None
        y = self._first_place(log_t[0])
        if y is None:
            return None
        if y <= known:
            return Found(0.0, y, _COARSE, False)
        best: Found | None = None
        size, long, near = _FIRST, False, max(NEAR, 0.02 * rtol)
        for _ in range(_PASSES):
            made = self._made(y, log_t[0], size, long)
            if made is None:
                return given_up(best)
            above, below, setting = made
            upper = root(above.log, log_t[0], y, setting.tilt, +1, near)
            if math.isinf(upper):
                return given_up(best)
            lower = root(below.log, log_t[1], upper, setting.tilt, -1, near)
            best = meet(best, Found(lower, upper, size, False))
            width, aim = best.upper - best.lower, rtol * best.upper
            if width <= aim + NOTHING or upper <= known:
                return best
            rounding = above.rounding(upper) / setting.tilt
            if math.isnan(rounding):
                return given_up(best)
            y = upper
            wanted = size * max(math.sqrt(max(width - 2 * rounding, aim) / (_SHARE * aim)), 2.0)
            long = long or rounding > 0.1 * aim
            limit = min(work / (_LONG_PLACE if long else _PLACE), _MOST)
            if size >= limit / 2 and not rounding > 0.1 * aim:
                break
            size = 1 << math.ceil(math.log2(min(wanted, limit, 32 * size)))
        assert best is not None
        return Found(best.lower, best.upper, best.places, True)

    def excess(self, y: float, rtol: float, work: float) -> Found | None:
        """log F(y); None where this is no way to find it."""
        if work < _FIRST * _PLACE:
            return None
        best: Found | None = None
        size, long, log_f = _FIRST, False, -30.0
        for number in range(_PASSES):
            made = self._made(y, log_f, size, long)
            if made is None:
                return given_up(best)
            above, below, _ = made
            best = meet(best, Found(below.log(y), above.log(y), size, False))
            log_f = best.upper
            if log_f < _LEAST_LOG:
                return None
            width = -math.expm1(best.lower - best.upper)
            if width <= rtol:
                return best
            rounding = above.rounding(y)
            if math.isnan(rounding):
                return given_up(best)
            long = long or rounding > 0.1 * rtol
            limit = min(work / (_LONG_PLACE if long else _PLACE), _MOST)
            if size >= limit / 2 and not rounding > 0.1 * rtol:
                break
            wanted = size * max(math.sqrt(max(width - 2 * rounding, rtol) / (_SHARE * rtol)), 2.0 if number else 1.0)
            size = 1 << math.ceil(math.log2(min(wanted, limit, 32 * size)))
        assert best is not None
        return Found(best.lower, best.upper, best.places, True)

    def _coarse(self, y: float, log_f: float) -> tuple[list[tuple[GridLaw, int]], float] | None:
        rises = [self._rise(law, y, log_f) for law, _ in self._laws]
        if not 0 < max(rises) < _MOST_RISE or math.isinf(log_f):
            return None
        h = max(rises) / _COARSE
        return [
            (self._placed(law, h, rise).above(), copies) for (law, copies), rise in zip(self._laws, rises, strict=True)
        ], h

    def _made(self, y: float, log_f: float, size: int, long: bool) -> tuple[Above, Below, Setting] | None:
        """Both sides on a grid of about so many places."""
        coarse = self._coarse(y, log_f)
        if coarse is None:
            return None
        guess = Guess(*coarse)
        setting = guess.setting(guess.tilt_at(y), y, log_f - 3)
        h = setting.period / size * (1 + 1e-9)
        grids = [(self._placed(law, h, self._rise(law, y, log_f)), copies) for law, copies in self._laws]
        if max(grid.count for grid, _ in grids) > 4 * _MOST:
            return None
        return (
            Above([(grid.above(), copies) for grid, copies in grids], h, setting, long=long),
            Below([(grid.below(), copies) for grid, copies in grids], h, setting, long=long),
            setting,
        )


class Mirrored(OnGrid[ReplacedNormalLaw | GluedNormalLaw]):
    """A sum of subsampled Gaussian mechanisms, records replaced."""

    def __init__(self, laws: Laws) -> None:
        super().__init__([(law, copies) for law, copies in laws if isinstance(law, ReplacedNormalLaw | GluedNormalLaw)])

    def _placed(self, law: ReplacedNormalLaw | GluedNormalLaw, h: float, rise: float) -> Placed:
        return MirroredGrid(law, h, rise)

    def _first_place(self, log_t: float) -> float | None:
        coarse = self._coarse(math.inf, log_t)
        if coarse is None:
            return None
        guess = Guess(*coarse)
        tilt, place = guess.tilt_for(log_t)
        above = Above(*coarse, guess.setting(tilt, place, log_t), long=False)
        return root(above.log, log_t, max(place, 0.0), tilt, +1)

    def _rise(self, law: ReplacedNormalLaw | GluedNormalLaw, y: float, log_f: float) -> float:
        """Up to where next to nothing is: losses have no end on either side, so none decides alone."""
        copies = sum(count for _, count in self._laws)
        x = faint_from(float(law.mu), float(law.q), log_f + math.log(_FAINT_TAIL / copies))
        return side_of(law).loss(x)
