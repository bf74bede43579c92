"""ZDW22 for a list that grows: contours are kept, and further rounds only multiply what is there.

Each answer is a bracket of its own, proved like that of `zdw22`: what is kept are values of the laws, never an answer.
Where the contours that are kept serve badly, because the list has grown too far, new ones are made.
"""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import partial

import numpy as np
import numpy.typing as npt

from optcomp.guarantees import KnownLoss
from optcomp.instances import Laws, Mixture, coins_of, slack
from optcomp.numerics import FLOAT_BITS, Floats, Ints
from optcomp.numerics.contour import (
    Aim,
    Anchor,
    Bracket,
    CoinLaw,
    Coins,
    Goal,
    Independent,
    KeptContour,
    KeptTilts,
    aim_at,
    aim_for,
    excess,
    root,
)
from optcomp.numerics.laws import Law, Summand
from optcomp.theorems import zdw22
from optcomp.theorems.ahead import Pace
from optcomp.theorems.bound import Bound
from optcomp.theorems.growing_grid import LOOSE, GrowingGrid, rare
from optcomp.theorems.opt import Effort, goal_for
from optcomp.theorems.target import Target

_FURTHER = {"epsilon": (4.0, 1.1), "delta": (1.5, 1.05)}
"""How many times as many rounds contours are made for, first and where that takes too many nodes.

At a given ε the tilt moves fast with the rounds.
"""
_STEPS = 0.7, 0.9
"""Steps, each time, in those that would just do: a shorter step leaves room for about twice the growth."""
_FAR, _FAR_STEPS = (1024.0, 1.1), (0.95, 0.9)
"""Both for an ε of a few digits: a tilt that is far from the best one loses digits, which are not needed there."""
_ROUGH = 10.0
"""How many times the error that it aims at a plan for a few digits may take where the answer is about known: it is then
still some ten times better than asked for."""
_WORK = 1e8, 5e8
"""The work that new contours may take, each time: beyond, answers from nothing are quicker."""
_EASY, _HARD = slice(0, 1), slice(1, 2)
"""Of these: what is tried first, and what is tried last."""
_CLOSE = 0.25
"""If the best Chernoff bound is as close to mattering as this, in logs, a contour will soon be needed anyway."""
_LATER = 3.0, 1.0
"""Times as many rounds as the last ones looked at: a tilt that is good for them mostly serves fewer too."""
_FEW_TILTS = 6
"""Of Chernoff's bounds for a direction: where they do not do any more, a contour will serve for long."""
_WIDE = 1.2
"""A direction that is wider than so many times the aim needs another contour."""
_OFF = 0.2
"""A place that was guessed so badly, relatively, is worth another contour."""
_NOTHING = 1e-11
"""An ε below which a relative width means nothing."""
_NEAR = 0.02
"""Of the wanted width an end may be farther out than errors ask for, where many are looked for at once."""
_MOST_COINS = 64
"""Different ε that may come beside those that a contour was made for: then they are better taken together."""


@dataclass
class _Way:
    """What is kept of one direction: a contour, made when it is needed, and about where it was last asked.

    The tilts of Chernoff's bounds mostly tell that a direction cannot matter beside another.
    """

    kept: KeptContour | None = None
    made: bool = False
    y: float = 0.0
    planned: float = 0.0
    """What y was guessed to be."""
    tilts: KeptTilts = field(default_factory=KeptTilts)
    aims: int = 0
    """How often a tilt was looked for."""

    def aimed(self, laws: Laws, y: float) -> None:
        """One more tilt, good for y."""
        self.tilts.aimed(Independent(laws, math.inf), y)
        self.aims += 1


