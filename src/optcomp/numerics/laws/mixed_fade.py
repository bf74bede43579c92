r"""How fast |I(γ+iθ)| falls with θ, I(z) = E A(x)^z: the line of integration is lifted where the phase turns.

On the line x + ia(x) with 0 <= μa < π the integrand is G(x) e^{E(x)} in size for a phase that turns by θ,

    E = a²/2 + a'²/2 + γ log|A(x+ia)/A(x)| - θ arg A(x+ia),

and arg A >= 0 there, so the bound for θ serves every larger θ.  Proved in `docs/losses.md`.
"""

from __future__ import annotations

import math

import numpy as np

from optcomp.numerics.blocked import Floats
from optcomp.numerics.laws.mixed_shape import Shape

_SLACK = 1e-9
"""For the round-off of every term, each of them within 1e-12 of itself."""
_LIFTS = (1.0, 0.7, 0.45)
"""Parts of the height that would be best if the phase turned evenly: each gives a bound, and the best one counts."""
_MOST_TURN = 0.6 * math.pi
"""The largest μa: beyond, A comes near its zeros."""
_RAMP = 1.0
"""Over so much of x the line comes down to the real one at either end, where G is negligible."""
_MOST_HEIGHT = 6.0
"""The largest a: e^{a²/2} must stay harmless."""


class Fade:
    """Bounds on |I(γ+iθ)/I(γ)| for one γ."""

    def __init__(self, shape: Shape) -> None:
        self.shape = shape
        mu, share, power = shape.mu, shape.share, shape.power
        whole = (float(shape.masses.sum()) + sum(shape.tails)) * (1 + _SLACK)
        self._least = shape.least_masses / whole
        self._most = shape.masses / shape.least
        self._width = np.diff(shape.edges)
        away = mu * (shape.edges - shape.middle)
        self._ratio = np.exp(np.clip(away, -600.0, 600.0))
        near = np.exp(-np.abs(away))
        self._split = 4 * near / (1 + near) ** 2  # 4π(1-π)
        bent = mu**2 * (1 - share) * ((1 - share) - min(power, 0.0) * share)
        self._height = mu * share / (1 + bent)  # about the best a/θ
        x = shape.edges
        self._ramp = np.minimum(1.0, np.minimum(x - x[0], x[-1] - x) / _RAMP)

    def bound(self, theta: float) -> float:
        """At least |I(γ+iθ')/I(γ)| for every θ' >= θ > 0."""
        top = min(_MOST_TURN / self.shape.mu, _MOST_HEIGHT)
        with np.errstate(over="ignore", invalid="ignore"):
            lost = max(self._lost(theta, self._ramp * np.minimum(lift * theta * self._height, top)) for lift in _LIFTS)
        return min(1.0, 1.0 - lost * (1 - _SLACK) + 2e-16) if lost > 0 else 1.0

    def _lost(self, theta: float, a: Floats) -> float:
        """At most 1 - |I(γ+iθ)/I(γ)|, from a line with height a at the edges and straight in between.

        At the first and the last edge, and beyond them, it must be the real line: a = 0.
        Never is a sum of masses compared with another one: each cell tells by how much it falls short of itself.
        """
        low, high = np.minimum(a[:-1], a[1:]), np.maximum(a[:-1], a[1:])
        grown = 0.5 * (high * high + (np.diff(a) / self._width) ** 2) * (1 + _SLACK)
        exponent = grown + self._bent(low, high) - theta * self._turned(a) * (1 - _SLACK)
        change = np.expm1(exponent)
        short = float((self._least * np.maximum(-change, 0.0)).sum())
        over = float((self._most * np.maximum(change, 0.0)).sum())
        return short * (1 - _SLACK) - over * (1 + _SLACK)

    def _turned(self, a: Floats) -> Floats:
        """At most arg A(x+ia) in each cell: it grows with x, and in a it first grows and then falls."""
        ratio, angle = self._ratio[:-1], self.shape.mu * a
        return np.minimum(_turn(ratio, angle[:-1]), _turn(ratio, angle[1:]))

    def _bent(self, low: Floats, high: Floats) -> Floats:
        """At least γ log|A(x+ia)/A(x)| = γ/2 log(1 - 4π(1-π) sin²(μa/2)) in each cell.

        π(1-π) has no minimum inside a cell, and its maximum 1/4 where the two terms of A are equal.
        """
        power, mu, split = self.shape.power, self.shape.mu, self._split
        if power >= 0:
            drop = np.minimum(split[:-1], split[1:]) * np.sin(0.5 * mu * low) ** 2
            return np.asarray(0.5 * power * np.log1p(-drop) * (1 - _SLACK))
        within = (self.shape.edges[:-1] <= self.shape.middle) & (self.shape.middle <= self.shape.edges[1:])
        most = np.where(within, 1.0, np.maximum(split[:-1], split[1:]))
        drop = most * np.sin(0.5 * mu * high) ** 2
        return np.asarray(0.5 * power * np.log1p(-drop) * (1 + _SLACK))


def _turn(ratio: Floats, angle: Floats) -> Floats:
    """arg(1 + r e^{iψ})."""
    return np.asarray(np.arctan2(ratio * np.sin(angle), 1 + ratio * np.cos(angle)))
