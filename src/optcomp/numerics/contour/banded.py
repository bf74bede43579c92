r"""H(y) between two numbers, from kernels without waves beyond T: `band.py` has them, docs/engine.md the proof.

    S±(y) = (Δ/π) sum' Re φ(θ) e^{-iθy} K±(θ),   θ = 0, Δ, ..., (N-1)Δ  (half weight at 0)

    z S⁺(y) >= H(y) >= z (S⁻(y) - the aliases of H itself)          (K± for F; -K∓ for 1 - F)

There is no truncation.  Nodes left out count with |K±| <= 1/θ² + area.  Near a place at which everything was computed
the sums are Taylor's of degree three in its distance, with a bound on the rest.
"""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np

from optcomp.numerics.blocked import BLOCK, Complexes, Floats, U, sum_error
from optcomp.numerics.contour.band import Band, Kernels
from optcomp.numerics.contour.integral import Integral, Means, Nodes, Sides
from optcomp.numerics.contour.plan import Contour

_CHUNK = 4096  # nodes at a time: some twenty arrays of them stay in the cache
_NEAR = 0.5  # of a radian, the farthest node's turn: within it Taylor's terms lose no more than the sum itself
_REST = 0.02  # of the tolerance: what the rest of Taylor's formula may cost
_SMALL = 1e-3  # of a radian: so far β may turn the farthest node if that is left to Taylor's formula


def quadrature(plan: Contour, nodes: Nodes, log_means: Means) -> Integral:
    """The quadrature that belongs to a plan."""
    return Banded(plan, nodes, log_means) if plan.band else Integral(plan, nodes, log_means)


@dataclass(frozen=True)
class _Centre:
    """Both sums about a place, each with three derivatives over 1, 2 and 6, and what bounds their errors.

    `size`, `turning` and `fourth` are the sums of |φK|, |φK|θ and |φK|θ⁴/24; `rounding` is the errors of φ and K.
    """

    y: float
    upper: tuple[float, float, float, float]
    lower: tuple[float, float, float, float]
    size: float
    turning: float
    fourth: float
    rounding: float


