"""ZDW22: sums of known losses, between two numbers that an exact computation of the same sums confirms."""

from __future__ import annotations

import math
from fractions import Fraction
from random import Random

import pytest
from flint import arb

import optcomp as oc
from optcomp.composition.reading import Item
from tests.oracles.losses import (
    Beside,
    Part,
    Sum,
    atoms_part,
    discrete_laplace_atoms,
    gaussian_hockey,
    laplace_part,
    response_atoms,
    subsampled_gaussian_hockey,
    subsampled_laplace_hockey,
    sums_of,
)
from tests.oracles.truth import Truth


def confirmed(truth: Truth, parts: dict[Item, int], delta: float) -> oc.Bound:
    """ε from δ, each side checked by the sign of δ(ε) - δ; then δ from that ε."""
    bound = oc.compose(parts, delta=delta)
    assert truth.sign(bound.upper, delta) <= 0
    assert bound.lower == 0 or truth.sign(bound.lower, delta) >= 0
    back = oc.compose(parts, epsilon=bound.upper)
    assert back.lower == 0 or truth.sign(bound.upper, Fraction(back.lower)) >= 0
    if back.upper == 0:
        return bound
    assert truth.sign(bound.upper, Fraction(back.upper)) <= 0
    return bound


def _more(parts: dict[Item, int], part: Item, copies: int) -> None:
    parts[part] = parts.get(part, 0) + copies


def _mixture(rng: Random) -> tuple[dict[Item, int], list[Part], list[tuple[float, int]]]:
    parts: dict[Item, int] = {}
    known: list[Part] = []
    leaks: list[tuple[float, int]] = []
    for _ in range(rng.randint(1, 3)):
        kind, copies = rng.choice(["rr", "geometric", "laplace", "pure", "leaky"]), rng.randint(1, 3)
        size = rng.choice([0.125, 0.4, 1.0, 2.5])
        if kind == "rr":
            answers = rng.randint(3, 6)
            _more(parts, oc.RandomizedResponse(size, answers), copies)
            known.append(atoms_part(lambda e=size, n=answers: response_atoms(e, n), copies))  # type: ignore[misc]
        elif kind == "geometric":
            shift = rng.randint(1, 3)
            _more(parts, oc.DiscreteLaplace(1 / size, shift), copies)
            known.append(atoms_part(lambda b=1 / size, s=shift: discrete_laplace_atoms(b, s), copies))  # type: ignore[misc]
        elif kind == "laplace":
            _more(parts, oc.Laplace(scale=1, sensitivity=size), copies)
            known.append(laplace_part(size, copies))
        else:
            _more(parts, oc.ApproxDP(size, 1e-4 if kind == "leaky" else 0), copies)
            known.append(atoms_part(lambda e=size: response_atoms(e), copies))  # type: ignore[misc]
            leaks += [(1e-4, copies)] if kind == "leaky" else []
    return parts, known, leaks


@pytest.mark.parametrize("seed", range(30))
def test_random_mixtures(seed: int) -> None:
    rng = Random(seed)
    parts: dict[Item, int] = {}
    while not any(isinstance(part, oc.Laplace | oc.RandomizedResponse | oc.DiscreteLaplace) for part in parts):
        parts, known, leaks = _mixture(rng)
    bound = confirmed(Sum(known, leaks), parts, rng.choice([0.3, 0.01, 1e-3, 2e-3]))
    assert bound.theorem == "ZDW22"


@pytest.mark.parametrize("delta", [0.2, 1e-3, 1e-6, 1e-12])
@pytest.mark.parametrize(("eps", "copies"), [(0.1, 2), (0.1, 3), (1.0, 2), (0.5, 7), (3.0, 4), (0.05, 20)])
def test_laplace(eps: float, copies: int, delta: float) -> None:
    confirmed(Sum([laplace_part(eps, copies)]), {oc.Laplace(1, eps): copies}, delta)


