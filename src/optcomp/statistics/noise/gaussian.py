r"""Discrete Gaussian noise: P(noise = x) proportional to e^{-x²/2σ²}, paid in ρ.

    P(|X| > t) = 2 Σ_{x>t} e^{-x²/2σ²} / Σ_x e^{-x²/2σ²}

In the total of a plan it counts by its own loss: that of continuous noise (`continuous`), with variance σ² - τ², which
is quick and can be certified; where σ is so small that τ² matters, that of the discrete noise itself if one person
changes one number only; by its ρ where σ is too small for vectors.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Hashable, Sequence
from fractions import Fraction
from functools import lru_cache
from statistics import NormalDist
from typing import Any

import numpy as np
from flint import arb

from optcomp.guarantees import ZCDP, DiscreteGaussian
from optcomp.numerics import Exact, Floats, ball
from optcomp.statistics.noise.continuous import as_continuous, leak_share, smoothing
from optcomp.statistics.noise.currency import Allowance
from optcomp.statistics.noise.kind import LEAST_RHO, AddedNoise, Counted, PaidInRho, Results, Worth, missed_each
from optcomp.statistics.noise.scales import gaussian_sigma
from optcomp.statistics.part import Part

CKS20 = "Canonne, Kamath, Steinke, The discrete Gaussian for differential privacy, 2020"
"""Where it comes from."""
_SUMMED = 50.0
"""Up to this σ a tail is summed term by term: some hundred terms."""
_MOST_SHIFT, _LEAST_SIGMA, _SMALL_SIGMA = 1000, 0.1, 12.0
"""Where the loss of the discrete noise itself is composed: few whole numbers of loss, and different from continuous."""
_TIMES_TAU = 8
"""σ² must be so many times τ², or too much of it is lost."""
_MOST_SQUARE = 1e11
"""Beyond, σ²/Δ² is too large for a guarantee of Gaussian noise."""
_FINE = 8
"""Steps that are told apart in a standard deviation."""


class DiscreteGaussianNoise(PaidInRho, AddedNoise):
    """Discrete Gaussian noise."""

    __slots__ = ()
    name, title, theorem = "gaussian", "gaussian noise", "CKS20"
    source = CKS20
    step = 1.0

    def scale(self, part: Part, allowance: Allowance) -> float:
        """The least float at or above √(Δ²/2ρ)."""
        return gaussian_sigma(part.l2_squared, allowance.whole_rho * part.share, allowance.asked)

    def unit_scale(self, part: Part) -> float:
        """σ at a ρ of 1."""
        return math.sqrt(part.l2_squared / (2 * part.share))

    def own(self, parts: Sequence[Part], scales: Sequence[float]) -> list[tuple[float, int]]:
        """σ and change of the parts in which one person changes one number."""
        return [(sigma, part.l1) for part, sigma in zip(parts, scales, strict=True) if _by_itself(part, sigma)]

    def guarantees(
        self, parts: Sequence[Part], scales: Sequence[float], budget: Fraction, delta: Exact, *, own: bool = True
    ) -> list[Counted]:
        """By the loss of each part; `own`: small σ by the loss of the discrete noise."""
        found: list[Counted] = []
        for part, sigma in zip(parts, scales, strict=True):
            tau_squared = smoothing(delta, len(part.cells))
            large = _TIMES_TAU * float(tau_squared) < sigma * sigma < _MOST_SQUARE * part.l2_squared
            if _by_itself(part, sigma) and (own or not large):
                found.append(DiscreteGaussian(sigma, part.l1))
            elif large:
                found += as_continuous(sigma, part.l2_squared, len(part.cells), tau_squared)
            else:
                found.append(ZCDP(max(budget * part.share, LEAST_RHO)))
        return found

    def worth(self, parts: Sequence[Part], amount: float, delta: Exact) -> Worth:
        """√v with v = Σ u/(1 - tu), u = share·amount² = Δ²/σ² and t = τ²/Δ² where the part counts as continuous."""
        v = slope = bend = leaks = 0.0
        for part in parts:
            share, square = float(part.share), float(part.share) * amount * amount
            tau_squared = smoothing(delta, len(part.cells))
            sigma = math.sqrt(part.l2_squared / square)
            plain = _by_itself(part, sigma) or sigma * sigma <= _TIMES_TAU * float(tau_squared)
            t = 0.0 if plain else float(tau_squared) / part.l2_squared
            leaks += 0.0 if plain else leak_share(len(part.cells), tau_squared, delta)
            left, turn = 1 - t * square, 2 * share * amount
            v += square / left
            slope += turn / left**2
            bend += 2 * share / left**2 + 2 * t * turn**2 / left**3
        root = math.sqrt(v)
        return Worth(root, slope / (2 * root), bend / (2 * root) - slope**2 / (4 * root**3), leaks)

    def tail(self, scale: float, t: int) -> arb:
        """Term by term for small σ; for large σ by an integral, from t + 1/2 on where the density is convex."""
        s = ball(scale)
        whole = (2 * arb.pi()).sqrt() * s * (1 + 2 * (-2 * (arb.pi() * s) ** 2).exp())  # Poisson: all terms positive
        if scale > _SUMMED:
            start = ball(t) + (0.5 if t >= scale else 0)
            return 2 * s * (arb.pi() / 2).sqrt() * (start / (s * arb(2).sqrt())).erfc() / whole
        half = 1 / (2 * s * s)
        term, ratio, falls = (-((t + 1) ** 2) * half).exp(), (-(2 * t + 3) * half).exp(), (-2 * half).exp()
        summed = term
        for _ in range(math.ceil(8 * scale) + 8):
            term *= ratio
            ratio *= falls
            summed += term
        return 2 * (summed + term * ratio / (1 - ratio)) / whole

    def smooth_reach(self, scale: float, confidence: float, values: int = 1) -> float:
        """Half a step less than continuous noise."""
        missed = missed_each(confidence, values)
        return max(scale * _deviations(missed) - 0.5, 0.0)

    def widened(self, scale: float) -> float:
        """The same σ."""
        return scale

    def continuous_reach(self, scales: Sequence[float], missed: float) -> float:
        """Variances add up."""
        return _deviations(missed) * math.hypot(*scales)

    def unit_draws(self, rng: np.random.Generator, draws: int, bins: int) -> Floats:
        """Gaussian noise."""
        return rng.standard_normal((1, draws, bins))

    def simulated(self, scale: float, unit: Floats) -> Floats:
        """Rounded, which is a little wider than discrete Gaussian noise."""
        found: Floats = np.rint(scale * unit[0])
        return found

    def none_left(self, scale: float, cells: int, rows: float) -> float:
        """By Chernoff's bound."""
        return 1.0 if rows <= 0 else math.exp(-0.5 * (rows / scale) ** 2 / cells)

    def below_one(self, scale: float, rows: int) -> float:
        """By the area, or by Chernoff's bound."""
        by_area = 0.5 * math.erfc((rows - 1) / (scale * math.sqrt(2))) if rows > 1 else 1.0
        return min(by_area, self.none_left(scale, 1, rows))

    def measurement(self, dp: Any, integers: Any, scale: float) -> Callable[[list[int]], Any]:
        """OpenDP's discrete Gaussian sampler."""
        made: Callable[[list[int]], Any] = dp.m.make_gaussian(integers, dp.l2_distance(T="f64"), scale=scale)
        return made

    def feature(self, noisy: Sequence[Sequence[int]], results: Results, scales: Sequence[float]) -> Hashable:
        """How far from the first exact result towards the second, in parts of a standard deviation: so is the loss."""
        along = whole = 0.0
        for part, first, second, sigma in zip(noisy, *results, scales, strict=True):
            for value, x, y in zip(part, first, second, strict=True):
                along += (value - x) * (y - x) / sigma**2
                whole += (y - x) ** 2 / sigma**2
        return round(_FINE * along / math.sqrt(whole))


@lru_cache(maxsize=1024)
def _deviations(missed: float) -> float:
    """How many standard deviations continuous noise exceeds in size with this probability."""
    return -NormalDist().inv_cdf(missed / 2)


def _by_itself(part: Part, sigma: float) -> bool:
    """Whether one person changes one number only, and σ is small enough for that to matter."""
    if not _LEAST_SIGMA <= sigma <= _SMALL_SIGMA or part.l1 > _MOST_SHIFT:
        return False
    return part.l1**2 == part.l2_squared and (len(part.cells) == 1 or part.l1 == 1)


GAUSSIAN = DiscreteGaussianNoise()
"""Once is enough: it holds nothing."""
