"""Which theorems a comparison leaves out, and why; and how people spell their ids."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

import optcomp as oc
from optcomp.cli.mechanisms import Counts
from optcomp.cli.question import Question
from optcomp.composition.reading import read_parts
from optcomp.theorems import mv18_1_7
from optcomp.theorems.parts import Parts

_SAME = {"KOV15-3.4": "KOV15-3.5", "KOV15-3.3": "MV18-1.5", "OPT": "MV18-1.5"}
"""Theorems that say the same as another: about equal parameters only, or as an enclosure."""


def omitted(counts: Counts, question: Question, bounds: Sequence[oc.Bound]) -> list[dict[str, str]]:
    """The theorems without an answer, each with the reason."""
    shown = {_general(bound.theorem) for bound in bounds}
    parts = read_parts(counts)
    return [
        {"theorem": record.id, "reason": _reason(record, question, parts)}
        for record in oc.known_theorems()
        if record.id not in _SAME and record.id not in shown
    ]


def _general(id: str) -> str:
    return _SAME.get(id, id)


def _reason(record: oc.Theorem, question: Question, parts: Parts) -> str:
    if question.parameters == "adaptive" and record.parameters == "fixed":
        return "needs ε, δ fixed in advance"
    if record.equal_parts and not parts.all_equal:
        return "needs equal ε, δ"
    if record.optimal:
        return "too large for an exact answer"
    if record.id == mv18_1_7.ID and not mv18_1_7.quick(parts):
        return "too large for a quick comparison"
    return "adds nothing to what is shown"


def spelled(id: str) -> str:
    """The id or alias that differs from this at most in case; the text itself where there is none."""
    return next((name for name in _names() if name.casefold() == id.strip().casefold()), id)


def _names() -> Iterator[str]:
    for record in oc.known_theorems():
        yield from (record.id, *record.aliases)
