"""Each way to enclose F contains the truth, and is narrow."""

from __future__ import annotations

import math
from collections.abc import Sequence
from fractions import Fraction

import numpy as np
import pytest
from flint import acb, arb

from optcomp.checker import attempts, binomial, listing, moments
from optcomp.checker.attempts import Scene
from optcomp.checker.balls import ball, working
from optcomp.checker.blocks import LENGTH, Blocks
from optcomp.checker.closed import closed_form, distance
from optcomp.checker.contour import Exhausted
from optcomp.checker.instance import Coin, Instance, Range
from optcomp.checker.line import Line, WorkingCoins
from optcomp.checker.units import lattice
from tests.oracles.equal import Equal
from tests.oracles.sums import Lattice, Subsets
from tests.oracles.truth import Mechanism

BITS = 160


def ignore(what: str, share: float) -> None:
    """Nobody is looking."""


def instance_of(mechanisms: Sequence[Mechanism]) -> Instance:
    return Instance.of([(Fraction(eps), Fraction(delta), copies) for eps, delta, copies in mechanisms])


def different(seed: int, k: int, low: float, high: float) -> list[Mechanism]:
    return [(float(eps), 0.0, 1) for eps in np.random.default_rng([97, seed]).uniform(low, high, k)]


def contains(found: Range, truth: arb, width: float) -> bool:
    """Whether the truth is between, and the relative width not more than this."""
    with working(BITS):
        return not found.low > truth and not found.high < truth and bool(found.high - found.low <= truth * width)


@pytest.mark.parametrize("c", [0.5, 3.0, 1e5])
def test_a_factor_on_the_cut_of_the_logarithm(c: float) -> None:
    """At θ = π/ε a factor is -1, and a ball around it is on both sides of the cut."""
    with working(BITS):
        sizes: list[Mechanism] = [(Fraction(1, 1000), 0, 7), (Fraction(2, 1000), 0, 4), (Fraction(3, 1000), 0, 1)]
        line = Line(WorkingCoins(instance_of(sizes)), arb(c))
        assert (line.phi(1000 * arb.pi()) - 1).abs_upper() < arb(1e-30)


def test_a_lattice_far_up() -> None:
    """Most factors of some nodes lie on the cut."""
    coins: list[Mechanism] = [
        (Fraction(a, 10**5), 0.0, copies) for a, copies in ((19, 4), (13, 1), (6, 13), (17, 4), (9, 9))
    ]
    truth, instance = Lattice(coins), instance_of(coins)
    units = lattice(instance)
    assert units is not None
    y = truth.total - Fraction(21, 10 * 10**5)
    found = attempts.periodic(Scene(instance), units.low_span, [y], 64, 10.0, ignore)[y]
    assert contains(found, truth.excess(y, BITS), 1e-12)


@pytest.mark.parametrize("share", [0.0, 0.1, 0.5, 0.9, 0.999])
def test_every_atom(share: float) -> None:
    coins = [*different(1, 8, 0.01, 2), (0.25, 0.0, 5), (Fraction(1, 3), 0.0, 2)]
    truth, instance = Subsets(coins), instance_of(coins)
    y = Fraction(share) * truth.total
    with working(BITS):
        assert contains(listing.Listing(instance, ignore).excess(y), truth.excess(y, BITS), 1e-30)
        closed = closed_form(instance, y)
        assert closed is None or contains(closed, truth.excess(y, BITS), 1e-30)
        assert truth.excess(y, BITS) <= distance(instance).high


def test_three_parts_of_a_listing(monkeypatch: pytest.MonkeyPatch) -> None:
    coins = different(2, 12, 0.1, 1)
    monkeypatch.setattr(listing, "HALF", 32)
    truth, instance = Subsets(coins), instance_of(coins)
    assert [len(part) for part in listing.split(instance.coins)] == [2, 5, 5]
    assert listing.cost(instance) < math.inf
    with working(BITS):
        assert contains(listing.Listing(instance, ignore).excess(Fraction(1)), truth.excess(Fraction(1), BITS), 1e-30)


@pytest.mark.parametrize(("k", "eps", "y"), [(1, 2.0, 1.0), (50, 0.1, 1.0), (10**6, 1e-3, 3.0), (300, 0.5, 10.0)])
def test_binomial_tails_and_lattice(k: int, eps: float, y: float) -> None:
    truth, coin, place = Equal(k, eps), Coin(eps, k), Fraction(y)
    with working(BITS):
        assert contains(binomial.equal_sizes(coin, place), truth.excess(place, BITS), 1e-30)
    scene = Scene(Instance((coin,), ()))
    found = attempts.periodic(scene, 2 * Fraction(eps), [place], 90, 5.0, ignore)[place]
    assert contains(found, truth.excess(place, BITS), 1e-24)


