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

from optcomp.numerics.blocked import BLOCK, Floats, U
from optcomp.numerics.contour.coins import Coins, dot, log_mean

REACH = 1.2
_SLOPE = 2 * math.tan(REACH)
_CHUNK = 8 * BLOCK**2
_PI_HIGH = float.fromhex("0x1.921fb544p+1")  # 33 bits of π
_PI_LOW = float.fromhex("0x1.0b4611a626331p-33")  # the next 53


@lru_cache(maxsize=32)
def _chebyshev(n: int) -> tuple[Floats, Floats]:
    """The points cos(π(j+1/2)/n) and the matrix T_r(point j), rows r; within 4u."""
    steps = np.arange(n)[:, np.newaxis] * (2 * np.arange(n) + 1) % (4 * n)
    table = np.cos(np.pi * (steps / (2 * n)))
    return table[1].copy() if n > 1 else np.zeros(1), table


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

    def log_mean(self, c: float) -> tuple[float, float]:
        """The sum of log E e^{cL_i} over all coins, and a bound on its error."""
        lone, lone_error = log_mean(self.lone.x, c)
        value, error = float(dot(lone, self.lone.m)), float(dot(lone_error, self.lone.m))
        error += (self.lone.x.size + 3) * U * float(dot(np.abs(lone), self.lone.m))
        if self.x.size:
            binned, binned_error = log_mean(self.x, c)
            binned_error += 4 * U * self.x * (abs(c) + 1)  # the points are rounded
            value += float((binned * self.weight).sum())
            error += float(self._spread(binned[np.newaxis], binned_error[np.newaxis])[0])
            error += float((self.copies * self._cut(np.zeros((1, 1)), max(c + 0.5, 0.5))).sum())
        return value, 1.01 * error + 4 * U * abs(value)

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
    ends = np.append(edges[1:], coins.x.size)
    many = (ends - edges) > degree
    binned = [_bin(coins.x[i:j], coins.m[i:j], degree) for i, j in zip(edges[many], ends[many], strict=True)]
    alone = np.repeat(~many, ends - edges)
    lone = Coins(coins.x[alone], coins.m[alone])
    mid, wide, copies = (np.array([row[i] for row in binned]) for i in range(3))
    x, weight, weight_error, moment_error = (
        np.array([row[i] for row in binned]).reshape(len(binned), degree) for i in range(3, 7)
    )
    return Points(mid, wide, copies, x, weight, weight_error, moment_error, lone)


def lone_points(coins: Coins) -> Points:
    """Every coin a point of its own."""
    none, nothing = np.zeros(0), np.zeros((0, 1))
    return Points(none, none, none, nothing, nothing, nothing, nothing, coins)


def _bin(x: Floats, m: Floats, degree: int) -> tuple[float, float, float, Floats, Floats, Floats, Floats]:
    mid = 0.5 * (float(x[0]) + float(x[-1]))
    half = max(float(x[-1]) - mid, mid - float(x[0])) * (1 + 1e-15)
    tau = _moments(x, m, mid, half, degree)
    copies = float(tau[0])
    places, table = _chebyshev(degree)
    scale = np.full(degree, 2 / degree)
    scale[0] = 1 / degree
    weight = dot(table.T, scale * tau)
    size = np.abs(scale * tau)
    weight_error = U * ((degree + 8) * dot(np.abs(table.T), size) + 8 * float(size.sum()))
    moment_error = (6 * np.arange(degree, dtype=np.float64) ** 2 + 4 * BLOCK) * (1.01 * U * copies)
    moment_error[0] = copies * U * 4 * BLOCK
    return mid, half, copies, mid + half * places, weight, weight_error, moment_error


def _moments(x: Floats, m: Floats, mid: float, half: float, degree: int) -> Floats:
    """sum m T_r((x - mid)/half) for r < degree, each within (6r² + 4·32)u of the sum of m."""
    rows = []
    for start in range(0, x.size, _CHUNK):
        u, copies = (x[start : start + _CHUNK] - mid) / half, m[start : start + _CHUNK]
        before, now, twice = copies, copies * u, 2 * u
        terms = np.zeros((degree, -(-u.size // BLOCK**2) * BLOCK**2))
        for r in range(degree):
            terms[r, : u.size] = before
            before, now = now, twice * now - before
        sums = terms.reshape(degree, -1, BLOCK, BLOCK).sum(axis=3).sum(axis=2)
        rows.append([math.fsum(row) for row in sums])
    return np.array([math.fsum(column) for column in zip(*rows, strict=True)])


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
        self._known.append((s, points(self.coins, half, degree)))
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
