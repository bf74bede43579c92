r"""Which nodes matter, looked at one by one: a bound on log|φ| that is a sum of cosines, so a matrix product gives it.

With ρ_i = e^{-2a_i}, a_i = x_i(c + 1/2), and u = cos(2θx_i),

    log|φ(θ)| = \sum m_i (f_i(u) - log(1 + ρ_i)),     f_i(u) = ½ log(1 + ρ_i² + 2ρ_i u)

f is concave, f''' > 0 and f'''' < 0, so each of these polynomials in u is at least f on [-1, 1]:

    degree 1: the tangent at some u_0;  2: tangent at -1/2, through f(1);  3: tangent at ±1/√2

because f less the polynomial is f'' (u-u_0)²/2, f''' (u+½)²(u-1)/6 and f'''' (u²-½)²/24 with derivatives in between.
Powers of u are sums of cos(2nθx_i), hence log|φ(θ)| <= \sum β_j cos(2θx_j) - A over all coins and n; and a cosine
changes by at most 2rx within r of θ, so one look serves a few nodes where there is room.

Nodes are laid out in rows and columns, and cos(α+β) = cos α cos β - sin α sin β.  The entries of both matrices are
whole numbers, small enough for all sums to be exact: nothing is assumed of the order in which they are added.
"""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np

from optcomp.numerics.blocked import Floats, Ints, U
from optcomp.numerics.contour.coins import Coins, dot
from optcomp.numerics.contour.products import rotations
from optcomp.numerics.contour.sieve import Skipped

_TANGENT, _ROOT = 0.3, math.sqrt(0.5)
"""u_0: a tangent there has a mean nearly as low as the best one, at 0, and swings less; and where degree 3 touches."""
DEGREES, _STRIDES = 3, (9, 7, 5, 3, 1)
"""Waves of a coin at most; and how many nodes may be judged by the one in their middle."""
_LEAST_STRETCH, _MOST_STRETCH = 1024, 1 << 17
"""Groups of nodes at a time: their product stays in the cache."""
_TOGETHER = 1 << 18
"""Multiplications that a BLAS does in the calling thread: with more, its threads wait for each other."""
_DIGITS = 20
"""Binary digits of a cosine; 29 are left for the sum of all |β|, so that sums stay below 2^52."""
_USUAL = 2.0
"""Most nodes are no further than this many standard deviations from the mean: for choosing a degree."""
_LEAST_NODES, _MOST_COINS, _MOST = 4096, 400, 3.0e9
"""Fewer nodes, or more coins, are better looked at in ranges; and nodes times coins of about a tenth of a second."""
_PLACES = 200
"""Nodes that are asked whether it is worth while."""
_SLACK = 1e-12
"""More than the relative round-off of A and β: (40 + 4a)u for a < 350, beyond which ρ is nothing."""
_COST = 0.005
"""Of a step of the other sieve, for a node and a wave."""


