"""Laws of single real random variables, as the contour integral needs them: exponential moments on vertical lines."""

from optcomp.numerics.laws.atoms import AtomicLaw, Atoms
from optcomp.numerics.laws.cut_normal import CutNormalLaw
from optcomp.numerics.laws.discrete_gaussian import LEAST_SIGMA, MOST_SIGMA, DiscreteGaussianLaw
from optcomp.numerics.laws.gaussian import NormalLaw, normal_excess
from optcomp.numerics.laws.laplace import LaplaceLaw
from optcomp.numerics.laws.law import Law, Summand
from optcomp.numerics.laws.mixed_laplace import MixedLaplaceLaw
from optcomp.numerics.laws.mixed_normal import MixedNormalLaw
from optcomp.numerics.laws.mixed_whole import CutWholeLaw, MixedWholeLaw, ReplacedWholeLaw
from optcomp.numerics.laws.part_normal import PartNormalLaw, tails
from optcomp.numerics.laws.replaced import (
    GluedLaplaceLaw,
    GluedLaw,
    GluedNormalLaw,
    ReplacedLaplaceLaw,
    ReplacedNormalLaw,
)
from optcomp.numerics.laws.whole_law import WholeLaw

__all__ = [
    "AtomicLaw",
    "Atoms",
    "CutNormalLaw",
    "CutWholeLaw",
    "DiscreteGaussianLaw",
    "GluedLaplaceLaw",
    "GluedLaw",
    "GluedNormalLaw",
    "LEAST_SIGMA",
    "LaplaceLaw",
    "Law",
    "MOST_SIGMA",
    "MixedLaplaceLaw",
    "MixedNormalLaw",
    "MixedWholeLaw",
    "NormalLaw",
    "PartNormalLaw",
    "ReplacedLaplaceLaw",
    "ReplacedNormalLaw",
    "ReplacedWholeLaw",
    "Summand",
    "WholeLaw",
    "normal_excess",
    "tails",
]
