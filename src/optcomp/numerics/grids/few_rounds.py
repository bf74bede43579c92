"""Sums of subsampled Gaussian mechanisms on grids of any width: a coarse one, then one as fine as is needed."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace

import numpy as np
from flint import arb

from optcomp.numerics.balls import FLOAT_BITS, ball, float_down, precision
from optcomp.numerics.blocked import Floats, U
from optcomp.numerics.contour.plan import short
from optcomp.numerics.grids.answers import NEAR, NOTHING, Found, given_up, meet, root
from optcomp.numerics.grids.grid_curve import Kernel
from optcomp.numerics.grids.grid_law import GridLaw
from optcomp.numerics.grids.guess import Guess, Setting, faint_from
from optcomp.numerics.grids.mixed import MixedGrid
from optcomp.numerics.grids.sides import Above, Below
from optcomp.numerics.laws.law import Summand
from optcomp.numerics.laws.mixed_normal import MixedNormalLaw

FIRST, _MOST = 1 << 13, 1 << 21
"""Places of the first grid, and of the finest."""
_COARSE = 1 << 11
"""Cells of a grid that is only good for guesses."""
_PLACE, _LONG_PLACE = 150.0, 600.0
"""About the nanoseconds that a place costs, in floats and in long doubles."""
_PASSES = 7
"""Grids at most, each finer than the one before."""
_LOOKS_FIRST, _SURE, _NEAR_FIRST, _MOVED = 6, 2, 1e-6, 0.05
"""Looks for a first place, how many of them are safe, how near its two ends come, and a move that ends them."""
_TILTS = np.exp(np.linspace(-5, 9, 43))
"""Tilts that are tried for a first place."""
_MORE_TILTS = np.exp(np.linspace(-5, 22, 82))
"""The same where losses have a largest value, near which the root may be."""
_ROOM, _MORE_ROOM = 1.5, 8.0
"""A root may lie before its guess: a grid reaches so many times as far from the largest sum, or so many times more
where that was not enough."""
_MOST_POINTS = 1 << 13
"""Points of a rule in balls: with little noise a rule may have a billion, and the grid answers without it."""
_SHORT = 0.05, 0.2, 0.5, 0.9
"""Parts of the wanted width that losses may be short of their largest values, together."""
_ROUGH = 12.0
"""e^-12 of F may be folded in where only a guess is wanted."""
_SHARE, _ORDER = 0.6, 1 / 1.9
"""Of the wanted width goes to the grid, whose error falls about with the square of its width."""
_MIDWAY, _FAR, _CLOSE_SHARE, _TAKEN, _CLOSE_GROWN = 1 << 16, 8, 0.97, 1.5, 0.5
"""Places of a grid on the way to one of so many times as many: from the first one neither width nor round-off of the
last is known well.  From there on the share of the grid, less so many times that of round-off, and how that grows."""
_LONGEST, _MOST_AIM = 64, 1e-3
"""A law may be so many times as long as the period, and the largest relative error of F that is aimed at."""
_LOST = 0.03
"""A relative width of a first grid that means that no window was found."""
_FAR_OFF = 5.0
"""A log of F that was guessed so badly calls for another window."""
_FAINT = 4.0
"""e^-4 of the wanted width may be folded in."""
_ROUNDED, _GROWN = 0.25, 0.2
"""Of the wanted width may be round-off in floats; of that on a coarse grid, as it grows with finer ones."""
_UNIT, _LONGER, _LEAST_ROOM = 5e-14, 7.0, 20.0
"""About the round-off of a round, for a first guess, the log of how much less it is in long doubles, and how much
larger than F the unit of round-off may be at least."""
_FAINT_TAIL = 1e-14
"""Of F may lie beyond the grid where no giant is sure."""
_MOST_RISE = 600.0
"""Exponentials of larger losses overflow."""
_LEAST_LOG = -600.0
"""Smaller F is left to other methods."""

Laws = Sequence[tuple[Summand, int]]


@dataclass(frozen=True, eq=False)
class MadeGrid:
    """Laws on a grid of width h, from above and from below, with the tilt and the period of their sums."""

    h: float
    setting: Setting
    ups: list[GridLaw]
    downs: list[GridLaw]
    kernel: Kernel | None


class Grid:
    """A sum of subsampled Gaussian mechanisms on grids of any width."""

    def __init__(self, laws: Laws) -> None:
        self._laws = [(law, copies) for law, copies in laws if isinstance(law, MixedNormalLaw)]
        self._towards = self._laws[0][0].direction == "towards"
        self._ends = -math.fsum(copies * law.log_left for law, copies in self._laws)
        self._places: dict[float, float | None] = {}
        self._last = math.fsum(copies * law.most for law, copies in self._laws) * (1 + 4 * U)

    @property
    def most(self) -> float:
        """About the largest sum."""
        return math.inf if self._towards else self._ends

    def root(self, log_t: tuple[float, float], rtol: float, work: float, known: float = 0.0) -> Found | None:
        """The y >= 0 with F(y) = t; None where this is no way to find it.

        If it is proved to be at most `known`, that is all that is said.
        """
        if log_t[0] < _LEAST_LOG or work < FIRST * _PLACE:
            return None
        if (at_end := self._at_end(log_t[1], rtol)) is not None:
            return at_end
        if known > 0 and self._ends_before(known, log_t[0]):
            return Found(0.0, known, _COARSE, False)
        if log_t[0] not in self._places:
            self._places[log_t[0]] = self.first_place(log_t[0])
        y = self._places[log_t[0]]
        if y is None:
            return None
        best: Found | None = None
        near, grid, fall = max(NEAR, 0.02 * rtol), self._fineness(work, rtol), 1 / y if y else 1.0
        room = _ROOM
        for _ in range(_PASSES):
            before = y if self._towards else self._ends - room * (self._ends - y)
            made = self._made(y, log_t[0], grid, min(rtol * max(fall * y, 1.0), _MOST_AIM), before)
            if made is None:
                return given_up(best)
            above, below, setting = made
            upper = root(self._ended(above), log_t[0], y, setting.tilt, +1, near)
            if math.isinf(upper):
                return given_up(best)
            lower = root(below.log, log_t[1], upper, setting.tilt, -1, near)
            best = meet(best, Found(lower, upper, grid.size, False))
            width, aim = best.upper - best.lower, rtol * best.upper
            if width <= aim + NOTHING or upper <= known:
                return best
            y, moved, fall = upper, abs(upper - y), _fall(above.log, upper, rtol)
            if moved > _MOVED * upper:
                continue  # made for another place
            if not self._towards and lower <= max(before, 0.0) and before > 0:
                room *= _MORE_ROOM
                continue
            if width > _LOST * upper and not grid.plain:
                grid = replace(grid, plain=True)
                continue
            following = grid.finer(width / aim, above.rounding(upper) / fall / aim, setting.over)
            if following is None:
                break
            grid = following
        assert best is not None
        return Found(best.lower, best.upper, best.places, True)

    def excess(self, y: float, rtol: float, work: float) -> Found | None:
        """log F(y); None where this is no way to find it."""
        if work < FIRST * _PLACE:
            return None
        best: Found | None = None
        grid, log_f = self._fineness(work, rtol), -30.0
        for _ in range(_PASSES):
            made = self._made(y, log_f, grid, rtol, y)
            if made is None:
                return given_up(best)
            above, below, setting = made
            best = meet(best, Found(below.log(y), above.log(y), grid.size, False))
            off, log_f = abs(log_f - best.upper), best.upper
            if log_f < _LEAST_LOG:
                return None
            width = -math.expm1(best.lower - best.upper)
            if width <= rtol:
                return best
            if off > _FAR_OFF:
                continue  # made for another F
            if width > _LOST and not grid.plain:
                grid = replace(grid, plain=True)
                continue
            following = grid.finer(width / rtol, above.rounding(y) / rtol, setting.over)
            if following is None:
                break
            grid = following
        assert best is not None
        return Found(best.lower, best.upper, best.places, True)

    def _fineness(self, work: float, rtol: float) -> _Fineness:
        copies = sum(count for _, count in self._laws)
        return _Fineness(work, math.log(max(rtol / (copies * _UNIT), _LEAST_ROOM)))

    def first_place(self, log_t: float) -> float | None:
        """About the root: from a coarse grid over everything that matters, or by Chernoff's bound."""
        if not self._towards:
            found = self._settled_place(0.0, log_t)
            return found if found is None else min(found, max(self._chernoff(log_t), 0.0))
        return self._settled_place(self._chernoff(log_t), log_t)

    def _settled_place(self, y: float, log_t: float) -> float | None:
        """The same from grids that are made for y, or for a place before it."""
        place = math.inf
        for number in range(_LOOKS_FIRST):
            coarse = self._coarse(y, log_t)
            if coarse is None:
                return None
            laws, h = coarse
            guess = Guess(laws, h)
            if number < _SURE:  # from the saddle point: a window made for a place that is too high tells nothing
                tilt, saddle = guess.tilt_for(log_t)
                place, setting = max(saddle, 0.0), guess.setting(tilt, saddle, log_t)
            else:
                setting = guess.window(place, log_t, _ROUGH, _ROUGH)
            if setting.places(h) > _MOST:
                return None  # a period so much longer than a loss would take all memory
            kernel = None if number < _SURE else _kernel(h, setting, long=False)
            above = Above(laws, h, setting, long=False, kernel=kernel)
            found = root(self._ended(above), log_t, place, setting.tilt, +1, _NEAR_FIRST)
            if not math.isfinite(found):
                return y if self._towards and math.isfinite(y) else None
            if number >= _SURE and abs(found - place) <= _MOVED * found:
                return min(found, y) if self._towards else found
            place = found
            y = min(found, y) if self._towards else y
        return place

    def _ended(self, above: Above) -> Callable[[float], float]:
        """The bound from above, and nothing beyond the largest sum: there F is 0, however round-off is counted."""
        return lambda y: -math.inf if y > self._last else above.log(y)

    def _chernoff(self, log_t: float) -> float:
        """About a place behind the root."""
        places = self._chernoff_places(log_t)[1]
        return float(np.min(places, where=np.isfinite(places), initial=math.inf))

    def _chernoff_places(self, log_t: float) -> tuple[Floats, Floats]:
        """Tilts, and where Chernoff's bound is t for each of them, about."""
        tilts = _TILTS if self._towards else _MORE_TILTS
        with np.errstate(all="ignore"):
            logs = sum((copies * law.log_mean_guess(tilts) for law, copies in self._laws), np.zeros_like(tilts))
            return tilts, (logs - log_t) / tilts

    def _ends_before(self, place: float, log_t: float) -> bool:
        """Whether F is proved to be at most t at a place: F(y) <= M(c)e^{-cy}, in balls."""
        tilts, places = self._chernoff_places(log_t)
        c = float(short(tilts[[int(np.argmin(np.where(np.isfinite(places), places, math.inf)))]])[0])
        if any(c > law.most_tilt or law.points(c, 0.0) > _MOST_POINTS for law, _ in self._laws):
            return False
        with precision(FLOAT_BITS):
            whole = sum((copies * law.log_mean(c) for law, copies in self._laws), arb(0))
            return bool(whole - arb(c) * arb(place) < arb(log_t))

    def _at_end(self, log_t: float, rtol: float) -> Found | None:
        """The root, if it is within rtol of the largest sum, where nearly everything is.

        If all losses are within d of their largest values the sum is within nd of its own; so F(y) is at least
        p(1 - e^{y+nd-end}), p the chance of that.
        """
        if self._towards:
            return None
        with precision(FLOAT_BITS):
            lower = max(self._before_end(log_t, arb(share * rtol * self._last)) for share in _SHORT)
        found = Found(max(lower, 0.0), self._last, _COARSE, False, gridded=False)
        return found if found.upper - found.lower <= rtol * found.upper else None

    def _before_end(self, log_t: float, room: arb) -> float:
        """At most the root, for losses that are short of their largest values by no more than the room together."""
        end, chance = arb(0), arb(0)
        each = room / sum(copies for _, copies in self._laws)
        for law, copies in self._laws:
            most = -(-ball(law.q)).log1p()
            end += copies * most
            chance += copies * law.tail(most - each).log()
        left = -(arb(log_t) - chance).expm1()  # 1 - t/p
        return float_down(end - room + left.log()) if chance.is_finite() and left > 0 else -math.inf

    def _coarse(self, y: float, log_f: float) -> tuple[list[tuple[GridLaw, int]], float] | None:
        rises = [self._rise(law, y, log_f) for law, _ in self._laws]
        if not 0 < max(rises) < _MOST_RISE or math.isinf(log_f):
            return None
        h = max(rises) / _COARSE
        return [
            (MixedGrid(law, h, rise).above(), copies) for (law, copies), rise in zip(self._laws, rises, strict=True)
        ], h

    def _made(
        self, y: float, log_f: float, grid: _Fineness, aim: float, first: float
    ) -> tuple[Above, Below, Setting] | None:
        """Both sides on a grid of some places for all y from the first one on, for a relative error of F."""
        made = self._placed(y, log_f, grid, aim, first)
        if made is None:
            return None
        h, setting, counts = made.h, made.setting, [copies for _, copies in self._laws]
        ups, downs = ([*zip(laws, counts, strict=True)] for laws in (made.ups, made.downs))
        kernel = None if grid.plain else made.kernel
        return (
            Above(ups, h, setting, long=grid.long, kernel=kernel),
            Below(downs, h, setting, long=grid.long, kernel=kernel),
            setting,
        )

    def placed(self, y: float, log_f: float, size: int, rtol: float) -> MadeGrid | None:
        """All laws on one grid of so many places, in floats, for a relative width of y."""
        grid = replace(self._fineness(math.inf, rtol), size=size)
        return self._placed(y, log_f, grid, min(rtol, _MOST_AIM), y)

    def _placed(self, y: float, log_f: float, grid: _Fineness, aim: float, first: float) -> MadeGrid | None:
        """All laws on a grid of some places for all y from the first one on, for a relative error of F."""
        coarse = self._coarse(first, log_f)
        if coarse is None:
            return None
        guess = Guess(*coarse)
        setting = guess.window(y, log_f, _FAINT - math.log(aim), grid.room)
        if grid.plain:
            setting = guess.setting(guess.tilt_at(y), y, log_f - 3)
        h = setting.period / grid.size * (1 + 1e-9)
        grids = [MixedGrid(law, h, self._rise(law, first, log_f)) for law, _ in self._laws]
        if max(made.count for made in grids) > min(4 * _MOST, _LONGEST * grid.size):
            return None
        kernel = None if grid.plain else _kernel(h, setting, long=grid.long)
        return MadeGrid(h, setting, [made.above() for made in grids], [made.below() for made in grids], kernel)

    def _rise(self, law: MixedNormalLaw, y: float, log_f: float) -> float:
        """How far from its end a loss matters: up to where one alone decides, or where next to nothing is."""
        mu, q = float(law.mu), float(law.q)
        shift = law.log_left - math.log(q) + 0.5 * mu * mu
        if not self._towards:
            return min(_softplus(9.0 * mu - shift), max((self._ends - y) * (1 + 1e-9), 1e-12))
        copies = sum(count for _, count in self._laws)
        faint = faint_from(mu, q, log_f + math.log(_FAINT_TAIL / copies))
        return min(_softplus(mu * faint - shift), (y + self._ends) * (1 + 1e-9) + 1e-9)


