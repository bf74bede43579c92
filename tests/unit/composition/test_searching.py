"""The search alone, on functions of plain Python: it ends next to the place, and whether a number fits decides."""

from __future__ import annotations

import math
from collections.abc import Callable

import pytest
from hypothesis import given
from hypothesis import strategies as st

from optcomp.composition.searching import Look, Search


def searched(cost: Callable[[float], float], whole: bool, rtol: float) -> tuple[float, float, int, str]:
    """A number of cost at most 1 next to one that costs more, and how often costs were asked for."""
    asked: list[float] = []

    def look(number: float) -> Look:
        asked.append(number)
        value = cost(number)
        return Look(value <= 1, math.log(value) if 0 < value < math.inf else math.inf * (1 if value else -1))

    search = Search(look, whole)
    found = search.bracket(None, None)
    assert found is not None
    good, bad = search.narrowed(*found, rtol)
    assert len(asked) == len(set(asked)), "a cost was asked for twice"
    assert cost(good) <= 1 < cost(bad)
    return good, bad, len(asked), search.method


@given(st.floats(1e-6, 1e9), st.floats(0.2, 4), st.booleans())
def test_powers_take_a_dozen_looks(place: float, power: float, falling: bool) -> None:
    good, bad, asked, method = searched(lambda x: (x / place) ** (-power if falling else power), False, 1e-6)
    assert abs(good - bad) <= 1e-6 * min(good, bad)
    assert min(good, bad) <= place * (1 + 1e-9)
    assert max(good, bad) >= place * (1 - 1e-9)
    assert asked <= 15
    assert method == "secant"


@given(st.integers(1, 10**9), st.floats(0.3, 2))
def test_whole_numbers_end_next_to_each_other(place: int, power: float) -> None:
    good, bad, asked, _ = searched(lambda n: (n / (place + 0.5)) ** power, True, 1e-6)
    assert (good, bad) == (place, place + 1)
    assert asked <= 25


@given(st.floats(1e-3, 1e3), st.floats(1.001, 1e6), st.booleans())
def test_jumps_are_found_by_halving(place: float, size: float, falling: bool) -> None:
    def cost(x: float) -> float:
        return size if (x > place) != falling else 1 / size

    good, bad, asked, _ = searched(cost, False, 1e-6)
    assert min(good, bad) <= place <= max(good, bad)
    assert abs(good - bad) <= 1e-6 * min(good, bad)
    assert asked <= 80


@pytest.mark.parametrize(
    "cost",
    [
        lambda x: 0.0 if x < 3 else math.inf,
        lambda x: math.exp(x - 5),
        lambda x: math.exp(-1 / x) if x < 2 else x,
        lambda x: 1 + (x - 3) ** 3 * 1e-9,
        lambda x: math.floor(x) / 7.5,
    ],
    ids=["unknown", "exponential", "a jump after a bend", "flat at the place", "steps"],
)
def test_awkward_costs_end_within_the_tolerance(cost: Callable[[float], float]) -> None:
    good, bad, asked, _ = searched(cost, False, 1e-6)
    assert abs(good - bad) <= 1e-6 * min(good, bad)
    assert asked <= 80


def test_nothing_is_found_where_all_is_alike() -> None:
    assert Search(lambda x: Look(True, -1.0), False).bracket(2.0, 50.0) is None
    assert Search(lambda x: Look(False, 1.0), True).bracket(None, 50.0) is None


def test_how_it_was_done_is_told() -> None:
    assert searched(lambda x: x / 3, False, 1e-6)[3] == "secant"
    assert searched(lambda x: 0.0 if x < 3 else math.inf, False, 1e-6)[3] == "bisection"
    assert searched(lambda x: 0.5 if x < 3 else 1e5, False, 1e-6)[3] == "secant and bisection"
