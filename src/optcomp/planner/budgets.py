"""What a split of the budget costs in all, and how the total moves with each part.

A split gives every statistic its ε, or its ρ for Gaussian noise.  What that counts as the noise says: Laplace noise and
choices count by their ε, Gaussian noise by its own loss.

An *amount* is ε, or √(2ρ) for Gaussian noise.
"""

from __future__ import annotations

import math
from abc import ABC, abstractmethod
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass, replace
from fractions import Fraction
from functools import cached_property
from typing import Any, cast

import numpy as np

from optcomp.composition import compose
from optcomp.errors import InvalidInput, PrecisionNotReached, Written
from optcomp.guarantees import ApproxDP, PureDP
from optcomp.numerics import FLOAT_BITS, Exact, Floats, ball, float_up, precision
from optcomp.numerics.contour import MOST_DENSE, Terms, optimum
from optcomp.planner.errors import ErrorModel
from optcomp.statistics import leaks_of
from optcomp.statistics.noise import Counted, Worth, log_of
from optcomp.theorems import Bound

RTOL = 1e-7
"""The relative width of a certified total: below what a plan promises, and ten times quicker than the default."""
_MOST_OWN = 40
"""Up to so many different losses of discrete noise are composed one by one: a millisecond or two for each."""
_MANY = 24
"""From so many different ε on a bracket is found faster than the exact answer."""


@dataclass(frozen=True, repr=False)
class Spending(Written):
    """What one statistic spends: its model and its budget."""

    model: ErrorModel
    budget: Fraction

    @property
    def pure(self) -> bool:
        """Whether the budget is an ε."""
        return self.model.noise.currency.pure

    @cached_property
    def error(self) -> float:
        """The error of the statistic."""
        return self.model.error(self.budget)

    @cached_property
    def amount(self) -> float:
        """ε, or √(2ρ) for Gaussian noise."""
        return self.model.noise.currency.amount(self.budget)

    @cached_property
    def scales(self) -> tuple[float, ...]:
        """Of the noise of its parts, as they will be drawn."""
        return self.model.scales(self.budget)

    @property
    def leak(self) -> Fraction:
        """The δ of parts that may tell what no noise is on."""
        return sum((part.leak for part in self.model.parts), Fraction(0))

    @property
    def own(self) -> list[tuple[float, int]]:
        """The scales and changes of its parts that may count by the loss of the noise itself."""
        return [] if self.pure else self.model.noise.own(self.model.parts, self.scales)

    def guarantees(self, delta: Exact, *, own: bool = True) -> list[Counted]:
        """What its parts, as they will be drawn, count as in a total at δ; `own`: small scales by their own loss."""
        if (delta, own) not in self._counted:
            scales = () if self.pure else self.scales
            found = self.model.noise.guarantees(self.model.parts, scales, self.budget, delta, own=own)
            found += leaks_of(self.model.parts)
            self._counted[delta, own] = found
        return self._counted[delta, own]

    @cached_property
    def _counted(self) -> dict[tuple[Exact, bool], list[Counted]]:
        """The guarantees by what was asked: one plan asks for its total, its lower side and its risk."""
        return {}


