"""optcomp itself: the default, the engine where the default takes a closed form, and its two looser ways."""

from __future__ import annotations

import optcomp as oc
from bench.answers import Answer
from bench.losses.questions import Entrant, Question


def _asked(method: str) -> Entrant:
    def ask(question: Question) -> Answer:
        bound = oc.compose(dict(question.items), delta=question.delta, method=method)
        return Answer(bound.upper, bound.lower if bound.lower else None, f"{bound.theorem}, {bound.method}")

    return Entrant("optcomp" if method == "auto" else f"optcomp {method}", ask)


def _converted(question: Question) -> Answer:
    """Each mechanism by its (ε, δ) first; it is one of the rows of `compare`."""
    for bound in oc.compare(dict(question.items), delta=question.delta):
        if "pairs first" in bound.method:
            return Answer(bound.upper, None, f"{bound.theorem}, {bound.method}; the time is that of `compare`")
    raise LookupError("compare shows no such row")


AUTO, CERTIFIED, RENYI = (_asked(method) for method in ("auto", "certified", "renyi"))
CONVERTED = Entrant("optcomp, each to (ε, δ) first", _converted)
CONTENDERS = (AUTO, CERTIFIED, RENYI, CONVERTED)
