"""Far rounds counted apart: both parts together enclose what the plain contour proves where that is narrow."""

from __future__ import annotations

import math
from collections.abc import Callable
from fractions import Fraction
from functools import cache

import numpy as np
import pytest
from flint import arb

from optcomp import Gaussian, PoissonSubsampled, compose
from optcomp.instances import Laws
from optcomp.numerics.contour import Bracket, Contour, Goal, Independent, excess_at, excess_root
from optcomp.numerics.laws import CutNormalLaw, CutWholeLaw, MixedNormalLaw, MixedWholeLaw, NormalLaw
from optcomp.theorems import far_rounds
from optcomp.theorems.opt import Effort
from tests.oracles.sampled_whole import pair
from tests.oracles.truth import working

PLAN = Contour(True, 0.0, 0.0, 0.0, 0.0, 0.0, 0.0, 0.0)
EFFORT = Effort(1e-9, 1e9)
Setting = tuple[float, float, int, float]
Maker = Callable[[float, float, int], Laws]
SETTINGS: list[Setting] = [(4.0, 0.01, 500, 0.3), (6.0, 0.02, 300, 0.15), (5.0, 0.05, 100, 0.6)]
"""Noise, rate, rounds and ε of which the plain contour proves many digits."""


def laws_of(sigma: float, q: float, count: int) -> Laws:
    return [(MixedNormalLaw(1 / sigma, q, "towards"), count)]


def whole_laws_of(sigma: float, q: float, count: int) -> Laws:
    return [(MixedWholeLaw(sigma, 1, q, "towards"), count)]


MAKERS = pytest.mark.parametrize("make", [laws_of, whole_laws_of], ids=["normal", "whole"])
"""Gaussian noise, and discrete Gaussian noise."""


SLOW = pytest.mark.slow_cases(*(f"setting2-{share}-whole" for share in (1e-12, 1e-4, 1e-2, 0.3)))


def plain(laws: Laws, y: float) -> Bracket:
    with np.errstate(all="ignore"):
        found = excess_at(Independent(laws, math.inf), y, 1e-10, 1e9)[0]
    assert found.upper - found.lower < 1e-8
    return found


@cache
def excess_of(make: Maker, setting: Setting) -> Bracket:
    """What the plain contour proves; it knows nothing of shares."""
    return plain(make(*setting[:3]), setting[3])


@cache
def goal_and_root_of(make: Maker, setting: Setting) -> tuple[Goal, Bracket]:
    """The excess as a goal, and what the plain contour proves of its root."""
    log_t = excess_of(make, setting).lower
    rest = math.log1p(-math.exp(log_t))
    goal = Goal((log_t - 1e-15, log_t + 1e-15), (rest - 1e-15, rest + 1e-15))
    with np.errstate(all="ignore"):
        return goal, excess_root(Independent(make(*setting[:3]), 10.0), goal, 1e-10, 1e9)[0]


@SLOW
@MAKERS
@pytest.mark.parametrize("share", [1e-12, 1e-4, 1e-2, 0.3])
@pytest.mark.parametrize("setting", SETTINGS)
def test_the_excess(setting: Setting, share: float, make: Maker, monkeypatch: pytest.MonkeyPatch) -> None:
    """With a large share the far rounds matter: neither side may leave them out or count them twice."""
    monkeypatch.setattr(far_rounds, "_SHARE", math.log(share))
    monkeypatch.setattr(far_rounds, "_DEEP", 10.0)
    laws, y, truth = make(*setting[:3]), setting[3], excess_of(make, setting)
    rough = Bracket(truth.lower - 2, truth.upper + 2, PLAN, 0, True)
    with np.errstate(all="ignore"):
        found = far_rounds.excess(laws, y, rough, EFFORT)
    assert found.lower <= truth.upper
    assert found.upper >= truth.lower
    assert share > 1e-5 or found.upper - found.lower < 1e-8
    if share < 1e-3:
        assert found.upper - found.lower < 20 * share + 1e-8


@SLOW
@MAKERS
@pytest.mark.parametrize("share", [1e-12, 1e-4, 1e-2])
@pytest.mark.parametrize("setting", SETTINGS)
def test_the_root(setting: Setting, share: float, make: Maker, monkeypatch: pytest.MonkeyPatch) -> None:
    goal, truth = goal_and_root_of(make, setting)
    monkeypatch.setattr(far_rounds, "_SHARE", math.log(share))
    monkeypatch.setattr(far_rounds, "_DEEP", 10.0)
    laws, y = make(*setting[:3]), setting[3]
    with np.errstate(all="ignore"):
        found = far_rounds.root(laws, goal, Bracket(0.5 * y, 2 * y, PLAN, 0, True), lambda _: 10.0, EFFORT)
    assert truth.upper - truth.lower < 1e-8
    assert found.lower <= truth.upper
    assert found.upper >= truth.lower
    assert found.upper - found.lower < 10 * share + 1e-8


