"""KOV15-3.5: the least of three closed forms, different parameters."""

from __future__ import annotations

import math
from fractions import Fraction

import pytest
from flint import arb

from optcomp import HypothesisNotMet, compose
from tests.oracles.checks import encloses
from tests.oracles.closed import (
    BITS,
    DELTAS,
    DIFFERENT,
    drift,
    epsilons_of,
    parts_of,
    rounded_up,
    slip,
    spread,
    truth_of,
)
from tests.oracles.truth import Mechanism, Rational, real, working

cases = pytest.mark.parametrize("groups", DIFFERENT.values(), ids=list(DIFFERENT))


def formula(groups: list[Mechanism], delta: Rational) -> arb:
    """The statement, with δ̃ from δ = 1 - (1 - δ̃)∏(1 - δ_i)."""
    rest, mean, s = slip(groups, delta), drift(groups), spread(groups)
    first = sum((real(Fraction(eps) * count) for eps, _, count in groups), arb(0))
    second = mean + (2 * s * (arb(1).exp() + s.sqrt() / rest).log()).sqrt()
    third = mean + (-2 * s * rest.log()).sqrt()
    return first.min(second).min(third)


@cases
@pytest.mark.parametrize("delta", [*DELTAS, 1e-3, 0.9])
def test_epsilon(groups: list[Mechanism], delta: float) -> None:
    bound = compose(parts_of(groups), delta=delta, method="kov")
    assert (bound.theorem, bound.method) == ("KOV15-3.5", "kov")
    with working(BITS):
        feasible = bool(slip(groups, delta) > 0)
    if feasible:
        assert rounded_up(bound.upper, lambda: formula(groups, delta))
    else:
        assert bound.upper == math.inf
    assert encloses(truth_of(groups), bound)


@cases
def test_delta_is_the_least_that_reaches_epsilon(groups: list[Mechanism]) -> None:
    for epsilon in epsilons_of(groups):
        bound = compose(parts_of(groups), epsilon=epsilon, method="kov")
        assert encloses(truth_of(groups), bound)
        if bound.upper == 1.0 or epsilon >= sum(Fraction(eps) * count for eps, _, count in groups):
            continue
        with working(BITS):
            assert formula(groups, bound.upper) <= real(epsilon)
            assert formula(groups, Fraction(bound.upper) * (1 - Fraction(1, 10**15))) > real(epsilon)


def test_just_feasible_leaves_only_the_sum() -> None:
    parts: list[tuple[Fraction, Fraction]] = [(Fraction(1, 2), Fraction(1, 10)), (Fraction(1, 4), Fraction(1, 10))]
    assert compose(parts, delta=Fraction(19, 100), method="kov").upper == 0.75
    assert compose(parts, delta=Fraction(19, 100) - Fraction(1, 10**60), method="kov").upper == math.inf


def test_refuses_adaptive_parameters() -> None:
    with pytest.raises(HypothesisNotMet, match=r"KOV15-3\.5 does not apply: it needs parameters fixed in advance"):
        compose([0.1, 0.2], delta=1e-6, method="kov", parameters="adaptive")
