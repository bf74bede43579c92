"""Nodes in doubles: roundings stay below their counts, nodes left out are counted, and what is broken is seen."""

from __future__ import annotations

import operator
from collections.abc import Callable
from fractions import Fraction

import numpy as np
import pytest
from flint import acb, arb

from optcomp import compose
from optcomp.checker import attempts, check, doubles, rotations
from optcomp.checker.attempts import Scene
from optcomp.checker.contour import Exhausted, integrate
from optcomp.checker.doubles import Sweep, Totals, begin, swept
from optcomp.checker.grid import Grid
from optcomp.checker.instance import Coin, Instance
from optcomp.checker.kernels import Kernel, Periodic, Smoothed, WithDensity
from optcomp.checker.line import Line, WorkingCoins
from optcomp.checker.rotations import FACTOR, PRODUCT, TURN, Pair, off
from tests.oracles.halves import Halves
from tests.oracles.sums import Lattice
from tests.oracles.truth import Mechanism, working

BITS = 160
FIRST = 40
MATH: list[Callable[..., object]] = [operator.add, operator.sub, operator.mul, operator.truediv]


def ignore(what: str, share: float) -> None:
    """Nobody is looking."""


def coins(count: int, low: float = 0.01, high: float = 0.8, seed: int = 5) -> list[Mechanism]:
    """Different sizes, some of them several times."""
    sizes = np.random.default_rng([31, seed, count]).uniform(low, high, count)
    return [(float(size), 0.0, 1 + (number % 5 == 0) + 3 * (number == 7)) for number, size in enumerate(sizes)]


def line_of(mechanisms: list[Mechanism], c: float = 2.0) -> Line:
    made = Instance(tuple(sorted(Coin(Fraction(size), copies) for size, _, copies in mechanisms)), ())
    return Line(WorkingCoins(made), arb(c))


def kernel_of(c: float = 2.0, width: float = 2.0**-10, tolerance: float = 1e-7, last: int = 1100) -> Smoothed:
    return Smoothed(arb(c), (arb(1.5), arb(1.75)), arb(width) ** 2, width, arb(0.8125), last, tolerance, 10.0)


def exactly(line: Line, kernel: Kernel, first: int, last: int) -> tuple[list[arb], list[arb]]:
    """What these nodes add up to, node by node in balls."""
    excess, density = [arb(0) for _ in kernel.ys], [arb(0) for _ in kernel.ys]
    for node in range(first, last + 1):
        phi = line.phi(kernel.step * node)
        for place, (own, flat) in enumerate(kernel.values(kernel.step * node)):
            excess[place] += (phi * own).real
            density[place] += (phi * flat).real
    return excess, density


@pytest.mark.parametrize("operation", MATH, ids=lambda each: each.__name__)
def test_what_is_assumed_of_doubles(operation: Callable[..., object]) -> None:
    """Every number is off by half of U at most here; rows, columns and selections take other paths through numpy."""
    rng = np.random.default_rng(9)
    left, right = (rng.uniform(-1, 1, 2048) * 2.0 ** rng.integers(-40, 3, 2048) for _ in range(2))
    grid = np.asarray(operation(left[:40, None], right[:50])).ravel()
    chosen = rng.permutation(2048)
    some = [(left[::3], right[::3]), (left[chosen], right[chosen]), (np.repeat(left[:40], 50), np.tile(right[:50], 40))]
    results = [np.asarray(operation(*some[0])), np.asarray(operation(*some[1])), grid]
    for (a, b), found in zip(some, results, strict=True):
        for x, y, z in zip(a.tolist(), b.tolist(), found.tolist(), strict=True):
            truth = operation(Fraction(x), Fraction(y))
            assert isinstance(truth, Fraction)
            assert abs(Fraction(z) - truth) <= abs(truth) * Fraction(rotations.ROUNDING) / 2


@pytest.mark.parametrize("count", [1, 2, 17, 256])
@pytest.mark.parametrize("size", [0.01, 0.7, 12345.6789])
def test_rotations_stay_below_their_count(count: int, size: float) -> None:
    with working(BITS):
        start, step = arb(size) * 4321, arb(size) / 3
        found = rotations.rotations(start, step, count)
        assert found.real.shape == found.imaginary.shape == (count,)
        for number in range(count):
            angle = start + step * number
            value = acb(float(found.real[number]), float(found.imaginary[number]))
            assert (value - acb(angle.cos(), angle.sin())).abs_upper() <= off(TURN)


