"""The adaptive composition game: views, the product map, best responses, and the bound that nobody exceeds."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from fractions import Fraction
from itertools import product as pairs_of
from typing import Any

import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st

import optcomp as oc
from optcomp.errors import HypothesisNotMet, InvalidInput, NotAffordable
from optcomp.proofs import (
    Choice,
    Finite,
    Game,
    Kernel,
    best_response,
    indistinguishable,
    leaky,
    leaky_product,
    odds_down,
    odds_up,
    optimal_delta,
    product,
)
from tests.oracles.rational import exact_delta, log_between
from tests.unit.proofs.generators import BUDGETS, Budget, Drawn, finites, games, odds

MANY = settings(max_examples=500)
FEW_OR_MANY = pytest.mark.parametrize("examples", [100, pytest.param(500, marks=pytest.mark.slow)])
SOME = settings(max_examples=200)
ZERO, ONE, TWO = Fraction(0), Fraction(1), Fraction(2)

Menus = list[list[Choice]]
Picker = Callable[[tuple[Any, ...]], Choice]


def _rounds(most: int) -> st.SearchStrategy[list[Budget]]:
    return st.lists(BUDGETS, min_size=1, max_size=most)


def _picker(offered: Menus, salt: int, coins: int = 0) -> Picker:
    """An adversary that picks from the menu by all it has seen."""

    def pick(seen: tuple[Any, ...]) -> Choice:
        menu = offered[len(seen) - coins]
        return menu[hash((salt, sum(map(ord, seen)), len(seen))) % len(menu)]

    return pick


@FEW_OR_MANY
def test_leaky_responses_reproduce_both_views(examples: int) -> None:
    """Algorithm 1 of the lecture and Theorem 3.5: F* pushes (U_i) to V⁰ and (V_i) to V¹, whatever the adversary."""

    @settings(max_examples=examples)
    @given(games(), st.integers(0, 99))
    def reproduced(drawn: Drawn, salt: int) -> None:
        rounds, offered = drawn
        game = Game(rounds, _picker(offered, salt))
        assert game.simulated_views == game.views

    reproduced()


@given(games(most=2), st.integers(0, 99), finites("hi"))
def test_coins_are_part_of_the_view(drawn: Drawn, salt: int, coins: Finite[str]) -> None:
    rounds, offered = drawn
    game = Game(rounds, _picker(offered, salt, coins=1), coins)
    assert game.simulated_views == game.views
    for view in game.views:
        assert view.map(lambda seen: seen[0]) == coins
    tossed = {coin: Game(rounds, _after(coin, game)) for coin in coins}
    average = sum(coins[coin] * one.comparison.forward.delta(TWO) for coin, one in tossed.items())
    assert game.comparison.forward.delta(TWO) == average


def _after(coin: str, game: Game) -> Picker:
    return lambda seen: game.choice((coin, *seen))


@MANY
@given(games(), st.integers(0, 99), odds())
def test_nobody_exceeds_the_bound(drawn: Drawn, salt: int, target: Fraction) -> None:
    """Any adversary ≤ the best response to its menu, which its own tree achieves, ≤ the optimum."""
    rounds, offered = drawn
    best = best_response(rounds, offered, target)
    assert Game(rounds, _picker(offered, salt)).comparison.delta(target) <= best.delta <= optimal_delta(rounds, target)
    played = Game(rounds, best.adversary).comparison
    side = played.forward if best.secret == 0 else played.backward
    assert side.delta(target) == best.delta == played.delta(target)


@FEW_OR_MANY
def test_leaky_on_the_menu_attains_the_bound(examples: int) -> None:
    """The supremum in Theorem 1.5 is a maximum: leaky randomized response in every round, no adaptivity needed."""

    @settings(max_examples=examples)
    @given(games(), odds())
    @example(([(TWO, ZERO)], [[Choice.between(*leaky(ONE))]]), ONE)
    def attained(drawn: Drawn, target: Fraction) -> None:
        rounds, offered = drawn
        worst = [Choice.between(*leaky(*budget)) for budget in rounds]
        bound = optimal_delta(rounds, target)
        assert Game(rounds, lambda seen: worst[len(seen)]).comparison.delta(target) == bound
        menus = [[*menu, move] for menu, move in zip(offered, worst, strict=True)]
        assert best_response(rounds, menus, target).delta == bound

    attained()


def _all_trees(offered: Menus) -> Iterator[dict[tuple[str, ...], Choice]]:
    """Every deterministic adversary of a game of two rounds with answers a and b."""
    first, second = offered
    for move, after_a, after_b in pairs_of(first, second, second):
        yield {(): move, ("a",): after_a, ("b",): after_b}


@SOME
@given(games(2, least=2, outcomes="ab"), odds())
def test_no_tree_does_better_than_the_best_response(drawn: Drawn, target: Fraction) -> None:
    rounds, offered = drawn
    every = [Game(rounds, tree).comparison.delta(target) for tree in _all_trees(offered)]
    assert max(every) == best_response(rounds, offered, target).delta


def test_adapting_can_pay() -> None:
    """With this menu the better second move depends on the first answer, and all fixed pairs of moves do worse."""
    left = Choice.between(Finite({"a": "1/2", "b": "1/2"}), Finite({"a": "1/8", "b": "7/8"}))
    right = Choice.between(Finite({"a": "7/8", "b": "1/8"}), Finite({"a": "5/8", "b": "3/8"}))
    rounds = [(Fraction(4), ZERO)] * 2
    best = best_response(rounds, [[left, right]] * 2, TWO)
    assert best.adversary["a",] != best.adversary["b",]
    assert best.delta == Fraction(5, 16)
    assert max(Game(rounds, fixed).comparison.delta(TWO) for fixed in _steady(left, right)) == Fraction(9, 32)


def _steady(left: Choice, right: Choice) -> Iterator[dict[tuple[str, ...], Choice]]:
    for first, second in pairs_of((left, right), repeat=2):
        yield {(): first, ("a",): second, ("b",): second}


@SOME
@given(games(), st.integers(0, 99))
def test_games_in_floats(drawn: Drawn, salt: int) -> None:
    rounds, offered = drawn
    rough = [(float(e), float(delta)) for e, delta in rounds]
    moves = [[Choice(move.mechanism.floats(), move.x0, move.x1) for move in menu] for menu in offered]
    game, exact = Game(rough, _picker(moves, salt)), Game(rounds, _picker(offered, salt))
    for twin, view in zip(game.simulated_views + game.views, exact.views * 2, strict=True):
        assert twin.distance(view) < 1e-13
    assert float(optimal_delta(rough, 1.5)) == pytest.approx(float(optimal_delta(rounds, Fraction(3, 2))), abs=1e-14)
    best = float(best_response(rounds, offered, TWO).delta)
    assert float(best_response(rough, moves, 2.0).delta) == pytest.approx(best, abs=1e-13)


@SOME
@given(_rounds(3), odds())
def test_the_bound_three_ways(rounds: list[Budget], target: Fraction) -> None:
    bound = optimal_delta(rounds, target)
    assert bound == exact_delta(rounds, target)
    u, v = leaky_product(rounds)
    both = indistinguishable(u, v)
    assert bound == both.delta(target) == both.forward.delta(target)


@given(st.lists(BUDGETS, max_size=6), odds())
def test_compose_encloses_the_bound(rounds: list[Budget], target: Fraction) -> None:
    """ε = log odds is irrational: a little more of it in each part and less in the total gives a larger δ."""
    logs = [log_between(e, 80) for e, _ in rounds]
    low, high = log_between(target, 80)
    deltas = [delta for _, delta in rounds]
    bound = Fraction(optimal_delta(rounds, target))
    less = oc.compose(list(zip([low for low, _ in logs], deltas, strict=True)), epsilon=high)
    more = oc.compose(list(zip([high for _, high in logs], deltas, strict=True)), epsilon=max(low, ZERO))
    assert less.lower <= bound <= more.upper
    assert more.upper <= float(bound) * (1 + 1e-9) + 1e-18


@given(
    st.lists(st.tuples(st.floats(0.001, 2), st.sampled_from([0.0, 1e-9, 0.125])), min_size=1, max_size=6),
    st.floats(0, 4),
)
def test_the_bound_encloses_compose(parts: list[tuple[float, float]], target: float) -> None:
    """The other way round: from floats ε to odds on the side that is safe."""
    total = oc.compose(parts, epsilon=target)
    above = [(odds_up(eps, 128), Fraction(delta)) for eps, delta in parts]
    below = [(odds_down(eps, 128), Fraction(delta)) for eps, delta in parts]
    assert total.lower <= optimal_delta(above, odds_down(target, 128))
    assert optimal_delta(below, odds_up(target, 128)) <= total.upper


@given(_rounds(3), st.sampled_from([ZERO, Fraction(1, 50), Fraction(1, 3)]))
def test_the_least_odds_of_the_product_are_optcomp(rounds: list[Budget], delta: Fraction) -> None:
    """OptComp itself, exactly: the least e^ε at a given δ, or none if the leaks alone are too much."""
    least = indistinguishable(*leaky_product(rounds)).least_odds(delta)
    leaks = optimal_delta(rounds, Fraction(10**9))
    assert (least is None) == (leaks > delta)
    if least is not None:
        assert optimal_delta(rounds, least) <= delta
        assert least == 1 or optimal_delta(rounds, max(ONE, least - Fraction(1, 10**9))) > delta


def test_many_equal_budgets_cost_little() -> None:
    many = optimal_delta([(Fraction(11, 10), ZERO)] * 200, Fraction(5))
    bound = oc.compose({oc.PureDP(Fraction(log_between(Fraction(11, 10), 90)[1])): 200}, epsilon="1.6094379124341003")
    assert float(many) == pytest.approx(bound.delta, rel=1e-9)


def test_too_many_different_budgets_are_refused(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("optcomp.proofs.games._MOST_RATIOS", 100)
    with pytest.raises(NotAffordable, match=r"optcomp\.compose encloses the same number"):
        optimal_delta([(Fraction(p), ZERO) for p in (2, 3, 5, 7, 11, 13, 17)], TWO)


def test_no_rounds_reveal_nothing() -> None:
    assert optimal_delta([], ONE) == 0
    game = Game([], {})
    assert game.views == game.simulated_views == (Finite.point(()),) * 2
    assert best_response([], [], ONE).delta == 0


def test_a_move_beyond_its_budget_is_refused() -> None:
    bold = Choice.between(*leaky(Fraction(4)))
    rounds: Sequence[Budget] = [(Fraction(3), Fraction(1, 100))]
    assert not bold.within(rounds[0])
    for attempt in (lambda: Game(rounds, {(): bold}).views, lambda: best_response(rounds, [[bold]], TWO)):
        with pytest.raises(HypothesisNotMet, match="a move with e\\^ε = 3 has δ = 1/5, more than 1/100"):
            attempt()


def test_an_incomplete_tree_is_refused() -> None:
    move = Choice.between(*leaky(TWO))
    with pytest.raises(InvalidInput, match="must have a move for every transcript"):
        Game([(TWO, ZERO)] * 2, {(): move, (1,): move}).views  # noqa: B018
    with pytest.raises(InvalidInput, match="must be 2 menus, none empty"):
        best_response([(TWO, ZERO)] * 2, [[move], []], TWO)


def test_mechanisms_with_more_than_two_inputs() -> None:
    """A count of up to two people with two-sided geometric noise, cut to 0..2; the adversary picks the data sets."""
    noisy = Kernel({n: Finite.proportional({y: Fraction(1, 2 ** abs(y - n)) for y in range(3)}) for n in range(3)})
    budget = (Fraction(max(noisy(n)[y] / noisy(m)[y] for n in (0, 1) for m in (0, 1) for y in range(3))), ZERO)
    game = Game([budget] * 2, lambda seen: Choice(noisy, 0, 1) if seen == () or seen[0] else Choice(noisy, 1, 0))
    assert game.simulated_views == game.views
    assert game.views[0] == product(noisy(0), noisy(0)).through(_as_played(noisy, 0))
    assert game.comparison.delta(TWO) <= optimal_delta(game.budgets, TWO)


def _as_played(noisy: Kernel[int, int], secret: int) -> Callable[[tuple[Any, ...]], Finite[tuple[Any, ...]]]:
    """The second answer again, on the input that the first answer leads to."""

    def again(seen: tuple[Any, ...]) -> Finite[tuple[Any, ...]]:
        second = noisy(secret if seen[0] else 1 - secret)
        return second.map(lambda y: (seen[0], y))

    return again
