"""Answers and theorems as tables; plain text when the output is not a terminal."""

from __future__ import annotations

import math
from collections.abc import Iterable, Sequence

from rich import box
from rich.console import Console
from rich.table import Table
from rich.text import Text

import optcomp as oc
from optcomp.cli.digits import decimal_ends, excess, saving, shown_down, shown_up
from optcomp.cli.question import Question

_PLAIN_WIDTH = 120
"""Columns when nobody says how wide the page is."""

_UNBOUNDED = 10_000


def console() -> Console:
    """Where tables go: stdout, without colours unless it is a terminal."""
    output = Console(highlight=False, emoji=False)
    if not output.is_terminal:
        output = Console(highlight=False, emoji=False, width=_PLAIN_WIDTH)
    return output


def _print(table: Table) -> None:
    """Print a table whole: a narrow terminal breaks its lines rather than lose digits."""
    output = console()
    output.width = max(output.width, Console(width=_UNBOUNDED).measure(table).minimum)
    output.print(table)


def show_bound(bound: oc.Bound, basic: oc.Bound, question: Question, bits: int | None) -> None:
    """One answer: what to publish, what is proved below it, by which theorem, and what basic composition says."""
    output = console()
    sentence = _nothing(bound, question)
    if sentence:
        output.print(sentence, markup=False)
    _print(_listed(_answer_rows(bound, basic, question)))
    if bits is not None and bound.enclosure is not None:
        lower, upper = decimal_ends(bound, bits)
        output.print(f"{lower} ≤ {question.sought}\n{upper} ≥ {question.sought}", soft_wrap=True, markup=False)


def _nothing(bound: oc.Bound, question: Question) -> str:
    """A plain sentence for an answer that promises nothing."""
    reason = f": {bound.notes[0]}" if bound.notes else ""
    if math.isinf(bound.lower):
        return f"There is no finite {question.sought} at {question.condition}{reason}."
    if math.isinf(bound.upper):
        return f"{bound.theorem} proves no finite {question.sought} at {question.condition}{reason}."
    if bound.quantity == "delta" and bound.upper >= 1:
        return f"δ = 1 promises nothing: {bound.theorem} proves no useful δ at {question.condition}."
    return ""


def _answer_rows(bound: oc.Bound, basic: oc.Bound, question: Question) -> Iterable[tuple[str, str]]:
    given = "δ" if question.sought == "ε" else "ε"
    if math.isfinite(bound.upper):
        yield f"total {question.sought}", f"{shown_up(bound.upper)}  (upper side, rounded up: the one to publish)"
        yield "proved lower side", shown_down(bound.lower)
    yield f"at total {given}", question.given
    yield "mechanisms", f"{bound.count:,}"
    yield "theorem", f"{bound.theorem}, {oc.theorem(bound.theorem).name}"
    yield "method", bound.method
    if bound.method != basic.method:
        yield "basic composition", _basic(bound, basic)
    for note in bound.notes if math.isfinite(bound.upper) else ():  # else the sentence above has said it
        yield "note", note


def _basic(bound: oc.Bound, basic: oc.Bound) -> str:
    if math.isinf(basic.upper) or (basic.quantity == "delta" and basic.upper >= 1):
        return f"proves nothing: {basic.notes[0]}" if basic.notes else "proves nothing"
    less = f"  ({saving(bound.upper, basic.upper)} saved)" if bound.upper < basic.upper else ""
    return shown_up(basic.upper) + less


def _listed(rows: Iterable[tuple[str, str]]) -> Table:
    table = Table(box=box.ROUNDED, show_header=False)
    table.add_column(style="bold", no_wrap=True)
    table.add_column(overflow="fold")
    for name, value in rows:
        table.add_row(name, Text(value))
    return table


def show_comparison(bounds: Sequence[oc.Bound], question: Question) -> None:
    """Every theorem's answer, best first."""
    best = bounds[0]
    title = f"{best.count:,} mechanisms, {question.sought} at {question.condition}"
    table = Table(box=box.ROUNDED, title=title, title_justify="left")
    for heading in (f"{question.sought} ≤", "proved ≥", "excess"):
        table.add_column(heading, justify="right", no_wrap=True)
    for heading in ("theorem", "method", "name"):
        table.add_column(heading, no_wrap=heading != "name")
    for bound in bounds:
        more = "best" if bound is best else excess(bound.upper, best.upper)
        numbers = shown_up(bound.upper, 7), shown_down(bound.lower, 7), more
        table.add_row(*numbers, bound.theorem, bound.method, oc.theorem(bound.theorem).name)
    _print(table)
    sentence = _nothing(best, question)
    if sentence:
        console().print(sentence, markup=False)


def show_theorems(records: Iterable[oc.Theorem]) -> None:
    """The register at a glance."""
    table = Table(box=box.ROUNDED)
    table.add_column("id", no_wrap=True, style="bold")
    table.add_column("name", ratio=1)
    table.add_column("hypotheses", ratio=1)
    for record in records:
        table.add_row(record.id, Text(record.name), Text(record.hypotheses))
    _print(table)
    console().print("optcomp theorems ID explains one of them.")


def show_theorem(record: oc.Theorem) -> None:
    """Everything the register knows about one theorem."""
    _print(_listed(_theorem_rows(record)))


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