@pytest.mark.parametrize("c", [2.0, 0.01, -0.4, 300.0])
def test_factors_and_products_stay_below_their_count(c: float) -> None:
    with working(BITS):
        line, kernel = line_of(coins(24), c), kernel_of(c)
        sweep = Sweep(line, kernel, Grid.of(kernel.step, FIRST, kernel.last))
        rows = slice(1, 3)
        products, copies = Pair(np.ones((2, 256)), np.zeros((2, 256))), 0
        for number, (size, tanh, times) in enumerate(sweep._order):
            factor = rotations.outer(sweep._table(number), rows)
            chosen = np.array([1, 2]), np.array([5, 255])
            same = rotations.single(sweep._table(number), *chosen)
            assert same.real.tolist() == [factor.real[0, 5], factor.real[1, 255]]
            assert same.imaginary.tolist() == [factor.imaginary[0, 5], factor.imaginary[1, 255]]
            products = rotations.times(products, rotations.power(factor, times))
            copies += times
            for row, column in ((0, 0), (0, 5), (1, 131), (1, 255)):
                theta = kernel.step * (FIRST + 256 * (1 + row) + column)
                truth = acb((theta * size).cos(), tanh * (theta * size).sin())
                value = acb(float(factor.real[row, column]), float(factor.imaginary[row, column]))
                assert (value - truth).abs_upper() <= off(FACTOR)
        assert copies == sum(times for _, _, times in line.factors)
        for row, column in ((0, 0), (0, 5), (1, 131), (1, 255)):
            value = acb(float(products.real[row, column]), float(products.imaginary[row, column]))
            truth = line.phi(kernel.step * (FIRST + 256 * (1 + row) + column))
            assert (value - truth).abs_upper() <= off((FACTOR + PRODUCT) * copies)


@pytest.mark.parametrize("exponent", [1, 2, 3, 6, 15, 100])
def test_powers(exponent: int) -> None:
    base = Pair(np.array([0.5]), np.array([0.25]))
    found = rotations.power(base, exponent)
    truth = complex(0.5, 0.25) ** exponent
    assert complex(found.real[0], found.imaginary[0]) == pytest.approx(truth, rel=1e-13)


@pytest.mark.parametrize("c", [2.0, 0.01, -0.4])
@pytest.mark.parametrize("count", [9, 40, 70])
def test_all_nodes_against_balls(c: float, count: int) -> None:
    """Nothing may be left out at this tolerance, so only roundings are missing."""
    with working(BITS):
        line, kernel = line_of(coins(count), c), kernel_of(c, tolerance=1e-290)
        found = swept(line, kernel, FIRST, 1e9, ignore)
        assert found is not None
        for own, truth, missing in zip(
            found[:2], exactly(line, kernel, FIRST, kernel.last), found.missing, strict=True
        ):
            assert missing < 1e-9
            for one, other in zip(own, truth, strict=True):
                assert abs(one - other) <= missing


def test_several_sets_of_tables(monkeypatch: pytest.MonkeyPatch) -> None:
    """Every node is in one of them, and only one."""
    with working(BITS):
        line, kernel = line_of(coins(20)), kernel_of(tolerance=1e-290)
        monkeypatch.setattr(doubles, "_MOST", 300)
        found = swept(line, kernel, FIRST, 1e9, ignore)
        assert found is not None
        excess, density = exactly(line, kernel, FIRST, kernel.last)
        assert abs(found.excess[0] - excess[0]) <= found.missing.excess < 1e-9
        assert abs(found.density[0] - density[0]) <= found.missing.density < 1e-9


@pytest.mark.parametrize("tolerance", [1e-3, 1e-5, 1e-9])
def test_what_is_left_out_is_counted(tolerance: float) -> None:
    """The difference is below what is said to be missing, and without the part for nodes left out it would not be."""
    with working(BITS):
        line, kernel = line_of(coins(60)), kernel_of(tolerance=tolerance)
        found = swept(line, kernel, FIRST, 1e9, ignore)
        assert found is not None
        excess, density = exactly(line, kernel, FIRST, kernel.last)
        only_rounding = kernel.stretch(kernel.step * FIRST, kernel.last + 1 - FIRST)
        for place in range(2):
            off_excess = abs(found.excess[place] - excess[place])
            off_density = abs(found.density[place] - density[place])
            assert off_excess <= found.missing.excess
            assert off_density <= found.missing.density
            assert off_density > only_rounding.density * off(19 * 100)


def test_single_nodes_that_stand_out() -> None:
    """All coins are in step every 128π: a few nodes remain of a block, and carry nearly all of the sum."""
    with working(BITS):
        line = line_of([(number / 64, 0.0, 3) for number in range(1, 25)], 0.25)
        kernel = kernel_of(0.25, tolerance=1e-9)
        found = swept(line, kernel, FIRST, 1e9, ignore)
        assert found is not None
        _, density = exactly(line, kernel, FIRST, kernel.last)
        assert abs(found.density[0] - density[0]) <= found.missing.density
        assert abs(density[0]) > 100 * found.missing.density


