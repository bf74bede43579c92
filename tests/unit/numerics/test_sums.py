"""Sums as balls contain the exact sum, few or many terms, in ball arithmetic or in floats."""

from __future__ import annotations

from collections.abc import Callable
from fractions import Fraction

import numpy as np
import numpy.typing as npt
import pytest
from flint import arb, fmpq

from optcomp.numerics.balls import precision
from optcomp.numerics.sums import ball_sum, in_floats, log_odds_sum, plain_sum
from optcomp.numerics.tally import Tally

Floats = npt.NDArray[np.float64]
Pairs = list[tuple[Fraction | float, int]]

FUNCTIONS: dict[str, tuple[Callable[[arb], arb], Callable[[Floats], Floats]]] = {
    "squares": (lambda x: x * x, np.square),
    "mean loss": (lambda x: x * (x / 2).tanh(), lambda x: x * np.tanh(x / 2)),
    "distance": (lambda x: (x / 2).tanh(), lambda x: np.tanh(x / 2)),
    "log odds": (lambda x: (-x).exp().log1p(), lambda x: np.log1p(np.exp(-x))),
}
RANGES = {"privacy": (-4.0, 0.5), "all floats take": (-140.0, 2.77), "tiny": (-140.0, -100.0), "large": (1.0, 2.778)}


def draw(n: int, low: float, high: float, most: int) -> Pairs:
    rng = np.random.default_rng([n, most])
    values = np.minimum(10 ** rng.uniform(low, high, n), 600.0)
    return list(zip(values.tolist(), rng.integers(1, most, n, endpoint=True).tolist(), strict=True))


def exactly(function: Callable[[arb], arb], pairs: Pairs) -> arb:
    with precision(300):
        return sum((function(arb(fmpq(*Fraction(x).as_integer_ratio()))) * m for x, m in pairs), arb(0))


def test_where_floats_are_used() -> None:
    few, some, many = ([(0.1, 1)] * n for n in (200, 4000, 4001))
    with precision(128):
        assert [in_floats(x, quick=True) for x in (few, some, many)] == [False, True, True]
        assert [in_floats(x, quick=False) for x in (few, some, many)] == [False, False, True]
    with precision(256):
        assert not in_floats(many, quick=False)
        assert in_floats(many, quick=True)


@pytest.mark.parametrize("name", list(FUNCTIONS))
@pytest.mark.parametrize("scope", list(RANGES))
@pytest.mark.parametrize(("n", "most"), [(201, 1), (257, 2**53), (5000, 9)])
def test_float_sums_contain_the_truth(name: str, scope: str, n: int, most: int) -> None:
    pairs = draw(n, *RANGES[scope], most)
    function, fast = FUNCTIONS[name]
    with precision(128):
        found = ball_sum(function, pairs, fast, quick=True)
    assert found.rad() > 0
    with precision(300):
        assert found.contains(exactly(function, pairs))
        assert found.rad() <= 6e-15 * found


@pytest.mark.parametrize("name", list(FUNCTIONS))
def test_no_floats_where_they_underflow_or_overflow(name: str) -> None:
    function, fast = FUNCTIONS[name]
    for outside in ((1e-141, 1), (601.0, 1), (Fraction(1, 3), 1), (0.5, 2**53 + 1), (Fraction(1, 10**170), 7)):
        pairs = [*draw(300, -2, 2, 5), outside]
        with precision(200):
            found = ball_sum(function, pairs, fast, quick=True)
            assert found.rel_accuracy_bits() > 150
            assert found.contains(exactly(function, pairs).mid())


@pytest.mark.parametrize("name", list(FUNCTIONS))
def test_whole_fractions_count_as_floats(name: str) -> None:
    function, fast = FUNCTIONS[name]
    pairs: Pairs = [*draw(300, -2, 2, 5), (Fraction(3), 4), (Fraction(1, 8), 1)]
    with precision(128):
        assert ball_sum(function, pairs, fast, quick=True).contains(exactly(function, pairs))


@pytest.mark.parametrize("n", [10, 300, 5000])
def test_careful_sums(n: int) -> None:
    pairs = draw(n, -3, 0.5, 9)
    with precision(300):
        odds = log_odds_sum(pairs)
        assert odds.overlaps(exactly(lambda x: (1 + (-x).exp()).log(), pairs))
        assert odds.rel_accuracy_bits() > 280
    with precision(128):
        assert log_odds_sum(pairs).contains(odds)


@pytest.mark.parametrize("n", [1, 10, 300, 20_000])
@pytest.mark.parametrize("most", [1, 2**20, 2**52])
def test_plain_sums(n: int, most: int) -> None:
    pairs = draw(n, -100, 2, most)
    exact = sum((Fraction(x) * m for x, m in pairs), Fraction(0))
    with precision(1500):
        assert plain_sum(pairs).contains(fmpq(*exact.as_integer_ratio()))
    with precision(128):
        assert plain_sum(pairs).contains(fmpq(*exact.as_integer_ratio()))
        assert n > 4000 or most > 2**20 or plain_sum(pairs).rel_accuracy_bits() > 120


def test_plain_sums_of_fractions() -> None:
    assert plain_sum([(Fraction(1, 10), 10)]) == 1
    thirds: Pairs = [(Fraction(1, 3 * n), n) for n in range(1, 5000)]
    with precision(128):
        assert plain_sum(thirds).contains(fmpq(4999, 3))
    floats: Pairs = [(float(n), 1) for n in range(5000)]
    assert Tally(floats).total == 2500 * 4999
    assert plain_sum([]) == 0
