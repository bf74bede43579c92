r"""Splitting a budget over statistics, under optimal composition.

    scale     the free statistics get amounts in proportion to their weights, on one common scale
    squares   Σ w_i (e_i/s_i)² is least, s_i the size of statistic i
    worst     max w_i e_i/s_i is least: all w_i e_i/s_i are equal, but for errors that hardly fall any more
    wanted    every statistic has its error; the least total is looked for

An *amount* x_i is ε, or √(2ρ) for Gaussian noise; e_i is the error without steps.  With T the total, the least squares
have ∂Σw_i(e_i/s_i)²/∂log x_i = -λ ∂log T/∂log x_i, which Newton's method solves with gradient and curvature of T from
the engine.  Statistics that are alike have one amount.  The search is in floats; its result is within the limit by the
certified upper side of the total; with Laplace noise it is never worse than the best split under basic composition.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from fractions import Fraction
from statistics import median
from typing import Any

import numpy as np

from optcomp.errors import InvalidInput, Written
from optcomp.guarantees import PureDP
from optcomp.numerics import Floats
from optcomp.planner.budgets import Budget, Load, Near, PairBudget, Spending
from optcomp.planner.errors import ErrorModel
from optcomp.planner.objective import Objective

_BLURS = (1e-4, 1e-6, 1e-8)
"""Corners of the total are rounded off by so much, less and less."""
_FEW = 24
"""Up to so many different coins the excess has corners that matter; beyond, the first blur will do."""
_STEPS, _STILL, _CLOSE, _ROUGHLY = 40, 3e-6, 1e-9, 0.1
"""Newton's method: its most steps, a step that ends it, how near the limit is near enough at last, and at first."""
_APART = 0.01
"""How far apart, in logarithms, errors are taken for their slopes: several steps of most noise."""
_TIGHT, _ROOM = 1.5e-7, 1e-9
"""How near the limit a certified total is near enough: a little more than its width; and what is left for rounding."""
_MUCH = 0.95
"""A split that is better than that for sums by this factor need not be compared with it in whole steps."""
_MOST, _FLAT = 100.0, 0.1
"""No amount is more than so many times the limit; and an error that falls with a smaller power hardly falls."""


@dataclass(frozen=True, repr=False)
class Item(Written):
    """A statistic in a plan: how its error depends on its budget, what it is worth, and whether it is held."""

    name: str
    model: ErrorModel
    weight: float = 1.0
    size: float = 1.0
    held: Fraction | None = None

    def spending(self, amount: float) -> Spending:
        """With an amount of ε, or of √(2ρ); rounded down to nine digits."""
        return Spending(self.model, short_down(self.model.noise.currency.budget_at(amount)))

    def smooth(self, amount: float) -> float:
        """The error over its size, without steps."""
        return self.model.smooth(self.model.noise.currency.budget_at(amount)) / self.size


@dataclass(frozen=True)
class Allocation:
    """A split of the budget that is within the limit by the certified total."""

    items: tuple[Item, ...]
    spendings: tuple[Spending, ...]
    total: float
    """The upper side of the total, extras included."""

    def errors(self) -> tuple[float, ...]:
        """The error of each statistic, exactly."""
        return tuple(each.error for each in self.spendings)

    def squares(self) -> float:
        """Σ w_i (e_i/s_i)², without steps."""
        pairs = zip(self.items, self.spendings, strict=True)
        return sum(item.weight * item.smooth(each.amount) ** 2 for item, each in pairs)

    def worst(self) -> float:
        """max w_i e_i/s_i, without steps."""
        pairs = zip(self.items, self.spendings, strict=True)
        return max(item.weight * item.smooth(each.amount) for item, each in pairs)

    @property
    def amounts(self) -> dict[str, float]:
        """What every statistic got, by name: a start for the next search."""
        return {item.name: each.amount for item, each in zip(self.items, self.spendings, strict=True)}


def allocate(
    items: Sequence[Item],
    budget: Budget,
    objective: Objective = "scale",
    extra: Sequence[PureDP] = (),
    start: Mapping[str, float] | None = None,
) -> Allocation:
    """The best split for an objective; `start` tells amounts that may be near it."""
    return search(items, budget, objective, extra, start).sure()


def search(
    items: Sequence[Item],
    budget: Budget,
    objective: Objective = "scale",
    extra: Sequence[PureDP] = (),
    start: Mapping[str, float] | None = None,
) -> Found:
    """The best split in floats, for comparing before anything is certified."""
    if not items:
        raise InvalidInput("statistics", list(items), "must name at least one statistic")
    return _Search(tuple(items), budget, tuple(extra), start or {}).run(objective)


