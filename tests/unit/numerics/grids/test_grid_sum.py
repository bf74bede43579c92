"""Sums on a grid against exact convolutions: enclosed for every tilt and period, and narrow for good ones."""

from __future__ import annotations

import math
from fractions import Fraction
from random import Random

import numpy as np
import pytest
from flint import arb

from optcomp.numerics.grids.grid_law import GridLaw
from optcomp.numerics.grids.grid_sum import GridSum, log_masses
from optcomp.numerics.grids.guess import Guess
from optcomp.numerics.grids.sides import _log, _sum_of_logs, summed
from tests.oracles.gridded import convolved, excess_of
from tests.oracles.truth import real, working

BITS = 200
KINDS = ("flat", "steep", "gaps", "two", "faint")


def law(rng: Random, kind: str) -> GridLaw:
    """A law of up to a dozen places; `faint` ones end in masses that are far below the others, or nothing."""
    size = 2 if kind == "two" else rng.randint(3, 12)
    masses = np.array([rng.uniform(0.1, 1.0) for _ in range(size)])
    if kind == "steep":
        masses *= np.exp(-rng.uniform(1, 30) * np.arange(size))
    if kind == "gaps":
        masses[1:-1] *= [rng.random() < 0.4 for _ in range(size - 2)]
    if kind == "faint":
        masses[-2] = rng.choice([1e-289, 1e-200, 1e-30])
        masses[-1] = rng.choice([0.0, 1e-250])
    masses /= masses.sum()
    return GridLaw(Fraction(rng.randint(-64, 64), 16), masses, 0.0, None)


def drawn(rng: Random) -> tuple[list[tuple[GridLaw, int]], float]:
    """One to three laws, up to five copies of each, and a width; places are floats or are not."""
    laws = [(law(rng, rng.choice(KINDS)), rng.randint(1, 5)) for _ in range(rng.randint(1, 3))]
    return laws, rng.choice([2.0**-6, 0.25, 1.0, 0.1, 1 / 3, 1e-3, 20.0])


def places(rng: Random, base: Fraction, span: float) -> list[float]:
    """Within, on places, below the base and beyond the span."""
    start = float(base)
    inner = [start + span * rng.random() for _ in range(6)]
    return [*inner, start, start - 0.3 * span, start + 0.5 * span, start + span, start + 1.1 * span, 0.0]


def enclosed(sides: tuple[float, float], truth: arb) -> bool:
    """log F between the sides."""
    low, high = sides
    if truth == 0:
        return low == -math.inf
    return (low == -math.inf or bool(arb(low).exp() <= truth)) and bool(arb(high).exp() >= truth)


@pytest.mark.parametrize("long", [False, True])
@pytest.mark.parametrize("seed", range(12))
def test_any_tilt_and_any_period_enclose(seed: int, long: bool) -> None:
    """Wild tilts, and periods so short that the sum is folded many times."""
    rng = Random(f"sum {seed}")
    for _ in range(6):
        laws, h = drawn(rng)
        exact = convolved([(law.masses.tolist(), copies) for law, copies in laws])
        base = sum((copies * law.base for law, copies in laws), Fraction(0))
        tilt = math.exp(rng.uniform(-4, 4)) / (h * rng.choice([1, len(exact)]))
        size = 1 << rng.randint(2, 7)
        others = [log_masses(laws, h, c) for c in (tilt * rng.uniform(1.01, 3), tilt * rng.uniform(0, 0.99))]
        sums = GridSum(laws, h, tilt, size, others, long=long)
        for y in places(rng, base, h * (len(exact) - 1)):
            with working(BITS):
                assert enclosed(sums.sides(y), excess_of(exact, base, h, y)), (seed, y)


