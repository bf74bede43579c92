r"""The sparse vector technique: which questions lie above a threshold, at a price for the positive answers only.

    ⊤  if  q_i + ν_i >= T + z,   ⊥ otherwise;   closed after c answers ⊤

**Never refreshed** (LSL17).  z discrete Laplace of scale Δ/ε_1, ν_i of scale 2cΔ/ε_2, ε = ε_1 + ε_2.  Compare the
chances of a sequence of answers on neighbours, with z shifted by Δ on the second one.  There a ⊥ is no less likely, for
the threshold rises by Δ and q_i by at most Δ; a ⊤ loses at most 2Δ, so a factor e^{2Δ/(2cΔ/ε_2)} = e^{ε_2/c}, c times
at most; the shift itself costs e^{ε_1}.  All shifts are whole, so nothing changes for noise on integers.  The variance
that decides is least for ε_1 : ε_2 = 1 : (2c)^{2/3}.

If all questions grow together, as counts do when a person is added (*monotone*), a ⊤ loses only Δ: towards larger
counts the threshold's shift makes up for the rest, towards smaller ones no shift is needed.  So ν_i of scale cΔ/ε_2
will do, and ε_1 : ε_2 = 1 : c^{2/3}.

**Refreshed** (DNRRV09).  c rounds, each with its own z, of scale 2Δ/ε_r, ν_i of scale 4Δ/ε_r: c mechanisms of ε_r.

**Gaussian** (after ZW20).  z and ν_i discrete Gaussian with σ_1, σ_2, at most k questions.  Given z, shifted as above,
write p, p' for the chances of a ⊤.  Then 1-p <= 1-p', and p^α p'^{1-α} <= B = e^{α(α-1)(2Δ)²/2σ_2²}, as p and p' are
chances of one event under noise shifted by at most 2Δ (Δ if monotone).  Question by question, E'(P/P')^α is at most
Σ_{j<=c} C(k,j) B^j <= (1+kB)^c, and with the shift of z

    D_α <= αΔ²/2σ_1² + c log(1+kB)/(α-1).
"""

from __future__ import annotations

import math
from abc import abstractmethod
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from fractions import Fraction
from typing import Any, Self

from flint import arb

from optcomp.errors import HypothesisNotMet, InvalidInput, MechanismClosed
from optcomp.guarantees import PureDP, RenyiDP
from optcomp.interactive.answers import measured
from optcomp.interactive.filters import Request
from optcomp.interactive.live import Running
from optcomp.interactive.specs import Mechanism, Tally, stored, stored_whole, told_truth
from optcomp.numerics import FLOAT_BITS, Exact, Number, ball, exact, float_up, precision, whole
from optcomp.statistics import (
    Declared,
    Entries,
    Statistic,
    Table,
    checked_confidence,
    read_statistic,
    statistic_document,
)
from optcomp.statistics.noise import (
    GAUSSIAN,
    LAPLACE,
    MOST_VALUE,
    AddedNoise,
    laplace_scale,
    with_gaussian,
    with_laplace,
)

_MOST = 10**6
"""Positive answers of one mechanism; its noise would drown everything long before."""

_FAR = 2**63
"""Noisy thresholds are integers of 64 bits; nobody asks more often."""


def comparable(value: Number, argument: str, times: int = 1) -> Exact:
    """A number that noisy integers, so many times as large, can be compared with."""
    number = exact(value, argument)
    most = MOST_VALUE // times
    if not -most <= number <= most:
        raise InvalidInput(argument, value, f"must lie within {float(most):.3g} of zero")
    return number


def best_split(positives: int, *, monotone: bool) -> Fraction:
    """ε_1/ε: the share of the threshold, ε_1 : ε_2 = 1 : (2c)^{2/3}, or 1 : c^{2/3}."""
    return 1 / (1 + Fraction((positives if monotone else 2 * positives) ** (2 / 3)).limit_denominator(10**6))


