r"""Log-sums over very many coins from a few points: Chebyshev interpolation of log cosh, bin by bin.

A bin holds the coins with x in [mid - half, mid + half].  For f analytic on the ellipse with foci mid ± half and
semi-axis sum rho * half,

    | sum m_i f(x_i) - sum_j W_j f(ξ_j) |  <=  4 M rho^{1-N} / (rho - 1) * sum m_i,      M = max |f - f(mid)| there,

with ξ_j the N Chebyshev points of the bin and W_j = sum_i m_i l_j(x_i) = (1/N)(tau_0 + 2 sum_r tau_r T_r(ξ_j)),
tau_r = sum_i m_i T_r((x_i - mid)/half).  Here f(x) = log cosh(sx) up to terms of the same kind, |f'| <= 2|s| tan(1.2)
as long as Im(sx) stays within 1.2 of a multiple of π, and rho is taken as large as that allows.  Bins with few coins
are not interpolated: their coins are points of weight m_i.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from functools import lru_cache

import numpy as np

from optcomp.numerics.blocked import Floats, Ints, U
from optcomp.numerics.contour.coins import Coins, dot, log_mean

REACH = 1.2  # how near to iπ/2, where log cosh is singular, the ellipses come: docs/engine.md, section 5
_SLOPE = 2 * math.tan(REACH)  # the bound on |f'|/|s| there
_RUN = 64  # terms in a run: 64u a level
_CHUNK = 1 << 13  # a multiple of the run
_PI_HIGH = float.fromhex("0x1.921fb544p+1")  # 33 bits of π
_PI_LOW = float.fromhex("0x1.0b4611a626331p-33")  # the next 53


@lru_cache(maxsize=32)
def _chebyshev(n: int) -> tuple[Floats, Floats]:
    """The points cos(π(j+1/2)/n) and the matrix T_r(point j), rows r; within 4u."""
    steps = np.arange(n)[:, np.newaxis] * (2 * np.arange(n) + 1) % (4 * n)
    table = np.cos(np.pi * (steps / (2 * n)))
    return table[1].copy() if n > 1 else np.zeros(1), table


_MOST_KNOWN = 256
"""Sets of points that are kept; on the way to large |s| each serves a few nodes only."""


@dataclass(frozen=True, eq=False)
class Points:
    """Points with weights: interpolated bins as rows of `x` and `weight`, single coins as `lone`."""

    mid: Floats
    half: Floats
    copies: Floats
    x: Floats
    weight: Floats
    weight_error: Floats
    moment_error: Floats
    lone: Coins

    @property
    def size(self) -> int:
        """How many points a log-sum costs."""
        return self.x.size + self.lone.x.size

    def log_means(self, c: Floats) -> tuple[Floats, Floats]:
        """The sum of log E e^{cL_i} over all coins, for each of several c, and bounds on the errors."""
        lone, lone_error = log_mean(self.lone.x, c[:, np.newaxis])
        value, error = dot(lone, self.lone.m), dot(lone_error, self.lone.m)
        error = error + (self.lone.x.size + 3) * U * dot(np.abs(lone), self.lone.m)
        if self.x.size:
            tilts = c[:, np.newaxis, np.newaxis]
            binned, binned_error = log_mean(self.x, tilts)
            binned_error += 4 * U * self.x * (np.abs(tilts) + 1)  # the points are rounded
            value = value + (binned * self.weight).sum(axis=(1, 2))
            error = error + self._spread(binned, binned_error)
            s = np.maximum(c + 0.5, 0.5)[:, np.newaxis]
            error = error + (self.copies * self._cut(np.zeros_like(s), s)).sum(axis=1)
        return value, 1.01 * error + 4 * U * np.abs(value)

    def log_phi(self, c: float, theta: Floats) -> tuple[Floats, Floats, Floats]:
        """log|φ(θ)|, arg φ(θ) and a bound on the error of either, φ(θ) = E e^{(c+iθ)L}/E e^{cL}.

        The bound is infinite where θ is too large for the bins.
        """
        turns = np.rint(theta[:, np.newaxis] * self.lone.x / np.pi)
        size, angle, rough = _coin(self.lone.x, c, theta[:, np.newaxis], turns)
        logs, angles = dot(size, self.lone.m), dot(angle, self.lone.m) + _half_turns(turns, self.lone.m)
        error = dot(rough, self.lone.m) + (self.lone.x.size + 6) * U * dot(np.abs(size) + np.abs(angle), self.lone.m)
        if self.x.size:
            turns = np.rint(theta[:, np.newaxis] * self.mid / np.pi)
            size, angle, rough = _coin(self.x, c, theta[:, np.newaxis, np.newaxis], turns[..., np.newaxis])
            logs = logs + np.einsum("tbn,bn->t", size, self.weight)
            angles = angles + np.einsum("tbn,bn->t", angle, self.weight)
            angles = angles + _half_turns(turns, self.copies)
            error = error + self._spread(size, rough) + self._spread(angle, 0 * rough) + 20 * U
            away = np.abs(theta[:, np.newaxis] * self.mid - np.pi * turns)
            s = np.hypot(c + 0.5, theta)[:, np.newaxis]
            error = error + (self.copies * self._cut(away, s)).sum(axis=1)
        return logs, angles, 1.01 * error + 8 * U * (np.abs(logs) + np.abs(angles))

    def _spread(self, value: Floats, rough: Floats) -> Floats:
        """Error of sum_j W_j value_j: of each value, of the weights, of the sum; first axis free."""
        count = value.shape[-1]
        table = _chebyshev(count)[1]
        coefficients = np.abs(np.einsum("tbn,rn->tbr", value, table)) * (2 / count)
        share = np.abs(self.weight) * (rough + (self.x.size + 4) * U * np.abs(value)) + self.weight_error * np.abs(
            value
        )
        top = np.abs(value).max(axis=(1, 2), keepdims=True) * (count * 8 * U)
        return np.asarray(share.sum(axis=(1, 2)) + ((coefficients + top) * self.moment_error).sum(axis=(1, 2)))

    def _cut(self, away: Floats, s: Floats | float) -> Floats:
        """The interpolation error for one coin: f' is at most 2|s| tan(1.2) on the ellipse of half-axis `axis`."""
        room = (REACH - 1e-9) - away
        axis = room / np.maximum(self.half * s, 1e-300)
        fits = axis > 1.05
        axis = np.where(fits, np.minimum(axis, 1e6), 2.0)
        rho = (axis + np.sqrt(axis * axis - 1)) * (1 - 1e-12)
        bound = 4 * _SLOPE * room * rho ** (1.0 - self.x.shape[-1]) / (rho - 1)
        return np.where(fits, 1.0001 * bound, math.inf)


