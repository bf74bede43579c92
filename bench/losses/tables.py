"""The tables: ours and everybody else's answers to the same question below each other."""

from __future__ import annotations

import math
from typing import NamedTuple

from bench.answers import Answer, Outcome
from bench.engine.asking import cpu_cell, width_cell
from bench.losses import dp_accounting_peer as dp
from bench.losses import prv_peer as prv
from bench.losses import questions as asked
from bench.losses.asking import Asker, first_call
from bench.losses.cells import HEADER, READING, epsilon, excess, how, place, side_by_side, times
from bench.losses.contenders import fitting
from bench.losses.ours import AUTO, CERTIFIED, CONVERTED, RENYI
from bench.losses.questions import Entrant, Question
from bench.report import Section
from bench.rows import signed

GOAL = 10.0
"""How many times faster than any peer of its accuracy we want to be on subsampled Gaussian noise."""
_LESS = 1e-3


def add_gaussian(section: Section, asker: Asker) -> None:
    """The engine against the closed form, then the peers."""
    questions = asked.gaussian(asker.quick)
    rows = []
    for question in questions:
        closed, engine = asker.ours(question), asker.ask(CERTIFIED, question)
        cells = (width_cell(engine), cpu_cell(engine), inside(closed.answer, engine.answer), how(engine))
        rows.append((*place(question), epsilon(closed), width_cell(closed), cpu_cell(closed), *cells))
    header = (
        "mechanisms",
        "δ",
        "ε, closed form",
        "width",
        "CPU",
        "width, engine",
        "CPU",
        "closed form inside",
        "engine",
    )
    section.add(f"Gaussian mechanisms, ours: closed form and engine. {asker.verdict(questions)}", header, rows)
    section.add(f"The same, side by side. {READING}", HEADER, side_by_side(asker, questions))


def inside(closed: Answer | None, engine: Answer | None) -> str:
    """Whether the closed form lies inside the engine's bracket."""
    if closed is None or engine is None or closed.lower is None or engine.lower is None:
        return "–"
    return "yes" if engine.lower <= closed.lower and closed.epsilon <= engine.epsilon else "**no**"


def add_plain(section: Section, asker: Asker) -> None:
    """Laplace noise, randomized response, discrete Gaussian noise."""
    questions = asked.plain(asker.quick)
    rows = side_by_side(asker, questions)
    section.add(f"Noise and randomized response, side by side. {asker.verdict(questions)}. {READING}", HEADER, rows)


def add_subsampled(section: Section, asker: Asker) -> None:
    """Everybody, then the first call of a process."""
    questions = asked.subsampled(asker.quick)
    rows = side_by_side(asker, questions)
    section.add(f"Poisson-subsampled Gaussian noise, side by side. {asker.verdict(questions)}. {READING}", HEADER, rows)
    header = ("mechanisms", "δ", "ours: CPU", "width", *(entrant.name for entrant in SHOWN))
    caption = (
        "The same in short: processor time over ours, and excess. The goal is to be "
        f"{GOAL:g} times faster and as tight or tighter"
    )
    section.add(caption, header, summary(asker, GOAL))
    asker.status.update("first calls")
    section.add("First call in a fresh process, imports not timed, processor time", *_first_calls(asker, questions))


SHOWN = (dp.COARSER, dp.ACCOUNTANT, dp.FINE, prv.FINER, prv.FINEST)
"""The configurations in the short table; the first is the quickest, the third the strongest."""


def summary(asker: Asker, goal: float = 0.0) -> list[tuple[str, ...]]:
    """One line for each question about subsampled Gaussian noise; what misses the goal is marked."""
    rows: list[tuple[str, ...]] = []
    for question in asked.subsampled(asker.quick):
        ours = asker.ours(question)
        cells = [_short(asker, entrant, question, goal) for entrant in SHOWN]
        rows.append((*place(question), cpu_cell(ours), width_cell(ours), *cells))
    return rows


def _short(asker: Asker, entrant: Entrant, question: Question, goal: float) -> str:
    """`12 ×, +3.4e-06`, or why not."""
    if not fitting(question, (entrant,), asker.quick):
        return "–"
    outcome, ours = asker.ask(entrant, question), asker.ours(question)
    if outcome.answer is None:
        return (
            "refuses" if "Error" in outcome.failure else "not run" if "not run" in outcome.failure else outcome.failure
        )
    over = excess(asker, question, outcome)
    if over is None:
        return "∞"
    missed = " (missed)" if (outcome.cpu or 0.0) < goal * (ours.cpu or 0.0) else ""
    return f"{times(outcome.cpu, ours.cpu)} ×, {signed(over)}{' **(below)**' if over < 0 else ''}{missed}"


def _first_calls(asker: Asker, questions: list[Question]) -> tuple[tuple[str, ...], list[tuple[str, ...]]]:
    rows: list[tuple[str, ...]] = []
    groups = {question.group: question for question in reversed(questions)}  # the largest δ of each
    for question in reversed(groups.values()):
        for entrant in (AUTO, dp.ACCOUNTANT, prv.FINER):
            outcome = first_call(entrant, question, asker.worker.limit)
            first = "–" if outcome.first is None else cpu_cell(Outcome(None, None, cpu=outcome.first))
            rows.append((*place(question), entrant.name, first, cpu_cell(outcome)))
    return ("mechanisms", "δ", "contender", "first call", "shortest of up to seven"), rows


def add_mixed(section: Section, asker: Asker) -> None:
    """Ours three ways, and the peers."""
    questions = asked.mixed(asker.quick)
    rows = side_by_side(asker, questions, (RENYI, CONVERTED))
    what = "50 of (.1, 1e-9), 50 of ε = .2, one Gaussian σ = 4, 20 subsampled Gaussian q = .1, σ = 2"
    section.add(f"A mixed list: {what}. {asker.verdict(questions)}. {READING}", HEADER, rows)


class Better(NamedTuple):
    """A peer that did better than we on one question."""

    question: Question
    name: str
    theirs: Outcome
    over: float
    ours: Outcome


def beaten(asker: Asker) -> list[Better]:
    """Where a peer that was not below the truth was quicker and nearly as tight, or tighter."""
    found = []
    for (name, question), outcome in list(asker.known.items()):
        over, ours = excess(asker, question, outcome), asker.ours(question)
        if name.startswith("optcomp") or over is None or over < 0 or ours.width is None:
            continue
        quicker = (outcome.cpu or math.inf) < (ours.cpu or 0.0)
        if (quicker and over < _LESS) or over < ours.width:
            found.append(Better(question, name, outcome, over, ours))
    return found


def add_better(section: Section, asker: Asker) -> None:
    """All of them."""
    rows = [
        (
            *place(one.question),
            one.name,
            cpu_cell(one.theirs),
            signed(one.over),
            cpu_cell(one.ours),
            width_cell(one.ours),
        )
        for one in beaten(asker)
    ]
    header = ("mechanisms", "δ", "contender", "CPU", "excess", "ours: CPU", "width")
    caption = "Where a peer was sound and beat ours: quicker within .1 % of the truth, or inside our bracket"
    section.add(caption, header, rows or [("none", *[""] * 6)])