@pytest.mark.parametrize("delta", [1e-3, 1e-9, 1e-20, 1e-50, 1e-100])
@pytest.mark.parametrize("copies", [1, 100, 10_000])
def test_engine_against_the_gaussian_closed_form(copies: int, delta: float) -> None:
    bound = oc.compose({oc.Gaussian(4): copies}, delta=delta, method="certified")
    exact = oc.compose({oc.Gaussian(4): copies}, delta=delta)
    assert exact.theorem == "DRS22"
    assert bound.lower <= exact.lower <= exact.upper <= bound.upper
    assert bound.width <= 1e-9


@pytest.mark.parametrize("delta", [1e-2, 1e-5, 1e-11])
def test_gaussian_beside_atoms(delta: float) -> None:
    known = [(response_atoms(0.25), 3), (response_atoms(1.0, 4), 2)]
    parts: dict[Item, int] = {oc.Gaussian(2): 1, oc.PureDP(0.25): 3, oc.RandomizedResponse(1.0, 4): 2}
    confirmed(Beside([gaussian_hockey(Fraction(1, 2))], lambda: sums_of(known)), parts, delta)


@pytest.mark.parametrize(("rate", "delta"), [(0.5, 1e-2), (0.5, 1e-7), (0.01, 1e-4)])
def test_one_subsampled_mechanism_beside_atoms(rate: float, delta: float) -> None:
    def sums() -> list[tuple[Fraction, arb]]:
        return sums_of([(response_atoms(0.5), 3)])

    gaussian = Beside([subsampled_gaussian_hockey(1, rate, way) for way in ("towards", "away")], sums)
    bound = confirmed(gaussian, {oc.PoissonSubsampled(oc.Gaussian(1), rate): 1, oc.PureDP(0.5): 3}, delta)
    assert bound.width < 0.01
    laplace = Beside([subsampled_laplace_hockey(1, rate, way) for way in ("towards", "away")], sums)
    confirmed(laplace, {oc.PoissonSubsampled(oc.Laplace(1), rate): 1, oc.PureDP(0.5): 3}, delta)


def test_subsampled_training_run() -> None:
    """The width that makes accounting for training runs a matter of digits, at any δ."""
    known = {1e-5: 1.828236666, 1e-6: 2.124515171, 1e-20: 6.361700204}
    for delta, about in known.items():
        bound = oc.compose({oc.PoissonSubsampled(oc.Gaussian(1), 0.01): 1000}, delta=delta)
        assert bound.width < 1e-9
        assert bound.upper == pytest.approx(about, rel=1e-8)


def test_the_worse_direction_counts() -> None:
    mechanism = oc.PoissonSubsampled(oc.Gaussian(1), 0.2)
    remove, add = mechanism.loss.directions
    total = oc.compose([mechanism], epsilon=0.5)
    assert total.upper == pytest.approx(max(remove.delta(0.5), add.delta(0.5)), rel=1e-12)
    assert remove.delta(0.5) > 1.5 * add.delta(0.5)


def test_nothing_works_below_the_leaks() -> None:
    bound = oc.compose({oc.Laplace(3): 2, oc.NameAndShame(0.1): 1}, delta=0.05)
    assert math.isinf(bound.lower)
    assert "leaks everything" in bound.notes[0]


def test_no_slack_leaves_the_largest_loss() -> None:
    bound = oc.compose({oc.Laplace(4): 3}, delta=0)
    assert 0.75 * (1 - 1e-12) <= bound.lower <= 0.75 <= bound.upper == 0.75
    assert math.isinf(oc.compose({oc.Laplace(4): 3, oc.Gaussian(1): 1}, delta=0).lower)


def test_notions_have_no_loss() -> None:
    with pytest.raises(oc.HypothesisNotMet, match="ZCDP only bounds it"):
        oc.compose([oc.ZCDP(0.1), oc.Laplace(1)], delta=1e-6, method="certified")
