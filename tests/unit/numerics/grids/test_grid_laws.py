"""Subsampled Gaussian noise on a grid: one round lies between its two discretisations, cell by cell and in all."""

from __future__ import annotations

import math
from dataclasses import dataclass
from fractions import Fraction
from random import Random

import numpy as np
import pytest
from flint import arb

from optcomp.numerics.grids import normal_cells
from optcomp.numerics.grids.beyond import Beyond
from optcomp.numerics.grids.mixed import MixedGrid
from optcomp.numerics.laws.mixed_normal import Direction, MixedNormalLaw
from tests.oracles.gridded import OnGrid, tail
from tests.oracles.losses import subsampled_gaussian_hockey
from tests.oracles.truth import Rational, real, working

BITS = 1100
"""Masses of 1e-290 stand beside others of 1."""
WAYS: tuple[Direction, Direction] = ("towards", "away")


@dataclass(frozen=True)
class Case:
    """μ, the rate, how far up the grid goes, and its cells."""

    mu: Rational
    q: Rational
    rise: float
    cells: int = 300


CASES = (
    Case(1.0, 0.1, 4.0),
    Case(1.0, 0.01, 0.2),
    Case(0.02, 0.5, 0.1),
    Case(0.02, 1e-6, 2e-7),
    Case(0.3, 1e-6, 1e-5),
    Case(10.0, 0.02, 90.0),
    Case(3.0, 0.5, 30.0, 50),
    Case(3.0, 1e-3, 30.0, 700),
    Case(22.0, 0.1, 590.0, 400),
    Case(22.0, 1e-9, 590.0, 60),
    Case(2.0, 0.999, 30.0),
    Case(8.5, 1 - 1e-10, 0.5, 700),
    Case(8.0, 1 - Fraction(1, 3 * 10**12), 45.0),
    Case(2.0, 1 - Fraction(7, 10**17), 45.0),
    Case(Fraction(1, 3), Fraction(1, 7), 1.0),
    Case(Fraction(10, 3), Fraction(1, 3000), 12.0),
    Case(1.0, 1e-12, 1e-9),
    Case(0.5, 0.3, 1e-9, 64),
    Case(1.0, 0.1, 40.0, 4),
    Case(40.0, 0.2, 599.0, 100),
)


