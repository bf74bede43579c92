"""Sums of Laplace losses against sums multiplied out in balls; an error term that is left out makes a bound false."""

from __future__ import annotations

import math
from collections.abc import Callable
from fractions import Fraction
from functools import lru_cache
from random import Random

import numpy as np
import pytest
from flint import acb, arb

import optcomp as oc
from optcomp.numerics.grids import way_for
from optcomp.numerics.grids.laplace_sum import LaplaceSum, Tilted
from optcomp.numerics.grids.laplaces import LaplaceWay
from optcomp.numerics.laws.laplace import LaplaceLaw
from tests.oracles.losses import Sum, laplace_part
from tests.oracles.truth import Rational, real, working

BITS = 400
Setting = list[tuple[Rational, int]]


def drawn(rng: Random) -> Setting:
    """One to three scales, and a few copies of each."""
    kinds = rng.choice((1, 1, 2, 3))
    most = {1: 24, 2: 7, 3: 3}[kinds]
    eps = [math.exp(rng.uniform(math.log(0.003), math.log(4))) for _ in range(kinds)]
    return [(Fraction(round(x * 1000) + 1, 999) if rng.random() < 0.3 else x, rng.randint(1, most)) for x in eps]


@lru_cache(maxsize=4)
def sum_of(*setting: tuple[Rational, int]) -> Sum:
    return Sum([laplace_part(eps, copies) for eps, copies in setting])


def truth(setting: Setting, y: float) -> arb:
    with working(BITS):
        return sum_of(*setting).excess(Fraction(y), BITS)


def laws_of(setting: Setting) -> list[tuple[LaplaceLaw, int]]:
    return [(LaplaceLaw(eps), copies) for eps, copies in setting]


def encloses(sides: tuple[float, float], value: arb) -> bool:
    with working(BITS):
        return bool(arb(sides[0]).exp() <= value) and bool(value <= arb(sides[1]).exp())


@pytest.mark.parametrize("seed", range(40))
def test_an_excess_is_enclosed(seed: int) -> None:
    rng = Random(seed)
    setting = drawn(rng)
    if sum(copies for _, copies in setting) == 1:
        setting = [(setting[0][0], 2)]
    y = float(sum(float(eps) * copies for eps, copies in setting)) * rng.uniform(0.0, 0.95)
    found = LaplaceWay(laws_of(setting)).excess(y, 1e-9, 1e9)
    assert found is not None
    assert encloses((found.lower, found.upper), truth(setting, y)), (setting, y)
    assert -math.expm1(found.lower - found.upper) < 1e-8
    assert found.capped or -math.expm1(found.lower - found.upper) <= 1e-9


@pytest.mark.parametrize("seed", range(20))
def test_a_root_is_enclosed(seed: int) -> None:
    """δ from 1e-1 to 1e-40, through the front door; the bracket is as narrow as promised."""
    rng = Random(1000 + seed)
    setting = drawn(rng)
    if sum(copies for _, copies in setting) == 1:
        setting = [(setting[0][0], 3)]
    delta = 10.0 ** rng.uniform(-40, -1)
    counts = {oc.Laplace(1 / Fraction(eps)): copies for eps, copies in setting}
    bound = oc.compose(counts, delta=delta)
    parts: Setting = [(1 / Fraction(noise.scale), copies) for noise, copies in counts.items()]
    assert bound.upper == 0 or truth(parts, bound.upper) <= arb(delta)
    assert bound.lower == 0 or truth(parts, bound.lower) >= arb(delta)
    assert bound.width <= 1e-9
    assert bound.upper <= float(sum(float(eps) * copies for eps, copies in parts)) * (1 + 1e-14)


def test_lists_and_counts_and_order() -> None:
    one, two = oc.Laplace(10), oc.Laplace(7.5)
    bound = oc.compose({one: 20, two: 5}, delta=1e-7)
    for other in (oc.compose([one] * 20 + [two] * 5, delta=1e-7), oc.compose({two: 5, one: 20}, delta=1e-7)):
        assert (other.lower, other.upper) == (bound.lower, bound.upper)
    assert oc.compose({one: 21, two: 5}, delta=1e-7).upper > bound.lower
    assert oc.compose({one: 20, two: 5}, delta=1e-8).upper > bound.lower


def test_who_is_served() -> None:
    assert isinstance(way_for(laws_of([(0.1, 100)])), LaplaceWay)
    assert way_for(laws_of([(0.1, 100), (0.11, 100), (0.12, 100)])) is None  # a million sums of atoms
    assert way_for(laws_of([(0.001, 10_000)])) is None


