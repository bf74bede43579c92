"""What a mechanism promises, as immutable values; nothing here composes anything."""

from optcomp.guarantees.approximate import ApproxDP, Guarantee, PureDP
from optcomp.guarantees.choices import Exponential, NameAndShame, RandomizedResponse, SparseVector
from optcomp.guarantees.loss import PrivacyLoss
from optcomp.guarantees.mechanism import Mechanism
from optcomp.guarantees.noise import DiscreteGaussian, DiscreteLaplace, Gaussian, Laplace
from optcomp.guarantees.notions import TCDP, ZCDP, ApproxZCDP, GaussianDP, Notion, RenyiDP
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
    "Mechanism",
    "NameAndShame",
    "Notion",
    "PoissonSubsampled",
    "PrivacyLoss",
    "PureDP",
    "RandomizedResponse",
    "RenyiDP",
    "SparseVector",
    "TCDP",
    "ZCDP",
]
