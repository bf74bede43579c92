"""Counting partitions by asking for compositions: the chain, each of its links alone, and the errors of the source."""

from __future__ import annotations

import math
import random
from collections.abc import Sequence
from fractions import Fraction
from functools import partial

import pytest
from flint import arb
from hypothesis import example, given, settings
from hypothesis import strategies as st

from optcomp.errors import InvalidInput
from optcomp.proofs import hardness as h
from tests.oracles.truth import real, working

BATCHES, BATCH = 12, 20

numbers = st.integers(1, 12)
lists = st.lists(numbers, max_size=5)
degrees = st.integers(1, 4)
ratios = st.fractions(Fraction(51, 50), 4, max_denominator=50)
epsilons = st.lists(st.fractions(0, 2, max_denominator=40), max_size=5)

KNOWN = {
    (): 1,
    (1,): 2,
    (7,): 0,
    (1, 1): 4,
    (1, 2): 0,
    (5, 5): 2,
    (2, 3): 0,
    (1,) * 6: 64,
    (2, 2, 1): 4,
    (2, 3, 6): 2,
    (4, 2, 2): 2,
    (7, 11, 13): 0,
    (2,) * 6: 20,
    (2, 2, 3, 3, 6, 6): 8 + 2,
    (1, 1, 10**6, 10**6): 8,
    (10**6, 10**6 + 1): 0,
}


def instance(place: int) -> list[int]:
    """Every other list splits evenly at least once; small numbers, so that they repeat."""
    rng = random.Random(place)
    half = [rng.randint(1, 9) for _ in range(rng.randint(1, 3))]
    if place % 2:
        return half + [rng.randint(1, 9) for _ in range(rng.randint(0, 3))]
    other = list(half)
    if len(other) > 1:
        other[:2] = [other[0] * other[1]]
    return rng.sample(half + other, len(half) + len(other))


# The chain.


@pytest.mark.parametrize("batch", range(BATCHES))
def test_chain_counts_what_listing_counts(batch: int) -> None:
    for place in range(batch * BATCH, (batch + 1) * BATCH):
        integers = instance(place)
        count = h.integer_partitions_by_listing(integers)
        assert (count > 0) >= (place % 2 == 0)
        assert h.count_by_composition(integers) == count, integers


@pytest.mark.parametrize(("integers", "count"), KNOWN.items(), ids=str)
def test_chain_on_known_counts(integers: tuple[int, ...], count: int) -> None:
    assert h.integer_partitions_by_listing(integers) == count
    assert h.count_by_composition(integers) == count


@pytest.mark.parametrize("integers", [(3,), (5, 5), (2, 3, 6), (2, 2, 3)])
def test_chain_with_composition_from_delta_to_epsilon(integers: tuple[int, ...]) -> None:
    count = h.count_by_composition(integers, h.by_bisection(h.optcomp_epsilon))
    assert count == h.integer_partitions_by_listing(integers)


@pytest.mark.parametrize("integers", [(1, 1, 1), (7,), (2, 3, 6), (2,) * 8])
def test_at_most_eight_questions_of_moderate_length(integers: tuple[int, ...]) -> None:
    asked: list[int] = []

    def oracle(epsilons: Sequence[Fraction], epsilon: Fraction, bits: int) -> h.Interval:
        asked.append(bits)
        return h.optcomp_delta(epsilons, epsilon, bits)

    h.count_by_composition(integers, oracle)
    assert len(asked) == (0 if math.prod(integers) == 1 else 8)
    assert max(asked, default=0) <= 8 * math.log2(math.prod(integers)) + 4 * len(integers) + 40


