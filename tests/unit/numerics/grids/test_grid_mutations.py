"""Every error term that can be seen to matter: left out, some bound on some sum is false; left in, none is."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from dataclasses import replace
from fractions import Fraction
from random import Random

import numpy as np
import pytest
from flint import arb

import optcomp as oc
from optcomp.numerics.blocked import Floats
from optcomp.numerics.grids import grid_sum, mixed
from optcomp.numerics.grids.beyond import Beyond
from optcomp.numerics.grids.grid_law import GridLaw
from optcomp.numerics.grids.grid_sum import Counted, GridSum, log_masses
from optcomp.numerics.grids.guess import Guess
from optcomp.numerics.grids.lattice import lattice
from optcomp.numerics.grids.mixed import MixedGrid
from optcomp.numerics.grids.sides import summed
from optcomp.numerics.laws.mixed_normal import Direction, MixedNormalLaw
from tests.oracles.gridded import OnGrid, convolved, excess_of
from tests.oracles.losses import response_atoms, subsampled_gaussian_hockey, sums_of
from tests.oracles.truth import real, working
from tests.unit.numerics.grids.test_grid_sum import enclosed

BITS = 300


class NoTransformError(GridSum):
    """The round-off of transforms and powers left out."""

    def _invert(self, laws: Counted) -> None:
        super()._invert(laws)
        self.error = 0.0


class NoFolding(GridSum):
    """What folding adds left out."""

    def _folded(self, scale: float, k: int, sides: Sequence[bool] = (True, False)) -> float:
        return 0.0


class NoEnd(GridSum):
    """What lies beyond the last place that is summed left out."""

    def _beyond(self, scale: float, k: int, length: int) -> float:
        return 0.0


def _bell(rng: Random) -> tuple[Counted, float, float, int]:
    """A sum whose tilted law is far from some places, and a period that holds it."""
    masses = np.array([rng.uniform(0.5, 1.0) for _ in range(8)])
    return [(GridLaw(Fraction(0), masses / masses.sum(), 0.0, None), 20)], 0.25, rng.uniform(0.1, 0.5), 256


def _short(rng: Random) -> tuple[Counted, float, float, int]:
    """A period much shorter than the sum."""
    return (*_bell(rng)[:3], 32)


def _gap(rng: Random) -> tuple[Counted, float, float, int]:
    """Mass far above a gap."""
    masses = np.zeros(101)
    masses[[0, 100]] = rng.uniform(0.3, 0.6), 0.3
    return [(GridLaw(Fraction(0), masses, 0.0, None), 1)], 1.0, 1.0, 128


@pytest.mark.parametrize(("made", "broken"), [(_bell, NoTransformError), (_short, NoFolding), (_gap, NoEnd)])
def test_sums(
    made: Callable[[Random], tuple[Counted, float, float, int]],
    broken: type[GridSum],
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """Enclosed with the term, and somewhere not enclosed without it; ends are cut early, so that they are seen."""
    monkeypatch.setattr(grid_sum, "_DEEP", 10.0)
    rng, failed = Random(broken.__name__), 0
    for _ in range(4):
        laws, h, tilt, size = made(rng)
        exact = convolved([(law.masses.tolist(), copies) for law, copies in laws])
        others = [log_masses(laws, h, c) for c in (1.3 * tilt, 0.8 * tilt)]
        whole, part = (kind(laws, h, tilt, size, others, long=False) for kind in (GridSum, broken))
        for y in (h * len(exact) * rng.random() for _ in range(20)):
            with working(2000):
                truth = excess_of(exact, 0, h, y)
                assert enclosed(whole.sides(y), truth)
                failed += not enclosed(part.sides(y), truth)
    assert failed


def test_places_that_are_not_quite_on_the_grid() -> None:
    """0.3 is not three times 0.1: near the largest sum the slip decides."""
    parts = [(oc.RandomizedResponse(0.1), 1, 0.1), (oc.RandomizedResponse(0.3), 30, 0.3)]
    on_grid = lattice([(part.laws[0], copies) for part, copies, _ in parts], -30.0)
    assert on_grid is not None
    laws, h = on_grid
    above = [(law.above(), copies) for law, copies in laws]
    top = sum((copies * Fraction(eps) for _, copies, eps in parts), Fraction(0))
    y = math.nextafter(float(top), 0.0)
    guess = Guess(above, h)
    sums = summed(above, h, guess.setting(guess.tilt_at(9.0), 9.0, -10.0), long=False)
    assert sums is not None
    with working(BITS):
        atoms = sums_of([(response_atoms(eps), copies) for _, copies, eps in parts])
        truth = sum((-p * real(Fraction(y) - place).expm1() for place, p in atoms if place > y), arb(0))
        low, high = (sums.sides(y + sign * sums.slip) for sign in (1, -1))
        assert enclosed((low[0], high[1]), truth)
        assert not enclosed(sums.sides(y), truth)


class AllGood(MixedGrid):
    """No cell is looked at before it is merged into its place."""

    def _difference(
        self, rise: Floats, plain: Floats, shifted: Floats, errors: tuple[Floats, Floats]
    ) -> tuple[Floats, Floats]:
        sign = 1.0 if self.law.direction == "towards" else -1.0
        return sign * plain, 0 * plain


def _least(law: GridLaw, h: float, y: float, slip: float) -> arb:
    return OnGrid(law.masses.tolist(), law.base, h).excess(Fraction(y) + Fraction(slip)) + Beyond([(law, 1)]).least(y)


@pytest.mark.parametrize(
    ("mu", "q", "way", "rise", "cells"), [(1.0, 0.1, "towards", 4.0, 64), (0.3, 0.5, "away", 1.0, 64)]
)
def test_merged_cells(
    mu: float, q: float, way: Direction, rise: float, cells: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A cell whose loss is below its place must be moved down; edges that nobody mended have such cells."""
    monkeypatch.setattr(mixed, "_MENDS", 0)
    monkeypatch.setattr(mixed, "_RECUTS", 0)
    law, h = MixedNormalLaw(mu, q, way), rise / cells
    grids = [kind(law, h, rise).below() for kind in (MixedGrid, AllGood)]
    sign, failed = (1 if way == "towards" else -1), 0
    with working(2000):
        hockey = subsampled_gaussian_hockey(mu, q, way)
        for step in range(-4, 60):
            y = sign * (math.log1p(-q) + 0.25 * step * h)
            truth = hockey(real(y))
            assert _least(grids[0], h, y, grids[0].slip) <= truth + arb(2) ** -1900
            failed += bool(_least(grids[1], h, y, grids[1].slip) > truth)
    assert failed


