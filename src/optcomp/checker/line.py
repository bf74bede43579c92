r"""The law of L along a vertical line: M(c+iθ) = M(c) φ(θ), and bounds on |φ| over whole ranges of θ.

With a_i = ε_i(c+½) and κ_i = tanh a_i,

    φ(θ) = \prod (cos θε_i + i κ_i sin θε_i)^{m_i},      |φ(θ)|² = \prod (1 - sech²(a_i) sin²(θε_i))^{m_i}.

Every factor is at most 1, so the product over any coins bounds |φ|; and for |θ'-θ| <= r and |ε'-ε| <= h,
sin²(θ'ε') >= sin²(s) where s = dist(θε, πZ) - rε - (θ+r)h, if that is positive.
"""

from __future__ import annotations

import math
from collections.abc import Sequence

import numpy as np
from flint import acb, arb

from optcomp.checker import moments
from optcomp.checker.balls import ball
from optcomp.checker.effort import looked
from optcomp.checker.guess import Floats
from optcomp.checker.instance import Coin, Instance
from optcomp.checker.moments import Bin

_BINNED = 600  # coins beyond which bins and their power sums are quicker
_MANY = 3000  # coins beyond which bounds use a sample
_SAMPLE = 800  # of the smallest coins, and of all others
_MARGIN = 0.3  # in log|φ|²: for what a guess in floats misses


class WorkingCoins:
    """The coins of an instance at the working precision."""

    def __init__(self, instance: Instance) -> None:
        self.coins = instance.coins
        self.bins: list[Bin] = moments.bins(self.coins) if len(self.coins) > _BINNED else []
        self._half = self.log_cosh(acb(0.5)).real

    def log_cosh(self, z: acb) -> acb:
        """Σ m log cosh(εz), up to multiples of 2πi."""
        if not self.bins:
            return moments.direct(self.coins, z)
        total = acb(0)
        for group in looked(self.bins):
            part = group.log_cosh(z)
            total += moments.direct(group.coins, z) if part is None else part
        return total

    def log_moment(self, c: arb) -> arb:
        """K(c) = log E e^{cL}."""
        return self.log_cosh(acb(c + 0.5)).real - self._half


class _Clumps:
    """Distinct coins, or bins of them, as what bounds |φ|: sizes within `reach` of `middle`."""

    def __init__(self, clumps: Sequence[tuple[arb, arb, int]], shift: arb) -> None:
        self._middles = [middle for middle, _, _ in clumps]
        self._reaches = [reach for _, reach, _ in clumps]
        self._copies = [copies for _, _, copies in clumps]
        self._damping = [(((middle + reach) * shift).sech()) ** 2 for middle, reach, _ in clumps]
        self._sizes = np.array([float(middle) for middle in self._middles])
        self._spans = np.array([float(reach) for reach in self._reaches])
        self._counts = np.array([float(copies) for copies in self._copies])
        self._depths = np.array([float(depth.mid()) for depth in self._damping])
        self._wide = bool(self._spans.any())

    def chosen(self, theta: float, radius: float, wanted: float) -> list[tuple[int, int]] | None:
        """Which clumps probably bring log|φ|² below `wanted`, with the multiple of π that is nearest to θε.

        A guess; None if not even all clumps would do.
        """
        turns = self._sizes * (theta / math.pi)
        nearest = np.rint(turns)
        distances = math.pi * np.abs(turns - nearest) - radius * self._sizes
        if self._wide:
            distances -= (theta + radius) * self._spans
        depths = self._depths * np.sin(np.maximum(distances, 0)) ** 2
        gains = self._counts * np.log1p(-0.999999 * depths)
        if gains.sum() > wanted:
            return None
        order = np.argsort(gains)
        enough = int(np.searchsorted(-np.cumsum(gains[order]), -wanted)) + 1
        order = order[:enough]
        return list(zip(order.tolist(), nearest[order].astype(int).tolist(), strict=True))

    def hope(self, thetas: Floats, radius: float, wanted: float) -> float:
        """The share of these ranges of θ over which all clumps together probably bring log|φ|² below `wanted`."""
        turns = np.outer(thetas, self._sizes)
        distances = np.abs(turns - math.pi * np.rint(turns / math.pi)) - radius * self._sizes
        depths = self._depths * np.sin(np.maximum(distances, 0)) ** 2
        return float(np.mean(np.log1p(-0.999999 * depths) @ self._counts < wanted))

    def product(self, chosen: Sequence[tuple[int, int]], theta: arb, radius: arb) -> arb:
        """The bound on |φ|² from these clumps: right whatever was chosen."""
        product, pi = arb(1), arb.pi()
        turn, reach, end = theta / pi, radius / pi, (theta + radius) / pi
        for place, nearest in chosen:
            middle = self._middles[place]
            distance = abs(turn * middle - nearest)
            if not distance < 0.5:
                distance = distance.min(1 - distance)
            safe = distance - reach * middle
            if self._wide:
                safe -= end * self._reaches[place]
            if safe > 0:
                sine = safe.sin_pi()
                factor, copies = 1 - self._damping[place] * sine * sine, self._copies[place]
                product *= factor if copies == 1 else factor**copies
        return product


