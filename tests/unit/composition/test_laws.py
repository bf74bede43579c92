"""Laws that hold for every composition, whatever method answers."""

from __future__ import annotations

import math
from fractions import Fraction

import numpy as np
from hypothesis import assume, given
from hypothesis import strategies as st

from optcomp import ApproxDP, Bound, PureDP, compose
from tests.oracles.checks import encloses
from tests.oracles.sums import subsets

Part = tuple[float, float]

sizes = st.one_of(
    st.floats(1e-100, 3), st.sampled_from([0.0, 0.1, 0.25, 1e-9, 1e-3, 50.0, 1e-100]), st.floats(1e-6, 1e-2)
)
slips = st.sampled_from([0.0, 0.0, 1e-12, 1e-5, 0.01, 0.3])
mechanisms = st.lists(st.tuples(sizes, slips), min_size=1, max_size=7)
deltas = st.one_of(st.floats(1e-12, 0.99), st.sampled_from([1e-30, 1e-100, 1e-300, 0.0]))
epsilons = st.one_of(st.floats(0, 6), st.sampled_from([0.0, 0.1, 50.0]))


def both(parts: object, delta: float, epsilon: float) -> tuple[Bound, Bound]:
    return compose(parts, delta=delta), compose(parts, epsilon=epsilon)  # type: ignore[arg-type]  # any form


@given(mechanisms, deltas, epsilons)
def test_enclosure(parts: list[Part], delta: float, epsilon: float) -> None:
    truth = subsets(parts)
    assert all(encloses(truth, bound) for bound in both(parts, delta, epsilon))


@given(mechanisms, deltas, epsilons, st.randoms(use_true_random=False))
def test_order_does_not_matter(parts: list[Part], delta: float, epsilon: float, shuffler: object) -> None:
    shuffled = list(parts)
    shuffler.shuffle(shuffled)  # type: ignore[attr-defined]  # random.Random
    assert both(parts, delta, epsilon) == both(shuffled, delta, epsilon)


@given(sizes, slips, st.integers(0, 60), deltas, epsilons)
def test_counting_is_repeating(eps: float, slip: float, n: int, delta: float, epsilon: float) -> None:
    guarantee = ApproxDP(eps, slip)
    assert both({guarantee: n}, delta, epsilon) == both([guarantee] * n, delta, epsilon)


@given(mechanisms, deltas, epsilons)
def test_plain_forms_equal_objects(parts: list[Part], delta: float, epsilon: float) -> None:
    objects = both([ApproxDP(eps, slip) for eps, slip in parts], delta, epsilon)
    assert both(parts, delta, epsilon) == objects
    assert both(np.array(parts), delta, epsilon) == objects
    assert both([list(part) for part in parts], delta, epsilon) == objects
    assert compose(iter(parts), delta=delta) == objects[0]
    assert compose((part for part in parts), epsilon=epsilon) == objects[1]
    assert both({part: parts.count(part) for part in parts}, delta, epsilon) == objects


@given(st.lists(sizes, min_size=1, max_size=7), deltas, epsilons)
def test_plain_epsilon_means_pure(eps: list[float], delta: float, epsilon: float) -> None:
    objects = both([PureDP(x) for x in eps], delta, epsilon)
    assert both(eps, delta, epsilon) == objects
    assert both(np.array(eps), delta, epsilon) == objects
    assert both([(x, 0) for x in eps], delta, epsilon) == objects


@given(mechanisms, st.tuples(sizes, slips), deltas, epsilons)
def test_one_more_mechanism_costs_no_less(parts: list[Part], more: Part, delta: float, epsilon: float) -> None:
    for old, new in zip(both(parts, delta, epsilon), both([*parts, more], delta, epsilon), strict=True):
        assert new.upper >= old.lower


@given(mechanisms, st.floats(1e-100, 2), st.sampled_from([0.0, 1e-9, 0.1]), deltas, epsilons)
def test_weaker_mechanism_costs_no_less(
    parts: list[Part], eps: float, slip: float, delta: float, epsilon: float
) -> None:
    (first_eps, first_slip), *rest = parts
    weaker = [(first_eps + eps, min(0.9, first_slip + slip)), *rest]
    for old, new in zip(both(parts, delta, epsilon), both(weaker, delta, epsilon), strict=True):
        assert new.upper >= old.lower


@given(mechanisms, deltas)
def test_duality(parts: list[Part], delta: float) -> None:
    bound = compose(parts, delta=delta)
    assume(math.isfinite(bound.upper))
    assert compose(parts, epsilon=bound.upper).lower <= delta
    if bound.lower > 0:
        assert compose(parts, epsilon=bound.lower).upper >= delta


@given(mechanisms, deltas, epsilons)
def test_never_worse_than_basic_composition(parts: list[Part], delta: float, epsilon: float) -> None:
    assert compose(parts, delta=delta).upper <= compose(parts, delta=delta, method="basic").upper
    assert compose(parts, epsilon=epsilon).upper <= compose(parts, epsilon=epsilon, method="basic").upper


@given(mechanisms, deltas, epsilons)
def test_bounds_are_ordered(parts: list[Part], delta: float, epsilon: float) -> None:
    for bound in both(parts, delta, epsilon):
        assert 0 <= bound.lower <= bound.upper
        assert bound.count == len(parts)


def test_decimal_strings_are_exact() -> None:
    """0.1 as written and the float nearest to it differ, and enough bits show it."""
    written, binary = PureDP("0.1"), PureDP(0.1)
    assert written != binary
    assert written.epsilon == Fraction(1, 10)
    first, second = (compose([part], delta=0, bits=80).enclosure for part in (written, binary))
    assert first is not None
    assert second is not None
    assert first[1] < second[0]
    assert first[0] <= Fraction(1, 10) <= first[1]
    assert compose(["0.1"] * 3, delta=1e-3) == compose([Fraction(1, 10)] * 3, delta=1e-3)


def test_sums_of_exact_fractions_are_exact() -> None:
    """Three times a tenth is three tenths: no δ is needed there."""
    assert compose(["0.1"] * 3, epsilon="0.3").upper == 0.0
    assert compose(["0.1", "0.2"], epsilon="0.3").upper == 0.0


def test_arrays_of_whole_numbers_are_exact() -> None:
    big = 10**12 - 1
    assert compose(np.array([big, big]), delta=0) == compose([big, big], delta=0)
    assert compose(np.array([big, big]), delta=0).lower == 2 * big


def test_extended_precision_is_not_rounded_down() -> None:
    size = np.longdouble(1) + np.longdouble(2) ** -60
    if size == 1:
        return  # no extended precision on this machine
    assert compose([size], delta=0).upper > 1  # type: ignore[list-item]  # real, if not a float
    assert compose(np.array([size]), delta=0).upper > 1
