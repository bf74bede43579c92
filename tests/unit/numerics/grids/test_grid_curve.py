"""Sums with a window against exact convolutions: enclosed for every tilt and window, and narrow for good ones."""

from __future__ import annotations

import math
from collections.abc import Sequence
from fractions import Fraction
from random import Random

import numpy as np
import pytest
from flint import acb, arb

from optcomp.numerics.blocked import U
from optcomp.numerics.grids.banded import solved
from optcomp.numerics.grids.grid_curve import PARTS, GridCurve, Kernel
from optcomp.numerics.grids.grid_law import GridLaw
from optcomp.numerics.grids.grid_sum import LONG_U, Counted, log_masses
from optcomp.numerics.grids.guess import Guess
from optcomp.numerics.grids.sides import summed
from tests.oracles.gridded import convolved, excess_of
from tests.oracles.truth import real, working
from tests.unit.numerics.grids.test_grid_sum import BITS, drawn, enclosed, places


@pytest.mark.parametrize("long", [False, True])
@pytest.mark.parametrize("seed", range(12))
def test_any_tilt_period_and_window_enclose(seed: int, long: bool) -> None:
    """Wild tilts, windows of every length, and periods so short that the sum is folded many times."""
    rng = Random(f"curve {seed}")
    for _ in range(6):
        laws, h = drawn(rng)
        exact = convolved([(law.masses.tolist(), copies) for law, copies in laws])
        base = sum((copies * law.base for law, copies in laws), Fraction(0))
        tilt = math.exp(rng.uniform(-4, 1)) / (h * rng.choice([1, len(exact)]))
        others = [log_masses(laws, h, c) for c in (tilt * rng.uniform(1.01, 3), tilt * rng.uniform(0, 0.99))]
        kernel = Kernel.of(h, tilt, 1 << rng.randint(4, 8), parts=rng.randint(1, PARTS), long=long)
        sums = GridCurve(laws, kernel, others)
        for y in places(rng, base, h * (len(exact) - 1)):
            with working(BITS):
                assert enclosed(sums.sides(y), excess_of(exact, base, h, y)), (seed, y)


@pytest.mark.parametrize(("long", "most"), [(False, 1e-9), (True, 1e-10)])
def test_guessed_windows_are_narrow(long: bool, most: float) -> None:
    """Round-off, folding and what lies beyond cost little, where the window is guessed for the place."""
    rng = Random("windows")
    for _ in range(12):
        masses = np.array([rng.uniform(0.5, 1.0) for _ in range(300)]) * np.exp(-rng.uniform(0, 0.1) * np.arange(300))
        masses[0] += rng.choice([0.0, 100.0])
        laws = [(GridLaw(Fraction(-1, 4), masses / masses.sum(), 0.0, None), rng.randint(2, 6))]
        h = rng.choice([0.025, 0.01, 1 / 300])
        exact = convolved([(law.masses.tolist(), copies) for law, copies in laws])
        base = sum((copies * law.base for law, copies in laws), Fraction(0))
        y = float(base) + h * (len(exact) - 1) * rng.uniform(0.1, 0.95)
        with working(BITS):
            truth = excess_of(exact, base, h, y)
        setting = Guess(laws, h).window(y, float(truth.log()), 26.0, 7.0)
        kernel = Kernel.of(h, setting.tilt, setting.places(h), parts=setting.parts, long=long)
        sums = summed(laws, h, setting, long=long, kernel=kernel)
        assert sums is not None
        low, high = sums.sides(y)
        with working(BITS):
            assert enclosed((low, high), truth)
        assert high - low < most


class NoError(GridCurve):
    """All round-off left out."""

    def _invert(self, laws: Counted) -> None:
        super()._invert(laws)
        self.error = 0.0


class NothingFolded(GridCurve):
    """What folding adds left out."""

    def _folded(self, scale: float, k: int, sides: Sequence[bool] = (True, False)) -> float:
        return 0.0


class FoldedFromAbove(GridCurve):
    """What is folded in from below left out."""

    def _folded(self, scale: float, k: int, sides: Sequence[bool] = (True, False)) -> float:
        return super()._folded(scale, k, [side for side in sides if side])


class FoldedFromBelow(GridCurve):
    """What is folded in from above left out."""

    def _folded(self, scale: float, k: int, sides: Sequence[bool] = (True, False)) -> float:
        return super()._folded(scale, k, [side for side in sides if not side])


class NothingBeyond(GridCurve):
    """What lies beyond the window left out."""

    def _beyond(self, scale: float, k: int, length: int) -> float:
        return 0.0


