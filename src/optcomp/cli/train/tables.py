"""What `train` prints: the run as it is counted, its cost, what others would say, and what is not counted."""

from __future__ import annotations

import math
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from fractions import Fraction

from rich import box
from rich.table import Table

import optcomp as oc
from optcomp.cli.writing.digits import shown_near
from optcomp.cli.writing.plain_signs import writable
from optcomp.cli.writing.printing import listed, print_table, say
from optcomp.composition import excess, shown_down, shown_up
from optcomp.numerics import text_of
from optcomp.training import STANDING, Found, Phase, Point, Said, Total, TrainingRun

_DIGITS, _COMPARED = 8, 6
"""Significant digits of the answer, and in a comparison."""


@dataclass(frozen=True)
class TrainAnswer:
    """All that is told about a run."""

    run: TrainingRun
    total: Total
    given: str
    """The δ or ε that was given, as a person wrote it."""
    found: Found | None
    others: Sequence[Said]
    points: Sequence[Point]
    warnings: Sequence[str]
    notes: Sequence[str]

    def as_dict(self) -> dict[str, object]:
        """A JSON-ready view: the bound, and the run as it was counted."""
        view = {**self.total.bound.as_dict(), "steps": self.run.steps, "examples": self.run.examples}
        view["phases"] = [
            {"sigma": _short(phase.sigma), "rate": _short(phase.schedule.rate), "steps": phase.schedule.steps}
            for phase in self.run.phases
        ]
        view |= {"batches": self.run.batches.name, "neighbours": self.run.neighbours.name, "group": self.run.group}
        if self.found is not None:
            view["found"] = {"name": self.found.name, "value": _short(self.found.value)}
        view["others"] = [{"name": said.name, "epsilon": said.epsilon, "why": said.why} for said in self.others]
        view["over_steps"] = [
            {"steps": point.steps, "lower": _finite(point.bound.lower), "upper": _finite(point.bound.upper)}
            for point in self.points
        ]
        view["warnings"] = list(self.warnings)
        view["notes"] = [*self.total.bound.notes, *self.notes, *STANDING]
        return view

    def show(self) -> None:
        """For people."""
        print_table(listed(self._rows()))
        if self.others:
            print_table(self._comparison())
        if self.points:
            print_table(self._growth())
        for warning in self.warnings:
            say(f"WARNING: {warning}")
        for note in self.notes:
            say(f"note: {note}")
        say("What is counted:")
        for line in STANDING:
            say(f"- {line}")

    def _rows(self) -> Iterable[tuple[str, str]]:
        bound, symbol = self.total.bound, "ε" if self.total.bound.quantity == "epsilon" else "δ"
        if self.found is not None:
            yield _NAMES[self.found.name], _near(self.found.value)
        yield from self._run_rows()
        if math.isfinite(bound.upper):
            yield f"total {symbol}", f"{shown_up(bound.upper, _DIGITS)}  (upper side, rounded up: the one to publish)"
            yield "proved lower side", shown_down(bound.lower, _DIGITS)
        else:
            yield f"total {symbol}", "∞"
        yield f"at {'δ' if symbol == 'ε' else 'ε'}", self.given
        yield "neighbours", self.run.neighbours.words + (f", {self.run.group} at once" if self.run.group > 1 else "")
        yield "theorem", f"{bound.theorem}, {oc.theorem(bound.theorem).name}"
        yield "method", bound.method
        for note in bound.notes:
            yield "note", note

    def _run_rows(self) -> Iterable[tuple[str, str]]:
        if len(self.run.phases) > 1:
            yield "phases", f"{len(self.run.phases):,}"
            yield "steps", f"{self.run.steps:,}"
            return
        phase = self.run.phases[0]
        yield "rate", _rate(phase)
        yield "steps", f"{phase.schedule.steps:,}  ({_near(phase.schedule.epochs)} epochs)"
        yield "σ", _near(Fraction(phase.sigma))

    def _comparison(self) -> Table:
        best = self.total.bound
        table = Table(box=box.ROUNDED, title=writable("What accountants in use would say"), title_justify="left")
        table.add_column("accountant")
        table.add_column(writable("ε"), justify="right")
        table.add_column("beside ours")
        rows = [("optcomp, proved", shown_up(best.upper, _COMPARED), f"at least {shown_down(best.lower, _COMPARED)}")]
        for said in self.others:
            shown = "–" if said.epsilon is None else shown_near(said.epsilon, _COMPARED)
            rows.append((said.name, shown, said.why if said.epsilon is None else _beside(said.epsilon, best)))
        for row in rows:
            table.add_row(*map(writable, row))
        return table

    def _growth(self) -> Table:
        symbol = "ε" if self.total.bound.quantity == "epsilon" else "δ"
        table = Table(box=box.ROUNDED, title=writable(f"Total {symbol} over the steps"), title_justify="left")
        for heading in ("steps", "epochs", f"{symbol} ≤", "proved ≥"):
            table.add_column(writable(heading), justify="right")
        for point in self.points:
            epochs = self._epochs(point.steps)
            numbers = shown_up(point.bound.upper, _DIGITS), shown_down(point.bound.lower, _DIGITS)
            table.add_row(f"{point.steps:,}", _near(epochs), *map(writable, numbers))
        return table

    def _epochs(self, steps: int) -> Fraction:
        passed, left = Fraction(0), steps
        for phase in self.run.phases:
            taken = min(left, phase.schedule.steps)
            passed, left = passed + taken * phase.schedule.rate, left - taken
        return passed


_NAMES = {"sigma": "least σ found", "batch": "largest batch found", "steps": "most steps found"}
"""What a number that was sought is called."""


def _beside(eps: float, best: oc.Bound) -> str:
    if eps < best.lower:
        return f"below the truth by at least {shown_down(100 * (1 - eps / best.lower), 3)}%"
    return "inside our bracket" if eps <= best.upper else excess(eps, best.upper)


def _rate(phase: Phase) -> str:
    rate = phase.schedule.rate
    short = _near(rate)
    return short if Fraction(short) == rate else f"{rate.numerator}/{rate.denominator} ≈ {short}"


def _near(value: Fraction) -> str:
    return shown_near(float(value), 6)


def _short(value: object) -> str:
    return text_of(value)  # type: ignore[arg-type]


def _finite(value: float) -> float | None:
    return value if math.isfinite(value) else None
