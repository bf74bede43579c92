"""The statistics of a release: those of its plan, with the noise that each budget gives, and a value for every cell."""

from __future__ import annotations

import json
import re
from collections.abc import Mapping
from fractions import Fraction
from typing import Any

from optcomp.errors import OptcompError
from optcomp.planner import Document, Spending, Wish, item_of
from optcomp.release.comparison import MISSING, NEAR, Comparison, equal, number, shown
from optcomp.release.told import noise_told, rank_told
from optcomp.statistics import Dates, Question, Told

_BUDGET = re.compile(r"[0-9]{1,400}(/[0-9]{1,400})?")
"""A fraction as releases write it."""


def spendings_of(about: Comparison, document: Document) -> list[Spending]:
    """What each statistic spends, if all are those of the plan."""
    entries, wishes = about.view["statistics"], document.wishes
    names = [entry.get("name") if isinstance(entry, dict) else None for entry in entries]
    if names != [wish.name for wish in wishes]:
        about.wrong("statistics: must be those of the plan, in its order")
        about.stop()
    spendings = [_spending(about, document, wish, entry) for wish, entry in zip(wishes, entries, strict=True)]
    about.stop()
    return [each for each in spendings if each is not None]


def _spending(about: Comparison, document: Document, wish: Wish, entry: Mapping[str, Any]) -> Spending | None:
    """What a statistic spends; its noise must be what that gives."""
    place, mechanism, before = f"statistics.{wish.name}", entry.get("mechanism"), len(about.problems)
    known = {noise.name: noise for noise in (wish.statistic.noises() if wish.noise is None else (wish.noise,))}
    if not isinstance(mechanism, str) or mechanism not in known:
        about.wrong(f"{place}.mechanism is {shown(mechanism)}, but by the plan it is {' or '.join(known)}")
        return None
    noise = known[mechanism]
    kind = noise.currency.name
    text = entry.get(kind)
    budget = _budget(text)
    if budget is None:
        about.wrong(f"{place}.{kind} must be a positive fraction, got {shown(text)}")
        return None
    try:
        spending = Spending(item_of(document, wish, noise).model, budget)
        question = spending.model.question(budget)
        wanted = {
            "name": wish.name,
            "statistic": str(wish.statistic),
            "mechanism": mechanism,
            kind: text,
            "noise": noise_told(question, document.table),
            "theorem": noise.theorem,
            **rank_told(question, document.table, document.confidence),
        }
        cells = _cells(question, document)
        _check_hold(about, place, wish, spending)
    except OptcompError as error:
        about.wrong(f"{place}: {error}")
        return None
    values = ("value", "interval") if cells is None else ("cells",)
    told = {key: value for key, value in entry.items() if key not in values}
    about.same(place, told, wanted, "by the plan and its budget")
    column = document.table.columns.get(wish.statistic.values_of or "")
    dates = column if noise.chooses and isinstance(column, Dates) else None
    if wish.statistic.finds:
        cells = _found(about, place, entry, question, document)
    _check_values(about, place, entry, cells, chosen=noise.chooses, dates=dates)
    return spending if len(about.problems) == before else None


def _budget(text: object) -> Fraction | None:
    """A fraction as it is written in a release, in its lowest terms."""
    if not isinstance(text, str) or not _BUDGET.fullmatch(text):
        return None
    top, _, bottom = text.partition("/")
    if bottom and not int(bottom):
        return None
    found = Fraction(int(top), int(bottom or 1))
    return found if found > 0 and str(found) == text else None


def _check_hold(about: Comparison, place: str, wish: Wish, spending: Spending) -> None:
    for name, held in (("epsilon", wish.epsilon), ("rho", wish.rho)):
        if held is not None and (held != spending.budget or spending.model.noise.currency.name != name):
            about.wrong(f"{place}.{name} is {spending.budget}, but the plan holds it at {held}")
    if wish.error is not None and about.same_version and not spending.error <= wish.error * (1 + NEAR):
        about.wrong(f"{place}: its error is {spending.error:g}, but the plan holds it at {wish.error:g}")


def _cells(question: Question, document: Document) -> list[Any] | None:
    """What there is a value for; None if there is one value."""
    if question.statistic.finds:
        return []
    zeros = [[Fraction(0)] * len(part.cells) for part in question.statistic.parts(document.table)]
    value = question.statistic.value(document.table, zeros)
    if not isinstance(value, Mapping):
        return None
    return [list(cell) if isinstance(cell, tuple) else cell for cell in value]


def _found(
    about: Comparison, place: str, entry: Mapping[str, Any], question: Question, document: Document
) -> list[Any]:
    """The names of cells that were found in the data, as the statistic can have told them."""
    listed = entry.get("cells")
    told = [each for each in listed if isinstance(each, dict)] if isinstance(listed, list) else []
    names: tuple[Any, ...] = tuple(each.get("cell") for each in told)
    amounts = tuple(number(each.get("value")) for each in told)
    if not isinstance(listed, list) or len(told) != len(listed) or None in amounts:
        about.wrong(f"{place}.cells: must be names with numbers")
        return list(names)
    found = Told((tuple(Fraction(each) for each in amounts if each is not None),), names)
    question.statistic.check_told(document.table, found, question.noise, question.scales(document.table))
    return list(names)


def _check_values(
    about: Comparison,
    place: str,
    entry: Mapping[str, Any],
    cells: list[Any] | None,
    *,
    chosen: bool,
    dates: Dates | None,
) -> None:
    """Values are there, for the right cells; which ones they are nobody can tell."""
    if cells is None:
        told = [entry]
    else:
        told = entry["cells"] if isinstance(entry.get("cells"), list) else []
        named = [each.get("cell", MISSING) if isinstance(each, dict) else MISSING for each in told]
        wanted = json.loads(json.dumps(cells))
        if len(named) != len(wanted) or not all(
            found is not MISSING and equal(found, cell, nearly=False) for found, cell in zip(named, wanted, strict=True)
        ):
            about.wrong(f"{place}.cells: are not those of the plan")
            return
    for each in told:
        if (cells is not None and len(each) > 3) or not _is_value(each.get("value"), dates):
            kind = "a number" if dates is None else "a date between the bounds"
            about.wrong(f"{place}: every value must be {kind}, with an interval or without")
            return
        if not _is_interval(each.get("interval", MISSING), none=chosen):
            about.wrong(f"{place}: {'choices have no interval' if chosen else 'every interval must be two numbers'}")
            return


def _is_value(value: object, dates: Dates | None) -> bool:
    """A number; or a date that can be chosen, where dates are."""
    if dates is None:
        return number(value) is not None
    try:
        return isinstance(value, str) and dates.low <= dates.index_of(value) <= dates.high
    except OptcompError:
        return False


def _is_interval(value: object, *, none: bool) -> bool:
    """Two numbers in order where the noise gives an interval, and nothing else."""
    if none:
        return value is None
    if value == [None, None]:  # where the noise bounds nothing
        return True
    ends = [number(end) for end in value] if isinstance(value, list) else []
    return len(ends) == 2 and ends[0] is not None and ends[1] is not None and ends[0] <= ends[1]
