"""Noise as objects: each kind brings its scale, price, reach, sampler and words with it."""

from collections.abc import Sequence

from optcomp.statistics.noise.currency import EPSILON, RHO, Allowance, AnswerCost, Currency
from optcomp.statistics.noise.drawing import MOST_VALUE
from optcomp.statistics.noise.exponential import EXPONENTIAL, ExponentialChoice
from optcomp.statistics.noise.gaussian import GAUSSIAN, DiscreteGaussianNoise
from optcomp.statistics.noise.kind import AddedNoise, Counted, Noise, Results, Worth, added
from optcomp.statistics.noise.laplace import LAPLACE, DiscreteLaplaceNoise
from optcomp.statistics.noise.register import known_noises, noise_named, register_noise, unregister_noise
from optcomp.statistics.noise.scales import LEAST_SCALE, MOST_SCALE, gaussian_sigma, laplace_scale

__all__ = [
    "EPSILON",
    "EXPONENTIAL",
    "GAUSSIAN",
    "LAPLACE",
    "LEAST_SCALE",
    "MOST_SCALE",
    "MOST_VALUE",
    "RHO",
    "AddedNoise",
    "Allowance",
    "AnswerCost",
    "Counted",
    "Currency",
    "DiscreteGaussianNoise",
    "DiscreteLaplaceNoise",
    "ExponentialChoice",
    "Noise",
    "Results",
    "Worth",
    "added",
    "gaussian_sigma",
    "known_noises",
    "laplace_scale",
    "noise_named",
    "register_noise",
    "unregister_noise",
    "with_gaussian",
    "with_laplace",
]


def with_laplace(values: Sequence[int], scale: float) -> list[int]:
    """Each value plus its own discrete Laplace noise: P(noise = x) proportional to e^{-|x|/scale}."""
    return LAPLACE.draw(values, scale)


def with_gaussian(values: Sequence[int], sigma: float) -> list[int]:
    """Each value plus its own discrete Gaussian noise: P(noise = x) proportional to e^{-x²/2σ²}."""
    return GAUSSIAN.draw(values, sigma)
