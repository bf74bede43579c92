"""Subsampled Gaussian noise on one grid that is kept, for sums of several numbers of rounds.

The grid, its tilt and its period are made for the longest sum; a shorter one has another power of the same transforms.
Both ends are proved for every sum by itself, so a grid that serves a sum badly gives a wide bracket, never a wrong one.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass

from optcomp.numerics.grids.answers import Found, root
from optcomp.numerics.grids.few_rounds import FIRST, Grid, MadeGrid
from optcomp.numerics.grids.grid_sum import Kept
from optcomp.numerics.grids.sides import Above, Below
from optcomp.numerics.laws.mixed_normal import MixedNormalLaw

Rounds = Sequence[tuple[MixedNormalLaw, int]]
_MOST = 1 << 17
"""Places at most: with more, an answer takes as long as others from nothing."""
_TRIES, _MOVED = 4, 0.05
"""Grids that are made, each finer than the one before or for a better place, and a move after which it is that."""
_SHARE = 0.7
"""Of the wanted width the longest sum may take: shorter ones are about as wide."""
_NEAR = 0.02
"""Of the wanted width the two ends of a search are apart."""
_BEYOND = 1.02
"""The grid reaches a little farther than the longest sum needs, so that its root is not at the end of what is sure."""


@dataclass(frozen=True, eq=False)
class KeptGrid:
    """A grid for some rounds, at most so many of each kind, and one t."""

    most: tuple[tuple[MixedNormalLaw, int], ...]
    log_t: tuple[float, float]
    rtol: float
    made: MadeGrid
    kept: Kept
    y: float
    """The root of the longest sum, or about it."""

    @classmethod
    def of(cls, rounds: Rounds, log_t: tuple[float, float], rtol: float) -> KeptGrid | None:
        """Towards the sample, for at most so many rounds of each kind; None if it would take too fine a grid."""
        grid, size = Grid(rounds), FIRST
        place = grid.first_place(log_t[0])
        if place is None or not place > 0:
            return None
        for _ in range(_TRIES):
            made = grid.placed(_BEYOND * place, log_t[0], size, rtol)
            if made is None:
                return None
            kept = cls(tuple(rounds), log_t, rtol, made, Kept(), place)
            found = kept.root([copies for _, copies in rounds], place)
            width = (found.upper - found.lower) / (_SHARE * rtol * found.upper)
            if width <= 1:
                return kept
            if not math.isfinite(width):
                return None
            if abs(found.upper - place) < _MOVED * place:  # otherwise the grid was made for another place
                size <<= max(math.ceil(0.5 * math.log2(width)), 1)
            place = found.upper
            if size > _MOST:
                return None
        return None

    @property
    def size(self) -> int:
        """Places of the grid."""
        return self.made.setting.places(self.made.h)

    def covers(self, rounds: Rounds) -> bool:
        """Whether there are no other kinds, and no more of any."""
        most = dict(self.most)
        return all(copies <= most.get(law, 0) for law, copies in rounds)

    def root(self, copies: Sequence[int], y: float) -> Found:
        """The y >= 0 with F(y) = t, for so many copies of each law; `y` is about the answer."""
        tilt, near = self.made.setting.tilt, _NEAR * self.rtol
        ups = [(law, count) for law, count in zip(self.made.ups, copies, strict=True) if count]
        downs = [(law, count) for law, count in zip(self.made.downs, copies, strict=True) if count]
        grid = self.made.h, self.made.setting
        above = Above(ups, *grid, long=False, kernel=self.made.kernel, kept=self.kept)
        upper = root(above.log, self.log_t[0], above.near(y, self.log_t[0]), tilt, +1, near)
        if math.isinf(upper) and y != self.y:  # a search from far before the root may end behind what the grid tells
            upper = root(above.log, self.log_t[0], self.y, tilt, +1, near)
        if math.isinf(upper):
            return Found(0.0, upper, self.size, True)
        below = Below(downs, *grid, long=False, kernel=self.made.kernel, kept=self.kept)
        lower = root(below.log, self.log_t[1], below.near(upper, self.log_t[1]), tilt, -1, near)
        return Found(lower, upper, self.size, upper - lower > self.rtol * upper)
