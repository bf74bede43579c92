"""Short sums by plain convolution, against sums without any rounding; and every error term left out once."""

from __future__ import annotations

import math
from collections.abc import Callable
from fractions import Fraction
from functools import lru_cache
from random import Random
from typing import NamedTuple

import numpy as np
import pytest
from flint import arb

import optcomp as oc
from optcomp.numerics.grids import convolved as tested
from optcomp.numerics.grids.answers import Found
from optcomp.numerics.grids.convolved import Curve, Masses, convolved_root
from optcomp.numerics.grids.grid_law import Rest
from optcomp.numerics.grids.lattice import LatticeLaw, lattice
from optcomp.numerics.laws.law import Summand
from tests.oracles.gridded import convolved, excess_of
from tests.oracles.losses import discrete_laplace_atoms, response_atoms, sums_of
from tests.oracles.truth import real, working

BITS = 300
LOG_TS = -0.5, -3.0, -14.0, -60.0, -250.0


def _ends(log_t: float) -> tuple[float, float]:
    return math.nextafter(log_t, -math.inf), math.nextafter(log_t, math.inf)


class Case(NamedTuple):
    """A law on a grid, what it stands for without any rounding, and how many copies there are."""

    law: LatticeLaw
    masses: list[Fraction]
    base: Fraction
    h: float
    copies: int

    def excess(self, y: float) -> arb:
        """F(y), and it is to be small where y is beyond all sums."""
        return excess_of(_sum_of(tuple(self.masses), self.copies), self.copies * self.base, self.h, y)


@lru_cache(maxsize=1)
def _sum_of(masses: tuple[Fraction, ...], copies: int) -> list[arb]:
    """The masses of the sum; one case is asked at several places in a row."""
    with working(BITS):
        return [real(mass) for mass in convolved([(masses, copies)])]


def _case(rng: Random) -> Case:
    size, h, copies = rng.choice([2, 3, 9, 40]), rng.choice([0.01, 0.3, 2.0, 30.0]), rng.choice([1, 2, 7, 30])
    weights = [rng.random() ** 3 * rng.choice([0, 1, 1, 1e-3, 1e-12]) for _ in range(size)]
    weights[rng.randrange(size)] = 1.0
    masses = [Fraction(weight) / sum(map(Fraction, weights)) for weight in weights]
    base = Fraction(-rng.randint(0, size) * h)
    near = np.array([float(mass) for mass in masses])
    law = LatticeLaw(base, np.arange(size), (near * (1 + 1e-15), near * (1 - 1e-15)), 0.0, None)
    return Case(law, masses, base, h, copies)


def _holds(found: Found, excess: Callable[[float], arb], log_t: float) -> bool:
    """F is at most t at the upper side, and at least t at the lower one unless that is 0."""
    t = arb(log_t).exp()
    return bool(excess(found.upper) <= t) and (found.lower == 0 or bool(excess(found.lower) >= t))


@pytest.mark.parametrize("seed", range(40))
def test_random_lattices(seed: int) -> None:
    """Between the sides, which are near to each other, unless the curve is flat for most of a cell."""
    rng = Random(f"convolved {seed}")
    case, asked = _case(rng), 0
    with working(BITS):
        for log_t in LOG_TS:
            found = convolved_root([(case.law, case.copies)], case.h, _ends(log_t), 1e-6)
            if found is None:
                continue
            asked += 1
            assert _holds(found, case.excess, log_t), log_t
            assert found.upper - found.lower <= 1e-6 * found.upper + 1e-9 or found.lower == 0 or case.h > 9, log_t
    assert asked