class Comparing(Mechanism):
    """A mechanism that compares statistics with a noisy threshold."""

    positives: int
    sensitivity: int
    monotone: bool
    refresh: bool

    @abstractmethod
    def draw_threshold(self) -> int:
        """The threshold with its noise."""

    @abstractmethod
    def draw(self, value: int) -> int:
        """A question with its noise."""

    def start(self, table: Table) -> SparseVectorRun:
        """Begin; the caller has paid."""
        return SparseVectorRun(self, table)

    def resume(self, table: Table, state: Mapping[str, Any]) -> SparseVectorRun:
        """Go on where a run was, with the same noisy threshold."""
        return SparseVectorRun(self, table, stored(state, self, "threshold", "positives_left", "asked"))

    def form(self, table: Declared, statistic: Statistic) -> dict[str, Any]:
        """The statistic in the words of plans."""
        return {"statistic": statistic_document(statistic)}

    def told(self, answer: bool) -> bool:
        """The truth value itself."""
        return told_truth(answer)

    def read_told(self, value: object) -> bool:
        """The truth value itself."""
        return told_truth(value)

    def tally(self, answers: Sequence[bool]) -> Tally:
        """Positive answers that can still be given; without any it is closed."""
        left = self.positives - sum(answers)
        return Tally({"positives_left": left}, not left)


@dataclass(frozen=True, repr=False)
class SparseVector(Comparing):
    """Pure sparse vector: says which of any number of questions lie above a threshold, up to `positives` of them.

    Questions are counts, or sums of whole numbers, that one person changes by at most `sensitivity`.  `monotone` asks
    for less noise, and takes questions only that all grow when a person is added.  `refresh` draws a new threshold
    after each positive answer, which needs more noise: it is here to be compared with.
    """

    threshold: Exact
    epsilon: Exact
    positives: int
    sensitivity: int
    monotone: bool
    refresh: bool
    share: Fraction
    kind = "sparse vector"

    def __init__(
        self,
        threshold: Number,
        *,
        epsilon: Number,
        positives: int = 1,
        sensitivity: int = 1,
        monotone: bool = False,
        refresh: bool = False,
        share: Number | None = None,
    ) -> None:
        object.__setattr__(self, "threshold", comparable(threshold, "threshold"))
        object.__setattr__(self, "epsilon", PureDP(epsilon).epsilon)
        if not self.epsilon > 0:
            raise InvalidInput("epsilon", epsilon, "must be positive")
        object.__setattr__(self, "positives", whole(positives, "positives", 1, _MOST))
        object.__setattr__(self, "sensitivity", whole(sensitivity, "sensitivity", 1, 10**12))
        object.__setattr__(self, "monotone", bool(monotone))
        object.__setattr__(self, "refresh", bool(refresh))
        rounds = 1 if refresh else self.positives
        found = best_split(rounds, monotone=self.monotone) if share is None else Fraction(exact(share, "share"))
        if refresh and share is None:
            found = Fraction(1, 2)
        if not 0 < found < 1:
            raise InvalidInput("share", share, "must lie strictly between 0 and 1")
        object.__setattr__(self, "share", found)
        self.scales()  # refuses noise that cannot be drawn

    @classmethod
    def read(cls, entries: Entries) -> Self:
        """From a document."""
        return cls(
            entries.number("threshold"),
            epsilon=entries.number("epsilon"),
            positives=entries.take("positives", int),
            sensitivity=entries.take("sensitivity", int),
            monotone=entries.take("monotone", bool),
            refresh=entries.take("refresh", bool),
            share=entries.number("share"),
        )

    @property
    def theorem(self) -> str:
        """LSL17, or DNRRV09 where the threshold is refreshed."""
        return "DNRRV09" if self.refresh else "LSL17"

    def costs(self, table: Table | None = None) -> tuple[Request, ...]:
        """ε once; or ε/c for each of the c rounds."""
        if not self.refresh:
            return (PureDP(self.epsilon),)
        return (PureDP(Fraction(self.epsilon) / self.positives),) * self.positives

    def sum_of_costs(self, table: Table | None = None) -> PureDP:
        """ε, of which each round has its part."""
        return PureDP(self.epsilon)

    def scales(self) -> tuple[float, float]:
        """The scales of the noise of the threshold and of a question."""
        eps = Fraction(self.epsilon) / (self.positives if self.refresh else 1)
        times = (1 if self.monotone else 2) * (1 if self.refresh else self.positives)
        first = laplace_scale(self.sensitivity, eps * self.share)
        return first, laplace_scale(times * self.sensitivity, eps * (1 - self.share))

    def accuracy(self, questions: int, confidence: Number = 0.95) -> int:
        """The distance from the threshold beyond which all of so many questions are answered rightly."""
        return _distance(LAPLACE, self.scales(), questions, self.positives if self.refresh else 1, confidence)

    def draw_threshold(self) -> int:
        """The threshold with its noise."""
        return with_laplace([math.ceil(self.threshold)], self.scales()[0])[0]

    def draw(self, value: int) -> int:
        """A question with its noise."""
        return with_laplace([value], self.scales()[1])[0]

    def __str__(self) -> str:
        kind = "refreshed sparse vector" if self.refresh else "sparse vector"
        return f"{kind} at ε = {float(self.epsilon):g}, threshold {float(self.threshold):g}, {self.positives} positive"


