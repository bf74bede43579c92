"""MV18-1.7: OptComp(δ) <= upper <= OptComp(e^{-η/2} δ) + η, and a lower side from rounding down."""

from __future__ import annotations

import math
from fractions import Fraction

import numpy as np
import pytest

from optcomp import HypothesisNotMet, NotAffordable, compose
from optcomp.instances.parts import Parts
from optcomp.numerics.knapsack import rounded_steps
from optcomp.theorems import mv18_1_7, opt
from tests.oracles.checks import encloses
from tests.oracles.closed import ALL, DELTAS, epsilons_of, parts_of, truth_of
from tests.oracles.equal import Equal
from tests.oracles.instances import lattice_instances, small_instances
from tests.oracles.sums import Lattice, subsets
from tests.oracles.truth import Mechanism, Truth, decided, real

SMALL = {name: groups for name, groups in ALL.items() if name not in {"a billion", "huge and tiny"}}


def keeps_promise(truth: Truth, upper: float, delta: Fraction | float, eta: float) -> bool:
    """upper - η <= OptComp(e^{-η/2} δ), that is δ(upper - η) >= e^{-η/2} δ."""
    place = Fraction(upper) - Fraction(eta)
    if place <= 0:
        return True
    if place > truth.total:
        return False
    return decided(lambda bits: truth.delta(place, bits) - (-real(eta) / 2).exp() * real(delta)) > 0


@pytest.mark.parametrize("eta", [0.3, 0.02])
@pytest.mark.parametrize("chunk", range(6))
def test_the_paper_s_guarantee(chunk: int, eta: float) -> None:
    wrong: list[str] = []
    for instance in small_instances(500 + chunk, 20, most=10):
        if instance.kind in {"huge", "mixed"}:
            continue
        truth = subsets(instance.parts)
        bound = compose(instance.parts, delta=instance.delta, method="murtagh-vadhan", eta=eta)
        sound = encloses(truth, bound)
        if not sound or (math.isfinite(bound.upper) and not keeps_promise(truth, bound.upper, instance.delta, eta)):
            wrong.append(f"{instance}: {bound}")
        dual = compose(instance.parts, epsilon=instance.epsilon, method="murtagh-vadhan", eta=eta)
        if not encloses(truth, dual):
            wrong.append(f"{instance}: {dual}")
    assert not wrong, "\n".join(wrong)


@pytest.mark.parametrize("chunk", range(4))
def test_thousands_of_mechanisms(chunk: int) -> None:
    for instance in lattice_instances(700 + chunk, 6):
        truth = Lattice(instance.groups)
        try:
            bounds = (
                compose(parts_of(instance.groups), delta=instance.delta, method="murtagh-vadhan", eta=0.5),
                compose(parts_of(instance.groups), epsilon=instance.epsilon, method="murtagh-vadhan", eta=0.5),
            )
        except NotAffordable:
            continue
        assert all(encloses(truth, bound) for bound in bounds), f"{instance}: {bounds}"
        assert math.isinf(bounds[0].upper) or keeps_promise(truth, bounds[0].upper, instance.delta, 0.5), instance


@pytest.mark.parametrize("groups", SMALL.values(), ids=list(SMALL))
def test_parameter_sets(groups: list[Mechanism]) -> None:
    truth, parts = truth_of(groups), parts_of(groups)
    for delta in DELTAS:
        bound = compose(parts, delta=delta, method="murtagh-vadhan", eta=0.9)
        assert bound.theorem in {"MV18-1.7", "MV18-1.5", "KOV15-3.3"}
        assert encloses(truth, bound), bound
        assert math.isinf(bound.upper) or keeps_promise(truth, bound.upper, delta, 0.9), bound
    for epsilon in epsilons_of(groups):
        bound = compose(parts, epsilon=epsilon, method="murtagh-vadhan", eta=0.9)
        assert encloses(truth, bound), bound


@pytest.mark.parametrize("delta", [1e-300, 1e-12, 1e-3, 0.4])
def test_on_its_own_lattice_the_bracket_is_narrow(delta: float) -> None:
    """Many copies go through the binomial law, few one by one."""
    groups: list[Mechanism] = [(Fraction(1, 64), 0, 900), (Fraction(3, 64), 0, 7), (Fraction(1, 4), 0, 60)]
    parts = Parts.of({(eps, 0.0): m for eps, _, m in groups if isinstance(eps, Fraction)})
    bound = mv18_1_7.epsilon_on(parts, delta, 1 / 64)
    assert encloses(Lattice(groups), bound)
    assert bound.width <= 1e-9
    dual = mv18_1_7.delta_on(parts, Fraction(bound.upper), 1 / 64)
    assert encloses(Lattice(groups), dual)


def test_a_million_equal_mechanisms() -> None:
    parts = Parts.of({(0.01, 0.0): 10**6})
    bound = mv18_1_7.epsilon_on(parts, 1e-9, 0.01)
    assert encloses(Equal(10**6, 0.01), bound)
    assert bound.width <= 1e-8


def test_a_lattice_that_fits_is_where_auto_turns_when_the_engine_is_too_wide(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(opt, "PATIENT_WORK", 1e6)
    steps = [int(a) for a in np.random.default_rng(5).choice(np.arange(5, 600), 120, replace=False)]
    bound = compose([a / 4096 for a in steps], delta=1e-9, rtol=1e-11)
    assert bound.theorem == "MV18-1.7"
    assert encloses(Lattice([(Fraction(a, 4096), 0, 1) for a in steps]), bound)


def test_sizes_are_rounded_the_right_way() -> None:
    coins: list[tuple[Fraction | float, int]] = [(0.1, 2), (0.30000000000000004, 1), (Fraction(1, 3), 4), (1e-9, 5)]
    for up in (True, False):
        for unit in (0.1, 0.013):
            steps = dict(rounded_steps(coins, unit, up=up))
            assert sum(steps.values()) == sum(m for x, m in coins if up or Fraction(x) >= Fraction(unit))
            total = sum(a * m for a, m in steps.items()) * Fraction(unit)
            exact = sum(Fraction(x) * m for x, m in coins)
            assert total >= exact if up else total <= exact


def test_refusals() -> None:
    with pytest.raises(HypothesisNotMet, match=r"MV18-1\.7 does not apply: it needs parameters fixed in advance"):
        compose([0.1, 0.2], delta=1e-6, method="murtagh-vadhan", parameters="adaptive")
    with pytest.raises(NotAffordable) as refusal:
        compose(np.linspace(0.1, 1, 20_000), delta=1e-6, method="murtagh-vadhan", eta=1e-4)
    assert str(refusal.value).endswith("; use a larger eta, or method='auto'")