def test_a_lattice_of_many_copies() -> None:
    coins: list[Mechanism] = [(Fraction(a, 100), 0.0, 10 * a) for a in range(1, 9)]
    truth, instance = Lattice(coins), instance_of(coins)
    units = lattice(instance)
    assert units is not None
    assert units.low is units.high
    for y in (Fraction(0), Fraction(5), Fraction(11)):
        found = attempts.periodic(Scene(units.low), units.low_span, [y], 80, 5.0, ignore)[y]
        assert contains(found, truth.excess(y, BITS), 1e-20)


def test_floats_lie_between_two_lattices() -> None:
    coins: list[Mechanism] = [(0.1, 0.0, 3), (0.2, 0.0, 3), (0.3, 0.0, 3)]
    truth, units = Subsets(coins), lattice(instance_of(coins))
    assert units is not None
    assert units.low is not units.high
    y = Fraction(1)
    with working(BITS):
        low = listing.Listing(units.low, ignore).excess(y)
        high = listing.Listing(units.high, ignore).excess(y)
        assert contains(Range(low.low, high.high), truth.excess(y, BITS), 1e-14)
    assert lattice(instance_of(different(3, 5, 0.1, 1))) is None


@pytest.mark.parametrize("y", [0.01, 1.0, 3.0, 6.0])
@pytest.mark.parametrize("width", [0.1, 0.01, 0.002])
def test_smoothed_contour(y: float, width: float) -> None:
    """On either side of the pole, with and without matrices."""
    coins, place = different(4, 12, 0.1, 1.2), Fraction(y)
    truth = Subsets(coins)
    found = attempts.smoothed(Scene(instance_of(coins)), [place], width, 10.0, ignore)[place]
    excess = truth.excess(place, BITS)
    with working(BITS):
        assert not found.low > excess
        assert not found.high < excess
        density = truth.excess(place - Fraction(1, 10), BITS) + (1 - excess)  # at most about this, times ten
        assert found.high - found.low <= 20 * width**2 * density


def test_effort_is_limited() -> None:
    place = Fraction(2)
    with pytest.raises(Exhausted):
        attempts.smoothed(Scene(instance_of(different(5, 12, 0.1, 1))), [place], 1e-7, 0.05, ignore)


@pytest.mark.parametrize("c", [2.0, 0.1, -0.3])
def test_bounds_over_ranges_hold(c: float) -> None:
    mechanisms: list[Mechanism] = [*different(6, 60, 0.05, 0.5), (0.3, 0.0, 40)]
    with working(96):
        line = Line(WorkingCoins(instance_of(mechanisms)), arb(c))
        rng, useful = np.random.default_rng(8), 0
        for theta, radius in zip(rng.uniform(1, 200, 60).tolist(), rng.uniform(0, 0.3, 60).tolist(), strict=True):
            bound = line.bound(arb(theta), arb(radius), 1e-3)
            if bound is not None:
                useful += bool(bound <= 1e-3)
                for share in (-1, -0.37, 0, 0.51, 1):
                    assert not line.phi(arb(theta) + radius * share).abs_lower() > bound
    assert useful > 20


def test_blocks_agree_with_single_nodes() -> None:
    mechanisms: list[Mechanism] = [*different(9, 9, 0.05, 0.9), (0.3, 0.0, 2), (0.7, 0.0, 5)]
    with working(96):
        line, step = Line(WorkingCoins(instance_of(mechanisms)), arb(0.4)), arb(0.03)
        blocks = Blocks(line.factors, step)
        (values,) = blocks.values([1000], [0.0])
        assert isinstance(values, list)
        assert len(values) == LENGTH
        for number in (0, 1, 77, LENGTH - 1):
            one = line.phi(step * (1000 + number))
            assert (values[number] - one).abs_upper() < 1e-20
        (bound,) = blocks.values([1000], [1.0])
        assert not isinstance(bound, list)
        assert all(value.abs_lower() <= bound for value in values)


def test_bins_agree_with_single_coins() -> None:
    coins = instance_of([*different(10, 4000, 0.001, 0.1), (0.05, 0.0, 10**6), (3.0, 0.0, 2)]).coins
    with working(160):
        groups = moments.bins(coins)
        assert sum(len(group.coins) for group in groups) == len(coins)
        for z in (acb(0.5), acb(1.5, 0.4), acb(0.5, 20), acb(0.7, 63)):
            parts = [(group.log_cosh(z), moments.direct(group.coins, z)) for group in groups]
            known = [(part.exp(), direct.exp()) for part, direct in parts if part is not None]
            assert len(known) >= 0.9 * len(groups) if z.imag < 1 else len(known) > 0
            assert all(abs(part / direct - 1).upper() < 1e-10 for part, direct in known)
            assert all(part.overlaps(direct) for part, direct in known)


def test_exact_target() -> None:
    instance = Instance.of([(1.0, 0.25, 2), (1.0, 0.5, 1)])
    assert instance.target(Fraction(23, 32), 128).is_zero()
    assert instance.target(Fraction(24, 32), 128) > 0
    assert instance.target(Fraction(22, 32), 128) < 0
    with working(128):
        assert abs(instance.target(0.75, 128) - ball(Fraction(1, 9))) < 1e-30
