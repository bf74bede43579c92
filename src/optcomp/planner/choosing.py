"""From a document to an allocation: which noise for which statistic, what is held, and splits for sums beside it.

Where the noise is left open, all such statistics are tried with Laplace and with Gaussian noise, in floats, and with
Gaussian noise but for those held; then single statistics are tried the other way round.  Only the winner is certified.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from fractions import Fraction
from functools import cached_property
from typing import Any

from optcomp.errors import InvalidInput
from optcomp.guarantees import ZCDP, ApproxDP, PureDP
from optcomp.numerics.exact import Exact
from optcomp.planner.allocate import Allocation, Found, Item, Objective, search
from optcomp.planner.budgets import Budget, PairBudget, RhoBudget, Spending
from optcomp.planner.document import Document, Wish, at
from optcomp.planner.errors import ErrorModel
from optcomp.statistics import CDF, Mean, Quantiles, Sum, Variance
from optcomp.statistics.domains import Numbers
from optcomp.statistics.statistic import Mechanism
from optcomp.theorems.fz21 import largest_rho

Choice = dict[str, Mechanism]
_MOST_TRIES = 8
_BETTER = 1 - 1e-6
_PROMISING = 0.98
_UNLIMITED = 10**6
_BELOW = 1 - 1e-9
_MANY, _FAR = 30, 1.5
"""Among so many statistics, what was so many times worse before an edit is not tried again."""


class Choosing:
    """One document, with the budget for the data at hand and perhaps what a plan for nearly the same one chose."""

    def __init__(
        self,
        document: Document,
        inside: ApproxDP | ZCDP,
        start: Mapping[str, tuple[Mechanism, float]] | None = None,
        before: Choosing | None = None,
    ) -> None:
        self.document, self.inside, self.start = document, inside, dict(start or {})
        self.wishes = document.wishes
        self.reserve = None
        if document.reserve and isinstance(inside, ApproxDP):
            self.reserve = PureDP(Fraction(inside.epsilon) * document.reserve)
        self.extra = () if self.reserve is None else (self.reserve,)
        self._known: dict[tuple[Wish, Mechanism], Item] = {}
        if before is not None and _about(before.document) == _about(document):
            same = set(document.wishes)
            self._known.update({key: item for key, item in before._known.items() if key[0] in same})
        self._values: dict[str, float] = {} if before is None else dict(before._values)
        """What the ways to choose noise came to, now or when they were last tried."""

    @property
    def wanted(self) -> bool:
        """Whether all errors are given and the least budget is asked for."""
        return self.document.objective == "wanted"

    def budget(self, method: str = "auto") -> Budget:
        """What all statistics may cost together."""
        if isinstance(self.inside, ZCDP):
            return RhoBudget(Fraction(self.inside.rho) * (1 - self.document.reserve))
        limit: Exact = _UNLIMITED if self.wanted else self.inside.epsilon
        return PairBudget(limit, self.inside.delta, method if self.inside.delta else "basic")

    def best(self) -> Allocation:
        """The best allocation that was found, certified."""
        refused: InvalidInput | None = None
        for start in self._starts():
            found = start
            for _ in range(2):
                better = self._one_by_one(found)
                if better is found:
                    break
                found = better
            try:
                return found.sure()
            except InvalidInput as error:  # noise that cannot be drawn
                refused = refused or error
        assert refused is not None
        raise refused

    def _starts(self) -> list[Found]:
        """The ways to choose noise, the best first; what cannot be held in one way may be in another."""
        refused: InvalidInput | None = None
        found: list[Found] = []
        for name, choice in self._choices().items():
            try:
                found.append(self._searched(self.items(choice)))
            except InvalidInput as error:
                refused = refused or error
            else:
                self._values[name] = found[-1].value
        if not found:
            assert refused is not None
            raise refused
        return sorted(found, key=lambda each: each.value)

    def _one_by_one(self, found: Found) -> Found:
        """Statistics that are alike, the other way round, while that is better."""
        amounts, tries = self._amounts(found), 0
        for group in self._open_groups(found, amounts):
            if tries >= _MOST_TRIES:
                break
            turned = {place: self._other(place, found) for place in group}
            if not any(self._promising(found, place, amounts[place], other) for place, other in turned.items()):
                continue
            tries += 1
            items = [turned.get(place, item) for place, item in enumerate(found.search.items)]
            try:
                other = self._searched(items, {item.name: amounts[place] for place, item in enumerate(items)})
            except InvalidInput:
                continue
            if other.value < _BETTER * found.value:
                found, amounts = other, self._amounts(other)
        return found

    def _promising(self, found: Found, place: int, amount: float, other: Item) -> bool:
        """Whether the error with the other noise is smaller at the same amount, or a hold takes a smaller amount.

        In small plans amounts of different noise are not to be compared: holds may be cheaper either way.
        """
        if other.held is not None:
            return len(self.wishes) < _MANY or Spending(other.model, other.held).amount < _PROMISING * amount
        return other.smooth(amount) < _PROMISING * found.search.items[place].smooth(amount)

    def _open_groups(self, found: Found, amounts: list[float]) -> list[list[int]]:
        """Where statistics are whose noise is open, those alike together, the most expensive first."""
        if isinstance(self.inside, ApproxDP) and not self.inside.delta:
            return []
        groups: dict[Any, list[int]] = {}
        for place, (wish, item) in enumerate(zip(self.wishes, found.search.items, strict=True)):
            open_noise = wish.mechanism == "auto" and wish.epsilon is None and wish.rho is None and not wish.hold
            if open_noise and len(wish.statistic.mechanisms) > 1:
                groups.setdefault((item.model.likeness, item.weight, item.size, item.held), []).append(place)
        return sorted(groups.values(), key=lambda places: -max(amounts[place] for place in places))

    def _amounts(self, found: Found) -> list[float]:
        """Of all statistics, in their order."""
        return [each.amount for each in found.search.spendings(found.amounts)]

    def _other(self, place: int, found: Found) -> Item:
        gaussian = found.search.items[place].model.mechanism == "gaussian"
        return self._item(self.wishes[place], "laplace" if gaussian else "gaussian")

    def _searched(self, items: list[Item], start: Mapping[str, float] | None = None) -> Found:
        """In floats; statistics that stay as they are get what they would get if nothing were held."""
        if any(wish.hold for wish in self.wishes):
            items = [
                replace(item, held=self._alone[item.name][1]) if wish.hold else item
                for wish, item in zip(self.wishes, items, strict=True)
            ]
        if self.wanted:
            missing = [item.name for item in items if item.held is None]
            if missing:
                raise InvalidInput("objective", "wanted", f"needs an error for each of {', '.join(missing)}")
        near = start or {name: amount for name, (_, amount) in self.start.items()}
        objective: Objective = "scale" if self.wanted else self.document.objective
        return search(items, self.budget(), objective, self.extra, near)

    @cached_property
    def _alone(self) -> dict[str, tuple[Mechanism, Fraction]]:
        """The noise and budget of every statistic if none had to stay as it is."""
        document = replace(
            self.document,
            wishes=tuple(replace(wish, hold=False) for wish in self.wishes),
            objective="squares" if self.wanted else self.document.objective,
        )
        found = Choosing(document, self.inside, before=self).best()
        pairs = zip(found.items, found.spendings, strict=True)
        return {item.name: (item.model.mechanism, spending.budget) for item, spending in pairs}

    def _choices(self) -> dict[str, Choice]:
        """The noise of all statistics: as asked for, and in several ways where it is left open."""
        if isinstance(self.inside, ApproxDP) and not self.inside.delta:
            return {"laplace": self._choice("laplace", "laplace")}
        ways: dict[str, tuple[Mechanism, Mechanism]] = {
            "laplace": ("laplace", "laplace"),
            "gaussian": ("gaussian", "gaussian"),
            "held laplace": ("laplace", "gaussian"),
        }
        found: dict[str, Choice] = {}
        for name, (held, free) in ways.items():
            choice = self._choice(held, free)
            if choice not in found.values():
                found[name] = choice
        return {name: choice for name, choice in found.items() if not self._hopeless(name)}

    def _choice(self, held: Mechanism, free: Mechanism) -> Choice:
        possible = isinstance(self.inside, ZCDP) or self.inside.delta > 0
        chosen: Choice = {}
        for wish in self.wishes:
            liked = free if wish.error is None else held
            if wish.mechanism != "auto" or wish.rho is not None:
                chosen[wish.name] = _as_asked(wish, possible)
            elif wish.hold:
                chosen[wish.name] = self._alone[wish.name][0]
            else:
                fits = liked in wish.statistic.mechanisms and wish.epsilon is None
                chosen[wish.name] = liked if fits else wish.statistic.mechanisms[0]
        return chosen

    def _hopeless(self, name: str) -> bool:
        """Whether this way was far from the best before, and the plan is so large that an edit is a small change."""
        values = self._values
        return len(self.wishes) >= _MANY and name in values and values[name] > _FAR * min(values.values())

    def items(self, choice: Choice) -> list[Item]:
        """All statistics, with this noise."""
        return [self._item(wish, choice[wish.name]) for wish in self.wishes]

    def _item(self, wish: Wish, mechanism: Mechanism) -> Item:
        if (wish, mechanism) not in self._known:
            self._known[wish, mechanism] = item_of(self.document, wish, mechanism)
        return self._known[wish, mechanism]

    def naive(self) -> dict[str, float]:
        """Errors if ε were added up, with Laplace noise and choices; nothing if that is not to be had."""
        if not isinstance(self.inside, ApproxDP) or self.wanted or any(wish.rho is not None for wish in self.wishes):
            return {}
        choice: Choice = {
            wish.name: "laplace" if "laplace" in wish.statistic.mechanisms else wish.statistic.mechanisms[0]
            for wish in self.wishes
        }
        return self._compared(choice, self.budget("basic"))

    def by_rho(self, choice: Choice) -> dict[str, float]:
        """Errors if ρ were added up, with this noise, and their sum made an ε (CKS20); nothing without δ."""
        if not isinstance(self.inside, ApproxDP) or self.wanted or not self.inside.delta:
            return {}
        rho = largest_rho(self.inside.epsilon, self.inside.delta)
        return self._compared(choice, RhoBudget(rho)) if rho else {}

    def _compared(self, choice: Choice, budget: Budget) -> dict[str, float]:
        """Errors of another split, with the same objective and the same holds."""
        try:
            items = [self._kept(wish, self._item(wish, choice[wish.name])) for wish in self.wishes]
            found = search(items, budget, self.document.objective, self.extra)
        except InvalidInput:  # the holds alone are more than sums allow
            return {}
        spendings = found.search.spendings(_BELOW * found.amounts)
        return {item.name: each.error for item, each in zip(found.search.items, spendings, strict=True)}

    def _kept(self, wish: Wish, item: Item) -> Item:
        """With the error that it has in the plan, if it is to stay as it is."""
        if not wish.hold:
            return item
        mechanism, budget = self._alone[wish.name]
        if mechanism == item.model.mechanism:
            return replace(item, held=budget)
        return replace(item, held=item.model.budget_for(self._item(wish, mechanism).model.error(budget)))


def _about(document: Document) -> tuple[Any, ...]:
    """What errors depend on but for the statistics."""
    table = document.table
    shape = table.columns, table.person, table.contribution, table.neighbours
    return *shape, document.rows, document.known, document.confidence


def _as_asked(wish: Wish, possible: bool) -> Mechanism:
    asked: Mechanism = "gaussian" if wish.mechanism == "auto" else wish.mechanism  # held by its ρ
    place = f"statistics.{wish.name}.mechanism"
    if asked not in wish.statistic.mechanisms:
        raise InvalidInput(place, asked, f"must be one of {', '.join(wish.statistic.mechanisms)}")
    if asked == "gaussian" and not possible:
        raise InvalidInput(place, asked, "needs budget.delta, or budget.rho instead")
    return asked


def item_of(document: Document, wish: Wish, mechanism: Mechanism) -> Item:
    """A statistic with its noise, its size, and what it is held at."""
    with at("data"):
        rows, known = document.rows_of(wish), document.known_about(wish)
        model = ErrorModel(wish.statistic, document.table, mechanism, rows, document.confidence, known)
    size = wish.size or _size(wish, document)
    held = wish.epsilon if wish.rho is None else wish.rho
    if wish.error is not None:
        with at(f"statistics.{wish.name}"):
            held = model.budget_for(wish.error)
    return Item(wish.name, model, float(wish.weight), size, held)


def _size(wish: Wish, document: Document) -> float:
    """What an error is relative to: rows for counts, the range for values."""
    statistic, rows = wish.statistic, float(wish.rows or document.rows or 1)
    if isinstance(statistic, CDF):
        return 1.0
    if not isinstance(statistic, Sum | Mean | Variance | Quantiles):
        return rows
    domain: Numbers = document.table.domain(statistic.column, Numbers)
    width = float(domain.high - domain.low)
    if isinstance(statistic, Sum):
        return rows * float(max(abs(domain.low), abs(domain.high)))
    return width**2 / 4 if isinstance(statistic, Variance) else width
