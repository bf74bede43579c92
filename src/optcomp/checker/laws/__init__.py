"""The laws of losses that a certificate of version 3 may be about, each in balls."""

from optcomp.checker.laws.atoms import DiscreteGaussian, Finite, discrete_laplace, response
from optcomp.checker.laws.batch_normal import BatchNormal
from optcomp.checker.laws.laplace import Laplace
from optcomp.checker.laws.law import Atomic, Cloud, Law, Spots, Spotted, Tilted, TooMuch
from optcomp.checker.laws.sampled import Way
from optcomp.checker.laws.sampled_laplace import BatchLaplace, ReplacedLaplace, SampledLaplace
from optcomp.checker.laws.sampled_normal import ReplacedNormal, SampledNormal
from optcomp.checker.laws.sampled_whole import ReplacedWhole, SampledWhole

__all__ = [
    "Atomic",
    "BatchLaplace",
    "BatchNormal",
    "Cloud",
    "DiscreteGaussian",
    "Finite",
    "Laplace",
    "Law",
    "ReplacedLaplace",
    "ReplacedNormal",
    "ReplacedWhole",
    "SampledLaplace",
    "SampledNormal",
    "SampledWhole",
    "Spots",
    "Spotted",
    "Tilted",
    "TooMuch",
    "Way",
    "discrete_laplace",
    "response",
]