def test_what_lies_beyond() -> None:
    """Without the rest, or with a closed form where it does not hold, the upper side is too small."""
    law, h = MixedNormalLaw(1.0, 0.1, "towards"), 1 / 64
    above = MixedGrid(law, h, 1.0).above()
    assert above.rest is not None
    with working(BITS):
        hockey = subsampled_gaussian_hockey(1.0, 0.1, "towards")
        grid = OnGrid(above.masses.tolist(), above.base, h)
        for y in (0.5, 2.0):
            own, truth = grid.excess(Fraction(y) - Fraction(above.slip)), hockey(real(y))
            assert own + Beyond([(above, 1)]).most(y) >= truth
            assert own + Beyond([(replace(above, rest=None), 1)]).most(y) < truth
        late = Beyond([(above, 1)])
        late.sure = Fraction(10)
        assert own + late.most(2.0) < truth


def test_faint_masses() -> None:
    """Masses too small for floats are left out of the grid, not of the bound."""
    on_grid = lattice([(oc.DiscreteGaussian(0.1, 1).laws[0], 1)], -23.0)
    assert on_grid is not None
    laws, h = on_grid
    above = laws[0][0].above()
    y = float(above.base) + (int(np.flatnonzero(above.masses)[-1]) + 0.5) * h
    with working(BITS):
        assert OnGrid(above.masses.tolist(), above.base, h).excess(y) == 0
    assert Beyond([(above, 1)]).most(y) >= 1e-280
    assert Beyond([(laws[0][0].below(), 1)]).least(y) < 1e-300
