"""Mechanisms that choose or tell: randomized response, the exponential mechanism, name-and-shame, sparse vector."""

from __future__ import annotations

from dataclasses import dataclass
from fractions import Fraction

from flint import arb

from optcomp.errors import InvalidGuarantee, Written
from optcomp.guarantees.approximate import checked_delta, mechanism_epsilon
from optcomp.guarantees.known_loss import KnownLoss, kept
from optcomp.guarantees.loss import PrivacyLoss
from optcomp.guarantees.notions import RenyiBounded
from optcomp.numerics import Exact, Number, ball, whole
from optcomp.numerics.laws import AtomicLaw, Atoms, Law

_MOST_ANSWERS = 10**9  # more answers than there is anything to choose among


@dataclass(frozen=True, slots=True, repr=False)
class RandomizedResponse(KnownLoss):
    """Randomized response among n answers: the true one is e^ε times as likely as each other one.

    With two answers its loss is ±ε, the worst of all ε-differentially private mechanisms.
    """

    epsilon: Exact
    answers: int

    def __init__(self, eps: Number, answers: int = 2) -> None:
        object.__setattr__(self, "epsilon", mechanism_epsilon(eps, "eps"))
        object.__setattr__(self, "answers", whole(answers, "answers", 2, _MOST_ANSWERS))
        if not self.epsilon:
            raise InvalidGuarantee("eps", eps, "must be positive")

    @property
    def pure(self) -> Exact:
        """ε."""
        return self.epsilon

    @property
    def laws(self) -> tuple[Law, ...]:
        """Symmetric: one law, of two or three values."""
        return (kept(response, self.epsilon, self.answers),)


def response(eps: Exact, answers: int) -> AtomicLaw:
    """ε with the true answer, -ε with the other data set's, 0 with any third one."""

    def atoms() -> Atoms:
        e = ball(eps)
        whole_weight = e.exp() + (answers - 1)
        ends = [(e, e.exp() / whole_weight), (-e, 1 / whole_weight)]
        return ends if answers == 2 else [*ends, (arb(0), (answers - 2) / whole_weight)]

    return AtomicLaw(atoms)


@dataclass(frozen=True, slots=True, repr=False)
class Exponential(RenyiBounded):
    """The exponential mechanism: an ε-bounded-range choice, such as report-noisy-max with exponential noise.

    Scores of sensitivity Δ are weighted by e^{ε·score/(2Δ)}.  It is ε-differentially private and, because its loss
    ranges over an interval of length ε only, ε²/8-zCDP (CR21): better than randomized response in composition.
    """

    epsilon: Exact

    def __init__(self, epsilon: Number) -> None:
        object.__setattr__(self, "epsilon", mechanism_epsilon(epsilon))

    @property
    def pure(self) -> Exact:
        """ε."""
        return self.epsilon

    @property
    def rho(self) -> Exact:
        """ε²/8."""
        return Fraction(self.epsilon) ** 2 / 8

    @property
    def response(self) -> Exact:
        """Randomized response with ε/2: its loss ranges over an interval of length ε."""
        return Fraction(self.epsilon) / 2

    def renyi(self, alpha: float) -> arb:
        """ε²α/8 (CR21), and never more than ε."""
        return (ball(self.rho) * arb(alpha)).min(ball(self.epsilon))


@dataclass(frozen=True, slots=True, repr=False)
class NameAndShame(Written):
    """Publishes a person's record with probability δ, else nothing: (0, δ)-differentially private and no better."""

    delta: Exact

    def __init__(self, delta: Number) -> None:
        object.__setattr__(self, "delta", checked_delta(delta))

    @property
    def epsilon(self) -> Exact:
        """Always 0."""
        return 0.0

    @property
    def loss(self) -> PrivacyLoss:
        """Infinite with probability δ, otherwise 0."""
        return PrivacyLoss((kept(nothing),), self.delta)


def nothing() -> AtomicLaw:
    """A loss of 0."""
    return AtomicLaw(lambda: [(arb(0), arb(1))])


@dataclass(frozen=True, slots=True, repr=False)
class SparseVectorDP(Written):
    """The sparse vector technique, threshold never refreshed: ε_threshold + ε_queries in all, however many questions.

    Laplace noise of scale Δ/ε_threshold on the threshold and 2cΔ/ε_queries on each question, c positive answers.
    """

    threshold_epsilon: Exact
    queries_epsilon: Exact

    def __init__(self, threshold_epsilon: Number, queries_epsilon: Number) -> None:
        object.__setattr__(self, "threshold_epsilon", mechanism_epsilon(threshold_epsilon, "threshold_epsilon"))
        object.__setattr__(self, "queries_epsilon", mechanism_epsilon(queries_epsilon, "queries_epsilon"))

    @property
    def epsilon(self) -> Exact:
        """The sum of the two."""
        return Fraction(self.threshold_epsilon) + Fraction(self.queries_epsilon)

    @property
    def delta(self) -> Exact:
        """Always 0."""
        return 0.0
