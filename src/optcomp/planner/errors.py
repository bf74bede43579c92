r"""How far off will an answer be?  The error of each statistic at a confidence, before anything is spent.

Errors are in units of the variable, about the noise alone, with n rows that have a value:

    count, sum      the reach of the noise, times the unit
    histogram       the joint reach over all cells
    mean            by `Mean.off`, for all means that the plan says are possible
    variance        by `Variance.off`, for all such means and variances; and (the mean's error)²
    cumulative      by `CDF.off`, for rows spread evenly over the bounds; at all edges together
    quantiles       the distance of the choice from the true quantile, for such rows

What an error is, the statistic says (`optcomp.statistics.stated`); here it is a function of the budget, and the other
way round.  The first four hold for all data with so many rows, and with such means and variances.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Hashable
from dataclasses import dataclass, field
from fractions import Fraction
from functools import cached_property, lru_cache

from optcomp.errors import InvalidInput
from optcomp.statistics import UNKNOWN, Declared, Known, Part, Question, Setting, StatedError, Statistic
from optcomp.statistics.noise import Noise

LEAST_BUDGET, MOST_BUDGET = 1e-9, 1e5
"""Where the budget for an error is looked for."""
_NARROW = 1e-9
"""Of the logarithm of a budget: it is told to nine digits."""


@dataclass(frozen=True)
class ErrorModel:
    """The error of one statistic as a function of what is spent on it: ε, or ρ for Gaussian noise."""

    statistic: Statistic
    table: Declared
    noise: Noise
    rows: int | None
    """Those that have a value, where there may be others."""
    confidence: float
    known: Known = UNKNOWN

    def __post_init__(self) -> None:
        if self.statistic.needs_rows and self.rows is None:
            raise InvalidInput("rows", None, f"must be given: the error of {self.statistic} depends on it")

    @cached_property
    def parts(self) -> tuple[Part, ...]:
        """The vectors that get noise."""
        return self.statistic.parts(self.table)

    @cached_property
    def stated(self) -> StatedError:
        """The error as a function of scales."""
        setting = Setting(self.table, self.noise, self.rows, self.confidence, self.known)
        return self.statistic.stated(setting)

    @cached_property
    def likeness(self) -> Hashable:
        """What the error depends on: equal for statistics whose errors are the same function of the budget."""
        sizes = tuple((p.l1, p.l2_squared, len(p.cells), p.unit, p.share, p.leak) for p in self.parts)
        about = type(self.statistic), self.noise, self.rows, self.confidence, sizes, self.stated.likeness
        return _Hashed(about, hash(about))

    def question(self, budget: Fraction) -> Question:
        """The statistic with this budget."""
        spent = self.noise.currency.allowance(budget)
        return Question(self.statistic, epsilon=spent.epsilon, rho=spent.rho, mechanism=self.noise)

    def error(self, budget: Fraction) -> float:
        """For the discrete noise that is really drawn."""
        return _error(_Alike(self.likeness, self), budget)

    def _error(self, budget: Fraction) -> float:
        return self.stated.error(self.scales(budget))

    def scales(self, budget: Fraction) -> tuple[float, ...]:
        """Of the noise of its parts at this budget, as they are drawn."""
        found = self._known.get(budget)
        if found is None:
            question = self.question(budget)
            found = tuple(question.scale(part) for part in self.parts)
            self._known.clear()
            self._known[budget] = found
        return found

    @cached_property
    def _known(self) -> dict[Fraction, tuple[float, ...]]:
        """The scales at the budget that was asked about last: it is usually asked about again."""
        return {}

    def smooth(self, budget: float) -> float:
        """About the same, without steps and without a limit."""
        return self.stated.smooth(self.noise.currency.noise_at(budget))

    def otherwise(self, budget: Fraction) -> tuple[str, float] | None:
        """When the error would be another at the same budget, for people, and which."""
        return self.stated.otherwise(self.scales(budget))

    def budget_for(self, wanted: float) -> Fraction:
        """The least ε (or ρ), to nine digits, at which the error is no larger."""
        if not wanted > 0:
            raise InvalidInput("error", wanted, "must be positive")
        return _least_budget(_Alike(self.likeness, self), wanted)


def short_up(value: float) -> Fraction:
    """Twelve digits, rounded up: what people can read, and the same on all machines."""
    digits = max(11 - math.floor(math.log10(value)), 0)
    return Fraction(math.ceil(Fraction(value) * 10**digits), 10**digits)


@dataclass(frozen=True)
class _Hashed:
    """A long key whose hash is computed once: it has many exact numbers, and is looked up often."""

    key: Hashable
    hashed: int = field(compare=False)

    def __hash__(self) -> int:
        return self.hashed


@dataclass(frozen=True)
class _Alike:
    """A model that is equal to all that are like it, so that what was computed for one need not be for another."""

    likeness: Hashable
    model: ErrorModel = field(compare=False)


@lru_cache(maxsize=16384)
def _error(alike: _Alike, budget: Fraction) -> float:
    return alike.model._error(budget)


@lru_cache(maxsize=4096)
def _least_budget(alike: _Alike, wanted: float) -> Fraction:
    """From where errors without steps would have it."""
    model = alike.model

    def over(log: float) -> float:
        """How far the error is above the wanted one: the logarithm of their ratio."""
        try:
            error = model.error(short_up(math.exp(log)))
        except InvalidInput:  # noise too large to be sampled
            return math.inf
        return math.log(error / wanted) if error > 0 else -math.inf

    least, most = math.log(LEAST_BUDGET), math.log(MOST_BUDGET)
    if over(most) > 0:
        problem = f"cannot be reached by any budget for {model.statistic}{model.stated.hint}"
        raise InvalidInput("error", wanted, problem)
    low, high = least, most
    while high - low > 0.5:
        middle = (low + high) / 2
        low, high = (low, middle) if model.smooth(math.exp(middle)) <= wanted else (middle, high)
    step = 0.5
    while over(high) > 0:
        low, high, step = high, min(high + step, most), 2 * step
    while low > least and over(low) <= 0:
        low, high, step = max(low - step, least), low, 2 * step
    return short_up(math.exp(_crossing(over, low, high)))


def _crossing(over: Callable[[float], float], low: float, high: float) -> float:
    """Where a falling function, perhaps in steps, is first seen to be no more than 0.

    On both sides of where a straight line would be; in the middle if that does not help.
    """
    at_low, at_high = over(low), over(high)
    while high - low > _NARROW:
        width, falls = high - low, at_low - at_high
        line = low + width * at_low / falls if 0 < falls < math.inf else high
        aside = max(0.1 * width**2, _NARROW / 3)
        for guess in (line - aside, line + aside, None):
            if guess is None and high - low < width / 2:
                break
            place = (low + high) / 2 if guess is None else guess
            if low < place < high:
                value = over(place)
                low, at_low, high, at_high = (place, value, high, at_high) if value > 0 else (low, at_low, place, value)
    return high
