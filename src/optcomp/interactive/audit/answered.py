r"""Every statistic, answered with noise as a session answers it, on two neighbouring tables; nothing is simulated.

The engine is asked once for each table, `noised` once for each run; hostile tables are asked whether they fail.  The
feature is what of an answer tells the tables apart, for an attacker who knows both exact results x and x':

    Laplace        for each number, whether it is at most min(x, x'), between, or at least max(x, x'): all that the loss
                   depends on, but for what is between
    Gaussian       the length of the noisy result along x' - x, in which the loss is linear
    exponential    by how much the score of the choice differs between the tables
"""

from __future__ import annotations

from collections.abc import Callable, Hashable, Iterable
from dataclasses import dataclass
from fractions import Fraction
from functools import cache, partial

from optcomp.composition import compose
from optcomp.errors import Written
from optcomp.interactive.answers import Answer, answer, measured, noised
from optcomp.interactive.audit.auditable import Auditable, Side
from optcomp.interactive.audit.hostile import probes
from optcomp.interactive.audit.tables import Tables, neighbouring
from optcomp.statistics import AuditCase, Neighbourhood, Question, audit_cases
from optcomp.statistics.noise import Results

_HOW: dict[Neighbourhood, str] = {
    "added": "a person is added",
    "replaced": "a person is exchanged",
    "rows": "a person with two rows is added",
    "groups": "a person with a row in each of two groups is added",
}
"""For people."""


def question_of(case: AuditCase) -> Question:
    """What a session would be asked."""
    return Question(case.statistic, **case.spending)


def answered(name: str, case: AuditCase) -> Auditable:
    """A question on two neighbouring tables; it claims what its costs compose to."""
    question, tables = question_of(case), neighbouring(case.how)
    attacker = cache(lambda: Attacker.of(question, tables))

    def run(side: Side, trials: int) -> Iterable[Hashable]:
        known = attacker()
        return [known.told(noised(question, tables[side], known.results[side])) for _ in range(trials)]

    return Auditable(
        name=name,
        epsilon=compose(list(question.costs(tables[0])), delta=case.delta).epsilon,
        delta=case.delta,
        description=f"{question}: {_HOW[case.how]}",
        source=f"{question.noise.source}; sampled by OpenDP",
        private=True,
        run=run,
        trials=case.trials,
        probes=lambda: probes(case.how, lambda table: answer(question, table)),
    )


@dataclass(frozen=True, repr=False)
class Attacker(Written):
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
        own = self.question.statistic.audit_feature(answer.value)
        if own is not None:
            return own
        noisy = [[int(amount / unit) for amount in part] for part, unit in zip(answer.amounts, self.units, strict=True)]
        return self.question.noise.feature(noisy, self.results, answer.scales)


def answered_statistics() -> dict[str, Callable[[], Auditable]]:
    """All cases of all statistics, by name."""
    return {name: partial(answered, name, case) for name, case in audit_cases().items()}
