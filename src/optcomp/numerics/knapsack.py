r"""Sums of coins whose sizes are whole multiples of one unit, by dynamic programming (Dyer's knapsack counting).

Coins of sizes a_i u; s is the total of the a_i that land low, so L = u(A - 2s) with A the sum of all a_i.  The table
holds, for every s in a window, the *tilted* weight c[s] = e^{-lambda s} #{T : a(T) = s}, lambda >= u:

    p_s = P_max c[s] e^{(lambda-u)s}       q_s = p_s e^{-L} = P_max e^{-uA} c[s] e^{(lambda+u)s}

With lambda at the saddle point the entries that matter are near the largest one however small their probability,
so floats neither underflow nor lose relative accuracy, and entries far from the bulk can be dropped.

*Rounding.*  An entry passes through one multiplication, one addition and one weight e^{-lambda a} for each coin, all of
non-negative numbers: relative error at most (LIBM + 2 + lambda a) 2^-53 a coin.  Many equal coins are added at once by
their binomial law: its error and one addition for each of its terms.
*Dropping.*  An entry that is a share f of W_i = \prod_{j<=i} (1 + e^{-lambda a_j}) after i coins contributes at most
the share f of W = W_k in the end, because the remaining factors are the same for all.  Underflow is a share of at most
2^-700 an entry and operation, because the table's sum is kept above 2^-320.  Lost shares are added up; for atoms with
s <= R they change P_S by at most lost W P_max e^{(lambda-u)R}, and Q_S by lost W P_max e^{-uA} e^{(lambda+u)R}.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from fractions import Fraction

import numpy as np
from flint import arb

from optcomp.numerics.balls import SUM_BITS, OutOfRange, float_near, float_up, precision
from optcomp.numerics.binomial_law import binomial_law
from optcomp.numerics.blocked import LIBM, MOST_COUNTED, Floats, U, blocked_sum, prefix_sums, sum_error
from optcomp.numerics.lines import BelowFloor
from optcomp.numerics.progress import report
from optcomp.numerics.saddle import tilt_guess
from optcomp.numerics.tally import Pair, Tally

_NEGLIGIBLE = 1e-34  # share of the table that may be dropped at each end of one clean-up
_CLEAN_EVERY = 64  # coins between two clean-ups: each doubles the sum at most, so 2^64 is in range
_FEW = 8  # copies of one size are added one by one up to this many
_NATS = 90.0  # what is cut off a binomial law
_UNDERFLOW = 2.0**-700  # share of an entry that underflows: 2^-1022 of a sum above 2^-320

Step = tuple[int, int]
"""A size in units, and how many coins have it."""


def rounded_steps(coins: Sequence[Pair], unit: float, *, up: bool) -> list[Step]:
    """Sizes as whole multiples of the unit, every one rounded up (or every one down), exactly."""
    tally, grid = Tally.of(coins), Fraction(unit)
    sizes, counts = tally.floats
    ratios = sizes / unit
    close = np.abs(ratios - np.rint(ratios)) <= 1e-9 * (1 + ratios)  # an integer within the error of the division
    if tally.copies > MOST_COUNTED:  # counts might round
        close[:] = True
    far = ratios[~close]
    steps, where = np.unique(np.ceil(far) if up else np.floor(far), return_inverse=True)
    copies = np.bincount(where, weights=counts[~close], minlength=steps.size)
    rounded = {int(a): int(m) for a, m in zip(steps.tolist(), copies.tolist(), strict=True)}
    for place in np.flatnonzero(close).tolist():
        x, m = tally[place]
        a = math.ceil(Fraction(x) / grid) if up else math.floor(Fraction(x) / grid)
        rounded[a] = rounded.get(a, 0) + m
    rounded.pop(0, None)
    return sorted(rounded.items())


class Knapsack:
    """An `Enumeration` of the sums of coins a_i * unit, for places at or above `floor`."""

    bits = SUM_BITS

    def __init__(self, steps: Sequence[Step], unit: float, floor: float) -> None:
        self._unit = arb(unit)
        self._total = sum(a * m for a, m in steps)
        self._last = max(0, math.floor((self._total - floor / unit) / 2) + 1)
        sizes = np.array([a for a, _ in steps], dtype=np.float64) * unit
        tilt = unit * (1 + 2 * tilt_guess(sizes, [m for _, m in steps], floor))
        coins = sum(m for _, m in steps)
        with precision(self.bits):
            table = _Table(tilt, self._last)
            for a, m in steps:
                table.add(a, m)
                report("knapsack table", table.coins / coins)
            table.clean(rescale=True)
            self._finish(steps, table)
            self.slack = arb(2) ** -110 * self._total * self._unit
            self.dropped = arb(0)

    def _finish(self, steps: Sequence[Step], table: _Table) -> None:
        """Prefix sums of p_s and q_s over s, relative to the reference s = last."""
        unit, tilt, entries = self._unit, arb(table.tilt), table.window
        s = np.arange(table.low - self._last, table.low - self._last + entries.size, dtype=np.float64)
        self._slope, self._damped_slope = table.tilt - float(unit), table.tilt + float(unit)
        self._first = table.low
        self._above = prefix_sums(entries * np.exp(self._slope * s))
        self._damped = prefix_sums(entries * np.exp(self._damped_slope * s))
        deepest = min(self._damped_slope * float(-s[0]), 746.0)
        self._error = 1.01 * (table.error + U * (LIBM + 1 + 3 * deepest) + sum_error(entries.size))
        top = -sum(((-unit * a).exp().log1p() * m for a, m in steps), arb(0))
        whole = sum(((-tilt * a).exp().log1p() * m for a, m in steps), arb(0)) - arb(2).log() * table.exponent
        scale = top + arb(2).log() * table.exponent
        self._scale = (scale + (tilt - unit) * self._last).exp()
        self._damped_scale = (scale - unit * self._total + (tilt + unit) * self._last).exp()
        self._lost = float_up(whole.exp() * table.lost)
        self._tiny = entries.size * 2.0**-1022

    def lines(self, z: arb) -> tuple[arb, arb]:
        """P_S and Q_S for the atoms above z."""
        place = ((self._total - z / self._unit) / 2).mid()
        highest = int(place.ceil().unique_fmpz()) - 1  # L > z means s < place
        if highest > self._last:
            raise BelowFloor(f"{highest} > {self._last}")
        index = min(highest - self._first, self._above.size - 1)
        deep = highest - self._last
        return (
            self._sum(self._above, index, self._slope * deep) * self._scale,
            self._sum(self._damped, index, self._damped_slope * deep) * self._damped_scale,
        )

    def _sum(self, prefix: Floats, index: int, depth: float) -> arb:
        """One prefix sum with its rounding, and with the lost shares, which weigh at most e^depth there."""
        value = float(prefix[index]) if index >= 0 else 0.0
        return arb(value, 1.01 * (value * self._error + self._lost * math.exp(depth)) + self._tiny)


class _Table:
    """c[s] for s = low, low + 1, ..., times 2^-exponent; `error` relative, `lost` the share dropped so far."""

    def __init__(self, tilt: float, last: int) -> None:
        self.tilt = tilt
        self._last = last
        self.low = 0
        self._buffer, self._at, self._size = np.ones(1), 0, 1
        self._scratch = np.empty(0)
        self.exponent, self.coins = 0, 0
        self.error = self.lost = 0.0

    @property
    def window(self) -> Floats:
        """The entries; the rest of the buffer after them is zero."""
        return self._buffer[self._at : self._at + self._size]

    def add(self, a: int, m: int) -> None:
        """m more coins of size a."""
        if m > _FEW:
            self._add_many(a, m)
            self.clean()
            return
        for _ in range(m):
            self._add_one(a)
            if self.coins % _CLEAN_EVERY == 0:
                self.clean()

    def _add_one(self, a: int) -> None:
        self._grow(min(self._size + a, self._last + 1 - self.low))
        window = self.window
        if a < window.size:
            moved = np.multiply(window[:-a], math.exp(-self.tilt * a), out=self._scratch[: window.size - a])
            window[a:] += moved
        self.coins += 1
        self.error += U * (LIBM + 2 + self.tilt * a)
        self.lost += window.size * _UNDERFLOW

    def _grow(self, size: int) -> None:
        """Lengthen the window by zeros."""
        if self._at + size > self._buffer.size:
            buffer = np.zeros(2 * size)
            buffer[: self._size] = self.window
            self._buffer, self._at = buffer, 0
        if self._scratch.size < size:
            self._scratch = np.empty(2 * size)
        self._size = size

    def _add_many(self, a: int, m: int) -> None:
        """The binomial law of m coins with odds e^{-lambda a}, one shifted addition for each of its terms."""
        law = binomial_law(Fraction(self.tilt) * a, m, _NATS)
        growth = (-arb(self.tilt) * a).exp().log1p() * m
        power = round(float(growth / arb(2).log()))
        weights = np.exp(law.log_p + float_near(growth - arb(2).log() * power))
        low = self.low + law.first * a
        if low > self._last:
            raise BelowFloor("the table's bulk lies below its floor")
        size = min(self._size + (law.last - law.first) * a, self._last + 1 - low)
        out = np.zeros(size)
        for i, weight in enumerate(weights[: -(-size // a)]):
            stop = min(i * a + self._size, size)
            out[i * a : stop] += self.window[: stop - i * a] * weight
        self.error += law.error + U * (LIBM + 5 + 2 * float(np.abs(law.log_p).max()) + weights.size)
        self.lost += 2.02 * math.exp(-_NATS) + size * weights.size * _UNDERFLOW
        self._buffer, self._at, self._size, self.low = out, 0, size, low
        self.exponent += power
        self.coins += m

    def clean(self, rescale: bool = False) -> None:
        """Drop what is negligible at both ends and keep the sum within range by an exact power of two."""
        window = self.window
        total = blocked_sum(window)
        if not 2.0**-320 < total < 2.0**900:
            raise OutOfRange(f"knapsack table out of range: {total}")
        half = window.size // 2
        limit = total * _NEGLIGIBLE
        below, above = np.cumsum(window[:half]), np.cumsum(window[half + 1 :][::-1])
        start, end = int(np.searchsorted(below, limit)), int(np.searchsorted(above, limit))
        if (start and below[start - 1] > 0) or (end and above[end - 1] > 0):  # dropping zeros loses nothing
            self.lost += 2.02 * _NEGLIGIBLE
        window[window.size - end :] = 0.0
        self._at, self._size, self.low = self._at + start, self._size - start - end, self.low + start
        shift = math.frexp(total)[1]
        if rescale or abs(shift) > 200:
            self._buffer[self._at : self._at + self._size] *= 2.0**-shift
            self.exponent += shift
            self.lost += self._size * _UNDERFLOW
