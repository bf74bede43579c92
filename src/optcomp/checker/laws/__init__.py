"""The laws of losses that a certificate of version 3 may be about, each in balls."""

from optcomp.checker.laws.atoms import DiscreteGaussian, Finite, discrete_laplace, response
from optcomp.checker.laws.laplace import Laplace
from optcomp.checker.laws.law import Atomic, Cloud, Law, Tilted, TooMuch
from optcomp.checker.laws.sampled import Way
from optcomp.checker.laws.sampled_laplace import SampledLaplace
from optcomp.checker.laws.sampled_normal import SampledNormal

__all__ = [
    "Atomic",
    "Cloud",
    "DiscreteGaussian",
    "Finite",
    "Laplace",
    "Law",
    "SampledLaplace",
    "SampledNormal",
    "Tilted",
    "TooMuch",
    "Way",
    "discrete_laplace",
    "response",
]
