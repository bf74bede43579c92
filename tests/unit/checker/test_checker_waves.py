"""Nodes left out by sums of waves: the bound on |φ| holds at every node looked at, and a term left out is seen."""

from __future__ import annotations

import math
from fractions import Fraction
from random import Random

import pytest
from flint import arb

from optcomp.checker import waves
from optcomp.checker.instance import Coin, Instance
from optcomp.checker.kernels import Smoothed
from optcomp.checker.line import Line, WorkingCoins
from optcomp.checker.waves import Waves, cover, waves_of
from tests.oracles.truth import working

BITS = 160
C = 6.0


def instance(kind: str) -> Instance:
    """Different coins; or coins that are all in step again and again, where |φ| is 1."""
    rng = Random(7)
    if kind == "different":
        coins = sorted({Fraction(rng.uniform(0.001, 0.1)) for _ in range(60)})
        return Instance(tuple(Coin(size, 1 + (number % 9 == 0)) for number, size in enumerate(coins)), ())
    return Instance(tuple(Coin(Fraction(number, 128), 3) for number in range(1, 13)), ())


def log_size(line: Line, theta: arb) -> arb:
    """log|φ| as a product of (cos θε)² + (κ sin θε)²."""
    total = arb(0)
    for size, tanh, copies in line.factors:
        total += copies * ((theta * size).cos() ** 2 + (tanh * (theta * size).sin()) ** 2).log() / 2
    return total


def excess(line: Line, found: Waves, step: arb, begin: int, stride: int) -> float:
    """By how much log|φ| is above its bound at the worst node."""
    rows, columns, worst = 3, 7, -math.inf
    for number, sums in enumerate(waves._sums(found, step, begin, stride, rows, columns)):
        for place, value in enumerate(sums):
            middle = begin + stride // 2 + (number * columns + place) * stride
            most = arb(value) / 2**40 - found.mean + found.rounding + found.slope * step * (stride // 2)
            for node in {middle - stride // 2, middle, middle + stride // 2}:
                worst = max(worst, float((log_size(line, step * node) - most).mid()))
    return worst


def lines() -> list[tuple[Line, arb, int]]:
    """Lines with steps and first nodes; the second passes through places at which all coins are in step."""
    in_step = 2 * arb.pi() * 64
    return [
        (Line(WorkingCoins(instance("different")), arb(C)), arb(1.75), 5000),
        (Line(WorkingCoins(instance("in step")), arb(0.25)), in_step / 21, 42),
    ]


@pytest.mark.parametrize("which", [0, 1])
@pytest.mark.parametrize("stride", [1, 3, 15])
def test_the_bound_of_every_node(which: int, stride: int) -> None:
    with working(BITS):
        line, step, begin = lines()[which]
        found = waves_of(line)
        assert found is not None
        assert excess(line, found, step, begin, stride) <= 1e-12


@pytest.mark.parametrize("name", ["mean", "slope", "rounding"])
def test_a_term_left_out_is_seen(name: str) -> None:
    with working(BITS):
        line, step, begin = lines()[1]
        found = waves_of(line)
        assert found is not None
        changed = {
            "mean": found._replace(mean=found.mean + 1e-3),
            "slope": found._replace(slope=arb(0)),
            "rounding": found._replace(rounding=arb(0)),
        }[name]
        assert max(excess(line, changed, step, begin, stride) for stride in (1, 3, 5)) > 1e-12


@pytest.mark.parametrize("tanh", ["0", "1/50", "1/2", "99/100"])
def test_the_parabola_is_above_the_log(tanh: str) -> None:
    with working(BITS):
        kappa = arb(Fraction(tanh).numerator) / Fraction(tanh).denominator
        line = Line(WorkingCoins(instance("different")), arb(C))
        line.factors = [(arb(1), kappa, 1)] * 9
        found = waves_of(line)
        assert found is not None
        for number in range(400):
            theta = arb(number) / 120
            value = sum((beta * (2 * theta * x).cos() for x, beta in found.parts), arb(0)) - found.mean
            truth = log_size(line, theta) if not (kappa == 0 and abs(theta.cos()) < 1e-9) else arb(-100)
            assert truth <= value + arb(1e-30)


def test_what_is_left_out_is_counted() -> None:
    """|φ| at every node left out, summed, against the bound; and peaks are not left out."""
    with working(BITS):
        coins = WorkingCoins(instance("different"))
        line = Line(coins, arb(C))
        kernel = Smoothed(line.c, (arb(1),), arb(1e-6), 1e-3, arb(1.75), 9000, 1e-6, 20.0)
        pending = [(first, min(first + 499, kernel.last)) for first in range(1, kernel.last + 1, 500)]
        nothing = kernel.remainder()._replace(excess=arb(0), density=arb(0))
        still, left_out = cover(line, kernel, pending, nothing, 1e9)
        kept = {node for first, last in still for node in range(first, last + 1)}
        gone = [node for node in range(1, kernel.last + 1) if node not in kept]
        assert len(gone) > 4000
        total = arb(0)
        for node in gone[::5]:
            total += kernel.ceiling(kernel.step * node, 1).excess * log_size(line, kernel.step * node).exp()
        assert total <= left_out.excess
        assert cover(line, kernel, pending, nothing, 0.0)[0][-1][1] == kernel.last


def test_who_is_served() -> None:
    with working(BITS):
        few = Instance(tuple(Coin(Fraction(number, 10), 1) for number in range(1, 5)), ())
        assert waves_of(Line(WorkingCoins(few), arb(1))) is None
        many = Instance(tuple(Coin(Fraction(number, 10), 10**6) for number in range(1, 20)), ())
        assert waves_of(Line(WorkingCoins(many), arb(1))) is None