class WaveBound:
    """log|φ(θ)| <= sum of β cos(2θx) - A, for one tilt and one degree: 1, 2 or 3 waves for each coin."""

    def __init__(self, coins: Coins, c: float, degree: int) -> None:
        rho = np.exp(-2 * coins.x * (c + 0.5))
        constant, waves = _majorant(rho, degree)
        self.degree, self._coins = degree, coins.x
        self._x = np.multiply.outer(np.arange(1.0, degree + 1), coins.x).ravel()
        self.beta = (coins.m * waves).ravel()
        size = np.log1p(rho) + np.abs(constant) + 2 * rho
        self.mean = float(dot(np.log1p(rho) - constant, coins.m)) - _SLACK * (1 + float(dot(size, coins.m)))
        """At most A."""
        self.usual = self.mean - _USUAL * math.sqrt(0.5 * float((self.beta**2).sum()))
        """What is usually proved: |φ| <= e^-usual."""
        self._bits = 29 - math.ceil(math.log2(float(np.abs(self.beta).sum()) + 1e-9))
        self.unit = math.ldexp(1.0, -self._bits - _DIGITS)
        """What a 1 in the product of the matrices stands for."""
        waves_twice = 2 * self._x.size
        self.down = min(max(math.isqrt(_TOGETHER // waves_twice) // 4 * 4, 4), 64)
        self.across = min(max(_TOGETHER // (waves_twice * self.down) // 4 * 4, 4), 64)
        """Rows and columns of a small product."""
        self.lipschitz = 2 * float((np.abs(self.beta) * self._x).sum())
        """About how fast the sum may change with θ."""

    def logs(self, begin: float, step: float, rows: int, columns: int) -> Floats:
        """The sums of cosines at θ = begin, begin + step, ..., row by row, in units of `unit`.

        [a, b, i, j] is row down·a + i and column across·b + j; `down` divides the rows, `across` the columns.
        """
        left = self._turned(
            begin, step * columns, rows // self.down, self.down, math.ldexp(1.0, self._bits) * self.beta
        )
        right = self._turned(0.0, step, columns // self.across, self.across, np.full(self._x.size, 2.0**_DIGITS))
        np.negative(left[:, 1], out=left[:, 1])
        tall = left.reshape(-1, *left.shape[2:]).transpose(1, 2, 0)
        wide = right.reshape(-1, *right.shape[2:]).transpose(1, 0, 2)
        return np.asarray(tall[:, np.newaxis] @ wide)

    def _turned(self, begin: float, step: float, outer: int, inner: int, scale: Floats) -> Floats:
        """cos and -sin of 2θx for every wave, scaled and rounded, at θ = begin, begin + step, ...; of few sines."""
        coarse = rotations(self._coins, begin + step * inner * np.arange(outer, dtype=np.float64))
        fine = rotations(self._coins, step * np.arange(inner, dtype=np.float64))
        found = np.empty((self._x.size, 2, outer, inner))
        high, low = coarse, fine
        for number in range(self.degree):
            part = slice(number * self._coins.size, (number + 1) * self._coins.size)
            turned = (high * scale[part, np.newaxis])[:, :, np.newaxis] * low[:, np.newaxis]
            np.rint(turned.real, out=found[part, 0])
            np.rint(turned.imag, out=found[part, 1])
            if number + 1 < self.degree:
                high, low = high * coarse, low * fine
        return found

    def loose(self, theta: float, radius: float) -> float:
        """At least the error of a sum at places up to θ, for all nodes within the radius.

        Entries are rounded to whole numbers, a rotation is within e, and a cosine changes by at most 2rx.
        """
        e = U * (16 * theta * self._x + 200)
        each = np.minimum(2 * radius * self._x, 2.0) + 2.0**-_DIGITS + 4 * e
        return 1.01 * float((np.abs(self.beta) * each).sum() + self._x.size * math.ldexp(1.0, -self._bits))


def _majorant(rho: Floats, degree: int) -> tuple[Floats, Floats]:
    """The constant and the coefficients of cos v, cos 2v, ... of a bound on f(cos v)."""

    def f(u: float) -> tuple[Floats, Floats]:
        more = rho * (rho + 2 * u)
        return 0.5 * np.log1p(more), rho / (1 + more)

    if degree == 1:
        value, slope = f(_TANGENT)
        return value - _TANGENT * slope, slope[np.newaxis]
    if degree == 2:
        value, slope = f(-0.5)
        bend = (np.log1p(rho) - value - 1.5 * slope) / 2.25
        return value + 0.5 * slope + 0.75 * bend, np.array([slope + bend, 0.5 * bend])
    (high, steep), (low, flat) = f(_ROOT), f(-_ROOT)
    odd = (high - low) / (2 * _ROOT)
    bend, twist = (steep - flat) / (4 * _ROOT), 0.5 * (steep + flat) - odd
    return 0.5 * (high + low), np.array([odd + 0.25 * twist, 0.5 * bend, 0.25 * twist])


def waves_from(
    coins: Coins, c: float, step: float, first: int, last: int, share: float, smoothing: float
) -> int | None:
    """About the node from which on most nodes are skipped; None if that is not worth while, or nodes are too many."""
    if coins.x.size > _MOST_COINS or last - first > _MOST / coins.x.size:
        return None
    usual = WaveBound(coins, c, DEGREES).usual
    places = np.unique(np.geomspace(first, last, _PLACES).astype(np.int64))
    enough = -np.log(_Price(step, smoothing, share, first, last).allowed(places, places + 1)) < usual
    begin = int(places[int(np.argmax(enough))])
    return begin if enough.any() and last - begin >= _LEAST_NODES else None


def wave_sieve(coins: Coins, c: float, step: float, first: int, last: int, share: float, smoothing: float) -> Skipped:
    """Skip nodes among first..last (included) at a total cost of at most `share`.

    The cost of a node is |φ| e^{-w²θ²/2} (1/θ² + w²) step/π.  Stretches become longer and longer; each has the
    cheapest bound that usually is enough.
    """
    price = _Price(step, smoothing, share, first, last)
    bounds = [WaveBound(coins, c, degree) for degree in range(1, DEGREES + 1)]
    left: list[Ints] = []
    begin, near, far, work = first, 0.0, 0.0, 0.0
    while begin <= last:
        bound, stride = _cheapest(bounds, step, -math.log(float(price.allowed(begin, begin + 1))))
        groups = min(max(2 * (begin - first) // stride, _LEAST_STRETCH), _MOST_STRETCH, (last - begin) // stride + 1)
        columns = _multiple(math.isqrt(groups), bound.across)
        rows = _multiple(-(-groups // columns), bound.down)
        allowed, costs = price.rows(begin, stride, rows, columns)
        end, middle = begin + rows * columns * stride, stride // 2
        most = (np.log(allowed) + (bound.mean - bound.loose(step * end, step * middle))) / bound.unit
        shape = rows // bound.down, bound.down, -1, bound.across if most.shape[1] > 1 else 1
        sums = bound.logs(step * (begin + middle), step * stride, rows, columns)
        a, b, i, j = np.nonzero(sums > most.reshape(shape).transpose(0, 2, 1, 3))
        groups_left = (a * bound.down + i) * columns + b * bound.across + j
        left.append((begin + stride * np.sort(groups_left)[:, np.newaxis] + np.arange(stride)).ravel())
        near, far, work = near + costs[0], far + costs[1], work + rows * columns * bound.degree
        begin = end
    starts, stops = _ranges(np.concatenate(left), last)
    return Skipped(starts, stops, 1.0001 * near, 1.0001 * far, _COST * work * coins.x.size)


def _cheapest(bounds: list[WaveBound], step: float, needed: float) -> tuple[WaveBound, int]:
    """A bound and how many nodes one look serves; the last and one, if nothing is usually enough."""
    enough = [
        (bound.degree / stride, bound.degree, stride)
        for bound in bounds
        for stride in _STRIDES
        if bound.usual - bound.lipschitz * step * (stride // 2) > needed
    ]
    _, degree, stride = min(enough, default=(0.0, len(bounds), 1))
    return bounds[degree - 1], stride


def _multiple(count: int, of: int) -> int:
    """The next one from a count on."""
    return -(-count // of) * of


def _ranges(index: Ints, last: int) -> tuple[Ints, Ints]:
    """Numbers in order, up to the last, as ranges."""
    index = index[: np.searchsorted(index, last, side="right")]
    if not index.size:
        return index, index
    new = np.flatnonzero(np.diff(index, prepend=-2) > 1)
    return index[new], index[np.append(new[1:], index.size) - 1] + 1


@dataclass(frozen=True)
class _Price:
    """What a skipped node may cost: half of the share evenly, half like one over its number."""

    step: float
    smoothing: float
    share: float
    first: int
    last: int

    def allowed(self, start: Ints | int, stop: Ints | int) -> Floats:
        """How large |φ| may be at a node from `start` on and before `stop`."""
        theta = np.asarray(start * self.step)
        weight = np.exp(-0.5 * self.smoothing * theta * theta) * (1 / theta**2 + self.smoothing) * (self.step / math.pi)
        harmonic = math.log((self.last + 1) / self.first) + 1 / self.first
        part = 0.5 / (self.last + 1 - self.first) + 0.5 / (harmonic * stop)
        return np.asarray(np.minimum(self.share * part / np.maximum(weight, 1e-300), 1.0))

    def rows(self, begin: int, stride: int, rows: int, columns: int) -> tuple[Floats, tuple[float, float]]:
        """The same for rows of groups, and what it costs: sums of |φ| e^{-w²θ²/2}, over θ² and without."""
        width = stride * columns
        index = begin + width * np.arange(rows, dtype=np.int64)[:, np.newaxis]
        if begin < 4 * width:  # prices still change within a row
            index, width = index + stride * np.arange(columns), stride
        allowed = self.allowed(index, index + width)
        theta = index * self.step
        damped = width * allowed * np.exp(-0.5 * self.smoothing * theta * theta)
        return allowed, (float((damped / theta**2).sum()), float(damped.sum()))
