"""A tally is the same numbers and counts whichever form it was made from."""

from __future__ import annotations

from fractions import Fraction

import numpy as np
import pytest

from optcomp.numerics.exact_numbers import Exact
from optcomp.numerics.tally import Tally

VALUES, COUNTS = np.array([0.5, 0.1, 1e-9]), np.array([2, 1, 2**52])


def test_both_forms_agree() -> None:
    arrays = Tally.of_arrays(VALUES, COUNTS)
    pairs = Tally([(0.5, 2), (0.1, 1), (1e-9, 2**52)])
    for tally in (arrays, pairs):
        assert tally.pairs == tuple(tally) == ((0.5, 2), (0.1, 1), (1e-9, 2**52))
        assert len(tally) == 3
        assert tally[0] == (0.5, 2)
        assert tally[-1] == (1e-9, 2**52)
        assert tally[1:] == ((0.1, 1), (1e-9, 2**52))
        assert tally.exact
        assert tally.copies == 3 + 2**52
        assert tally.total == 1 + Fraction(0.1) + Fraction(1e-9) * 2**52
        assert [array.tolist() for array in tally.floats] == [[0.5, 0.1, 1e-9], [2.0, 1.0, 2.0**52]]
        assert Tally.of(tally) is tally
    assert all(type(value) is float and type(count) is int for value, count in [*arrays, arrays[0]])


def test_ends_are_known_without_pairs() -> None:
    tally = Tally.of_arrays(np.linspace(1, 0.5, 1000), np.ones(1000, dtype=np.int64))
    assert (tally[0], tally[-1], len(tally), bool(tally)) == ((1.0, 1), (0.5, 1), 1000, True)
    assert tally.total is not None
    assert "pairs" not in tally.__dict__


def test_empty() -> None:
    for tally in (Tally(()), Tally.of_arrays(np.empty(0), np.empty(0, dtype=np.int64))):
        assert (len(tally), tally.pairs, tally.copies, tally.total, tally.exact) == (0, (), 0, Fraction(0), True)
        assert not tally


@pytest.mark.parametrize(
    ("value", "count", "exact"),
    [
        (Fraction(1, 2), 1, True),
        (Fraction(7), 2**53, True),
        (Fraction(1, 3), 1, False),
        (0.1, 2**53 + 1, False),
        (Fraction(10**400), 1, False),
        (Fraction(1, 10**400), 1, False),
        (1e308, 5, True),
    ],
)
def test_exactness(value: Exact, count: int, exact: bool) -> None:
    tally = Tally([(value, count)])
    assert tally.exact is exact
    assert tally.total == Fraction(value) * count


def test_floats_cannot_be_changed() -> None:
    for tally in (Tally([(0.5, 2)]), Tally.of_arrays(VALUES.copy(), COUNTS)):
        with pytest.raises(ValueError, match="read-only"):
            tally.floats[0][0] = 1.0