@pytest.mark.parametrize("end", [0, 2, 5])
def test_one_round_on_whole_numbers(end: int) -> None:
    """What lies beyond the end, number by number: its masses, and its part of the excess between the two bounds."""
    law = MixedWholeLaw(1.5, 2, 0.1, "towards")
    cut = CutWholeLaw(law, end)
    near = far_rounds.Near([], [(cut, 1)])
    with working(200):
        beyond = pair(1.5, 2, 0.1, "towards", 60)[60 + end + 1 :]
        own, other = cut.beyond()
        assert own.overlaps(sum((p for p, _ in beyond), arb(0)) + arb(0, 1e-40))
        assert other.overlaps(sum((q for _, q in beyond), arb(0)) + arb(0, 1e-40))
        for y in (0.0, 0.5, 1.5, 3.0):
            part = sum(((p - arb(y).exp() * q).max(arb(0)) for p, q in beyond), arb(0))
            assert near.least(arb(y)) <= part + 1e-40
            assert part <= near.far()[0] + 1e-40
        listed = pair(1.5, 2, 0.1, "towards", 60)[: 60 + end + 1]
        for c in (0.25, 3.0, 400.0):
            truth = sum((p * (arb(c) * (p / q).log()).exp() for p, q in listed), arb(0)).log()
            assert cut.log_mean(c).overlaps(truth)
            assert cut.log_mean(c).rad() < 1e-15
    with pytest.raises(ArithmeticError):
        cut.sides(0.0)
    with pytest.raises(ArithmeticError):
        cut.mean()


@pytest.mark.parametrize("end", [2.0, 4.0, 7.0])
def test_one_round_in_closed_form(end: float) -> None:
    """E[(1 - e^{y-L})_+; x > end] of one round from normal tails, between the two bounds, and the lower where L > y."""
    law = MixedNormalLaw(1.0, 0.1, "towards")
    near = far_rounds.Near([], [(CutNormalLaw(law, end), 1)])
    with working(200):
        for y in (0.0, 0.5, 1.5, 3.0):
            crossing = law._crossing(arb(y))
            assert crossing is not None
            place = crossing.max(arb(end))
            plain, shifted = (((place - m) / arb(2).sqrt()).erfc() / 2 for m in (0, 1))
            truth = (1 - arb(0.1)) * plain + arb(0.1) * shifted - arb(y).exp() * plain
            assert not near.least(arb(y)) > truth
            assert not truth > near.far()[0]
            if crossing < end:
                assert near.least(arb(y)).overlaps(truth)


@pytest.mark.parametrize("y", [0.3, 1.0, 2.5])
@pytest.mark.parametrize("share", [0.5, 1e-2])
def test_how_the_parts_are_put_together(y: float, share: float, monkeypatch: pytest.MonkeyPatch) -> None:
    """With the first part of one round in closed form, in place of the contour's."""
    law = MixedNormalLaw(1.0, 0.1, "towards")
    monkeypatch.setattr(far_rounds, "_SHARE", math.log(share))
    monkeypatch.setattr(far_rounds, "_DEEP", math.inf)
    with working(200):
        whole = law.excess(y)
        near = far_rounds.Near.of([(law, 1)], float(whole.log()))
        assert near is not None
        place = law._crossing(arb(y))
        assert place is not None
        plain, shifted = (((place.max(arb(near.cut[0][0].end)) - m) / arb(2).sqrt()).erfc() / 2 for m in (0, 1))
        first = float((whole - (1 - arb(0.1)) * plain - arb(0.1) * shifted + arb(y).exp() * plain).log())
    log_t = float(whole.log())
    assert first < log_t - 1e-3 * share
    known = Bracket(log_t - 1e-6, log_t + 1, PLAN, 0, True)
    near_first = Bracket(first - 1e-12, first + 1e-12, PLAN, 0, True)
    asked: list[Goal] = []
    monkeypatch.setattr(far_rounds, "excess_at", lambda *_: (near_first, None))

    def ask(source: Independent, goal: Goal, *_: float) -> tuple[Bracket, None]:
        asked.append(goal)
        return near_first, None

    monkeypatch.setattr(far_rounds, "excess_root", ask)
    found = far_rounds.excess([(law, 1)], y, known, EFFORT)
    assert found.lower <= log_t <= found.upper
    rest = math.log1p(-math.exp(log_t))
    far_rounds.root(
        [(law, 1)], Goal((log_t, log_t), (rest, rest)), Bracket(0.9 * y, 1.1 * y, PLAN, 0, True), abs, EFFORT
    )
    assert asked[0].log_t[0] <= first <= asked[0].log_t[1]
    assert asked[0].log_rest[0] <= math.log1p(-math.exp(first)) <= asked[0].log_rest[1]


