"""What a mechanism promises, as immutable values; nothing here composes anything."""

from optcomp.guarantees.approximate import (
    LEAST_EPSILON,
    MOST_EPSILON,
    ApproxDP,
    Guarantee,
    PureDP,
    checked_delta,
    checked_epsilon,
    mechanism_epsilon,
)
from optcomp.guarantees.choices import Exponential, NameAndShame, RandomizedResponse, SparseVectorDP
from optcomp.guarantees.known_loss import LEAST_RATIO, MOST_RATIO, KnownLoss
from optcomp.guarantees.loss import PrivacyLoss
from optcomp.guarantees.neighbours import Neighbours, checked_neighbours
from optcomp.guarantees.noise import DiscreteGaussian, DiscreteLaplace, Gaussian, Laplace
from optcomp.guarantees.notions import (
    TCDP,
    ZCDP,
    ApproxZCDP,
    GaussianDP,
    RenyiBounded,
    RenyiDP,
)
from optcomp.guarantees.subsampled import MOST_REPLACED_RATIO, PoissonSubsampled, WithoutReplacement

__all__ = [
    "ApproxDP",
    "ApproxZCDP",
    "DiscreteGaussian",
    "DiscreteLaplace",
    "Exponential",
    "Gaussian",
    "GaussianDP",
    "Guarantee",
    "KnownLoss",
    "LEAST_EPSILON",
    "LEAST_RATIO",
    "Laplace",
    "MOST_EPSILON",
    "MOST_RATIO",
    "MOST_REPLACED_RATIO",
    "NameAndShame",
    "Neighbours",
    "PoissonSubsampled",
    "PrivacyLoss",
    "PureDP",
    "RandomizedResponse",
    "RenyiBounded",
    "RenyiDP",
    "SparseVectorDP",
    "TCDP",
    "WithoutReplacement",
    "ZCDP",
    "checked_delta",
    "checked_epsilon",
    "checked_neighbours",
    "mechanism_epsilon",
]
