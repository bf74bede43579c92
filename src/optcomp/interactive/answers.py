"""Answers: exact integers, noise by OpenDP, and what follows from the noisy integers."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from fractions import Fraction
from typing import Any

from optcomp.errors import InvalidInput, MechanismFailed
from optcomp.numerics import Number
from optcomp.statistics import Declared, IntegerVector, Noises, Question, Statistic, Table, checked_confidence
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

    def interval(self, confidence: Number = 0.95) -> Any:
        """Where the statistic of the data (bounded and clamped) lies, with this confidence over the noise.

        For many cells the confidence is for all of them together.
        """
        sure, statistic = checked_confidence(confidence), self.question.statistic
        if self.question.noise.chooses:
            raise InvalidInput("statistic", statistic, "has no interval that follows from its noise alone")
        return statistic.interval(self.declared, self.amounts, Noises(added(self.question.noise), self.scales, sure))

    def __str__(self) -> str:
        return f"{self.question}: {self.value}"


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


def noised(question: Question, table: Table, exact: Sequence[IntegerVector]) -> Answer:
    """The answer for exact integers that are known already."""
    statistic, scales = question.statistic, question.scales(table)
    parts = statistic.parts(table)
    amounts = tuple(
        tuple(value * part.unit for value in question.noise.draw(values, scale))
        for values, part, scale in zip(exact, parts, scales, strict=True)
    )
    value = statistic.value(table, amounts)
    return Answer(question, value, question.costs(table), scales, question.noise.theorem, amounts, table.declared)
