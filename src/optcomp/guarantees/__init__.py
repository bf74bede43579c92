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
from optcomp.guarantees.noise import DiscreteGaussian, DiscreteLaplace, Gaussian, Laplace
from optcomp.guarantees.notions import (
    TCDP,
    ZCDP,
    ApproxZCDP,
    GaussianDP,
    RenyiBounded,
    RenyiDP,
)
from optcomp.guarantees.subsampled import PoissonSubsampled

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
    "NameAndShame",
    "PoissonSubsampled",
    "PrivacyLoss",
    "PureDP",
    "RandomizedResponse",
    "RenyiBounded",
    "RenyiDP",
    "SparseVectorDP",
    "TCDP",
    "ZCDP",
    "checked_delta",
    "checked_epsilon",
    "mechanism_epsilon",
]