def test_hard_instances_have_as_small_a_total_as_one_likes() -> None:
    """Theorem 1.6: hard even where the ε_i add up to at most a tenth."""
    asked: list[Fraction] = []

    def oracle(epsilons: Sequence[Fraction], epsilon: Fraction, bits: int) -> h.Interval:
        asked.append(sum(epsilons, Fraction(0)))
        return h.optcomp_delta(epsilons, epsilon, bits)

    gaps = partial(h.count_gap_partitions, oracle=partial(h.sum_partition, oracle=oracle))
    count = h.count_integer_partitions([2, 3, 4, 6, 4], partial(h.count_partitions, oracle=gaps), Fraction(21, 20))
    assert count == h.integer_partitions_by_listing([2, 3, 4, 6, 4]) > 0
    assert max(asked) <= Fraction(1, 10)


# Each link alone.


@given(lists, st.fractions(Fraction(11, 10), 3, max_denominator=10))
def test_integers_from_roots(integers: list[int], most: Fraction) -> None:
    asked: list[h.Roots] = []

    def oracle(roots: h.Roots) -> int:
        asked.append(roots)
        return h.partitions_by_listing(roots)

    assert h.count_integer_partitions(integers, oracle, most) == h.integer_partitions_by_listing(integers)
    (roots,) = asked
    assert math.prod(integers) <= most**roots.degree


@given(lists, degrees)
def test_equal_products_from_a_gap(radicands: list[int], degree: int) -> None:
    roots = h.Roots(tuple(radicands), degree)
    assert h.count_partitions(roots, h.gap_partitions_by_listing) == h.partitions_by_listing(roots)


@given(st.data(), lists, degrees)
def test_a_gap_from_sums(data: st.DataObject, radicands: list[int], degree: int) -> None:
    roots = h.Roots(tuple(radicands), degree)
    inside = math.prod(z for z in radicands if data.draw(st.booleans()))
    outside = roots.product // inside
    larger, smaller = (inside, outside) if inside > outside else (data.draw(numbers) + 12, data.draw(numbers))
    count = h.count_gap_partitions(roots, larger, smaller, h.sum_by_listing)
    assert count == h.gap_partitions_by_listing(roots, larger, smaller) >= (inside > outside)


@given(st.lists(numbers, max_size=3), degrees, st.lists(st.booleans(), min_size=4, max_size=4))
def test_a_gap_from_the_worst_sums_that_keep_their_promise(half: list[int], degree: int, ends: list[bool]) -> None:
    """Intervals of full length with the truth at either end, and lists that split evenly in many ways."""
    upward = iter(ends)

    def oracle(roots: h.Roots, ratio: Fraction, bits: int) -> h.Interval:
        return stretched(h.sum_by_listing(roots, ratio, bits + 20), bits, upward=next(upward))

    roots = h.Roots((*half, *half), degree)
    gaps = partial(h.count_gap_partitions, oracle=oracle)
    assert h.count_partitions(roots, gaps) == h.partitions_by_listing(roots) >= 2 ** len(half)


@given(lists, degrees, ratios, st.integers(1, 90))
def test_sums_from_composition(radicands: list[int], degree: int, ratio: Fraction, bits: int) -> None:
    roots = h.Roots(tuple(radicands), degree)
    found = h.sum_partition(roots, ratio, bits, h.delta_by_listing)
    assert found.length * 2**bits <= 1
    assert meet(found, h.sum_by_listing(roots, ratio, 2 * bits))


@example([8, 8, 1], 2, Fraction(51, 50), 20)  # the product of the 1 + w_i is just below a power of two
@given(lists, degrees, ratios, st.integers(1, 60))
def test_sums_from_the_worst_oracle_that_keeps_its_promise(
    radicands: list[int], degree: int, ratio: Fraction, bits: int
) -> None:
    asked: list[tuple[list[Fraction], Fraction]] = []

    def oracle(epsilons: Sequence[Fraction], epsilon: Fraction, inner: int) -> h.Interval:
        asked.append((list(epsilons), epsilon))
        return stretched(h.delta_by_listing(epsilons, epsilon, inner + 20), inner, upward=len(asked) == 2)

    roots = h.Roots(tuple(radicands), degree)
    found = h.sum_partition(roots, ratio, bits, oracle)
    assert found.length * 2**bits <= 1
    assert meet(found, h.sum_by_listing(roots, ratio, 2 * bits))
    (low, most), (high, least) = asked
    with working(300):
        assert real(least) <= real(ratio).log() <= real(most)
        for below, z, above in zip(low, radicands, high, strict=True):
            assert real(below) <= arb(z).log() / degree <= real(above)


