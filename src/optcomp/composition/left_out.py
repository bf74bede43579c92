"""Which theorems a comparison leaves out, and why."""

from __future__ import annotations

from collections.abc import Sequence

from optcomp.composition.reading import Items, read_any
from optcomp.instances import Mixture, Parts
from optcomp.theorems import Bound, Parameters, Theorem, mv18_1_7, theorem

_SAME = {"KOV15-3.4": "KOV15-3.5", "KOV15-3.3": "MV18-1.5", "OPT": "MV18-1.5"}
"""Theorems that say the same as another: about equal parameters only, or as an enclosure."""

_ABOUT_PAIRS = ("DKMMN06", "DRV10", "Smith25-1.1", "KOV15-3.5", "MV18-1.5", "MV18-1.7")
_ABOUT_ALL = ("CKS20",)
_ABOUT_LOSSES = ("ZDW22", "DRS22")
"""Theorems that a comparison may show: about (ε, δ), about Rényi divergences, and about losses."""


def omitted(items: Items, bounds: Sequence[Bound], *, parameters: Parameters = "fixed") -> list[dict[str, str]]:
    """The theorems without an answer among those of `compare`, each with the reason."""
    shown = {_general(bound.theorem) for bound in bounds}
    read = read_any(items)
    losses = _ABOUT_LOSSES if isinstance(read, Mixture) else ()
    return [
        {"theorem": name, "reason": _reason(theorem(name), parameters, read)}
        for name in (*_ABOUT_PAIRS, *losses, *_ABOUT_ALL)
        if name not in shown
    ]


def _general(id: str) -> str:
    return _SAME.get(id, id)


def _reason(record: Theorem, parameters: Parameters, read: Parts | Mixture) -> str:
    if parameters == "adaptive" and record.parameters == "fixed":
        return "needs ε, δ fixed in advance"
    if isinstance(read, Mixture):
        return _mixed_reason(record, read)
    if record.equal_parts and not read.all_equal:
        return "needs equal ε, δ"
    if record.optimal:
        return "too large for an exact answer"
    if record.id == mv18_1_7.ID and not mv18_1_7.quick(read):
        return "too large for a quick comparison"
    return "adds nothing to what is shown"


def _mixed_reason(record: Theorem, mixture: Mixture) -> str:
    if record.id == "DRS22":
        return "needs Gaussian mechanisms only"
    if record.id == "ZDW22" and mixture.bounded:
        return "needs the privacy loss of every mechanism"
    if record.id.startswith("MV18"):
        return "needs (ε, δ) pairs only"
    pairs = mixture.as_pairs()
    if record.id in _ABOUT_PAIRS and pairs is None:
        return "needs an (ε, δ) of every mechanism"
    if record.equal_parts and pairs is not None and not pairs.all_equal:
        return "needs equal ε, δ"
    return "adds nothing to what is shown"
