"""optcomp: how much privacy is left, with a proof attached.

>>> import optcomp as oc
>>> oc.compose([oc.ApproxDP(0.1, 1e-9)] * 50 + [oc.PureDP(0.2)] * 50, delta=1e-6).epsilon

`import optcomp` alone imports nothing else: a name fetches its room when it is first used.
"""

from importlib import import_module
from typing import TYPE_CHECKING

from optcomp.late import late

if TYPE_CHECKING:
    from optcomp.client import AsyncClient as AsyncClient
    from optcomp.client import Client as Client
    from optcomp.composition import METHODS, Calibrated, Composer, calibrate, compare, compose, convert
    from optcomp.errors import (
        BudgetExceeded,
        CannotBeShared,
        HypothesisNotMet,
        InvalidGuarantee,
        InvalidInput,
        MechanismClosed,
        MechanismFailed,
        MissingExtra,
        NotAffordable,
        OptcompError,
        PrecisionNotReached,
        UnknownTheorem,
        UnreadableData,
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
        WithoutReplacement,
    )
    from optcomp.numerics import listening
    from optcomp.theorems import Bound, Theorem, known_theorems, theorem

__version__ = "0.2.0"

_ROOM_OF = {
    "METHODS": "composition",
    "TCDP": "guarantees",
    "ZCDP": "guarantees",
    "ApproxDP": "guarantees",
    "ApproxZCDP": "guarantees",
    "Bound": "theorems",
    "BudgetExceeded": "errors",
    "Calibrated": "composition",
    "CannotBeShared": "errors",
    "Composer": "composition",
    "DiscreteGaussian": "guarantees",
    "DiscreteLaplace": "guarantees",
    "Exponential": "guarantees",
    "Gaussian": "guarantees",
    "GaussianDP": "guarantees",
    "HypothesisNotMet": "errors",
    "InvalidGuarantee": "errors",
    "InvalidInput": "errors",
    "Laplace": "guarantees",
    "MechanismClosed": "errors",
    "MechanismFailed": "errors",
    "MissingExtra": "errors",
    "NameAndShame": "guarantees",
    "NotAffordable": "errors",
    "OptcompError": "errors",
    "PoissonSubsampled": "guarantees",
    "PrecisionNotReached": "errors",
    "PrivacyLoss": "guarantees",
    "PureDP": "guarantees",
    "RandomizedResponse": "guarantees",
    "RenyiDP": "guarantees",
    "SparseVectorDP": "guarantees",
    "Theorem": "theorems",
    "UnknownTheorem": "errors",
    "UnreadableData": "errors",
    "WithoutReplacement": "guarantees",
    "calibrate": "composition",
    "compare": "composition",
    "compose": "composition",
    "convert": "composition",
    "known_theorems": "theorems",
    "listening": "numerics",
    "theorem": "theorems",
}
"""Every public name and where it comes from, sorted."""

_ROOM_OF_EXTRAS = {"AsyncClient": "client", "Client": "client"}
"""Public names that need an extra: they are fetched like the others, and `from optcomp import *` leaves them alone."""

_ROOMS = ("composition", "errors", "guarantees", "instances", "numerics", "theorems")
"""Rooms that are attributes without an import of their own: those of the public names, and what these stand on."""

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
    "MissingExtra",
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
    "UnreadableData",
    "WithoutReplacement",
    "calibrate",
    "compare",
    "compose",
    "convert",
    "known_theorems",
    "listening",
    "theorem",
]

if not TYPE_CHECKING:  # a type checker reads the imports above, and knows what is no name of ours
    _fetch = late("optcomp", _ROOM_OF | _ROOM_OF_EXTRAS)

    def __getattr__(name: str) -> object:
        """A public name or a room, imported when it is asked for."""
        return import_module(f"optcomp.{name}") if name in _ROOMS else _fetch(name)

    def __dir__() -> list[str]:
        """Public names and rooms, imported or not."""
        return sorted({*globals(), *_ROOMS, *__all__, *_ROOM_OF_EXTRAS} - {"TYPE_CHECKING", "import_module", "late"})
