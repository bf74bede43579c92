"""`convert`: every step of the graph promises no more than its source, checked on divergences and hockey sticks."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator
from fractions import Fraction
from typing import Any

import pytest
from flint import acb, arb

import optcomp as oc
from optcomp.composition.conversion import path
from optcomp.guarantees.known_loss import KnownLoss
from optcomp.theorems.conversions import STEPS, Conversion
from tests.oracles.losses import (
    Hockey,
    Moment,
    atoms_moment,
    discrete_gaussian_hockey,
    discrete_gaussian_moment,
    discrete_laplace_atoms,
    gaussian_hockey,
    gaussian_moment,
    laplace_hockey,
    laplace_moment,
    response_atoms,
    response_moment,
    subsampled_gaussian_moment,
    subsampled_laplace_moment,
)
from tests.oracles.truth import real, working

ORDERS = (1.001, 1.5, 2.0, 3.7, 12.0, 80.0)


def atoms_hockey(atoms: Callable[[], list[tuple[Fraction, arb]]]) -> Hockey:
    return lambda y: sum((p * (1 - (y - real(a)).exp()).max(arb(0)) for a, p in atoms()), arb(0))


Truth = tuple[list[Moment], Hockey | None]
"""The moments of a mechanism that satisfies the source, in every direction, and its hockey stick."""

SOURCES: list[tuple[Any, Truth]] = [
    (oc.PureDP(0.7), ([response_moment(0.7, 2)], atoms_hockey(lambda: response_atoms(0.7)))),
    (oc.RandomizedResponse(0.7), ([response_moment(0.7, 2)], atoms_hockey(lambda: response_atoms(0.7)))),
    (oc.RandomizedResponse(2.5, 9), ([response_moment(2.5, 9)], atoms_hockey(lambda: response_atoms(2.5, 9)))),
    (oc.Laplace(0.4), ([laplace_moment(1 / Fraction(0.4))], laplace_hockey(1 / Fraction(0.4)))),
    (
        oc.DiscreteLaplace(3, 2),
        ([atoms_moment(lambda: discrete_laplace_atoms(3, 2))], atoms_hockey(lambda: discrete_laplace_atoms(3, 2))),
    ),
    (oc.Gaussian(3), ([gaussian_moment(Fraction(1, 3))], gaussian_hockey(Fraction(1, 3)))),
    (oc.GaussianDP(1.7), ([gaussian_moment(1.7)], gaussian_hockey(1.7))),
    (oc.DiscreteGaussian(0.6, 2), ([discrete_gaussian_moment(0.6, 2)], discrete_gaussian_hockey(0.6, 2))),
    (oc.DiscreteGaussian(3), ([discrete_gaussian_moment(3, 1)], discrete_gaussian_hockey(3, 1))),
    (oc.ZCDP(0.125), ([gaussian_moment(0.5)], gaussian_hockey(0.5))),
    (oc.TCDP(0.125, 7), ([gaussian_moment(0.5)], gaussian_hockey(0.5))),
    (oc.Exponential(0.8), ([response_moment(0.4, 2)], atoms_hockey(lambda: response_atoms(0.4)))),
    (oc.SparseVectorDP(0.3, 0.5), ([response_moment(Fraction(0.3) + Fraction(0.5), 2)], None)),
    (oc.NameAndShame(0.01), ([], None)),
    (
        oc.PoissonSubsampled(oc.Gaussian(1), 0.2),
        ([subsampled_gaussian_moment(1, 0.2, "towards"), subsampled_gaussian_moment(1, 0.2, "away")], None),
    ),
    (
        oc.PoissonSubsampled(oc.Laplace(1), 0.2),
        ([subsampled_laplace_moment(1, 0.2, "towards"), subsampled_laplace_moment(1, 0.2, "away")], None),
    ),
]
NAMES = [repr(source) for source, _ in SOURCES]


def divergence(moment: Moment, alpha: float) -> arb:
    return moment(acb(arb(alpha) - 1)).real.log() / (arb(alpha) - 1)


def _renyi(target: Any) -> Callable[[float], arb] | None:
    if isinstance(target, oc.GaussianDP):
        return lambda alpha: real(target.mu) ** 2 / 2 * arb(alpha)
    if isinstance(target, oc.PureDP | oc.ApproxDP):
        return None
    renyi: Callable[[float], arb] = target.renyi
    return renyi


@pytest.mark.parametrize(("source", "truth"), SOURCES, ids=NAMES)
def test_no_step_promises_more(source: Any, truth: Truth) -> None:
    moments, hockey = truth
    steps = [step for step in STEPS if isinstance(source, step.source)]
    assert steps or isinstance(source, oc.ApproxZCDP)
    for step in steps:
        target: Any = step.step(source)
        assert type(target).__name__ == step.target.__name__
        assert oc.theorem(step.theorem).id == step.theorem
        renyi = _renyi(target)
        with working(160):
            if renyi is not None:
                for alpha in ORDERS:
                    most = renyi(alpha) * (1 + arb(2) ** -100)
                    assert not any(divergence(moment, alpha) > most for moment in moments), (step.target, alpha)
            elif hockey is not None:
                assert not hockey(real(target.epsilon)) > real(target.delta)


@pytest.mark.parametrize(("source", "truth"), SOURCES, ids=NAMES)
def test_curves_of_losses_are_tight(source: Any, truth: Truth) -> None:
    """The step from a mechanism to its Rényi curve loses nothing but rounding."""
    if not isinstance(source, KnownLoss):
        return
    curve = oc.convert(source, oc.RenyiDP)
    with working(160):
        for alpha in ORDERS:
            true = max(float(divergence(moment, alpha).mid()) for moment in truth[0])
            assert float(curve.renyi(alpha).mid()) == pytest.approx(true, rel=1e-12)


@pytest.mark.parametrize(("source", "truth"), SOURCES, ids=NAMES)
def test_at_a_given_delta(source: Any, truth: Truth) -> None:
    _, hockey = truth
    for delta in (0.1, 1e-5):
        if isinstance(source, oc.NameAndShame) and delta < source.delta:
            continue  # no ε works
        found = oc.convert(source, oc.ApproxDP, delta=delta)
        assert found.delta == delta
        assert found.epsilon == oc.compose([source], delta=delta).upper
        if hockey is not None:
            with working(160):
                assert not hockey(real(found.epsilon)) > real(delta)


def chains(kind: type, target: type, seen: tuple[type, ...] = ()) -> Iterator[tuple[Conversion, ...]]:
    """Every chain of steps that takes no notion twice."""
    if kind is target:
        yield ()
        return
    for step in STEPS:
        if issubclass(kind, step.source) and step.target not in (*seen, kind):
            for rest in chains(step.target, target, (*seen, kind)):
                yield (step, *rest)


def along(chain: tuple[Conversion, ...], value: Any) -> Any:
    for step in chain:
        value = step.step(value)
    return value


def amounts(value: Any) -> list[Fraction]:
    """What a notion promises as numbers of which smaller ones are better; curves at many orders."""
    if isinstance(value, oc.RenyiDP):
        curve = value.curve
        assert curve is not None
        return [Fraction(min(curve(order), 1e300)) for order in (*ORDERS, 1e6, 1e15, 1e16)]
    if isinstance(value, oc.TCDP):
        return [Fraction(value.rho), -Fraction(value.omega)]
    names = [name for name in ("epsilon", "delta", "rho", "mu") if hasattr(value, name)]
    return [Fraction(getattr(value, name)) for name in names]


SIZES = (Fraction(1, 100), Fraction(1, 2), Fraction(3), Fraction(40))
GRID: list[Any] = [
    *(source for source, _ in SOURCES),
    *(
        make(size)
        for size in SIZES
        for make in (oc.PureDP, oc.Exponential, oc.GaussianDP, oc.ZCDP, oc.RandomizedResponse)
    ),
    *(make(1 / size) for size in SIZES for make in (oc.Laplace, oc.Gaussian)),
    *(oc.RandomizedResponse(size, answers) for size in SIZES for answers in (2, 7)),
    *(oc.SparseVectorDP(size, size) for size in SIZES),
]
TARGETS = (oc.PureDP, oc.ApproxDP, oc.GaussianDP, oc.ZCDP, oc.TCDP, oc.ApproxZCDP, oc.RenyiDP)


def test_no_chain_is_tighter_than_the_shortest() -> None:
    """Rationals are compared exactly, curves up to the last places of a float."""
    several = set()
    for source in GRID:
        for target in TARGETS:
            ways = list(chains(type(source), target))
            if len(ways) < 2:
                continue
            several.add((type(source), target))
            shortest = path(type(source), target)
            assert len(shortest) == min(map(len, ways))
            best = amounts(along(shortest, source))
            slack = 1 + Fraction(1, 2**50) if target is oc.RenyiDP else 1
            for way in ways:
                assert all(one <= other * slack for one, other in zip(best, amounts(along(way, source)), strict=True))
    assert (oc.Exponential, oc.ZCDP) in several
    assert {kind for kind, target in several if target is oc.RenyiDP} >= {oc.Laplace, oc.Gaussian, oc.ZCDP}


def test_a_detour_that_gives_less() -> None:
    """The comparison is not idle: by way of its ε the exponential mechanism costs four times as much."""
    detour = next(way for way in chains(oc.Exponential, oc.ZCDP) if len(way) == 2)
    assert along(detour, oc.Exponential(2)).rho == 4 * oc.convert(oc.Exponential(2), oc.ZCDP).rho


def test_chains() -> None:
    assert oc.convert(oc.Laplace(2), oc.TCDP).rho == Fraction(1, 8)
    assert oc.convert(oc.Gaussian(2), oc.ApproxZCDP) == oc.ApproxZCDP("0.125", 0)
    assert oc.convert(oc.Exponential(2), oc.ZCDP) == oc.ZCDP("0.5")  # not by way of its ε, which gives 2
    assert oc.convert(oc.SparseVectorDP("0.1", "0.2"), oc.ApproxDP) == oc.ApproxDP("0.3", 0)
    assert oc.convert(oc.NameAndShame(0.25), oc.ApproxDP) == oc.ApproxDP(0, 0.25)
    assert [step.theorem for step in path(oc.Laplace, oc.ZCDP)] == ["KOV15-3.3", "BS16"]
    same = oc.ZCDP(1)
    assert oc.convert(same, oc.ZCDP) is same


@pytest.mark.parametrize(
    ("source", "target"),
    [
        (oc.ApproxDP(1, 1e-6), oc.ZCDP),
        (oc.Gaussian(1), oc.PureDP),
        (oc.RenyiDP(2, 1), oc.ZCDP),
        (oc.ZCDP(1), oc.PureDP),
    ],
)
def test_no_chain(source: object, target: type) -> None:
    with pytest.raises(oc.InvalidInput, match="no chain of proved steps"):
        oc.convert(source, target)


def test_delta_is_asked_for() -> None:
    with pytest.raises(oc.InvalidInput, match="give delta"):
        oc.convert(oc.Gaussian(1), oc.ApproxDP)
    with pytest.raises(oc.InvalidInput, match="belongs to a conversion to ApproxDP"):
        oc.convert(oc.Gaussian(1), oc.ZCDP, delta=1e-6)


def test_truncation_survives_as_a_curve() -> None:
    curve = oc.convert(oc.TCDP(0.125, 7), oc.RenyiDP)
    assert curve.renyi(7.0) == arb.pos_inf()
    assert math.isclose(float(curve.renyi(6.0).mid()), 0.75, rel_tol=1e-15)
    one, other = (oc.compose([part], delta=1e-6).upper for part in (curve, oc.TCDP(0.125, 7)))
    assert one == pytest.approx(other, rel=1e-4)


def test_no_epsilon_at_a_delta_below_what_leaks() -> None:
    with pytest.raises(oc.InvalidInput, match="delta: is too small"):
        oc.convert(oc.NameAndShame(0.01), oc.ApproxDP, delta=1e-5)
