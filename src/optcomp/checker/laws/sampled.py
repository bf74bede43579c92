r"""Poisson subsampling: with P and Q the laws of a mechanism, a person removed or added, and rate q < 1.

Removing a person compares (1-q)Q + qP with Q, adding one compares Q with (1-q)Q + qP.  With A = 1 - q + q e^l, l the
loss log P/Q of the mechanism itself at the same output, the loss is L = log A and L = -log A, and

    removed:  M(s) = E_Q A^{s+1},        added:  M(s) = E_Q A^{-s}.

Both are I(z) = E_Q A^z, at z = γ + iθ with γ = c + 1, or z = γ - iθ with γ = -c: up to conjugation one integral.
With h the excess of the mechanism itself, which is the same in both directions here,

    removed:  F(y) = q h(v),   e^v = (e^y - 1 + q)/q,          and 1 - e^y where e^y <= 1 - q;
    added:    F(y) = w h(u),   w = 1 - (1-q)e^y, e^u = qe^y/w,  and 0 where w <= 0;

because (1-q)Q + qP - e^y Q = q(P - e^v Q), and Q - e^y((1-q)Q + qP) = w(Q - e^u P).

Batches of a fixed size, of which one record is replaced, have the first curve for y >= 0 and the second for y <= 0.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from fractions import Fraction
from typing import Literal

from flint import arb

from optcomp.checker.balls import LEAST_BITS, Exact, ball, enclosing, working

Way = Literal["removed", "added"]
"""Which of two neighbouring data sets the outputs are drawn from: the one with the person, or the one without."""


def largest(way: Way, rate: Exact) -> tuple[Exact, Exact]:
    """The largest loss, between two numbers: -log(1-q) where a person is added, none where one is removed."""
    if way == "removed":
        return math.inf, math.inf
    with working(LEAST_BITS):
        return enclosing(-ball(1 - Fraction(rate)).log())


def power(way: Way, c: arb) -> arb:
    """γ of the line through c."""
    return c + 1 if way == "removed" else -c


def sampled_excess(way: Way, rate: arb, y: arb, inner: Callable[[arb], arb]) -> arb:
    """F(y) from the excess of the mechanism itself; where a ball leaves open which case it is, anything from 0 to 1."""
    if way == "removed":
        over = y.expm1() + rate
        if over > 0:
            return rate * inner((over / rate).log())
        return -y.expm1() if over <= 0 else arb(0).union(arb(1))
    share = rate - (1 - rate) * y.expm1()
    if share > 0:
        return share * inner((rate / share).log() + y)
    return arb(0) if share <= 0 else arb(0).union(arb(1))


def batch_excess(rate: arb, y: Fraction, inner: Callable[[arb], arb]) -> arb:
    """F(y) of a batch of a fixed size."""
    return sampled_excess("removed" if y >= 0 else "added", rate, ball(y), inner)
