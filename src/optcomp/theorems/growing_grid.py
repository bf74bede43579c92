"""ZDW22 for a list of subsampled rounds that grows, on a grid that is kept: for the first rounds, to a few digits.

Contours for few rounds with small rates take seconds, because nothing fades.  A grid gives a millionth or so at once.
Each answer is a bracket of its own, proved like that of `zdw22`.
"""

from __future__ import annotations

import math
from collections.abc import Sequence

import numpy as np

from optcomp.instances import Laws, Mixture, Parts, slack
from optcomp.numerics import FLOAT_BITS
from optcomp.numerics.contour import Independent, KeptTilts
from optcomp.numerics.grids import KeptGrid
from optcomp.numerics.laws import MixedNormalLaw
from optcomp.theorems import zdw22
from optcomp.theorems.bound import Bound
from optcomp.theorems.opt import Effort, goal_for
from optcomp.theorems.target import Target

LOOSE = 1e-7
"""The least relative width for which a grid is kept: a narrower one takes too many places."""
_GROWTH, _MOST_ROUNDS = (4.0, 1.3), 4000
"""How many times as many rounds a grid is made for, first and where that takes too fine a one; and the most rounds:
beyond, contours are quicker."""
_FEW, _RARE = 32, 0.12
"""Rounds up to which a grid is better than a contour, and how often a person takes part in all rounds where it still
is, because a law that is mostly nothing fades slowly."""
_FIRST_REACH = 128
"""A first grid is made for all such rounds, but for no more than these: a finer one takes longer for every answer."""


class GrowingGrid:
    """ε of rounds that are at most so many as a grid was made for."""

    def __init__(self, target: Target, leaky: Parts, kept: KeptGrid, tilts: KeptTilts) -> None:
        self.target, self._leaky, self._kept, self._y, self.tilts = target, leaky, kept, kept.y, tilts

    @classmethod
    def of(
        cls,
        target: Target,
        effort: Effort,
        mixture: Mixture,
        further: float,
        tilts: KeptTilts | None = None,
        *,
        far: bool = True,
    ) -> GrowingGrid | None:
        """For this list and what may come, perhaps far more; None where a grid is no way.

        Tilts that were kept may serve once more.
        """
        ways = _ways(mixture)
        if effort.rtol < LOOSE or target.quantity != "epsilon" or ways is None:
            return None
        goal = goal_for(slack(mixture.leaky, target.given, FLOAT_BITS))
        until = min(max(_RARE * mixture.count / _taking_part(ways[0]), _FEW), _FIRST_REACH) if far else 0.0
        for growth in (max(_GROWTH[0], until / mixture.count), _GROWTH[1]):
            most = [(law, math.ceil(further * growth * copies)) for law, copies in ways[0]]
            if sum(copies for _, copies in most) > _MOST_ROUNDS:
                continue
            with np.errstate(all="ignore"):
                kept = KeptGrid.of(most, goal.log_t, effort.rtol)
            if kept is not None:
                return cls(target, mixture.leaky, kept, tilts or KeptTilts())
        return None

    def copy(self) -> GrowingGrid:
        """The same, from now on independent; the grid is shared."""
        other = GrowingGrid(self.target, self._leaky, self._kept, self.tilts.copy())
        other._y = self._y
        return other

    def answer(self, mixture: Mixture) -> Bound | None:
        """A bracket, perhaps wide; None where the grid does not serve."""
        ways = _ways(mixture)
        if ways is None or mixture.leaky != self._leaky or not self._kept.covers(ways[0]):
            return None
        counts = dict(ways[0])
        with np.errstate(all="ignore"):
            found = self._kept.root([counts.get(law, 0) for law, _ in self._kept.most], self._y)
            if math.isinf(found.upper) or not self._below(ways[1], found.lower):
                return None
        self._y = found.upper
        return zdw22.epsilon_bound(mixture, self.target.given, found.lower, found.upper, [zdw22.bracket_of(found)])

    def _below(self, laws: Laws, y: float) -> bool:
        """Whether the other direction is proved not to matter."""
        log_t = self._kept.log_t[0]
        if zdw22.support(laws) <= y:
            return True
        if self.tilts.log_most(laws, y) < log_t:
            return True
        self.tilts.aimed(Independent(laws, math.inf), y)
        return self.tilts.log_most(laws, y) < log_t


def rare(mixture: Mixture) -> bool:
    """Whether rounds are so few, or people so rarely in them, that a grid is better than a contour, if it does."""
    ways = _ways(mixture)
    if ways is None:
        return mixture.count <= _FEW
    return mixture.count <= _FEW or _taking_part(ways[0]) < _RARE


def _taking_part(rounds: Sequence[tuple[MixedNormalLaw, int]]) -> float:
    """About how often a person takes part in all rounds."""
    return sum(float(law.q) * copies for law, copies in rounds)


def _ways(mixture: Mixture) -> tuple[list[tuple[MixedNormalLaw, int]], Laws] | None:
    """Rounds towards the sample and away from it, if there is nothing but rounds of subsampled Gaussian noise."""
    if mixture.pairs.count:
        return None
    towards: list[tuple[MixedNormalLaw, int]] = []
    away: Laws = []
    for value, copies in mixture.losses:
        laws = value.laws
        if len(laws) != 2 or not isinstance(laws[0], MixedNormalLaw) or laws[0].direction != "towards":
            return None
        towards.append((laws[0], copies))
        away = [*away, (laws[1], copies)]
    return (towards, away) if towards else None
