"""lower <= truth <= upper, in both directions, on thousands of random instances, against independent oracles."""

from __future__ import annotations

from fractions import Fraction

import pytest

from optcomp import Bound, compare, compose
from tests.oracles.checks import encloses
from tests.oracles.equal import Equal
from tests.oracles.instances import Counted, Instance, equal_instances, lattice_instances, small_instances
from tests.oracles.sums import Lattice, subsets
from tests.oracles.truth import Truth

SMALL = 45, 50
LATTICE = 20, 15
EQUAL = 20, 20


@pytest.mark.parametrize("chunk", range(SMALL[0]))
def test_against_subsets(chunk: int) -> None:
    wrong = [note for instance in small_instances(chunk, SMALL[1]) for note in _wrong(instance)]
    assert not wrong, "\n".join(wrong)


@pytest.mark.parametrize("chunk", range(20))
def test_every_applicable_theorem_against_subsets(chunk: int) -> None:
    wrong: list[str] = []
    for instance in small_instances(1000 + chunk, 9, most=9):
        truth = subsets(instance.parts)
        bounds = compare(instance.parts, delta=instance.delta) + compare(instance.parts, epsilon=instance.epsilon)
        wrong += [f"{instance}: {bound}" for bound in bounds if not encloses(truth, bound)]
    assert not wrong, "\n".join(wrong)


@pytest.mark.parametrize("chunk", range(LATTICE[0]))
def test_against_lattice_polynomials(chunk: int) -> None:
    wrong = [
        f"{instance}: {bound}"
        for instance in lattice_instances(chunk, LATTICE[1])
        for bound in _outside(Lattice(instance.groups), instance)
    ]
    assert not wrong, "\n".join(wrong)


@pytest.mark.parametrize("chunk", range(EQUAL[0]))
def test_against_incomplete_beta(chunk: int) -> None:
    wrong: list[str] = []
    for instance in equal_instances(chunk, EQUAL[1]):
        ((eps, delta, k),) = instance.groups
        wrong += [f"{instance}: {bound}" for bound in _outside(Equal(k, eps, delta), instance)]
    assert not wrong, "\n".join(wrong)


def test_campaign_is_large_enough() -> None:
    assert SMALL[0] * SMALL[1] >= 2000
    kinds = {(instance.kind, len(instance.parts) == 1) for instance in small_instances(0, 90)}
    assert len(kinds) >= 15


def _wrong(instance: Instance) -> list[str]:
    truth = subsets(instance.parts)
    bounds = (compose(instance.parts, delta=instance.delta), compose(instance.parts, epsilon=instance.epsilon))
    return [f"{instance}: {bound}" for bound in bounds if not encloses(truth, bound)]


def _outside(truth: Truth, instance: Counted) -> list[Bound]:
    parts: dict[tuple[Fraction, float], int] = {(eps, delta): count for eps, delta, count in instance.groups}
    bounds = (compose(parts, delta=instance.delta), compose(parts, epsilon=instance.epsilon))
    return [bound for bound in bounds if not encloses(truth, bound)]
