"""optcomp: how much privacy is left, with a proof attached.

>>> import optcomp as oc
>>> oc.compose([oc.ApproxDP(0.1, 1e-9)] * 50 + [oc.PureDP(0.2)] * 50, delta=1e-6).epsilon
"""

from optcomp.composition import METHODS, Composer, compare, compose
from optcomp.errors import (
    HypothesisNotMet,
    InvalidGuarantee,
    InvalidInput,
    NotAffordable,
    OptcompError,
    PrecisionNotReached,
    UnknownTheorem,
)
from optcomp.guarantees import ApproxDP, PureDP
from optcomp.numerics.progress import listening
from optcomp.theorems import Bound, Theorem, known_theorems, theorem

__version__ = "0.1.0"

__all__ = [
    "METHODS",
    "ApproxDP",
    "Bound",
    "Composer",
    "HypothesisNotMet",
    "InvalidGuarantee",
    "InvalidInput",
    "NotAffordable",
    "OptcompError",
    "PrecisionNotReached",
    "PureDP",
    "Theorem",
    "UnknownTheorem",
    "compare",
    "compose",
    "known_theorems",
    "listening",
    "theorem",
]