def node_errors(setting: Setting, c: float, used: Setting) -> list[tuple[float, float]]:
    """Errors of the transform at some nodes, by balls, and what is claimed of them; `used` is what the code is told."""
    made = LaplaceSum(laws_of(used), Tilted(c, 2 * c, 0.0, 1.0, 8))
    theta = np.array([0.0, 0.013, 0.5, 3.0, 41.7, 1000.5, 123_456.75])
    values, _, errors = made.two_or_more(theta)
    found = []
    for place, value, error in zip(theta.tolist(), values.tolist(), errors.tolist(), strict=True):
        with working(BITS):
            whole, none, one = acb(1), acb(1), acb(0)
            for eps, copies in setting:
                x, b = real(eps), 1 + 2 * acb(c, place)
                low, common = (-b * x).exp(), _common(real(eps), c)
                alpha, gamma = (1 + low) / (2 * common), (1 - low) / (2 * b * common)
                one = one * alpha**copies + none * copies * gamma * alpha ** (copies - 1)
                none, whole = none * alpha**copies, whole * (alpha + gamma) ** copies
            found.append((float(abs(whole - none - one - acb(value.real, value.imag)).upper()), error))
    return found


def _common(eps: arb, c: float) -> arb:
    b = 1 + 2 * arb(c)
    return (1 + (-b * eps).exp() + (1 - (-b * eps).exp()) / b) / 2


@pytest.mark.parametrize("setting", [[(0.1, 100)], [(3.0, 7), (0.25, 2)], [(Fraction(1, 3), 1), (1e-6, 900)]])
@pytest.mark.parametrize("c", [0.01, 4.0, 300.0])
def test_the_error_of_every_node(setting: Setting, c: float) -> None:
    assert all(off <= error for off, error in node_errors(setting, c, setting))
    moved: Setting = [(float(eps) * (1 + 1e-9), copies) for eps, copies in setting]
    if c < 300 and setting[-1][0] > 0.01:  # where it matters: a changed ε is seen
        assert not all(off <= error for off, error in node_errors(setting, c, moved))


def mended(setting: Setting, plan: Tilted, y: float, change: Callable[[LaplaceSum], None]) -> bool:
    """Whether the truth is enclosed after a change."""
    made = LaplaceSum(laws_of(setting), plan)
    change(made)
    return encloses(made.sides(y), truth(setting, y))


def _nothing(_: LaplaceSum) -> None:
    pass


def _no_cut(made: LaplaceSum) -> None:
    made._cut = 0.0


def _no_alias(made: LaplaceSum) -> None:
    made._alias = lambda y: 0.0  # type: ignore[method-assign]


def _no_mean(made: LaplaceSum) -> None:
    """K off by more than is counted."""
    value, error = made._means[0]
    made._means[0] = value + 1e-11, error


def _no_list_error(made: LaplaceSum) -> None:
    made._none = type(made._none)(made._none.depth, made._none.log_mass + 1e-11, made._none.error, True)


def _one_forgotten(made: LaplaceSum) -> None:
    made._one = [type(atoms)(atoms.depth, atoms.log_mass - 1e-7, atoms.error, True) for atoms in made._one]


FINE = Tilted(3.0, 9.0, 0.5, 0.375, 100_000)
CASES: dict[str, tuple[Setting, Tilted, float, Callable[[LaplaceSum], None]]] = {
    "cut": ([(0.3, 6)], Tilted(3.0, 9.0, 0.5, 0.375, 30), 0.9, _no_cut),
    "periods": ([(0.3, 6)], Tilted(3.0, 9.0, 0.5, 2.0, 4000), 0.9, _no_alias),
    "mean": ([(0.3, 6)], FINE, 0.9, _no_mean),
    "list": ([(0.02, 6)], Tilted(40.0, 120.0, 4.0, 2.0, 20_000), 0.1, _no_list_error),
    "one": ([(0.3, 6)], FINE, 0.9, _one_forgotten),
}


@pytest.mark.parametrize("name", list(CASES))
def test_a_term_left_out_is_seen(name: str) -> None:
    setting, plan, y, change = CASES[name]
    places = [y * (1 - share) for share in np.linspace(0.0, 0.02, 12).tolist()]
    assert all(mended(setting, plan, place, _nothing) for place in places)
    assert not all(mended(setting, plan, place, change) for place in places)
