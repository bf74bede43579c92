"""A part of a statistic: a vector of integers, counted in a unit, to which one kind of noise is added."""

from __future__ import annotations

from dataclasses import dataclass
from fractions import Fraction
from typing import Any

from optcomp.errors import Written

IntegerVector = tuple[int, ...]
"""The exact integers of one part."""


@dataclass(frozen=True, repr=False)
class Part(Written):
    """Integers that get noise of one scale."""

    cells: tuple[Any, ...]
    """What each integer is about."""
    l1: int
    """The most that one person can change them, summed up."""
    l2_squared: int
    """The same for the sum of squares."""
    unit: Fraction = Fraction(1)
    """What an integer counts in."""
    share: Fraction = Fraction(1)
    """The part of the statistic's budget that goes here."""
    leak: Fraction = Fraction(0)
    """The δ by which it may tell of one person something that no noise is on."""


def scalar(name: str, change: int, unit: Fraction = Fraction(1), share: Fraction = Fraction(1)) -> Part:
    """A part of one integer."""
    return Part((name,), change, change * change, unit, share)