@dataclass(frozen=True, repr=False)
class GaussianSparseVector(Comparing):
    """Sparse vector with Gaussian noise, for at most `questions` questions; its guarantee is a Rényi curve."""

    threshold: Exact
    sigma_threshold: float
    sigma_questions: float
    questions: int
    positives: int
    sensitivity: int
    monotone: bool
    refresh = False
    theorem = "ZW20"
    kind = "gaussian sparse vector"

    def __init__(
        self,
        threshold: Number,
        *,
        sigma_threshold: float,
        sigma_questions: float,
        questions: int,
        positives: int = 1,
        sensitivity: int = 1,
        monotone: bool = False,
    ) -> None:
        object.__setattr__(self, "threshold", comparable(threshold, "threshold"))
        for name, value in (("sigma_threshold", sigma_threshold), ("sigma_questions", sigma_questions)):
            sigma = float(exact(value, name))
            if not 0.01 <= sigma <= 1e12:
                raise InvalidInput(name, value, "must lie between 0.01 and 1e12")
            object.__setattr__(self, name, sigma)
        object.__setattr__(self, "questions", whole(questions, "questions", 1, 10**9))
        object.__setattr__(self, "positives", whole(positives, "positives", 1, _MOST))
        object.__setattr__(self, "sensitivity", whole(sensitivity, "sensitivity", 1, 10**9))
        object.__setattr__(self, "monotone", bool(monotone))

    @classmethod
    def read(cls, entries: Entries) -> Self:
        """From a document."""
        return cls(
            entries.number("threshold"),
            sigma_threshold=float(entries.number("sigma_threshold")),
            sigma_questions=float(entries.number("sigma_questions")),
            questions=entries.take("questions", int),
            positives=entries.take("positives", int),
            sensitivity=entries.take("sensitivity", int),
            monotone=entries.take("monotone", bool),
        )

    def divergence(self, alpha: float) -> float:
        """D_α, rounded up."""
        with precision(FLOAT_BITS):
            a, change = arb(alpha), self.sensitivity
            moved = change if self.monotone else 2 * change
            log_b = a * (a - 1) * moved**2 / (2 * ball(self.sigma_questions) ** 2)
            if log_b > 10**6:
                return math.inf
            many = log_b + (self.questions + (-log_b).exp()).log()  # log(1 + kB)
            return float_up(a * change**2 / (2 * ball(self.sigma_threshold) ** 2) + self.positives * many / (a - 1))

    @property
    def guarantee(self) -> RenyiDP:
        """The curve."""
        return RenyiDP(self.divergence)

    def costs(self, table: Table | None = None) -> tuple[Request, ...]:
        """One Rényi curve: for a RenyiFilter, or converted at a δ."""
        return (self.guarantee,)

    def tally(self, answers: Sequence[bool]) -> Tally:
        """The same; and questions that can still be asked."""
        found, questions = super().tally(answers), self.questions - len(answers)
        return Tally({**found.left, "questions_left": questions}, found.closed or not questions)

    def scales(self) -> tuple[float, float]:
        """σ of the threshold and of a question."""
        return self.sigma_threshold, self.sigma_questions

    def accuracy(self, questions: int | None = None, confidence: Number = 0.95) -> int:
        """The distance from the threshold beyond which all questions are answered rightly."""
        return _distance(GAUSSIAN, self.scales(), questions or self.questions, 1, confidence)

    def draw_threshold(self) -> int:
        """The threshold with its noise."""
        return with_gaussian([math.ceil(self.threshold)], self.sigma_threshold)[0]

    def draw(self, value: int) -> int:
        """A question with its noise."""
        return with_gaussian([value], self.sigma_questions)[0]

    def __str__(self) -> str:
        return f"Gaussian sparse vector, threshold {float(self.threshold):g}, {self.positives} positive"


