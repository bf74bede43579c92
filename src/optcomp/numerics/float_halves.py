r"""Meeting in the middle in float64, every rounding counted (about 100 bytes an atom at the peak).

Sizes and weights of a half's atoms carry an absolute error: `place_error` for the sums, `weight_error` for the
log-probabilities.  With g the total relative error of a computed tail sum the true one lies within 1 +- g of it:

    g = weight_error_A + weight_error_B            logs of the weights, as exponents
      + scaling_A + scaling_B                      shifting and exponentiating each half's weights
      + sum_error(|B|) + sum_error(|A|) + u        suffix sums over B, the product, the sum over A

Weights are scaled to lie in e^{+-350}, so products neither overflow nor underflow; atoms further than e^-700 below
the largest weight are dropped and their probability bounded.  Atoms that cannot reach `floor` even with the largest
partner are left out at no error, for then z must not go below floor.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from flint import arb

from optcomp.numerics.balls import SUM_BITS, OutOfRange, ball, float_near, float_up, precision
from optcomp.numerics.binomial_law import binomial_law
from optcomp.numerics.blocked import LIBM, Floats, U, blocked_sum, suffix_sums, sum_error
from optcomp.numerics.exact_numbers import Exact
from optcomp.numerics.halves import split
from optcomp.numerics.lines import BelowFloor
from optcomp.numerics.tally import Pair

_RANGE = 700.0  # in logs: products of two weights stay between 1e-304 and 1e304
_MARGIN = 1e-9  # below the floor, relatively: far above the error of any place


@dataclass(frozen=True)
class _Half:
    """Atoms sorted by place; log_p are their natural log-probabilities."""

    place: Floats
    log_p: Floats
    place_error: float
    weight_error: float
    dropped: arb


class FloatHalves:
    """An `Enumeration` of all sums of the coins, for places at or above `floor`.

    Atoms less likely than e^-depth are dropped: choose it well below the excess that is looked for.
    """

    bits = SUM_BITS

    def __init__(self, coins: Sequence[Pair], floor: float = 0.0, depth: float = math.inf) -> None:
        with precision(self.bits):
            first, second = (_half(part) for part in split(coins))
            reach = float(first.place[-1] + second.place[-1])
            least = floor - _MARGIN * (1 + reach)
            self._lowest = least + _MARGIN * (1 + reach) / 4
            a = _prune(first, least - second.place[-1], depth)
            b = _prune(second, least - first.place[-1], depth)
            self._place_a, self._place_b = a.place, b.place
            self._weight_a, up_a, error_up_a = _scaled(a.log_p)
            self._damped_a, down_a, error_down_a = _scaled(a.log_p - a.place)
            weight_b, up_b, error_up_b = _scaled(b.log_p)
            damped_b, down_b, error_down_b = _scaled(b.log_p - b.place)
            self._tail = np.append(suffix_sums(weight_b), 0.0)
            self._damped_tail = np.append(suffix_sums(damped_b), 0.0)
            self._up, self._down = (arb(up_a) + arb(up_b)).exp(), (arb(down_a) + arb(down_b)).exp()
            shared = a.weight_error + b.weight_error + U + sum_error(a.place.size) + sum_error(b.place.size)
            places = a.place_error + b.place_error
            self._error = 1.01 * (shared + error_up_a + error_up_b)
            self._damped_error = 1.01 * (shared + places + 2 * U * reach + error_down_a + error_down_b)
            self.slack = arb(1.01 * (places + 8 * U * reach))
            self.dropped = a.dropped + b.dropped

    def lines(self, z: arb) -> tuple[arb, arb]:
        """P_S and Q_S, S chosen by comparing floats."""
        place = float_up(z)
        if place < self._lowest:
            raise BelowFloor(f"{place} < {self._lowest}")
        start = np.searchsorted(self._place_b, place - self._place_a, side="right")
        above = blocked_sum(self._weight_a * self._tail[start])
        damped = blocked_sum(self._damped_a * self._damped_tail[start])
        return (
            arb(above, above * self._error) * self._up,
            arb(damped, damped * self._damped_error) * self._down,
        )


def _scaled(log_weights: Floats) -> tuple[Floats, float, float]:
    """exp(log_weights - shift), centred so that products of two stay within range; the shift; the relative error."""
    high, low = float(log_weights.max()), float(log_weights.min())
    if high - low > _RANGE + 1:
        raise OutOfRange(f"log-weights from {low} to {high}")
    shift = float(round((high + low) / 2))
    error = U * (2 * max(abs(high), abs(low)) + abs(shift) + LIBM)
    return np.exp(log_weights - shift), shift, error


def _prune(half: _Half, least: float, depth: float) -> _Half:
    """Without the atoms below `least` (free), and without those of negligible probability (bounded)."""
    keep = half.place > least
    keep[-1] = True
    likeliest = float(half.log_p[keep].max())
    threshold = max(likeliest - _RANGE, min(-depth, likeliest))
    likely = half.log_p >= threshold
    lost = arb(int(np.count_nonzero(keep & ~likely))) * arb(threshold + 1).exp()
    keep &= likely
    return _Half(half.place[keep], half.log_p[keep], half.place_error, half.weight_error, half.dropped + lost)


def _half(coins: Sequence[Pair]) -> _Half:
    """All sums of a half: single coins by doubling, repeated ones by outer sums."""
    half = _singles([x for x, m in coins if m == 1])
    for x, m in coins:
        if m > 1:
            half = _outer(half, _repeated(x, m))
    return half


def _singles(sizes: list[Exact]) -> _Half:
    """Sums of distinct coins; an atom's probability is e^{(place - top)/2} times that of the top."""
    place = np.zeros(1)
    for x in sizes:
        # two sorted runs: the stable sort merges them in linear time
        place = np.sort(np.concatenate((place - float(x), place + float(x))), kind="stable")
    top = float(place[-1])
    place_error = 1.01 * U * (len(sizes) + 1) * top
    log_top = float_near(-sum(((-ball(x)).exp().log1p() for x in sizes), arb(0)))
    log_p = (place - top) / 2 + log_top
    weight_error = 1.01 * (place_error + U * (2 * top + 3 * abs(log_top) + 1))
    return _Half(place, log_p, place_error, weight_error, arb(0))


def _repeated(x: Exact, m: int) -> _Half:
    """m copies of one size, by the number that land low, so that places ascend as it falls."""
    law = binomial_law(x, m)
    place = float(x) * (m - 2 * np.arange(law.last, law.first - 1, -1, dtype=np.float64))
    return _Half(place, law.log_p[::-1], 3 * U * float(np.abs(place).max()), law.error, law.dropped)


def _outer(a: _Half, b: _Half) -> _Half:
    """All sums of one atom of each, sorted."""
    place = np.add.outer(a.place, b.place).ravel()
    log_p = np.add.outer(a.log_p, b.log_p).ravel()
    order = np.argsort(place, kind="stable")
    reach, depth = float(np.abs(place).max()), float(np.abs(log_p).max())
    return _Half(
        place[order],
        log_p[order],
        a.place_error + b.place_error + U * reach,
        a.weight_error + b.weight_error + U * depth,
        a.dropped + b.dropped,
    )
