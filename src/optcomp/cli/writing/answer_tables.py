"""Answers and theorems as tables; plain text when the output is not a terminal."""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from decimal import Decimal

from rich import box
from rich.table import Table
from rich.text import Text

import optcomp as oc
from optcomp.cli.sought_total import SoughtTotal
from optcomp.cli.writing.digits import decimal_ends, mechanisms, saving
from optcomp.cli.writing.plain_signs import writable
from optcomp.cli.writing.printing import console, listed, print_table, room, say
from optcomp.composition import SHOWN, excess, published, read_any, shown_down, shown_up
from optcomp.instances import Mixture
from optcomp.reading import MechanismCounts

_ROOM_FOR_NAMES, _ROOM_FOR_METHODS, _ROOM_FOR_ADVICE = 105, 80, 90
"""Columns of a terminal below which a comparison leaves out names, then methods too, and an answer its long advice."""

_COMPARED = 7
"""Significant digits in a comparison."""

_WIDE = 1e-6
"""A bracket relatively wider than this is worth a word."""


@dataclass(frozen=True)
class AskedList:
    """A question about mechanisms."""

    question: SoughtTotal
    counts: MechanismCounts

    def published(self, bound: oc.Bound, digits: int = SHOWN) -> str:
        """The upper side of an answer as it may be published."""
        return published(bound, self._proves, digits)

    @property
    def mixed(self) -> bool:
        """Whether there is more than (ε, δ) pairs."""
        return isinstance(read_any(self.counts), Mixture)

    def _proves(self, bound: oc.Bound, value: Decimal) -> bool:
        return self.question.proves(self.counts, bound, value)


def show_bound(bound: oc.Bound, basic: oc.Bound | None, asked: AskedList, bits: int | None) -> None:
    """One answer: what to publish, what is proved below it, by which theorem, and what basic composition says."""
    sentence = _nothing(bound, asked.question)
    if sentence:
        console().print(writable(sentence), markup=False)
    print_table(listed(_answer_rows(bound, basic, asked)))
    if bits is not None and bound.enclosure is not None:
        lower, upper = decimal_ends(bound, bits)
        say(f"{lower} ≤ {asked.question.sought}\n{upper} ≥ {asked.question.sought}")


def _nothing(bound: oc.Bound, question: SoughtTotal) -> str:
    """A plain sentence for an answer that promises nothing."""
    reason = f": {bound.notes[0]}" if bound.notes else ""
    if math.isinf(bound.lower):
        return f"There is no finite {question.sought} at {question.condition}{reason}."
    if math.isinf(bound.upper):
        return f"{bound.theorem} proves no finite {question.sought} at {question.condition}{reason}."
    if bound.quantity == "delta" and bound.upper >= 1:
        return f"δ = 1 promises nothing: {bound.theorem} proves no useful δ at {question.condition}."
    return ""


def _answer_rows(bound: oc.Bound, basic: oc.Bound | None, asked: AskedList) -> Iterable[tuple[str, str]]:
    question = asked.question
    given = "δ" if question.sought == "ε" else "ε"
    if math.isfinite(bound.upper):
        advice = "upper side, rounded up: the one to publish" if room() >= _ROOM_FOR_ADVICE else "publish this"
        yield f"total {question.sought}", f"{asked.published(bound)}  ({advice})"
        yield "proved lower side", shown_down(bound.lower)
        if bound.width > _WIDE:
            yield "bracket width", f"{shown_up(bound.width * 100, 3)}%"
    yield f"at total {given}", question.given
    yield "mechanisms", f"{bound.count:,}"
    yield "theorem", f"{bound.theorem}, {oc.theorem(bound.theorem).name}"
    yield "method", bound.method
    if basic is not None and bound.method != basic.method:
        yield "basic composition", _basic(bound, basic, asked)
    for note in bound.notes if math.isfinite(bound.upper) else ():  # else the sentence above has said it
        yield "note", note


def _basic(bound: oc.Bound, basic: oc.Bound, asked: AskedList) -> str:
    if math.isinf(basic.upper) or (basic.quantity == "delta" and basic.upper >= 1):
        return f"proves nothing: {basic.notes[0]}" if basic.notes else "proves nothing"
    less = f"  ({saving(bound.upper, basic.upper)} saved)" if bound.upper < basic.upper else ""
    return asked.published(basic) + less


def show_comparison(bounds: Sequence[oc.Bound], asked: AskedList, left_out: Sequence[Mapping[str, str]]) -> None:
    """Every theorem's answer, best first, and which theorems have none."""
    best, question = bounds[0], asked.question
    title = f"{mechanisms(best.count)}, {question.sought} at {question.condition}"
    words = _words()
    table = Table(box=box.ROUNDED, title=writable(title), title_justify="left")
    for heading in (f"{question.sought} ≤", "proved ≥", "excess"):
        table.add_column(writable(heading), justify="right", no_wrap=True)
    for heading in words:
        table.add_column(heading, no_wrap=heading != "name")
    for bound in bounds:
        more = "best" if bound is best else excess(bound.upper, best.upper)
        cells = {"theorem": bound.theorem, "method": bound.method, "name": oc.theorem(bound.theorem).name}
        numbers = asked.published(bound, _COMPARED), shown_down(bound.lower, _COMPARED), more
        table.add_row(*map(writable, (*numbers, *(cells[heading] for heading in words))))
    print_table(table)
    for note in dict.fromkeys(note for bound in bounds for note in bound.notes) if asked.mixed else ():
        say(f"note on {', '.join(bound.theorem for bound in bounds if note in bound.notes)}: {note}")
    for reason in dict.fromkeys(omission["reason"] for omission in left_out):
        theorems = ", ".join(omission["theorem"] for omission in left_out if omission["reason"] == reason)
        say(f"not shown: {theorems} ({reason})")
    sentence = _nothing(best, question)
    if sentence:
        console().print(writable(sentence), markup=False)


def _words() -> Sequence[str]:
    """The columns of a comparison after its numbers, as many as there is room for."""
    columns = room()
    return ("theorem", "method", "name")[: 1 + (columns >= _ROOM_FOR_METHODS) + (columns >= _ROOM_FOR_NAMES)]


def show_theorems(records: Iterable[oc.Theorem]) -> None:
    """The register at a glance."""
    table = Table(box=box.ROUNDED)
    table.add_column("id", no_wrap=True, style="bold")
    table.add_column("name", ratio=1)
    table.add_column("hypotheses", ratio=1)
    for record in records:
        names = "\n= ".join((record.id, *record.aliases))
        table.add_row(names, Text(writable(record.name)), Text(writable(record.hypotheses)))
    print_table(table)
    console().print("optcomp theorems ID explains one of them.")


def show_theorem(record: oc.Theorem) -> None:
    """Everything the register knows about one theorem."""
    print_table(listed(_theorem_rows(record)))


def _theorem_rows(record: oc.Theorem) -> Iterable[tuple[str, str]]:
    yield "id", record.id
    if record.aliases:
        yield "also known as", ", ".join(record.aliases)
    yield "name", record.name
    yield "statement", record.statement
    yield "hypotheses", record.hypotheses
    adaptive = record.parameters == "adaptive"
    yield "parameters", "may be chosen while answers arrive" if adaptive else "fixed in advance"
    yield "equal (ε, δ)", "required" if record.equal_parts else "not required"
    concurrent = record.interaction == "concurrent"
    yield "interaction", "concurrent: interactive mechanisms may be interleaved" if concurrent else "one after another"
    yield "value", "optimal: no smaller value holds for all mechanisms" if record.optimal else "an upper bound"
    yield "source", record.source
