"""All coins of a list as one law, so that they can stand beside other laws."""

from __future__ import annotations

import math

import numpy as np
from flint import arb

from optcomp.numerics.blocked import CACHED, Floats
from optcomp.numerics.contour.coins import Coins
from optcomp.numerics.contour.points import Compressed, Points, lone_points
from optcomp.numerics.laws.law import Summand, Waves, joined


class CoinLaw(Summand):
    """The sum of independent ±x_i that land high with odds e^{x_i}."""

    def __init__(self, coins: Coins) -> None:
        self._coins, self._compressed = coins, Compressed(coins)
        self.most = coins.total
        e = np.exp(-coins.x)
        self.log_top = -float((coins.m * np.log1p(e)).sum()) * (1 + 1e-9) - 1e-12

    def log_mean(self, c: float) -> arb:
        tilt = max(c, -1 - c)  # K(c) = K(-1-c)
        value, error = self._compressed.at(abs(tilt) + 1).log_means(np.array([tilt]))
        return arb(float(value[0]), float(error[0]))

    def log_mean_guess(self, c: Floats) -> Floats:
        return self._coins.log_mean_guess(c)

    def cumulants(self, c: Floats) -> tuple[Floats, Floats, Floats]:
        return self._coins.cumulants(c)

    def waves(self, c: float, theta: Floats) -> Waves:
        octave = np.floor(np.log2(np.maximum(theta, 1.0)))
        parts = []
        for value in np.unique(octave).tolist():
            chosen = theta[octave == value]
            parts.append(self._waves(self._compressed.at(math.hypot(c + 0.5, max(float(chosen[-1]), 1.0))), c, chosen))
        return joined(parts, theta)

    def _waves(self, points: Points, c: float, theta: Floats) -> Waves:
        rows = max(CACHED // max(points.size, 1), 1)
        found = [points.log_phi(c, theta[i : i + rows]) for i in range(0, theta.size, rows)]
        logs, angles, errors = (np.concatenate(column) for column in zip(*found, strict=True))
        wrong = np.flatnonzero(~(errors < 0.1))
        if wrong.size and points.x.size:
            again = self._waves(lone_points(self._coins), c, theta[wrong])
            logs[wrong], angles[wrong], errors[wrong] = again.log_size, again.angle, again.error
        errors = np.where(np.isnan(errors), math.inf, errors)
        most = np.minimum(np.where(np.isfinite(errors), logs + errors, 0.0), 0.0)
        return Waves(0.0, logs, angles, errors, most)

    def slope(self, c: float) -> float:
        """The standard deviation of the tilted law is at most that of fair coins."""
        return 1.0001 * math.sqrt(float((self._coins.m * self._coins.x**2).sum()))

    def cost(self, c: float, theta: float, count: int) -> float:
        return 200.0 + 90.0 * self._compressed.size(math.hypot(c + 0.5, theta))
