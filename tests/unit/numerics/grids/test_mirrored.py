"""Laws of replaced records on a grid: one round lies between, and every error term is needed."""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import replace
from fractions import Fraction
from random import Random

import numpy as np
import pytest
from flint import arb

from optcomp.numerics.blocked import Floats
from optcomp.numerics.contour import Independent, excess_at
from optcomp.numerics.grids import mirrored, way_for
from optcomp.numerics.grids.beyond import Beyond
from optcomp.numerics.grids.grid_law import GridLaw
from optcomp.numerics.grids.mirrored import MirroredGrid
from optcomp.numerics.grids.replaced_sides import PositiveSide
from optcomp.numerics.laws import GluedNormalLaw, ReplacedNormalLaw
from tests.oracles.gridded import OnGrid
from tests.oracles.losses import Hockey
from tests.oracles.replaced_losses import glued_gaussian_hockey, replaced_gaussian_hockey
from tests.oracles.truth import Rational, real, working

BITS = 600
Kind = type[ReplacedNormalLaw] | type[GluedNormalLaw]
HOCKEYS: dict[Kind, Callable[[Rational, Rational], Hockey]] = {
    ReplacedNormalLaw: replaced_gaussian_hockey,
    GluedNormalLaw: glued_gaussian_hockey,
}
CASES: list[tuple[Rational, Rational, float, int]] = [
    (1.0, 0.01, 4.0, 300),
    (1.0, 0.01, 0.02, 300),
    (0.02, 0.5, 0.1, 200),
    (0.3, 1e-5, 1e-4, 200),
    (3.0, 0.5, 30.0, 100),
    (10.0, 0.02, 90.0, 150),
    (2.0, 0.999, 20.0, 200),
    (Fraction(10, 3), Fraction(1, 3000), 12.0, 500),
    (1.0, 0.1, 20.0, 4),
]
"""μ, q, the largest loss on the grid, and cells on each side."""


def _least(law: GridLaw, h: float, y: float) -> arb:
    return OnGrid(law.masses.tolist(), law.base, h).excess(Fraction(y) + Fraction(law.slip)) + arb(
        Beyond([(law, 1)]).least(y)
    )


def _most(law: GridLaw, h: float, y: float) -> arb:
    return OnGrid(law.masses.tolist(), law.base, h).excess(Fraction(y) - Fraction(law.slip)) + arb(
        Beyond([(law, 1)]).most(y)
    )


def _places(rise: float, h: float, rng: Random) -> list[float]:
    return [0.0, h, -h, 0.5 * h, *(rng.uniform(-1.05, 1.05) * rise * rng.random() ** 3 for _ in range(40))]


@pytest.mark.parametrize("kind", list(HOCKEYS))
@pytest.mark.parametrize("case", CASES, ids=str)
def test_one_round_lies_between(kind: Kind, case: tuple[Rational, Rational, float, int]) -> None:
    """In balls, without any transform; and the two sides come closer with the square of the width."""
    mu, q, rise, cells = case
    h = rise / cells
    grid = MirroredGrid(kind(mu, q), h, rise)
    above, below = grid.above(), grid.below()
    with working(BITS):
        hockey = HOCKEYS[kind](mu, q)
        for y in _places(rise, h, Random(str(case))):
            truth = hockey(real(y))
            assert _least(below, h, y) <= truth + arb(2) ** -500, y
            assert truth <= _most(above, h, y) + arb(2) ** -500, y


@pytest.mark.parametrize("kind", list(HOCKEYS))
@pytest.mark.parametrize("case", CASES, ids=str)
def test_masses_in_all(kind: Kind, case: tuple[Rational, Rational, float, int]) -> None:
    """Above has at least all of the mass and hardly more, below at most all; both laws keep theirs."""
    mu, q, rise, cells = case
    h = rise / cells
    grid = MirroredGrid(kind(mu, q), h, rise)
    above, below = grid.above(), grid.below()
    assert above.rest is not None
    assert below.rest is not None
    with working(BITS):
        (own, other), (less, _) = (OnGrid(law.masses.tolist(), law.base, h).masses() for law in (above, below))
        assert 1 <= own + above.rest.own <= 1 + 1e-11
        assert less + below.rest.own <= 1
        lowest = grid.side.beyond(float(grid.side.edges(np.array([rise]))[0][0]))[0]  # it was moved up to the grid
        assert other + above.rest.other <= 1 + 1e-9
        assert other + above.rest.other >= 1 - 2 * lowest - 1e-9