def _coin(x: Floats, c: float, theta: Floats, turns: Floats) -> tuple[Floats, Floats, Floats]:
    """log-modulus and argument of f = cos b + i tanh(a) sin b, and a bound on the error of either.

    b is θx less `turns` half-turns, a = x(c+1/2).  Round-off: 1 - tanh² is within (20+8a)u, tanh within 12u, sin and
    cos within 8u, b within 4ub absolutely (product, points, reduction), and
    d log f/db = (-sech²(a) sin b cos b + i tanh a)/|f|².
    """
    a = x * (c + 0.5)
    b = theta * x
    rest, _ = reduced(b, turns)
    sine, cosine = np.sin(rest), np.cos(rest)
    e = np.exp(-2 * a)
    sech2, tanh = 4 * e / (1 + e) ** 2, np.tanh(a)
    v = sech2 * sine * sine
    left = np.maximum(1 - v, 1e-300)
    size, angle = 0.5 * np.log1p(-np.minimum(v, 1 - 1e-15)), np.arctan2(tanh * sine, cosine)
    slack = (24 + 5 * a) * v / left + 10 * np.abs(size) + 60 * np.abs(angle)
    slack += (4 * b * (tanh + sech2 * np.abs(sine * cosine)) + 8 * a * sech2 * np.abs(sine)) / left
    return size, angle, np.where(v < 1 - 1e-9, U * slack, math.inf)


def reduced(b: Floats, turns: Floats | None = None) -> tuple[Floats, Floats]:
    """b less a whole number of half-turns, within 2ub, and that number."""
    if turns is None:
        turns = np.rint(b * (1 / np.pi))
    return (b - turns * _PI_HIGH) - turns * _PI_LOW, turns


def _half_turns(turns: Floats, copies: Floats) -> Floats:
    """π if the number of half-turns left out is odd, else 0."""
    odd = (np.fmod(np.abs(turns), 2) * np.fmod(copies, 2)).sum(axis=1)
    return np.asarray(np.pi * np.fmod(odd, 2))


def points(coins: Coins, half: float, degree: int) -> Points:
    """Bins of half-width at most `half` with `degree` points each, where that saves points."""
    edges = np.flatnonzero(np.diff(np.floor((coins.x - coins.x[0]) / (2 * half)), prepend=-1.0))
    counts = np.diff(edges, append=coins.x.size)
    many = counts > degree
    if not many.any():
        return lone_points(coins)
    alone = np.repeat(~many, counts)
    return _binned(coins.x[~alone], coins.m[~alone], counts[many], degree, Coins(coins.x[alone], coins.m[alone]))


