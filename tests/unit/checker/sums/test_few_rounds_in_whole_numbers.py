"""Every sum of losses of few rounds: between two numbers that hold the truth, and narrow."""

from __future__ import annotations

from fractions import Fraction
from typing import Any

import pytest
from flint import arb

from optcomp.checker.balls import working
from optcomp.checker.laws import DiscreteGaussian, Laplace, ReplacedWhole, SampledWhole, Spotted, response
from optcomp.checker.sums import every_sum
from optcomp.checker.sums.every_sum import EverySum, Outcome, suits
from optcomp.checker.sums.total import Total
from tests.oracles.losses import response_atoms
from tests.oracles.sampled_whole import Pair, Side, pair, whole_rounds
from tests.oracles.truth import real

RATE = Fraction(1, 5)
LAWS: dict[Side, Any] = {
    "towards": SampledWhole(1.0, 1, RATE, "removed"),
    "away": SampledWhole(1.0, 1, RATE, "added"),
    "replaced": ReplacedWhole(1.0, 1, RATE),
}


def truth(side: Side, rounds: int, y: Fraction, others: list[Pair] | None = None) -> tuple[arb, arb]:
    return whole_rounds([pair(1, 1, RATE, side, 11)] * rounds + (others or []), y)


@pytest.mark.parametrize("y", [Fraction(1, 100), Fraction(1, 2), Fraction(3, 2)])
@pytest.mark.parametrize("rounds", [1, 2, 3])
@pytest.mark.parametrize("side", LAWS)
def test_between_two_numbers(side: Side, rounds: int, y: Fraction) -> None:
    total = Total(((LAWS[side], rounds),))
    found = every_sum.every_sum(total, [y], 1e-28)[y]
    with working(300):
        low, high = truth(side, rounds, y)
        assert not found.low > high
        assert not found.high < low
        assert found.high - found.low < 1e-22


def test_beside_other_atoms() -> None:
    y = Fraction(2, 5)
    total = Total(((LAWS["towards"], 2), (response(Fraction(1, 2), 3), 2)))
    found = every_sum.every_sum(total, [y], 1e-28)[y]
    with working(300):
        answers = [(p, p * (-real(a)).exp()) for a, p in response_atoms(Fraction(1, 2), 3)]
        low, high = truth("towards", 2, y, [answers] * 2)
        assert not found.low > high
        assert not found.high < low
        assert found.high - found.low < 1e-22


@pytest.mark.parametrize("side", [1, 2])
def test_what_is_missing_is_counted(side: int, monkeypatch: pytest.MonkeyPatch) -> None:
    """Masses under P or Q that are rounded down by much: both sides hold, and without that term one would be false."""
    kept = every_sum._outcomes

    def coarse(law: Spotted, faint: float) -> list[Outcome]:
        cut = every_sum._DIGITS - 20
        return [
            (loss, p >> cut << cut, q) if side == 1 else (loss, p, q >> cut << cut) for loss, p, q in kept(law, faint)
        ]

    monkeypatch.setattr(every_sum, "_outcomes", coarse)
    y = Fraction(1, 2)
    with working(2 * every_sum._DIGITS):
        low, high = truth("replaced", 3, y)
        rough = EverySum(Total(((LAWS["replaced"], 3),)), 1e-20)
        found = rough.excess(y)
        assert not found.low > high
        assert not found.high < low
        assert found.high - found.low > 1e-7
        rough._missing = (0, rough._missing[1]) if side == 1 else (rough._missing[0], 0)
        told = rough.excess(y)
        assert told.high < low if side == 1 else told.low > high


def test_a_loss_at_the_place_itself() -> None:
    """Rounding may put an outcome on either side of y; the excess hardly changes, and both sides hold."""
    y = Fraction(1, 2)
    coin = Total(((response(y, 2), 1), (response(Fraction(1, 4), 2), 2)))
    found = every_sum.every_sum(coin, [y, Fraction(0)], 1e-30)
    with working(300):
        half, quarter = arb(1) / 2, arb(1) / 4
        top = half.exp() / (1 + half.exp()) * (quarter.exp() / (1 + quarter.exp())) ** 2
        assert not abs(found[y].low - top * (1 - (-half).exp())) > 1e-30
        assert found[y].high - found[y].low < 1e-30


def test_which_lists_are_tried() -> None:
    assert suits(Total(((LAWS["towards"], 5), (DiscreteGaussian(2.0, 1), 3))))
    assert not suits(Total(((LAWS["towards"], 50),)))
    assert not suits(Total(((LAWS["towards"], 5), (Laplace(1.0), 1))))
    assert not suits(Total(((LAWS["towards"], 5),), ((0.5, 1),)))
