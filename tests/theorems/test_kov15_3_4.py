"""KOV15-3.4: the least of three closed forms, equal parameters."""

from __future__ import annotations

import math

import pytest
from flint import arb

from optcomp import HypothesisNotMet, compose
from tests.oracles.checks import encloses
from tests.oracles.closed import BITS, DELTAS, EQUAL, epsilons_of, parts_of, rounded_up, slip, truth_of
from tests.oracles.truth import Mechanism, Rational, real, working

cases = pytest.mark.parametrize("groups", EQUAL.values(), ids=list(EQUAL))


def formula(groups: list[Mechanism], delta: Rational) -> arb:
    """The statement for k equal mechanisms."""
    ((eps, _, k),) = groups
    rest, x = slip(groups, delta), real(eps)
    mean = k * x * (x.exp() - 1) / (x.exp() + 1)
    second = mean + x * (2 * k * (arb(1).exp() + x * arb(k).sqrt() / rest).log()).sqrt()
    third = mean + x * (2 * k * (1 / rest).log()).sqrt()
    return (k * x).min(second).min(third)


@cases
@pytest.mark.parametrize("delta", [*DELTAS, 1e-2])
def test_epsilon(groups: list[Mechanism], delta: float) -> None:
    bound = compose(parts_of(groups), delta=delta, method="kov")
    assert (bound.theorem, bound.method) == ("KOV15-3.4", "kov")
    with working(BITS):
        feasible = bool(slip(groups, delta) > 0)
    if feasible:
        assert rounded_up(bound.upper, lambda: formula(groups, delta))
    else:
        assert bound.upper == math.inf
        assert bound.notes[0] == "δ is below the probability that some mechanism leaks everything"
    assert encloses(truth_of(groups), bound)


@cases
def test_delta(groups: list[Mechanism]) -> None:
    ((eps, _, k),) = groups
    for epsilon in epsilons_of(groups):
        bound = compose(parts_of(groups), epsilon=epsilon, method="kov")
        assert encloses(truth_of(groups), bound)
        with working(BITS):
            if bound.upper < 1 and bool(real(epsilon) < k * real(eps)):
                assert formula(groups, bound.upper) <= real(epsilon)


def test_second_form_wins_where_the_total_is_small() -> None:
    bound = compose({0.001: 100}, delta=0.2, method="kov")
    with working(200):
        x, k = real(0.001), 100
        second = k * x * (x / 2).tanh() + x * (2 * k * (arb(1).exp() + x * 10 / real(0.2)).log()).sqrt()
        assert second <= real(bound.upper)
        assert real(bound.upper) < second * (1 + arb(1) / 10**15)


def test_refuses_adaptive_parameters() -> None:
    with pytest.raises(HypothesisNotMet, match="does not apply: it needs parameters fixed in advance"):
        compose([0.1, 0.1], delta=1e-6, method="kov", parameters="adaptive")
