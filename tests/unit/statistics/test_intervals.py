"""If no amount is off by more than told, the statistic of the data lies in the interval: always, not just mostly."""

from __future__ import annotations

from collections.abc import Sequence
from fractions import Fraction
from itertools import pairwise

from hypothesis import example, given, settings
from hypothesis import strategies as st

from optcomp.statistics import CDF, Count, Histogram, Integers, Mean, Reals, Statistic, Sum, Variance
from optcomp.statistics.table import Declared

LOW, HIGH = -2, 6  # the middle is 2, which is a multiple of the unit
TABLE = Declared({"x": Integers(LOW, HIGH), "y": Reals(LOW, HIGH, unit="1/2")})
EDGES = (LOW, 0, 1, 4, HIGH)
SLACK = Fraction(1, 10**12)  # ends are floats

values = st.lists(st.integers(LOW, HIGH), min_size=1, max_size=40)
offs = st.tuples(*[st.integers(0, 12)] * 3)
signs = st.lists(st.sampled_from([-1, 0, 1, 1, -1]) | st.fractions(-1, 1, max_denominator=4), min_size=9, max_size=9)


def noisy(amounts: Sequence[int], off: int, shares: Sequence[Fraction]) -> list[Fraction]:
    """Whole noise, mostly as far off as may be."""
    return [amount + Fraction(int(off * share)) for amount, share in zip(amounts, shares, strict=False)]


def within(truth: Fraction, ends: tuple[float, float]) -> bool:
    return Fraction(ends[0]) - SLACK <= truth <= Fraction(ends[1]) + SLACK


@settings(max_examples=400)
@given(values, offs, signs)
@example([2] * 5 + [4] * 5, (5, 0, 0), [Fraction(0)] * 9)  # the largest variance is that of a count in between
def test_moments(xs: list[int], off: tuple[int, int, int], shares: list[Fraction]) -> None:
    n, from_middle = len(xs), [x - 2 for x in xs]
    exact = n, sum(from_middle), sum(x * x for x in from_middle)
    amounts = [noisy([value], off[i], shares[i:]) for i, value in enumerate(exact)]
    bounds = [Fraction(each) for each in off]
    mean = Fraction(sum(xs), n)
    assert within(mean, Mean("x").interval(TABLE, amounts[:2], bounds[:2]))
    variance = Fraction(sum(x * x for x in xs), n) - mean**2
    assert within(variance, Variance("x").interval(TABLE, amounts, bounds))
    assert LOW <= Mean("x").value(TABLE, amounts) <= HIGH
    assert 0 <= Variance("x").value(TABLE, amounts) <= (HIGH - LOW) ** 2 / 4


@settings(max_examples=200)
@given(values, st.integers(0, 12), signs)
def test_cells(xs: list[int], off: int, shares: list[Fraction]) -> None:
    counts = [sum(a <= x < b or x == b == HIGH for x in xs) for a, b in pairwise(EDGES)]
    amounts = [noisy([*counts, 0], off, shares)]
    statistic = CDF("x", edges=EDGES)
    told = statistic.interval(TABLE, amounts, [Fraction(off)])
    for i, edge in enumerate(EDGES[1:]):
        assert within(Fraction(sum(counts[: i + 1]), len(xs)), told[edge])
    assert told[HIGH][1] == 1
    histogram = Histogram("x", edges=EDGES).interval(TABLE, amounts, [Fraction(off)])
    assert all(within(Fraction(count), ends) for count, ends in zip([*counts, 0], histogram.values(), strict=True))


@given(st.integers(0, 100), st.integers(0, 12), signs)
def test_counts_and_sums_are_no_wider_than_they_must_be(value: int, off: int, shares: list[Fraction]) -> None:
    ((amount,),) = amounts = [noisy([value], off, shares)]
    assert Sum("y").interval(TABLE, amounts, [Fraction(off)]) == (float(amount - off), float(amount + off))
    assert Count().interval(TABLE, amounts, [Fraction(off)]) == tuple(max(float(amount + d), 0) for d in (-off, off))


def test_without_noise_intervals_are_points() -> None:
    amounts, off = [[Fraction(4)], [Fraction(6)], [Fraction(20)]], [Fraction(0)] * 3
    statistics: list[tuple[Statistic, int, float]] = [(Mean("x"), 2, 3.5), (Variance("x"), 3, 2.75)]
    for statistic, parts, value in statistics:
        assert statistic.value(TABLE, amounts[:parts]) == value
        assert statistic.interval(TABLE, amounts[:parts], off[:parts]) == (value, value)