@pytest.mark.parametrize(("long", "most"), [(False, 5e-11), (True, 1e-12)])
def test_guessed_settings_are_narrow(long: bool, most: float) -> None:
    """Round-off and folding cost little, where the tilt is guessed for the place."""
    rng = Random("narrow")
    for _ in range(30):
        laws = [(law(rng, rng.choice(("flat", "gaps", "two"))), rng.randint(1, 5)) for _ in range(2)]
        h = rng.choice([0.25, 0.1, 1 / 3])
        exact = convolved([(law.masses.tolist(), copies) for law, copies in laws])
        base = sum((copies * law.base for law, copies in laws), Fraction(0))
        y = float(base) + h * (len(exact) - 1) * rng.uniform(0.1, 0.95)
        with working(BITS):
            truth = excess_of(exact, base, h, y)
        guess = Guess(laws, h)
        tilt = guess.tilt_at(y)
        sums = summed(laws, h, guess.setting(tilt, y, float(truth.log())), long=long)
        assert sums is not None
        low, high = sums.sides(y)
        with working(BITS):
            assert enclosed((low, high), truth)
        assert high - low < most


def test_no_place_has_no_number() -> None:
    """A place without mass, where the tilt overflows, is no excuse for an answer that is not a number."""
    laws = [(GridLaw(Fraction(0), np.array([0.5, 0.5, 0.0, 0.0]), 0.0, None), 2)]
    tilt = 500.0
    sums = GridSum(laws, 1.0, tilt, 16, [log_masses(laws, 1.0, c) for c in (2 * tilt, 0.0)], long=False)
    with working(BITS):
        assert enclosed(sums.sides(0.5), excess_of(convolved([([0.5, 0.5], 2)]), 0, 1, 0.5))


def test_what_is_not_a_number_proves_nothing() -> None:
    """Should floats overflow all the same, the sides are infinite."""
    laws = [(GridLaw(Fraction(0), np.array([0.5, 0.5]), 0.0, None), 2)]
    sums = GridSum(laws, 1.0, 1.0, 16, [], long=False)
    sums.values = sums.values * math.nan
    assert sums.sides(0.5) == (-math.inf, math.inf)


def test_a_law_without_mass_has_no_sum() -> None:
    """Nothing on the grid: there is nothing to transform."""
    empty = GridLaw(Fraction(0), np.zeros(4), 0.0, None)
    guess = Guess([(GridLaw(Fraction(0), np.array([0.5, 0.5]), 0.0, None), 1)], 1.0)
    assert summed([(empty, 1)], 1.0, guess.setting(1.0, 0.5, -1.0), long=False) is None


def test_chernoff_encloses_the_mean() -> None:
    """The product of all Z^n, at small, large and negative tilts."""
    rng = Random("chernoff")
    for _ in range(40):
        laws, h = drawn(rng)
        c = rng.choice([-1, 1]) * math.exp(rng.uniform(-6, 6)) / h
        found = log_masses(laws, h, c)
        with working(BITS):
            truth = arb(0)
            for one, copies in laws:
                terms = ((real(m) * (real(Fraction(c) * Fraction(h) * k)).exp()) for k, m in enumerate(one.masses))
                truth += copies * sum(terms, arb(0)).log()
            assert arb(found.least) <= truth
            assert truth <= arb(found.most)
        assert found.most - found.least < 1e-10 * (1 + abs(found.most))


@pytest.mark.parametrize("seed", range(200))
def test_sums_of_logs_are_rounded_the_right_way(seed: int) -> None:
    """Near F = 1 the logs are near 0, and a part of them says nothing of the error."""
    rng = Random(seed)
    one = -rng.choice([1e-3, 0.7, 1.0, 40.0, 500.0]) * rng.random()
    two = one - rng.choice([0.0, 1e-9, 0.5, 3.0, 36.0]) * rng.random()
    with working(300):
        truth = (real(one).exp() + real(two).exp()).log()
        assert _sum_of_logs(one, two, -1) < truth < _sum_of_logs(one, two, +1)
        value = math.exp(one)
        assert _log(value, -1) < real(value).log() < _log(value, +1)
    assert _sum_of_logs(one, two, 1) - _sum_of_logs(one, two, -1) < 1e-14 * (1 + 2 * abs(one))
