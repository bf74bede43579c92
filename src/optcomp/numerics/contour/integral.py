r"""H(y) between two numbers: the node values of one contour, and every error of the quadrature.

With s = c + iθ, φ(θ) = M(s)/M(c), the smoothed loss L + V, V ~ N(w²/2, w²), and z = e^{K(c) + w²c(c+1)/2 - cy}:

    S(y)  = (Δ/π) sum' Re φ(θ) e^{iθ(w²(c+1/2) - y) - w²θ²/2} / ±s(s+1),   θ = 0, Δ, 2Δ, ...  (half weight at 0)
    S'(y) = the same without 1/±s(s+1)

    z S(y) = sum over whole m of e^{cmΛ} H_w(y + mΛ) >= H_w(y),  z S'(y) >= p_w(y),   Λ = 2π/Δ
    F_w - w² e^{w²/8} p_w <= F <= F_w

Errors: skipped nodes and truncation (absolute), aliasing (Chernoff), round-off of every node and of K(c).
"""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np

from optcomp.numerics.blocked import BLOCK, Floats, U, blocked_sum, sum_error
from optcomp.numerics.contour.plan import Contour, log_reach
from optcomp.numerics.contour.points import Compressed, Points

BATCH = 24
"""So many nodes are computed at once where |φ| is large."""


@dataclass(frozen=True, eq=False)
class Nodes:
    """φ at the nodes that were computed, with its absolute error, and what was left out.

    `near` and `far` bound the sums over the others (to infinity) of |φ| e^{-w²θ²/2}/θ² and |φ| e^{-w²θ²/2}, times Δ/π.
    """

    theta: Floats
    real: Floats
    imag: Floats
    error: Floats
    near: float
    far: float


@dataclass(frozen=True)
class Sides:
    """least <= log H <= most; `slope` is about d log H/dy, `middle` about log H."""

    least: float
    most: float
    middle: float
    slope: float


@dataclass(frozen=True)
class Means:
    """K at the tilt of a plan and at the two tilts of its Chernoff bounds, each with a bound on its error."""

    here: tuple[float, float]
    above: tuple[float, float]
    below: tuple[float, float]


def means(compressed: Compressed, plan: Contour) -> Means:
    """K at the three tilts."""
    points = compressed.at(max(plan.above + 1, math.hypot(plan.tilt + 1, BATCH * plan.step)))  # the bulk's as well
    return means_of(points, plan)


def means_of(points: Points, plan: Contour) -> Means:
    """The same for points that are good for all three tilts; K(c) = K(-1-c)."""
    c = np.array([plan.tilt, plan.above, plan.below])
    values, errors = points.log_means(np.maximum(c, -1 - c))
    return Means(*zip(values.tolist(), errors.tolist(), strict=True))


