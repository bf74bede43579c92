"""What the pages of the desk show: answers with their intervals, lines of a transcript, what is left, declarations.

All of it follows from what the interface told and from what is declared; no budget is computed here.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from fractions import Fraction
from typing import Any

from markupsafe import Markup

from optcomp.center import Problem
from optcomp.interactive import Answer, read_answer, read_mechanism
from optcomp.pages.charts import Whisker, interval_chart
from optcomp.pages.numbers import amount, down
from optcomp.pages.words import Words
from optcomp.statistics import Categories, Dates, Declared, Domain, Numbers, Text, read_statistic

MOST_SHOWN, MOST_DRAWN = 200, 60
"""Cells of one answer in a table and in a picture; the files have all of them."""


@dataclass(frozen=True)
class Row:
    """One number of an answer."""

    cell: str
    value: float | str
    """A number, or a date."""
    low: float | None
    high: float | None
    rows_off: float | None = None
    """By how many rows the rank of a choice may be off."""
    open: bool = False
    """Whether the noise leaves any value possible: the interval has no end."""


@dataclass(frozen=True)
class Told:
    """An answer as it is shown."""

    what: str
    unit: str
    confidence: float
    rows: tuple[Row, ...]
    chart: Markup
    found: bool = False
    """Whether its cells were found in the data: then each interval holds by itself."""

    @property
    def shown(self) -> tuple[Row, ...]:
        """Those that a page has room for."""
        return self.rows[:MOST_SHOWN]

    @property
    def single(self) -> Row | None:
        """The only number, if it is one."""
        return self.rows[0] if len(self.rows) == 1 and not self.rows[0].cell else None

    @property
    def bounded(self) -> bool:
        """Whether intervals follow from the noise."""
        return any(row.low is not None for row in self.rows)

    @property
    def open(self) -> bool:
        """Whether the noise leaves any value possible for some number."""
        return any(row.open for row in self.rows)

    @property
    def rows_off(self) -> float | None:
        """By how many rows the ranks of choices may be off."""
        return self.rows[0].rows_off if self.rows else None


def told(document: Mapping[str, Any], declared: Declared, confidence: str, title: str) -> Told:
    """An answer, from its document."""
    answer = read_answer(document, declared)
    rows = tuple(_rows(answer, confidence))
    unit = answer.question.statistic.value_unit
    named = [(row.cell or str(answer.question.statistic), _ends(row)) for row in rows[:MOST_DRAWN]]
    drawn = [Whisker(name, *ends) for name, ends in named if ends is not None]
    bounded = any(row.low is not None for row in rows)
    chart = interval_chart(drawn, title=title, unit=unit) if bounded or len(drawn) > 1 else Markup("")
    return Told(str(answer.question), unit, float(confidence), rows, chart, answer.question.statistic.finds)


def _ends(row: Row) -> tuple[float, float, float] | None:
    """What a picture draws; a date is told without one, and so is what may have any value."""
    value = row.value
    if isinstance(value, str) or row.open:
        return None
    low, high = (value if end is None else end for end in (row.low, row.high))
    return low, value, high


def _plain(value: Any) -> float | str:
    return value if isinstance(value, str) else float(value)


def _rows(answer: Answer, confidence: str) -> list[Row]:
    return [
        Row(
            cell_words(row.cell) if row.cell else "",
            _plain(row.value),
            _finite(row.low),
            _finite(row.high),
            row.rows_off,
            any(end is not None and not math.isfinite(end) for end in (row.low, row.high)),
        )
        for row in answer.rows(confidence)
    ]


def _finite(end: float | None) -> float | None:
    """An end of an interval, if it has one."""
    return None if end is None or not math.isfinite(end) else end


def cell_words(cell: Any) -> str:
    """The name of a cell."""
    if isinstance(cell, tuple):
        return " × ".join(map(cell_words, cell))
    return f"{cell:g}" if isinstance(cell, float) else str(cell)


@dataclass(frozen=True)
class Left:
    """How much of one part of a budget is left."""

    name: str
    left: str
    whole: str
    share: float


def amounts(left: Mapping[str, Any]) -> list[Left]:
    """ε and δ of a slot, where it has any."""
    found = []
    for name, each in left["amounts"].items():
        rest, whole = Fraction(each["left"]), Fraction(each["whole"])
        if whole:
            found.append(Left(name, each["left"], each["whole"], float(rest / whole)))
    return found


def usual_epsilon(left: Sequence[Left]) -> str:
    """What the form proposes: a tenth, but no more than a fifth of the slot and no more than is left."""
    for each in left:
        if each.name == "epsilon" and Fraction(each.left) > 0:
            return down(min(_USUAL, Fraction(each.whole) / 5, Fraction(each.left)), 3)
    return str(float(_USUAL))


_USUAL = Fraction(1, 10)
"""The ε of a question, where there is much."""


@dataclass(frozen=True)
class Line:
    """A line of a transcript."""

    request: int
    kind: str
    what: str
    paid: str
    outcome: str
    running: bool
    key: str | None
    answer: str
    address: str


def line(found: Mapping[str, Any], declared: Declared, seat: int, t: Words) -> Line:
    """A request in short; an answer of many numbers is told by their count."""
    kind, form, answer = found["kind"], found["form"], found["answer"]
    what = asked_words(form["ask"]) if kind == "ask" else found["what"]
    number_of = form["mechanism"] if kind == "ask" else found["request"]
    place = "mechanisms" if kind in ("ask", "mechanism") else "requests"
    return Line(
        found["request"],
        kind,
        what,
        found["paid"]["words"],
        found["outcome"],
        found["running"],
        found["key"],
        "" if answer is None else _short(kind, answer, declared, t),
        f"/analyst/seats/{seat}/{place}/{number_of}",
    )


def _short(kind: str, answer: Any, declared: Declared, t: Words) -> str:
    if kind in ("question", "planned"):
        value = read_answer(answer, declared).value
        return str(t("desk.cells", count=len(value))) if isinstance(value, Mapping) else amount(_plain(value))
    return answer_words(answer, t) if kind == "ask" else ""


def asked_words(asked: Mapping[str, Any]) -> str:
    """A question to a mechanism."""
    if "statistic" in asked:
        guess = f", {Fraction(str(asked['guess']))}?" if "guess" in asked else ""
        return f"{read_statistic(asked['statistic'])}{guess}"
    return str(asked.get("where", f"{len(asked.get('weights', ()))} weights"))


def answer_words(answer: Any, t: Words) -> str:
    """What a mechanism told: above or below, or a number with a word on where it comes from."""
    if isinstance(answer, bool):
        return str(t("desk.above" if answer else "desk.below"))
    kind = "corrected" if answer["corrected"] else "guessed" if answer.get("checked", True) else "unchecked"
    return str(t(f"desk.told.{kind}", value=amount(answer["value"])))


@dataclass(frozen=True)
class Opened:
    """A mechanism as it stands."""

    number: int
    kind: str
    what: str
    paid: str
    outcome: str
    left: dict[str, int]
    closed: bool
    lines: list[Line]
    settings: dict[str, str]

    @property
    def asked(self) -> int:
        """How many questions it answered."""
        return len(self.lines)


def opened(found: Mapping[str, Any], declared: Declared, seat: int, t: Words) -> Opened:
    """A mechanism, its newest answers first."""
    spec = read_mechanism(found["document"])
    lines = [line(each, declared, seat, t) for each in reversed(found["asked"])]
    settings = {name: _written(value) for name, value in found["document"].items() if name != "mechanism"}
    state = found["paid"]["words"], found["outcome"], dict(found["left"]), found["closed"]
    return Opened(found["mechanism"], spec.kind, found["what"], *state, lines, settings)


def _written(value: Any) -> str:
    if isinstance(value, Mapping):
        return str(read_statistic(value))
    text = str(value)
    return text if len(text) < 16 or "/" not in text else f"{float(Fraction(text)):.6g}"


@dataclass(frozen=True)
class Column:
    """What is declared about a column."""

    name: str
    kind: str
    low: str = ""
    high: str = ""
    step: str = ""
    values: tuple[str, ...] = ()


def columns(declared: Declared) -> list[Column]:
    """All columns in words."""
    return [_column(name, domain) for name, domain in declared.columns.items()]


def _column(name: str, domain: Domain) -> Column:
    if isinstance(domain, Categories):
        return Column(name, "categories", values=tuple(map(str, domain.values)))
    if isinstance(domain, Dates):
        return Column(name, "dates", *domain.ends_shown, domain.every)
    if isinstance(domain, Text):
        return Column(name, "text", high=str(domain.most))
    assert isinstance(domain, Numbers)
    low, high = (f"{float(end):.12g}" for end in (domain.low, domain.high))
    return Column(name, "integers" if domain.holds is int else "reals", low, high, f"{float(domain.step):.3g}")


def placed(problem: Problem, names: Sequence[str] | set[str], also: Mapping[str, str]) -> Problem:
    """A refusal with its words beside the field that they are about; `also` says what else a field is called."""
    argument = str(problem.more.get("argument") or "")
    last = argument.rpartition(".")[2]
    name = also.get(last, last)
    message = problem.message.removeprefix(f"{argument}: ")
    more = {**problem.more, "argument": name if name in names else None}
    return Problem(problem.code, message if name in names else problem.message, **more)
