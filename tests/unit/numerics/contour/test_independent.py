"""Sums of independent variables of any laws: φ of the whole, bounds on it, and brackets of the excess."""

from __future__ import annotations

import math
from fractions import Fraction

import numpy as np
import pytest
from flint import acb, arb

from optcomp.guarantees.choices import response
from optcomp.guarantees.noise import normal
from optcomp.numerics.contour.bracket import Goal, excess_at, excess_plan, excess_root, root_plan
from optcomp.numerics.contour.independent import Independent
from optcomp.numerics.laws.discrete_gaussian import DiscreteGaussianLaw
from optcomp.numerics.laws.laplace import LaplaceLaw
from optcomp.numerics.laws.law import Law
from optcomp.numerics.laws.mixed_normal import MixedNormalLaw
from tests.oracles.losses import (
    Beside,
    Moment,
    discrete_gaussian_moment,
    gaussian_moment,
    laplace_moment,
    response_atoms,
    response_moment,
    subsampled_gaussian_moment,
    sums_of,
    variance_hockey,
)
from tests.oracles.truth import working

Laws = list[tuple[Law, int]]

MIXTURES: dict[str, list[tuple[Law, Moment, int]]] = {
    "normal and laplace": [(normal(0.5), gaussian_moment(0.5), 1), (LaplaceLaw(0.25), laplace_moment(0.25), 7)],
    "responses": [(response(0.5, 3), response_moment(0.5, 3), 40), (response(2.0, 9), response_moment(2.0, 9), 3)],
    "a million": [(response(1e-3, 3), response_moment(1e-3, 3), 10**6), (normal(0.1), gaussian_moment(0.1), 2)],
    "discrete": [(DiscreteGaussianLaw(2.0, 1), discrete_gaussian_moment(2.0, 1), 5)],
    "subsampled": [
        (MixedNormalLaw(0.5, 0.1, "towards"), subsampled_gaussian_moment(0.5, 0.1, "towards"), 50),
        (LaplaceLaw(1.0), laplace_moment(1.0), 2),
    ],
}


def whole_of(name: str) -> Independent:
    return Independent([(law, copies) for law, _, copies in MIXTURES[name]], math.inf)


def moment_of(name: str, s: acb) -> acb:
    product = acb(1)
    for _, moment, copies in MIXTURES[name]:
        product *= moment(s) ** copies
    return product


@pytest.mark.parametrize("name", list(MIXTURES))
@pytest.mark.parametrize("c", [-0.25, 2.0**-10, 1.5, 20.0])
def test_values_within_their_errors(name: str, c: float) -> None:
    whole = whole_of(name)
    theta = np.array([0.0, 1e-4, 0.013, 0.4, 1.1, 2.7, 11.0, 30.0])
    with np.errstate(all="ignore"):
        real, imag, error = whole.values(c, theta)
    with working(300):
        base = moment_of(name, acb(c))
        for place, a, b, slack in zip(theta.tolist(), real.tolist(), imag.tolist(), error.tolist(), strict=True):
            true = moment_of(name, acb(c, place)) / base
            assert not abs(true - acb(a, b)) > slack + 1e-300
            for middle, radius in ((place, 0.0), (place + 0.19, 0.2), (place - 0.019, 0.02)):
                most = arb(whole.log_most_near(c, middle, radius)).exp()
                assert not abs(true) > most * (1 + 1e-8) + 1e-300
            if place:
                assert not abs(true) > arb(whole.log_fade(c, 0.9 * place)).exp() * (1 + 1e-9) + 1e-299


@pytest.mark.parametrize("name", list(MIXTURES))
def test_guesses_are_good_enough_for_a_plan(name: str) -> None:
    whole, c = whole_of(name), np.array([-0.25, 0.3, 2.0])
    value, slope, curve = whole.cumulants(c)
    with working(300):
        step = arb(2) ** -60
        for i, tilt in enumerate(c.tolist()):
            low, here, high = (moment_of(name, acb(arb(tilt) + move)).real.log() for move in (-step, arb(0), step))
            assert value[i] == pytest.approx(float(here.mid()), rel=1e-3, abs=1e-3)
            assert slope[i] == pytest.approx(float(((high - low) / (2 * step)).mid()), rel=0.1)
            assert curve[i] == pytest.approx(float(((high - 2 * here + low) / step**2).mid()), rel=0.2)