@pytest.mark.parametrize(
    ("broken", "size", "parts"),
    [
        (NoError, 256, PARTS),
        (NothingFolded, 32, PARTS),
        (FoldedFromAbove, 64, PARTS),
        (FoldedFromBelow, 32, PARTS // 8),
        (NothingBeyond, 256, PARTS // 8),
    ],
)
def test_every_term_is_needed(broken: type[GridCurve], size: int, parts: int) -> None:
    """Enclosed with the term, and somewhere not enclosed without it."""
    rng, failed = Random(broken.__name__), 0
    for _ in range(4):
        masses = np.array([rng.uniform(0.5, 1.0) for _ in range(8)])
        laws = [(GridLaw(Fraction(0), masses / masses.sum(), 0.0, None), 20)]
        h, tilt = 0.25, rng.uniform(0.1, 0.5)
        exact = convolved([(law.masses.tolist(), copies) for law, copies in laws])
        others = [log_masses(laws, h, c) for c in (1.3 * tilt, 0.8 * tilt)]
        kernel = Kernel.of(h, tilt, size, parts=parts, long=False)
        whole, part = (kind(laws, kernel, others) for kind in (GridCurve, broken))
        for y in (h * len(exact) * rng.random() for _ in range(20)):
            with working(2000):
                truth = excess_of(exact, 0, h, y)
                assert enclosed(whole.sides(y), truth)
                failed += not enclosed(part.sides(y), truth)
    assert failed


def test_a_window_within_the_first_period_needs_no_bound_from_below() -> None:
    """No sum lies below the first place: without any Chernoff bound from below the lower side stands."""
    masses = np.array([0.9, 0.0, 0.0, 0.1])
    laws = [(GridLaw(Fraction(0), masses, 0.0, None), 3)]
    kernel = Kernel.of(0.25, 0.5, 16, parts=12, long=False)
    sums = GridCurve(laws, kernel, [log_masses(laws, 0.25, 2.0)])
    with working(BITS):
        truth = excess_of(convolved([(masses.tolist(), 3)]), 0, 0.25, 0.9)
        sides = sums.sides(0.9)
        assert enclosed(sides, truth)
    assert sides[1] - sides[0] < 1e-9


@pytest.mark.parametrize("long", [False, True])
@pytest.mark.parametrize("seed", range(8))
def test_kernels(seed: int, long: bool) -> None:
    """Term by term in balls: each value is within its bound, which is not much more than a hundred times too large."""
    rng = Random(f"kernel {seed}")
    h, size, parts = math.exp(rng.uniform(-12, -1)), 1 << rng.randint(5, 9), rng.randint(1, PARTS)
    tilt = math.exp(rng.uniform(-8, 0)) / h / rng.choice([1, size])
    kernel = Kernel.of(h, tilt, size, parts=parts, long=long)
    assert kernel.length == parts * size // PARTS
    unit, worst = (LONG_U if long else U), 0.0
    with working(5 * BITS):  # powers of a complex ball grow wide
        for n in rng.sample(range(size // 2 + 1), 12):
            turn = (acb(0, 2 * n) * arb.pi() / size).exp()
            truth, power = acb(0), acb(1)
            for j in range(kernel.length):
                truth += power * -(-real(Fraction(h) * j)).expm1()
                power *= turn * (-real(Fraction(tilt) * Fraction(h))).exp()
            value = kernel.values[n]
            found = acb(_exact(value.real), _exact(value.imag))
            off = float(abs(found - truth)) / float(kernel.sizes[n])
            assert off <= kernel.roundings * unit
            assert float(abs(truth)) <= 1.001 * float(kernel.sizes[n])
            worst = max(worst, off / unit)
    assert worst > 0


def _exact(value: np.floating) -> arb:
    """A float or long double without rounding."""
    first = float(value)
    return arb(first) + arb(float(value - first))


def test_a_tilt_too_steep_proves_nothing() -> None:
    """More than e from place to place: the sides are infinite, not wrong."""
    laws = [(GridLaw(Fraction(0), np.array([0.5, 0.5]), 0.0, None), 2)]
    sums = GridCurve(laws, Kernel.of(1.0, 3.0, 16, parts=PARTS, long=False), [])
    assert sums.sides(0.5) == (-math.inf, math.inf)


def test_banded_equations() -> None:
    """Put back into the equations."""
    rng = np.random.default_rng(5)
    for size in (3, 4, 40):
        root = np.triu(np.tril(rng.uniform(-1, 1, (size, size)), 2)) + 2 * np.eye(size)
        matrix = root.T @ root
        bands = tuple(np.append(np.diag(matrix, k), np.zeros(k)) for k in range(3))
        one, two = rng.uniform(-1, 1, size), rng.uniform(-1, 1, size)
        for right, found in zip((one, two), solved((bands[0], bands[1], bands[2]), one, two), strict=True):
            assert np.allclose(matrix @ found, right, rtol=0, atol=1e-9)
