r"""Guess and check: is my guess off by more than a tolerance?  Only then is the question answered, with noise.

A sparse vector checks |q_i - guess_i| >= τ, and a second mechanism, run concurrently, answers the questions whose guess
fails, each with discrete Laplace noise.  The whole is ε_check together with c answers of ε_answer: by Lyu22-1 their
optimal composition.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from fractions import Fraction
from typing import Any, Self

from optcomp.composition import compose
from optcomp.errors import InvalidInput, MechanismClosed
from optcomp.guarantees import ApproxDP, PureDP
from optcomp.interactive.answers import measured
from optcomp.interactive.filters import Request
from optcomp.interactive.live import Running
from optcomp.interactive.sparse_vector import SparseVector, SparseVectorRun, check_scalar, comparable
from optcomp.interactive.specs import Mechanism, Tally, stored, told_entries, told_truth
from optcomp.numerics import Exact, Number, exact, whole
from optcomp.statistics import (
    Declared,
    Entries,
    Statistic,
    Table,
    checked_confidence,
    kind_of,
    read_statistic,
    statistic_document,
)
from optcomp.statistics.noise import LAPLACE, laplace_scale, with_laplace
from optcomp.theorems import Bound


@dataclass(frozen=True)
class Checked:
    """An answer: the guess itself if it passed the check, else a noisy value."""

    value: float
    corrected: bool


@dataclass(frozen=True, repr=False)
class GuessAndCheck(Mechanism):
    """Checks guesses against the data and corrects up to `corrections` of them.

    `check_share` of ε goes to checking, the rest to the corrected answers in equal parts.  With a `delta` the whole is
    paid as one mechanism at its optimal composition (Lyu22-1), without it as the sum of its parts.
    """

    tolerance: Exact
    epsilon: Exact
    corrections: int
    sensitivity: int
    check_share: Fraction
    delta: Exact
    theorem = "Lyu22-1"
    kind = "guess and check"

    def __init__(
        self,
        tolerance: Number,
        *,
        epsilon: Number,
        corrections: int,
        sensitivity: int = 1,
        check_share: Number = "1/2",
        delta: Number = 0,
    ) -> None:
        object.__setattr__(self, "tolerance", comparable(tolerance, "tolerance"))
        if not self.tolerance > 0:
            raise InvalidInput("tolerance", tolerance, "must be positive")
        pair = ApproxDP(epsilon, delta)
        if not pair.epsilon > 0:
            raise InvalidInput("epsilon", epsilon, "must be positive")
        object.__setattr__(self, "epsilon", pair.epsilon)
        object.__setattr__(self, "delta", pair.delta)
        object.__setattr__(self, "corrections", whole(corrections, "corrections", 1, 10**6))
        object.__setattr__(self, "sensitivity", whole(sensitivity, "sensitivity", 1, 10**12))
        share = Fraction(exact(check_share, "check_share"))
        if not 0 < share < 1:
            raise InvalidInput("check_share", check_share, "must lie strictly between 0 and 1")
        object.__setattr__(self, "check_share", share)
        self.check.scales(), self.answer_scale  # refuses noise that cannot be drawn

    @classmethod
    def read(cls, entries: Entries) -> Self:
        """From a document."""
        return cls(
            entries.number("tolerance"),
            epsilon=entries.number("epsilon"),
            corrections=entries.take("corrections", int),
            sensitivity=entries.take("sensitivity", int),
            check_share=entries.number("check_share"),
            delta=entries.number("delta"),
        )

    @property
    def parts(self) -> tuple[PureDP, ...]:
        """The guarantees of the check and of each correction; they add up to ε."""
        eps = Fraction(self.epsilon)
        each = PureDP(eps * (1 - self.check_share) / self.corrections)
        return (PureDP(eps * self.check_share), *[each] * self.corrections)

    def total(self, delta: Number) -> Bound:
        """The optimal composition of all parts at δ."""
        return compose(list(self.parts), delta=delta)

    def costs(self, table: Table | None = None) -> tuple[Request, ...]:
        """The parts; with a δ one guarantee for all of them."""
        return (self.sum_of_costs(table),) if self.delta else self.parts

    def sum_of_costs(self, table: Table | None = None) -> PureDP | ApproxDP:
        """ε, of which each part has its share; with a δ the optimal composition, if that is less."""
        if not self.delta:
            return PureDP(self.epsilon)
        return ApproxDP(min(Fraction(self.total(self.delta).epsilon), Fraction(self.epsilon)), self.delta)

    @property
    def check(self) -> SparseVector:
        """The sparse vector that compares |q - guess| with the tolerance."""
        eps = Fraction(self.epsilon) * self.check_share
        return SparseVector(self.tolerance, epsilon=eps, positives=self.corrections, sensitivity=self.sensitivity)

    @property
    def answer_scale(self) -> float:
        """The scale of the noise of a corrected answer."""
        eps = Fraction(self.epsilon) * (1 - self.check_share) / self.corrections
        return laplace_scale(self.sensitivity, eps)

    def accuracy(self, questions: int, confidence: Number = 0.95) -> int:
        """With this confidence every answer, guessed or corrected, is off by less than this."""
        each = min(checked_confidence(confidence) ** 0.5 * (1 + 1e-15), 1 - 1e-16)
        passed = int(self.tolerance) + 1 + self.check.accuracy(questions, each)
        return max(passed, LAPLACE.reach(self.answer_scale, each, self.corrections) + 1)

    def start(self, table: Table) -> GuessAndCheckRun:
        """Begin; the caller has paid."""
        return GuessAndCheckRun(self, table)

    def resume(self, table: Table, state: Mapping[str, Any]) -> GuessAndCheckRun:
        """Go on where a run was."""
        return GuessAndCheckRun(self, table, stored(state, self, "check"))

    def form(self, table: Declared, statistic: Statistic, guess: Number) -> dict[str, Any]:
        """The statistic in the words of plans, and the guess as the whole number that it is rounded to."""
        return {"statistic": statistic_document(statistic), "guess": _rounded(guess)}

    def told(self, answer: Checked) -> dict[str, Any]:
        """Its entries."""
        return {"value": answer.value, "corrected": answer.corrected}

    def read_told(self, value: object) -> Checked:
        """From its entries."""
        entries = told_entries(value, "value", "corrected")
        number = entries["value"]
        if type(number) is not int:
            raise InvalidInput("answer.value", kind_of(number), "must be a whole number")
        return Checked(number, told_truth(entries["corrected"]))

    def tally(self, answers: Sequence[Checked]) -> Tally:
        """Corrections that can still be made; without any it is closed."""
        left = self.corrections - sum(answer.corrected for answer in answers)
        return Tally({"corrections_left": left}, not left)

    def __str__(self) -> str:
        return f"guess and check at ε = {float(self.epsilon):g}, {self.corrections} corrections"


class GuessAndCheckRun(Running[GuessAndCheck]):
    """Guess and check at work; safe from any thread."""

    TOLD = ("corrections_left",)

    def __init__(self, spec: GuessAndCheck, table: Table, state: Mapping[str, Any] | None = None) -> None:
        super().__init__(spec, table)
        self._check: SparseVectorRun
        if state is None:
            self._check = spec.check.start(table)
        else:
            self._check = spec.check.resume(table, state["check"])

    def state(self) -> dict[str, Any]:
        """The state of the sparse vector that checks."""
        with self._lock:
            return {"mechanism": self.spec.document(), "check": self._check.state()}

    @property
    def corrections_left(self) -> int:
        """How many guesses can still be corrected."""
        return self._check.positives_left

    def ask(self, statistic: Statistic, guess: Number) -> Checked:
        """The guess if it is about right, else a noisy answer."""
        check_scalar(statistic, self.table, self.spec.sensitivity, monotone=False)
        about = _rounded(guess)
        with self._lock:
            self._check_open()
            ((value,),) = measured(statistic, self.table)
            return self._checked(value, about)

    def ask_form(self, form: object) -> Checked:
        """The answer to a question in its form."""
        entries = Entries(form, "form")
        statistic, guess = read_statistic(entries.take("statistic", Mapping)), entries.number("guess")
        entries.done()
        return self.ask(statistic, guess)

    def checked(self, value: int, guess: int) -> Checked:
        """The same for an integer that is known already and changes by at most the sensitivity: for mechanisms."""
        with self._lock:
            self._check_open()
            return self._checked(value, guess)

    def _checked(self, value: int, guess: int) -> Checked:
        if not self._check.above(abs(value - guess)):
            return Checked(guess, corrected=False)
        return Checked(with_laplace([value], self.spec.answer_scale)[0], corrected=True)

    def _check_open(self) -> None:
        if not self.corrections_left:
            raise MechanismClosed(self.spec, f"{self.spec}: all corrections are made; open another one")


def _rounded(guess: Number) -> int:
    """The whole number that is compared with the data."""
    return round(comparable(guess, "guess"))
