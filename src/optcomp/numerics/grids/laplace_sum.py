r"""F(y) = E(1 - e^{y-L})_+ for Laplace losses: none or one between its ends in closed form, two or more by an integral.

A Laplace loss has the atoms ε and -ε and the density e^{-(ε-l)/2}/4 in between.  With s = c + iθ, b = 1 + 2s,
E = e^{-bε}, and everything divided by e^{sε} G, G = E e^{c(L-ε)}:

    α = (1 + E)/2G,     γ = (1 - E)/2bG,     φ = α + γ;     |α| <= a = α(θ=0),  |γ| <= a/2θ

- no loss in between: sums of atoms, listed;
- one: h(y') = ½(1 - e^{(y'-ε)/2})² for |y'| < ε at every sum of atoms, ½(1 - e^{-ε})(1 - e^{y'}) below;
- two or more: a trapezoid sum over φ^n - α^n - nγα^{n-1}, which falls like θ^{-2}, so that no smoothing is needed.

All three are non-negative, so aliasing only adds.  `docs/grids.md` has the errors.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from functools import lru_cache

import numpy as np
import numpy.typing as npt

from optcomp.numerics.balls import SUM_BITS, float_up, precision
from optcomp.numerics.blocked import LIBM, Floats, U, blocked_sum, sum_error
from optcomp.numerics.laws.laplace import LaplaceLaw

Laplaces = Sequence[tuple[LaplaceLaw, int]]
_COLUMNS = 64
"""Nodes of a row: a rotation for each row and each column serves all nodes."""


@dataclass(frozen=True)
class Tilted:
    """One tilt c, with the two for Chernoff's bounds, and the nodes θ = 0, step, ..., count * step."""

    tilt: float
    above: float
    below: float
    step: float
    count: int


@dataclass(frozen=True, eq=False)
class _Atoms:
    """Sums of atoms: how far each is below the largest sum, the log of its tilted mass, and the error of that."""

    depth: Floats
    log_mass: Floats
    error: Floats
    ordered: bool
    """Whether the largest sums come first."""