@given(epsilons, st.fractions(0, 3, max_denominator=40), st.integers(1, 120))
def test_composition_is_what_listing_gives(eps: list[Fraction], epsilon: Fraction, bits: int) -> None:
    found = h.optcomp_delta(eps, epsilon, bits)
    assert found.length * 2**bits <= 1
    assert meet(found, h.delta_by_listing(eps, epsilon, bits + 40))


@settings(max_examples=25)
@given(epsilons, st.fractions(0, 3, max_denominator=40), st.integers(1, 30))
def test_delta_from_epsilon_by_bisection(eps: list[Fraction], epsilon: Fraction, bits: int) -> None:
    found = h.by_bisection(h.optcomp_epsilon)(eps, epsilon, bits)
    assert found.length * 2**bits <= 1
    assert meet(found, h.delta_by_listing(eps, epsilon, bits + 40))


def stretched(ends: h.Interval, bits: int, *, upward: bool) -> h.Interval:
    """As long as the promise of so many bits allows."""
    length = Fraction(1, 2**bits)
    return h.Interval(ends.low, ends.low + length) if upward else h.Interval(ends.high - length, ends.high)


def meet(one: h.Interval, other: h.Interval) -> bool:
    """Both contain the same number, so they must."""
    return one.low <= other.high and other.low <= one.high


# Gaps, and when a sum of roots is zero.


@pytest.mark.parametrize(
    ("radicands", "degree", "larger", "smaller", "count"),
    [
        ((9, 4), 2, 4, 1, 1),  # 3 - 2 = 2 - 1, with other roots than T is written with
        ((18, 8), 2, 2, 0, 1),  # √18 - √8 = √2
        ((6, 6), 1, 35, 0, 1),
        ((2, 3), 2, 3, 2, 1),
        ((2, 3), 2, 5, 1, 0),  # √5 - 1 is near no product
        ((2, 3), 2, 323, 273, 0),  # within 1e-6 of √6 - 1, and yet not it
        ((2, 3), 3, 10**9, 1, 0),
        ((1, 2), 1, 1, 0, 2),
        ((1, 1), 5, 2, 1, 0),
    ],
)
def test_gaps_that_are_written_differently(
    radicands: tuple[int, ...], degree: int, larger: int, smaller: int, count: int
) -> None:
    roots = h.Roots(radicands, degree)
    assert h.gap_partitions_by_listing(roots, larger, smaller) == count
    assert h.count_gap_partitions(roots, larger, smaller, h.sum_by_listing) == count


@given(
    degrees, st.lists(st.tuples(st.integers(-3, 3), st.sampled_from([0, 1, 2, 3, 8, 9, 16, 18, 27, 32])), max_size=4)
)
def test_zero_sums_of_roots_are_recognised(degree: int, terms: list[tuple[int, int]]) -> None:
    assert h.vanishes(degree, terms) == small_for_an_algebraic_integer(degree, terms)


@given(degrees, numbers, numbers, numbers, numbers)
def test_sums_that_are_zero_by_construction(degree: int, a: int, b: int, c: int, root: int) -> None:
    scale = root * 7
    terms = [(1, a**degree * scale), (-1, b**degree * scale), (b - a, scale), (1, c), (-1, c)]
    assert h.vanishes(degree, terms)
    assert not h.vanishes(degree, [*terms, (1, c)])


