"""Ours on lists of other shapes: where it is hard and why, and what became of the prototype's weak places."""

from __future__ import annotations

import math

from bench.answers import Outcome
from bench.engine.asking import Asker, cpu_cell, time_cell, width_cell
from bench.engine.lists import CLOSE, HUGE, LOGARITHMIC, MULTIPLES, NEARLY, SMALL, TYPES, WIDE, instance
from bench.instances import Instance, power
from bench.ours import FINEST
from bench.report import Section
from bench.rows import number, short

_USUAL = 1e-9
_LARGE = (0.1, 0.5, 0.9)
_SLOW = 0.1
"""Seconds of processor time (for fewer than 10^5 mechanisms) from which a list counts as hard."""
_LUMPY = "few mechanisms: |φ| stays large almost everywhere, few nodes can be skipped"
_TINY = "ε is small beside the spread of the loss: a relative width asks for finer smoothing"
_EQUAL = "φ is nearly periodic: the nodes around every period remain"


def add_families(section: Section, asker: Asker) -> None:
    """Width, time and method at δ = 1e-9."""
    lengths = (60, 1000) if asker.quick else (60, 100, 150, 1000, 10**5)
    cases = [(name, k) for name in (WIDE, LOGARITHMIC) for k in lengths]
    cases += [(TYPES, 5 * 10**6), (HUGE, 1000)]
    cases += [(name, k) for name in (NEARLY, MULTIPLES) for k in ((1000,) if asker.quick else (1000, 10**5))]
    rows = [_row(asker, name, k, _USUAL) for name, k in cases]
    section.add(f"Other lists, ours at the default, δ = {_USUAL:g}", _HEADER, rows)


def add_large_deltas(section: Section, asker: Asker) -> None:
    """δ so large that the answer lies in the bulk of the privacy loss."""
    lengths = (100,) if asker.quick else (60, 150, 1000, 10**5)
    cases = [(name, k) for name in (SMALL, WIDE, LOGARITHMIC) for k in lengths] + [(HUGE, 1000), (NEARLY, 1000)]
    rows = [_row(asker, name, k, delta) for name, k in cases for delta in _LARGE]
    section.add("Large δ, ours at the default", _HEADER, rows)


_HEADER = ("ε_i", "k", "δ", "ε", "width", "time", "CPU", "method", "where it is hard")


def _row(asker: Asker, name: str, k: int, delta: float) -> tuple[str, ...]:
    question = instance(name, k, delta)
    outcome = asker.default(question)
    answer = outcome.answer
    if answer is None:
        return name, power(k), f"{delta:g}", "–", "–", "–", "–", "–", short(outcome.failure)
    cells = number(answer.epsilon), width_cell(outcome), time_cell(outcome), cpu_cell(outcome), answer.how
    return name, power(k), f"{delta:g}", *cells, _why_hard(question, outcome, name in (NEARLY, MULTIPLES))


def _why_hard(question: Instance, outcome: Outcome, equal: bool) -> str:
    slow = (outcome.cpu or 0.0) > _SLOW * max(1.0, question.count / 1e4)
    if not (slow or (outcome.width or 0.0) > _USUAL):
        return ""
    if outcome.answer is not None and outcome.answer.epsilon < math.sqrt(question.squares):
        return _TINY
    return _EQUAL if equal else _LUMPY if question.count < 1000 else ""


def add_weaknesses(section: Section, asker: Asker) -> None:
    """What was slow or wide in the prototype, beside ours."""
    rows = [*_lumpy(asker), *_nearly(asker), *_central(asker), *_capped(asker)]
    text = (
        "Where the prototype was weak. *Prototype*: what was noted when the method was first tried, on another day; "
        "“–”: no figure"
    )
    section.add(text, ("what", "list", "asked", "prototype", "time", "CPU", "width", "reached"), rows)


_PROTOTYPE = {
    (SMALL, 100, 1e-6): ("10 ms", "330 ms"),
    (SMALL, 100, 1e-9): ("17 ms", "577 ms"),
    (SMALL, 100, 1e-20): ("97 ms", "5.1 s"),
    (WIDE, 100, 1e-6): ("90 ms", "5.6 s"),
}
"""Times for 1e-9 and for 1e-12."""


def _lumpy(asker: Asker) -> list[tuple[str, ...]]:
    lists = [(SMALL, k, 1e-9) for k in (45, 60, 150)] + [(WIDE, k, 1e-6) for k in (45, 60, 150)]
    cases = [(LOGARITHMIC, 45, 1e-9)] if asker.quick else [*_PROTOTYPE, *lists, (LOGARITHMIC, 45, 1e-9)]
    rows = []
    for name, k, delta in sorted(cases):
        question, known = instance(name, k, delta), _PROTOTYPE.get((name, k, delta), ("–", "about 5 s"))
        rows.append(_weak("lumpy middle", question, "default", known[0], asker.default(question)))
        rows.append(_weak("lumpy middle", question, "rtol=1e-12", known[1], asker.fine(question)))
    return rows


def _nearly(asker: Asker) -> list[tuple[str, ...]]:
    k = 1000 if asker.quick else 10**5
    cases = [(instance(CLOSE, k, 1e-9), "14 s at k = 10^5"), (instance(NEARLY, k, 1e-9), "–")]
    return [_weak("nearly equal ε", each, "default", known, asker.default(each)) for each, known in cases]


def _central(asker: Asker) -> list[tuple[str, ...]]:
    cases = [(SMALL, 1000, 0.1), (WIDE, 1000, 0.5), (HUGE, 1000, 0.1), (HUGE, 1000, 1e-9)]
    questions = [instance(*case) for case in cases]
    return [_weak("large δ, one huge ε", each, "default", "slow or wide", asker.default(each)) for each in questions]


def _capped(asker: Asker) -> list[tuple[str, ...]]:
    """The hardest lists that were found: the work cap must end them with a true bracket."""
    if asker.quick:
        return []
    first = instance(SMALL, 60, 0.1)
    usual = [first, instance(LOGARITHMIC, 60, 0.5), instance(WIDE, 60, 0.5)]
    fine = [instance(WIDE, 1000, 0.5), instance(HUGE, 1000, 0.5)]
    return [
        _weak("work cap", first, "rtol=1e-13", "no cap", asker.ask(FINEST.name, first)),
        *(_weak("work cap", each, "rtol=1e-12", "no cap", asker.fine(each)) for each in fine),
        *(_weak("work cap", each, "default", "no cap", asker.default(each)) for each in usual),
    ]


def _weak(what: str, question: Instance, asked: str, prototype: str, outcome: Outcome) -> tuple[str, ...]:
    goal = 1e-9 if asked == "default" else 0.0
    reached = outcome.answer is not None and outcome.answer.reached and (not goal or (outcome.width or 0.0) <= goal)
    place = f"{question.group}, δ = {question.delta:g}"
    cells = time_cell(outcome), cpu_cell(outcome), width_cell(outcome)
    return what, place, asked, prototype, *cells, "yes" if reached else "no"
