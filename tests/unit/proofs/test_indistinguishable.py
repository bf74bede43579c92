"""(ε, δ)-indistinguishability against its definition: every event is tried."""

from __future__ import annotations

from collections.abc import Iterator
from fractions import Fraction
from itertools import combinations, pairwise

import pytest
from flint import arb
from hypothesis import example, given, settings
from hypothesis import strategies as st

from optcomp.errors import HypothesisNotMet, InvalidInput
from optcomp.numerics.balls import ball, precision
from optcomp.proofs import Comparison, Event, Finite, Kernel, OneSided, indistinguishable, odds_down, odds_up
from tests.unit.proofs.generators import Pair, deltas, finites, odds, pairs

MANY = settings(max_examples=500)
SOME = settings(max_examples=200)
ZERO, ONE = Fraction(0), Fraction(1)
LOPSIDED = (Finite({"a": "1/10", "b": "9/10"}), Finite({"a": "3/5", "b": "2/5"}))
APART = (Finite.point("a"), Finite.point("b"))


def _events(outcomes: str = "abcd") -> Iterator[tuple[str, ...]]:
    return (event for size in range(len(outcomes) + 1) for event in combinations(outcomes, size))


def _by_definition(p: Finite[str], q: Finite[str], e: Fraction) -> Fraction:
    return max(Fraction(p.probability(event)) - e * Fraction(q.probability(event)) for event in _events())


def _divergence(p: Finite[str], q: Finite[str], delta: Fraction) -> Fraction | None:
    """max over events of (P(S) − δ)/Q(S), at least 1; None if some event has P(S) > δ and Q(S) = 0."""
    standing_out = [(p.probability(event) - delta, q.probability(event)) for event in _events()]
    if any(gain > 0 and not base for gain, base in standing_out):
        return None
    return max([ONE, *(Fraction(gain) / Fraction(base) for gain, base in standing_out if gain > 0)])


@MANY
@given(pairs(), odds())
@example(LOPSIDED, Fraction(2))
@example(APART, Fraction(3))
def test_delta_is_the_worst_event(pair: Pair, e: Fraction) -> None:
    both = indistinguishable(*pair)
    for side, (p, q) in ((both.forward, pair), (both.backward, pair[::-1])):
        worst = side.worst_event(e)
        assert side.delta(e) == _by_definition(p, q, e)
        assert p.probability(worst) - e * q.probability(worst) == side.delta(e)
    assert both.delta(e) == max(both.forward.delta(e), both.backward.delta(e))
    assert both.total_variation == pair[0].distance(pair[1]) == both.forward.delta(ONE) == both.backward.delta(ONE)


@MANY
@given(pairs(), deltas())
@example(LOPSIDED, Fraction(1, 10))
@example(APART, Fraction(1, 2))
def test_least_odds_is_the_approximate_max_divergence(pair: Pair, delta: Fraction) -> None:
    both = indistinguishable(*pair)
    forward, backward = _divergence(*pair, delta), _divergence(*pair[::-1], delta)
    assert both.forward.least_odds(delta) == forward
    assert both.backward.least_odds(delta) == backward
    least = both.least_odds(delta)
    assert least == (None if forward is None or backward is None else max(forward, backward))
    if least is None:
        assert not both.holds(Fraction(10**9), delta)
    else:
        assert both.holds(least, delta)
        assert least == 1 or not both.holds(max(ONE, Fraction(least) - Fraction(1, 10**9)), delta)


def _read(curve: tuple[tuple[object, object], ...], e: Fraction) -> Fraction:
    """The value at e of a curve given by its bends."""
    points = [(Fraction(str(x)), Fraction(str(y))) for x, y in curve]
    for (left, high), (right, low) in pairwise(points):
        if left <= e <= right:
            return high + (low - high) * (e - left) / (right - left)
    assert e >= points[-1][0]
    return points[-1][1]


def _convex_and_bent(comparison: Comparison[str] | OneSided[str]) -> bool:
    points = [(Fraction(x), Fraction(y)) for x, y in comparison.curve]
    slopes = [(low - high) / (right - left) for (left, high), (right, low) in pairwise(points)] + [ZERO]
    return points[0][0] == 1 and all(a < b for a, b in pairwise(slopes))


@MANY
@given(pairs(), odds())
@example((Finite({"a": "1/2", "b": "1/4", "c": "1/4"}), Finite({"a": "1/8", "b": "3/8", "d": "1/2"})), Fraction(9, 4))
def test_the_curve_is_given_by_its_bends(pair: Pair, e: Fraction) -> None:
    both = indistinguishable(*pair)
    for curve in (both, both.forward, both.backward):
        assert _read(curve.curve, e) == curve.delta(e)
        assert _convex_and_bent(curve)


def test_the_two_sides_can_change_roles() -> None:
    x, y = Finite({"a": "1/2", "b": "1/2"}), Finite({"a": "4/5", "b": "1/5"})
    tail = indistinguishable(_with_tail(x, "0.1", "0"), _with_tail(y, "0", "0.2"))
    roles = [tail.forward.delta(e) > tail.backward.delta(e) for e in (Fraction(6, 5), Fraction(4))]
    assert roles == [True, False]
    assert any(tail.forward.delta(e) == tail.backward.delta(e) for e, _ in tail.curve[1:])


def _with_tail(p: Finite[str], own: str, other: str) -> Finite[str]:
    """p, made lighter by an outcome of its own."""
    rest = 1 - Fraction(own) - Fraction(other)
    return Finite({**{a: rest * w for a, w in p.items()}, "c": own, "d": other})


