"""What noise costs as it is drawn: outcomes of discrete noises on two neighbouring data sets, multiplied out.

In floats.  Outcomes too rare to matter are left out, so that δ is no larger than the truth, and hardly smaller.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Sequence
from fractions import Fraction

import numpy as np
import numpy.typing as npt

Floats = npt.NDArray[np.float64]
Loss = tuple[Floats, Floats]
"""Values, and their probabilities."""
_FAR = 9.5
_RARE = 1e-18
_LEAST = 1e-13
"""Values nearer to each other than this are one."""


def laplace_loss(scale: float, change: int) -> Loss:
    """x of weight e^{-|x|/b}, or of e^{-|x-Δ|/b}."""
    reach = math.ceil(-scale * math.log(_RARE))
    x = np.arange(-reach, reach + change + 1, dtype=np.float64)
    weight = np.exp(-np.abs(x) / scale) * math.tanh(0.5 / scale)
    return merged((np.abs(x - change) - np.abs(x)) / scale, weight)


def gaussian_loss(sigma: float, change: int) -> Loss:
    """x of weight e^{-x²/2σ²}, or of e^{-(x-Δ)²/2σ²}."""
    reach = math.ceil(_FAR * sigma) + 1
    x = np.arange(-reach, reach + 1, dtype=np.float64)
    weight = np.exp(-(x**2) / (2 * sigma**2))
    return merged(((x - change) ** 2 - x**2) / (2 * sigma**2), weight / weight.sum())


def choice_loss(scale: float, probability: Fraction, data: Sequence[int], other: Sequence[int], grid: range) -> Loss:
    """The exponential mechanism with scores -|(b-a)·#{x < c} - a·#{x > c}|, on two data sets."""
    a, b = probability.numerator, probability.denominator

    def chosen(rows: Sequence[int]) -> Floats:
        scores = [-abs((b - a) * sum(x < c for x in rows) - a * sum(x > c for x in rows)) for c in grid]
        weight = np.exp((np.array(scores) - max(scores)) / scale)
        return np.asarray(weight / weight.sum())

    return merged(np.log(chosen(data) / chosen(other)), chosen(data))


def merged(values: Floats, weights: Floats) -> Loss:
    """Values that differ by round-off, rounded down and taken together; rare ones dropped."""
    unit = max(float(np.abs(values).max()), 1.0) * _LEAST
    places, where = np.unique(np.floor(values / unit), return_inverse=True)
    mass = np.asarray(np.bincount(where, weights, places.size), dtype=np.float64)
    kept = mass > _RARE
    return places[kept] * unit, mass[kept]


def together(losses: Iterable[Loss]) -> Loss:
    """The sum of independent losses."""
    values, weights = np.zeros(1), np.ones(1)
    for value, weight in losses:
        values, weights = merged(np.add.outer(values, value).ravel(), np.multiply.outer(weights, weight).ravel())
    return values, weights


def delta_at(loss: Loss, epsilon: float) -> float:
    """E(1 - e^{ε-L})_+."""
    values, weights = loss
    above = values > epsilon
    return math.fsum(-weights[above] * np.expm1(epsilon - values[above]))
