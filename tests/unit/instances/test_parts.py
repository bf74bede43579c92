"""Parts group what is equal and forget order; Bound presents what was proved."""

from __future__ import annotations

import json
import math
from fractions import Fraction

import numpy as np
import pytest

from optcomp import Bound, NotAffordable, compose
from optcomp.composition.reading import read_parts
from optcomp.instances.parts import Group, Parts
from optcomp.numerics.exact_numbers import Exact
from optcomp.theorems import dkmmn06, kov15_3_5, mv18_1_5, mv18_1_7


def test_grouping() -> None:
    parts = read_parts([0.1, (0.2, 1e-9), 0.1, (0.2, 0.0), "0.5", Fraction(1, 2), (0.0, 1e-9)])
    assert parts.groups == (
        Group(Fraction(1, 2), 0.0, 2),
        Group(0.2, 1e-9, 1),
        Group(0.2, 0.0, 1),
        Group(0.1, 0.0, 2),
        Group(0.0, 1e-9, 1),
    )
    assert parts.count == 7
    assert parts.coins == ((0.5, 2), (0.2, 2), (0.1, 2))
    assert parts.leaks == ((1e-9, 2),)
    assert not parts.all_equal
    assert read_parts(parts) is parts


def test_zero_counts_vanish() -> None:
    assert read_parts({0.1: 0, 0.2: 3}).groups == (Group(0.2, 0.0, 3),)
    assert read_parts({0.1: 0}) == read_parts([]) == Parts(())
    assert read_parts([0.3] * 4).all_equal


def test_distinct_objects_of_equal_value_are_counted() -> None:
    assert read_parts([float(f"0.{n % 3 + 1}") for n in range(300)]).count == 300
    assert [group.copies for group in read_parts(0.1 * 3 for _ in range(50)).groups] == [50]


def test_arrays_and_tuples_are_the_same_parts() -> None:
    rng = np.random.default_rng(4)
    eps, delta = rng.choice([0.0, 0.1, 0.2, 0.3], 500), rng.choice([0.0, 1e-9, 1e-3], 500)
    copies = rng.integers(0, 4, 500)
    counts: dict[tuple[Exact, Exact], int] = {}
    for x, d, n in zip(eps.tolist(), delta.tolist(), copies.tolist(), strict=True):
        counts[x, d] = counts.get((x, d), 0) + n
    arrays, tuples = Parts.of_arrays(eps, delta, copies), Parts.of(counts)
    assert arrays == tuples == arrays
    assert hash(arrays) == hash(tuples)
    assert repr(arrays) == repr(tuples)
    for name in ("groups", "count", "coins", "leaks", "kinds", "largest", "smallest", "heaviest", "all_equal"):
        assert getattr(arrays, name) == getattr(tuples, name), name
    for first, second in zip(arrays.sizes, tuples.sizes, strict=True):
        assert first.tolist() == second.tolist()
    halves = Parts.of({(Fraction(1, 2), Fraction(0)): 3})
    assert halves == Parts.of_arrays(np.full(3, 0.5), np.zeros(3))
    assert hash(halves) == hash(Parts.of_arrays(np.full(3, 0.5), np.zeros(3)))
    assert arrays != Parts.of_arrays(eps, delta)
    assert arrays != "parts"


def test_ends_and_kinds() -> None:
    parts = read_parts({0.3: 1, 0.1: 10, (0.2, 1e-9): 2, 0.0: 5})
    assert (parts.kinds, parts.largest, parts.smallest, parts.heaviest) == (3, 0.3, 0.1, (0.1, 10))
    assert read_parts({0.3: 2, 0.1: 10, (0.2, 1e-9): 2}).heaviest == (0.3, 2)
    assert read_parts([0.0, 0.0]).kinds == 0


def test_exact_sizes() -> None:
    assert read_parts([0.1, 0.2]).exact_sizes
    assert read_parts([1, 2]).exact_sizes
    assert read_parts([(0.1, Fraction(1, 3))]).exact_sizes
    assert read_parts([]).exact_sizes
    assert not read_parts(["0.1", 0.2]).exact_sizes
    assert not Parts.of({(0.1, 0.0): 2**53 + 1}).exact_sizes


def test_parts_never_change() -> None:
    for parts in (read_parts(np.array([0.1, 0.2])), read_parts(["0.1"])):
        with pytest.raises(AttributeError):
            parts.groups = ()
        with pytest.raises(ValueError, match="read-only"):
            parts.sizes[0][0] = 1.0


@pytest.mark.parametrize("question", [{"delta": 1e-9}, {"epsilon": 20.0}])
def test_no_tuples_on_the_way_to_a_refusal(question: dict[str, float]) -> None:
    """A long input is read, summed and found too large for an exact answer as arrays alone."""
    parts = read_parts(np.random.default_rng(6).uniform(1e-3, 1e-2, 10_000))
    for ask in (kov15_3_5, dkmmn06, mv18_1_5):
        try:
            ask.epsilon_at(parts, question["delta"]) if "delta" in question else ask.delta_at(parts, 20.0)
        except NotAffordable:
            assert ask is mv18_1_5
    assert mv18_1_7.shared_unit(parts) is None
    assert "groups" not in parts.__dict__
    assert "pairs" not in parts.coin_tally.__dict__


def test_bound_reads_both_ways() -> None:
    forward = compose([0.1] * 5, delta=1e-3)
    assert (forward.epsilon, forward.delta) == (forward.upper, 1e-3)
    back = compose([0.1] * 5, epsilon=0.3)
    assert (back.epsilon, back.delta) == (0.3, back.upper)


def test_as_dict_is_json() -> None:
    infinite = compose([(0.1, 0.5)], delta=0.1).as_dict()
    assert infinite["upper"] is None
    assert json.loads(json.dumps(infinite, allow_nan=False)) == infinite
    bits = compose(["0.1"] * 3, delta=0.01, bits=20).as_dict()
    ends = bits["enclosure"]
    assert isinstance(ends, list)
    assert Fraction(ends[0]) <= Fraction(ends[1])


@pytest.mark.parametrize("digits", [1, 5, 17, 40])
def test_decimal_ends_are_rounded_outwards(digits: int) -> None:
    for bound in (compose([0.1, 0.2], delta=0.01), compose([0.1, 0.2], delta=0.01, bits=200)):
        ends = bound.enclosure or (Fraction(bound.lower), Fraction(bound.upper))
        lower, upper = bound.decimal(digits)
        assert Fraction(lower) <= ends[0] <= ends[1] <= Fraction(upper)
        assert Fraction(upper) - Fraction(lower) <= ends[1] - ends[0] + ends[1] * Fraction(20, 10**digits)


def test_width() -> None:
    def bound(lower: float, upper: float) -> Bound:
        return Bound(quantity="epsilon", lower=lower, upper=upper, given=0.1, theorem="X", method="x", count=1)

    assert bound(0.0, 0.0).width == bound(math.inf, math.inf).width == 0.0
    assert bound(1.0, 2.0).width == 0.5
    assert bound(1.0, math.inf).width == math.inf
    assert bound(1.0, math.inf).decimal(3) == ("1.0", "inf")
    assert str(bound(1.0, 2.0)) == "ε in [1.0, 2.0] at δ = 0.1 (X, x; 1 mechanism)"


def test_sides_that_contradict_each_other_are_no_bound() -> None:
    with pytest.raises(ArithmeticError, match="contradictory sides"):
        Bound(quantity="epsilon", lower=1.0, upper=0.5, given=0.1, theorem="MV18-1.5", method="subsets", count=2)
