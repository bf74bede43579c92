"""Cells and rows that the tables share."""

from __future__ import annotations

import math

from bench.answers import Outcome
from bench.engine.asking import cpu_cell, time_cell, width_cell
from bench.losses.asking import Asker
from bench.losses.contenders import PEERS, fitting
from bench.losses.ours import AUTO
from bench.losses.questions import Entrant, Question
from bench.rows import BELOW, number, short, signed

HEADER = ("mechanisms", "δ", "contender", "ε", "time", "CPU", "× CPU", "excess", "remarks")
READING = "*× CPU*: processor time over ours; *excess*: relative, over the lower side of our bracket"


def side_by_side(asker: Asker, questions: list[Question], more: tuple[Entrant, ...] = ()) -> list[tuple[str, ...]]:
    """Ours first, then everybody who can be asked."""
    rows: list[tuple[str, ...]] = []
    for question in questions:
        ours = asker.ours(question)
        rows.append((*place(question), AUTO.name, epsilon(ours), *_times_of(ours), "1", "", _ours(ours)))
        others = (*more, *fitting(question, PEERS, asker.quick))
        rows += [("", "", entrant.name, *_cells(asker, entrant, question)) for entrant in others]
    return rows


def _ours(outcome: Outcome) -> str:
    return f"{how(outcome)}; width {width_cell(outcome)}"


def _cells(asker: Asker, entrant: Entrant, question: Question) -> tuple[str, ...]:
    outcome, ours = asker.ask(entrant, question), asker.ours(question)
    if outcome.answer is None:
        return "–", "–", "–", "–", "–", short(outcome.failure)
    over = excess(asker, question, outcome)
    spent = (*_times_of(outcome), times(outcome.cpu, ours.cpu))
    shown = "∞" if math.isinf(outcome.answer.epsilon) else "–" if over is None else signed(over)
    return epsilon(outcome), *spent, shown, "; ".join(_remarks(asker, question, outcome))


def _remarks(asker: Asker, question: Question, outcome: Outcome) -> list[str]:
    answer, truth, over = outcome.answer, asker.bracket(question), excess(asker, question, outcome)
    if answer is None or truth is None:
        return []
    remarks = [answer.how] if answer.how else []
    if math.isinf(answer.epsilon):
        remarks.append("no finite answer")
    if over is not None and over < 0:
        remarks.append(f"**{BELOW}**")
    elif answer.epsilon <= truth.epsilon:
        remarks.append("inside our bracket")
    if answer.lower is not None and answer.lower > truth.epsilon:
        remarks.append("**its lower side is above the truth**")
    return remarks


def excess(asker: Asker, question: Question, outcome: Outcome) -> float | None:
    """Over our lower side; negative is below the truth."""
    answer, truth = outcome.answer, asker.bracket(question)
    if answer is None or truth is None or not truth.lower or not math.isfinite(answer.epsilon):
        return None
    return answer.epsilon / truth.lower - 1


def place(question: Question) -> tuple[str, str]:
    return question.group, f"{question.delta:g}"


def epsilon(outcome: Outcome) -> str:
    return "–" if outcome.answer is None else number(outcome.answer.epsilon)


def how(outcome: Outcome) -> str:
    return short(outcome.failure) if outcome.answer is None else outcome.answer.how


def _times_of(outcome: Outcome) -> tuple[str, str]:
    return time_cell(outcome), cpu_cell(outcome)


def times(theirs: float | None, ours: float | None) -> str:
    """How many times ours."""
    return plain(theirs / ours) if theirs and ours else "–"


def plain(ratio: float) -> str:
    """Two digits, or all before the point."""
    return f"{ratio:.2g}" if ratio < 99.5 else f"{ratio:.0f}"
