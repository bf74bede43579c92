"""A kind of noise: what it costs, how large it is, how far it reaches, how it is drawn, and what proves it.

Everybody else asks the object and never its name.  A new kind is one class, and `register` makes its name known to
plans.  `AddedNoise` is noise that is added to numbers; a kind that is not chooses one of them.
"""

from __future__ import annotations

import math
from abc import ABC, abstractmethod
from collections.abc import Callable, Hashable, Sequence
from fractions import Fraction
from functools import lru_cache
from typing import Any, NamedTuple

import numpy as np
from flint import arb

from optcomp.errors import InvalidInput
from optcomp.guarantees import ZCDP, ApproxDP, DiscreteGaussian, Gaussian, PureDP
from optcomp.numerics import FLOAT_BITS, Exact, Floats, Number, ball, precision
from optcomp.statistics.noise.currency import EPSILON, RHO, Allowance, AnswerCost, Currency
from optcomp.statistics.noise.drawing import drawn
from optcomp.statistics.part import IntegerVector, Part

Counted = PureDP | ApproxDP | DiscreteGaussian | Gaussian | ZCDP
"""A guarantee by which a part counts in the total of a plan."""
Results = tuple[tuple[IntegerVector, ...], tuple[IntegerVector, ...]]
"""The exact integers of all parts, on each of two neighbouring tables."""
LEAST_RHO = Fraction(1, 10**12)
"""The least ρ that a guarantee may have."""


class Worth(NamedTuple):
    """√Σμ² of a statistic's parts with its derivatives in the amount, and what leaks, over δ."""

    root: float
    slope: float
    bend: float
    leak: float


class Noise(ABC):
    """A kind of noise; it holds nothing, and two of one class are equal."""

    __slots__ = ()
    name: str
    """The word for it in plans and releases."""
    title: str
    """What a failure to draw it is said to be about."""
    theorem: str
    """What proves the guarantee of an answer."""
    source: str
    """Where it comes from."""
    currency: Currency
    """What it is paid in."""
    chooses: bool = False
    """Whether a part becomes the place of one of its integers, and not all of them with noise."""

    @abstractmethod
    def suits(self, *, delta: Number | None, rho: Number | None) -> bool:
        """Whether a question with these, that names no noise, means this one."""

    @abstractmethod
    def check(self, *, epsilon: Number | None, delta: Number | None, rho: Number | None) -> None:
        """Refuse what this noise cannot be paid with."""

    @abstractmethod
    def costs(self, parts: Sequence[Part], allowance: Allowance) -> tuple[AnswerCost, ...]:
        """What an answer costs: guarantees that are spent together."""

    @abstractmethod
    def scale(self, part: Part, allowance: Allowance) -> float:
        """The scale of the noise of a part, in its units, rounded up."""

    @abstractmethod
    def unit_scale(self, part: Part) -> float:
        """About the same at a budget of 1."""

    @abstractmethod
    def guarantees(
        self, parts: Sequence[Part], scales: Sequence[float], budget: Fraction, delta: Exact, *, own: bool = True
    ) -> list[Counted]:
        """What parts with these scales count as in a total at δ; `own`: by the loss of the noise itself, if known."""

    def own(self, parts: Sequence[Part], scales: Sequence[float]) -> list[tuple[float, int]]:
        """Scales and changes of the parts that may count by the loss of the noise itself."""
        return []

    @abstractmethod
    def worth(self, parts: Sequence[Part], amount: float, delta: Exact) -> Worth:
        """What an amount is worth beside others, in floats: for searching, never for claims."""

    @abstractmethod
    def rho(self, parts: Sequence[Part], budget: Fraction) -> Fraction:
        """The ρ of all parts at a budget."""

    @abstractmethod
    def rho_of_square(self, parts: Sequence[Part]) -> float:
        """The same at an amount of 1: ρ grows with the square of the amount."""

    @abstractmethod
    def measurement(self, dp: Any, integers: Any, scale: float) -> Callable[[list[int]], Any]:
        """The sampler, by OpenDP: from exact integers to what is told."""

    def draw(self, values: Sequence[int], scale: float) -> list[int]:
        """What is told of the integers of a part."""
        return list(drawn(self.title, self.measurement, scale, values))

    def tell(self, values: Sequence[int], scale: float, cells: int) -> list[int]:
        """What is told of a part that has so many cells, a number for each."""
        return self.draw(values, scale)

    @abstractmethod
    def feature(self, noisy: Sequence[Sequence[int]], results: Results, scales: Sequence[float]) -> Hashable:
        """What of noisy integers tells two exact results apart, for an attacker who knows both."""

    def __eq__(self, other: object) -> bool:
        return type(self) is type(other)

    def __hash__(self) -> int:
        return hash(type(self))

    def __repr__(self) -> str:
        return f"{type(self).__name__}()"

    def __str__(self) -> str:
        return self.name