class Load:
    """All that costs something: groups of statistics with a common amount, what is held, and what is kept for later."""

    def __init__(
        self,
        groups: Sequence[tuple[ErrorModel, int]],
        held: Sequence[Spending] = (),
        extra: Sequence[PureDP] = (),
    ) -> None:
        self.groups, self.held, self.extra = tuple(groups), tuple(held), tuple(extra)
        self._at: dict[Exact, Terms] = {}
        coins: list[tuple[int, float]] = []
        noise: list[tuple[int, float]] = []
        fixed, variance = [float(value.epsilon) for value in extra], 0.0
        for place, (model, _) in enumerate(groups):
            if model.noise.currency.pure:
                coins += [(place, float(part.share)) for part in model.parts]
            else:
                noise.append((place, 1.0))
        for spending in held:
            if spending.pure:
                fixed += [spending.amount * float(part.share) for part in spending.model.parts]
            else:
                variance += spending.amount**2
        self.terms = Terms(
            np.array([float(copies) for _, copies in groups]),
            np.array([place for place, _ in coins], dtype=np.intp),
            np.array([rate for _, rate in coins], dtype=np.float64),
            np.array([place for place, _ in noise], dtype=np.intp),
            np.array([rate for _, rate in noise], dtype=np.float64),
            np.array(fixed, dtype=np.float64),
            variance,
        )

    def at(self, delta: Exact) -> Terms:
        """The terms for a total at δ: what is held counts as continuous noise too."""
        if delta not in self._at:
            squares = (_worth(held.model, held.amount, delta).root ** 2 for held in self.held if not held.pure)
            self._at[delta] = replace(self.terms, fixed_variance=sum(squares))
        return self._at[delta]

    def worth(self, amounts: Floats, delta: Exact) -> tuple[Floats, Floats, Floats, float]:
        """What amounts are worth as continuous noise, √Σμ² of the parts; coins themselves.

        With two derivatives, and the share of δ that leaks.
        """
        found, first, second = amounts.copy(), np.ones(amounts.size), np.zeros(amounts.size)
        leaks = math.fsum(_worth(held.model, held.amount, delta).leak for held in self.held if not held.pure)
        leaks += float(Fraction(self.leak) / Fraction(delta)) if self.leak else 0.0
        for place in self.terms.noise_of.tolist():
            model, copies = self.groups[place]
            each = _worth(model, float(amounts[place]), delta)
            found[place], first[place], second[place] = each.root, each.slope, each.bend
            leaks += copies * each.leak
        return found, first, second, leaks

    @cached_property
    def leak(self) -> float:
        """The δ of parts that may tell what no noise is on."""
        copies = [(model, count) for model, count in self.groups] + [(each.model, 1) for each in self.held]
        return math.fsum(count * float(part.leak) for model, count in copies for part in model.parts)

    @property
    def pure(self) -> bool:
        """Whether there is no Gaussian noise."""
        return not self.terms.noise_of.size and not self.terms.fixed_variance


def _worth(model: ErrorModel, amount: float, delta: Exact) -> Worth:
    return model.noise.worth(model.parts, amount, delta)


@dataclass(frozen=True, eq=False)
class Near:
    """About log(total/limit) at some amounts, and its derivatives."""

    gap: float
    slopes: Floats
    curves: Floats | None
    """A matrix; for many amounts only a diagonal, without what is of low rank."""


class Budget(Written, ABC):
    """What may be spent in all."""

    @property
    @abstractmethod
    def limit(self) -> Exact:
        """What the total may come to."""

    @abstractmethod
    def total(self, spendings: Sequence[Spending], extra: Sequence[PureDP] = ()) -> float:
        """The upper side of the total, in the currency of the budget, for the noise as it will be drawn."""

    @abstractmethod
    def near(self, load: Load, amounts: Floats, blur: float, *, second: bool = False) -> Near:
        """About how far beyond the budget: for searching, never for claims."""


