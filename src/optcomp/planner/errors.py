r"""How far off will an answer be?  The error of each statistic at a confidence, before anything is spent.

Errors are in units of the variable, about the noise alone, with n rows that have a value:

    count, sum      the reach of the noise, times the unit
    histogram       the joint reach over all cells
    mean            by `Mean.off`, for all means that the plan says are possible
    variance        by `Variance.off`, for all such means and variances; and (the mean's error)²
    cumulative      by `CDF.off`, for rows spread evenly over the bounds; at all edges together
    quantiles       the distance of the choice from the true quantile, for such rows

Released intervals are made by the same functions, of the noisy answers instead of what the plan says.  The first four
hold for all data with so many rows, and with such means and variances.

`smooth` is about the same without steps and limits: for optimisation, never for claims.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Hashable, Sequence
from dataclasses import dataclass, field
from fractions import Fraction
from functools import cached_property, lru_cache

import numpy as np

from optcomp.errors import InvalidInput
from optcomp.planner.known import UNKNOWN, Known
from optcomp.statistics import CDF, Declared, Integers, Mean, Part, Quantiles, Question, Statistic, Variance
from optcomp.statistics.domains import Numbers
from optcomp.statistics.joint_noise import Noises, continuous_together
from optcomp.statistics.noise import AddedNoise, Noise, added
from optcomp.statistics.scalars import FOR_SQUARE, Ends

NEEDS_ROWS = (Mean, Variance, CDF, Quantiles)
LEAST_BUDGET, MOST_BUDGET = 1e-9, 1e5
_NARROW = 1e-9


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
        if isinstance(self.statistic, NEEDS_ROWS) and self.rows is None:
            raise InvalidInput("rows", None, f"must be given: the error of {self.statistic} depends on it")

    @cached_property
    def parts(self) -> tuple[Part, ...]:
        """The vectors that get noise."""
        return self.statistic.parts(self.table)

    @cached_property
    def likeness(self) -> Hashable:
        """What the error depends on: equal for statistics whose errors are the same function of the budget."""
        sizes = tuple((p.l1, p.l2_squared, len(p.cells), p.unit, p.share) for p in self.parts)
        kind, more = type(self.statistic), tuple[Hashable, ...]()
        if isinstance(self.statistic, Mean | Variance):
            more = (self._half, self._width, self._means, self._variances)
        elif isinstance(self.statistic, CDF):
            more = self.statistic.even(self.table)
        elif isinstance(self.statistic, Quantiles):
            more = (*self.statistic.grid(self.table), self.statistic.probabilities, self._spread_on_integers)
        return kind, self.noise, self.rows, self.confidence, sizes, more

    def question(self, budget: Fraction) -> Question:
        """The statistic with this budget."""
        spent = self.noise.currency.allowance(budget)
        return Question(self.statistic, epsilon=spent.epsilon, rho=spent.rho, mechanism=self.noise)

    def error(self, budget: Fraction) -> float:
        """For the discrete noise that is really drawn."""
        return _error(_Alike(self.likeness, self), budget)

    def _error(self, budget: Fraction) -> float:
        question = self.question(budget)
        scales = [question.scale(part) for part in self.parts]
        if self.noise.chooses:
            return self._of_choice(scales)
        if isinstance(self.statistic, CDF):
            return self._of_cdf(scales[0])
        if isinstance(self.statistic, Mean | Variance):
            return min(self._of_ratio(scales), self._most)
        part = self.parts[0]
        return float(Noises(self._added, tuple(scales), self.confidence).cells(len(part.cells)) * part.unit)

    def smooth(self, budget: float) -> float:
        """About the same, without steps and without a limit."""
        times = self.noise.currency.noise_at(budget)
        if isinstance(self.statistic, Quantiles):
            return self._near_choice(times)
        if isinstance(self.statistic, CDF):
            return self._per_scale * times
        if isinstance(self.statistic, Mean | Variance):
            return self._near_ratio(times)
        scale = self._unit_scales[0] * times
        reach = self._added.smooth_reach(scale, self.confidence, len(self.parts[0].cells))
        return max(reach, 0.02 * scale) * float(self.parts[0].unit)

    def budget_for(self, wanted: float) -> Fraction:
        """The least ε (or ρ), to nine digits, at which the error is no larger."""
        if not wanted > 0:
            raise InvalidInput("error", wanted, "must be positive")
        return _least_budget(_Alike(self.likeness, self), wanted)

    @property
    def _added(self) -> AddedNoise:
        return added(self.noise)

    @cached_property
    def _unit_scales(self) -> list[float]:
        """The scale of the noise of each part at a budget of 1."""
        return [self.noise.unit_scale(part) for part in self.parts]

    @cached_property
    def _width(self) -> float:
        domain: Numbers = self.table.domain(getattr(self.statistic, "column", ""), Numbers)
        return float(domain.high - domain.low)

    @cached_property
    def _half(self) -> float:
        """The most that a value on the grid of its unit, or an answer, differs from the middle."""
        assert isinstance(self.statistic, Mean | Variance)
        return self.statistic.most(self.table)

    @cached_property
    def _means(self) -> Ends:
        """How far the mean may be from the middle."""
        domain: Numbers = self.table.domain(getattr(self.statistic, "column", ""), Numbers)
        if self.known.centre is None:
            return -self._half, self._half
        low, high = (float(end - domain.middle) for end in self.known.centre)
        return low, high

    @cached_property
    def _far(self) -> float:
        return max(map(abs, self._means))

    @cached_property
    def _variances(self) -> Ends:
        """Between which numbers the variance lies."""
        if self.known.spread is None:
            return 0.0, self._half**2
        return float(self.known.spread[0] ** 2), float(self.known.spread[1] ** 2)

    @property
    def _most(self) -> float:
        """Answers stay within the bounds."""
        return self._width if isinstance(self.statistic, Mean) else (self._width / 2) ** 2

    def _of_ratio(self, scales: Sequence[float]) -> float:
        """From the quantile of the noises together."""
        sure = self.confidence + self._no_rows(scales[0])
        if not sure < 1:
            return math.inf
        noises, rows = Noises(self._added, tuple(scales), sure), float(self.rows or 1)
        if isinstance(self.statistic, Mean):
            return self.statistic.off(self.table, noises, self._far, rows)
        assert isinstance(self.statistic, Variance)
        off = self.statistic.off(self.table, noises, self._means, self._variances, rows)
        return off + self._unbounded(noises) ** 2

    @cached_property
    def _factors(self) -> list[float]:
        """By how much the noise of each part counts at worst."""
        far, units = min(self._far, self._half), [float(part.unit) for part in self.parts]
        if isinstance(self.statistic, Mean):
            return [far, units[1]]
        low, high = self._means
        near = 0.0 if low <= 0 <= high else min(abs(low), abs(high))
        count = min(max(far**2 - self._variances[0], self._variances[1] - near**2), self._half**2)
        return [count, 2 * far * units[1], units[2]]

    def _unbounded(self, noises: Noises) -> float:
        """The error of a mean that no bounds hold back: it adds to the factor of the count's noise itself."""
        error, unit = 0.0, float(self.parts[1].unit)
        while error < self._half:
            bound = noises.together([self._far + error, unit], FOR_SQUARE) / (self.rows or 1)
            if bound <= error:
                break
            error = bound * (1 + 1e-10)
        return error

    def _no_rows(self, scale: float) -> float:
        """At least the probability that the noisy count is below 1."""
        return self._added.below_one(scale, self.rows or 0)

    @cached_property
    def _unit_reaches(self) -> tuple[float, float]:
        """What the noises of a mean, or of a variance and its mean, come to at a budget of 1 if continuous."""
        missed, scales = 1 - self.confidence, self._unit_scales
        if isinstance(self.statistic, Mean):
            return continuous_together(self._added, scales, self._factors, missed), 0.0
        factors = [self._far, float(self.parts[1].unit)]
        square = continuous_together(self._added, scales[:2], factors, FOR_SQUARE * missed)
        return continuous_together(self._added, scales, self._factors, (1 - FOR_SQUARE) * missed), square

    def _near_ratio(self, times: float) -> float:
        """About the error of a mean or variance."""
        rows, (reach, square) = self.rows or 1, self._unit_reaches
        return (reach * times + 0.5 * self._factors[0]) / rows + (square * times / rows) ** 2

    @property
    def _spread_on_integers(self) -> bool:
        assert isinstance(self.statistic, Quantiles)
        domain = self.table.domain(self.statistic.column, Numbers)
        return isinstance(domain, Integers) and self.statistic.grid(self.table)[1] == 1

    def _of_choice(self, scales: Sequence[float]) -> float:
        """The choice among candidates for evenly spread rows, exactly."""
        assert isinstance(self.statistic, Quantiles)
        _, step, count = self.statistic.grid(self.table)
        each, whole = self.confidence ** (1 / len(scales)), self._spread_on_integers
        pairs = zip(self.statistic.probabilities, scales, strict=True)
        return float(step) * max(_choice_error(p, count, whole, self.rows or 0, scale, each) for p, scale in pairs)

    @cached_property
    def _ranks(self) -> float:
        """By how many candidates the worst choice is off at a budget of 1, if there were no gaps."""
        assert isinstance(self.statistic, Quantiles)
        each = self.confidence ** (1 / len(self.parts))
        pairs = zip(self.statistic.probabilities, self._unit_scales, strict=True)
        ranks = max(scale / p.denominator for p, scale in pairs) * -math.log1p(-each)
        return ranks * self.statistic.grid(self.table)[2] / (self.rows or 1)

    def _near_choice(self, times: float) -> float:
        """About: ranks fall off exponentially on both sides; candidates are half a step off anyway."""
        assert isinstance(self.statistic, Quantiles)
        off = (self._ranks * times) ** 4 + 0.0625
        return float(float(self.statistic.grid(self.table)[1]) * off**0.25)

    @cached_property
    def _per_scale(self) -> float:
        """About the error of a cumulative distribution at a budget of 1, if it were in proportion to the noise."""
        typical = max((self.rows or 1) / len(self.parts[0].cells) / 20, 1e-3)
        return self._of_cdf(typical) * self._unit_scales[0] / typical

    def _of_cdf(self, scale: float) -> float:
        """For rows spread evenly, at all edges."""
        assert isinstance(self.statistic, CDF)
        rows, even = self.rows or 0, self.statistic.even(self.table)
        sure = self.confidence + self._added.none_left(scale, len(even), rows)
        if not sure < 1:
            return 1.0
        return self.statistic.off(self.table, Noises(self._added, (scale,), sure), even, rows)

    def at_worst(self, budget: Fraction) -> float:
        """The error of a cumulative distribution wherever the values lie."""
        scale, rows, inner = self.question(budget).scale(self.parts[0]), self.rows or 0, len(self.parts[0].cells) - 2
        sure = self.confidence + self._added.none_left(scale, inner + 1, rows)
        noises = Noises(self._added, (scale,), sure)
        return min(noises.band([0.0] * inner, [1.0] * inner) / rows, 1.0) if sure < 1 else 1.0


