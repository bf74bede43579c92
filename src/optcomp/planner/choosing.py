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
from optcomp.numerics import Exact
from optcomp.planner.allocation import Allocation, Found, Item, search
from optcomp.planner.budgets import Budget, PairBudget, RhoBudget, Spending
from optcomp.planner.document import Document, Wish, at
from optcomp.planner.errors import ErrorModel
from optcomp.planner.objective import Objective
from optcomp.planner.warm_start import WarmStart, Way
from optcomp.statistics.noise import EPSILON, RHO, Currency, Noise
from optcomp.theorems import fz21

NoiseByName = dict[str, Noise]
"""Which noise every statistic has."""
_MOST_TRIES = 8
"""Groups that are tried the other way round in one go: each is a search."""
_BETTER = 1 - 1e-6
"""By so much a choice must be better, or it is the same but for rounding."""
_PROMISING = 0.98
"""By so much an error must be smaller at the same amount before a search is worth its time."""
_UNLIMITED = 10**6
"""An ε that no wanted error needs."""
_BELOW = 1 - 1e-9
"""So much less than the limit in floats is within it."""
_MOST_LEAK = 4
"""Thresholds may take one in so many of δ: the rest is for composition, and for the risk that is told."""
_MANY, _FAR = 30, 1.5
"""Among so many statistics, what was so many times worse before an edit is not tried again."""


class Choosing:
    """One document, with the budget for the data at hand and perhaps what a plan for nearly the same one chose."""

    def __init__(
        self,
        document: Document,
        inside: ApproxDP | ZCDP,
        start: WarmStart | None = None,
        before: Choosing | None = None,
    ) -> None:
        self.document, self.inside, self.start = document, inside, start or WarmStart()
        self.wishes = document.wishes
        self.reserve = None
        if document.reserve and isinstance(inside, ApproxDP):
            self.reserve = PureDP(Fraction(inside.epsilon) * document.reserve)
        self.extra = () if self.reserve is None else (self.reserve,)
        self._known: dict[tuple[Wish, Noise], Item] = {}
        if before is not None and _about(before.document) == _about(document):
            same = set(document.wishes)
            self._known.update({key: item for key, item in before._known.items() if key[0] in same})
        self._leak = _leaked(document, inside)
        self.values: dict[Way, float] = dict(self.start.values if before is None else before.values)
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
        for way, choice in self._choices().items():
            try:
                found.append(self._searched(self.items(choice)))
            except InvalidInput as error:
                refused = refused or error
            else:
                self.values[way] = found[-1].value
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
            open_noise = wish.noise is None and wish.epsilon is None and wish.rho is None and not wish.hold
            if open_noise and len(wish.statistic.noises()) > 1:
                groups.setdefault((item.model.likeness, item.weight, item.size, item.held), []).append(place)
        return sorted(groups.values(), key=lambda places: -max(amounts[place] for place in places))

    def _amounts(self, found: Found) -> list[float]:
        """Of all statistics, in their order."""
        return [each.amount for each in found.search.spendings(found.amounts)]

    def _other(self, place: int, found: Found) -> Item:
        """With the next noise that its statistic may have."""
        noises = self.wishes[place].statistic.noises()
        turned = noises[(noises.index(found.search.items[place].model.noise) + 1) % len(noises)]
        return self.item(self.wishes[place], turned)

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
        near = start or self.start.amounts
        objective: Objective = "scale" if self.wanted else self.document.objective
        return search(items, self.budget(), objective, self.extra, near)

    @cached_property
    def _alone(self) -> dict[str, tuple[Noise, Fraction]]:
        """The noise and budget of every statistic if none had to stay as it is."""
        document = replace(
            self.document,
            wishes=tuple(replace(wish, hold=False) for wish in self.wishes),
            objective="squares" if self.wanted else self.document.objective,
        )
        found = Choosing(document, self.inside, before=self).best()
        pairs = zip(found.items, found.spendings, strict=True)
        return {item.name: (item.model.noise, spending.budget) for item, spending in pairs}

    def _choices(self) -> dict[Way, NoiseByName]:
        """The noise of all statistics: as asked for, and in several ways where it is left open."""
        if isinstance(self.inside, ApproxDP) and not self.inside.delta:
            return {(EPSILON, EPSILON): self._choice((EPSILON, EPSILON))}
        found: dict[Way, NoiseByName] = {}
        for way in ((EPSILON, EPSILON), (RHO, RHO), (EPSILON, RHO)):
            choice = self._choice(way)
            if choice not in found.values():
                found[way] = choice
        return {way: choice for way, choice in found.items() if not self._hopeless(way)}

    def _choice(self, way: Way) -> NoiseByName:
        possible = isinstance(self.inside, ZCDP) or self.inside.delta > 0
        chosen: NoiseByName = {}
        for wish in self.wishes:
            liked = way[1] if wish.error is None else way[0]
            if wish.noise is not None or wish.rho is not None:
                chosen[wish.name] = _as_asked(wish, possible)
            elif wish.hold:
                chosen[wish.name] = self._alone[wish.name][0]
            else:
                chosen[wish.name] = _paid_in(EPSILON if wish.epsilon is not None else liked, wish)
        return chosen

    def _hopeless(self, way: Way) -> bool:
        """Whether this way was far from the best before, and the plan is so large that an edit is a small change."""
        values = self.values
        return len(self.wishes) >= _MANY and way in values and values[way] > _FAR * min(values.values())

    def items(self, choice: NoiseByName) -> list[Item]:
        """All statistics, with this noise."""
        return [self.item(wish, choice[wish.name]) for wish in self.wishes]

    def item(self, wish: Wish, noise: Noise) -> Item:
        """A statistic with this noise, made once."""
        if (wish, noise) not in self._known:
            self._known[wish, noise] = item_of(self.document, wish, noise)
        return self._known[wish, noise]

    def naive(self) -> dict[str, float]:
        """Errors if ε were added up, with Laplace noise and choices; nothing if that is not to be had."""
        if not isinstance(self.inside, ApproxDP) or self.wanted or any(wish.rho is not None for wish in self.wishes):
            return {}
        return self._compared({wish.name: _paid_in(EPSILON, wish) for wish in self.wishes}, self.budget("basic"))

    def by_rho(self, choice: NoiseByName) -> dict[str, float]:
        """Errors if ρ were added up, with this noise, and their sum made an ε (CKS20); nothing without δ."""
        if not isinstance(self.inside, ApproxDP) or self.wanted or not self.inside.delta:
            return {}
        rho = fz21.largest_rho(self.inside.epsilon, Fraction(self.inside.delta) - self._leak)
        return self._compared(choice, RhoBudget(rho)) if rho else {}

    def _compared(self, choice: NoiseByName, budget: Budget) -> dict[str, float]:
        """Errors of another split, with the same objective and the same holds."""
        try:
            items = [self._kept(wish, self.item(wish, choice[wish.name])) for wish in self.wishes]
            found = search(items, budget, self.document.objective, self.extra, self.start.amounts)
        except InvalidInput:  # the holds alone are more than sums allow
            return {}
        spendings = found.search.spendings(_BELOW * found.amounts)
        return {item.name: each.error for item, each in zip(found.search.items, spendings, strict=True)}

    def _kept(self, wish: Wish, item: Item) -> Item:
        """With the error that it has in the plan, if it is to stay as it is."""
        if not wish.hold:
            return item
        noise, budget = self._alone[wish.name]
        if noise == item.model.noise:
            return replace(item, held=budget)
        return replace(item, held=item.model.budget_for(self.item(wish, noise).model.error(budget)))


