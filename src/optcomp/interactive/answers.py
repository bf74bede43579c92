"""Answers: exact integers, noise by OpenDP, and what follows from the noisy integers."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from fractions import Fraction
from typing import Any

from optcomp.errors import InvalidInput, MechanismFailed
from optcomp.interactive import answer_tables
from optcomp.interactive.answer_tables import AnswerRow
from optcomp.numerics import Number, exact
from optcomp.statistics import (
    Declared,
    Entries,
    IntegerVector,
    Noises,
    Part,
    Question,
    Statistic,
    Table,
    Told,
    checked_confidence,
    number_text,
    read_question,
)
from optcomp.statistics.noise import AnswerCost, added


@dataclass(frozen=True)
class Answer:
    """What was told, and what it cost."""

    question: Question
    value: Any
    """A number, or a number for each cell."""
    costs: tuple[AnswerCost, ...]
    """The guarantees that were spent."""
    scales: tuple[float, ...]
    """The scale of the noise of each part, in its units."""
    theorem: str
    """What proves the guarantee of this answer by itself."""
    amounts: tuple[tuple[Fraction, ...], ...] = field(repr=False)
    declared: Declared = field(repr=False, compare=False)
    """What was declared about the table; no answer holds the table."""
    names: tuple[str, ...] = field(default=(), repr=False)
    """Of cells that were found in the data, in order; none where cells are declared."""
    receipt: Mapping[str, Any] | None = field(default=None, repr=False, compare=False)
    """Where a ledger has entered it, if one has."""
    invented: bool = field(default=False, repr=False, compare=False)
    """Whether it is about invented data, and says nothing of anybody."""

    def interval(self, confidence: Number = 0.95) -> Any:
        """Where the statistic of the data (bounded and clamped) lies, with this confidence over the noise.

        For many cells the confidence is for all of them together; for cells that were found in the data, for each of
        those that were told.
        """
        sure, statistic = checked_confidence(confidence), self.question.statistic
        if self.question.noise.chooses:
            raise InvalidInput("statistic", statistic, "has no interval that follows from its noise alone")
        noises = Noises(added(self.question.noise), self.scales, sure)
        return statistic.named(self.names).interval(self.declared, self.amounts, noises)

    def rows_off(self, confidence: Number = 0.95) -> float | None:
        """By how many rows the rank of what was chosen may be off, with this confidence; None of what is no choice."""
        sure = checked_confidence(confidence)
        return self.question.statistic.rows_off(self.declared, self.scales, sure)

    def rows(self, confidence: Number = 0.95) -> list[AnswerRow]:
        """Every number that was told, with its cell and its interval."""
        return answer_tables.answer_rows(self, confidence)

    def to_pandas(self, confidence: Number = 0.95) -> Any:
        """A data frame of pandas, a row for each number."""
        return answer_tables.to_pandas(self, confidence)

    def to_polars(self, confidence: Number = 0.95) -> Any:
        """A data frame of polars, a row for each number."""
        return answer_tables.to_polars(self, confidence)

    def to_csv(self, confidence: Number = 0.95) -> str:
        """Text with commas, a line for each number."""
        return answer_tables.to_csv(self, confidence)

    def _repr_html_(self) -> str:
        """For notebooks."""
        return answer_tables.to_html(self)

    def document(self) -> dict[str, Any]:
        """The question and the noisy amounts, exact and ready for JSON; everything else follows from them.

        The receipt is not part of it: a receipt is about the document.
        """
        amounts = [[number_text(amount, "amounts") for amount in part] for part in self.amounts]
        found = {"names": list(self.names)} if self.question.statistic.finds else {}
        return {"question": self.question.document(), "amounts": amounts, **found}

    def __str__(self) -> str:
        return f"{self.question}: {self.value}{' (invented data)' if self.invented else ''}"


def answer(question: Question, table: Table) -> Answer:
    """Ask the engine, add noise, finish; the caller has paid before."""
    return noised(question, table, measured(question.statistic, table))


def measured(statistic: Statistic, table: Table) -> tuple[IntegerVector, ...]:
    """The exact integers; an error of the engine is not shown, for its text may hold values."""
    try:
        return statistic.measure(table)
    except Exception as error:
        kind = type(error).__name__
    raise MechanismFailed(str(statistic), kind)  # out here, so that no __context__ leads to the error


def noised(question: Question, table: Table, integers: Sequence[IntegerVector]) -> Answer:
    """The answer for exact integers that are known already."""
    scales = question.scales(table)
    told = question.statistic.tell(table, integers, question.noise, scales)
    return _answer(question, table, told, scales)


def _answer(question: Question, table: Declared, told: Told, scales: tuple[float, ...]) -> Answer:
    """What follows from what was told."""
    value = question.statistic.named(told.names).value(table, told.amounts)
    costs, theorem = question.costs(table), question.noise.theorem
    return Answer(question, value, costs, scales, theorem, told.amounts, table.declared, told.names)


def read_answer(document: object, declared: Declared) -> Answer:
    """The answer that wrote this document, about a table that is declared like this.

    The value is derived from the amounts again, costs and scales from question and declaration.
    """
    entries = Entries(document, "answer")
    question = read_question(entries.take("question", Mapping))
    listed, finds = entries.take("amounts", Sequence), question.statistic.finds
    names = tuple(entries.take("names", Sequence)) if finds else ()
    entries.done()
    parts = question.statistic.parts(declared)
    if finds:
        parts = tuple(replace(part, cells=names) for part in parts)
    if len(listed) != len(parts):
        raise InvalidInput("answer.amounts", len(listed), f"must be {len(parts)} lists, one for each part")
    amounts = tuple(_amounts(values, part) for values, part in zip(listed, parts, strict=True))
    told, scales = Told(amounts, names), question.scales(declared)
    question.statistic.check_told(declared, told, question.noise, scales)
    return _answer(question, declared, told, scales)


def _amounts(values: object, part: Part) -> tuple[Fraction, ...]:
    """Whole multiples of the unit of a part, one for each of its cells."""
    if not isinstance(values, Sequence) or isinstance(values, str) or len(values) != len(part.cells):
        raise InvalidInput("answer.amounts", type(values).__name__, f"must be {len(part.cells)} numbers")
    if not all(isinstance(value, str) for value in values):
        raise InvalidInput("answer.amounts", part.cells[0], "must be numbers in text")
    found = tuple(Fraction(exact(value, "answer.amounts")) for value in values)
    if any((amount / part.unit).denominator > 1 for amount in found):
        raise InvalidInput("answer.amounts", part.cells[0], "must be whole multiples of their unit")
    return found
