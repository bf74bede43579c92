"""Answers: exact integers, noise by OpenDP, and what follows from the noisy integers."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from fractions import Fraction
from typing import Any

from optcomp.errors import InvalidInput, MechanismFailed
from optcomp.interactive.noise import chosen, with_gaussian, with_laplace
from optcomp.numerics.exact import Number
from optcomp.statistics.accuracy import checked_confidence
from optcomp.statistics.joint_noise import Noises
from optcomp.statistics.question import Cost, Question
from optcomp.statistics.statistic import Integers, Statistic
from optcomp.statistics.table import Declared, Table


@dataclass(frozen=True)
class Answer:
    """What was told, and what it cost."""

    question: Question
    value: Any
    """A number, or a number for each cell."""
    costs: tuple[Cost, ...]
    """The guarantees that were spent."""
    scales: tuple[float, ...]
    """The scale of the noise of each part, in its units."""
    theorem: str
    """What proves the guarantee of this answer by itself."""
    amounts: tuple[tuple[Fraction, ...], ...] = field(repr=False)
    table: Declared = field(repr=False, compare=False)
    """What was declared about the table; not the table."""

    def interval(self, confidence: Number = 0.95) -> Any:
        """Where the statistic of the data (bounded and clamped) lies, with this confidence over the noise.

        For many cells the confidence is for all of them together.
        """
        sure, statistic = checked_confidence(confidence), self.question.statistic
        if self.question.mechanism == "exponential":
            raise InvalidInput("statistic", statistic, "has no interval that follows from its noise alone")
        return statistic.interval(self.table, self.amounts, Noises(self.question.noise, self.scales, sure))

    def __str__(self) -> str:
        return f"{self.question}: {self.value}"


THEOREMS = {"laplace": "DKMMN06", "gaussian": "CKS20", "exponential": "CR21"}
"""What proves the guarantee of each mechanism."""


def answer(question: Question, table: Table) -> Answer:
    """Ask the engine, add noise, finish; the caller has paid before."""
    return noised(question, table, measured(question.statistic, table))


def measured(statistic: Statistic, table: Table) -> tuple[Integers, ...]:
    """The exact integers; an error of the engine is not shown, for its text may hold values."""
    try:
        return statistic.measure(table)
    except Exception as error:
        kind = type(error).__name__
    raise MechanismFailed(str(statistic), kind)  # out here, so that no __context__ leads to the error


def noised(question: Question, table: Table, exact: Sequence[Integers]) -> Answer:
    """The answer for exact integers that are known already."""
    statistic, scales = question.statistic, question.scales(table)
    parts = statistic.parts(table)
    amounts = tuple(
        tuple(value * part.unit for value in _noisy(question.mechanism, values, scale))
        for values, part, scale in zip(exact, parts, scales, strict=True)
    )
    value = statistic.value(table, amounts)
    theorem = THEOREMS[question.mechanism]
    return Answer(question, value, question.costs(table), scales, theorem, amounts, table.declared)


def _noisy(mechanism: str, values: Integers, scale: float) -> list[int]:
    if mechanism == "laplace":
        return with_laplace(values, scale)
    if mechanism == "gaussian":
        return with_gaussian(values, scale)
    return [chosen(values, scale)]
