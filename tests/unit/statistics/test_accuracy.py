"""How far noise reaches, against sums of probabilities at 200 bits."""

from __future__ import annotations

from collections.abc import Callable
from fractions import Fraction
from functools import cache

import pytest
from flint import arb
from hypothesis import example, given, settings
from hypothesis import strategies as st

from optcomp.errors import InvalidInput
from optcomp.statistics import Count, Histogram, Integers, Question, Variance, noise_reach
from optcomp.statistics.accuracy import checked_confidence
from optcomp.statistics.declared import Declared
from optcomp.statistics.noise import GAUSSIAN, LAPLACE, AddedNoise
from tests.oracles.truth import real, working

BITS = 200
confidences = st.sampled_from([0.5, 0.9, 0.95, 0.99, 1 - 1e-9, 0.05]) | st.floats(0.01, 0.999)
counts = st.sampled_from([1, 2, 3, 17, 1000, 10**6])


def laplace_within(scale: float, t: int) -> arb:
    """P(|X| <= t), summed from the least probable value on; a geometric sum where there are too many terms."""
    a = (-1 / real(scale)).exp()
    if t <= 2000:
        return (1 - a) / (1 + a) * (1 + 2 * sum((a**x for x in range(t, 0, -1)), arb(0)))
    return (1 - a) / (1 + a) * (1 + 2 * a * (1 - a**t) / (1 - a))


@cache
def gaussian_sums(sigma: float, most: int) -> list[arb]:
    """Σ e^{-x²/2σ²} over |x| <= t, for all t up to `most`."""
    s = 2 * real(sigma) ** 2
    sums = [arb(1)]
    for x in range(1, most + 1):
        sums.append(sums[-1] + 2 * (-(arb(x) ** 2) / s).exp())
    return sums


def gaussian_within(sigma: float, t: int) -> arb:
    """P(|X| <= t); what lies beyond 16σ is less than 2^-180 of the whole."""
    sums = gaussian_sums(sigma, int(16 * sigma) + 40)
    return sums[min(t, len(sums) - 1)] / sums[-1]


def all_within(within: Callable[[float, int], arb], scale: float, t: int, values: int) -> arb:
    return within(scale, t) ** values if t >= 0 else arb(0)


@given(st.floats(1e-3, 1e3) | st.sampled_from([1e-3, 0.1, 1.0, 1e6, 1e15, 12345.678]), confidences, counts)
@example(1e-3, 0.95, 1)
def test_laplace_noise_reaches_exactly_as_far_as_told(scale: float, confidence: float, values: int) -> None:
    t = noise_reach("laplace", scale, confidence, values)
    with working(BITS):
        assert all_within(laplace_within, scale, t, values) >= real(confidence)
        assert all_within(laplace_within, scale, t - 1, values) < real(confidence)


@settings(max_examples=40)
@given(
    st.floats(1e-3, 60) | st.sampled_from([0.01, 0.1, 0.2, 0.3, 0.5, 1.0, 49.9, 50.0, 50.1, 120.0]), confidences, counts
)
@example(0.2, 0.999, 1000)
@example(50.1, 0.6, 1)
def test_gaussian_noise_reaches_no_farther_than_told(sigma: float, confidence: float, values: int) -> None:
    t = noise_reach("gaussian", sigma, confidence, values)
    loose = 1 if sigma < 0.5 or sigma > 50 else 0
    with working(BITS):
        assert all_within(gaussian_within, sigma, t, values) >= real(confidence)
        assert all_within(gaussian_within, sigma, t - 1 - loose, values) < real(confidence)


@pytest.mark.parametrize("sigma", [1e3, 1e6, 1e12, 1e15])
def test_wide_gaussian_noise_reaches_as_far_as_the_continuous_one(sigma: float) -> None:
    for confidence, values in ((0.95, 1), (0.95, 1000), (1 - 1e-12, 1), (0.3, 1)):
        t = noise_reach("gaussian", sigma, confidence, values)
        with working(BITS):
            for place, covered in ((t + 1, True), (t - 2, False)):
                inside = (real(place) / (real(sigma) * arb(2).sqrt())).erf() ** values
                assert bool(inside >= real(confidence)) is covered


@given(st.sampled_from([LAPLACE, GAUSSIAN]), st.floats(1e-3, 1e15), confidences, counts)
def test_the_smooth_reach_is_near(kind: AddedNoise, scale: float, confidence: float, values: int) -> None:
    exact, smooth = noise_reach(kind, scale, confidence, values), kind.smooth_reach(scale, confidence, values)
    assert abs(exact - smooth) <= 2 + 1e-6 * exact


@given(confidences)
def test_confidence_is_for_all_cells_and_all_parts_together(confidence: float) -> None:
    table = Declared({"x": Integers(0, 6)})
    for statistic, cells in ((Count(), [1]), (Histogram("x"), [8]), (Variance("x"), [1, 1, 1])):
        question = Question(statistic, epsilon="0.7")
        off = question.error(table, confidence)
        assert off is not None
        covered = arb(1)
        with working(BITS):
            parts = statistic.parts(table)
            for each, scale, part, count in zip(off, question.scales(table), parts, cells, strict=True):
                steps = Fraction(each) / part.unit
                assert steps.denominator == 1
                covered *= all_within(laplace_within, scale, int(steps), count)
            assert covered >= real(confidence)


@pytest.mark.parametrize("value", [0, 1, -0.5, 1.5, float("nan"), float("inf"), True, "x", None, Fraction(3, 2)])
def test_what_is_no_confidence_is_refused(value: object) -> None:
    with pytest.raises(InvalidInput, match=r"^confidence: ") as caught:
        checked_confidence(value)  # type: ignore[arg-type]
    assert caught.value.value is value