@pytest.mark.parametrize("t", [0.3, 1e-2, 1e-6, 1e-30])
def test_lists(t: float) -> None:
    """Several kinds on one grid."""
    parts = [(oc.RandomizedResponse(0.3, 3), 4), (oc.RandomizedResponse(0.2, 5), 5), (oc.DiscreteLaplace(10, 2), 3)]
    laws: list[tuple[Summand, int]] = [(part.laws[0], copies) for part, copies in parts]
    on_grid = lattice(laws, math.log(t))
    assert on_grid is not None
    found = convolved_root(*on_grid, _ends(math.log(t)), 1e-9)
    assert found is not None
    assert found.upper - found.lower <= 1e-12 * found.upper
    with working(BITS):
        kinds = (response_atoms(0.3, 3), 4), (response_atoms(0.2, 5), 5), (discrete_laplace_atoms(10, 2), 3)
        atoms = sums_of(list(kinds))

        def excess(y: float) -> arb:
            return sum((-p * real(Fraction(y) - place).expm1() for place, p in atoms if place > y), arb(0))

        assert _holds(found, excess, math.log(t))


class NoRounding(Curve):
    """The relative error of masses and sums left out."""

    def __init__(self, masses: Masses, base: float, slip: float, h: float, t: float) -> None:
        super().__init__(masses, base, slip, h, t)
        self.error = 0.0


class NothingLost(Curve):
    """What was cut off, and what lies beyond the grid, left out."""

    def __init__(self, masses: Masses, base: float, slip: float, h: float, t: float) -> None:
        super().__init__(masses._replace(lost=0.0), base, slip, h, t)


class NoSlip(Curve):
    """Places taken to be where the grid is."""

    def __init__(self, masses: Masses, base: float, slip: float, h: float, t: float) -> None:
        super().__init__(masses, base, 0.0, h, t)


class NoLoss(Curve):
    """The smaller masses taken to be the larger ones."""

    def lower(self, t: float, loss: float) -> float:
        return super().lower(t, 0.0)


def _plain(rng: Random, slip: float = 0.0, apart: float = 1.0, rest: Rest | None = None) -> Case:
    weights = [rng.randint(1, 64) for _ in range(6)]
    masses = [Fraction(weight, sum(weights)) for weight in weights]
    near = np.array([float(mass) for mass in masses])
    law = LatticeLaw(Fraction(-1), np.arange(6), (near * (1 + 1e-15), near * apart * (1 - 1e-15)), slip, rest)
    return Case(law, masses, Fraction(-1), 0.25, 40)


def _rough(rng: Random, monkeypatch: pytest.MonkeyPatch) -> Case:
    """Products of twenty bits, which say so."""
    plain, share = tested._product, 2.0**-20

    def rounded(one: Masses, two: Masses, cut: float) -> Masses | None:
        made = plain(one, two, cut)
        return made and made._replace(
            values=made.values * (1 + share * rng.choice([-1, 1])), error=made.error + 1.01 * share
        )

    monkeypatch.setattr(tested, "_product", rounded)
    return _plain(rng)


def test_products() -> None:
    """Sums of products are rounded, and by no more than is said."""
    rng = Random("products")
    for sizes in ((3, 3), (40, 90), (300, 300)):
        one, two = (np.array([rng.random() for _ in range(size)]) for size in sizes)
        found = tested._product(Masses(0, one, 0.0, 0.0), Masses(0, two, 0.0, 0.0), 0.0)
        assert found is not None
        exact = convolved([(one.tolist(), 1), (two.tolist(), 1)])
        off = [abs(Fraction(value) / truth - 1) for value, truth in zip(found.values.tolist(), exact, strict=True)]
        assert 0 < max(off) <= found.error


def _cut(rng: Random, monkeypatch: pytest.MonkeyPatch) -> Case:
    """Ends that are cut off early."""
    monkeypatch.setattr(tested, "_CUT", 0.02)
    monkeypatch.setattr(tested, "_SMALL", 0.5)
    return _plain(rng)


def _beyond(rng: Random, monkeypatch: pytest.MonkeyPatch) -> Case:
    """A large loss that is not on the grid."""
    monkeypatch.setattr(tested, "_SMALL", 0.5)
    case, share = _plain(rng, rest=Rest(arb(1e-9), arb(0), Fraction(50))), Fraction(1, 10**9)
    masses = [*(mass * (1 - share) for mass in case.masses), *[Fraction(0)] * 200, share]
    return case._replace(masses=masses)


