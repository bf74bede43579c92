"""What a question would cost, how far off its answer would be, and how many more like it fit; nothing is spent.

All of it follows from what is declared and from what is left, which is known from the transcript.  No table is opened.
The error is the one that plans and intervals of answers have: about the noise alone, at a confidence, in the unit of
what is asked.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from typing import Any

from optcomp.center.bounds import check_statistic
from optcomp.center.failures import left_document
from optcomp.errors import HypothesisNotMet
from optcomp.interactive import (
    Filter,
    Offer,
    Request,
    Taken,
    added_up,
    charge_cheapest,
    in_words,
    price_offers,
    question_offers,
    request_document,
    restore,
)
from optcomp.numerics import Number, whole
from optcomp.statistics import (
    Declared,
    Question,
    Setting,
    check_condition,
    checked_confidence,
    read_question,
)

ROWS = (100, 1_000, 10_000, 100_000)
"""For so many rows an error is told that depends on their number, where nobody says it: the number is private."""
_NOT_PAID = "a slot adds up ε and δ, and this costs something else: give an ε, or an ε and a δ"
"""Why a slot cannot pay for ρ, or for a curve."""
_MOST_ROWS = 10**12
"""Rows that an error may be told for."""


def preview(
    declared: Declared,
    question: Mapping[str, Any],
    remaining: Filter | Mapping[str, Any] | None = None,
    confidence: Number = 0.95,
    *,
    rows: int | None = None,
) -> dict[str, Any]:
    """Cost, expected error and how many more, ready for JSON.

    `remaining` is a filter, or what the job `remaining` told.  `rows` is for how many rows an error is told that
    depends on it.
    """
    asked, sure = read_question(question), checked_confidence(confidence)
    if asked.statistic.where is not None:
        check_condition(asked.statistic.where, declared.columns)
    check_statistic(asked.statistic, declared)
    offers = question_offers(asked, declared)
    told: dict[str, Any] = {"question": asked.document(), "words": str(asked), "theorem": asked.noise.theorem}
    told |= {"cost": [cost_of(offer) for offer in offers], "error": _errors(asked, declared, sure, rows)}
    budget = _budget(remaining)
    return told if budget is None else told | more_of(budget, offers)


def whole_cost(offers: Sequence[Offer]) -> Request:
    """What a question costs a slot, as one guarantee: slots add up ε and δ."""
    found = added_up(offers[0])
    if found is None:
        raise HypothesisNotMet("RRUV16", "a slot adds up ε and δ, and this question costs something else")
    return found


def _budget(remaining: Filter | Mapping[str, Any] | None) -> Filter | None:
    if remaining is None or isinstance(remaining, Filter):
        return remaining
    found = remaining.get("budget")
    return None if found is None else restore(found)


def cost_of(offer: Offer) -> dict[str, Any]:
    """An offer, in words and exact."""
    words = " and ".join(map(in_words, offer))
    return {"words": words, "exact": [request_document(each) for each in offer]}


def more_of(budget: Filter, offers: Sequence[Offer]) -> dict[str, Any]:
    """What a question costs in all, how many more such questions fit, one after another, and what is left after one."""
    left = str(budget.remaining())
    try:
        whole = whole_cost(offers)
        count, taken = budget.remaining(whole).count, charge_cheapest(budget, price_offers(budget, offers))
    except HypothesisNotMet:
        return {"fits": False, "more": 0, "left": left, "note": _NOT_PAID, "whole": None, "after": None}
    many = "any number of questions" if count is None else f"{count} more question{'' if count == 1 else 's'}"
    after = left_document(taken.state.remaining()) if isinstance(taken, Taken) else None
    told = {"fits": after is not None, "more": count, "left": left, "note": f"{many} like this fit"}
    return told | {"whole": in_words(whole), "after": after}


def _errors(asked: Question, declared: Declared, confidence: float, rows: int | None) -> dict[str, Any]:
    """How far off the answer may be with this confidence, for each number of rows that it is told for."""
    statistic = asked.statistic
    given = None if rows is None else whole(rows, "rows", 1, _MOST_ROWS)
    counts: Sequence[int | None] = (given,) if given is not None or not statistic.needs_rows else ROWS
    found = [_error(asked, declared, confidence, count) for count in counts]
    assumed = [*(["no cell is missing where rows are counted"] if statistic.needs_rows else []), *statistic.granted()]
    about = {"confidence": confidence, "unit": statistic.error_unit, "assumes": assumed}
    note = statistic.stated(Setting(declared, asked.noise, counts[0], confidence)).note(asked.scales(declared))
    words = _words(found, confidence, statistic.error_unit)
    return {**about, "errors": found, "note": note, "words": words if note is None else f"{words}; {note}"}


def _error(asked: Question, declared: Declared, confidence: float, rows: int | None) -> dict[str, Any]:
    stated = asked.statistic.stated(Setting(declared, asked.noise, rows, confidence))
    error = stated.error(asked.scales(declared))
    return {"rows": rows, "error": error if math.isfinite(error) else None}


def _words(found: Sequence[Mapping[str, Any]], confidence: float, unit: str) -> str:
    def told(each: Mapping[str, Any]) -> str:
        error = "any amount" if each["error"] is None else f"{each['error']:.4g} ({unit})"
        return error if each["rows"] is None else f"{error} for {each['rows']:,} rows"

    return f"off by at most {', '.join(map(told, found))}, in {confidence:.0%} of all answers"
