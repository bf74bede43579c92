"""The tables: settings of training beside the peers of trainers, lattices beside dp-accounting, and who did better."""

from __future__ import annotations

import math
from statistics import median
from typing import NamedTuple

from bench.answers import Outcome
from bench.engine.asking import cpu_cell, width_cell
from bench.losses.asking import Asker, first_call
from bench.losses.cells import place, times
from bench.losses.questions import Entrant, Question
from bench.report import Section
from bench.rows import duration, short, signed
from bench.training.contenders import BESIDE_LATTICES, BESIDE_TRAINING
from bench.training.questions import Setting, cells, lattices, training

NEAR = 1e-3
"""A quicker peer counts as better up to this excess."""
READING = (
    "A cell of a peer: its ε, by how much that exceeds our upper side, and its processor time over ours. "
    "**below** is below the lower side of our bracket, so below the truth; *inside* is between both sides"
)


class Compared(NamedTuple):
    """The answer of a peer to a question, beside ours."""

    question: Question
    entrant: Entrant
    theirs: Outcome
    ours: Outcome

    @property
    def excess(self) -> float | None:
        """Over our upper side, or negative under our lower one; 0 between both; None without a finite answer."""
        theirs, ours = self.theirs.answer, self.ours.answer
        if theirs is None or ours is None or ours.lower is None or not math.isfinite(theirs.epsilon):
            return None
        if ours.lower <= theirs.epsilon <= ours.epsilon:
            return 0.0
        return theirs.epsilon / (ours.epsilon if theirs.epsilon > ours.epsilon else ours.lower) - 1

    @property
    def ratio(self) -> float | None:
        """Their processor time over ours."""
        return self.theirs.cpu / self.ours.cpu if self.theirs.cpu and self.ours.cpu else None

    @property
    def better(self) -> bool:
        """Inside our bracket; or above it and near, and quicker."""
        if self.excess is None or self.excess < 0:
            return False
        return self.excess == 0 or (self.excess < NEAR and (self.ratio or math.inf) < 1)

    def cell(self) -> str:
        """`1.8293, +5.5e-04, 8.4 ×`, or why not."""
        if self.theirs.answer is None:
            return _why_not(self.theirs.failure)
        over, spent = self.excess, f"{times(self.theirs.cpu, self.ours.cpu)} ×"
        if over is None:
            return f"∞, {spent}"
        shown = "*inside*" if over == 0 else f"{signed(over)} **below**" if over < 0 else signed(over)
        return f"{self.theirs.answer.epsilon:.6g}, {shown}, {spent}"


def _why_not(failure: str) -> str:
    """A limit of time as it is; of an error its name."""
    return failure if failure.startswith((">", "needs", "process")) else f"refuses ({failure.partition(':')[0]})"


def compared(asker: Asker, question: Question, entrants: tuple[Entrant, ...]) -> list[Compared]:
    """Those who can be asked this."""
    ours = asker.ours(question)
    return [
        Compared(question, entrant, asker.ask(entrant, question), ours)
        for entrant in entrants
        if entrant.fits(question)
    ]


def everything(asker: Asker) -> list[Compared]:
    """All answers of all peers."""
    both = [(question, BESIDE_TRAINING) for question in training(asker.quick).values()]
    both += [(question, BESIDE_LATTICES) for question in lattices(asker.quick)]
    return [one for question, entrants in both for one in compared(asker, question, entrants)]


TRAINING_HEADER = (
    *("q", "σ", "rounds", "δ", "lower", "upper", "width", "CPU"),
    *(entrant.name for entrant in BESIDE_TRAINING),
)


def training_rows(asker: Asker) -> list[tuple[str, ...]]:
    """One line for each setting."""
    return [
        (*cells(setting), *sides(asker.ours(question)), *(_cell(asker, question, peer) for peer in BESIDE_TRAINING))
        for setting, question in training(asker.quick).items()
    ]