class LaplaceSum:
    """F by one tilt."""

    def __init__(self, laws: Laplaces, plan: Tilted) -> None:
        self.plan, self._laws = plan, laws
        self._eps = [float(law.eps) for law, _ in laws]
        self._copies = [copies for _, copies in laws]
        self.total = math.fsum(eps * copies for eps, copies in zip(self._eps, self._copies, strict=True))
        self._means = [self._mean(c) for c in (plan.tilt, plan.above, plan.below)]
        self._parts = [_Part(eps, plan.tilt) for eps in self._eps]
        self._none = self._listed(self._copies)
        self._one = [self._listed([n - (i == j) for j, n in enumerate(self._copies)]) for i in range(len(self._copies))]
        self._nodes()

    def _mean(self, c: float) -> tuple[float, float]:
        """The sum of all K(c), and a bound on its error."""
        with precision(SUM_BITS):
            whole = sum(copies * law.log_mean(c) for law, copies in self._laws)
            value = float(whole.mid())
            return value, float_up(abs(whole - value))

    def _listed(self, counts: Sequence[int]) -> _Atoms:
        """All sums of atoms of so many of each law."""
        depth, log_mass, error = np.zeros(1), np.zeros(1), np.zeros(1)
        for part, count in zip(self._parts, counts, strict=True):
            low = np.arange(count + 1, dtype=np.float64)
            logs = _log_binomials(count) + (count - low) * part.log_high + low * part.log_low
            sizes = _log_binomials(count) + count * (abs(part.log_high) + abs(part.log_low) + 1) + 1
            loose = U * (4 * LIBM + 8) * sizes
            depth = np.add.outer(depth, 2 * part.eps * low).ravel()
            log_mass = np.add.outer(log_mass, logs).ravel()
            error = np.add.outer(error, loose).ravel()
        return _Atoms(depth, log_mass, error, len(counts) == 1)

    def two_or_more(self, theta: Floats) -> tuple[npt.NDArray[np.complex128], Floats, Floats]:
        """The transform of two or more losses in between, without e^{iθ·total}; at least its size, and its error."""
        whole, none = np.ones(theta.size, dtype=np.complex128), np.ones(theta.size, dtype=np.complex128)
        one, size = np.zeros(theta.size, dtype=np.complex128), np.ones(theta.size)
        loose = np.full(theta.size, 40.0)
        for part, copies in zip(self._parts, self._copies, strict=True):
            alpha, gamma = part.waves(theta)
            rest = _power(alpha, copies - 1)
            power = rest * alpha
            one = one * power + none * rest * gamma * copies
            none, whole = none * power, whole * _power(alpha + gamma, copies)
            off = U * part.error(theta)
            most = np.abs(alpha) + np.abs(gamma) + off
            size = size * most**copies
            loose = loose + copies * (6 + off / (U * most))
        return whole - none - one, size, 3 * U * loose * size

    def _nodes(self) -> None:
        """All nodes with their kernel, and bounds on the errors of their sum."""
        plan = self.plan
        theta = plan.step * np.arange(plan.count + 1, dtype=np.float64)
        value, size, error = self.two_or_more(theta)
        s = plan.tilt + 1j * theta
        kernel = (plan.step / math.pi) / (s * (s + 1))
        kernel[0] *= 0.5
        weight = np.abs(kernel)
        padded = np.zeros(_multiple(theta.size, _COLUMNS), dtype=np.complex128)
        padded[: theta.size] = value * kernel
        self._rows = padded.reshape(-1, _COLUMNS)
        self._error = 1.01 * blocked_sum(weight * (error + 3 * U * (_COLUMNS + self._rows.shape[0]) * size))
        self._turning = 1.01 * U * blocked_sum(weight * size * theta)
        x, n = 0.5 / float(theta[-1]), float(sum(self._copies))
        share = math.exp(math.fsum(c * math.log(p.share) for p, c in zip(self._parts, self._copies, strict=True)))
        self._cut = 1.01 * share * _two_or_more(x, n) / (3 * math.pi * float(theta[-1])) + 1e-300

    def sides(self, y: float) -> tuple[float, float]:
        """log F(y) between two numbers."""
        c, room = self.plan.tilt, self.total - y
        if not room > 0:
            return -math.inf, math.inf
        error = self._error + 12 * self._turning * (self.total + abs(y)) + self._cut
        closed, loose = self._closed(room, 8 * U * (self.total + abs(y)))
        middle = self._middle(room) + closed
        low, high = middle - 1.01 * (error + loose + self._alias(y)), middle + 1.01 * (error + loose)
        mean, off = self._means[0]
        scale, lost = mean - c * y, 1.01 * off + 8 * U * (abs(mean) + c * abs(y) + 4)
        return (
            scale + math.log(low) - lost if low > 0 else -math.inf,
            scale + math.log(high) + lost if high > 0 else math.inf,
        )

    def _middle(self, room: float) -> float:
        """The sum over all nodes of Re value e^{iθ·room}, of rotations for rows and for columns."""
        rows, step = self._rows.shape[0], self.plan.step * room
        inner = np.exp(1j * (step * np.arange(_COLUMNS)))
        outer = np.exp(1j * (step * _COLUMNS * np.arange(rows)))
        return float(((self._rows * inner).sum(axis=1) * outer).sum().real)

    def _closed(self, room: float, slip: float) -> tuple[float, float]:
        """The parts in closed form, where the largest sum is `room` above y within `slip`; and a bound on the error.

        No term changes faster with y than its mass, tilted: (1 - e^{y-L})_+ has a slope of at most 1.
        """
        c, total, loose = self.plan.tilt, 0.0, 0.0
        for number, atoms in enumerate((self._none, *self._one)):
            away = room - atoms.depth
            count = int(np.searchsorted(-away, slip, side="right")) if atoms.ordered else away.size
            far = np.maximum(away[:count], 0.0)
            mass = np.exp(atoms.log_mass[:count] - c * far)
            if not atoms.ordered:
                mass = np.where(away > -slip, mass, 0.0)
            if number:
                part, copies = self._parts[number - 1], self._copies[number - 1]
                mass *= copies / part.common
                below = 0.5 * math.expm1(-part.eps) * np.expm1(part.eps - np.maximum(far, 2 * part.eps))
                value = mass * np.where(far < 2 * part.eps, 0.5 * np.expm1(-0.5 * far) ** 2, below)
            else:
                value = mass * -np.expm1(-far)
            sums = blocked_sum(value)
            off = value * (atoms.error[:count] + U * (8 * LIBM + 40 + 8 * c * far) + c * slip)
            off += (1.01 + 2 * c * slip) * slip * mass
            total, loose = total + sums, loose + blocked_sum(off) + (sum_error(count) + 8 * U) * sums
        return total, 1.01 * loose + 1e-300

    def _alias(self, y: float) -> float:
        """At least what the other periods add, in units of e^{K(c) - cy}: by Chernoff, for all of F."""
        plan, period = self.plan, 2 * math.pi / self.plan.step * (1 - 4 * U)
        (here, loose), total = self._means[0], 0.0
        for other, (mean, error) in zip((plan.above, plan.below), self._means[1:], strict=True):
            gap = abs(other - plan.tilt)
            size = abs(mean) + abs(here) + abs((other - plan.tilt) * y) + 1
            log = mean - here - (other - plan.tilt) * y + error + loose + 16 * U * size - gap * period
            if not log < 600 or gap * period < 1e-3:
                return math.inf
            total += math.exp(log) / -math.expm1(-gap * period)
        return 1.01 * total


