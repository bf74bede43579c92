"""Balls to floats and back: the direction is exact, also at the ends of the float range."""

from __future__ import annotations

import math
import threading
from fractions import Fraction

import numpy as np
import pytest
from flint import arb, ctx
from hypothesis import given
from hypothesis import strategies as st

from optcomp.numerics.balls import ball, float_down, float_up, fraction, precision
from optcomp.numerics.enclosure import Enclosure

LARGEST = math.nextafter(math.inf, 0)
SMALLEST = 5e-324

rationals = st.builds(
    lambda m, e: Fraction(m) * Fraction(2) ** e, st.integers(-(2**80), 2**80), st.integers(-1200, 1000)
)


@given(rationals)
def test_nearest_float_on_each_side(value: Fraction) -> None:
    with precision(200):
        up, down = float_up(ball(value)), float_down(ball(value))
    assert math.isinf(up) or Fraction(up) >= value
    assert math.isinf(down) or Fraction(down) <= value
    assert up == down or up == math.nextafter(down, math.inf)
    if not math.isinf(up):
        assert Fraction(math.nextafter(up, -math.inf)) < value or math.isinf(math.nextafter(up, -math.inf))


@given(st.floats(allow_nan=False, allow_infinity=False))
def test_floats_are_their_own_bounds(value: float) -> None:
    assert float_up(arb(value)) == float_down(arb(value)) == value
    assert str(float_down(arb(0))) == "0.0"


def test_ends_of_the_range() -> None:
    with precision(128):
        two = arb(2)
        assert (float_down(two**-1080), float_up(two**-1080)) == (0.0, SMALLEST)
        assert (float_down(-(two**-1080)), float_up(-(two**-1080))) == (-SMALLEST, 0.0)
        assert (float_down(3 * two**-1075), float_up(3 * two**-1075)) == (SMALLEST, 2 * SMALLEST)
        assert (float_down(two**1024), float_up(two**1024)) == (LARGEST, math.inf)
        assert (float_down(-(two**1024)), float_up(-(two**1024))) == (-math.inf, -LARGEST)
        assert float_up(arb(LARGEST)) == LARGEST
        assert float_up(two ** (10**20)) == math.inf
        assert float_up(two ** -(10**20)) == SMALLEST
        assert float_up(arb.pos_inf()) == float_up(arb.nan()) == math.inf
        assert float_down(arb.nan()) == -math.inf


@given(rationals, st.integers(0, 60))
def test_whole_ball_is_covered(value: Fraction, size: int) -> None:
    with precision(200):
        wide = ball(value) + arb(0, 1) * arb(2) ** -size
        enclosure = Enclosure.of(wide)
        assert arb(enclosure.lower) <= wide.lower() if math.isfinite(enclosure.lower) else True
        assert arb(enclosure.upper) >= wide.upper() if math.isfinite(enclosure.upper) else True


def test_fraction_is_exact() -> None:
    for value in (Fraction(0), Fraction(3, 8), Fraction(-(2**200) - 1), Fraction(1, 2**300)):
        with precision(400):
            assert fraction(ball(value)) == value


def test_clamp() -> None:
    assert Enclosure(-1.0, 2.0).clamp(0.0, 1.0) == (0.0, 1.0)
    assert Enclosure(0.25, 0.5).clamp(0.0, 1.0) == (0.25, 0.5)
    assert Enclosure(-2.0, -1.0).clamp(0.0, 1.0) == (0.0, -1.0)  # a contradiction is not papered over
    assert Enclosure(2.0, 3.0).clamp(0.0, 1.0) == (2.0, 1.0)


def test_precision_is_restored() -> None:
    before = ctx.prec

    def fail() -> None:
        with precision(before + 77):
            raise RuntimeError(str(ctx.prec))

    with pytest.raises(RuntimeError, match=f"^{before + 77}$"):
        fail()
    assert ctx.prec == before
    with precision(100), precision(50):
        assert ctx.prec == 50
    assert ctx.prec == before


def test_threads_do_not_spoil_each_other() -> None:
    wrong: list[int] = []

    def work(bits: int) -> None:
        for _ in range(200):
            with precision(bits):
                third = arb(1) / 3
                if not (third * 3).contains(1) or third.rel_accuracy_bits() < bits - 4:
                    wrong.append(bits)

    threads = [threading.Thread(target=work, args=(int(bits),)) for bits in np.linspace(60, 900, 6)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert not wrong
