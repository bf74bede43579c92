"""What a reader may come to believe, from the very noise: no (ε, δ) is used, and nothing of the engine.

A loss is a list of outcomes: L and the probability of it where the first table is the truth; under the other table it
has e^{-L} times that.  Of all that a reader may do with the release, the most telling event of probability δ is where
L is largest (Neyman and Pearson): belief in the truth is then δ/(δ + its probability under the other table).
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt
from scipy.special import ndtri

Floats = npt.NDArray[np.float64]
_WIDE = 12


@dataclass(frozen=True)
class Losses:
    """A law of the loss, by its outcomes."""

    places: Floats
    chances: Floats

    def plus(self, other: Losses) -> Losses:
        """The sum of two independent losses."""
        places = np.add.outer(self.places, other.places).ravel()
        return Losses(places, np.multiply.outer(self.chances, other.chances).ravel())

    def often(self, count: int, step: float) -> Losses:
        """The sum of so many of them, whose outcomes lie a step apart."""
        chances = self.chances
        for _ in range(count - 1):
            chances = np.convolve(chances, self.chances)
        return Losses(count * self.places[0] + step * np.arange(chances.size), chances)

    def exceeded(self, delta: float) -> float:
        """The least y with P(L > y) <= δ, and the belief at that loss."""
        order = np.argsort(-self.places)
        above = np.cumsum(self.chances[order])
        return 1 / (1 + math.exp(-self.places[order][int(np.argmax(above > delta))]))

    def told(self, delta: float) -> float:
        """The belief that an event of probability δ can lead to, at most."""
        order = np.argsort(-self.places)
        places, chances = self.places[order], self.chances[order]
        before = np.cumsum(chances) - chances
        taken = np.clip(delta - before, 0.0, chances)
        other = math.fsum(taken * np.exp(-places))
        return delta / (delta + other)


def coins(epsilon: float, count: int) -> Losses:
    """Of so many counts with discrete Laplace noise: ±ε, with odds e^ε."""
    one = 1 / (1 + math.exp(-epsilon))
    return Losses(np.array([-epsilon, epsilon]), np.array([1 - one, one])).often(count, 2 * epsilon)


def rounded(sigma: float, count: int) -> Losses:
    """Of so many counts with discrete Gaussian noise of σ: L = (1 - 2x)/2σ² where the noise is x."""
    x = np.arange(-math.ceil(_WIDE * sigma), math.ceil(_WIDE * sigma) + 1, dtype=np.float64)
    weights = np.exp(-(x**2) / (2 * sigma**2))
    one = Losses(((1 - 2 * x) / (2 * sigma**2))[::-1], (weights / math.fsum(weights))[::-1])
    return one.often(count, 1 / sigma**2)


def together(parts: Sequence[Losses]) -> Losses:
    """All of them."""
    found = parts[0]
    for each in parts[1:]:
        found = found.plus(each)
    return found


def normal(mu: float, delta: float) -> tuple[float, float]:
    """The same two beliefs for continuous Gaussian noise, L ~ N(μ²/2, μ²), in closed form."""
    z = -float(ndtri(delta))
    other = math.erfc((z + mu) / math.sqrt(2)) / 2
    return 1 / (1 + math.exp(-(mu * mu / 2 + mu * z))), delta / (delta + other)
