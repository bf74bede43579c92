r"""MV18-1.5, optimal composition: the exact answer, wherever it can be afforded.

    least ε >= 0 with  E(1 - e^{ε-L})_+ <= t = 1 - (1 - δ)/\prod(1 - δ_i),   L a sum of independent ±ε_i

Cheapest first: nothing to add up; the answer in the top cell or at zero (closed form, any number of mechanisms);
all ε_i equal (binomial tails); few distinct values (subsets, multiplicities); meeting in the middle.
"""

from __future__ import annotations

import math
from fractions import Fraction
from typing import NamedTuple

import numpy as np
from flint import arb

from optcomp.errors import NotAffordable
from optcomp.numerics.ball_halves import BallHalves
from optcomp.numerics.balls import ball, fraction, precision
from optcomp.numerics.binomial import equal_excess, equal_root
from optcomp.numerics.enclosure import Enclosure
from optcomp.numerics.exact import Exact
from optcomp.numerics.float_halves import FloatHalves, OutOfRange
from optcomp.numerics.halves import log_atoms, pairs_cost
from optcomp.numerics.lines import enumerated_excess, enumerated_root, root_above_floor
from optcomp.numerics.saddle import excess_root_guess, log_excess_guess
from optcomp.numerics.sums import ball_sum, log_odds_sum
from optcomp.theorems.bound import Bound, Quantity
from optcomp.theorems.leaks import target, with_leaks
from optcomp.theorems.moments import total_epsilon
from optcomp.theorems.parts import Parts

ID, ID_EQUAL = "MV18-1.5", "KOV15-3.3"
BITS = 80
"""Accuracy of scalar work when the answer is to be a pair of floats."""

BALL_ATOMS = 3_000
"""Up to this many atoms, ball arithmetic is fast enough for everyday use, and the tightest."""
FLOAT_ATOMS = 9_000_000
"""The most atoms listed in floats: 44 different ε."""
PATIENT_ATOMS = 600_000
"""The most atoms listed in ball arithmetic when bits are asked for: 36 different ε."""
_SUBSETS = 256

LEAK = "δ is below the probability that some mechanism leaks everything"


class Optimum(NamedTuple):
    """A ball around the exact answer (possibly infinite) and how it was found."""

    value: arb
    method: str


def epsilon_at(parts: Parts, delta: Exact) -> Bound:
    """OptComp as the tightest pair of floats."""
    return _bound("epsilon", optimal_epsilon(parts, delta, BITS), parts, delta)


def delta_at(parts: Parts, epsilon: Exact) -> Bound:
    """The optimal δ as the tightest pair of floats."""
    return _bound("delta", optimal_delta(parts, epsilon, BITS), parts, epsilon)


def to_bits(quantity: Quantity, parts: Parts, given: Exact, bits: int) -> Bound:
    """The same between exact rationals at most 2^-bits apart: the paper's own model of computing a real number."""
    working = bits + 32
    optimum = optimal_epsilon if quantity == "epsilon" else optimal_delta
    while True:
        best = optimum(parts, given, working, patient=True)
        if not best.value.is_finite():
            return _bound(quantity, best, parts, given)
        with precision(working + 128):
            lower, upper = max(fraction(best.value.lower()), Fraction(0)), fraction(best.value.upper())
        if (upper - lower) * 2**bits <= 1:
            return _bound(quantity, best, parts, given, (lower, upper))
        working *= 2
        if working > 64 * (bits + 64):
            raise ArithmeticError(f"no convergence at {working} bits: {best.value}")


def _bound(
    quantity: Quantity,
    optimum: Optimum,
    parts: Parts,
    given: Exact,
    enclosure: tuple[Fraction, Fraction] | None = None,
) -> Bound:
    """An exact answer as a Bound, kept between zero and what basic composition proves."""
    if optimum.value.is_finite():
        with precision(128):
            most = Enclosure.of(total_epsilon(parts)).upper if quantity == "epsilon" else 1.0
        lower, upper = Enclosure.of(optimum.value).clamp(0.0, most)
    else:
        lower = upper = math.inf
    equal = optimum.method == "binomial" and parts.all_equal
    return Bound(
        quantity=quantity,
        lower=lower,
        upper=upper,
        given=given,
        theorem=ID_EQUAL if equal else ID,
        method=optimum.method,
        count=parts.count,
        notes=(LEAK,) if math.isinf(upper) else (),
        enclosure=enclosure,
    )


def optimal_epsilon(parts: Parts, delta: Exact, bits: int, patient: bool = False) -> Optimum:
    """OptComp as a ball of about `bits` bits; `patient` stays in ball arithmetic however long that takes."""
    t = target(parts, delta, bits + 16)
    if t < 0:
        return Optimum(arb.pos_inf(), "leak")
    with precision(bits + 64):
        total = total_epsilon(parts)
        if not parts.coins or t.is_zero():
            return Optimum(total, "sum")
        if not t > 0:
            raise NotAffordable(
                "deciding whether any ε works at this δ", math.inf, math.inf, "move δ a little up or down"
            )
        closed = _closed_form_root(parts, t, total)
        if closed is not None:
            return closed
        if len(parts.coins) == 1:
            ((eps, count),) = parts.coins
            return Optimum(equal_root(count, eps, t, bits), "binomial")
    return _listed_root(parts, t, total, bits, patient)


