r"""All ε equal: binomial tails, added up term by term.

L = ε(2J - k) with J ~ Bin(k, p), p = e^ε/(1+e^ε).  With j the least J whose loss exceeds y and p_i = P(J = i),

    F(y) = Σ_{i>=j} p_i (1 - e^{y-L_i}),          p_{i+1}/p_i = e^ε (k-i)/(i+1), decreasing in i.

Every term is positive.  Once the ratio r of neighbours is below 1, all later p_i add up to at most p_i r/(1-r).
"""

from __future__ import annotations

import math
from fractions import Fraction

from flint import arb, ctx, fmpz

from optcomp.checker.balls import ball, near, working
from optcomp.checker.effort import look
from optcomp.checker.instance import Coin, Range

MOST_TERMS = 400_000  # a second or two; a Fourier sum is quicker then
_CHECK = 64  # terms between two looks at what is left


def fewest_terms(coin: Coin, y: Fraction) -> float:
    """About how many terms count: from j through the mode, and some standard deviations beyond."""
    rate = 1 / (1 + math.exp(-min(700.0, float(coin.size))))
    start = max(0, _first(coin, y))
    deviation = math.sqrt(coin.copies * rate * (1 - rate)) + 1
    return min(coin.copies - start + 1.0, max(0.0, coin.copies * rate - start) + 12 * deviation)


def equal_sizes(coin: Coin, y: Fraction) -> Range:
    """F(y) of one coin's copies, for y below the sum."""
    k, place = coin.copies, max(0, _first(coin, y))
    odds = ball(coin.size).exp()
    step = (-2 * ball(coin.size)).exp()
    mass = _mass(coin, place)
    damping = ball(y - Fraction(coin.size) * (2 * place - k)).exp()
    total = arb(0)
    for i in range(place, k + 1):
        total += mass * (1 - damping)
        ratio = odds * (k - i) / (i + 1)
        if (i - place) % _CHECK == 0:
            look()
        if (i - place) % _CHECK == 0 and ratio < 1:
            rest = mass * ratio / (1 - ratio)
            if rest < total * arb(2) ** -ctx.prec:
                return Range(total, total + rest)
        mass *= ratio
        damping *= step
    return Range(total, total)


def _first(coin: Coin, y: Fraction) -> int:
    """The least number of high coins for which the loss exceeds y."""
    return math.floor((y / Fraction(coin.size) + coin.copies) / 2) + 1


def _mass(coin: Coin, i: int) -> arb:
    """P(J = i): a binomial coefficient times p^i (1-p)^{k-i}."""
    k, size = coin.copies, ball(coin.size)
    with working(ctx.prec + 2 * k.bit_length() + int(math.log2(1 + abs(near(size * k))))):
        log_ways = (arb(fmpz(k + 1))).lgamma() - arb(fmpz(i + 1)).lgamma() - arb(fmpz(k - i + 1)).lgamma()
        return (log_ways - (k - i) * size - k * (-size).exp().log1p()).exp()
