"""DKMMN06: (Σε_i, Σδ_i)."""

from __future__ import annotations

import math
from fractions import Fraction

import pytest

from optcomp import compose
from tests.oracles.checks import encloses
from tests.oracles.closed import ALL, DELTAS, epsilons_of, leaks, parts_of, rounded_up, truth_of
from tests.oracles.truth import Mechanism, real

cases = pytest.mark.parametrize("groups", ALL.values(), ids=list(ALL))


@cases
@pytest.mark.parametrize("delta", DELTAS)
def test_epsilon_is_the_sum(groups: list[Mechanism], delta: float) -> None:
    bound = compose(parts_of(groups), delta=delta, method="basic")
    total = sum(Fraction(eps) * count for eps, _, count in groups)
    assert (bound.theorem, bound.method) == ("DKMMN06", "basic")
    if leaks(groups) > Fraction(delta):
        assert bound.upper == math.inf
        assert bound.notes[0] == "the δ_i add up to more than δ"
    else:
        assert rounded_up(bound.upper, lambda: real(total))
    assert encloses(truth_of(groups), bound)


@cases
def test_delta_is_the_sum(groups: list[Mechanism]) -> None:
    total = sum(Fraction(eps) * count for eps, _, count in groups)
    for epsilon in epsilons_of(groups):
        bound = compose(parts_of(groups), epsilon=epsilon, method="basic")
        if Fraction(epsilon) < total:
            assert bound.upper == 1.0
        else:
            assert rounded_up(bound.upper, lambda: real(leaks(groups)))
        assert encloses(truth_of(groups), bound)


def test_sum_is_exact_at_the_boundary() -> None:
    assert compose([(0.5, Fraction(1, 10))] * 3, delta=Fraction(3, 10), method="basic").upper == 1.5
    assert compose([(0.5, 0.1)] * 3, delta=0.3, method="basic").upper == math.inf  # 3 × float(0.1) > float(0.3)
    assert compose([Fraction(1, 10)] * 3, epsilon=Fraction(3, 10), method="basic").upper == 0.0


def test_covers_adaptive_parameters() -> None:
    fixed = compose([0.1, 0.2], delta=1e-6, method="basic")
    assert compose([0.1, 0.2], delta=1e-6, method="basic", parameters="adaptive") == fixed
    assert compose([0.1, 0.2], delta=1e-6, parameters="adaptive").theorem == "DKMMN06"


def test_many_different_epsilon() -> None:
    sizes = [0.001 * (1 + i / 7919) for i in range(6000)]
    bound = compose(sizes, delta=1e-9, method="basic")
    assert Fraction(bound.upper) >= sum(map(Fraction, sizes))
    assert bound.upper <= math.fsum(sizes) * (1 + 1e-14)
