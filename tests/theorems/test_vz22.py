"""VZ22: concurrent composition holds for whole trade-off curves, so for every ε at once."""

from __future__ import annotations

from fractions import Fraction
from random import Random

import pytest

from optcomp.proofs import leaky_response_pair, random_pair, worst_delta
from optcomp.proofs.systems import random_system


@pytest.mark.parametrize("seed", range(8))
def test_the_whole_curve_is_below_that_of_the_dominating_pairs(seed: int) -> None:
    """For a dozen ε the worst δ over interleavings is at most that of the leaky responses which dominate the two."""
    rng = Random(seed)
    odds, delta = Fraction(5, 2), Fraction(1, 20)
    pairs = [random_pair(rng, odds, delta, random_system) for _ in range(2)]
    dominating = [leaky_response_pair(odds, delta) for _ in range(2)]
    for step in range(12):
        place = 1 + Fraction(step, 2)
        assert worst_delta(pairs, place).value <= worst_delta(dominating, place).value


def test_attained() -> None:
    pair = leaky_response_pair(Fraction(2), Fraction(1, 8))
    alone = worst_delta([pair], Fraction(2)).value
    assert alone == Fraction(1, 8)
    assert worst_delta([pair, pair], Fraction(1)).value > alone