class Banded(Integral):
    """The quadrature with kernels without waves beyond T."""

    def __init__(self, plan: Contour, nodes: Nodes, log_means: Means) -> None:
        self._begin(plan, nodes, log_means)
        self._band = Band(plan)
        self._top = float(nodes.theta[-1])
        self._late = self._band.beta if self._top * abs(self._band.beta) <= _SMALL else 0.0
        self._left_out = 1.0001 * (nodes.near + self._band.area * nodes.far)
        self._shares = (2 / 3, 1 / 3) if plan.excess else (1 / 3, 2 / 3)  # K⁺ is half as far from the kernel as K⁻
        self._known: tuple[Floats, Complexes] | None = None
        self._centre: _Centre | None = None

    def sides(self, y: float) -> Sides:
        """log H(y) between two numbers."""
        plan, centre = self.plan, self._near(y)
        d, late = y - centre.y, self._late
        up, down = (d - late, d) if plan.excess else (d, d - late)
        far = max(abs(up), abs(down))
        turned = 8 * U * (abs(y) + abs(centre.y) + abs(self._band.beta)) * centre.turning
        spread = (2 * sum_error(_CHUNK) + 4 * U * BLOCK) * centre.size
        error = 1.01 * (centre.rounding + spread + turned) + self._left_out + centre.fourth * far**4
        upper, lower = _taylor(centre.upper, up), _taylor(centre.lower, down)
        below = lower[0] - 1.0001 * (error + self.aliasing(y))
        above = upper[0] + 1.0001 * error
        scale = self._log_mean - plan.tilt * y
        loss = self._log_mean_error + 8 * U * (abs(self._log_mean) + abs(plan.tilt * y) + 20)
        middle, slope = (self._shares[0] * a + self._shares[1] * b for a, b in zip(upper, lower, strict=True))
        return Sides(
            scale + math.log(below) - loss if below > 0 else -math.inf,
            scale + math.log(above) + loss if above > 0 else math.inf,  # H > 0: anything else proves nothing
            scale + math.log(middle) if middle > 0 else -math.inf,
            -plan.tilt + (slope / middle if middle > 0 else 0.0),
        )

    def middle(self, y: float, first: int) -> tuple[float, float]:
        """About log H(y) and its slope, from the first nodes only."""
        theta, values = self._first(first)
        turned = values * np.exp(-1j * theta * y)
        total, turning = float(turned.real.sum()), float((theta * turned.imag).sum())
        if not total > 0:
            return -math.inf, 0.0
        return self._log_mean - self.plan.tilt * y + math.log(total), turning / total - self.plan.tilt

    def _first(self, first: int) -> tuple[Floats, Complexes]:
        """The first nodes, and about φ times the kernel of H."""
        if self._known is None or self._known[0].size != first:
            theta = self._nodes.theta[:first]
            upper, lower = self._signed(self._band.at(theta))
            self._known = theta, self._weighted(slice(first)) * (self._shares[0] * upper + self._shares[1] * lower)
        return self._known

    def _near(self, y: float) -> _Centre:
        """The last place at which all was computed, or this one if that is too far."""
        centre = self._centre
        if centre is not None:
            far = abs(y - centre.y) + abs(self._late)
            if self._top * far <= _NEAR and centre.fourth * far**4 <= _REST * self.plan.share:
                return centre
        self._centre = centre = self._about(y)
        return centre

    def _about(self, y: float) -> _Centre:
        """All sums about a place."""
        size = self._nodes.theta.size
        once = min(size, _CHUNK)
        space, fine = np.empty((12, once)), _turn(np.arange(once, dtype=np.float64) * (-self.plan.step * y))
        parts = np.array([self._part(slice(i, min(i + _CHUNK, size)), y, space, fine) for i in range(0, size, _CHUNK)])
        a = [math.fsum(column) for column in parts.T.tolist()]
        upper, lower = (a[0], a[1], -a[2] / 2, -a[3] / 6), (a[4], a[5], -a[6] / 2, -a[7] / 6)
        return _Centre(y, upper, lower, a[8], a[9], a[10] / 24, a[11])

    def _part(self, part: slice, y: float, space: Floats, fine: Complexes) -> Floats:
        """The same for some nodes, as columns of sums; the space is used up.  `fine` turns neighbours."""
        theta, value, kernels = self._nodes.theta[part], self._weighted(part), self._band.at(self._nodes.theta[part])
        beta = self._band.beta
        if not self._late:
            kernels.upper[:] *= _turn(theta * beta)
        upper, lower = self._signed(kernels)
        size = np.abs(value)
        errors = self._nodes.error[part] * (self.plan.step / math.pi) * (kernels.most + kernels.error)
        if float(theta[-1] - theta[0]) == self.plan.step * (theta.size - 1):
            value *= fine[: theta.size]
            value *= _turn(theta[:1] * -y)
        else:
            value *= _turn(theta * -y)
        terms = space[:, : theta.size]
        for row, kernel in ((0, upper), (4, lower)):
            kernel *= value
            terms[row], terms[row + 1] = kernel.real, kernel.imag
        terms[1] *= theta
        terms[5] *= theta
        square = theta * theta
        for row in (0, 1, 4, 5):
            np.multiply(terms[row], square, out=terms[row + 2])
        np.multiply(size, kernels.most, out=terms[8])
        np.multiply(terms[8], theta, out=terms[9])
        np.multiply(terms[8], square * square, out=terms[10])
        terms[11] = errors + size * kernels.error + (60 * U) * terms[8]
        return _sums(terms)

    def _weighted(self, part: slice) -> Complexes:
        """φ times the weights of the sum."""
        weight = self.plan.step / math.pi
        value = np.empty(self._nodes.theta[part].size, dtype=np.complex128)
        np.multiply(self._nodes.real[part], weight, out=value.real)
        np.multiply(self._nodes.imag[part], weight, out=value.imag)
        if part.start in (0, None):
            value[0] *= 0.5  # the first node is θ = 0
        return value

    def _signed(self, kernels: Kernels) -> tuple[Complexes, Complexes]:
        """The kernels above and below that of H."""
        return (kernels.upper, kernels.lower) if self.plan.excess else (-kernels.lower, -kernels.upper)


def _turn(angle: Floats) -> Complexes:
    """e^{i angle}."""
    turned = np.empty(angle.size, dtype=np.complex128)
    np.cos(angle, out=turned.real)
    np.sin(angle, out=turned.imag)
    return turned


def _taylor(terms: tuple[float, float, float, float], d: float) -> tuple[float, float]:
    """The sum at d, and its slope."""
    a, b, c, e = terms
    return a + d * (b + d * (c + d * e)), b + d * (2 * c + 3 * d * e)


def _sums(rows: Floats) -> Floats:
    """The sum of every row, within `sum_error` of its length: like `blocked_sum`, with strided blocks."""
    while rows.shape[1] > BLOCK:
        across = -(-rows.shape[1] // BLOCK)
        if across * BLOCK > rows.shape[1]:
            rows = np.concatenate((rows, np.zeros((rows.shape[0], across * BLOCK - rows.shape[1]))), axis=1)
        rows = rows.reshape(rows.shape[0], BLOCK, across).sum(axis=1)
    return np.asarray(rows.sum(axis=1))
