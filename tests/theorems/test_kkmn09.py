"""KKMN09: names above a threshold, against all ways to lie in values, and against whole distributions, exactly."""

from __future__ import annotations

from collections.abc import Iterator
from fractions import Fraction
from itertools import product
from math import prod
from typing import Any

import pytest
from flint import arb

from optcomp import HypothesisNotMet
from optcomp.numerics import SUM_BITS, ball, precision
from optcomp.statistics.frequent import above
from optcomp.statistics.noise import GAUSSIAN, LAPLACE
from optcomp.theorems import kkmn09

HALF = Fraction(1, 2)


def tail(t: int, q: Fraction = HALF) -> Fraction:
    """P(X > t) for P(X = x) in proportion to q^|x|, for all whole t."""
    return q ** (t + 1) / (1 + q) if t >= 0 else 1 - q**-t / (1 + q)


def ways(rows: int, groups: int, each: int, most: int | None = None) -> Iterator[tuple[int, ...]]:
    """All ways of at most so many rows in at most so many values, the largest first."""
    yield ()
    if groups:
        for first in range(min(rows, each if most is None else min(each, most)), 0, -1):
            for rest in ways(rows - first, groups - 1, each, first):
                yield first, *rest


def leak(sizes: tuple[int, ...], threshold: int, q: Fraction = HALF) -> Fraction:
    return 1 - prod((1 - tail(threshold - size, q) for size in sizes), start=Fraction(1))


@pytest.mark.parametrize("q", [Fraction(1, 9), HALF, Fraction(9, 10), Fraction(99, 100)])
def test_no_way_to_lie_in_values_leaks_more_than_the_shapes(q: Fraction) -> None:
    """Each shape is a way, and the worst of all ways is one of them: for small and large noise, low and high."""
    for rows, groups, each in product(range(1, 7), repeat=3):
        if groups > rows or each > rows:
            continue
        every = {tuple(sorted(way, reverse=True)) for way in ways(rows, groups, each) if way}
        listed = [
            tuple(sorted((size for size, count in shape for _ in range(count)), reverse=True))
            for shape in kkmn09.shapes(rows, groups, each)
        ]
        assert set(listed) <= every
        for threshold in (each, each + 9):
            worst = max(leak(way, threshold, q) for way in every)
            assert max(leak(way, threshold, q) for way in listed) == worst, (rows, groups, each, threshold)
            with precision(SUM_BITS):
                found = kkmn09.leaked(lambda t: ball(tail(t, q)), threshold, kkmn09.shapes(rows, groups, each))
                assert bool(found.overlaps(ball(worst)))


def test_gaussian_noise_has_the_same_shapes() -> None:
    """Weights e^{-x²/2σ²} up to 60, in balls: the law is log-concave, and that is all that is needed."""
    sigma = 2.5
    with precision(SUM_BITS):
        weights = {x: (-(ball(x) ** 2) / (2 * ball(sigma) ** 2)).exp() for x in range(-60, 61)}
        whole = sum(weights.values(), arb(0))

        def beyond(t: int) -> arb:
            return sum((weight for x, weight in weights.items() if x > t), arb(0)) / whole

        tails = {t: beyond(t) for t in range(-10, 30)}
        for rows, groups, each in [(6, 6, 6), (6, 3, 4), (7, 5, 3), (5, 5, 2), (4, 2, 4)]:
            shapes = kkmn09.shapes(rows, groups, each)
            listed = [tuple(size for size, count in shape for _ in range(count)) for shape in shapes]
            for threshold in (each, each + 5, 20):
                chances = {
                    way: 1 - prod((1 - tails[threshold - size] for size in way), start=arb(1))
                    for way in (*ways(rows, groups, each), *listed)
                    if way
                }
                best = max(listed, key=lambda way: float(chances[way]))
                assert all(bool(chances[best] >= other - ball(1e-30)) for other in chances.values())
                found = kkmn09.leaked(lambda t: above(GAUSSIAN, sigma, t), threshold, shapes)
                assert bool(found >= chances[best] - ball(1e-25))
                assert bool(found <= chances[best] * 1.0000001)


