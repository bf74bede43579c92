r"""Which nodes matter, looked at one by one: a bound on log|φ| that is a sum of cosines, so a matrix product gives it.

With ρ_i = e^{-2a_i}, a_i = x_i(c + 1/2), and u = cos(2θx_i),

    log|φ(θ)| = \sum m_i (f_i(u) - log(1 + ρ_i)),     f_i(u) = ½ log(1 + ρ_i² + 2ρ_i u)

f is concave, f''' > 0 and f'''' < 0, so each of these polynomials in u is at least f on [-1, 1]:

    degree 1: the tangent at some u_0;  2: tangent at -1/2, through f(1);  3: tangent at ±1/√2

because f less the polynomial is f'' (u-u_0)²/2, f''' (u+½)²(u-1)/6 and f'''' (u²-½)²/24 with derivatives in between.
Powers of u are sums of cos(2nθx_i), hence log|φ(θ)| <= \sum β_j cos(2θx_j) - A over all coins and n; and a cosine
changes by at most 2rx within r of θ, so one look serves a few nodes where there is room.

Nodes are laid out in rows and columns, and cos(α+β) = cos α cos β - sin α sin β: a product of matrices of single
precision, whose 2J terms may be added in any order.
"""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from optcomp.numerics.blocked import Floats, Ints, U
from optcomp.numerics.contour.coins import Coins, dot
from optcomp.numerics.contour.products import rotations
from optcomp.numerics.contour.sieve import Skipped

_TANGENT, _ROOT = 0.3, math.sqrt(0.5)
"""u_0: a tangent there has a mean nearly as low as the best one, at 0, and swings less; and where degree 3 touches."""
DEGREES, _STRIDES = 3, (9, 7, 5, 3, 1)
"""Waves of a coin at most; and how many nodes may be judged by the one in their middle."""
_DOWN, _ACROSS, _FINE = 128, 64, 8
"""Rows and columns that are looked at together: little memory, for the system's pages are dear; and an eighth."""
_FAR = 1 << 17
"""With fewer nodes to come other strides would not pay for their rotations."""
_LEAST_STRETCH = 4096
"""Nodes that are looked at together at least."""
_TOGETHER = 1 << 18
"""Multiplications that a BLAS does in the calling thread: with more, its threads wait for each other."""
_SINGLE = 2.0**-24
"""The unit round-off of single precision."""
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
        self._x: Floats = np.multiply.outer(np.arange(1.0, degree + 1), coins.x).ravel()
        self.beta = (coins.m * waves).ravel()
        size = np.log1p(rho) + np.abs(constant) + 2 * rho
        self.mean = float(dot(np.log1p(rho) - constant, coins.m)) - _SLACK * (1 + float(dot(size, coins.m)))
        """At most A."""
        self.usual = self.mean - _USUAL * math.sqrt(0.5 * float((self.beta**2).sum()))
        """What is usually proved: |φ| <= e^-usual."""
        self.lipschitz = 2 * float((np.abs(self.beta) * self._x).sum())
        """How fast the sum may change with θ: within 1e-12."""
        self._size: float = float(np.abs(self.beta).sum())

    def loose(self, theta: float, radius: float) -> float:
        """At least the error of a sum at places up to θ, for all nodes within the radius.

        A rotation is within (16θx + 200)u, a cosine changes by at most 2rx.  In single precision rows are products of
        three rotations, columns of two (each product is within three units), cubed, and 2J terms are summed.
        """
        turned = 4 * U * (16 * theta * 0.5 * self.lipschitz + 200 * self._size)
        single = (2 * self._x.size + 80) * _SINGLE * self._size + self._x.size * 1e-30  # the least floats are lost
        away = float((np.abs(self.beta) * np.minimum(2 * radius * self._x, 2.0)).sum()) if radius else 0.0
        return 1.01 * (turned + single + away)