def test_the_head_in_balls_and_the_rest_in_doubles() -> None:
    """Together they are the whole sum, up to what is said to be left out."""
    with working(BITS):
        line, kernel = line_of(coins(60)), kernel_of(width=2.0**-7, tolerance=1e-6)
        first = begin(line, kernel)
        assert first is not None
        found = integrate(line, kernel, 1e9, ignore)
        excess, density = exactly(line, kernel, 0, kernel.last)
        assert abs(found.excess[0] - excess[0]) <= found.left_out.excess < 1e-6
        assert 1e-9 < abs(found.density[0] - density[0]) <= found.left_out.density
        assert kernel.remainder().density < 1e-9


@pytest.mark.parametrize("nodes", [1, 2, 300])
def test_nodes_side_by_side(nodes: int) -> None:
    with working(BITS):
        kernel = kernel_of()
        for first in (1, 3, 500):
            most = kernel.stretch(kernel.step * first, nodes)
            total = WithDensity(arb(0), arb(0))
            for node in range(first, first + nodes):
                total = total.more(kernel.ceiling(kernel.step * node, 1), arb(1))
            assert total.excess <= most.excess + arb(1e-40)
            assert total.density <= most.density + arb(1e-40)


def lattice_of(c: float, span: Fraction, nodes: int = 4001, tolerance: float = 1e-6) -> Periodic:
    """For three places of y on the lattice and beside it."""
    ys = Fraction(1), Fraction(1) + span / 3, Fraction(1) + span * Fraction(999, 1000)
    return Periodic(arb(c), ys, span, Fraction(64), nodes, tolerance, 10.0)


@pytest.mark.parametrize("c", [4.0, 0.01, -0.01, -0.5, -0.99])
@pytest.mark.parametrize("span", [Fraction(1, 500), Fraction(1, 4), Fraction(3)])
def test_weights_on_a_lattice_are_below_their_ceiling(c: float, span: Fraction) -> None:
    with working(BITS):
        kernel = lattice_of(c, span)
        for first in (1, 2, 3, 30, 400, kernel.last - 20):
            most, total = kernel.stretch(kernel.step * first, 20), [arb(0) for _ in kernel.ys]
            for node in range(first, first + 20):
                single = kernel.ceiling(kernel.step * node, 1).excess
                for place, (value, _) in enumerate(kernel.values(kernel.step * node)):
                    assert value.abs_lower() <= single
                    total[place] += abs(value)
            assert all(each.lower() <= most.excess for each in total)


@pytest.mark.parametrize("c", [2.0, -0.4])
@pytest.mark.parametrize("tolerance", [1e-4, 1e-290])
def test_a_lattice_in_doubles(c: float, tolerance: float) -> None:
    """The last row is longer than the nodes there are."""
    with working(BITS):
        line = line_of([(number / 64, 0.0, 1 + number % 3) for number in range(1, 25)], c)
        kernel = lattice_of(c, Fraction(1, 32), 2001, tolerance)
        found = swept(line, kernel, FIRST, 1e9, ignore)
        assert found is not None
        truth, _ = exactly(line, kernel, FIRST, kernel.last)
        for place in range(3):
            assert abs(found.excess[place] - truth[place]) <= found.missing.excess
        assert found.missing.excess < 10 * max(tolerance, 1e-11)


def test_a_lattice_with_doubles_contains_the_truth(monkeypatch: pytest.MonkeyPatch) -> None:
    mechanisms = [(Fraction(a, 1000), 0.0, 1 + a % 2) for a in range(11, 300, 14)]
    made = Instance.of([(size, Fraction(0), copies) for size, _, copies in mechanisms])
    starts: list[int | None] = []

    def told(line: Line, kernel: Kernel) -> int | None:
        starts.append(begin(line, kernel))
        return starts[-1]

    monkeypatch.setattr(doubles, "begin", told)
    for y in (Fraction(1, 10), Fraction(2), Fraction(3001, 1000)):
        found = attempts.periodic(Scene(made), Fraction(1, 500), [y], 42, 60.0, ignore)[y]
        with working(BITS):
            truth = Lattice(mechanisms).excess(y, BITS)
            assert found.low <= truth <= found.high
            assert found.high - found.low <= truth * 1e-11
    assert None not in starts