@pytest.mark.parametrize("delta", ["1/10", "1e-6", "1e-12", "1e-40"])
@pytest.mark.parametrize("bounds", [(1, 1, 1), (3, 3, 3), (5, 2, 3), (12, 12, 12)])
def test_the_threshold_is_the_least(delta: str, bounds: tuple[int, int, int]) -> None:
    shapes, asked = kkmn09.shapes(*bounds), Fraction(delta)
    found = kkmn09.least_threshold(lambda t: ball(tail(t)), asked, shapes)
    sizes = [tuple(size for size, count in shape for _ in range(count)) for shape in shapes]
    assert max(leak(each, found) for each in sizes) <= asked
    if found > max(map(max, sizes)):
        assert max(leak(each, found - 1) for each in sizes) > asked


@pytest.mark.parametrize(("noise", "scale"), [(LAPLACE, 3.0), (LAPLACE, 1e6), (GAUSSIAN, 4.0), (GAUSSIAN, 777.0)])
def test_thresholds_of_the_noise_that_is_drawn(noise: Any, scale: float) -> None:
    """The δ at the threshold is within what is asked, and one below it is not, but for the slack of a bound."""
    shapes, asked = kkmn09.shapes(2, 2, 1), Fraction(1, 10**9)
    found = kkmn09.least_threshold(lambda t: above(noise, scale, t), asked, shapes)
    with precision(SUM_BITS):
        one, other = (1 - (1 - above(noise, scale, t - 1)) ** 2 for t in (found, found - 1))
        assert bool(one <= ball(asked))
        assert bool(other > ball(asked))


def distribution(counts: tuple[int, ...], threshold: int, far: int) -> dict[tuple[int | None, ...], Fraction]:
    """What is told of values with these numbers: the noisy number, or nothing; what is beyond `far` is one event."""
    found: dict[tuple[int | None, ...], Fraction] = {(): Fraction(1)}
    for count in counts:
        one: dict[int | None, Fraction] = {None: 1 - tail(threshold - count) if count else Fraction(1)}
        if count:
            one |= {y: tail(y - 1 - count) - tail(y - count) for y in range(threshold + 1, far)}
            one[far] = tail(far - 1 - count)
        found = {(*past, told): p * more for past, p in found.items() for told, more in one.items()}
    return found


@pytest.mark.parametrize("rows", [(1, 0), (1, 1), (2, 1), (0, 2), (3, 0)])
def test_whole_distributions_are_within_epsilon_and_the_leak(rows: tuple[int, int]) -> None:
    """Of a value that others have and one that nobody has: Σ(P - e^ε Q)_+ both ways, with e^{-1/s} = 1/2.

    One person's rows in the first have e^ε = 2^rows; all that is beyond comes from the second, and is the leak.
    """
    own, alone = rows
    threshold, others, far = 4, 3, 16
    less = distribution((others, 0), threshold, far)
    more = distribution((others + own, alone), threshold, far)
    factor = Fraction(2) ** own
    told = set(less) | set(more)

    def beyond(one: Any, other: Any) -> Fraction:
        return sum((max(one.get(y, 0) - factor * other.get(y, 0), Fraction(0)) for y in told), Fraction(0))

    bound = leak((alone,), threshold) if alone else Fraction(0)
    assert beyond(less, more) <= bound
    assert beyond(more, less) <= bound
    if alone:
        assert sum(p for y, p in more.items() if y[1] is not None) == bound
        assert beyond(more, less) == bound  # no smaller leak would do


def test_an_exchanged_person_leaks_no_more() -> None:
    """Old and new rows in two values that nobody else has: the leak is that of one person, not of two."""
    threshold, far = 3, 12
    one, other = (distribution(counts, threshold, far) for counts in ((2, 0), (0, 2)))
    told = set(one) | set(other)
    beyond = sum((max(one.get(y, Fraction(0)) - other.get(y, Fraction(0)), Fraction(0)) for y in told), Fraction(0))
    assert beyond == leak((2,), threshold)


def test_hypotheses() -> None:
    shapes = kkmn09.shapes(3, 1, 3)
    for refused in (
        lambda: kkmn09.leaked(lambda t: ball(tail(t)), 2, shapes),
        lambda: kkmn09.least_threshold(lambda t: ball(tail(t)), 0, shapes),
        lambda: kkmn09.least_threshold(lambda t: ball(tail(t)), 1, shapes),
    ):
        with pytest.raises(HypothesisNotMet) as refusal:
            refused()
        assert refusal.value.theorem == kkmn09.ID
