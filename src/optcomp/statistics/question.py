"""A question: a statistic together with what may be spent on it; nothing here sees data.

    Question(Count(), epsilon=0.1)              discrete Laplace noise (or the exponential mechanism for quantiles)
    Question(Histogram("region"), rho=0.005)    discrete Gaussian noise, accounted as zCDP
    Question(Sum("income"), epsilon=0.5, delta=1e-7)    discrete Gaussian noise, accounted as (ε, δ)

Scales are rounded up to floats, so a question costs at most what it says.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from optcomp.errors import InvalidInput, Written
from optcomp.guarantees import ApproxDP
from optcomp.numerics import Exact, Number, exact
from optcomp.statistics.accuracy import checked_confidence
from optcomp.statistics.declared import Declared
from optcomp.statistics.entries import Entries, number_text
from optcomp.statistics.forms import read_statistic, statistic_document
from optcomp.statistics.noise import Allowance, AnswerCost, Noise, added, noise_named
from optcomp.statistics.part import Part
from optcomp.statistics.statistic import Statistic

LEAST_BUDGET, MOST_BUDGET = 1e-12, 1e6
"""What a question may spend: beyond, noise could not be drawn, or would be none."""

_BUDGETS = ("epsilon", "delta", "rho")
"""What a question may spend, as documents name it."""


@dataclass(frozen=True, repr=False)
class Question(Written):
    """A statistic and its budget: ε, or ρ, or (ε, δ)."""

    statistic: Statistic
    noise: Noise
    epsilon: Exact | None
    delta: Exact | None
    rho: Exact | None

    def __init__(
        self,
        statistic: Statistic,
        *,
        epsilon: Number | None = None,
        delta: Number | None = None,
        rho: Number | None = None,
        mechanism: str | Noise | None = None,
    ) -> None:
        if not isinstance(statistic, Statistic):
            raise InvalidInput("statistic", statistic, "must be a statistic such as Count() or Mean('age')")
        if (epsilon is None) == (rho is None):
            raise InvalidInput("epsilon", epsilon, "must be given, or rho instead, but not both")
        if delta is not None and (rho is not None or all(noise.currency.pure for noise in statistic.noises())):
            raise InvalidInput("delta", delta, "belongs to an epsilon for Gaussian noise")
        if mechanism is None:
            noise = _default(statistic, delta=delta, rho=rho)
        else:
            noise = noise_named(mechanism, statistic.noises())
        noise.check(epsilon=epsilon, delta=delta, rho=rho)
        object.__setattr__(self, "statistic", statistic)
        object.__setattr__(self, "noise", noise)
        object.__setattr__(self, "epsilon", _positive(epsilon, "epsilon"))
        object.__setattr__(self, "delta", _positive(delta, "delta"))
        object.__setattr__(self, "rho", _positive(rho, "rho"))
        if self.delta is not None:
            ApproxDP(self.epsilon or 0, self.delta)  # refuses what is no probability
            if not self.allowance.whole_rho:
                raise InvalidInput("epsilon", epsilon, "is too small for Gaussian noise at this delta")

    @property
    def mechanism(self) -> str:
        """The name of the noise."""
        return self.noise.name

    @property
    def allowance(self) -> Allowance:
        """What may be spent."""
        return Allowance(self.epsilon, self.delta, self.rho)

    def costs(self, table: Declared) -> tuple[AnswerCost, ...]:
        """What answering costs: guarantees that are spent together."""
        parts = self.statistic.parts(table)
        return *self.noise.costs(parts, self.allowance), *leaks_of(parts)

    def leaks(self, table: Declared) -> tuple[ApproxDP, ...]:
        """What it may tell beside what its noise costs."""
        return leaks_of(self.statistic.parts(table))

    def scales(self, table: Declared) -> tuple[float, ...]:
        """The scale of the noise of each part, in its units: Laplace scale, σ, or the scale of the scores."""
        return tuple(self.scale(part) for part in self.statistic.parts(table))

    def scale(self, part: Part) -> float:
        """The scale of the noise of one part."""
        return self.noise.scale(part, self.allowance)

    def error(self, table: Declared, confidence: Number = 0.95) -> tuple[float, ...] | None:
        """How far off the amounts of each part may be, in units of the column; all parts together have the confidence.

        None for choices, whose error depends on the data.
        """
        if self.noise.chooses:
            return None
        noise, sure, parts = added(self.noise), checked_confidence(confidence), self.statistic.parts(table)
        return tuple(  # as if every part had as many cells as it takes for each part to miss equally often
            float(noise.reach(scale, sure, len(part.cells) * len(parts)) * part.unit)
            for part, scale in zip(parts, self.scales(table), strict=True)
        )

    def document(self) -> dict[str, Any]:
        """Without code and exact, ready for JSON: `read_question` reads an equal question back.

        Such as {"statistic": {"count": "rows"}, "noise": "laplace", "epsilon": "1/10"}; equal questions have equal
        documents, however their numbers were given.
        """
        given = {"epsilon": self.epsilon, "delta": self.delta, "rho": self.rho}
        spent = {name: number_text(value, name) for name, value in given.items() if value is not None}
        return {"statistic": statistic_document(self.statistic), "noise": self.mechanism, **spent}

    def __str__(self) -> str:
        spent = {"ε": self.epsilon, "δ": self.delta, "ρ": self.rho}
        shown = ", ".join(f"{name} = {float(value):g}" for name, value in spent.items() if value is not None)
        return f"{self.statistic} at {shown}"


def read_question(document: object) -> Question:
    """The question that wrote this document."""
    entries = Entries(document, "question")
    statistic = read_statistic(entries.take("statistic", Mapping))
    noise = entries.take("noise", str)
    spent = {name: entries.number(name) for name in _BUDGETS if entries.has(name)}
    entries.expect(*_BUDGETS)
    entries.done()
    return Question(statistic, mechanism=noise, **spent)


def leaks_of(parts: Sequence[Part]) -> tuple[ApproxDP, ...]:
    """What parts may tell of one person that no noise is on: a (0, δ) for each that may."""
    return tuple(ApproxDP(0, part.leak) for part in parts if part.leak)


def _default(statistic: Statistic, *, delta: Number | None, rho: Number | None) -> Noise:
    return next((noise for noise in statistic.noises() if noise.suits(delta=delta, rho=rho)), statistic.noises()[0])


def _positive(value: Number | None, argument: str) -> Exact | None:
    if value is None:
        return None
    number = exact(value, argument)
    if not number > 0:
        raise InvalidInput(argument, value, "must be positive")
    if argument != "delta" and not LEAST_BUDGET <= number <= MOST_BUDGET:
        raise InvalidInput(argument, value, "must lie between 1e-12 and 1e6")
    return number