def _closed_form_root(parts: Parts, t: arb, total: arb) -> Optimum | None:
    """The answer when only the largest value of L lies above it, or when it is zero by the triangle inequality."""
    share = t * log_odds_sum(parts.coins).exp()
    smallest = ball(parts.coins[-1][0])
    if share < -(-2 * smallest).expm1():
        return Optimum(total + (-share).log1p(), "top cell")
    distance = ball_sum(lambda x: (x / 2).tanh(), parts.coins, lambda x: np.tanh(x / 2))
    return Optimum(arb(0), "zero") if distance <= t else None


def _listed_root(parts: Parts, t: arb, total: arb, bits: int, patient: bool) -> Optimum:
    if _in_balls(parts, patient):
        guess = excess_root_guess(*parts.sizes, float(t.mid().log()))
        return Optimum(enumerated_root(_balls(parts, bits), t, guess, total), _name(parts))
    log_t = float(t.mid().log())
    try:
        value = root_above_floor(lambda floor: _floats(parts, floor, log_t), *parts.sizes, t, total)
    except OutOfRange:
        value = enumerated_root(_balls_instead(parts, bits), t, excess_root_guess(*parts.sizes, log_t), total)
    return Optimum(value, _name(parts))


def optimal_delta(parts: Parts, epsilon: Exact, bits: int, patient: bool = False) -> Optimum:
    """The least δ at ε as a ball of about `bits` bits."""
    with precision(bits + 64):
        excess, method = _excess(parts, epsilon, bits, patient)
        return Optimum(with_leaks(parts, excess), method)


def _excess(parts: Parts, epsilon: Exact, bits: int, patient: bool) -> tuple[arb, str]:
    y, total = ball(epsilon), total_epsilon(parts)
    if not parts.coins or total <= y:
        return arb(0), "sum"
    if total - 2 * ball(parts.coins[-1][0]) <= y:
        return (-log_odds_sum(parts.coins)).exp() * (-(y - total).expm1()).nonnegative_part(), "top cell"
    if len(parts.coins) == 1:
        ((eps, count),) = parts.coins
        return equal_excess(count, eps, epsilon, bits), "binomial"
    if _in_balls(parts, patient):
        return enumerated_excess(_balls(parts, bits), y), _name(parts)
    log_guess = log_excess_guess(*parts.sizes, float(epsilon))
    try:
        return enumerated_excess(_floats(parts, float(epsilon) * (1 - 1e-9), log_guess), y), _name(parts)
    except OutOfRange:
        return enumerated_excess(_balls_instead(parts, bits), y), _name(parts)


def affordable(parts: Parts) -> bool:
    """Whether an exact answer is within reach, unless floats run out of range."""
    return len(parts.coins) <= 1 or pairs_cost(parts.coins, windowed=True) <= FLOAT_ATOMS


def _in_balls(parts: Parts, patient: bool) -> bool:
    """Ball arithmetic or floats; refuses when neither is affordable."""
    cost, limit = pairs_cost(parts.coins), PATIENT_ATOMS if patient else BALL_ATOMS
    if cost <= limit:
        return True
    if patient:
        raise NotAffordable("exact composition to a given number of bits", cost, limit, "leave out bits=")
    cost = pairs_cost(parts.coins, windowed=True)
    if cost > FLOAT_ATOMS:
        raise NotAffordable("exact composition", cost, FLOAT_ATOMS, _ADVICE)
    return False


_ADVICE = "method='auto' or 'murtagh-vadhan' gives a proved bracket instead"


def _balls(parts: Parts, bits: int) -> BallHalves:
    return BallHalves(parts.coins, bits + 64, one_half=log_atoms(parts.coins) <= math.log(_SUBSETS))


def _balls_instead(parts: Parts, bits: int) -> BallHalves:
    """Ball arithmetic where floats ran out of range."""
    cost = pairs_cost(parts.coins)
    if cost > PATIENT_ATOMS:
        raise NotAffordable("exact composition of such extreme parameters", cost, PATIENT_ATOMS, _ADVICE)
    return _balls(parts, bits)


def _floats(parts: Parts, floor: float, log_t: float) -> FloatHalves:
    return FloatHalves(parts.coins, floor, 60.0 - log_t + log_atoms(parts.coins, windowed=True))


def _name(parts: Parts) -> str:
    if any(count > 1 for _, count in parts.coins):
        return "multiplicities"
    return "subsets" if log_atoms(parts.coins) <= math.log(_SUBSETS) else "meet-in-the-middle"
