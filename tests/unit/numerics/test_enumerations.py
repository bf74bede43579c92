"""The contract of an enumeration: its sums are those of a set that is right except within `slack` of the place."""

from __future__ import annotations

import math
from fractions import Fraction
from itertools import product

import numpy as np
import pytest
from flint import arb

from optcomp.numerics.ball_halves import BallHalves
from optcomp.numerics.float_halves import FloatHalves
from optcomp.numerics.halves import log_atoms, pairs_cost, split
from optcomp.numerics.knapsack import Knapsack
from optcomp.numerics.lines import Enumeration, enumerated_excess
from optcomp.numerics.tally import Pair
from tests.oracles.sums import Lattice
from tests.oracles.truth import rational_ends, real, working

UNIT = 0.1
STEPS = [(1, 3), (2, 1), (5, 2), (7, 12)]
RANDOM = [float(x) for x in np.random.default_rng(11).uniform(0.01, 2, 9)]
TIES = [0.1 * (1 + 2.0**-52 * i) for i in range(5)] + [0.2, 0.3, 0.4, 0.1 + 0.2]
FAMILIES: dict[str, list[Pair]] = {
    "random": [(x, 1) for x in RANDOM],
    "near ties": [(x, 1) for x in TIES],
    "repeated": [(RANDOM[0], 40), (RANDOM[1], 7), (Fraction(1, 3), 1)],
    "lattice": [(a * Fraction(UNIT), m) for a, m in STEPS],
}
Atoms = list[tuple[Fraction, arb]]


def atoms_of(coins: list[Pair]) -> Atoms:
    """All sums with their probabilities, by the definition of a coin."""
    atoms: Atoms = []
    for lows in product(*(range(m + 1) for _, m in coins)):
        place, p = Fraction(0), arb(1)
        for (x, m), low in zip(coins, lows, strict=True):
            place += Fraction(x) * (m - 2 * low)
            p *= math.comb(m, low) * (real(x) * (m - low)).exp() / (1 + real(x).exp()) ** m
        atoms.append((place, p))
    return atoms


def sums_above(atoms: Atoms, z: Fraction) -> tuple[arb, arb]:
    """P and Q of the atoms above z."""
    chosen = [(place, p) for place, p in atoms if place > z]
    return sum((p for _, p in chosen), arb(0)), sum((p * (-real(place)).exp() for place, p in chosen), arb(0))


def routes(name: str) -> dict[str, Enumeration]:
    coins = FAMILIES[name]
    found: dict[str, Enumeration] = {"floats": FloatHalves(coins), "balls": BallHalves(coins, 160)}
    found["coarse balls"] = BallHalves(coins, 40)
    found["likely atoms only"] = FloatHalves(coins, depth=4.0)
    if name == "lattice":
        found["knapsack"] = Knapsack(STEPS, UNIT, 0.0)
        found["knapsack above a floor"] = Knapsack(STEPS, UNIT, 4.0)
    return found


@pytest.mark.parametrize("name", list(FAMILIES))
def test_sums_are_right_but_for_the_slack(name: str) -> None:
    rng = np.random.default_rng(5)
    with working(300):
        atoms = atoms_of(FAMILIES[name])
        top = max(place for place, _ in atoms)
        near = sorted(place for place, _ in atoms if place > top / 2)
        picks = [near[int(i)] for i in rng.integers(0, len(near), 25)]
        places = {float(place) for place in picks} | {math.nextafter(float(place), 0) for place in picks}
        places |= {math.nextafter(float(place), 99) for place in picks} | {
            float(x) for x in rng.uniform(0.5, 0.9, 10) * float(top)
        }
    for route, enumeration in routes(name).items():
        slack = rational_ends(enumeration.slack)[1]
        assert 0 <= slack <= Fraction(1, 100)
        for z in places:
            found = enumeration.lines(arb(z))
            with working(300):
                least = sums_above(atoms, Fraction(z) + slack)
                most = sums_above(atoms, Fraction(z) - slack)
                for ball, low, high in zip(found, least, most, strict=True):
                    assert not ball.upper() + enumeration.dropped < low, (route, z)
                    assert not ball.lower() > high, (route, z)


def test_shares_dropped_from_a_table_are_counted() -> None:
    """Far above the floor that a table was made for, all that is left is the bound on what was dropped."""
    steps, unit = [(1, 1500), (2, 300)], 0.0625
    truth = Lattice([(a * unit, 0, m) for a, m in steps])
    table = Knapsack(steps, unit, 0.0)
    for share in (0.3, 0.6, 0.9, 0.97):
        place = Fraction(share) * truth.total
        found, exact = enumerated_excess(table, real(float(place))), truth.delta(Fraction(float(place)), 3000)
        with working(3000):
            assert exact > 0
            assert found.contains(exact.mid()), share


def test_halves_hold_all_coins() -> None:
    for coins in FAMILIES.values():
        first, second = split(coins)
        counts: dict[object, int] = {}
        for x, m in (*first, *second):
            counts[x] = counts.get(x, 0) + m
        assert counts == dict(coins)
        assert pairs_cost(coins) == pytest.approx(math.exp(log_atoms(first)) + math.exp(log_atoms(second)))
        assert pairs_cost(coins) <= math.exp(log_atoms(coins)) + 1