def _correct(e: Event[str], f: Event[str], odds: Fraction, delta: Fraction) -> bool:
    """The three conditions of Lemma 3.3."""
    small = all(0 <= event.kept.get(a, ZERO) <= event.law[a] for event in (e, f) for a in "abcd")
    close = all(
        one.kept.get(a, ZERO) <= odds * other.kept.get(a, ZERO) for one, other in ((e, f), (f, e)) for a in "abcd"
    )
    return small and close and e.probability == f.probability == 1 - delta


@MANY
@given(pairs(), odds(), st.sampled_from([ZERO, Fraction(1, 3), Fraction(9, 10)]))
@example(LOPSIDED, Fraction(2), ZERO)
@example(LOPSIDED[::-1], Fraction(2), Fraction(1, 2))
@example(APART, Fraction(2), ZERO)
def test_events_exist_exactly_when_indistinguishable(pair: Pair, e: Fraction, part: Fraction) -> None:
    """Lemma 3.3, statement 1 ⇔ 2: at the least δ, above it, and not below it."""
    both = indistinguishable(*pair)
    least = Fraction(both.delta(e))
    if least < 1:
        delta = least + part * (1 - least)
        assert _correct(*both.events(e, delta), e, delta)
    if least > 0:
        with pytest.raises(HypothesisNotMet, match=r"MV18-3\.3 does not apply") as refusal:
            both.events(e, least * Fraction(99, 100))
        assert str(least) in refusal.value.reason


@given(pairs(), odds())
def test_events_split_the_law(pair: Pair, e: Fraction) -> None:
    both = indistinguishable(*pair)
    delta = Fraction(both.delta(e)) / 2 + Fraction(1, 2)
    if delta < 1:
        for event in both.events(e, delta):
            assert event.outside is not None
            assert sum(event(a) * event.law[a] for a in "abcd") == 1 - delta
            mixed = {a: (1 - delta) * event.inside[a] + delta * event.outside[a] for a in "abcd"}
            assert Finite(mixed) == event.law
        assert both.events(e, delta)[0]("z") == 0


def test_an_event_that_always_happens_has_no_outside() -> None:
    e, f = indistinguishable(*LOPSIDED).events(Fraction(6), ZERO)
    assert e.outside is f.outside is None
    assert (e.inside, f.inside) == LOPSIDED


@SOME
@given(pairs(), odds(), st.tuples(*[finites("xyz")] * 4))
def test_post_processing_never_helps(pair: Pair, e: Fraction, rows: tuple[Finite[str], ...]) -> None:
    """Fact 2.2."""
    kernel = Kernel(dict(zip("abcd", rows, strict=True)))
    after = indistinguishable(pair[0].through(kernel), pair[1].through(kernel))
    assert after.delta(e) <= indistinguishable(*pair).delta(e)


@MANY
@given(pairs(), odds(), st.sampled_from([ZERO, Fraction(1, 2)]))
def test_floats_follow_the_fractions(pair: Pair, e: Fraction, part: Fraction) -> None:
    both = indistinguishable(*pair)
    twin = indistinguishable(pair[0].floats(), pair[1].floats())
    least = float(both.delta(e))
    assert abs(twin.delta(float(e)) - least) < 1e-14
    assert twin.holds(float(e), least)
    delta = least + float(part) * (1 - least)
    assert (twin.least_odds(0.0) is None) == (both.least_odds(ZERO) is None)
    if delta < 1:
        event, other = twin.events(float(e), delta)
        assert abs(event.probability - (1 - delta)) < 1e-14
        assert all(event.kept[a] <= float(e) * other.kept[a] + 1e-14 for a in event.kept)
        assert all(event.kept[a] <= event.law[a] + 1e-12 for a in event.kept)


@given(pairs(), deltas())
def test_least_odds_in_floats(pair: Pair, delta: Fraction) -> None:
    exact = indistinguishable(*pair).least_odds(delta + Fraction(1, 997))  # off the corners, where a rounding decides
    rough = indistinguishable(pair[0].floats(), pair[1].floats()).least_odds(float(delta + Fraction(1, 997)))
    assert rough == (None if exact is None else pytest.approx(float(exact), rel=1e-9))


@given(st.floats(0, 50))
@example(0.0)
@example(1e-300)
@example(1.0)
def test_odds_lie_on_the_named_side(epsilon: float) -> None:
    low, high = odds_down(epsilon), odds_up(epsilon)
    assert 1 <= low <= high <= low * (1 + Fraction(1, 2**61))
    with precision(1200):
        truth: arb = ball(epsilon).exp()
        assert ball(low) <= truth <= ball(high)
    assert odds_up(0) == odds_down("0") == 1
    assert odds_up(epsilon, bits=200) <= high


@pytest.mark.parametrize("refused", [-1, float("inf"), "much", None])
def test_odds_need_an_epsilon(refused: object) -> None:
    for helper in (odds_up, odds_down):
        with pytest.raises(InvalidInput, match="epsilon: must"):
            helper(refused)


def test_refuses_odds_below_one_and_bad_deltas() -> None:
    both = indistinguishable(*LOPSIDED)
    for call in (both.delta, both.forward.worst_event):
        with pytest.raises(InvalidInput, match="odds: e\\^ε must be at least 1"):
            call(Fraction(1, 2))
    for delta in (Fraction(-1), ONE):
        with pytest.raises(InvalidInput, match="delta: must be at least 0 and below 1"):
            both.events(Fraction(2), delta)