class Line:
    """φ on the vertical line through c."""

    def __init__(self, coins: WorkingCoins, c: arb) -> None:
        self.c, self._coins, self._shift = c, coins, c + 0.5
        self.log_moment = coins.log_moment(c)
        self._base = coins.log_cosh(acb(self._shift)).real if coins.bins else arb(0)
        self.factors = [] if coins.bins else [_factor(coin, self._shift) for coin in coins.coins]
        self._clumps = [_Clumps(_singles(coins.coins), self._shift)]
        if coins.bins:
            whole = [(each.middle, each.reach, sum(coin.copies for coin in each.coins)) for each in coins.bins]
            self._clumps.append(_Clumps(whole, self._shift))
        self.work = 0.0
        """Seconds of work, roughly."""

    def hope(self, first: float, last: float, pieces: int, limit: float) -> float:
        """The share of the pieces of a range over which a bound below `limit` is likely to be found."""
        radius = (last - first) / (2 * pieces)
        thetas = np.array([first + radius * (2 * piece + 1) for piece in range(pieces)])
        self.work += 1e-7 * pieces * len(self.factors)
        return self._clumps[0].hope(thetas, radius, 2 * math.log(limit) - _MARGIN)

    def bound(self, theta: arb, radius: arb, limit: float) -> arb | None:
        """A bound on |φ| over [θ-r, θ+r], if one near `limit` is found."""
        wanted = 2 * math.log(limit) - _MARGIN
        self.work += 4e-5
        for clumps in self._clumps:
            chosen = clumps.chosen(float(theta.mid()), float(radius.mid()), wanted)
            if chosen is not None:
                self.work += 2e-6 * len(chosen)
                return clumps.product(chosen, theta, radius).nonnegative_part().sqrt()
        return None

    def phi(self, theta: arb) -> acb:
        """φ(θ)."""
        if self._coins.bins:
            self.work += 2e-5 * len(self._coins.bins)
            return (self._coins.log_cosh(acb(self._shift, theta)) - self._base).exp()
        self.work += 3e-6 * len(self.factors)
        total = acb(0)
        for size, tanh, copies in looked(self.factors):
            sine, cosine = (theta * size).sin_cos()
            factor = acb(cosine, tanh * sine)
            half_turn = bool(cosine < 0)  # then any ball around it may touch the cut of the logarithm
            total += ((-factor).log() + acb(0, arb.pi()) if half_turn else factor.log()) * copies
        return total.exp()  # a long product of balls would lose half a bit with every factor


def _factor(coin: Coin, shift: arb) -> tuple[arb, arb, int]:
    size = ball(coin.size)
    return size, (size * shift).tanh(), coin.copies


def _singles(coins: Sequence[Coin]) -> list[tuple[arb, arb, int]]:
    """All coins, or of very many the smallest and some of every size."""
    if len(coins) > _MANY:
        spaced = np.linspace(_SAMPLE, len(coins) - 1, _SAMPLE).astype(int).tolist()
        coins = [*coins[:_SAMPLE], *(coins[place] for place in spaced)]
    return [(ball(size), arb(0), copies) for size, copies in coins]