def sides(outcome: Outcome) -> tuple[str, str, str, str]:
    """Lower, upper, width, processor time."""
    answer = outcome.answer
    if answer is None or answer.lower is None:
        return "–", "–", short(outcome.failure), cpu_cell(outcome)
    return f"{answer.lower:.12g}", f"{answer.epsilon:.12g}", width_cell(outcome), cpu_cell(outcome)


def _cell(asker: Asker, question: Question, entrant: Entrant) -> str:
    return next((one.cell() for one in compared(asker, question, (entrant,))), "–")


LATTICE_HEADER = (
    *("mechanisms", "δ", "lower", "upper", "width", "CPU"),
    *(entrant.name for entrant in BESIDE_LATTICES),
)


def lattice_rows(asker: Asker) -> list[tuple[str, ...]]:
    """One line for each list."""
    return [
        (*place(question), *sides(asker.ours(question)), *(_cell(asker, question, peer) for peer in BESIDE_LATTICES))
        for question in lattices(asker.quick)
    ]


def add_tables(section: Section, asker: Asker) -> None:
    """Ask everybody everything."""
    section.add(f"Training: Poisson-subsampled Gaussian noise. {READING}", TRAINING_HEADER, training_rows(asker))
    section.add("How ours were found", ("q", "σ", "rounds", "δ", "how"), _ways(asker))
    section.add(f"Losses on a lattice, and Laplace noise. {READING}", LATTICE_HEADER, lattice_rows(asker))
    section.add("Peers over all settings of training", TOTAL_HEADER, totals(asker))
    rows = [_told(one) for one in everything(asker) if one.better]
    header = ("mechanisms", "δ", "contender", "CPU", "excess", "ours: CPU", "width")
    caption = "Where a peer was not below our bracket and beat ours: inside it, or quicker within .1 % of the truth"
    section.add(caption, header, rows or [("none", *[""] * 6)])


def _ways(asker: Asker) -> list[tuple[str, ...]]:
    return [
        (*cells(setting), "–" if (found := asker.ours(question).answer) is None else found.how)
        for setting, question in training(asker.quick).items()
    ]


def _told(one: Compared) -> tuple[str, ...]:
    spent = (cpu_cell(one.theirs), signed(one.excess or 0.0), cpu_cell(one.ours), width_cell(one.ours))
    return (*place(one.question), one.entrant.name, *spent)


TOTAL_HEADER = (
    "contender",
    "answers",
    "below the truth",
    "farthest below",
    "median excess",
    "median × CPU",
    "most CPU",
)


def totals(asker: Asker) -> list[tuple[str, ...]]:
    """How each peer did over all settings of training."""
    rows: list[tuple[str, ...]] = []
    questions = list(training(asker.quick).values())
    for entrant in BESIDE_TRAINING:
        all_of_it = [one for question in questions for one in compared(asker, question, (entrant,))]
        overs = [one.excess for one in all_of_it if one.excess is not None]
        ratios = [one.ratio for one in all_of_it if one.ratio is not None]
        below, above = [over for over in overs if over < 0], [over for over in overs if over >= 0]
        rows.append(
            (
                entrant.name,
                f"{len(overs)} of {len(questions)}",
                f"{len(below)}",
                f"{min(below):.1e}" if below else "–",
                signed(median(above)) if above else "–",
                f"{median(ratios):.2g}" if ratios else "–",
                duration(max(one.theirs.cpu or 0.0 for one in all_of_it)),
            )
        )
    return rows


def first_of_all(entrant: Entrant, setting: Setting, question: Question, limit: float) -> str:
    """The first answer of a fresh process, in words."""
    outcome = first_call(entrant, question, limit)
    rate, sigma, rounds, delta = cells(setting)
    spent = "no time" if outcome.first is None else duration(outcome.first)
    return f"{spent} (q = {rate}, σ = {sigma}, {rounds} rounds, δ = {delta})"
