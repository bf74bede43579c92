"""Lyu22-2: Rényi divergences of interleaved interactive mechanisms add up."""

from __future__ import annotations

from fractions import Fraction
from random import Random

import pytest

from optcomp.proofs import random_pair, worst_renyi
from optcomp.proofs.systems import random_system


@pytest.mark.parametrize("seed", range(10))
@pytest.mark.parametrize("alpha", [2, 3])
def test_moments_multiply(seed: int, alpha: int) -> None:
    """The worst E_Q (P/Q)^α over all interleavings is the product of the worst ones: divergences add up."""
    rng = Random(seed)
    pairs = [random_pair(rng, Fraction(3), Fraction(0), random_system) for _ in range(2)]
    alone = [worst_renyi([pair], alpha).value for pair in pairs]
    assert worst_renyi(pairs, alpha).value == alone[0] * alone[1]
