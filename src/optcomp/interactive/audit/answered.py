r"""Every statistic, answered with noise as a session answers it, on two neighbouring tables; nothing is simulated.

The engine is asked once for each table, `noised` once for each run.  The feature is what of an answer tells the tables
apart, for an attacker who knows both exact results x and x':

    Laplace        for each number, whether it is at most min(x, x'), between, or at least max(x, x'): all that the loss
                   depends on, but for what is between
    Gaussian       the length of the noisy result along x' - x, in which the loss is linear
    exponential    by how much the score of the choice differs between the tables
"""

from __future__ import annotations

from collections.abc import Callable, Hashable, Iterable, Mapping
from dataclasses import dataclass, field
from fractions import Fraction
from functools import cache, partial
from typing import Any

from optcomp.composition import compose
from optcomp.interactive.answers import Answer, measured, noised
from optcomp.interactive.audit.auditable import Auditable, Side
from optcomp.interactive.audit.tables import Neighbourhood, Tables, neighbouring
from optcomp.statistics import CDF, Contingency, Count, Histogram, Mean, Median, Quantiles, Question, Sum, Variance
from optcomp.statistics.noise import Results
from optcomp.statistics.statistic import Statistic

_HOW: dict[Neighbourhood, str] = {
    "added": "a person is added",
    "replaced": "a person is exchanged",
    "rows": "a person with two rows is added",
    "groups": "a person with a row in each of two groups is added",
}
_FEW = "age > 7 or age < 1"
"""One person whom the tables share, and the one in whom they differ."""


@dataclass(frozen=True)
class Asked:
    """A statistic with its budget, how the tables differ, and how often to run."""

    statistic: Statistic
    spending: Mapping[str, Any]
    how: Neighbourhood = "added"
    trials: int = field(kw_only=True)
    delta: float = field(default=0.0, kw_only=True)

    @property
    def question(self) -> Question:
        """What a session would be asked."""
        return Question(self.statistic, **self.spending)


ASKED: dict[str, Asked] = {
    "count-laplace": Asked(Count(), {"epsilon": 1}, trials=14_000),
    "count-gaussian": Asked(Count(), {"rho": "1/2"}, trials=14_000, delta=1e-3),
    "count-replaced": Asked(Count("region == 'south'"), {"epsilon": 1}, "replaced", trials=14_000),
    "count-rows": Asked(Count(), {"epsilon": 1}, "rows", trials=14_000),
    "sum-integers": Asked(Sum("age"), {"epsilon": 2}, trials=10_000),
    "sum-reals": Asked(Sum("income"), {"epsilon": 2}, trials=8_000),
    "sum-gaussian": Asked(Sum("income"), {"epsilon": 2, "delta": "0.01"}, trials=2_000, delta=0.01),
    "sum-replaced": Asked(Sum("age"), {"epsilon": 2}, "replaced", trials=10_000),
    "mean-laplace": Asked(Mean("age"), {"epsilon": 2}, trials=5_000),
    "mean-gaussian": Asked(Mean("age"), {"rho": "1/2"}, trials=5_000, delta=0.01),
    "mean-rows": Asked(Mean("income"), {"epsilon": 2}, "rows", trials=4_500),
    "variance-laplace": Asked(Variance("income"), {"epsilon": 3}, trials=3_000),
    "histogram-laplace": Asked(Histogram("region"), {"epsilon": 1}, trials=10_000),
    "histogram-gaussian": Asked(Histogram("region"), {"rho": "1/2"}, "groups", trials=9_000, delta=0.01),
    "histogram-replaced": Asked(Histogram("region"), {"epsilon": 2}, "replaced", trials=10_000),
    "histogram-rows": Asked(Histogram("region"), {"epsilon": 2}, "rows", trials=10_000),
    "contingency": Asked(Contingency(("region", "age"), {"age": (0, 6, 10)}), {"epsilon": 2}, trials=5_500),
    "cdf": Asked(CDF("age", bins=2), {"epsilon": 2}, trials=6_500),
    "median": Asked(Median("score", where=_FEW), {"epsilon": 2}, trials=11_000),
    "median-replaced": Asked(Median("score", where=_FEW), {"epsilon": 2}, "replaced", trials=11_000),
    "quantiles": Asked(Quantiles("score", ["1/2", "3/4"]), {"epsilon": 3}, trials=6_000),
}


def answered(name: str, asked: Asked) -> Auditable:
    """A question on two neighbouring tables; it claims what its costs compose to."""
    question, tables = asked.question, neighbouring(asked.how)
    attacker = cache(lambda: Attacker.of(question, tables))

    def run(side: Side, trials: int) -> Iterable[Hashable]:
        known = attacker()
        return [known.told(noised(question, tables[side], known.results[side])) for _ in range(trials)]

    return Auditable(
        name=name,
        epsilon=compose(list(question.costs(tables[0])), delta=asked.delta).epsilon,
        delta=asked.delta,
        description=f"{question}: {_HOW[asked.how]}",
        source=f"{question.noise.source}; sampled by OpenDP",
        private=True,
        run=run,
        trials=asked.trials,
    )


@dataclass(frozen=True)
class Attacker:
    """Knows both exact results, and keeps of an answer what tells them apart."""

    question: Question
    results: Results
    units: tuple[Fraction, ...]

    @classmethod
    def of(cls, question: Question, tables: Tables) -> Attacker:
        """Asks the engine, once for each table."""
        first, second = (measured(question.statistic, table) for table in tables)
        return cls(question, (first, second), tuple(part.unit for part in question.statistic.parts(tables[0])))

    def told(self, answer: Answer) -> Hashable:
        """The feature of an answer."""
        if isinstance(self.question.statistic, Count):
            return answer.value  # type: ignore[no-any-return]
        noisy = [[int(amount / unit) for amount in part] for part, unit in zip(answer.amounts, self.units, strict=True)]
        return self.question.noise.feature(noisy, self.results, answer.scales)


ANSWERED: dict[str, Callable[[], Auditable]] = {name: partial(answered, name, asked) for name, asked in ASKED.items()}
"""By name."""
