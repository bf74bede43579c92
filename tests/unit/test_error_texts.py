"""Errors show the value they are about, also one that Python itself will not write."""

from __future__ import annotations

from dataclasses import dataclass
from fractions import Fraction
from typing import Any

import pytest

import optcomp as oc
from optcomp.errors import InvalidInput, shown

TINY, NEAR = Fraction(1, 10**200_000), Fraction(10**5000 + 1, 10**5000)


@dataclass
class Pair:
    one: object
    two: object


@pytest.mark.parametrize("value", [0.1, "x", [1, "2"], Fraction(1, 3), {"a": (1,)}, None, Pair(1, 2)])
def test_ordinary_values_are_shown_as_they_are(value: object) -> None:
    assert shown(value) == repr(value)


@pytest.mark.parametrize(
    ("value", "text"),
    [
        (TINY, "Fraction of about 1.00e-200000"),
        (-7 * 10**5000, "int of about -7.00e5000"),
        (NEAR, "Fraction of about 1.00e0"),
        ((TINY, "x"), "[Fraction of about 1.00e-200000, 'x']"),
        ({"eps": TINY}, "{'eps': Fraction of about 1.00e-200000}"),
        (Pair(TINY, 2), "Pair(one=Fraction of about 1.00e-200000, two=2)"),
        ({TINY}, "a set"),
    ],
    ids=range(7),
)
def test_numbers_of_thousands_of_digits_are_told_by_their_size(value: object, text: str) -> None:
    with pytest.raises(ValueError, match="digits"):
        repr(value)
    assert shown(value) == text
    error = InvalidInput("argument", value, "is wrong")
    assert str(error) == f"argument: is wrong, got {text}"
    assert error.problem == "is wrong"


@pytest.mark.parametrize(
    "call",
    [
        lambda: oc.PureDP(TINY),
        lambda: oc.ApproxDP(1, 1 + TINY),
        lambda: oc.ZCDP(TINY),
        lambda: oc.Gaussian(TINY),
        lambda: oc.compose([TINY], delta=0),
        lambda: oc.compose([(1, NEAR)], delta=0),
        lambda: oc.compose({NEAR: -1}, delta=0),
        lambda: oc.compose([1.0], delta=NEAR),
    ],
)
def test_long_numbers_are_refused_in_words(call: Any) -> None:
    with pytest.raises(InvalidInput, match="of about"):
        call()


def test_a_long_number_may_be_counted() -> None:
    assert oc.compose({NEAR: 2}, delta=0).upper == pytest.approx(2)
