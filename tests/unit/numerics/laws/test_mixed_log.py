"""log A of a mixture against balls of many bits, for rates next to 0 and next to 1."""

from __future__ import annotations

import math
from fractions import Fraction

import numpy as np
import pytest
from flint import acb, arb

from optcomp.numerics import ball, precision
from optcomp.numerics.blocked import U
from optcomp.numerics.laws.mixed_log import (
    left_of,
    log_left,
    log_mixed,
    log_mixed_ball,
    mixed_ball,
    mixed_complex,
    odds_at,
)

RATES = [
    *(Fraction(1, 10**7), Fraction(1, 3), Fraction(1, 2), Fraction(501, 1000), 1 - Fraction(1, 10**8)),
    *(
        1 - Fraction(10**200_000 - 1, 10**200_017),
        1 - Fraction(1, 10**17),
        1 - Fraction(1, 10**40),
        1 - Fraction(1, 10**400),
        0.01,
        math.nextafter(1, 0),
    ),
]
PLACES = np.array([-2000.0, -700.0, -92.5, -40.0, -36.7, -1.5, -1.0, -0.999, -1e-9, 1e-9, 0.5, 30.0, 599.0, 601.0])
BITS = 4000


@pytest.mark.parametrize("rate", RATES, ids=lambda rate: f"{float(rate):.3g}")
def test_logs_are_within_their_errors(rate: Fraction | float) -> None:
    q = float(rate)
    logs, shares, lost = log_mixed(q, log_left(rate), PLACES)
    with precision(BITS):
        assert abs(arb(log_left(rate)) / left_of(rate).log() - 1) < 4 * U
        for up, log, share, off in zip(PLACES.tolist(), logs.tolist(), shares.tolist(), lost.tolist(), strict=True):
            whole = 1 - ball(rate) + ball(rate) * arb(up).exp()
            truth = whole.log()
            assert abs(arb(log) - truth) <= U * (off + 8 * abs(truth) + 2 * abs(up) * share)
            assert abs(arb(share) - ball(rate) * arb(up).exp() / whole) < 1e-13 * (1 + abs(log_left(rate)))


@pytest.mark.parametrize("rate", RATES, ids=lambda rate: f"{float(rate):.3g}")
@pytest.mark.parametrize("up", [-92.5, -36.7, -1.5, -0.5, 0.0, 1e-9, 3.0])
def test_balls_hold_what_they_stand_for(rate: Fraction | float, up: float) -> None:
    with precision(BITS):
        whole = 1 - ball(rate) + ball(rate) * arb(up).exp()
        truth, odds = whole.log(), (whole - 1 + ball(rate)) / ball(rate)
    with precision(96):
        log = log_mixed_ball(rate, arb(up))
        assert log.is_finite()
        assert log.overlaps(truth)
        assert log.rad() <= 1e-25 * (1 + abs(log.mid()))
        assert mixed_ball(rate, arb(up)).overlaps(whole)
        assert mixed_complex(rate, acb(up)).real.overlaps(whole)
        assert odds_at(rate, log).overlaps(odds)
