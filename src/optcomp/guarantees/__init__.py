"""What a mechanism promises, as immutable values; nothing here composes anything."""

from optcomp.guarantees.approximate import ApproxDP, Guarantee, PureDP
from optcomp.guarantees.choices import Exponential, NameAndShame, RandomizedResponse, SparseVectorDP
from optcomp.guarantees.known_loss import KnownLoss
from optcomp.guarantees.loss import PrivacyLoss
from optcomp.guarantees.noise import DiscreteGaussian, DiscreteLaplace, Gaussian, Laplace
from optcomp.guarantees.notions import TCDP, ZCDP, ApproxZCDP, GaussianDP, RenyiBounded, RenyiDP
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
    "Laplace",
    "KnownLoss",
    "NameAndShame",
    "RenyiBounded",
    "PoissonSubsampled",
    "PrivacyLoss",
    "PureDP",
    "RandomizedResponse",
    "RenyiDP",
    "SparseVectorDP",
    "TCDP",
    "ZCDP",
]
