r"""The δ side of optimal composition, without cancellation.

    δ(ε) = 1 - (1 - h(ε)) \prod(1 - δ_i),      h the excess of the pure parts

so ε is possible at δ exactly when h(ε) <= t = 1 - (1 - δ)/\prod(1 - δ_i).  If t < 0, δ is below the probability that
some mechanism leaks everything, and no ε works.
"""

from __future__ import annotations

from fractions import Fraction
from itertools import accumulate

import numpy as np
from flint import arb

from optcomp.instances.parts import Parts
from optcomp.numerics import Exact, ball, ball_sum, in_floats, precision

_EXACT_BITS = 50_000  # denominators up to this size are multiplied out, in a millisecond
_MOST_BITS = 1 << 14  # here doubling ends: what is undecided then is a tie


def log_kept(parts: Parts) -> arb:
    r"""log \prod(1 - δ_i), at most zero."""
    return -ball_sum(lambda d: -(-d).log1p(), parts.leak_tally, lambda d: -np.log1p(-d))


def leak(parts: Parts) -> arb:
    r"""1 - \prod(1 - δ_i): the probability that some mechanism leaks everything."""
    return -(log_kept(parts).expm1())


def with_leaks(parts: Parts, excess: arb) -> arb:
    """δ of the whole composition from the excess of its pure parts."""
    leaked = leak(parts)
    return leaked + (1 - leaked) * excess


def slack(parts: Parts, delta: Exact, bits: int) -> arb:
    """t as a ball of about `bits` bits: negative when δ is infeasible, exactly zero when it is only just feasible.

    A ball that contains zero and is not zero is returned only when no affordable precision decides.
    """
    if not parts.leak_tally:
        with precision(bits + 32):
            return ball(delta)
    if _decidable(parts, delta):
        with precision(bits + 32):
            return ball(1 - (1 - Fraction(delta)) / _kept(parts))
    working = bits
    while True:
        with precision(working + 32):
            t = -((-ball(delta)).log1p() - log_kept(parts)).expm1()
            wanted = min(bits - 8, 30) if in_floats(parts.leak_tally, quick=False) else bits - 8
        if t < 0 or (t > 0 and t.rel_accuracy_bits() >= wanted) or working >= _MOST_BITS:
            return t
        working *= 2


def _decidable(parts: Parts, delta: Exact) -> bool:
    """Whether 1 - δ and the product of the 1 - δ_i are small enough to compare as fractions."""
    room = _EXACT_BITS - Fraction(delta).denominator.bit_length()
    if 2 * parts.leak_tally.copies > room:  # no fraction strictly between 0 and 1 has a denominator of one bit
        return False
    return all(
        size <= room
        for size in accumulate(Fraction(value).denominator.bit_length() * count for value, count in parts.leaks)
    )


def _kept(parts: Parts) -> Fraction:
    kept = Fraction(1)
    for value, count in parts.leaks:
        kept *= (1 - Fraction(value)) ** count
    return kept