@pytest.mark.parametrize("kind", list(HOCKEYS))
def test_the_error_falls_with_the_square_of_the_width(kind: Kind) -> None:
    gaps = []
    for cells in (400, 1600):
        h = 6.0 / cells
        grid = MirroredGrid(kind(1.0, 0.1), h, 6.0)
        above, below = grid.above(), grid.below()
        with working(BITS):
            gaps.append(max(float(_most(above, h, y) - _least(below, h, y)) for y in (0.0, 0.13, 0.31, 0.7, 1.1)))
    assert gaps[1] < 0.15 * gaps[0]


class _Sure(PositiveSide):
    """Masses are taken to be exact."""

    def __init__(self, side: PositiveSide) -> None:
        self.__dict__.update(side.__dict__)
        self._side = side

    def edges(self, loss: Floats) -> tuple[Floats, Floats]:
        x, slips = self._side.edges(loss)
        return x, 0 * slips

    def mix(self, plain: Floats, shifted: Floats, opposite: Floats) -> tuple[Floats, Floats]:
        return self._side.mix(plain, shifted, opposite)

    def masses(self, x: Floats) -> tuple[Floats, Floats, Floats]:
        own, other, error = self._side.masses(x)
        return own, other, 0 * error

    def beyond(self, x: float) -> tuple[arb, arb]:
        return self._side.beyond(x)

    def shared(self) -> arb:
        return self._side.shared()

    def loss(self, x: float) -> float:
        return self._side.loss(x)


@pytest.mark.parametrize("kind", list(HOCKEYS))
def test_errors_of_masses_and_edges_are_needed(kind: Kind, monkeypatch: pytest.MonkeyPatch) -> None:
    """Without them a bound is wrong somewhere, by less than a float can tell: in balls it shows."""
    monkeypatch.setattr(mirrored, "U", 0.0)
    monkeypatch.setattr(mirrored, "_LEAST", 0.0)
    monkeypatch.setattr(mirrored, "_TINY", 0.0)
    wrong = 0
    for mu, q, rise, cells in CASES:
        h = rise / cells
        grid = MirroredGrid(kind(mu, q), h, rise)
        grid.side = _Sure(grid.side)
        above = grid.above()
        with working(BITS):
            hockey = HOCKEYS[kind](mu, q)
            places = _places(rise, h, Random("sure"))
            wrong += sum(bool(_most(above, h, y) < hockey(real(y))) for y in places)
    assert wrong


@pytest.mark.parametrize("kind", list(HOCKEYS))
def test_what_lies_beyond_is_needed(kind: Kind) -> None:
    law, h = kind(1.0, 0.1), 1 / 64
    above = MirroredGrid(law, h, 1.0).above()
    with working(BITS):
        hockey = HOCKEYS[kind](1.0, 0.1)
        for y in (0.5, 2.0):
            assert _most(above, h, y) >= hockey(real(y))
            assert _most(replace(above, rest=None), h, y) < hockey(real(y))


class _AllGood(MirroredGrid):
    """No cell is looked at before it is merged into its place."""

    def _merged(self, sign: int):  # type: ignore[no-untyped-def]
        cells, gap = super()._merged(sign)
        return cells, np.abs(gap)


@pytest.mark.parametrize("kind", list(HOCKEYS))
def test_a_cell_whose_loss_is_below_its_place_must_be_moved_down(kind: Kind, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(mirrored, "_MENDS", 0)
    law, h = kind(1.0, 0.1), 4.0 / 64
    honest, careless = MirroredGrid(law, h, 4.0).below(), _AllGood(law, h, 4.0).below()
    failed = 0
    with working(BITS):
        hockey = HOCKEYS[kind](1.0, 0.1)
        for step in range(-40, 60):
            y = 0.25 * step * h
            truth = hockey(real(y))
            assert _least(honest, h, y) <= truth + arb(2) ** -500
            failed += bool(_least(careless, h, y) > truth)
    assert failed


@pytest.mark.parametrize(
    ("kind", "mu", "q", "copies", "eps"),
    [
        pytest.param(ReplacedNormalLaw, 1.0, 0.01, 10, 0.6, marks=pytest.mark.slow),
        (ReplacedNormalLaw, 0.5, 0.2, 30, 1.5),
        (GluedNormalLaw, 2.0, 0.05, 40, 9.0),
        (GluedNormalLaw, 0.5, 0.2, 30, 1.5),
    ],
)
def test_the_grid_and_the_contour_meet_and_both_are_narrow(
    kind: Kind, mu: float, q: float, copies: int, eps: float
) -> None:
    laws = [(kind(mu, q), copies)]
    way = way_for(laws)
    assert way is not None
    found = way.excess(eps, 1e-6, 1e9)
    assert found is not None
    other = excess_at(Independent(laws, math.inf), eps, 1e-6, 1e9)[0]
    assert found.lower <= other.upper
    assert other.lower <= found.upper
    assert found.upper - found.lower < 1e-5
    assert other.upper - other.lower < 1e-5
