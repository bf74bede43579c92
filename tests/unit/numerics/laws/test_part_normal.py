"""The part of a loss with x between two ends: moments, φ and fading against rigorous integration."""

from __future__ import annotations

import math
from functools import cache

import numpy as np
import pytest
from flint import acb, arb

from optcomp.numerics.laws import MixedNormalLaw, PartNormalLaw, tails
from tests.oracles.truth import working

Setting = tuple[float, float, float, float, float]
"""μ, q, both ends and tilt."""
NONE: list[Setting] = [
    (2.0, 1e-6, -math.inf, 7.4140625, 55.0),
    (1.0, 0.3, -math.inf, 2.125, 1.0),
    (0.5, 1e-3, -math.inf, 9.5009765625, 300.0),
]
MIDDLE: list[Setting] = [
    (2.0, 1e-6, 7.4140625, 7.4765625, 40.0),
    (1.0, 0.3, 2.125, 6.0009765625, 1.0),
    (0.5, 1e-3, 9.5009765625, 12.25, 100.0),
    (3.0, 1e-4, 4.75, 5.0, 0.0),
]
THETA = [0.0, 0.3, 2.0, 11.0, 300.0]


def law_of(setting: Setting, *, quick: bool = False) -> PartNormalLaw:
    return PartNormalLaw(MixedNormalLaw(setting[0], setting[1], "towards"), setting[2], setting[3], quick=quick)


@cache
def moment(setting: Setting, theta: float) -> acb:
    """E[e^{(c+iθ)L}; low < x <= high] from first principles."""
    mu, q, low, high, c = setting
    with working(110):

        def integrand(x: acb, analytic: bool) -> acb:
            ratio = 1 + arb(q) * ((mu * x - arb(mu) ** 2 / 2).exp() - 1)
            return (acb(c + 1, theta) * ratio.log(analytic=analytic) - x * x / 2).exp()

        return acb.integral(integrand, max(low, -20.0), high, eval_limit=10**6) / (2 * arb.pi()).sqrt()


@pytest.mark.parametrize("setting", [*NONE, *MIDDLE])
def test_the_mean_is_that_of_the_part(setting: Setting) -> None:
    """An end costs nothing, however large the integrand is there."""
    with working(110):
        claim, truth = law_of(setting).log_mean(setting[4]), moment(setting, 0.0).real.log()
        assert claim.overlaps(truth)
        assert claim.rad() < 1e-18


@pytest.mark.parametrize("setting", [*NONE, *MIDDLE])
def test_means_in_floats_hold_to_many_digits(setting: Setting) -> None:
    """They are asked for where some hundred rounds multiply the error."""
    with working(110):
        claim, truth = law_of(setting, quick=True).log_mean(setting[4]), moment(setting, 0.0).real.log()
        assert claim.contains(truth)
        assert claim.rad() < 1e-12


def test_nothing_is_known_where_there_would_be_too_many_points() -> None:
    with working(110):
        for quick in (False, True):
            assert law_of(NONE[1], quick=quick).log_mean(1e9).rad() > 1e200


@pytest.mark.parametrize("setting", [*NONE, *MIDDLE])
def test_guesses_are_near(setting: Setting) -> None:
    law, c = law_of(setting), setting[4]
    with np.errstate(all="ignore"):
        value, mean, square = (float(column[0]) for column in law.cumulants(np.array([c])))
    truth = float(moment(setting, 0.0).real.log().mid())
    assert abs(value - truth) <= 0.02 + 1e-3 * abs(truth)
    with working(110):
        step = 1e-3 * (1 + c)
        logs = [float(law.log_mean(c + move).mid()) for move in (-step, 0.0, step)]
    assert abs(mean - (logs[2] - logs[0]) / (2 * step)) <= 0.02 * abs(mean) + 1e-6
    assert square >= 0


@pytest.mark.parametrize("setting", [*NONE, *MIDDLE])
def test_waves_are_those_of_the_part(setting: Setting) -> None:
    law, theta = law_of(setting), np.array(THETA)
    waves = law.waves(setting[4], theta)
    with working(110):
        for i, place in enumerate(THETA):
            phi = moment(setting, place) / moment(setting, 0.0)
            angle = arb(float(waves.angle[i])) + arb(place) * arb(waves.centre)
            claim = acb(arb(float(waves.log_size[i])), angle).exp()
            assert waves.error[i] < 1e-9
            assert not abs((phi / claim).log()) > float(waves.error[i]), place
            assert not abs(phi) > arb(float(waves.log_most[i])).exp()


@pytest.mark.parametrize("setting", [*NONE, *MIDDLE])
def test_it_fades_no_faster_than_claimed(setting: Setting) -> None:
    law = law_of(setting)
    with working(110):
        sizes = [abs(moment(setting, place) / moment(setting, 0.0)) for place in THETA[1:]]
    for i, place in enumerate(THETA[1:]):
        assert all(not size > law.fade(setting[4], place) for size in sizes[i:])
    if setting in NONE:
        last = 1 - float(sizes[-1])
        assert law.fade(setting[4], THETA[-1]) < 1 - 0.3 * last


def test_the_probabilities_beyond_an_end() -> None:
    with working(110):
        own, other = tails(arb(0.5), arb(0.01), 3.0)
        assert other.overlaps((arb(3) / arb(2).sqrt()).erfc() / 2)
        assert own.overlaps(arb(0.01) * (arb(2.5) / arb(2).sqrt()).erfc() / 2 + (1 - arb(0.01)) * other)


def test_a_part_has_no_tail() -> None:
    law = law_of(NONE[0])
    assert not law.whole
    for ask in (law.mean, law.variance, lambda: law.tail(0.1), lambda: law.excess(0.1)):
        with pytest.raises(ArithmeticError):
            ask()
