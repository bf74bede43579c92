"""Intervals of means hold the true mean as often as they say: by exact laws of both noises, for any data."""

from __future__ import annotations

from fractions import Fraction
from itertools import product

import pytest

from optcomp.statistics import Declared, Integers, Mean, Reals
from optcomp.statistics.domains import MOST_UNITS
from optcomp.statistics.joint_noise import Noises, together
from optcomp.statistics.noise import GAUSSIAN, LAPLACE, AddedNoise
from tests.oracles.released import Law

COLUMNS = {"digit": Integers(0, 9), "odd": Integers(-3, 40), "x": Reals(0, 2, "0.25")}
TABLE = Declared(COLUMNS)
CONFIDENCES = (0.5, 0.9, 0.99)


def missed(
    column: str, count: int, total: int, kind: AddedNoise, scales: tuple[float, float], confidence: float
) -> float:
    """How probable it is that the interval does not hold the mean of so many rows with this sum of steps."""
    domain = COLUMNS[column]
    unit, middle = Fraction(domain.unit), Fraction(domain.middle)
    truth = float(middle + total * unit / count)
    first, second = (Law(kind == GAUSSIAN, scale) for scale in scales)
    chance = 0.0
    for place, share in zip(first.places, first.chances, strict=True):
        if share < 1e-9:
            chance += share  # counts as missed
            continue
        for other, part in zip(second.places, second.chances, strict=True):
            if share * part < 1e-10:
                chance += share * part
                continue
            amounts = (Fraction(count + int(place)),), ((total + int(other)) * unit,)
            low, high = Mean(column).interval(TABLE, amounts, Noises(kind, scales, confidence))
            assert low <= Mean(column).value(TABLE, amounts) <= high
            if not low - 1e-9 <= truth <= high + 1e-9:
                chance += share * part
    return float(chance)


SHAPES = [("digit", 4, 18), ("digit", 12, -54), ("odd", 7, 0), ("odd", 9, -190), ("x", 15, 60)]


@pytest.mark.parametrize("kind", [LAPLACE, GAUSSIAN])
@pytest.mark.parametrize(("column", "count", "total"), SHAPES)
def test_the_mean_lies_inside_as_often_as_told(column: str, count: int, total: int, kind: AddedNoise) -> None:
    coarse = COLUMNS[column].around_middle(MOST_UNITS)
    total = max(min(total, coarse.high * count), coarse.low * count)
    for scales, confidence in product([(0.7, 1.5), (2.0, 3.0)], CONFIDENCES):
        assert missed(column, count, total, kind, scales, confidence) <= 1 - confidence + 1e-6


@pytest.mark.parametrize("kind", [LAPLACE, GAUSSIAN])
def test_they_are_no_wider_than_what_was_planned_and_narrow_near_the_middle(kind: AddedNoise) -> None:
    """A reach of both noises with a factor of half the range, over the count; less where the mean is in the middle."""
    scales = (40.0, 300.0)

    def width(total: int) -> float:
        amounts = (Fraction(10_000),), (Fraction(total),)
        ends = Mean("odd").interval(TABLE, amounts, Noises(kind, scales, 0.95))
        return float(ends[1] - ends[0])

    most = 2 * together(kind, scales, (22.0, 1.0), 0.05) / 10_000
    assert width(0) < width(100_000) < width(200_000) < most * (1 + 1e-9)
    assert width(0) == pytest.approx(2 * together(kind, scales, (0.0, 1.0), 0.05) / 10_000, rel=0.05)


def test_without_rows_everything_is_possible() -> None:
    for count in (0, -3):
        amounts = (Fraction(count),), (Fraction(5),)
        assert Mean("digit").interval(TABLE, amounts, Noises(LAPLACE, (1.0, 1.0), 0.95)) == (0.0, 9.0)