@dataclass(frozen=True)
class _Fineness:
    """How many places a grid has, whether in long doubles, and how much work is left, its own included."""

    work: float
    room: float
    """The log of how much larger than F the unit of round-off may be."""
    size: int = FIRST
    long: bool = False
    plain: bool = False
    """Whether the tilted law of the sum itself is asked for, without a window."""

    def finer(self, width: float, rounding: float, over: float) -> _Fineness | None:
        """The next grid for a width and a round-off, both over the wanted width; None if nothing can be gained."""
        if not (math.isfinite(width) and math.isfinite(rounding)):
            return None
        left = self.work - self.size * (_LONG_PLACE if self.long else _PLACE)
        least = math.log(_LEAST_ROOM)
        share, grown = _SHARE, _GROWN
        if self.size >= _MIDWAY:
            share, grown = _CLOSE_SHARE - _TAKEN * min(rounding / _CLOSE_GROWN, _ROUNDED), _CLOSE_GROWN
        room = over + math.log(grown * _ROUNDED / max(rounding, 1e-9))  # with less room a longer period, but in floats
        long = self.long or (rounding > _ROUNDED and room < least)
        room = max(room + (_LONGER if long > self.long else 0.0), least)
        most = min(left / (_LONG_PLACE if long else _PLACE), _MOST)
        if most < 1:
            return None
        wanted = self.size * max(width - 2 * rounding, share) ** _ORDER / share**_ORDER
        size = 1 << min(math.ceil(math.log2(wanted)), math.floor(math.log2(most)))
        if self.size < _MIDWAY and size > _FAR * _MIDWAY:
            size = _MIDWAY
        gained = size > self.size or (size == self.size and (long > self.long or rounding > _ROUNDED))
        return _Fineness(left, room, size, long, self.plain) if gained else None


def _fall(log: Callable[[float], float], y: float, rtol: float) -> float:
    """About how fast log F falls."""
    step = max(1e-4, rtol) * y
    return min(max((log(y - step) - log(y)) / step, 1e-3), 1e200) if step > 0 else 1.0


def _kernel(h: float, setting: Setting, *, long: bool) -> Kernel:
    return Kernel.of(h, setting.tilt, setting.places(h), parts=setting.parts, long=long)


def _softplus(z: float) -> float:
    return z + math.log1p(math.exp(-z)) if z > 0 else math.log1p(math.exp(z))
