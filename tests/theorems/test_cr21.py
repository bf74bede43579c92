"""CR21: the exponential mechanism has bounded range, so it composes better than its ε alone."""

from __future__ import annotations

import math
from itertools import product

import pytest

import optcomp as oc


def chosen(eps: float, scores: tuple[int, ...]) -> list[float]:
    """Probabilities of the outcomes, weights e^{ε·score/2}."""
    weights = [math.exp(eps * score / 2) for score in scores]
    return [weight / sum(weights) for weight in weights]


@pytest.mark.parametrize("eps", [0.3, 1.0, 2.0])
@pytest.mark.parametrize("copies", [1, 4, 8])
def test_never_below_enumerated_instances(eps: float, copies: int) -> None:
    """All pairs of neighbouring scores of two outcomes, composed with themselves and listed outcome by outcome."""
    bound = oc.compose({oc.Exponential(eps): copies}, epsilon=eps)
    for one, other in product([(0, 0), (0, 1), (1, 1), (1, 0)], repeat=2):
        p, q = chosen(eps, one), chosen(eps, other)
        delta = 0.0
        for outcome in product(range(2), repeat=copies):
            x, y = math.prod(p[i] for i in outcome), math.prod(q[i] for i in outcome)
            delta += max(x - math.exp(eps) * y, 0.0)
        assert delta <= bound.upper * (1 + 1e-9) + 1e-15


def test_divergence_of_instances_is_below_the_curve() -> None:
    for eps, alpha in product([0.2, 1.0, 4.0], [1.5, 2.0, 10.0]):
        for one, other in product([(0, 0, 0), (0, 1, 1), (1, 0, 0), (0, 1, 0)], repeat=2):
            p, q = chosen(eps, one), chosen(eps, other)
            divergence = math.log(sum(x**alpha * y ** (1 - alpha) for x, y in zip(p, q, strict=True))) / (alpha - 1)
            assert divergence <= float(oc.Exponential(eps).renyi(alpha).mid()) * (1 + 1e-12) + 1e-15


def test_better_than_its_epsilon_alone_in_the_long_run() -> None:
    many = oc.compose({oc.Exponential("0.1"): 100}, delta=1e-6)
    assert many.theorem == "CKS20"
    assert many.upper < 0.6 * oc.compose({0.1: 100}, delta=1e-6).lower
    one = oc.compose([oc.Exponential(1)], delta=1e-9)
    assert one.upper <= 1


def test_lower_side_is_a_response_of_half_the_range() -> None:
    bound = oc.compose({oc.Exponential(1): 10}, delta=1e-6)
    assert bound.lower == pytest.approx(oc.compose({0.5: 10}, delta=1e-6).lower, rel=1e-6)


def test_repetition_counts() -> None:
    """A peer that ignores the count of a repeated exponential mechanism says .51 where 15.3 is spent."""
    assert oc.compose([oc.Exponential(0.5)] * 100, delta=1e-6) == oc.compose({oc.Exponential(0.5): 100}, delta=1e-6)
    assert oc.compose({oc.Exponential(0.5): 100}, delta=1e-6).lower > 10