@dataclass(frozen=True, eq=False)
class Found:
    """What a search in floats has found."""

    search: _Search
    objective: Objective
    amounts: Floats
    """Of the groups that are free."""
    grows: float
    """How the logarithm of the total grows with that of all amounts."""
    value: float
    """What was to be made small; for wanted errors, the total."""

    def sure(self) -> Allocation:
        """On the scale that just fits by the certified total; or the best split for sums, if that is no worse."""
        found = self.search.sure(self.amounts, self.grows)
        return self.search.not_worse_than_sums(found, self.value, self.objective)


class _Search:
    def __init__(
        self, items: tuple[Item, ...], budget: Budget, extra: tuple[PureDP, ...], start: Mapping[str, float]
    ) -> None:
        self.items, self.budget, self.extra, self.start = items, budget, extra, start
        groups: dict[Any, list[int]] = {}
        for i, item in enumerate(items):
            if item.held is None:
                groups.setdefault((item.model.likeness, item.weight, item.size), []).append(i)
        self.groups = list(groups.values())
        self.heads = [items[group[0]] for group in self.groups]
        self.weights = np.array([item.weight for item in self.heads])
        self.held = [Spending(item.model, item.held) for item in items if item.held is not None]
        load = [(item.model, len(group)) for item, group in zip(self.heads, self.groups, strict=True)]
        self.load = Load(load, self.held, extra)
        self.limit = float(budget.limit)

    def run(self, objective: Objective) -> Found:
        """From the start or from a common scale, with less and less blur."""
        if isinstance(self.budget, PairBudget) and self.budget.sums and not self.load.pure:
            raise InvalidInput("delta", float(self.budget.delta), "must be positive for Gaussian noise, which has no ε")
        least = self.budget.total(self.held, self.extra) if self.held or self.extra else 0.0
        if not least <= self.budget.limit or (self.groups and not least < self.budget.limit):
            raise self._too_much(least)
        if not self.groups:
            return Found(self, objective, np.zeros(0), 1.0, least)
        amounts, few = self._first(), self.load.pure and self.load.terms.all_copies.size <= _FEW
        for blur in _BLURS if few else _BLURS[:1]:
            if objective == "worst":
                amounts, near = self._worst(amounts, blur)
            elif objective == "squares":
                amounts, near = self._squares(amounts, blur)
            else:
                amounts, near = self.fitted(amounts, blur)
        return Found(self, objective, amounts, float(near.slopes @ amounts), self._value(np.log(amounts), objective))

    def _too_much(self, least: float) -> InvalidInput:
        """Holds, and a reserve, that leave nothing."""
        names = [item.name for item in self.items if item.held is not None]
        kept = " that is partly kept" if self.extra else ""
        held = f"are held at {least:.6g} in all, of a budget of {self.limit:g}{kept}"
        return InvalidInput("statistics", names, f"{held}: allow larger errors, or free some")

    def _value(self, logs: Floats, objective: Objective) -> float:
        """What was to be made small; of the worst, only errors that more budget would make smaller."""
        errors, powers, _ = self._local(logs)
        if objective != "worst":
            return float(self._shares(errors).sum())
        weighted = self.weights * np.exp(errors)
        moving = powers > 1.1 * _FLAT
        return float(weighted[moving].max()) if moving.any() else float(weighted.max())

    def _first(self) -> Floats:
        """What the statistics had before, those that are new like the others; or amounts in proportion to weights."""
        known = {i: self.start[item.name] for i, item in enumerate(self.heads) if item.name in self.start}
        if not known:
            return self.weights * (self.limit / float(self.weights @ self.load.terms.copies))
        usual = median(amount / float(self.weights[i]) for i, amount in known.items())
        return np.array([known.get(i, usual * weight) for i, weight in enumerate(self.weights.tolist())])

    def fitted(
        self, amounts: Floats, blur: float, close: float = _CLOSE, *, second: bool = False
    ) -> tuple[Floats, Near]:
        """The same shape on the scale that fits, about: Newton's method in its logarithm, within a bracket."""
        low, high, scale = -math.inf, math.inf, 0.0
        for _ in range(60):
            here = amounts * math.exp(scale)
            near = self.budget.near(self.load, here, blur, second=second)
            if abs(near.gap) < close:
                break
            low, high = (scale, high) if near.gap < 0 else (low, scale)
            grows = max(float(near.slopes @ here), 1e-3)
            moved = scale + min(max(-near.gap / grows, -3.0), 3.0)
            scale = moved if low < moved < high else 0.5 * (low + high)
            if high - low < 1e-13:
                break
        return here, near

    def _errors(self, logs: Floats) -> Floats:
        """The logarithms of the relative errors at logarithms of amounts."""
        pairs = zip(self.heads, logs.tolist(), strict=True)
        return np.array([math.log(max(item.smooth(math.exp(x)), 1e-300)) for item, x in pairs])

    def _shares(self, log_errors: Floats) -> Floats:
        """What each group adds to the sum of squares."""
        return np.asarray(self.load.terms.copies * self.weights * np.exp(2 * log_errors))

    def _local(self, logs: Floats) -> tuple[Floats, Floats, Floats]:
        """Logarithms of errors, the powers with which they fall, and how these change."""
        below, here, above = (self._errors(logs + step) for step in (-_APART, 0.0, _APART))
        return here, (below - above) / (2 * _APART), (above - 2 * here + below) / _APART**2

    def _squares(self, amounts: Floats, blur: float) -> tuple[Floats, Near]:
        """Newton's method on the condition and the limit; the best split seen."""
        amounts, near = self.fitted(amounts, blur, _ROUGHLY, second=True)
        logs, before, step = np.log(amounts), np.log(amounts), np.zeros(amounts.size)
        merit, off = math.inf, 0.0
        for _ in range(_STEPS):
            errors, powers, bends = self._local(logs)
            shares = self._shares(errors)
            worth = 2 * float(powers @ shares / shares.sum()) / max(float(near.slopes @ np.exp(logs)), 1e-300)
            now = math.log(float(shares.sum())) + worth * near.gap  # as if on the limit, to first order
            if now < merit + 10 * (near.gap**2 + off**2) + 1e-12:
                merit, off, before = now, near.gap, logs
                step = self._newton(near, logs, shares, powers, bends)
            else:
                step = 0.25 * step
            logs = before + step
            if float(np.abs(step).max()) < _STILL:
                break
            near = self.budget.near(self.load, np.exp(logs), blur, second=True)
        return self.fitted(np.exp(logs), blur)

    def _newton(self, near: Near, logs: Floats, shares: Floats, powers: Floats, bends: Floats) -> Floats:
        """A step in the logarithms of amounts, at most 1 in each."""
        assert near.curves is not None
        x = np.exp(logs)
        slopes = near.slopes * x
        fall = -2 * powers * shares
        price = -float(fall.sum()) / max(float(slopes.sum()), 1e-300)
        inner = np.maximum(4 * powers**2 + 2 * bends, 0.1) * shares
        if near.curves.ndim == 1:  # what is of low rank bends along the slopes, which the limit forbids
            bent = np.maximum(inner + price * (near.curves * x**2 + slopes), 0.1 * inner)
            toward = float(slopes @ (slopes / bent))
            found = (slopes * ((-near.gap + float(slopes @ (fall / bent))) / toward) - fall) / bent
        else:
            found = self._solved(
                inner, price * (near.curves * np.outer(x, x) + np.diag(slopes)), slopes, fall, near.gap
            )
        return np.asarray(found / max(float(np.abs(found).max()), 1.0))

    def _solved(self, inner: Floats, outer: Floats, slopes: Floats, fall: Floats, gap: float) -> Floats:
        """The step, with more curvature where there is too little for a minimum."""
        curved, firm = np.diag(inner) + outer, np.outer(slopes, slopes) * (inner.sum() / float(slopes @ slopes))
        for ridge in (0.0, 0.1, 1.0, 10.0, 100.0):
            try:
                np.linalg.cholesky(curved + ridge * np.diag(inner) + 10 * firm)
            except np.linalg.LinAlgError:
                continue
            break
        whole = np.zeros((slopes.size + 1, slopes.size + 1))
        whole[:-1, :-1] = curved + ridge * np.diag(inner)
        whole[:-1, -1] = whole[-1, :-1] = slopes
        return np.linalg.solve(whole, np.append(-fall, -gap))[:-1]

    def _worst(self, amounts: Floats, blur: float) -> tuple[Floats, Near]:
        """Amounts at which all weighted errors are equal: Newton's method in the logarithm of that error."""
        logs = np.log(self.fitted(amounts, blur, _ROUGHLY)[0])
        level = float((self._errors(logs) + np.log(self.weights)).max())
        low, high = -math.inf, math.inf
        for _ in range(60):
            logs = self._reaching(level, logs)
            near = self.budget.near(self.load, np.exp(logs), blur)
            if abs(near.gap) < _CLOSE:
                break
            low, high = (level, high) if near.gap > 0 else (low, level)
            powers = self._local(logs)[1]
            moving = powers > 1.1 * _FLAT
            if near.gap < 0 and not moving.any():
                break  # more budget would make nothing better
            grows = float((near.slopes * np.exp(logs) / np.where(moving, powers, math.inf)).sum())
            moved = level + min(max(near.gap / max(grows, 1e-3), -3.0), 3.0)
            level = moved if low < moved < high else 0.5 * (low + high)
            if high - low < 1e-13:
                break
        return self.fitted(np.exp(logs), blur)

    def _reaching(self, level: float, logs: Floats) -> Floats:
        """Logarithms of amounts with this weighted error."""
        return np.array(
            [
                _inverted(item, level - math.log(item.weight), x, math.log(_MOST * max(self.limit, self.limit**0.5)))
                for item, x in zip(self.heads, logs.tolist(), strict=True)
            ]
        )

    def spendings(self, amounts: Floats) -> list[Spending]:
        """Of all statistics."""
        found = [Spending(item.model, item.held or Fraction(0)) for item in self.items]
        for group, item, amount in zip(self.groups, self.heads, amounts.tolist(), strict=True):
            budget = item.spending(amount).budget
            for i in group:
                found[i] = Spending(self.items[i].model, budget)
        return found

    def made(self, amounts: Floats) -> Allocation:
        """The split with these amounts, and its certified total."""
        spendings = tuple(self.spendings(amounts))
        for group in self.groups:
            _check_drawn(self.items[group[0]].name, spendings[group[0]])
        return Allocation(self.items, spendings, self.budget.total(spendings, self.extra))

    def sure(self, amounts: Floats, grows: float) -> Allocation:
        """On the scale on which the certified total, of the noise as it is drawn, just fits."""
        if not self.groups:
            return self.made(amounts)
        best: Allocation | None = None
        low, high, scale = -math.inf, math.inf, 0.0
        for turn in range(40):
            made = self.made(math.exp(scale) * amounts)
            off = math.log(made.total / self.limit) if 0 < made.total < math.inf else math.copysign(1.0, made.total - 1)
            if made.total <= self.budget.limit:
                best, low = made, max(low, scale)
            else:
                high = min(high, scale)
            if (best is made and off > -_TIGHT) or high - low < _ROOM:
                break
            moved = scale - (off + _ROOM * (1 + turn)) / max(grows, 0.1)
            scale = moved if low < moved < high else 0.5 * (low + high) if low > -math.inf else scale - 0.1
        if best is None:
            raise InvalidInput("statistics", len(self.items), "leave no split within the budget")
        return best

    def not_worse_than_sums(self, found: Allocation, value: float, objective: Objective) -> Allocation:
        """Where sums are nearly as good, errors in whole steps may be better for the split that is best for sums."""
        if not self.groups or objective == "scale" or not self.load.pure or not isinstance(self.budget, PairBudget):
            return found
        sums = replace(self.budget, method="basic")
        if self.budget.sums or not sums.total(self.held, self.extra) < self.limit:
            return found
        plain = _Search(self.items, sums, self.extra, found.amounts).run(objective)
        if value < _MUCH * plain.value:
            return found
        other = self.made((1 - _ROOM) * plain.amounts)
        fits = other.total <= self.budget.limit
        return other if fits and _exactly(other, objective) < _exactly(found, objective) else found