def small_for_an_algebraic_integer(degree: int, terms: list[tuple[int, int]]) -> bool:
    """A nonzero algebraic integer times all its conjugates, at most D^n - 1, each at most B, is at least 1."""
    with working(9000):
        value = sum((c * arb(a).root(degree) for c, a in terms), arb(0))
        most = sum((abs(c) * arb(a).root(degree) for c, a in terms), arb(1))
        return bool(abs(value) < most ** -(degree ** len(terms)))


@pytest.mark.parametrize(("shift", "stretch", "left"), [(10, 0, "0"), (0, 80, "[2-5]")])
def test_an_oracle_that_lies_is_found_out(shift: int, stretch: int, left: str) -> None:
    asked: list[Fraction] = []

    def oracle(roots: h.Roots, ratio: Fraction, bits: int) -> h.Interval:
        asked.append(ratio)
        truth, unit = h.sum_by_listing(roots, ratio, bits), Fraction(len(asked) == 1, 2**bits)
        return h.Interval(truth.low + shift * unit, truth.high + (shift + stretch) * unit)

    with pytest.raises(ArithmeticError, match=f"{left} integers"):
        h.count_gap_partitions(h.Roots((2, 3)), 6, 1, oracle)


@pytest.mark.parametrize("integers", [[0], [-2], [True], [2.0]])
def test_only_positive_integers(integers: list[int]) -> None:
    with pytest.raises(InvalidInput):
        h.count_by_composition(integers)


def test_out_of_range() -> None:
    with pytest.raises(InvalidInput):
        h.count_integer_partitions([2], h.partitions_by_listing, Fraction(1))
    with pytest.raises(InvalidInput):
        h.count_gap_partitions(h.Roots((2,)), 1, 1, h.sum_by_listing)


# What the source gets wrong (docs/proofs/corrections.md).


@pytest.mark.parametrize("k", [1, 2, 5])
def test_lemma_4_11_all_ones_is_every_subset(k: int) -> None:
    ones = h.Roots((1,) * k)
    assert h.partitions_by_listing(ones) == 2**k
    assert h.count_partitions(ones, h.gap_partitions_by_listing) == 2**k != 2**k - 2


def test_lemma_4_10_needs_a_positive_degree() -> None:
    assert math.ceil(math.log(math.prod([1, 1]))) == 0
    with pytest.raises(InvalidInput):
        h.Roots((1, 1), 0)


def test_lemma_4_13_the_interval_below_may_reach_below_one() -> None:
    """w = (2), T = 2 - 1, so j = 2: the paper's interval for r is (1/2, 2), but SUM-PARTITION is defined for r > 1."""
    below, above = Fraction((2 - 1) ** 2, 2), Fraction(2**2, 2)
    assert below < 1 < above
    with pytest.raises(InvalidInput):
        h.sum_partition(h.Roots((2,)), Fraction(3, 4), 10, h.delta_by_listing)
    assert h.count_gap_partitions(h.Roots((2,)), 2, 1, partial(h.sum_partition, oracle=h.delta_by_listing)) == 1


def test_claim_4_17_inequality_fails() -> None:
    """w = (√4), r = 3: the smallest difference is |2 - 3| = 1, but the printed lower bound for it is 5/4."""
    z, degree, r = 4, 2, 3
    differences = [abs(2 - r * 1), abs(1 - r * 2)]
    bounds = [Fraction(abs(a - r**degree * b), degree * 2) for a, b in ((z, 1), (1, z))]
    assert min(differences) == 1 < min(bounds) == Fraction(5, 4)


def test_lemma_4_5_counts_too_coarsely() -> None:
    """Eight ε = 1/100 at a total of 0, q = 1: no term reaches 1/10, so m = 10^q counts nothing; the sum is above 2."""
    eps, k, q = [Fraction(1, 100)] * 8, 8, 1
    largest = math.exp(0.08) - 1
    assert 10**q * (largest + 2.0 ** -(q + k)) < 1
    total = float(h.delta_by_listing(eps, Fraction(0), 30).low) * (1 + math.exp(0.01)) ** k
    assert total - 0 > 2 > 2.0**-q
