"""optcomp: how much privacy is left, with a proof attached.

>>> import optcomp as oc
>>> oc.compose([oc.ApproxDP(0.1, 1e-9)] * 50 + [oc.PureDP(0.2)] * 50, delta=1e-6).epsilon
"""

from optcomp.composition import METHODS, Calibrated, Composer, calibrate, compare, compose, convert
from optcomp.errors import (
    BudgetExceeded,
    CannotBeShared,
    HypothesisNotMet,
    InvalidGuarantee,
    InvalidInput,
    MechanismClosed,
    MechanismFailed,
    NotAffordable,
    OptcompError,
    PrecisionNotReached,
    UnknownTheorem,
)
from optcomp.guarantees import (
    TCDP,
    ZCDP,
    ApproxDP,
    ApproxZCDP,
    DiscreteGaussian,
    DiscreteLaplace,
    Exponential,
    Gaussian,
    GaussianDP,
    Laplace,
    NameAndShame,
    PoissonSubsampled,
    PrivacyLoss,
    PureDP,
    RandomizedResponse,
    RenyiDP,
    SparseVectorDP,
)
from optcomp.numerics.progress import listening
from optcomp.theorems import Bound, Theorem, known_theorems, theorem

__version__ = "0.1.0"

__all__ = [
    "METHODS",
    "TCDP",
    "ZCDP",
    "ApproxDP",
    "ApproxZCDP",
    "Bound",
    "BudgetExceeded",
    "Calibrated",
    "CannotBeShared",
    "Composer",
    "DiscreteGaussian",
    "DiscreteLaplace",
    "Exponential",
    "Gaussian",
    "GaussianDP",
    "HypothesisNotMet",
    "InvalidGuarantee",
    "InvalidInput",
    "Laplace",
    "MechanismClosed",
    "MechanismFailed",
    "NameAndShame",
    "NotAffordable",
    "OptcompError",
    "PoissonSubsampled",
    "PrecisionNotReached",
    "PrivacyLoss",
    "PureDP",
    "RandomizedResponse",
    "RenyiDP",
    "SparseVectorDP",
    "Theorem",
    "UnknownTheorem",
    "calibrate",
    "compare",
    "compose",
    "convert",
    "known_theorems",
    "listening",
    "theorem",
]