class SparseVectorRun(Running[Comparing]):
    """A sparse vector at work; safe from any thread."""

    TOLD = ("positives_left", "asked")

    def __init__(self, spec: Comparing, table: Table, state: Mapping[str, Any] | None = None) -> None:
        super().__init__(spec, table)
        if state is None:
            self._threshold = spec.draw_threshold()
            self._positives_left, self._asked = spec.positives, 0
        else:
            self._go_on(state)

    def _go_on(self, state: Mapping[str, Any]) -> None:
        most = self.spec.questions if isinstance(self.spec, GaussianSparseVector) else _FAR
        self._threshold = stored_whole(state, "threshold", -_FAR, _FAR)
        self._positives_left = stored_whole(state, "positives_left", 0, self.spec.positives)
        self._asked = stored_whole(state, "asked", self.spec.positives - self._positives_left, most)

    def state(self) -> dict[str, Any]:
        """The noisy threshold and what was counted."""
        with self._lock:
            counted = {"positives_left": self._positives_left, "asked": self._asked}
            return {"mechanism": self.spec.document(), "threshold": self._threshold, **counted}

    @property
    def positives_left(self) -> int:
        """How many positive answers it can still give."""
        self._lock.check()
        return self._positives_left

    @property
    def asked(self) -> int:
        """How many questions were answered."""
        self._lock.check()
        return self._asked

    def ask(self, statistic: Statistic) -> bool:
        """Whether the statistic lies above the threshold, about."""
        check_scalar(statistic, self.table, self.spec.sensitivity, monotone=self.spec.monotone)
        with self._lock:
            self._check_open()
            ((value,),) = measured(statistic, self.table)
            return self._above(value)

    def ask_form(self, form: object) -> bool:
        """Whether the statistic of this form lies above the threshold, about."""
        entries = Entries(form, "form")
        statistic = read_statistic(entries.take("statistic", Mapping))
        entries.done()
        return self.ask(statistic)

    def above(self, value: int) -> bool:
        """The same for an integer that is known already and changes by at most the sensitivity: for mechanisms."""
        with self._lock:
            self._check_open()
            return self._above(value)

    def _above(self, value: int) -> bool:
        self._asked += 1
        if self.spec.draw(value) < self._threshold:
            return False
        self._positives_left -= 1
        if self.spec.refresh and self._positives_left:
            self._threshold = self.spec.draw_threshold()
        return True

    def _check_open(self) -> None:
        if not self.positives_left:
            raise MechanismClosed(self.spec, f"{self.spec}: all positive answers are given; open another one")
        if isinstance(self.spec, GaussianSparseVector) and self.asked >= self.spec.questions:
            raise MechanismClosed(self.spec, f"{self.spec}: all {self.spec.questions} questions are asked")


def check_scalar(statistic: Statistic, table: Table, sensitivity: int, *, monotone: bool) -> None:
    """Refuses what is not one whole number of this sensitivity; looks at no data."""
    if not isinstance(statistic, Statistic) or not statistic.compares():
        raise InvalidInput(
            "statistic", statistic, "must be a Count, People, or a Sum of whole numbers, of all rows at once"
        )
    (part,) = statistic.parts(table)
    if part.unit != 1:
        raise InvalidInput("statistic", statistic, "must be a sum of Integers: comparisons are made in whole numbers")
    if part.l1 > sensitivity:
        reason = f"can change by {part.l1} with one person, more than the sensitivity {sensitivity} of the mechanism"
        raise InvalidInput("statistic", statistic, reason)
    if monotone and not statistic.grows(table):
        raise HypothesisNotMet("LSL17", f"{statistic} need not grow when a person is added: it is not monotone")
    statistic.check(table)


def _distance(
    noise: AddedNoise, scales: tuple[float, float], questions: int, thresholds: int, confidence: Number
) -> int:
    each = min(math.sqrt(checked_confidence(confidence)) * (1 + 1e-15), 1 - 1e-16)
    count = whole(questions, "questions", 1, 10**12)
    return noise.reach(scales[0], each, thresholds) + noise.reach(scales[1], each, count) + 1
