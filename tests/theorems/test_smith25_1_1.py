"""Smith25-1.1: (Σε_i tanh(ε_i/2) + √(2 ln(1/δ') Σε_i²), Σδ_i + δ')-DP."""

from __future__ import annotations

import math
from fractions import Fraction

import pytest
from flint import arb

from optcomp import HypothesisNotMet, compose
from tests.oracles.checks import encloses, upper_holds
from tests.oracles.closed import ALL, DELTAS, drift, epsilons_of, leaks, parts_of, rounded_up, spread, truth_of
from tests.oracles.sums import Lattice
from tests.oracles.truth import Mechanism, real

cases = pytest.mark.parametrize("groups", ALL.values(), ids=list(ALL))


def formula(groups: list[Mechanism], rest: Fraction) -> arb:
    """The statement, with δ' = rest."""
    return drift(groups) + (-2 * real(rest).log() * spread(groups)).sqrt()


@cases
@pytest.mark.parametrize("delta", DELTAS)
def test_epsilon(groups: list[Mechanism], delta: float) -> None:
    bound = compose(parts_of(groups), delta=delta, method="strong")
    rest = Fraction(delta) - leaks(groups)
    assert (bound.theorem, bound.method) == ("Smith25-1.1", "strong")
    if rest <= 0:
        assert bound.upper == math.inf
    else:
        assert rounded_up(bound.upper, lambda: formula(groups, rest))
    assert encloses(truth_of(groups), bound)


@cases
def test_delta(groups: list[Mechanism]) -> None:
    for epsilon in epsilons_of(groups):
        bound = compose(parts_of(groups), epsilon=epsilon, method="strong")

        def value(epsilon: float = epsilon) -> arb:
            gap = (real(epsilon) - drift(groups)).max(arb(0))
            return (real(leaks(groups)) + (-gap * gap / (2 * spread(groups))).exp()).min(arb(1))

        assert rounded_up(bound.upper, value)
        assert encloses(truth_of(groups), bound)


def test_never_worse_than_drv10() -> None:
    for delta in (1e-3, 1e-9):
        strong = compose({0.3: 40}, delta=delta, method="strong")
        assert strong.upper < compose({0.3: 40}, delta=delta, method="advanced").upper


def test_many_different_epsilon() -> None:
    sizes = [Fraction(i, 2**20) for i in range(1, 5001)]
    groups: list[Mechanism] = [(eps, 0, 1) for eps in sizes]
    as_floats = compose([float(eps) for eps in sizes], delta=1e-9, method="strong")
    assert rounded_up(as_floats.upper, lambda: formula(groups, Fraction(1e-9)), ulps=40)
    few: list[Mechanism] = [(eps, 0, 1) for eps in sizes[:60]]
    assert upper_holds(Lattice(few), compose([eps for eps, _, _ in few], delta=1e-9, method="strong"))


@pytest.mark.parametrize("method", ["strong", "kov"])
def test_many_of_the_smallest_epsilon(method: str) -> None:
    sizes = [1e-100 * i for i in range(1, 5001)]
    bound = compose(sizes, delta=1e-300, method=method)
    assert max(sizes) <= bound.upper  # one of them alone costs that much, nearly
    assert bound.lower <= bound.upper


def test_refuses_adaptive_parameters() -> None:
    with pytest.raises(HypothesisNotMet, match=r"^Smith25-1\.1 does not apply: it needs parameters fixed in advance"):
        compose([0.1, 0.2], epsilon=0.2, method="strong", parameters="adaptive")