def short_up(value: float) -> Fraction:
    """Twelve digits, rounded up: what people can read, and the same on all machines."""
    digits = max(11 - math.floor(math.log10(value)), 0)
    return Fraction(math.ceil(Fraction(value) * 10**digits), 10**digits)


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
        more = ": raise `candidates`" if isinstance(model.statistic, Quantiles) else ""
        raise InvalidInput("error", wanted, f"cannot be reached by any budget for {model.statistic}{more}")
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


@lru_cache(maxsize=4096)
def _choice_error(probability: Fraction, count: int, whole: bool, rows: int, scale: float, confidence: float) -> float:
    """How many candidates away the true quantile is; rows lie evenly on whole numbers, or from first to last."""
    place = np.arange(count, dtype=np.float64)
    covered = (place + 1) / count if whole else np.minimum((place + 0.5) / (count - 1), 1.0)
    upto = np.floor(rows * covered + 0.5)
    below, above = np.concatenate([[0.0], upto[:-1]]), rows - upto
    a, b = probability.numerator, probability.denominator
    score = -np.abs((b - a) * below - a * above)
    weight = np.exp((score - score.max()) / scale)
    true = float(np.searchsorted(upto, math.ceil(rows * probability)) if whole else probability * (count - 1))
    away = np.abs(place - true)
    order = np.argsort(away, kind="stable")
    reached = np.cumsum(weight[order]) / weight.sum()
    return float(away[order][min(int(np.searchsorted(reached, confidence)), count - 1)])
