"""The best split of a budget by brute force: outcomes listed, amounts tried on a grid, the best ones refined.

In floats, vectorised over splits, and without anything of the planner but the errors of single statistics.  A split is
a row of amounts: ε, or √(2ρ) for Gaussian noise.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from itertools import product

import numpy as np
import numpy.typing as npt

from optcomp.planner.allocation import Item

Floats = npt.NDArray[np.float64]
_erfc = np.vectorize(math.erfc, otypes=[np.float64])


def hockey(mu: Floats, y: Floats) -> Floats:
    """E(1 - e^{y-L})_+ for L ~ N(μ²/2, μ²); for μ = 0, L = 0."""
    if not mu.any():
        return np.maximum(-np.expm1(np.minimum(y, 0.0)), 0.0)
    root = math.sqrt(2.0)
    return np.asarray(0.5 * _erfc((y / mu - mu / 2) / root) - 0.5 * np.exp(y) * _erfc((y / mu + mu / 2) / root))


def leak(items: Sequence[Item], amounts: Floats, epsilon: float, extra: Sequence[float] = ()) -> Floats:
    """δ at a total ε for each row of amounts: coins ±x by their 2^k outcomes, Gaussian losses by their closed form."""
    coins: list[Floats] = [np.full(len(amounts), value) for value in extra]
    square = np.zeros(len(amounts))
    for item, column in zip(items, amounts.T, strict=True):
        if item.model.noise.name == "gaussian":
            square = square + column**2
        else:
            coins += [column * float(part.share) for part in item.model.parts]
    found, mu = np.zeros(len(amounts)), np.sqrt(square)
    for signs in product((1.0, -1.0), repeat=len(coins)):
        loss, mass = np.zeros(len(amounts)), np.ones(len(amounts))
        for sign, coin in zip(signs, coins, strict=True):
            loss, mass = loss + sign * coin, mass * 0.5 * (1 + np.tanh(sign * coin / 2))
        found += mass * hockey(mu, epsilon - loss)
    return found


def rho(items: Sequence[Item], amounts: Floats) -> Floats:
    """Σρ_i: x²/2 for either noise, x²/8 for choices."""
    found = np.zeros(len(amounts))
    for item, column in zip(items, amounts.T, strict=True):
        shares = [float(part.share) for part in item.model.parts]
        if item.model.noise.name == "gaussian":
            found += column**2 / 2
        else:
            over = 8 if item.model.noise.name == "exponential" else 2
            found += column**2 * sum(share**2 for share in shares) / over
    return found


class Limit:
    """What a split may cost: (ε, δ), or ρ; beside coins that are there anyway."""

    def __init__(
        self, epsilon: float = 0.0, delta: float = 0.0, rho: float | None = None, extra: Sequence[float] = ()
    ) -> None:
        self.epsilon, self.delta, self.rho, self.extra = epsilon, delta, rho, tuple(extra)

    def fits(self, items: Sequence[Item], amounts: Floats) -> npt.NDArray[np.bool_]:
        """Whether each row is within the limit."""
        if self.rho is not None:
            return np.asarray(rho(items, amounts) <= self.rho)
        if self.delta == 0:
            return np.asarray(amounts.sum(axis=1) + sum(self.extra) <= self.epsilon)
        return np.asarray(leak(items, amounts, self.epsilon, self.extra) <= self.delta)

    def scaled(self, items: Sequence[Item], shapes: Floats) -> Floats:
        """Each row on the largest scale that fits: by halving."""
        low, high = np.full(len(shapes), -40.0), np.full(len(shapes), 20.0)
        for _ in range(46):
            middle = (low + high) / 2
            fits = self.fits(items, shapes * np.exp(middle)[:, np.newaxis])
            low, high = np.where(fits, middle, low), np.where(fits, high, middle)
        return np.asarray(shapes * np.exp(low)[:, np.newaxis])


def value(items: Sequence[Item], amounts: Sequence[float], objective: str) -> float:
    """Σ w(e/s)² or max w e/s, of errors without steps."""
    terms = [(item.weight, item.smooth(amount)) for item, amount in zip(items, amounts, strict=True)]
    return sum(w * e * e for w, e in terms) if objective == "squares" else max(w * e for w, e in terms)


def best(items: Sequence[Item], limit: Limit, objective: str, reach: float = 6.0) -> tuple[float, Floats]:
    """The least value over a grid of shapes, each of the best few refined on ever finer grids; and its amounts."""
    free, points = len(items) - 1, 41 if len(items) < 3 else 13
    logs = np.array(list(product(np.linspace(-reach, reach, points), repeat=free)))
    tops = _tops(items, limit, objective, logs, 3)
    for centre, found in list(tops):
        step = 2 * reach / (points - 1)
        while step > 1e-6:
            near = np.array(list(product((-1.0, -0.5, 0.0, 0.5, 1.0), repeat=free))) * step
            (moved, lower), *_ = _tops(items, limit, objective, centre + near, 1)
            step = step if np.abs(moved - centre).max() > 0.9 * step else step / 2
            centre, found = (moved, lower) if lower < found else (centre, found)
        tops.append((centre, found))
    centre, found = min(tops, key=lambda top: top[1])
    return found, limit.scaled(items, np.exp(np.concatenate([np.zeros(1), centre]))[np.newaxis])[0]


def _tops(items: Sequence[Item], limit: Limit, objective: str, logs: Floats, most: int) -> list[tuple[Floats, float]]:
    shapes = np.exp(np.concatenate([np.zeros((len(logs), 1)), logs], axis=1))
    values = [value(items, row, objective) for row in limit.scaled(items, shapes).tolist()]
    order = np.argsort(values, kind="stable")[:most]
    return [(logs[place], values[place]) for place in order]
