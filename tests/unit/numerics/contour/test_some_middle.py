"""The transform of sums with some round in the middle and no giant, against powers of balls."""

from __future__ import annotations

import math
from functools import cache

import numpy as np
import pytest
from flint import acb, arb

from optcomp.numerics.contour import Contour, SomeMiddle
from optcomp.numerics.contour import some_middle as module
from optcomp.numerics.laws import MixedNormalLaw, PartNormalLaw
from tests.oracles.truth import working

Kind = tuple[float, float, float, float, int]
"""μ, q, the ends of none and of the middle, and how many."""
SETTINGS: list[tuple[tuple[Kind, ...], float]] = [
    (((2.0, 1e-6, 7.25, 7.5, 10**6),), 40.0),
    (((1.0, 1e-3, 4.5, 6.0, 2000),), 5.0),
    (((1.0, 1e-3, 4.5, 6.0, 500), (0.5, 1e-2, 5.0, 7.0, 100)), 3.0),
    (((1.5, 0.05, 2.5, 4.0, 3),), 1.0),
    (((1.0, 1e-3, 4.5, 6.0, 500), (0.5, 1e-2, 5.0, 5.0, 100)), 3.0),
]
THETA = [0.0, 0.25, 1.0, 4.0, 15.0, 60.0, 250.0]


def source_of(kinds: tuple[Kind, ...]) -> SomeMiddle:
    laws = [MixedNormalLaw(mu, q, "towards") for mu, q, *_ in kinds]
    none = [(PartNormalLaw(law, -math.inf, kind[2]), kind[4]) for law, kind in zip(laws, kinds, strict=True)]
    pairs = zip(laws, kinds, strict=True)
    middle = [PartNormalLaw(law, kind[2], kind[3]) if kind[2] < kind[3] else None for law, kind in pairs]
    return SomeMiddle(none, math.inf, middle)


@cache
def transform(kinds: tuple[Kind, ...], c: float, theta: float) -> acb:
    """M(c + iθ) from first principles."""
    with working(200):
        both, none = acb(1), acb(1)
        for mu, q, first, last, count in kinds:

            def integrand(x: acb, analytic: bool, mu: float = mu, q: float = q) -> acb:
                ratio = 1 + arb(q) * ((mu * x - arb(mu) ** 2 / 2).exp() - 1)
                return (acb(c + 1, theta) * ratio.log(analytic=analytic) - x * x / 2).exp()

            scale = (2 * arb.pi()).sqrt()
            one = acb.integral(integrand, -24, first, eval_limit=10**6) / scale
            other = acb.integral(integrand, first, last, eval_limit=10**6) / scale
            both, none = both * (one + other) ** count, none * one**count
        return both - none


@pytest.mark.parametrize(("kinds", "c"), SETTINGS)
def test_the_mean(kinds: tuple[Kind, ...], c: float) -> None:
    source = source_of(kinds)
    value, error = source._mean(c)
    with working(200):
        truth = transform(kinds, c, 0.0).real.log()
        assert not abs(truth - arb(value)) > error
    assert error < 1e-14
    with np.errstate(all="ignore"):
        assert abs(float(source.log_mean_guess(np.array([c]))[0]) - value) < 0.05


@pytest.mark.parametrize(("kinds", "c"), SETTINGS)
def test_derivatives_of_the_guess(kinds: tuple[Kind, ...], c: float) -> None:
    source, step = source_of(kinds), 1e-2 * c
    with np.errstate(all="ignore"):
        low, here, high = source.log_mean_guess(np.array([c - step, c, c + step])).tolist()
        _, slope, curve = (float(column[0]) for column in source.cumulants(np.array([c])))
    assert slope == pytest.approx((high - low) / (2 * step), rel=2e-2)
    assert curve == pytest.approx((high - 2 * here + low) / step**2, rel=0.1)


@pytest.mark.parametrize(("kinds", "c"), SETTINGS)
def test_values_and_their_errors(kinds: tuple[Kind, ...], c: float) -> None:
    source = source_of(kinds)
    real, imag, error = source.values(c, np.array(THETA))
    with working(200):
        whole = transform(kinds, c, 0.0).real
        for i, theta in enumerate(THETA):
            phi = transform(kinds, c, theta) / whole
            off = abs(phi - acb(float(real[i]), float(imag[i])))
            assert not off > float(error[i]), theta
            assert float(error[i]) < 1e-10 * float(abs(phi).mid()) + 1e-12
            assert not abs(phi).log() > source.log_most_near(c, theta, 1e-9) + 1e-12


@pytest.mark.parametrize(("kinds", "c"), SETTINGS)
def test_it_fades_no_faster_than_claimed(kinds: tuple[Kind, ...], c: float) -> None:
    source = source_of(kinds)
    with working(200):
        whole = transform(kinds, c, 0.0).real
        sizes = [abs(transform(kinds, c, theta) / whole) for theta in THETA[1:]]
        for i, theta in enumerate(THETA[1:]):
            claim = arb(source.log_fade(c, theta)).exp()
            assert all(not size > claim for size in sizes[i:])


@pytest.mark.parametrize(("kinds", "c"), SETTINGS)
def test_ranges(kinds: tuple[Kind, ...], c: float) -> None:
    source = source_of(kinds)
    with working(200):
        whole = transform(kinds, c, 0.0).real
        for near, theta in ((4.5, 4.0), (12.0, 15.0), (61.0, 60.0)):
            claim = source.log_most_near(c, near, abs(near - theta))
            assert not abs(transform(kinds, c, theta) / whole).log() > claim


def test_what_is_not_known_of_a_middle_is_bounded() -> None:
    """An error that is too large for a value leaves the bound on |φ|."""
    kinds, c = SETTINGS[1]
    source = source_of(kinds)
    known = source._ratios(c)
    source._known[c] = module._Ratios(known.ratio, [math.inf], known.whole, known.whole_error)
    real, imag, error = source.values(c, np.array(THETA))
    assert not real.any()
    assert not imag.any()
    with working(200):
        whole = transform(kinds, c, 0.0).real
        for i, theta in enumerate(THETA):
            assert not abs(transform(kinds, c, theta) / whole) > float(error[i])


def test_each_error_enters_the_value() -> None:
    """Of none, of the middle, of their ratio and of the whole: the claim grows by what is put in."""
    kinds, c = SETTINGS[1]
    source, theta = source_of(kinds), np.array([0.5])
    before = float(source.values(c, theta)[2][0])
    known = source._ratios(c)
    size = float(abs(transform(kinds, c, 0.5) / transform(kinds, c, 0.0)).mid())
    source._known[c] = module._Ratios(known.ratio, [1e-6], known.whole, known.whole_error)
    assert float(source.values(c, theta)[2][0]) - before > 0.5e-6 * size
    source._known[c] = module._Ratios(known.ratio, known.error, known.whole, 1e-7)
    assert float(source.values(c, theta)[2][0]) - before > 1e-7 * size


def test_a_plan_for_the_rest_proves_nothing() -> None:
    source = source_of(SETTINGS[1][0])
    plan = Contour(False, -0.25, 0.1, 0.5, -0.125, -0.5, 1e-4, 1e-3)
    assert all(math.isinf(error) for _, error in (source.means(plan).here, source.means(plan).above))