@dataclass(frozen=True, repr=False)
class PairBudget(Budget):
    """(ε, δ), under optimal composition or another theorem for comparison."""

    epsilon: Exact
    delta: Exact
    method: str = "auto"

    @property
    def limit(self) -> Exact:
        """ε."""
        return self.epsilon

    @property
    def sums(self) -> bool:
        """Whether ε simply adds up."""
        return self.method == "basic" or not self.delta

    def bound(self, spendings: Sequence[Spending], extra: Sequence[PureDP] = (), total: float | None = None) -> Bound:
        """The certified total; its upper side is no larger than `total`, so that what fits by one fits by both.

        Who knows the `total` of the same spendings already may tell it.
        """
        found = self._composed(self.counted(spendings, extra))
        known = self.total(spendings, extra) if total is None else total
        return replace(found, upper=min(found.upper, known))

    def total(self, spendings: Sequence[Spending], extra: Sequence[PureDP] = ()) -> float:
        """The upper side of the optimal ε; every ε_i rounded up to a float, which is quicker to compose."""
        counted: Counter[Any] = Counter()
        for value, copies in self.counted(spendings, extra).items():
            counted[PureDP(_up(Fraction(value.epsilon))) if isinstance(value, PureDP) else value] += copies
        return self._composed(counted).upper

    def counted(self, spendings: Sequence[Spending], extra: Sequence[PureDP] = ()) -> Counter[Any]:
        """The guarantees that the total is about, with how many there are of each."""
        alike: dict[Any, list[Spending]] = {}
        for each in spendings:
            alike.setdefault((each.model.likeness, each.budget), []).append(each)
        own = len({pair for group in alike.values() for pair in group[0].own}) <= _MOST_OWN
        counted: Counter[Any] = Counter(extra)
        for group in alike.values():
            for value in group[0].guarantees(self.delta, own=own):
                counted[value] += len(group)
        return counted

    def _composed(self, counted: Counter[Any]) -> Bound:
        pure = all(
            isinstance(value, PureDP) or (isinstance(value, ApproxDP) and not value.epsilon) for value in counted
        )
        if self.method != "auto":
            if not pure:
                raise InvalidInput("method", self.method, "compares plans of Laplace noise only")
            return compose(counted, delta=self.delta, method=self.method)
        method = "certified" if pure and len(counted) >= _MANY and self.delta else "auto"
        try:
            return compose(counted, delta=self.delta, method=method, rtol=RTOL)
        except PrecisionNotReached as wide:
            return cast(Bound, wide.bound)

    def near(self, load: Load, amounts: Floats, blur: float, *, second: bool = False) -> Near:
        """By the engine's integrals; noise that counts by its ρ is taken for Gaussian noise of that ρ."""
        terms, limit = load.terms, float(self.epsilon)
        if self.sums:
            rates = terms.copies * np.bincount(terms.coin_of, terms.coin_rate, terms.size)
            total = float(rates @ amounts + terms.fixed_coins.sum())
            return _relative(total, limit, rates, _matrix(np.zeros(terms.size)) if second else None)
        worth, first, bends, leaks = load.worth(amounts, self.delta)
        log_delta = log_of(self.delta) + math.log1p(-min(leaks, 0.5))
        found = optimum(load.at(self.delta), worth, log_delta, blur, start=limit, second=second)
        curves = found.curves
        if curves is not None and curves.ndim == 2:
            curves = curves * np.outer(first, first) + np.diag(found.slopes * bends)
        elif curves is not None:
            curves = curves * first**2 + found.slopes * bends
        return _relative(found.y, limit, found.slopes * first, curves)


@dataclass(frozen=True, repr=False)
class RhoBudget(Budget):
    """ρ of zero-concentrated privacy: a sum, ε²/2 for Laplace noise and ε²/8 for choices."""

    rho: Exact

    @property
    def limit(self) -> Exact:
        """ρ."""
        return self.rho

    def total(self, spendings: Sequence[Spending], extra: Sequence[PureDP] = ()) -> float:
        """Σρ_i, rounded up."""
        own = sum((Fraction(value.epsilon) ** 2 / 2 for value in extra), Fraction(0))
        whole = sum((each.model.noise.rho(each.model.parts, each.budget) for each in spendings), own)
        with precision(FLOAT_BITS):
            return float_up(ball(whole))

    def near(self, load: Load, amounts: Floats, blur: float, *, second: bool = False) -> Near:
        """Σρ_i, in floats."""
        rates = load.terms.copies * np.array([model.noise.rho_of_square(model.parts) for model, _ in load.groups])
        fixed = self.total(load.held, load.extra)
        total = float(rates @ amounts**2) + fixed
        return _relative(total, float(self.rho), 2 * rates * amounts, _matrix(2 * rates) if second else None)


def _relative(total: float, limit: float, slopes: Floats, curves: Floats | None) -> Near:
    """The derivatives of a logarithm."""
    relative = slopes / max(total, 1e-300)
    if curves is not None:
        curves = curves / total - (np.outer(relative, relative) if curves.ndim == 2 else 0.0)
    return Near(math.log(max(total / limit, 1e-300)), relative, curves)


def _matrix(diagonal: Floats) -> Floats:
    return np.diag(diagonal) if diagonal.size <= MOST_DENSE else diagonal


def _up(value: Fraction) -> float:
    near = float(value)
    return near if Fraction(near) >= value else math.nextafter(near, math.inf)
