"""The adaptive composition game: an adversary picks each private mechanism after seeing the answers so far.

Nature holds a secret bit.  In round i the adversary names an (ε_i, δ_i)-private mechanism and two inputs for it, and
sees the mechanism's answer on input number `secret`.  What it has seen in the end, its view, has distribution V⁰ or V¹;
how far apart the two can be is what composition theorems are about  (Murtagh, Vadhan, section 2, Definition 2.3).

For finite games everything is exact: the views, the adversary that gets most out of a menu, and the proof that nobody
beats leaky randomized response: `ProductMap` turns k leaky responses into the view, along the transcript  (MV18-3.5).
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from fractions import Fraction
from functools import cached_property, partial
from typing import Any

from optcomp.errors import HypothesisNotMet, InvalidInput, NotAffordable
from optcomp.proofs.distributions import Finite, Kernel, Real, gathered, positive_part, product, total
from optcomp.proofs.indistinguishability import Comparison, delta_of, indistinguishable, odds_of
from optcomp.proofs.simulation import leaky, simulate

Allowance = tuple[Real, Real]
"""(e^ε, δ): what one mechanism may spend."""

Transcript = tuple[Any, ...]
"""The coins of the adversary if it has any, then the answers so far."""

Responses = tuple[int, ...]
"""An outcome of leaky randomized response for every round."""

_MOST_RATIOS = 1 << 18  # different likelihood ratios: seconds of rational arithmetic


@dataclass(frozen=True)
class Choice:
    """One move of the adversary: a mechanism, and the two inputs of which it gets one."""

    mechanism: Kernel[Any, Any]
    x0: Any
    x1: Any

    @classmethod
    def between(cls, y0: Finite[Any], y1: Finite[Any]) -> Choice:
        """The move for which only the two answers matter: y0 if the secret is 0, y1 if it is 1."""
        return cls(Kernel({0: y0, 1: y1}), 0, 1)

    @property
    def answers(self) -> tuple[Finite[Any], Finite[Any]]:
        """What the mechanism answers on either input."""
        return self.mechanism(self.x0), self.mechanism(self.x1)

    @property
    def comparison(self) -> Comparison[Any]:
        """How well the two answers can be told apart."""
        return indistinguishable(*self.answers)

    def within(self, budget: Allowance) -> bool:
        """Whether the move keeps to its budget: the two answers are (ε, δ)-indistinguishable."""
        return self.comparison.holds(*budget)


Adversary = Callable[[Transcript], Choice] | Mapping[Transcript, Choice]
"""Whatever says what to do after each transcript: a function, or a tree written as a table."""


@dataclass(frozen=True, eq=False)
class Game:
    """A game with its adversary: rounds with budgets (e^ε_i, δ_i), and who picks the mechanisms.

    A randomized adversary tosses all its `coins` first; the transcript then starts with them, and they are part of the
    view.  A move beyond the budget of its round is refused when it is made.
    """

    budgets: Sequence[Allowance]
    adversary: Adversary
    coins: Finite[Any] | None = None

    def choice(self, transcript: Transcript) -> Choice:
        """The move after this transcript, checked against the budget of its round."""
        if transcript not in self._moves:
            choice = self._asked(transcript)
            _require_within(self.budgets[self.round_of(transcript)], choice)
            self._moves[transcript] = choice
        return self._moves[transcript]

    def _asked(self, transcript: Transcript) -> Choice:
        if callable(self.adversary):
            return self.adversary(transcript)
        if transcript not in self.adversary:
            raise InvalidInput("adversary", transcript, "must have a move for every transcript that can come up")
        return self.adversary[transcript]

    @cached_property
    def _moves(self) -> dict[Transcript, Choice]:
        return {}

    def round_of(self, transcript: Transcript) -> int:
        """How many answers the transcript holds."""
        return len(transcript) - (self.coins is not None)

    @property
    def start(self) -> Finite[Transcript]:
        """The transcript before the first round: the coins, or nothing."""
        return Finite.point(()) if self.coins is None else product(self.coins)

    @cached_property
    def views(self) -> tuple[Finite[Transcript], Finite[Transcript]]:
        """The exact distributions V⁰ and V¹ of the whole transcript."""
        return self._view(0), self._view(1)

    def _view(self, secret: int) -> Finite[Transcript]:
        view = self.start
        for _ in self.budgets:
            view = view.through(lambda seen: _appended(seen, self.choice(seen).answers[secret]))
        return view

    @property
    def comparison(self) -> Comparison[Transcript]:
        """How well the two views can be told apart."""
        return indistinguishable(*self.views)

    @cached_property
    def product_map(self) -> ProductMap:
        """The post-processing of k leaky randomized responses that makes the views."""
        return ProductMap(self)

    @property
    def simulated_views(self) -> tuple[Finite[Transcript], Finite[Transcript]]:
        """The views once more, as the product map makes them out of leaky randomized responses."""
        u, v = leaky_product(self.budgets)
        return u.through(self.product_map), v.through(self.product_map)


@dataclass(frozen=True, eq=False)
class ProductMap:
    """The map F* of the composition proof: turns an outcome z_1, …, z_k of k leaky responses into a whole view.

    y_j is drawn from T_j(z_j), where T_j simulates the mechanism that the adversary picks after y_1, …, y_{j−1}.  Every
    z_j is used once, in its own round: independence of the rounds is all it takes  (lecture, Algorithm 1; MV18-3.5).
    """

    game: Game

    def __call__(self, response: Responses) -> Finite[Transcript]:
        """The distribution of the view that is made from this outcome."""
        view = self.game.start
        for z in response:
            view = view.through(partial(self._next, z))
        return view

    def _next(self, z: int, seen: Transcript) -> Finite[Transcript]:
        return _appended(seen, self.simulator(seen)(z))

    def simulator(self, transcript: Transcript) -> Kernel[int, Any]:
        """The simulator T of the mechanism that comes after this transcript."""
        if transcript not in self._simulators:
            odds, delta = self.game.budgets[self.game.round_of(transcript)]
            self._simulators[transcript] = simulate(*self.game.choice(transcript).answers, odds, delta)
        return self._simulators[transcript]

    @cached_property
    def _simulators(self) -> dict[Transcript, Kernel[int, Any]]:
        return {}


def leaky_product(budgets: Sequence[Allowance]) -> tuple[Finite[Responses], Finite[Responses]]:
    """Leaky randomized responses side by side, one for every budget: (U_1, …, U_k) and (V_1, …, V_k)."""
    pairs = [leaky(*budget) for budget in budgets]
    return product(*(u for u, _ in pairs)), product(*(v for _, v in pairs))


def optimal_delta(budgets: Sequence[Allowance], odds: Real) -> Real:
    """The least total δ that is true of every game with these budgets, at total e^ε = odds: exact in fractions.

    δ = 1 − ∏(1−δ_i)(1−h), where h = Σ_S (∏_{i∈S} e^ε_i − e^ε ∏_{i∉S} e^ε_i)₊ / ∏(1+e^ε_i)  (MV18-1.5).  Subsets with
    the same ratio of the two products count together, so many equal budgets cost little.
    """
    odds = odds_of(odds)
    kept: Real = Fraction(1)
    for _, delta in budgets:
        kept = kept * (1 - delta_of(delta))
    excess = total(p * positive_part(1 - odds / ratio) for ratio, p in _ratios(budgets).items())
    return 1 - kept * (1 - excess)


def _ratios(budgets: Sequence[Allowance]) -> dict[Real, Real]:
    """P(ratio) under U, where ratio = ∏ e^{±ε_i} is the likelihood ratio of the responses that do not leak."""
    ratios: dict[Real, Real] = {Fraction(1): Fraction(1)}
    for value, _ in budgets:
        odds = odds_of(value)
        up = [(ratio * odds, p * (odds / (1 + odds))) for ratio, p in ratios.items()]
        down = [(ratio / odds, p / (1 + odds)) for ratio, p in ratios.items()]
        ratios = gathered(up + down)
        if len(ratios) > _MOST_RATIOS:
            raise NotAffordable("optimal_delta", len(ratios), _MOST_RATIOS, "optcomp.compose encloses the same number")
    return ratios


@dataclass(frozen=True)
class BestResponse:
    """The strongest adversary for a menu: what it achieves, and what it does after every transcript."""

    delta: Real
    """The largest δ that any adversary with this menu forces at the given e^ε."""
    secret: int
    """The direction it is for: 0 if V⁰ stands out against V¹, 1 for the other way round."""
    adversary: Mapping[Transcript, Choice]
    """Its moves, as a table."""


def best_response(budgets: Sequence[Allowance], menus: Sequence[Sequence[Choice]], odds: Real) -> BestResponse:
    """The best an adversary can do if in round i it must take a mechanism from menu i, by backward induction.

    The value of a transcript of probabilities (p, q) under the two secrets is (p − e^ε q)₊ at the end and before it
    max over moves of Σ_y value(p·M(x0)(y), q·M(x1)(y)).  It is homogeneous in (p, q): only their ratio and the round
    matter.  Coins would not help: the one-sided δ of a randomized adversary is the average over its coins.
    """
    if len(menus) != len(budgets) or not all(menus):
        raise InvalidInput("menus", len(menus), f"must be {len(budgets)} menus, none empty")
    for budget, menu in zip(budgets, menus, strict=True):
        for choice in menu:
            _require_within(budget, choice)
    solvers = [_Solver(menus, odds_of(odds), secret) for secret in (0, 1)]
    best = max(solvers, key=lambda solver: solver.value)
    return BestResponse(best.value, best.secret, best.tree())


def _require_within(budget: Allowance, choice: Choice) -> None:
    if not choice.within(budget):
        least = choice.comparison.delta(budget[0])
        raise HypothesisNotMet("MV18-3.5", f"a move with e^ε = {budget[0]} has δ = {least}, more than {budget[1]}")


class _Solver:
    """Backward induction for one direction, with every (round, probability of the secret) solved once."""

    def __init__(self, menus: Sequence[Sequence[Choice]], odds: Real, secret: int) -> None:
        self.secret = secret
        self._odds = odds
        self._pairs = [[_directed(choice, secret) for choice in menu] for menu in menus]
        self._menus = menus
        self._known: dict[tuple[int, Real], tuple[Real, int]] = {}
        self.value = self._best(0, Fraction(1), Fraction(1))[0]

    def _best(self, depth: int, p: Real, q: Real) -> tuple[Real, int]:
        """The value of a transcript with these probabilities, and the number of the best move."""
        if depth == len(self._pairs) or not p or not q:  # with p or q = 0 no further answer changes the value
            return positive_part(p - self._odds * q), 0
        share = p / (p + q)
        if (depth, share) not in self._known:
            gains = [self._gain(depth, pair, share) for pair in self._pairs[depth]]
            self._known[depth, share] = max(gains), gains.index(max(gains))
        value, move = self._known[depth, share]
        return (p + q) * value, move

    def _gain(self, depth: int, pair: tuple[Finite[Any], Finite[Any]], share: Real) -> Real:
        p, q = pair
        answers = dict.fromkeys(p.support + q.support)
        return total(self._best(depth + 1, share * p[y], (1 - share) * q[y])[0] for y in answers)

    def tree(self) -> dict[Transcript, Choice]:
        """The best move after every transcript that can come up."""
        table: dict[Transcript, Choice] = {}
        self._grow(table, (), Fraction(1), Fraction(1))
        return table

    def _grow(self, table: dict[Transcript, Choice], seen: Transcript, p: Real, q: Real) -> None:
        if len(seen) == len(self._pairs) or not (p or q):
            return
        move = self._best(len(seen), p, q)[1]
        table[seen] = self._menus[len(seen)][move]
        under_p, under_q = self._pairs[len(seen)][move]
        for y in dict.fromkeys(under_p.support + under_q.support):
            self._grow(table, (*seen, y), p * under_p[y], q * under_q[y])


def _directed(choice: Choice, secret: int) -> tuple[Finite[Any], Finite[Any]]:
    y0, y1 = choice.answers
    return (y0, y1) if secret == 0 else (y1, y0)


def _appended(seen: Transcript, answer: Finite[Any]) -> Finite[Transcript]:
    """The transcript with one more answer."""
    return answer.map(lambda y: (*seen, y))