ATOMS: list[tuple[Laws, list[tuple[float, int, int]], Fraction]] = [
    ([(normal(0.5), 1), (response(0.5, 3), 4)], [(0.5, 3, 4)], Fraction(1, 4)),
    ([(normal(2.0), 3), (response(0.25, 2), 9)], [(0.25, 2, 9)], Fraction(12)),
    ([(normal(1e-3), 1), (response(1e-3, 7), 3)], [(1e-3, 7, 3)], Fraction(1e-3) ** 2),
    ([(normal(8.0), 1), (response(5.0, 4), 2), (response(0.1, 2), 2)], [(5.0, 4, 2), (0.1, 2, 2)], Fraction(64)),
]


@pytest.mark.parametrize("index", range(len(ATOMS)))
def test_excess_between_its_ends(index: int) -> None:
    laws, known, square = ATOMS[index]
    truth = Beside([variance_hockey(square)], lambda: sums_of([(response_atoms(e, n), m) for e, n, m in known]))
    spread = math.sqrt(float(square)) + sum(e * m for e, _, m in known)
    for share in (0.0, 1e-3, 0.1, 0.5, 1.0, 2.0, 4.0):
        y = share * spread
        with np.errstate(all="ignore"):
            found = excess_at(Independent(laws, math.inf), y, 1e-9, 5e8)[0]
        with working(300):
            true = truth.excess(Fraction(y), 300).log()
            assert arb(found.lower) <= true <= arb(found.upper)
        assert found.upper - found.lower < 2e-9


@pytest.mark.parametrize("index", range(len(ATOMS)))
@pytest.mark.parametrize("log_t", [-0.01, -0.7, -3.0, -20.0, -200.0])
def test_roots_between_their_ends(index: int, log_t: float) -> None:
    laws, known, square = ATOMS[index]
    truth = Beside([variance_hockey(square)], lambda: sums_of([(response_atoms(e, n), m) for e, n, m in known]))
    rest = math.log(-math.expm1(log_t))
    goal = Goal((log_t, log_t), (math.nextafter(rest, -math.inf), math.nextafter(rest, 0.0)))
    end = sum(e * m for e, _, m in known) + 60 * math.sqrt(float(square)) + 30 * float(square)
    with np.errstate(all="ignore"):
        found = excess_root(Independent(laws, end), goal, 1e-9, 5e8)[0]
    with working(300):
        t = arb(log_t).exp()
        assert not truth.excess(Fraction(found.upper), 300) > t
        assert found.lower == 0 or not truth.excess(Fraction(found.lower), 300) < t
    assert found.upper == 0 or found.upper - found.lower <= 1.1e-9 * found.upper


def test_a_cap_before_the_law_has_faded_leaves_a_useful_bracket() -> None:
    """The plan needs no smoothing, but the work ends early: the smoothing that cuts there must reach far enough."""
    law = MixedNormalLaw(1 / 0.65, 2.3e-4, "towards")
    log_t = math.log(3.4e-18)
    with np.errstate(all="ignore"):
        found, made = excess_root(Independent([(law, 7)], 20.0), Goal((log_t, log_t), (-1e-17, 0.0)), 1e-9, 5e8)
    assert made.capped
    assert made.nodes.near < 10 * made.integral.plan.share
    assert found.upper - found.lower < 1e-4 * found.upper


@pytest.mark.parametrize(
    ("q", "sigma", "rounds", "y", "t", "cheap"),
    [(0.01, 1.0, 1000, 1.8, 1e-5, True), (0.001, 0.5, 20, 1.4, 1e-5, False), (0.02, 0.1, 50, 355.0, 1e-5, False)],
)
def test_work_is_known_beforehand(q: float, sigma: float, rounds: int, y: float, t: float, cheap: bool) -> None:
    """What fades late takes a thousand times the work of what does not, and that is seen without doing it."""
    whole = Independent([(MixedNormalLaw(1 / sigma, q, "towards"), rounds)], 10 * y)
    log_t, rest = math.log(t), math.log1p(-t)
    plans = root_plan(whole, Goal((log_t, log_t), (rest, rest)), 1e-9), excess_plan(whole, y, 1e-9)
    for plan in plans:
        assert (whole.about_work(plan) < 1e8) == cheap
        assert whole.about_work(plan) < (1e8 if cheap else math.inf)
