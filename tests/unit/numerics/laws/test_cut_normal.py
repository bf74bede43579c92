"""The part of a loss with x <= an end: moments, φ and fading against rigorous integration; what an end costs."""

from __future__ import annotations

import math
from functools import cache
from typing import Any

import numpy as np
import numpy.typing as npt
import pytest
from flint import acb, arb

from optcomp.numerics.contour import Contour, Independent
from optcomp.numerics.laws import CutNormalLaw, MixedNormalLaw
from optcomp.numerics.laws.mixed_shape import Shape
from tests.oracles.truth import working

Setting = tuple[float, float, float, float]
"""μ, q, end and tilt."""
DEEP: list[Setting] = [(0.25, 1 / 3000, 12.5, 900.0), (0.5, 0.01, 11.0, 20.0), (1.0, 0.3, 13.0, 2.0)]
SHALLOW: list[Setting] = [(1.0, 0.3, 5.0, 0.0), (1.0, 0.3, 6.5, 1.0), (2.0, 1e-3, 7.0, 3.0), (0.1, 0.5, 4.0, 5.0)]


def law_of(setting: Setting) -> CutNormalLaw:
    return CutNormalLaw(MixedNormalLaw(setting[0], setting[1], "towards"), setting[2])


@cache
def moment(setting: Setting, theta: float) -> acb:
    """E[e^{(c+iθ)L}; x <= end] from first principles."""
    mu, q, end, c = setting
    with working(110):

        def integrand(x: acb, analytic: bool) -> acb:
            ratio = 1 + arb(q) * ((mu * x - arb(mu) ** 2 / 2).exp() - 1)
            return (acb(c + 1, theta) * ratio.log(analytic=analytic) - x * x / 2).exp()

        return acb.integral(integrand, -20, end, eval_limit=10**6) / (2 * arb.pi()).sqrt()


@pytest.mark.parametrize("setting", [*DEEP, *SHALLOW])
def test_the_mean_is_that_of_the_part(setting: Setting) -> None:
    with working(110):
        claim, truth = law_of(setting).log_mean(setting[3]), moment(setting, 0.0).real.log()
        assert claim.overlaps(truth)
        assert claim.rad() < (1e-15 if setting in DEEP else 0.5)


@pytest.mark.parametrize("setting", [*DEEP, *SHALLOW])
def test_waves_are_those_of_the_part(setting: Setting) -> None:
    law, theta = law_of(setting), np.array([0.0, 0.3, 2.0, 11.0])
    waves = law.waves(setting[3], theta)
    with working(110):
        for i, place in enumerate(theta.tolist()):
            phi = moment(setting, place) / moment(setting, 0.0)
            angle = arb(float(waves.angle[i])) + arb(place) * arb(waves.centre)
            claim = acb(arb(float(waves.log_size[i])), angle).exp()
            if waves.error[i] < 0.5:
                assert not abs((phi / claim).log()) > float(waves.error[i]), place
            assert not abs(phi) > arb(float(waves.log_most[i])).exp()
            assert setting in SHALLOW or waves.error[i] < 1e-11


@pytest.mark.parametrize("setting", [*DEEP, *SHALLOW])
def test_it_fades_no_faster_than_claimed(setting: Setting) -> None:
    law = law_of(setting)
    places = [0.5, 3.0, 12.0, 40.0] if setting[0] >= 0.5 else [3.0, 100.0, 700.0]
    with working(110):
        sizes = [abs(moment(setting, place) / moment(setting, 0.0)) for place in places]
    for i, place in enumerate(places):
        claim = law.fade(setting[3], place)
        assert all(not size > claim for size in sizes[i:])
    assert setting in SHALLOW or law.fade(setting[3], places[-1]) < 1 - 0.4 * (1 - float(sizes[-1]))


@pytest.mark.parametrize("theta", [0.0, 5.0, 40.0])
@pytest.mark.parametrize("step", [0.1, 0.17, 0.3])
def test_what_an_end_costs(theta: float, step: float) -> None:
    """The piece behind the last place halfway between two points, and the upright pieces there, by sums in floats."""
    mu, q, power = 1.0, 0.3, 1.0
    end = 4.5 * step + 0.95 * step  # the last such place is nearly a step before the end
    shape = Shape(mu, q, math.log(1 - q), power, end)
    last = 4.5 * step

    def size(z: npt.NDArray[Any]) -> npt.NDArray[np.float64]:
        ratio = 1 - q + q * np.exp(mu * z - 0.5 * mu**2)
        return np.asarray(np.exp((-0.5 * z * z).real + power * np.log(np.abs(ratio)) + theta * np.angle(ratio)))

    behind = last + (end - last) * (np.arange(1000) + 0.5) / 1000
    low = shape._low(step, theta)
    b = low * (np.arange(1000) + 0.5) / 1000
    piece = float(size(behind + 0j).mean()) * (end - last)
    upright = 2 * float((size(last + 1j * b) / (1 + np.exp(2 * math.pi * b / step))).mean()) * low
    assert (piece + upright) * math.exp(-shape.top) <= shape._cut(theta, step)


def test_the_cost_of_an_end_is_counted(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(Shape, "_cut", lambda *_: 7.0)
    law = law_of(DEEP[0])
    assert law.rule(900.0, 1.0).missed >= 7 / law.shape(900.0).least


@pytest.mark.parametrize("setting", SHALLOW)
def test_the_last_step_before_an_end_has_no_points(setting: Setting) -> None:
    law = law_of(setting)
    for theta in (0.0, 30.0):
        rule = law.rule(setting[3], theta)
        assert rule.step * int(rule.index().max()) <= setting[2] - rule.step


def test_nothing_beyond_the_end_is_summed() -> None:
    law = law_of(DEEP[0])
    for theta in (0.0, 1.0, 500.0):
        rule = law.rule(900.0, theta)
        assert rule.step * int(rule.index().max()) < 12.5 - rule.step
    assert law.shape(900.0).tails[1] == 0
    assert not law.whole


def test_the_probabilities_left_out() -> None:
    mu, q, end, _ = DEEP[1]
    with working(110):
        own, other = law_of(DEEP[1]).beyond()
        assert other.overlaps((arb(end) / arb(2).sqrt()).erfc() / 2)
        shifted = ((arb(end) - arb(mu)) / arb(2).sqrt()).erfc() / 2
        assert own.overlaps(arb(q) * shifted + (1 - arb(q)) * other)
        assert moment((mu, q, 3.0, 0.0), 0.0).real.overlaps(1 - law_of((mu, q, 3.0, 0.0)).beyond()[0])


def test_a_part_has_no_tail() -> None:
    law = law_of(DEEP[0])
    for ask in (law.mean, law.variance, lambda: law.tail(0.1), lambda: law.excess(0.1)):
        with pytest.raises(ArithmeticError):
            ask()


def test_a_plan_for_the_rest_proves_nothing_of_a_part() -> None:
    """1 - F is not what such a plan integrates if some probability is left out."""
    source = Independent([(law_of(DEEP[1]), 50)], 10.0)
    plan = Contour(False, -0.25, 0.1, 0.5, -0.125, -0.5, 1e-4, 1e-3)
    sides = source.anchor(plan, 1e7).integral.sides(0.1)
    assert (sides.least, sides.most) == (-math.inf, math.inf)
    whole = Independent([(MixedNormalLaw(*DEEP[1][:2], "towards"), 50)], 10.0).anchor(plan, 1e7).integral.sides(0.1)
    assert math.isfinite(whole.most)