def _leaked(document: Document, inside: ApproxDP | ZCDP) -> Fraction:
    """The δ of all thresholds, which must leave most of the δ that may be spent on the data."""
    found = Fraction(0)
    for wish in document.wishes:
        own = sum((part.leak for part in wish.statistic.parts(document.table)), Fraction(0))
        found += own
        place = f"statistics.{wish.name}"
        if own and isinstance(inside, ZCDP):
            raise InvalidInput(place, str(wish.statistic), "has a threshold, which needs budget.delta and not a rho")
        if own and not _MOST_LEAK * found <= Fraction(0 if isinstance(inside, ZCDP) else inside.delta):
            problem = f"is too large: thresholds may leak 1/{_MOST_LEAK} of the δ of the budget in all"
            raise InvalidInput(f"{place}.leak", float(own), problem)
    return found


def _about(document: Document) -> tuple[Any, ...]:
    """What errors depend on but for the statistics."""
    table = document.table
    shape = table.columns, table.person, table.contribution, table.neighbours
    return *shape, document.rows, document.known, document.confidence


def _paid_in(currency: Currency, wish: Wish) -> Noise:
    """The first noise of a statistic that is paid in this; or its first one."""
    noises = wish.statistic.noises()
    return next((noise for noise in noises if noise.currency == currency), noises[0])


def _as_asked(wish: Wish, possible: bool) -> Noise:
    asked = wish.noise or _paid_in(RHO, wish)  # held by its ρ
    if not asked.currency.pure and not possible:
        place = f"statistics.{wish.name}.mechanism"
        raise InvalidInput(place, asked.name, "needs budget.delta, or budget.rho instead")
    return asked


def item_of(document: Document, wish: Wish, noise: Noise) -> Item:
    """A statistic with its noise, its size, and what it is held at."""
    with at("data"):
        rows, known = document.rows_of(wish), document.known_about(wish)
        model = ErrorModel(wish.statistic, document.table, noise, rows, document.confidence, known)
    size = wish.size or wish.statistic.size(document.table, float(wish.rows or document.rows or 1))
    held = wish.epsilon if wish.rho is None else wish.rho
    if wish.error is not None:
        with at(f"statistics.{wish.name}"):
            held = model.budget_for(wish.error)
    return Item(wish.name, model, float(wish.weight), size, held)