class Turns:
    """e^{-2iθx} for rows and columns of nodes, some steps apart, in single precision; and powers of the latter."""

    def __init__(self, x: Floats, step: float) -> None:
        self.x = x
        self.rows = self._outer(step * _ACROSS, _DOWN)
        columns = self._outer(step, _ACROSS)
        self.columns = [columns, columns * columns, columns * columns * columns]

    def _outer(self, step: float, count: int) -> npt.NDArray[np.complex64]:
        """A row for each of so many nodes, from few sines."""
        fine = rotations(self.x, step * np.arange(_FINE, dtype=np.float64)).T.astype(np.complex64)
        coarse = rotations(self.x, (step * _FINE) * np.arange(count // _FINE, dtype=np.float64)).T.astype(np.complex64)
        return (coarse[:, np.newaxis] * fine).reshape(count, self.x.size)


class Looks:
    """Sums of β cos(2nθx) at θ = begin, begin + step, ..., laid out in blocks of rows and columns."""

    def __init__(self, bound: WaveBound, turns: Turns) -> None:
        self._turns, self._beta = turns, bound.beta.reshape(bound.degree, -1).astype(np.float32)
        terms = 2 * bound.beta.size
        self.down = next(n for n in (32, 16, 8, 4) if n * n * terms <= _TOGETHER or n == 4)
        self.across = next(n for n in (64, 32, 16, 8, 4) if n * self.down * terms <= _TOGETHER or n == 4)
        """Rows and columns of a block."""
        self._left = np.empty((_DOWN, 2, *self._beta.shape), dtype=np.float32)
        self._right = np.empty((_ACROSS // self.across, 2, *self._beta.shape, self.across), dtype=np.float32)
        for number in range(bound.degree):
            blocks = turns.columns[number].reshape(-1, self.across, turns.x.size).transpose(0, 2, 1)
            self._right[:, 0, number], self._right[:, 1, number] = blocks.real, blocks.imag

    def at(self, begin: float, rows: int) -> npt.NDArray[np.float32]:
        """[a, b, i, j] is row down·a + i and column across·b + j; for so many rows, a multiple of `down`."""
        turned = self._turns.rows[:rows] * rotations(self._turns.x, np.array([begin])).T.astype(np.complex64)
        left, power = self._left[:rows], turned
        for number, beta in enumerate(self._beta):
            np.multiply(power.real, beta, out=left[:, 0, number])
            np.multiply(power.imag, -beta, out=left[:, 1, number])
            if number + 1 < len(self._beta):
                power = power * turned
        tall = left.reshape(-1, 1, self.down, 2 * self._beta.size)
        return np.asarray(tall @ self._right.reshape(-1, 2 * self._beta.size, self.across))


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

    The cost of a node is |φ| e^{-w²θ²/2} (1/θ² + w²) step/π.  Each stretch has the cheapest bound that usually is
    enough.
    """
    price = _Price(step, smoothing, share, first, last)
    bounds = [WaveBound(coins, c, degree) for degree in range(1, DEGREES + 1)]
    turns: dict[int, Turns] = {}
    known: dict[tuple[int, int], Looks] = {}
    left: list[Ints] = []
    begin, near, far, work = first, 0.0, 0.0, 0.0
    while begin <= last:
        needed = -math.log(float(price.allowed(begin, begin + 1)))
        bound, stride = _cheapest(bounds, step, needed, last - begin > _FAR or len(turns) > 1)
        if stride not in turns:
            turns[stride] = Turns(coins.x, step * stride)
        if (bound.degree, stride) not in known:
            known[bound.degree, stride] = Looks(bound, turns[stride])
        looks, columns, middle = known[bound.degree, stride], _ACROSS, stride // 2
        wanted = min((last - begin) // stride + 1, max((begin - first) // stride, _LEAST_STRETCH))
        rows = min(_DOWN, _multiple(-(-wanted // columns), looks.down))
        allowed, costs = price.rows(begin, stride, rows, columns)
        end = begin + rows * columns * stride
        most = np.log(allowed) + (bound.mean - bound.loose(step * end, step * middle))
        most -= 1e-6 * (1 + np.abs(most))  # more than it is rounded by
        shape = rows // looks.down, looks.down, -1, looks.across if most.shape[1] > 1 else 1
        open_ = looks.at(step * (begin + middle), rows) > most.astype(np.float32).reshape(shape).transpose(0, 2, 1, 3)
        if open_.any():
            a, b, i, j = np.nonzero(open_)
            groups = np.sort((a * looks.down + i) * columns + b * looks.across + j)
            left.append((begin + stride * groups[:, np.newaxis] + np.arange(stride)).ravel())
        near, far, work = near + costs[0], far + costs[1], work + rows * columns * bound.degree
        begin = end
    starts, stops = _ranges(np.concatenate([np.zeros(0, dtype=np.int64), *left]), last)
    return Skipped(starts, stops, 1.0001 * near, 1.0001 * far, _COST * work * coins.x.size)


def _cheapest(bounds: list[WaveBound], step: float, needed: float, far: bool) -> tuple[WaveBound, int]:
    """A bound and how many nodes one look serves; the last and one, if nothing is usually enough."""
    enough = [
        (bound.degree / stride, bound.degree, stride)
        for bound in bounds
        for stride in (_STRIDES if far else _STRIDES[-1:])
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
