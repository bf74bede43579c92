"""Losses on whole numbers: what is not listed is counted, and much noise is served by points of Gaussian noise."""

from __future__ import annotations

import math
from typing import Any

import numpy as np
import pytest
from flint import acb, arb

from optcomp.numerics.laws import MixedNormalLaw, MixedWholeLaw, ReplacedWholeLaw, WholeLaw, whole_law
from optcomp.numerics.laws.mixed_normal import Direction
from optcomp.numerics.laws.mixed_shape import Rule
from tests.oracles.sampled_whole import Side, pair, whole_hockey, whole_moment
from tests.oracles.truth import working

SIDES: tuple[Side, ...] = ("towards", "away", "replaced")
WAYS: tuple[Direction, ...] = ("towards", "away")


def law_of(sigma: float, shift: int, q: float, side: Side) -> WholeLaw:
    return ReplacedWholeLaw(sigma, shift, q) if side == "replaced" else MixedWholeLaw(sigma, shift, q, side)


def gap(law: WholeLaw, sigma: float, shift: int, q: float, side: Side, c: float, theta: float) -> float:
    """By how much φ(θ) is off, in units of the claimed error; infinite if no error is claimed."""
    waves = law.waves(c, np.array([theta]))
    with working(200):
        moment = whole_moment(sigma, shift, q, side)
        phi = moment(acb(c, theta)) / moment(acb(c))
        angle = arb(float(waves.angle[0])) + arb(theta) * arb(waves.centre)
        off = abs((phi / acb(arb(float(waves.log_size[0])), angle).exp()).log())
        return float(off.mid()) / float(waves.error[0]) if waves.error[0] else math.inf


@pytest.mark.parametrize("side", SIDES)
@pytest.mark.parametrize("wide", [1.0, 2.0, 4.0])
def test_what_is_not_listed_is_counted(side: Side, wide: float, monkeypatch: pytest.MonkeyPatch) -> None:
    """With few numbers listed the bounds are wide and hold; without what is beyond them they do not."""
    monkeypatch.setattr(whole_law, "_WIDE", wide)
    for c in (0.25, 3.0):
        setting = (1.5, 1, 0.2, side)
        law = law_of(*setting)
        with working(128):
            truth = whole_moment(*setting)(acb(c)).real.log()
            assert law.log_mean(c).contains(truth)
        assert gap(law, *setting, c, 7.0) <= 1
        bare = law_of(*setting)
        with monkeypatch.context() as patched:
            patched.setattr(WholeLaw, "rest", lambda *_: 0.0)
            with working(128):
                assert not bare.log_mean(c).overlaps(truth), "the bound on the rest is not needed"
            assert gap(bare, *setting, c, 7.0) > 1


@pytest.mark.parametrize("side", SIDES)
@pytest.mark.parametrize("c", [-1.0, -0.5, 0.0, 0.25, 4.0, 60.0])
def test_the_rest_is_at_most_what_is_claimed(side: Side, c: float, monkeypatch: pytest.MonkeyPatch) -> None:
    """Number by number, left and right of what is listed; and not much more is claimed where the series is steep."""
    monkeypatch.setattr(whole_law, "_WIDE", 2.0)
    sigma, shift, q = 2.0, 2, 0.1
    law = law_of(sigma, shift, q, side)
    first, last = law.ends(c)
    with working(300):
        reach = 400
        terms = [p * (arb(c) * (p / r).log()).exp() for p, r in pair(sigma, shift, q, side, reach)]
        listed = sum(terms[first + reach : last + reach + 1], arb(0))
        rest = sum(terms[: first + reach], arb(0)) + sum(terms[last + reach + 1 :], arb(0))
        share = float((rest / listed).mid())
        square = 2 * arb(sigma) ** 2
        whole = sum(((arb(-x * x) / square).exp() for x in range(-reach, reach + 1)), arb(0))
        claimed = law.rest(c, float((listed * whole).log().mid()))
    assert share <= claimed
    assert claimed < 1


@pytest.mark.parametrize("way", WAYS)
def test_much_noise_takes_few_points(way: Direction) -> None:
    """The rule for Gaussian noise has fewer points than there are whole numbers, and both are near the integral."""
    sigma, shift, q = 300.0, 200, 0.01
    law = MixedWholeLaw(sigma, shift, q, way)
    for c, theta in ((0.25, 0.0), (0.25, 20.0), (5.0, 150.0)):
        assert law.points(c, theta) < 0.5 * (law.ends(c)[1] - law.ends(c)[0])
        assert theta == 0 or gap(law, sigma, shift, q, way, c, theta) <= 1
    with working(128):
        for c in (-0.5, 0.25, 5.0):
            truth = whole_moment(sigma, shift, q, way)(acb(c)).real.log()
            assert law.log_mean(c).overlaps(truth)
            assert law.log_mean(c).rad() < 1e-20


@pytest.mark.parametrize("way", WAYS)
def test_what_points_miss_is_counted(way: Direction, monkeypatch: pytest.MonkeyPatch) -> None:
    """With a rule that is coarse the bounds are wide and hold; with its error left out they do not."""
    fine = MixedNormalLaw.rule
    monkeypatch.setattr(MixedNormalLaw, "rule", lambda law, c, theta, _=0.0: fine(law, c, theta, 5.0))
    sigma, shift, q, c = 60.0, 60, 0.2, 3.0
    law = MixedWholeLaw(sigma, shift, q, way)
    assert law.points(c, 3.0) < 100
    with working(128):
        truth = whole_moment(sigma, shift, q, way)(acb(c)).real.log()
        assert law.log_mean(c).contains(truth)
    assert gap(law, sigma, shift, q, way, c, 3.0) <= 1

    def exact(law: Any, c: float, theta: float, _: float = 0.0) -> Rule:
        known = fine(law, c, theta, 5.0)
        return Rule(known.step, known.runs, 0.0)

    monkeypatch.setattr(MixedNormalLaw, "rule", exact)
    bare = MixedWholeLaw(sigma, shift, q, way)
    with working(128):
        assert not bare.log_mean(c).overlaps(truth)
    assert gap(bare, sigma, shift, q, way, c, 3.0) > 1


@pytest.mark.parametrize("side", SIDES)
def test_at_an_atom_both_answers_are_told(side: Side) -> None:
    """Where y is a loss itself it is undecided whether L > y: the excess does not mind, the tail has both values."""
    setting = (1.0, 1, 0.25, side)
    law = law_of(*setting)
    with working(200):
        listed = pair(*setting, 12)
        for x in (-1, 0, 1, 2):
            p, r = listed[x + 12]
            y = (p / r).log()
            above = [(a, b) for a, b in listed if (a / b).log() > y + arb(1e-20)]
            own = sum((a for a, _ in above), arb(0))
            tail = law.tail(y)
            assert tail.overlaps(own + arb(0, 1e-25))
            assert tail.overlaps(own + p + arb(0, 1e-25))
            truth = whole_hockey(*setting)(y)
            assert law.excess(y).overlaps(truth)
            assert law.excess(y).rad() < 1e-25
            assert law.excess_over(y, arb(1e-3)).overlaps(truth - arb(1e-3))


def test_nothing_is_claimed_of_a_place_that_is_not_known() -> None:
    for side in SIDES:
        own, other = law_of(1.0, 1, 0.25, side).sides(arb(0.1, 3.0))
        assert own.contains(arb(0.5)) or own.contains(arb(0))
        assert other.contains(arb(0.5)) or other.contains(arb(0))