def _places(case: Case, way: Direction, rng: Random, count: int) -> list[float]:
    ends = -math.log1p(-float(case.q)) if case.q < 1 - 1e-9 else -float((1 - real(case.q)).log())
    shares = [rng.uniform(-0.05, 1.1) for _ in range(count // 2)]
    shares += [rng.choice([-1, 1]) * math.exp(rng.uniform(-20, 0)) for _ in range(count // 2)]
    sign = 1 if way == "towards" else -1
    return [0.0, *(sign * (-ends + case.rise * share) for share in shares)]


def _grid(case: Case, way: Direction, cells: int = 0) -> tuple[MixedGrid, float]:
    h = case.rise / (cells or case.cells)
    return MixedGrid(MixedNormalLaw(case.mu, case.q, way), h, case.rise), h


@pytest.mark.parametrize("way", WAYS)
@pytest.mark.parametrize("case", CASES, ids=str)
def test_one_round_lies_between(case: Case, way: Direction) -> None:
    """In balls, at a hundred places, without any transform."""
    grid, h = _grid(case, way)
    above, below = grid.above(), grid.below()
    with working(BITS):
        upper, lower = OnGrid(above.masses.tolist(), above.base, h), OnGrid(below.masses.tolist(), below.base, h)
        hockey = subsampled_gaussian_hockey(case.mu, case.q, way)
        for y in _places(case, way, Random(f"{case} {way}"), 100):
            truth = hockey(real(y))
            most = upper.excess(Fraction(y) - Fraction(above.slip)) + arb(Beyond([(above, 1)]).most(y))
            least = lower.excess(Fraction(y) + Fraction(below.slip)) + arb(Beyond([(below, 1)]).least(y))
            assert least <= truth + arb(2) ** -1000, y
            assert truth <= most + arb(2) ** -1000, y


@pytest.mark.parametrize("way", WAYS)
@pytest.mark.parametrize("case", CASES, ids=str)
def test_masses_in_all(case: Case, way: Direction) -> None:
    """Above has at least all of the mass and hardly more, below at most all; the other law's mass is kept as well."""
    grid, h = _grid(case, way)
    with working(BITS):
        above, below = grid.above(), grid.below()
        (own, other), (less, _) = (OnGrid(law.masses.tolist(), law.base, h).masses() for law in (above, below))
        rest = above.rest
        assert rest is not None
        assert not own + rest.own < 1
        assert own + rest.own <= 1 + 1e-12
        assert not less + (below.rest.own if below.rest else arb(0)) > 1
        if way == "towards":
            assert abs(other + rest.other - 1) < 1e-10 * (1 + (-real(above.base)).exp())
        else:
            assert other <= 1 + 1e-11


@pytest.mark.parametrize("case", CASES, ids=str)
def test_every_cell(case: Case) -> None:
    """The masses of cells under both normal laws, within their own bounds on the error."""
    grid, h = _grid(case, "towards")
    x = grid._x(np.arange(grid.count + 1.0) * h)
    edges = np.concatenate(([-math.inf], x[max(int(np.searchsorted(x, -9.5)), 1) :]))
    plain, plain_error, shifted, shifted_error = grid._cells(edges)
    with working(BITS):
        for masses, errors, centre in ((plain, plain_error, arb(0)), (shifted, shifted_error, real(case.mu))):
            for low, high, mass, error in zip(edges[:-1], edges[1:], masses, errors, strict=True):
                start = tail(arb(float(low)) - centre) if math.isfinite(low) else arb(1)
                truth = start - tail(arb(float(high)) - centre)
                assert abs(arb(float(mass)) - truth) <= truth * float(error) + arb("1e-320")


@pytest.mark.parametrize(
    ("case", "way"),
    [(Case(*case), "towards") for case in ((1.0, 0.1, 4.0), (3.0, 0.02, 8.0), (0.3, 0.5, 1.0), (1.0, 0.01, 0.2))]
    + [(Case(mu, q, -math.log1p(-q)), "away") for mu, q in ((1.0, 0.1), (0.3, 0.5), (0.5, 0.01))],
)
def test_the_gap_falls_with_the_square_of_the_width(case: Case, way: Direction) -> None:
    """Four times for twice the cells, on the average over places; where a place lies in its cell matters too."""
    ends = -math.log1p(-float(case.q))
    sign, rng = (1 if way == "towards" else -1), Random("gap")
    places = [sign * (-ends + case.rise * rng.uniform(0.2, 0.6)) for _ in range(100)]
    gaps = []
    for cells in (256, 512, 1024, 2048):
        grid, h = _grid(case, way, cells)
        above, below = grid.above(), grid.below()
        with working(200):
            upper, lower = OnGrid(above.masses.tolist(), above.base, h), OnGrid(below.masses.tolist(), below.base, h)
            beyond = Beyond([(above, 1)]), Beyond([(below, 1)])
            gap = [float(upper.excess(y) + beyond[0].most(y) - lower.excess(y) - beyond[1].least(y)) for y in places]
        gaps.append(sum(gap))
    assert min(gaps) > 0
    assert 3.2**3 < gaps[0] / gaps[-1] < 6**3


def test_narrow_as_seen_from_both() -> None:
    """A cell that is narrow for N(0, 1) may be wide for N(μ, 1), where the series would miss too much."""
    edges = np.array([-math.inf, 0.0, 0.5, 0.51])
    assert normal_cells.narrow(edges, 0.0) == 1
    assert normal_cells.narrow(edges, 30.0) == 2


def test_wider_cells_by_the_longer_series() -> None:
    """Up to (|m|+3)w = 1, within their own bounds; the short series would not be."""
    rng, missed = Random("wider"), 0
    for _ in range(300):
        shift, middle = rng.choice([0.0, rng.uniform(0, 10)]), rng.uniform(-10, 20)
        width = rng.uniform(0.04, 1.0) / (abs(middle - shift) + 3)
        half, at = np.array([width]), np.array([middle])
        mass, error = normal_cells.masses(at, half, shift)
        m, square = middle - shift, width * width
        short = 1 + square / 6 * (m * m - 1 + square / 20 * (m**4 - 6 * m * m + 3))
        with working(300):
            low, high = arb(middle) - arb(width) - arb(shift), arb(middle) + arb(width) - arb(shift)
            truth = tail(low) - tail(high) if m > 0 else tail(-high) - tail(-low)
            assert abs(arb(float(mass[0])) - truth) <= truth * float(error[0])
            rough = 2 * width * math.exp(-0.5 * m * m) / math.sqrt(2 * math.pi) * short
            missed += bool(abs(arb(rough) - truth) > truth * float(error[0]))
    assert missed > 200


def test_a_rate_near_one_is_read_exactly() -> None:
    """1 - q of a fraction, not of the float next to it."""
    q = 1 - Fraction(7, 10**17)
    grid = MixedGrid(MixedNormalLaw(2.0, q, "towards"), 0.1, 45.0)
    assert grid.left == 7e-17
    with working(100):
        assert abs(arb(float(grid.above().base)) - real(1 - q).log()) < 1e-14


def test_a_first_cell_of_which_doubles_have_nothing_is_no_error() -> None:
    """Its mass is the least double there is, and 1 - q times that is nothing."""
    q, h = 0.9999988336969932, 0.00948201924970633
    grid = MixedGrid(MixedNormalLaw(0.4858691618082613, q, "towards"), h, 1890 * h)
    below = grid.below()
    assert 0 <= below.base - grid.above().base < h
    assert below.masses.sum() == pytest.approx(1, abs=1e-6)