def _off(rng: Random, monkeypatch: pytest.MonkeyPatch) -> Case:
    """All places a little off."""
    case = _plain(rng, slip=1e-6)
    return case._replace(base=case.base + Fraction(rng.choice([-1, 1]), 10**6))


def _smaller(rng: Random, monkeypatch: pytest.MonkeyPatch) -> Case:
    """Masses that are the smaller ones."""
    case = _plain(rng, apart=1 - 1e-6)
    return case._replace(masses=[mass * (1 - Fraction(1, 10**6)) for mass in case.masses])


@pytest.mark.slow_cases("_beyond-NothingLost")
@pytest.mark.parametrize(
    ("made", "broken"),
    [(_rough, NoRounding), (_cut, NothingLost), (_beyond, NothingLost), (_off, NoSlip), (_smaller, NoLoss)],
)
def test_error_terms(
    made: Callable[[Random, pytest.MonkeyPatch], Case], broken: type[Curve], monkeypatch: pytest.MonkeyPatch
) -> None:
    """True with the term, and somewhere false without it."""
    failed = 0
    for seed in range(8):
        with monkeypatch.context() as patch:
            case = made(Random(f"error terms {seed}"), patch)
            for log_t in (-5.0, -14.0):
                ends = _ends(log_t)
                kept = convolved_root([(case.law, case.copies)], case.h, ends, math.inf)
                with monkeypatch.context() as other:
                    other.setattr(tested, "Curve", broken)
                    left = convolved_root([(case.law, case.copies)], case.h, ends, math.inf)
                assert kept is not None
                assert left is not None
                with working(BITS):
                    assert _holds(kept, case.excess, log_t), (seed, log_t)
                    failed += not _holds(left, case.excess, log_t)
    assert failed


def test_numbers_too_small_for_floats() -> None:
    """A sum whose exponentials leave the range of floats is left to other ways."""
    h, t = 4.0, 0.3
    masses = np.array([0.5, *[0.0] * 98, 0.5])
    law = LatticeLaw(Fraction(0), np.arange(100), (masses, masses), 0.0, None)
    assert convolved_root([(law, 2)], h, _ends(math.log(t)), 1e-9) is None


def test_laws_are_kept() -> None:
    """Asking again finds the law on its grid, another width another one."""
    law = oc.DiscreteLaplace(10, 3).laws[0]
    first, again = lattice([(law, 3)], -14.0), lattice([(law, 5)], -20.0)
    other = lattice([(law, 3), (oc.RandomizedResponse(0.05, 3).laws[0], 1)], -14.0)
    assert first is not None
    assert again is not None
    assert other is not None
    assert first[0][0][0] is again[0][0][0]
    assert first[0][0][0] is not other[0][0][0]
    assert other[1] < first[1]


@pytest.mark.parametrize("share", [1e-5, 1e-9, 1e-12, 1e-14])
def test_flat_cells(share: float) -> None:
    """At the left end of a long cell the curve is flat, and its logarithm is not followed."""
    masses = [Fraction(1, 4), Fraction(1, 2), Fraction(1, 4)]
    near = np.array([0.25, 0.5, 0.25])
    law = LatticeLaw(Fraction(-30), np.arange(3), (near * (1 + 1e-15), near * (1 - 1e-15)), 0.0, None)
    case = Case(law, masses, Fraction(-30), 30.0, 2)
    with working(BITS):
        edge = case.excess(30.0) + (case.excess(0.0) - case.excess(30.0)) * (1 - real(share))
        log_t = float(edge.log().mid())
        found = convolved_root([(law, 2)], 30.0, _ends(log_t), 1e-6)
        assert found is not None
        assert _holds(found, case.excess, log_t)
