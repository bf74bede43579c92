"""φ(θ) = E e^{(c+iθ)L}/E e^{cL} of every law: within its claimed error, and below every bound claimed for it."""

from __future__ import annotations

import math
from functools import cache
from random import Random

import numpy as np
import pytest
from flint import acb, arb

from optcomp.numerics.laws.law import Law, Waves
from optcomp.numerics.laws.mixed_laplace import MixedLaplaceLaw
from optcomp.numerics.laws.mixed_normal import Direction, MixedNormalLaw
from tests.oracles.truth import working
from tests.unit.numerics.laws.known import KNOWN, Known, moment_at

TILTS = (-0.25, -(2.0**-24), 2.0**-24, 2.0**-10, 0.25, 3.0, 50.0)
LEAST = 1e-300
"""What is smaller than this counts as nothing."""


@cache
def law_of(name: str) -> Law:
    return KNOWN[name].make()


def places(known: Known, seed: int, count: int) -> list[float]:
    """Zero, some places on a logarithmic scale, and the furthest."""
    rng, top = Random(seed), math.log10(known.furthest)
    return [0.0, *sorted(10 ** rng.uniform(-5, top) for _ in range(count)), known.furthest]


def truth(name: str, c: float, theta: float) -> acb:
    return moment_at(name, c, theta) / moment_at(name, c)


def claimed(waves: Waves, index: int, theta: float) -> acb:
    angle = arb(float(waves.angle[index])) + arb(theta) * arb(waves.centre)
    return acb(arb(float(waves.log_size[index])), angle).exp()


def tilts_of(name: str) -> tuple[float, ...]:
    """Those that the oracle affords: integrals over wide ranges take their time."""
    return TILTS if not name.startswith("subsampled") else (-0.25, 2.0**-24, 0.25, 3.0)


@pytest.mark.slow_cases("subsampled normal 5.0 0.3 replaced")
@pytest.mark.parametrize("name", list(KNOWN))
def test_values_and_bounds(name: str) -> None:
    known, law = KNOWN[name], law_of(name)
    for number, c in enumerate(tilts_of(name)):
        theta = places(known, number, 4 if name.startswith("subsampled") else 8)
        with np.errstate(all="ignore"):
            waves = law.waves(c, np.array(theta))
        assert not np.isnan(waves.error).any()
        assert not np.isnan(waves.log_most).any()
        with working(known.bits):
            for i, place in enumerate(theta):
                phi = truth(name, c, place)
                if waves.error[i] < 0.5:
                    gap = abs((phi / claimed(waves, i, place)).log())
                    assert not gap > float(waves.error[i]), (c, place)
                    assert gap.rad() <= 1e-12, "the oracle is too wide to tell"
                assert not abs(phi) > arb(float(waves.log_most[i])).exp() + LEAST, (c, place)
                _check_bounds(law, c, place, abs(phi))


def _check_bounds(law: Law, c: float, place: float, size: arb) -> None:
    with np.errstate(all="ignore"):
        for share in (0.05, 0.5, 0.999) if place else ():
            assert not size > law.fade(c, share * place) + LEAST, (c, place)
        for radius in (0.0, 1e-3 * place, 0.3 * place):
            for middle in (place - 0.999 * radius, place + 0.999 * radius):
                assert not size > arb(law.log_most_near(c, middle, radius)).exp() * (1 + 1e-11), (c, place, radius)


@pytest.mark.slow_cases("subsampled normal 5.0 0.3 replaced")
@pytest.mark.parametrize("name", list(KNOWN))
def test_slope_bounds_every_change(name: str) -> None:
    known, law = KNOWN[name], law_of(name)
    for c in (-0.25, 3.0):
        slope = law.slope(c)
        with working(known.bits):
            for place, step in ((0.0, 1e-2), (0.3, 1e-6), (0.3, 1.0), (4.0, 0.5)):
                change = abs(abs(truth(name, c, place + step)) - abs(truth(name, c, place)))
                assert not change > arb(slope) * step * (1 + 1e-9)


@pytest.mark.parametrize("name", ["subsampled normal 0.5 0.02 towards", "subsampled laplace 4.0 0.02 away"])
def test_long_runs_of_nodes(name: str) -> None:
    """Thousands of evenly spaced places take another route through the same points."""
    known, law = KNOWN[name], law_of(name)
    theta = np.linspace(0.0, known.furthest, 5000)
    waves = law.waves(0.25, theta)
    with working(known.bits):
        for i in (0, 1, 63, 64, 700, 2501, 4097, 4999):
            gap = abs((truth(name, 0.25, float(theta[i])) / claimed(waves, i, float(theta[i]))).log())
            assert not gap > float(waves.error[i])
            assert waves.error[i] < 1e-9


def test_round_off_of_long_runs_is_that_of_the_rare_points() -> None:
    """At a rate of 1e-6 nearly all mass lies about the mean: a million rounds must not multiply its round-off."""
    mu, q, c = 2.0, 1e-6, 3.0
    theta = np.linspace(0.0, 400.0, 5000)
    waves = MixedNormalLaw(mu, q, "towards").waves(c, theta)
    assert np.median(waves.error) < 1e-16
    with working(160):
        rule = []
        for j in range(-14 * 200, 22 * 200):
            x = arb(j) / 200
            loss = (1 + arb(q) * (mu * x - arb(mu) ** 2 / 2).expm1()).log()
            rule.append((loss, ((c + 1) * loss - x * x / 2).exp()))
        whole = sum((weight for _, weight in rule), arb(0))
        for i in (0, 1, 65, 2501, 3300, 4097, 4999):
            place = float(theta[i])
            phi = sum((weight * acb(0, place * loss).exp() for loss, weight in rule), acb(0)) / whole
            assert not abs((phi / claimed(waves, i, place)).log()) > float(waves.error[i]), i


@pytest.mark.parametrize("name", [name for name in KNOWN if name.startswith("subsampled")][::3])
def test_values_do_not_depend_on_what_was_asked_before(name: str) -> None:
    theta = np.array([0.0, 0.4, 1.7, 3.0, 9.0])
    first = KNOWN[name].make().waves(0.25, theta)
    law = KNOWN[name].make()
    law.waves(0.25, np.array([30.0]))
    law.waves(3.0, theta)
    second = law.waves(0.25, theta)
    assert all(np.array_equal(getattr(first, part), getattr(second, part)) for part in ("log_size", "angle", "error"))


def test_weights_beyond_the_largest_float() -> None:
    """ε = 12 at tilt 128 makes weights of e^1500."""
    law = KNOWN["subsampled laplace 12.0 0.3 towards"].make()
    waves = law.waves(128.0, np.array([0.0, 1.0, 10.0]))
    assert np.isfinite(waves.log_size).all()
    assert not np.isnan(waves.error).any()


@pytest.mark.parametrize("direction", ["towards", "away"])
def test_beyond_the_largest_rule_nothing_is_claimed(direction: Direction) -> None:
    """So many turns between two points of the largest rule that its sum says nothing about the integral."""
    law = MixedLaplaceLaw(0.01, 0.1, direction)
    with np.errstate(all="ignore"):
        waves = law.waves(0.25, np.array([1e6]))
    assert waves.error[0] == math.inf
    assert waves.log_most[0] == 0