class Integral:
    """The quadrature as a function of y."""

    def __init__(self, plan: Contour, nodes: Nodes, log_means: Means) -> None:
        self._begin(plan, nodes, log_means)
        c, w2 = plan.tilt, plan.smoothing
        theta = nodes.theta
        weight = np.exp(-0.5 * w2 * theta * theta) * (plan.step / math.pi)
        weight[theta == 0] *= 0.5
        angle = theta * (w2 * (c + 0.5) - plan.y)
        turn = np.cos(angle) + 1j * np.sin(angle)
        self._value = weight * (nodes.real + 1j * nodes.imag) * turn
        s = c + 1j * theta
        kernel = 1 / (s * (s + 1)) * (1 if plan.excess else -1)
        self._kerneled = self._value * kernel
        size = np.hypot(nodes.real, nodes.imag)
        slack = 1.01 * nodes.error + size * U * (60 + 8 * theta * (plan.y + w2 * (c + 1)) + 4 * w2 * theta * theta)
        self._rounding = 1.01 * blocked_sum(weight * slack)
        self._rounding_kerneled = 1.01 * blocked_sum(weight * slack * np.abs(kernel))
        spread = sum_error(theta.size) + 2 * U * BLOCK
        self._sum_error = spread * 1.01 * blocked_sum(weight * size)
        self._sum_error_kerneled = spread * 1.01 * blocked_sum(weight * size * np.abs(kernel))
        self._move_error = 12 * U * blocked_sum(weight * size * theta)
        self._move_error_kerneled = 12 * U * blocked_sum(weight * size * theta * np.abs(kernel))

    def _begin(self, plan: Contour, nodes: Nodes, log_means: Means) -> None:
        """What every quadrature needs."""
        self.plan, self._nodes = plan, nodes
        self._log_mean, self._log_mean_error = log_means.here
        self._alias = [
            (other, *log_mean, float(log_reach(plan.excess, np.array([other]))[0]))
            for other, log_mean in ((plan.above, log_means.above), (plan.below, log_means.below))
        ]

    def sides(self, y: float) -> Sides:
        """log H(y) between two numbers."""
        plan, nodes = self.plan, self._nodes
        c, w2 = plan.tilt, plan.smoothing
        angle = -nodes.theta * (y - plan.y)
        cosine, sine = np.cos(angle), np.sin(angle)
        total = blocked_sum(self._kerneled.real * cosine - self._kerneled.imag * sine)
        density = blocked_sum(self._value.real * cosine - self._value.imag * sine)
        moved = abs(y - plan.y) + U * abs(y)
        error = nodes.near + self._rounding_kerneled + self._sum_error_kerneled + moved * self._move_error_kerneled
        density_most = max(density, 0.0) + nodes.far + self._rounding + self._sum_error + moved * self._move_error
        bias = 1.0001 * w2 * math.exp(min(w2 / 8, 600.0)) * density_most
        below, above = total - 1.0001 * (error + self.aliasing(y)), total + 1.0001 * error
        if plan.excess:
            below -= bias
        else:
            above += bias
        scale = self._log_mean + 0.5 * w2 * c * (c + 1) - c * y
        loss = self._log_mean_error + 8 * U * (abs(self._log_mean) + abs(c * y) + w2 * abs(c * (c + 1)) + 20)
        return Sides(
            scale + math.log(below) - loss if below > 0 else -math.inf,
            scale + math.log(above) + loss if above > 0 else math.inf,  # H > 0: anything else proves nothing
            scale + math.log(total) if total > 0 else -math.inf,
            self._slope(y, cosine, sine, total),
        )

    def middle(self, y: float, first: int) -> tuple[float, float]:
        """About log H(y) and its slope, from the first nodes only."""
        plan = self.plan
        theta, kerneled = self._nodes.theta[:first], self._kerneled[:first]
        turned = kerneled * np.exp(-1j * theta * (y - plan.y))
        total, turning = float(turned.real.sum()), float((theta * turned.imag).sum())
        if not total > 0:
            return -math.inf, 0.0
        scale = self._log_mean + 0.5 * plan.smoothing * plan.tilt * (plan.tilt + 1) - plan.tilt * y
        return scale + math.log(total), turning / total - plan.tilt

    def _slope(self, y: float, cosine: Floats, sine: Floats, total: float) -> float:
        """About d log H/dy."""
        theta = self._nodes.theta
        turning = float((theta * (self._kerneled.imag * cosine + self._kerneled.real * sine)).sum())
        return -self.plan.tilt + (turning / total if total > 0 else 0.0)

    def aliasing(self, y: float) -> float:
        """Bound on the sum over m != 0 of e^{cmΛ} H_w(y + mΛ), in units of z."""
        plan = self.plan
        c, w2 = plan.tilt, plan.smoothing
        period = 2 * math.pi / plan.step * (1 - 4 * U)
        total = 0.0
        for other, log_mean, error, reach in self._alias:
            gap = abs(other - c)
            log = reach + log_mean - self._log_mean + 0.5 * w2 * (other * (other + 1) - c * (c + 1)) - (other - c) * y
            size = abs(log_mean) + abs(self._log_mean) + abs((other - c) * y) + w2 * other * other + abs(reach) + 10
            log += error + self._log_mean_error + 16 * U * size - gap * period
            if log > 600 or gap * period < 1e-3:
                return math.inf
            total += math.exp(log) / -math.expm1(-gap * period)
        return 1.0001 * total
