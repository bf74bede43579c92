"""Totals computed ahead: those of `compose`, only for the very lists they are about, and at once from a table."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

import optcomp as oc
from optcomp.composition.reading import Item, read_any
from optcomp.instances import Mixture
from optcomp.numerics.contour import Bracket
from optcomp.theorems import Effort, Growing, Target
from optcomp.theorems.ahead import FIRST_ROWS, Pace, Table

ONE, TWO = oc.PoissonSubsampled(oc.Gaussian(1), 0.01), oc.PoissonSubsampled(oc.Gaussian(2), 0.05)
TARGET, RTOL = Target("epsilon", 1e-6), 1e-5


def mixture(counts: dict[Item, int]) -> Mixture:
    read = read_any(counts)
    assert isinstance(read, Mixture)
    return read


def asked(made: Growing, item: oc.PoissonSubsampled, *numbers: int) -> Table:
    for number in numbers:
        assert made.answer(mixture({item: number})) is not None
    table = made._pace.table
    assert table is not None
    return table


def growing(counts: dict[Item, int]) -> Growing:
    made = Growing(TARGET, Effort(0.8 * RTOL))
    assert made.renew(mixture(counts))
    return made


@pytest.mark.slow_cases("0.8-0.001-200-1", "1.1-0.004-50-1")
@pytest.mark.parametrize(
    ("sigma", "rate", "first", "step"),
    [(1.0, 0.01, 100, 100), (0.8, 0.001, 200, 1), (1.1, 0.004, 50, 1), (3.0, 0.5, 40, 7)],
)
def test_a_long_run_is_that_of_compose(sigma: float, rate: float, first: int, step: int) -> None:
    """Also far from where the contour was made, where both directions may matter."""
    item = oc.PoissonSubsampled(oc.Gaussian(sigma), rate)
    made = growing({item: first})
    number = first
    for _ in range(4):
        table = asked(made, item, number, number + step, number + 2 * step)
        numbers = [count for (count,) in table.found]
        assert len(numbers) >= FIRST_ROWS // 2
        for count in (numbers[0], numbers[len(numbers) // 2], numbers[-1]):
            bound, upper = oc.compose({item: count}, delta=1e-6), made.ahead({item: count})
            assert upper is not None
            assert bound.lower <= upper <= bound.upper * (1 + RTOL)
        number = numbers[-1] + step


def test_a_table_that_was_used_up_is_followed_by_a_longer_one() -> None:
    made = growing({ONE: 300})
    table = asked(made, ONE, 300, 310, 320)
    assert list(table.found) == [(count,) for count in range(330, 330 + 10 * FIRST_ROWS, 10)]
    last = max(table.found)[0]
    assert asked(made, ONE, last) is table
    following = asked(made, ONE, last + 10)
    assert following is not table
    assert len(following.found) == 2 * FIRST_ROWS
    assert min(following.found) == (last + 20,)
    assert made.ahead({ONE: last}) is None


def test_only_the_very_list_is_found() -> None:
    made = growing({ONE: 300})
    asked(made, ONE, 300, 310, 320)
    assert made.ahead({ONE: 330}) is not None
    for counts in ({}, {ONE: 331}, {TWO: 330}, {ONE: 330, TWO: 1}, {TWO: 1, oc.Gaussian(1): 330}):
        assert made.ahead(counts) is None  # type: ignore[arg-type]
    table = made._pace.table
    assert table is not None
    assert table.at(mixture({ONE: 330})) is not None
    assert table.at(mixture({ONE: 330, 0.1: 1})) is None
    assert table.at(mixture({ONE: 330, (0.0, 1e-9): 1})) is None


def test_two_kinds_grow_side_by_side() -> None:
    made = growing({ONE: 100, TWO: 100})
    for number in (100, 110, 120):
        assert made.answer(mixture({ONE: number, TWO: 2 * number - 100})) is not None
    upper, bound = made.ahead({TWO: 160, ONE: 130}), oc.compose({ONE: 130, TWO: 160}, delta=1e-6)
    assert upper is not None
    assert bound.lower <= upper <= bound.upper * (1 + RTOL)


def test_copies_share_a_table_and_go_their_own_ways() -> None:
    made = growing({ONE: 300})
    table = asked(made, ONE, 300, 310, 320)
    other = made.copy()
    assert other._pace.table is table
    asked(other, ONE, max(table.found)[0] + 10)
    assert other._pace.table is not table
    assert made._pace.table is table


def test_the_sum_of_all_epsilons_is_not_forgotten() -> None:
    """Where it may be smaller, nothing is told at once."""
    pace, found = Pace(), [_bracket(0.25), _bracket(0.5)]
    for most, told in ((0.4, None), (0.6, 0.25)):
        rows = [[11.0], [12.0]]
        pace.keep(mixture({ONE: 10}), np.array([1]), np.array(rows), found, most)
        assert pace.table is not None
        assert pace.table.upper({ONE: 11}) == told


def _bracket(upper: float) -> Bracket:
    made = growing({ONE: 100})
    table = asked(made, ONE, 100, 110, 120)
    return replace(next(iter(table.found.values())), lower=0.9 * upper, upper=upper)


def test_after_an_attempt_that_proved_nothing_there_is_a_pause() -> None:
    pace = Pace()
    for number in (10, 11, 12):
        even = pace.asked(mixture({ONE: number}))
    assert even is not None
    pace.keep(mixture({ONE: 12}), even[0], np.array([[13.0]]), [None], 9.0)
    assert all(pace.asked(mixture({ONE: number})) is None for number in range(13, 20))