class _Part:
    """One Laplace loss under a tilt."""

    def __init__(self, eps: float, c: float) -> None:
        self.eps, self._b = eps, 1 + 2 * c
        self._low = math.exp(-self._b * eps)
        self.common = 0.5 * (1 + self._low - math.expm1(-self._b * eps) / self._b)
        self.share = min(0.5 * (1 + self._low) / self.common * (1 + 100 * U), 1.0)
        """At least the tilted mass of the atoms."""
        self.log_high = math.log(0.5 / self.common)
        self.log_low = self.log_high - self._b * eps

    def waves(self, theta: Floats) -> tuple[npt.NDArray[np.complex128], npt.NDArray[np.complex128]]:
        """α and γ."""
        angle = 2 * self.eps * theta
        turned = self._low * (np.cos(angle) - 1j * np.sin(angle))
        return 0.5 / self.common * (1 + turned), 0.5 / self.common * (1 - turned) / (self._b + 2j * theta)

    def error(self, theta: Floats) -> Floats:
        """Units of round-off that α and γ are off together: E by (24 + 6θε + 3bε) of its size, G by 20, ..."""
        return (80 + (8 * theta + 4 * self._b) * self.eps) / self.common


def _two_or_more(x: float, n: float) -> float:
    """At least (1+x)^n - 1 - nx; a series where that cancels."""
    if n * x > 0.5:
        return math.expm1(min(n * math.log1p(x), 700.0))
    return 0.5 * (n * x) ** 2 * math.exp(n * x)


def _multiple(count: int, of: int) -> int:
    return -(-count // of) * of


@lru_cache(maxsize=64)
def _log_binomials(n: int) -> Floats:
    """log of n over k for all k, each within 2 LIBM u of itself."""
    values = [1]
    for k in range(n):
        values.append(values[-1] * (n - k) // (k + 1))
    return np.array([math.log(value) for value in values])


def _power(base: npt.NDArray[np.complex128], exponent: int) -> npt.NDArray[np.complex128]:
    """A power by squaring: at most 4n roundings in effect."""
    result = np.ones_like(base)
    while exponent:
        if exponent & 1:
            result = result * base
        exponent >>= 1
        if exponent:
            base = base * base
    return result


def atoms_of(laws: Laplaces) -> float:
    """How many sums of atoms there are."""
    return math.prod(copies + 1.0 for _, copies in laws)