class PaidInEpsilon(Noise):
    """Noise whose loss is bounded by ε, shared among the parts."""

    __slots__ = ()
    currency = EPSILON
    rho_of_one = Fraction(1, 2)
    """The ρ of an ε of 1; it grows with ε²."""

    def suits(self, *, delta: Number | None, rho: Number | None) -> bool:
        """Where there is ε alone."""
        return delta is None and rho is None

    def check(self, *, epsilon: Number | None, delta: Number | None, rho: Number | None) -> None:
        """There must be ε, and no δ."""
        if epsilon is None:
            raise InvalidInput("mechanism", self.name, "needs epsilon")
        self._no_delta(delta)

    def _no_delta(self, delta: Number | None) -> None:
        if delta is not None:
            raise InvalidInput("delta", delta, f"belongs to Gaussian noise, not to {self.name}")

    def costs(self, parts: Sequence[Part], allowance: Allowance) -> tuple[AnswerCost, ...]:
        """Its share of ε for each part."""
        return tuple(PureDP(allowance.whole_epsilon * part.share) for part in parts)

    def guarantees(
        self, parts: Sequence[Part], scales: Sequence[float], budget: Fraction, delta: Exact, *, own: bool = True
    ) -> list[Counted]:
        """Its share of ε for each part."""
        return [PureDP(budget * part.share) for part in parts]

    def worth(self, parts: Sequence[Part], amount: float, delta: Exact) -> Worth:
        """ε itself."""
        return Worth(amount, 1.0, 0.0, 0.0)

    def rho(self, parts: Sequence[Part], budget: Fraction) -> Fraction:
        """Of each part as of its ε."""
        return self._rho_rate(parts) * budget**2

    def rho_of_square(self, parts: Sequence[Part]) -> float:
        """The same at an ε of 1."""
        return float(self._rho_rate(parts))

    def _rho_rate(self, parts: Sequence[Part]) -> Fraction:
        return sum((part.share**2 * self.rho_of_one for part in parts), Fraction(0))


class PaidInRho(Noise):
    """Noise whose loss has no bound, and is concentrated: ρ, shared among the parts."""

    __slots__ = ()
    currency = RHO

    def suits(self, *, delta: Number | None, rho: Number | None) -> bool:
        """Where there is ρ, or δ."""
        return delta is not None or rho is not None

    def check(self, *, epsilon: Number | None, delta: Number | None, rho: Number | None) -> None:
        """There must be ρ, or ε and δ."""
        if rho is None and delta is None:
            raise InvalidInput("mechanism", self.name, "needs rho, or epsilon and delta")

    def costs(self, parts: Sequence[Part], allowance: Allowance) -> tuple[AnswerCost, ...]:
        """ρ, or (ε, δ), for all parts together."""
        if allowance.rho is not None:
            return (ZCDP(allowance.rho),)
        return (ApproxDP(allowance.epsilon or 0, allowance.delta or 0),)

    def guarantees(
        self, parts: Sequence[Part], scales: Sequence[float], budget: Fraction, delta: Exact, *, own: bool = True
    ) -> list[Counted]:
        """Its share of ρ for each part."""
        return [ZCDP(max(budget * part.share, LEAST_RHO)) for part in parts]

    def worth(self, parts: Sequence[Part], amount: float, delta: Exact) -> Worth:
        """That of continuous Gaussian noise of the same ρ."""
        return Worth(amount, 1.0, 0.0, 0.0)

    def rho(self, parts: Sequence[Part], budget: Fraction) -> Fraction:
        """The budget itself."""
        return budget

    def rho_of_square(self, parts: Sequence[Part]) -> float:
        """Of √(2ρ) = 1."""
        return 0.5


