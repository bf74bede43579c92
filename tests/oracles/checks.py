"""The one question the whole suite asks: does the truth lie between the two ends?"""

from __future__ import annotations

import math
from fractions import Fraction

from optcomp import Bound
from tests.oracles.truth import Truth


def encloses(truth: Truth, bound: Bound) -> bool:
    """Whether lower <= truth <= upper for a bound in either direction, its rational ends included."""
    ends: list[tuple[Fraction | float, Fraction | float]] = [(bound.lower, bound.upper)]
    if bound.enclosure is not None:
        ends.append(bound.enclosure)
    return all(above(truth, bound, lower) and below(truth, bound, upper) for lower, upper in ends)


def above(truth: Truth, bound: Bound, lower: Fraction | float) -> bool:
    """Whether the truth is at least this."""
    if bound.quantity == "delta":
        return truth.sign(bound.given, Fraction(lower)) >= 0
    return not truth.feasible(bound.given) if math.isinf(lower) else truth.at_least(lower, bound.given)


def below(truth: Truth, bound: Bound, upper: Fraction | float) -> bool:
    """Whether the truth is at most this."""
    if bound.quantity == "delta":
        return truth.sign(bound.given, Fraction(upper)) <= 0
    return math.isinf(upper) or truth.at_most(upper, bound.given)


def upper_holds(truth: Truth, bound: Bound) -> bool:
    """Whether the upper side alone is sound."""
    return below(truth, bound, bound.upper)
