"""If no amount is off by more than told, the statistic of the data lies in the interval: always, not just mostly.

And always, whatever the noise, what is told lies in its own interval.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from fractions import Fraction
from itertools import pairwise

import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st

from optcomp.statistics import (
    CDF,
    Categories,
    Contingency,
    Count,
    Histogram,
    Integers,
    Mean,
    Reals,
    Statistic,
    Sum,
    Variance,
)
from optcomp.statistics.declared import Declared
from optcomp.statistics.joint_noise import Noises
from optcomp.statistics.noise import GAUSSIAN, LAPLACE, AddedNoise

LOW, HIGH = -2, 6  # the middle is 2, which is a multiple of the unit
TABLE = Declared({"x": Integers(LOW, HIGH), "y": Reals(LOW, HIGH, unit="1/2")})
EDGES = (LOW, 0, 1, 4, HIGH)
SLACK = Fraction(1, 10**12)  # ends are floats

values = st.lists(st.integers(LOW, HIGH), min_size=1, max_size=40)
offs = st.tuples(*[st.integers(0, 12)] * 3)
signs = st.lists(st.sampled_from([-1, 0, 1, 1, -1]) | st.fractions(-1, 1, max_denominator=4), min_size=9, max_size=9)


@dataclass(frozen=True)
class Box(Noises):
    """Noise that is never more than so many steps in each part, and may be so in all of them at once."""

    offs: tuple[int, ...] = ()

    def cells(self, cells: int) -> int:
        return self.offs[0]

    def together(self, factors: Sequence[float], share: float = 1.0) -> float:
        return math.fsum(factor * off for factor, off in zip(factors, self.offs, strict=False))

    def band(self, lows: Sequence[float], highs: Sequence[float]) -> float:
        bins = len(lows) + 1
        ends = [(j, f) for j, pair in enumerate(zip(lows, highs, strict=True), 1) for f in pair]
        return self.offs[0] * max(((1 - f) * j + f * (bins - j) for j, f in ends), default=0.0)


def box(*offs: int) -> Box:
    return Box(LAPLACE, (1.0,) * len(offs), 0.95, offs)


def noisy(amounts: Sequence[int], off: int, shares: Sequence[Fraction]) -> list[Fraction]:
    """Whole noise, mostly as far off as may be."""
    return [amount + Fraction(int(off * share)) for amount, share in zip(amounts, shares, strict=False)]


def within(truth: Fraction, ends: tuple[float, float]) -> bool:
    return Fraction(ends[0]) - SLACK <= truth <= Fraction(ends[1]) + SLACK


@pytest.mark.slow
@settings(max_examples=400)
@given(values, offs, signs)
def test_moments(xs: list[int], off: tuple[int, int, int], shares: list[Fraction]) -> None:
    check_moments(xs, off, shares)


@settings(max_examples=100)
@given(values, offs, signs)
@example([2] * 5 + [4] * 5, (5, 0, 0), [Fraction(0)] * 9)  # the largest variance is that of a count in between
def test_some_moments(xs: list[int], off: tuple[int, int, int], shares: list[Fraction]) -> None:
    check_moments(xs, off, shares)


def check_moments(xs: list[int], off: tuple[int, int, int], shares: list[Fraction]) -> None:
    """The mean and the variance of these values lie in the intervals of answers that are off by no more than that."""
    n, from_middle = len(xs), [x - 2 for x in xs]
    exact = n, sum(from_middle), sum(x * x for x in from_middle)
    amounts = [noisy([value], off[i], shares[i:]) for i, value in enumerate(exact)]
    mean = Fraction(sum(xs), n)
    assert within(mean, Mean("x").interval(TABLE, amounts[:2], box(*off[:2])))
    variance = Fraction(sum(x * x for x in xs), n) - mean**2
    assert within(variance, Variance("x").interval(TABLE, amounts, box(*off)))
    assert LOW <= Mean("x").value(TABLE, amounts) <= HIGH
    assert 0 <= Variance("x").value(TABLE, amounts) <= (HIGH - LOW) ** 2 / 4


@settings(max_examples=200)
@given(values, st.integers(0, 12), signs)
def test_cells(xs: list[int], off: int, shares: list[Fraction]) -> None:
    counts = [sum(a <= x < b or x == b == HIGH for x in xs) for a, b in pairwise(EDGES)]
    amounts = [noisy([*counts, 0], off, shares)]
    statistic = CDF("x", edges=EDGES)
    told = statistic.interval(TABLE, amounts, box(off))
    for i, edge in enumerate(EDGES[1:]):
        assert within(Fraction(sum(counts[: i + 1]), len(xs)), told[edge])
    assert told[HIGH][1] == 1
    histogram = Histogram("x", edges=EDGES).interval(TABLE, amounts, box(off))
    assert all(within(Fraction(count), ends) for count, ends in zip([*counts, 0], histogram.values(), strict=True))


@given(st.integers(0, 100), st.integers(0, 12), signs)
def test_counts_and_sums_are_no_wider_than_they_must_be(value: int, off: int, shares: list[Fraction]) -> None:
    ((amount,),) = amounts = [noisy([value], off, shares)]
    assert Sum("x").interval(TABLE, amounts, box(off)) == (float(amount - off), float(amount + off))
    assert Sum("y").interval(TABLE, amounts, box(off)) == (float(amount - Fraction(off, 2)), float(amount) + off / 2)
    told = Count().interval(TABLE, amounts, box(off))
    assert told == (min(max(float(amount - off), 0), float(amount)), max(float(amount + off), 0))


def test_without_noise_intervals_are_points() -> None:
    amounts = [[Fraction(4)], [Fraction(6)], [Fraction(20)]]
    statistics: list[tuple[Statistic, int, float]] = [(Mean("x"), 2, 3.5), (Variance("x"), 3, 2.75)]
    for statistic, parts, value in statistics:
        assert statistic.value(TABLE, amounts[:parts]) == value
        assert statistic.interval(TABLE, amounts[:parts], box(*(0,) * parts)) == (value, value)


WIDE = Declared({"x": Integers(LOW, HIGH), "y": Reals(LOW, HIGH, unit="1/2"), "c": Categories(["a", "b"])})
TOLD: list[Statistic] = [
    Count(),
    Sum("y"),
    Mean("x"),
    Mean("y"),
    Variance("x"),
    Variance("y"),
    Histogram("c"),
    Histogram("x", edges=EDGES),
    Contingency(("c", "x"), {"x": EDGES}),
    CDF("x", edges=EDGES),
    CDF("y", bins=7),
]
kinds: st.SearchStrategy[AddedNoise] = st.sampled_from([LAPLACE, GAUSSIAN])


@settings(max_examples=400, deadline=None)
@given(st.data(), st.sampled_from(TOLD), kinds, st.sampled_from([0.05, 1.0, 30.0]), st.sampled_from([0.1, 0.95]))
def test_what_is_told_lies_in_its_own_interval(
    data: st.DataObject, statistic: Statistic, kind: AddedNoise, scale: float, confidence: float
) -> None:
    """For any noisy amounts: those far below 0, and those that no data could have, too."""
    parts = statistic.parts(WIDE)
    steps = st.integers(-60, 60) | st.integers(-(10**6), 10**6)
    amounts = [[data.draw(steps) * part.unit for _ in part.cells] for part in parts]
    value = statistic.value(WIDE, amounts)
    told = statistic.interval(WIDE, amounts, Noises(kind, (scale,) * len(parts), confidence))
    pairs = [(value[cell], told[cell]) for cell in value] if isinstance(value, dict) else [(value, told)]
    assert all(low <= each <= high for each, (low, high) in pairs)


def test_a_negative_count_lies_in_its_interval() -> None:
    noises = Noises(LAPLACE, (10.0,), 0.95)
    assert Count().interval(TABLE, [[Fraction(-3)]], noises)[0] == -3
    told = Histogram("x", edges=EDGES).interval(TABLE, [[Fraction(n) for n in (-90, 7, 0, 2, -1)]], noises)
    assert [low for low, _ in told.values()] == [-90, 0, 0, 0, -1]
    assert max(told.values(), key=lambda ends: -ends[0]) == (-90, 0)  # no count can be there, and 0 is nearest