def test_the_probability_of_any_far_round() -> None:
    """Against whole powers of rationals, for several kinds."""
    parts = [
        (CutNormalLaw(MixedNormalLaw(0.5, q, "towards"), end), n) for q, end, n in ((0.1, 3.0, 20), (0.01, 4.0, 7))
    ]
    near = far_rounds.Near([], parts)
    with working(300):
        for side, value in enumerate(near.far()):
            none = Fraction(1)
            for law, count in parts:
                none *= (1 - Fraction(str(law.beyond()[side].mid().str(40, radius=False)))) ** count
            assert abs(float(value.mid()) / float(1 - none) - 1) < 1e-12


def test_only_what_is_far_is_cut() -> None:
    towards, away = (MixedNormalLaw(0.25, 1e-3, way) for way in ("towards", "away"))
    assert far_rounds.Near.of([(away, 5), (NormalLaw(lambda: arb(0.25)), 1)], -20.0) is None
    near = far_rounds.Near.of([(towards, 5), (NormalLaw(lambda: arb(0.25)), 1)], -20.0)
    assert near is not None
    assert [type(law) for law, _ in near.laws] == [CutNormalLaw, NormalLaw]
    with working(100):
        assert near.far()[0] < 1.01e-12 * math.exp(-20)
        assert near.far()[0] > 1e-13 * math.exp(-20)


@pytest.mark.parametrize(
    ("sigma", "q", "rounds", "epsilon", "value"),
    [
        (4, 1 / 3000, 10_000, 0.08, 4.6493e-24),
        (3, 1e-3, 2000, 0.1, 2.514306e-13),
        (4, 1 / 3000, 10_000, 0.0679, 1.10366e-18),
    ],
)
def test_heavy_tails_are_narrow(sigma: float, q: float, rounds: int, epsilon: float, value: float) -> None:
    """About the values of a plain sum over a grid; without the cut the first was known to no digit."""
    found = compose({PoissonSubsampled(Gaussian(sigma), q): rounds}, epsilon=epsilon)
    assert found.upper - found.lower < 1e-9 * found.upper
    assert abs(found.upper / value - 1) < 2e-5
    back = compose({PoissonSubsampled(Gaussian(sigma), q): rounds}, delta=found.upper)
    assert back.lower <= epsilon <= back.upper * (1 + 1e-12)
    assert back.upper - back.lower < 1e-9 * back.upper


RATES = ["0.0002", "0.0003", "0.00033", "0.000331", "0.000332", "0.000335"]


@pytest.mark.parametrize("rates", [RATES[3:4], pytest.param(RATES, marks=pytest.mark.slow)], ids=["one rate", "six"])
def test_a_root_of_which_nothing_is_known_is_narrow_too(rates: list[str]) -> None:
    """The plain contour proves only ε >= 0 for some of these rates, and not for their neighbours."""
    before = 0.0
    for rate in rates:
        rounds = {PoissonSubsampled(Gaussian(4), rate): 10**4}
        found = compose(rounds, delta=1e-6)
        assert found.upper - found.lower <= 1e-9 * found.upper, rate
        assert before < found.lower, rate  # more often in the sample, more privacy spent
        before = found.upper
        at_lower, at_upper = (compose(rounds, epsilon=end) for end in (found.lower, found.upper))
        assert at_lower.upper >= 1e-6 >= at_upper.lower, rate
        assert at_lower.upper <= 1e-6 * (1 + 1e-5), rate


def test_the_root_needs_no_lower_end(monkeypatch: pytest.MonkeyPatch) -> None:
    """With a large share the far rounds matter, and nothing but an upper end is known."""
    monkeypatch.setattr(far_rounds, "_SHARE", math.log(0.3))
    monkeypatch.setattr(far_rounds, "_DEEP", math.inf)
    for sigma, q, count, epsilon in SETTINGS:
        laws = laws_of(sigma, q, count)
        log_t = plain(laws, epsilon)
        rest = math.log(-math.expm1(log_t.upper)), math.log(-math.expm1(log_t.lower))
        known = Bracket(0.0, 2 * epsilon, PLAN, 0, True)
        with np.errstate(all="ignore"):
            found = far_rounds.root(laws, Goal((log_t.lower, log_t.upper), rest), known, lambda _: math.inf, EFFORT)
        assert found.lower <= epsilon <= found.upper
        assert found.lower > 0
        assert found.upper < 2 * epsilon