def lone_points(coins: Coins) -> Points:
    """Every coin a point of its own."""
    none, nothing = np.zeros(0), np.zeros((0, 1))
    return Points(none, none, none, nothing, nothing, nothing, nothing, coins)


def _binned(x: Floats, m: Floats, counts: Ints, degree: int, lone: Coins) -> Points:
    """Bins of so many neighbouring coins each, and some coins of their own."""
    ends = np.cumsum(counts)
    starts = ends - counts
    low, high = x[starts], x[ends - 1]
    mid = 0.5 * (low + high)
    half = np.maximum(high - mid, mid - low) * (1 + 1e-15)
    u = (x - np.repeat(mid, counts)) / np.repeat(half, counts)
    tau, rounds = _moments(u, m, starts, degree)
    copies = tau[:, 0].copy()
    places, table = _chebyshev(degree)
    scaled = tau * (2 / degree)
    scaled[:, 0] *= 0.5
    weight, size = np.einsum("br,rj->bj", scaled, table), np.abs(scaled)
    weight_error = (degree + 8) * np.einsum("br,rj->bj", size, np.abs(table)) + 8 * size.sum(axis=1)[:, np.newaxis]
    growth = 6 * np.arange(degree, dtype=np.float64) ** 2 + rounds
    moment_error = growth * (1.01 * U * copies[:, np.newaxis])
    return Points(
        mid,
        half,
        copies,
        mid[:, np.newaxis] + half[:, np.newaxis] * places,
        weight,
        U * weight_error,
        moment_error,
        lone,
    )


def _moments(u: Floats, m: Floats, starts: Ints, degree: int) -> tuple[Floats, int]:
    """sum m T_r(u) for every bin and r < degree, within (6r² + rounds)u of the sum of m; and the rounds."""
    cuts = _runs(starts, u.size)
    sums = np.empty((degree, cuts.size))
    terms = np.empty((degree, min(_CHUNK, u.size)))
    for start in range(0, u.size, _CHUNK):
        twice, copies = 2 * u[start : start + _CHUNK], m[start : start + _CHUNK]
        part = terms[:, : copies.size]
        part[0] = copies
        np.multiply(0.5 * copies, twice, out=part[1])
        for r in range(2, degree):
            np.multiply(twice, part[r - 1], out=part[r])
            part[r] -= part[r - 2]
        inside = slice(*np.searchsorted(cuts, (start, start + copies.size)))
        np.add.reduceat(part, cuts[inside] - start, axis=1, out=sums[:, inside])
    rounds = _RUN
    while cuts.size > starts.size:
        starts = np.searchsorted(cuts, starts)
        cuts = _runs(starts, cuts.size)
        sums = np.add.reduceat(sums, cuts, axis=1)
        rounds += _RUN
    return sums.T, rounds


def _runs(starts: Ints, size: int) -> Ints:
    """Where to cut a sum: at the starts of the bins and at every 64th term."""
    return np.union1d(starts, np.arange(0, size, _RUN))


class Compressed:
    """The coins with their points for any |s|; what is good for a larger |s| serves smaller ones."""

    def __init__(self, coins: Coins) -> None:
        self.coins = coins
        self._known: list[tuple[float, Points]] = []

    def at(self, s: float) -> Points:
        """Points good for |c + 1/2 + iθ| up to s: bins of half-width about 0.2/s."""
        fitting = [known for known in self._known if known[0] >= s]
        if fitting:
            return min(fitting, key=lambda known: known[1].size)[1]
        half, degree = self._shape(s)
        self._known = [*self._known[-_MOST_KNOWN:], (s, points(self.coins, half, degree))]
        return self._known[-1][1]

    def size(self, s: float) -> float:
        """About how many points `at(s)` has, without making them."""
        half, degree = self._shape(s)
        spread = float(self.coins.x[-1] - self.coins.x[0])
        return min(degree * (spread / (2 * half) + 1), self.coins.x.size)

    def _shape(self, s: float) -> tuple[float, int]:
        half = min(0.2 / s, 0.51 * float(self.coins.x[-1] - self.coins.x[0]) + 1e-300)
        degree = math.ceil(math.log(100 * self.coins.count / 1e-12) / math.log(1.6 / (half * s))) + 1
        return half, min(max(degree, 6), 40)
