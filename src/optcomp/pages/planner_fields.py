"""The fields of the plan's editor: what each shows, and what a change of it does to the plan.

A form sends all its fields.  Those that differ from what was shown are the edits; so it needs no script to know whether
somebody changed an error or a budget.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from fractions import Fraction
from typing import Any

from optcomp.center import Problem
from optcomp.errors import InvalidInput
from optcomp.pages.planner_drafts import Plain, PlanDraft
from optcomp.pages.words import words
from optcomp.planner import HARM, free, hold, put
from optcomp.release import near

Change = Callable[[Plain, str], Plain]
"""A plan and the text of a field to another plan."""
_ON = "on"
"""What a ticked box sends."""
_GROUPED = re.compile(r"[-+]?[1-9][0-9]{0,2}(,[0-9]{3})+(\.[0-9]*)?")
"""A number with commas between its thousands: 0,003 and 1,5 are none."""
_DIGITS = 4
"""Of errors and budgets that the planner chose."""
_DEFAULTS = {"confidence": "0.95", "reserve": "0", "objective": "squares"}
"""What a plan means that does not say it."""


@dataclass(frozen=True)
class Field:
    """A field of the form: where it belongs in the plan, what it shows, and what a change does."""

    name: str
    place: str
    """How errors of the library name it."""
    shown: str
    change: Change


def fields_of(draft: PlanDraft) -> dict[str, Field]:
    """All fields that can be edited, by name."""
    found = [*_about(draft), *_budget(draft.plan), *_whole(draft.plan)]
    for number, name in enumerate(draft.statistics):
        found += _statistic(draft, number, name)
    return {each.name: each for each in found}


def edited_by(draft: PlanDraft, form: Mapping[str, Any]) -> tuple[Plain, tuple[str, ...]]:
    """The plan after all changes that a form makes, and the names of the fields that it changed."""
    known = fields_of(draft)
    sent = {name: str(form.get(name, "")).strip() for name in known}
    changed = [name for name, field in known.items() if sent[name] != field.shown]
    for number, name in enumerate(draft.statistics):
        if {f"error-{number}", f"budget-{number}"} <= set(changed):
            raise Problem("invalid", str(words()("planner.not_both", name=name)), argument=f"error-{number}")
    plan = draft.plan
    for name in changed:
        plan = known[name].change(plan, sent[name])
    return plan, tuple(changed)


def field_named(draft: PlanDraft, problem: Problem) -> Problem:
    """A refusal with the name of the field that it is about, if it is about one."""
    argument = str(problem.more.get("argument", ""))
    for each in fields_of(draft).values():
        if argument in (each.place, each.name):
            return Problem(problem.code, problem.message, **{**problem.more, "argument": each.name})
    return problem


def _about(draft: PlanDraft) -> list[Field]:
    data = draft.plan.get("data") or {}
    found = [
        Field("rows", "data.rows", _text(data.get("rows")), _entry("data", "rows", whole)),
        Field("population", "data.population", _text(data.get("population")), _entry("data", "population", whole)),
        Field(
            "rows_public",
            "data.rows_public",
            _ON if data.get("rows_public") else "",
            _entry("data", "rows_public", _tick),
        ),
    ]
    if draft.dataset is None:
        neighbours = str(data.get("neighbours", "add-remove"))
        found.append(Field("neighbours", "data.neighbours", neighbours, _entry("data", "neighbours", str)))
    return found


def _budget(plan: Plain) -> list[Field]:
    budget = plan.get("budget") or {}
    harm = str(budget.get("harm", ""))
    shown = dict(zip(("epsilon", "delta"), HARM[harm], strict=True)) if harm in HARM else budget
    names = {name: _text(shown.get(name)) for name in ("epsilon", "delta", "rho")}
    fields = [Field(name, f"budget.{name}", text, _budget_entry(name)) for name, text in names.items()]
    return [Field("harm", "budget.harm", harm, _harm), *fields]


def _whole(plan: Plain) -> list[Field]:
    return [
        Field(name, name, _text(plan.get(name, default)), _top(name, default)) for name, default in _DEFAULTS.items()
    ]


def _statistic(draft: PlanDraft, number: int, name: str) -> list[Field]:
    entry, fact = draft.statistics[name], _fact(draft, number)
    place = f"statistics.{name}"
    currency = "rho" if "rho" in fact else "epsilon"
    error = _text(entry["error"]) if "error" in entry else _chosen(fact["error"])
    budget = _text(entry[currency]) if currency in entry else _chosen(float(Fraction(fact[currency])))
    return [
        Field(f"held-{number}", f"{place}.hold", _ON if fact["held"] else "", _held(name, fact["error"])),
        Field(f"weight-{number}", f"{place}.weight", _text(entry.get("weight", "1")), _set(f"{place}.weight")),
        Field(f"error-{number}", f"{place}.error", error, _set(f"{place}.error")),
        Field(f"budget-{number}", f"{place}.{currency}", budget, _set(f"{place}.{currency}")),
    ]


def _fact(draft: PlanDraft, number: int) -> Mapping[str, Any]:
    """What the statistic came to when the draft was saved."""
    assert draft.worked is not None
    found: Mapping[str, Any] = draft.worked["facts"]["statistics"][number]
    return found


def _chosen(value: float) -> str:
    """What the planner chose, as a field shows it."""
    return near(value, _DIGITS).replace(",", "")


def _text(value: object) -> str:
    return "" if value is None else str(value)


def whole(text: str) -> int | str:
    """A whole number where it is one; what is not is refused by the reader of plans."""
    plain = without_groups(text)
    return int(plain) if plain.isascii() and plain.isdigit() and len(plain) < 20 else text


def without_groups(text: str) -> str:
    """A number without blanks, and without commas where they stand between thousands."""
    plain = "".join(text.split())
    return plain.replace(",", "") if _GROUPED.fullmatch(plain) else plain


def _tick(text: str) -> bool:
    return text == _ON


def _entry(part: str, name: str, read: Callable[[str], Any]) -> Change:
    """An entry of a part; an empty field takes it away."""

    def change(plan: Plain, text: str) -> Plain:
        found = put(plan, f"{part}.{name}", read(text))
        if not text:
            del found[part][name]
        return found

    return change


def _top(name: str, default: str) -> Change:
    return lambda plan, text: put(plan, name, text or default)


def _set(path: str) -> Change:
    """A number; people may write 1,000 or 1 000, but no decimal comma."""

    def change(plan: Plain, text: str) -> Plain:
        number = without_groups(text)
        if "," in number:
            raise InvalidInput(path, text, str(words()("planner.comma")))
        return put(plan, path, number)

    return change


def _held(name: str, error: float) -> Change:
    """Held at the error that it has now, or free."""
    return lambda plan, text: hold(plan, name, error) if text else free(plan, name)


def _budget_entry(name: str) -> Change:
    def change(plan: Plain, text: str) -> Plain:
        found = put(plan, f"budget.{name}", text)
        if not text:
            del found["budget"][name]
        return found

    return change


def _harm(plan: Plain, text: str) -> Plain:
    """The budget that is proposed for so much harm; without an answer the same budget, written out."""
    if text:
        return put(plan, "budget.harm", text)
    known = HARM.get(str((plan.get("budget") or {}).get("harm", "")))
    return plan if known is None else {**plan, "budget": dict(zip(("epsilon", "delta"), known, strict=True))}
