"""DRV10: k equal mechanisms are (ε√(2k ln(1/δ')) + kε(e^ε - 1), kδ + δ')-DP."""

from __future__ import annotations

import math
from fractions import Fraction

import pytest
from flint import arb

from optcomp import HypothesisNotMet, compose
from tests.oracles.checks import encloses
from tests.oracles.closed import DELTAS, EQUAL, epsilons_of, leaks, parts_of, rounded_up, truth_of
from tests.oracles.truth import Mechanism, real

cases = pytest.mark.parametrize("groups", EQUAL.values(), ids=list(EQUAL))


def formula(groups: list[Mechanism], rest: Fraction) -> arb:
    """The statement, with δ' = rest."""
    ((eps, _, k),) = groups
    x = real(eps)
    return x * (2 * k * (1 / real(rest)).log()).sqrt() + k * x * (x.exp() - 1)


@cases
@pytest.mark.parametrize("delta", DELTAS)
def test_epsilon(groups: list[Mechanism], delta: float) -> None:
    bound = compose(parts_of(groups), delta=delta, method="advanced")
    rest = Fraction(delta) - leaks(groups)
    assert (bound.theorem, bound.method) == ("DRV10", "advanced")
    if rest <= 0:
        assert bound.upper == math.inf
        assert bound.notes[0] == "the δ_i use up all of δ, and nothing is left for δ'"
    else:
        assert rounded_up(bound.upper, lambda: formula(groups, rest))
    assert encloses(truth_of(groups), bound)


@cases
def test_delta(groups: list[Mechanism]) -> None:
    ((eps, _, k),) = groups
    for epsilon in epsilons_of(groups):
        bound = compose(parts_of(groups), epsilon=epsilon, method="advanced")

        def value(epsilon: float = epsilon) -> arb:
            gap = real(epsilon) - k * real(eps) * real(eps).expm1()
            tail = (-gap * gap / (2 * k * real(eps) ** 2)).exp() if gap > 0 else arb(1)
            return (real(leaks(groups)) + tail).min(arb(1))

        assert rounded_up(bound.upper, value)
        assert encloses(truth_of(groups), bound)


def test_refuses_different_parameters() -> None:
    with pytest.raises(HypothesisNotMet) as refusal:
        compose([0.1, 0.2], delta=1e-6, method="advanced")
    assert str(refusal.value) == (
        "DRV10 does not apply: it needs mechanisms with equal (ε, δ), and these differ; use 'kov' or 'strong' instead"
    )
    with pytest.raises(HypothesisNotMet):
        compose([(0.1, 1e-9), (0.1, 1e-8)], epsilon=1, method="advanced")


def test_refuses_adaptive_parameters() -> None:
    with pytest.raises(HypothesisNotMet) as refusal:
        compose([0.1, 0.1], delta=1e-6, method="advanced", parameters="adaptive")
    assert refusal.value.theorem == "DRV10"