class AddedNoise(Noise):
    """Noise that is added to numbers: symmetric, on whole numbers, and less likely the larger it is."""

    __slots__ = ()
    step: float
    """By how much it may reach farther than continuous noise with the scale of `widened`, in sums."""

    @abstractmethod
    def tail(self, scale: float, t: int) -> arb:
        """P(|noise| > t) for a whole t >= 0, from above."""

    @abstractmethod
    def smooth_reach(self, scale: float, confidence: float, values: int = 1) -> float:
        """About the same as `reach` without rounding to whole steps: for optimisation, never for claims."""

    @abstractmethod
    def widened(self, scale: float) -> float:
        """The scale of continuous noise that is less peaked but for a step (see `joint_noise`)."""

    @abstractmethod
    def continuous_reach(self, scales: Sequence[float], missed: float) -> float:
        """What the sum of continuous noises of these scales exceeds in size with this probability."""

    @abstractmethod
    def unit_draws(self, rng: np.random.Generator, draws: int, bins: int) -> Floats:
        """Continuous noise of scale 1 to simulate with, several numbers for each if `simulated` needs them."""

    @abstractmethod
    def simulated(self, scale: float, unit: Floats) -> Floats:
        """Noise on whole numbers, no narrower than what is drawn, from draws of scale 1: never for releases."""

    @abstractmethod
    def none_left(self, scale: float, cells: int, rows: float) -> float:
        """At least the probability that the noise of so many cells takes so many rows away."""

    @abstractmethod
    def below_one(self, scale: float, rows: int) -> float:
        """At least the probability that a noisy count of so many rows is below 1."""

    def reach(self, scale: float, confidence: float, values: int = 1) -> int:
        """The least t such that all of so many values stay within ±t with this confidence."""
        return _reach(self, scale, confidence, values)

    def feature(self, noisy: Sequence[Sequence[int]], results: Results, scales: Sequence[float]) -> Hashable:
        """-1, 0 or 1: not above the smaller exact result, between, not below the larger one.

        For each number in which the results differ; for the others together, of which an attacker may hope that their
        noise is the same.  It is all that the loss of Laplace noise depends on, but for what is between.
        """
        places, rest = [], 0
        for part, first, second in zip(noisy, *results, strict=True):
            for value, x, y in zip(part, first, second, strict=True):
                if x == y:
                    rest += value - x
                else:
                    places.append(-1 if value <= min(x, y) else int(value >= max(x, y)))
        return *places, (rest > 0) - (rest < 0)


def added(noise: Noise) -> AddedNoise:
    """The noise, which must be added to numbers: of a choice no interval follows."""
    if not isinstance(noise, AddedNoise):
        raise InvalidInput("mechanism", noise.name, "is a choice, which has no reach")
    return noise


@lru_cache(maxsize=4096)
def _reach(noise: AddedNoise, scale: float, confidence: float, values: int) -> int:
    with precision(FLOAT_BITS):
        missed = -((ball(confidence).log() / values).expm1())  # for each value by itself
        guess = max(round(noise.smooth_reach(scale, confidence, values)), 0)
        return _least(lambda t: bool(noise.tail(scale, t) <= missed), guess)


def _least(enough: Callable[[int], bool], guess: int) -> int:
    """The least t >= 0 for which a monotone condition holds, from a guess."""
    low, high, step = guess - 1, guess, 1
    while not enough(high):
        low, high, step = high, high + step, 2 * step
    while low >= 0 and enough(low):
        low, high, step = max(low - step, -1), low, 2 * step
    while high - low > 1:
        middle = (low + high) // 2
        low, high = (low, middle) if enough(middle) else (middle, high)
    return high


@lru_cache(maxsize=1024)
def missed_each(confidence: float, values: int) -> float:
    """How often each of so many values may be missed if all of them are to have this confidence."""
    return -math.expm1(math.log(confidence) / values)
