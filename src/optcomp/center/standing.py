"""Interactive mechanisms as they stand, and what one would cost; nothing is spent, and no table is opened.

What a mechanism has left follows from the answers that it gave, which the transcript has.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from typing import Any

from optcomp.center.bounds import check_mechanism
from optcomp.center.desk import Place, slot_of
from optcomp.center.opened import declared_in
from optcomp.center.previews import cost_of, more_of
from optcomp.center.records import line_of
from optcomp.guarantees import ApproxDP
from optcomp.interactive import Filter, Mechanism, read_mechanism
from optcomp.ledger import Ledger, RequestView
from optcomp.numerics import whole
from optcomp.statistics import Declared, Statistic, check_condition, checked_confidence

_MOST_QUESTIONS = 10**9
"""So many questions an accuracy may be told for."""


def mechanisms(ledger: Ledger, settings: Place, *, seat: Mapping[str, str]) -> dict[str, Any]:
    """All mechanisms that were opened in a slot, each with its answers and what it has left."""
    asked: dict[int, list[RequestView]] = {}
    opened = []
    for view in slot_of(ledger, seat).requests():
        if view.kind == "mechanism":
            opened.append(view)
        elif view.kind == "ask":
            asked.setdefault(view.form["mechanism"], []).append(view)
    return {"mechanisms": [_standing(view, asked.get(view.id, [])) for view in opened]}


def _standing(view: RequestView, asked: Sequence[RequestView]) -> dict[str, Any]:
    spec, lines = read_mechanism(view.form["mechanism"]), [line_of(each) for each in asked]
    tally = spec.tally([spec.read_told(line["answer"]) for line in lines])
    found = {**line_of(view), "mechanism": view.id, "document": spec.document(), "asked": lines}
    return found | {"left": dict(tally.left), "closed": tally.closed}


def preview_mechanism(
    ledger: Ledger,
    settings: Place,
    *,
    seat: Mapping[str, str],
    mechanism: Mapping[str, Any],
    questions: int = 100,
    confidence: float = 0.95,
) -> dict[str, Any]:
    """What a mechanism would cost for as long as it answers, and how far off so many answers may be."""
    spec, declared = read_mechanism(mechanism), declared_in(seat["snapshot"])
    count, sure = whole(questions, "questions", 1, _MOST_QUESTIONS), checked_confidence(confidence)
    check_mechanism(spec, declared)
    _check_conditions(spec, declared)
    off = spec.reach(declared, count, sure)
    error = {"confidence": sure, "questions": count, "unit": "rows", "error": off if math.isfinite(off) else None}
    told = {"mechanism": spec.document(), "words": str(spec), "theorem": _theorem(spec), "error": error}
    return told | _price(spec, slot_of(ledger, seat).budget)


def _check_conditions(spec: Mechanism, declared: Declared) -> None:
    """Refuses a condition of a statistic that it holds, as opening it would."""
    for value in vars(spec).values():
        if isinstance(value, Statistic) and value.where is not None:
            check_condition(value.where, declared.columns)


def _price(mechanism: Mechanism, budget: Filter) -> dict[str, Any]:
    """What it costs, and how many more like it fit; a slot cannot pay for a curve, which is not written down."""
    whole = mechanism.sum_of_costs()  # one for all of its answers, of which there may be a million
    if whole is None:
        return {"cost": [], **more_of(budget, [mechanism.costs()])}
    return {"cost": [cost_of((ApproxDP(whole.epsilon, whole.delta),))], **more_of(budget, [(whole,)])}


def _theorem(spec: Mechanism) -> str:
    return str(getattr(spec, "theorem"))  # noqa: B009