@pytest.mark.parametrize("what", ["table", "weight", "hole"])
def test_a_broken_table_is_seen(what: str) -> None:
    """Off by a billionth, or not a number."""
    with working(BITS):
        line, kernel = line_of(coins(30)), kernel_of(tolerance=1e-12)
        sweep = Sweep(line, kernel, Grid.of(kernel.step, FIRST, kernel.last))
        if what == "weight":
            assert sweep._weights is not None
            sweep._weights._columns[3] = 0.0
        else:
            turns = sweep._table(4)
            turns.columns.real[:] = turns.columns.real + 1e-9 if what == "table" else np.nan
        nothing = Totals([arb(0), arb(0)], [arb(0), arb(0)], WithDensity(arb(0), arb(0)))
        with pytest.raises(ArithmeticError):
            sweep.add(nothing, slice(0, 4))


def test_wide_balls_are_refused() -> None:
    with working(BITS), pytest.raises(ArithmeticError):
        rotations.rounded(arb(0.5, 1e-17))
    with working(BITS), pytest.raises(ArithmeticError):
        rotations.rounded_closely(arb(1e-9, 1e-24))
    with working(BITS):
        assert rotations.rounded(arb(0.5, 1e-19)) == 0.5
        assert rotations.rounded_closely(arb(2.0**-30, 1e-28)) == 2.0**-30


def test_balls_take_over(monkeypatch: pytest.MonkeyPatch) -> None:
    """Where doubles fail the whole sum is made in balls, and is the same."""
    with working(BITS):
        line, kernel = line_of(coins(12)), kernel_of(last=600)
        first = begin(line, kernel)
        assert first is not None
        usual = integrate(line, kernel, 1e9, ignore)

        def broken(left: Pair, right: Pair) -> Pair:
            return Pair(left.real * right.real, left.imaginary * right.imaginary)

        monkeypatch.setattr(doubles, "times", broken)
        other = integrate(line, kernel, 1e9, ignore)
        for one, two in zip(usual.excess, other.excess, strict=True):
            assert abs(one - two) <= usual.left_out.excess + other.left_out.excess
            assert one.mid() != two.mid()


def test_who_is_served() -> None:
    with working(BITS):
        line = line_of(coins(30))
        assert begin(line, kernel_of(last=200)) is None
        assert begin(line, kernel_of(tolerance=1e-40)) is None
        first, later = begin(line, kernel_of(tolerance=1e-15)), begin(line, kernel_of(tolerance=3e-16))
        assert first is not None
        assert later is not None
        assert 1 < first < later
        odd = Smoothed(arb(2), (arb(1),), arb(1e-6), 1e-3, arb(1) / 3, 3000, 1e-6, 10.0)
        with pytest.raises(ArithmeticError):
            swept(line, odd, FIRST, 1e9, ignore)


@pytest.mark.parametrize("share", [0.02, 0.2, 0.5, 0.8])
@pytest.mark.parametrize("width", [1e-2, 1e-3, 1e-4])
def test_enclosures_contain_the_truth(share: float, width: float, monkeypatch: pytest.MonkeyPatch) -> None:
    """Every atom listed on one side, the smoothed integral with doubles on the other."""
    mechanisms = [(float(size), 0.0, 1) for size in np.random.default_rng(77).uniform(0.05, 1, 18)]
    made = Instance.of([(Fraction(size), Fraction(0), 1) for size, _, _ in mechanisms])
    truth, starts = Halves(mechanisms), []

    def told(line: Line, kernel: Kernel) -> int | None:
        starts.append(begin(line, kernel))
        return starts[-1]

    monkeypatch.setattr(doubles, "begin", told)
    y = Fraction(share) * made.coin_total
    found = attempts.smoothed(Scene(made), [y], width, 60.0, ignore)[y]
    assert starts[0] is not None
    with working(BITS):
        excess = truth.excess(y, BITS)
        assert found.low <= excess <= found.high
        assert found.high - found.low <= 40 * width**2


@pytest.mark.parametrize("delta", [1e-6, 0.05])
@pytest.mark.parametrize("count", [50, 60, 200])
def test_true_claims_are_proved_and_those_beside_them_are_not(count: int, delta: float) -> None:
    sizes = np.random.default_rng([20, count]).uniform(0.001, 0.1, count).tolist()
    bound = compose(sizes, delta=delta)
    assert check(bound.certificate()).proved
    moved = 2 * (bound.upper - bound.lower)
    for ends in ((bound.upper + moved, bound.upper + 2 * moved), (bound.lower - 2 * moved, bound.lower - moved)):
        assert check(bound.certificate() | {"lower": ends[0], "upper": ends[1]}).status == "false"


def test_work_is_limited() -> None:
    with working(BITS), pytest.raises(Exhausted):
        integrate(line_of(coins(40)), kernel_of(width=2.0**-22, tolerance=1e-10, last=10**7), 0.05, ignore)
