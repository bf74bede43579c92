"""K, mean, variance, tail and excess of every law, against the same from moments and hockey sticks."""

from __future__ import annotations

import math

import numpy as np
import pytest
from flint import acb, arb

from tests.oracles.truth import working
from tests.unit.numerics.laws.known import KNOWN, moment_at

TILTS = (-0.5, -0.25, -(2.0**-24), 2.0**-24, 2.0**-10, 0.25, 3.0, 50.0)


@pytest.mark.parametrize("name", list(KNOWN))
def test_logs_of_means(name: str) -> None:
    known = KNOWN[name]
    law = known.make()
    for c in TILTS[:-1] if name.startswith("subsampled") else TILTS:
        with working(known.bits):
            found, true = law.log_mean(c), moment_at(name, c).real.log()
            assert found.overlaps(true), c
            assert found.rad() <= 1e-15 * (1 + abs(found)), c
        with np.errstate(all="ignore"):
            guess = float(law.log_mean_guess(np.array([c]))[0])
        assert guess == pytest.approx(float(true), rel=1e-2, abs=1e-2)


@pytest.mark.parametrize("name", list(KNOWN))
def test_probabilities_add_up(name: str) -> None:
    """E 1 = 1 under the one law, E e^{-L} = 1 under the other."""
    law = KNOWN[name].make()
    with working(128):
        for c in (0.0, -1.0):
            assert law.log_mean(c).contains(0)
            assert law.log_mean(c).rad() < 1e-17


@pytest.mark.slow_cases("subsampled far normal 60.0 0.5 towards")
@pytest.mark.parametrize("name", list(KNOWN))
def test_mean_and_variance(name: str) -> None:
    """By differences so small that only the derivative is left."""
    known = KNOWN[name]
    law = known.make()
    with working(128):
        mean, variance = law.mean(), law.variance()
    with working(2 * known.bits):
        step = arb(2) ** -40 if known.bits < 200 else arb(2) ** -90
        low, high = (known.moment(acb(sign * step)).real.log() for sign in (-1, 1))
        here = known.moment(acb(0)).real.log()
        slope, curve = (high - low) / (2 * step), (high - 2 * here + low) / step**2
        for found, true in ((mean, slope), (variance, curve)):
            wide = arb(true.mid(), max(float(true.rad()), 1e-18 * float(abs(true).mid()), 1e-30))
            assert found.overlaps(wide)
            assert float(found.mid()) == pytest.approx(float(true.mid()), rel=1e-9, abs=1e-15)
    assert float(mean.mid()) > 0
    assert not variance <= 0


@pytest.mark.parametrize("name", list(KNOWN))
def test_excess_and_tail(name: str) -> None:
    known = KNOWN[name]
    law = known.make()
    step = arb(2) ** -90
    for share in (-3.1, -0.7, -0.013, 0.0, 0.013, 0.21, 0.7, 0.97, 1.3, 4.1):
        y = share * known.reach
        with working(128):
            excess, tail = law.excess(y), law.tail(y)
        with working(400):
            true = known.hockey(arb(y))
            assert excess.overlaps(arb(true.mid(), max(float(true.rad()), 1e-30))), y
            assert excess.rad() < 1e-25
            slope = (known.hockey(arb(y) + step) - true) / step  # to the right: an atom at y does not count
            assert float(tail.mid()) == pytest.approx(float((true - slope).mid()), abs=1e-12), y


@pytest.mark.parametrize("name", list(KNOWN))
def test_the_largest_loss(name: str) -> None:
    law = KNOWN[name].make()
    if math.isinf(law.most):
        assert law.log_top == -math.inf
        return
    with working(128):
        assert law.tail(law.most).contains(0)
        assert law.excess(law.most * (1 + 1e-9)).contains(0)
        below = law.tail(law.most * (1 - 1e-7))
        assert below > 0
        if math.isfinite(law.log_top):
            assert below >= arb(law.log_top).exp() * (1 - 1e-9)
            known_mass = law.tail(law.most * (1 - 1e-12))
            assert not arb(law.log_top).exp() > known_mass