class Growing:
    """Totals of one question about mixtures, each of which holds at least what contours were last made for."""

    def __init__(self, target: Target, effort: Effort) -> None:
        self.target, self.effort = target, effort
        # replaced as a whole: an answer uses one set of contours throughout
        self._contours: _Contours | GrowingGrid | None = None
        self._pace = Pace()

    def copy(self) -> Growing:
        """The same, from now on independent; contours are shared."""
        other = Growing(self.target, self.effort)
        other._contours = None if self._contours is None else self._contours.copy()
        other._pace = self._pace.copy()
        return other

    def ahead(self, counts: Mapping[KnownLoss, int]) -> float | None:
        """The upper side for just these mechanisms, at once, if it was computed ahead."""
        table = self._pace.table
        return None if table is None else table.upper(counts)

    def answer(self, mixture: Mixture) -> Bound | None:
        """From the contours that are kept, perhaps wide; None where they do not serve."""
        contours, pace = self._contours, self._pace
        if contours is None or not suits(mixture):
            return None
        known = None if pace.table is None else pace.table.at(mixture)
        if known is not None:
            return zdw22.epsilon_bound(mixture, self.target.given, known.lower, known.upper, [known])
        bound = contours.answer(mixture)
        if bound is not None and self.target.quantity == "epsilon":
            even = pace.asked(mixture)
            if even is not None and isinstance(contours, _Contours):
                rows, found = contours.ahead(mixture, *even)
                pace.keep(mixture, even[0], rows, found, zdw22.clearly_less(mixture))
        return bound

    def renew(self, mixture: Mixture, further: float = 1.0, about: float | None = None) -> bool:
        """Make contours for this list and for what may come, at least so many times as much; False if that cannot be.

        `about` is about the answer, where it is known.
        """
        return any(self.renewed(mixture, further, about))

    def renewed(self, mixture: Mixture, further: float = 1.0, about: float | None = None) -> Iterator[bool]:
        """Make one thing after the other that may serve this list and what may come; each time, whether it was made.

        A grid comes first for few rounds, for which contours take too many nodes, and last for others.  One that is
        made for many more rounds may be too coarse for the first few.
        """
        before, self._contours = self._contours, None
        tilts = before.tilts if isinstance(before, GrowingGrid) else None
        if not (suits(mixture) and self._open(mixture)):
            return
        grid = partial(GrowingGrid.of, self.target, self.effort, mixture, further, tilts)
        contour = partial(self._integral, mixture, further, tilts)
        easy, hard = partial(contour, about, _EASY), partial(contour, about, _HARD)
        for make in (grid, partial(grid, far=False), easy, hard) if rare(mixture) else (easy, grid, hard):
            self._contours = make()
            yield self._contours is not None
            place = self._contours.misjudged if isinstance(self._contours, _Contours) else None
            if make is easy and place is not None:  # a plan for another place serves badly
                self._contours = contour(place, _EASY)
                yield self._contours is not None

    def _integral(
        self, mixture: Mixture, further: float, tilts: KeptTilts | None, about: float | None, how: slice
    ) -> _Contours | None:
        """Contours, if they do not take too many nodes; tilts of a grid serve its other direction once more."""
        made = _Contours(self.target, self.effort, mixture)
        if not made.first(mixture, further, about, how):
            return None
        if tilts is not None and len(made.ways) > 1:
            made.ways[1].tilts = tilts
        return made

    def _open(self, mixture: Mixture) -> bool:
        """Whether there is something to integrate for."""
        given = self.target.given
        return float(given) == given if self.target.quantity == "delta" else slack(mixture.leaky, given, FLOAT_BITS) > 0