def _exactly(allocation: Allocation, objective: Objective) -> float:
    pairs = zip(allocation.items, allocation.spendings, strict=True)
    terms = [(item.weight, each.error / item.size) for item, each in pairs]
    return sum(w * e * e for w, e in terms) if objective == "squares" else max(w * e for w, e in terms)


def _check_drawn(name: str, spending: Spending) -> None:
    """Refuses noise that cannot be drawn."""
    try:
        spending.scales  # noqa: B018
    except InvalidInput:
        problem = "is a budget for which no noise can be drawn: change its weight, or hold it"
        raise InvalidInput(f"statistics.{name}", f"{float(spending.budget):.3g}", problem) from None


def _inverted(item: Item, target: float, x: float, most: float) -> float:
    """The logarithm of the amount at which the logarithm of the error is this, from a guess.

    No more than the most, nor than where the error hardly falls any more.
    """
    low, high = math.log(item.model.noise.currency.least_amount), most
    x = min(max(x, low), high)
    for _ in range(60):
        here, ahead = (math.log(max(item.smooth(math.exp(place)), 1e-300)) for place in (x, x + 1e-4))
        power = (here - ahead) / 1e-4
        flat = power < _FLAT
        low, high = (x, high) if here > target and not flat else (low, x)
        if (abs(here - target) < 1e-10 and not flat) or high - low < (1e-13 if not flat else 1e-6):
            break
        moved = x + min(max((here - target) / max(power, 0.2), -3.0), 3.0)
        x = moved if low < moved < high else 0.5 * (low + high)
    return x


def short_down(value: float) -> Fraction:
    """Nine digits, rounded down: people can read them, and they are the same on all machines."""
    digits = 8 - math.floor(math.log10(value))
    scale = Fraction(10) ** digits
    return math.floor(Fraction(value) * scale) / scale