class _Contours:
    """The contours of all directions, for lists that hold at least the pairs they were made for."""

    def __init__(self, target: Target, effort: Effort, mixture: Mixture) -> None:
        self.target, self.effort = target, effort
        self._coins = Counter({float(eps): count for eps, count in mixture.pairs.coins})
        self._together = CoinLaw(coins_of(mixture.pairs, +1)) if mixture.pairs.kinds else None
        self._apart: dict[float, CoinLaw] = {}
        self._laws_of: dict[KnownLoss, tuple[Law, ...]] = {}
        self.ways: list[_Way] = []

    def copy(self) -> _Contours:
        """The same, from now on independent; contours are shared."""
        other = _Contours.__new__(_Contours)
        other.__dict__.update(self.__dict__)
        other._apart, other._laws_of = self._apart.copy(), self._laws_of.copy()
        other.ways = [replace(way, tilts=way.tilts.copy()) for way in self.ways]
        return other

    def first(self, mixture: Mixture, further: float, about: float | None, how: slice) -> bool:
        """Make the contour of the first direction; those of the others are made when they are needed."""
        laws = self._laws(mixture)
        assert laws is not None
        with np.errstate(all="ignore"):
            first = self._planned(mixture, laws[0], further, about, how)
        self.ways = [first, *(_Way() for _ in laws[1:])]
        return first.kept is not None

    @property
    def misjudged(self) -> float | None:
        """About the answer of a few digits, if the contour was made for another place."""
        way = self.ways[0]
        return way.y if self._loose and way.y > 0 and not abs(way.y - way.planned) < _OFF * way.y else None

    def answer(self, mixture: Mixture) -> Bound | None:
        """A bracket, perhaps wide; None where these contours do not serve."""
        laws = self._laws(mixture)
        if laws is None or len(laws) != len(self.ways):
            return None
        with np.errstate(all="ignore"):
            return self._delta(mixture, laws) if self.target.quantity == "delta" else self._epsilon(mixture, laws)

    def ahead(self, mixture: Mixture, steps: Ints, rows: int) -> tuple[Floats, list[Bracket | None]]:
        """The next numbers of copies of a list without pairs that grows evenly, and ε where it is proved."""
        laws, way = self._laws(mixture), self.ways[0]
        none = np.empty((0, steps.size))
        if laws is None or way.kept is None or not way.kept.covers(laws[0]):
            return none, []
        if any(len(each) != len(mixture.losses) for each in laws):
            return none, []  # laws of one mechanism must stand in the same place in every direction
        now = np.array([copies for _, copies in laws[0]])
        room = way.kept.room(laws[0])
        counts = (np.arange(1, min(rows, room) + 1)[:, np.newaxis] * steps + now).astype(np.float64)
        with np.errstate(all="ignore"):
            return counts, self._brackets(mixture, laws, counts)

    def _brackets(self, mixture: Mixture, laws: Sequence[Laws], copies: Floats) -> list[Bracket | None]:
        """ε for several numbers of copies, a row for each; none where it is not proved to be narrow."""
        way, goal = self.ways[0], goal_for(slack(mixture.leaky, self.target.given, FLOAT_BITS))
        several = way.kept.several([law for law, _ in laws[0]], copies) if way.kept is not None else None
        if several is None or not way.y > 0:
            return [None] * copies.shape[0]
        lower, upper = several.roots(goal.log_t, np.full(copies.shape[0], way.y), _NEAR * self.effort.rtol)
        good = upper - lower <= _WIDE * self.effort.rtol * upper + _NOTHING
        for place in range(1, len(laws)):
            good &= self._all_below(mixture, place, [law for law, _ in laws[place]], copies, lower, goal.log_t[0])
        return [
            Bracket(low, high, several.plan, way.kept.size if way.kept is not None else 0, False) if fine else None
            for low, high, fine in zip(lower.tolist(), upper.tolist(), good.tolist(), strict=True)
        ]

    def _all_below(
        self, mixture: Mixture, place: int, laws: Sequence[Summand], copies: Floats, y: Floats, log: float
    ) -> npt.NDArray[np.bool_]:
        """Like `_below`, for several numbers of copies at places of their own."""
        way, told = self.ways[place], ~np.isnan(y)
        ends = 1.0000001 * (copies @ np.array([law.most for law in laws])) <= y  # no loss is larger, rounding included

        def below() -> npt.NDArray[np.bool_]:
            return np.asarray(ends | (way.tilts.logs_most(laws, copies, y) < log))

        found = below()
        last = int(told.nonzero()[0][-1]) if told.any() else 0
        for times in _LATER if told.any() and not way.made and way.aims < _FEW_TILTS else ():
            if not found[told].all():
                way.aimed(_counted(laws, np.ceil(times * copies[last])), math.sqrt(times) * float(y[last]))
                found |= below()
        if not found[told].all() and not way.made:
            way = self._sharp(mixture, place, _counted(laws, copies[0]))
        if not found.all() and way.kept is not None and way.kept.covers(_counted(laws, copies[0])):
            several = way.kept.several(laws, copies)
            found = found if several is None else found | several.below(y, log)
        return found

    def _laws(self, mixture: Mixture) -> list[Laws] | None:
        """All losses in each direction, coins that came later one by one; None where some went or too many came."""
        later = Counter({float(eps): count for eps, count in mixture.pairs.coins})
        later.subtract(self._coins)
        if any(copies < 0 for copies in later.values()):
            return None
        coins: Counter[Summand] = Counter({self._together: 1} if self._together is not None else {})
        for eps in [eps for eps, copies in later.items() if copies]:
            if eps not in self._apart:
                self._apart[eps] = CoinLaw(Coins(np.array([eps]), np.ones(1)))
            coins[self._apart[eps]] = later[eps]
        if len(self._apart) > _MOST_COINS:
            return None
        for value, _ in mixture.losses:
            if value not in self._laws_of:
                self._laws_of[value] = value.laws
        known = [(self._laws_of[value], copies) for value, copies in mixture.losses]
        ways = [coins.copy() for _ in range(max(len(laws) for laws, _ in known))]
        for laws, copies in known:
            for way, counts in enumerate(ways):
                counts[laws[min(way, len(laws) - 1)]] += copies
        return [list(counts.items()) for counts in ways]

    def _epsilon(self, mixture: Mixture, laws: Sequence[Laws]) -> Bound | None:
        t = slack(mixture.leaky, self.target.given, FLOAT_BITS)
        if not t > 0:
            return None
        goal, found = goal_for(t), list[Bracket]()
        for place, each in enumerate(laws):
            known = max((bracket.lower for bracket in found), default=0.0)
            if known > 0 and (zdw22.support(each) <= known or self._below(place, each, known, goal.log_t[0])):
                continue
            anchor = self._anchor(self._sharp(mixture, place, each), each, goal)
            if anchor is None:
                return None
            found.append(root(anchor, goal))
            self.ways[place].y = found[-1].upper if math.isfinite(found[-1].upper) else self.ways[place].y
            if found[-1].upper - found[-1].lower > _WIDE * self.effort.rtol * found[-1].upper + _NOTHING:
                return None
        lower, upper = max(bracket.lower for bracket in found), max(bracket.upper for bracket in found)
        return zdw22.epsilon_bound(mixture, self.target.given, lower, upper, found)

    def _delta(self, mixture: Mixture, laws: Sequence[Laws]) -> Bound | None:
        y, found = float(self.target.given), list[Bracket]()
        if y != self.target.given:
            return None
        for place, each in enumerate(laws):
            known = max((bracket.lower for bracket in found), default=-math.inf)
            if y >= zdw22.support(each) or (place and self._below(place, each, y, known)):
                continue
            anchor = self._anchor(self._sharp(mixture, place, each), each)
            if anchor is None:
                return None
            found.append(excess(anchor, y))
        low, high = (
            max(column, default=-math.inf)
            for column in ((bracket.lower for bracket in found), (bracket.upper for bracket in found))
        )
        return zdw22.delta_bound(mixture, self.target.given, low, high, found)

    def _below(self, place: int, laws: Laws, y: float, log: float) -> bool:
        """Whether the excess of a direction at y is proved to be below e^log, so that the direction does not matter."""
        way = self.ways[place]
        if way.tilts.log_most(laws, y) < log:
            return True
        if not way.made and way.aims < _FEW_TILTS:
            way.aimed(laws, y)
            return way.tilts.log_most(laws, y) < log - _CLOSE
        anchor = self._anchor(replace(way, y=y), laws)
        return anchor is not None and excess(anchor, y).upper < log

    def _sharp(self, mixture: Mixture, place: int, laws: Laws) -> _Way:
        """The direction with its contour."""
        if not self.ways[place].made:
            self.ways[place] = self._planned(mixture, laws, 1.0, None)
        return self.ways[place]

    def _anchor(self, way: _Way, laws: Laws, goal: Goal | None = None) -> Anchor | None:
        """The quadrature of a way for these laws, if it has one; with a goal, on the range in which the answer lies."""
        if way.kept is None or not way.kept.covers(laws):
            return None
        means = way.kept.means(laws)
        total = zdw22.support(laws)
        if goal is not None:
            total = min(total, way.kept.end(means, goal.log_t[0]))
            if math.isinf(total):
                return None
        return way.kept.anchor(laws, means, total, min(way.y, total))

    def _planned(
        self, mixture: Mixture, laws: Laws, further: float, about: float | None, how: slice = slice(None)
    ) -> _Way:
        """A contour for these laws and for some times as much of them."""
        kept, y = None, 0.0
        further_by, steps = (_FAR, _FAR_STEPS) if self._loose else (_FURTHER[self.target.quantity], _STEPS)
        ways = list(zip(further_by, steps, _WORK, strict=True))
        for growth, step, work in ways[how]:
            then = Independent([(law, math.ceil(further * growth * copies)) for law, copies in laws], math.inf)
            aim = self._aim(mixture, Independent(laws, math.inf), then, about)
            kept = KeptContour.made(laws, then, aim, step, min(work, self.effort.work))
            y = aim.now.y
            if kept is not None:
                break
        return _Way(kept, True, y, y)

    def _aim(self, mixture: Mixture, now: Independent, then: Independent, about: float | None) -> Aim:
        given, rtol = self.target.given, self.effort.rtol
        if self.target.quantity == "delta":
            return aim_at(now, then, float(given), rtol)
        goal = goal_for(slack(mixture.leaky, given, FLOAT_BITS))
        rough = _ROUGH if self._loose and about is not None else 1.0
        return aim_for(now, then, sum(goal.log_t) / 2, sum(goal.log_rest) / 2, rtol, about, rough)

    @property
    def _loose(self) -> bool:
        """Whether a few digits of ε will do."""
        return self.target.quantity == "epsilon" and self.effort.rtol >= LOOSE


def _counted(laws: Sequence[Summand], copies: Floats) -> Laws:
    return [(law, int(count)) for law, count in zip(laws, copies.tolist(), strict=True)]


def suits(mixture: Mixture) -> bool:
    """Whether the contour integral is what serves a mixture best, and all is known that it needs."""
    return (
        bool(mixture.losses)
        and not mixture.bounded
        and not mixture.loose
        and not mixture.all_gaussian
        and not zdw22.alone(mixture)
        and mixture.pairs.exact_sizes
    )
