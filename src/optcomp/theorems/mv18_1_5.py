r"""MV18-1.5, optimal composition: the exact answer, wherever it can be afforded.

    least ε >= 0 with  E(1 - e^{ε-L})_+ <= t = 1 - (1 - δ)/\prod(1 - δ_i),   L a sum of independent ±ε_i

Cheapest first: nothing to add up; the answer in the top cell or at zero (closed form, any number of mechanisms);
all ε_i equal (binomial tails); few distinct values (subsets, multiplicities); meeting in the middle.
"""

from __future__ import annotations

import math
from fractions import Fraction
from typing import Literal, NamedTuple

import numpy as np
from flint import arb

from optcomp.errors import NotAffordable
from optcomp.instances import Parts, delta_sum, epsilon_sum, slack, total_epsilon, with_leaks, within
from optcomp.numerics import (
    QUICK_BITS,
    BallHalves,
    Enclosure,
    Exact,
    FloatHalves,
    OutOfRange,
    ball,
    ball_sum,
    enumerated_excess,
    enumerated_root,
    equal_excess,
    equal_root,
    excess_root_guess,
    log_atoms,
    log_excess_guess,
    log_odds_sum,
    pairs_cost,
    precision,
    root_above_floor,
)
from optcomp.theorems.bound import Bound
from optcomp.theorems.target import Target

ID, ID_EQUAL = "MV18-1.5", "KOV15-3.3"
BALL_ATOMS = 3_000
"""Up to this many atoms, ball arithmetic is fast enough for everyday use, and the tightest."""
FLOAT_ATOMS = 9_000_000
"""The most atoms listed in floats: 44 different ε, about 0.4 GB and three seconds."""
PATIENT_ATOMS = 1_100_000
"""The most atoms listed in ball arithmetic when bits are asked for: 38 different ε, about 0.7 GB and ten seconds."""
_SUBSETS = 256
"""So few atoms are one list and not two halves."""
_SPARE = 16
"""Bits of the exact ends beyond those asked for."""

LEAK = "δ is below the probability that some mechanism leaks everything"
UNDECIDED = "it is not decided whether δ is above or below the probability that some mechanism leaks everything"


class _Effort(NamedTuple):
    """How much to compute: bits, whether to stay in ball arithmetic, how many atoms to list at most."""

    bits: int
    patient: bool
    most_atoms: int


class Optimum(NamedTuple):
    """A ball around the exact answer (possibly infinite) and how it was found."""

    value: arb
    method: str


def epsilon_at(parts: Parts, delta: Exact, most_atoms: int = FLOAT_ATOMS) -> Bound:
    """OptComp between floats; refuses to list more than `most_atoms` atoms."""
    return _answer(parts, Target("epsilon", delta), most_atoms)


def delta_at(parts: Parts, epsilon: Exact, most_atoms: int = FLOAT_ATOMS) -> Bound:
    """The optimal δ between floats; refuses to list more than `most_atoms` atoms."""
    return _answer(parts, Target("delta", epsilon), most_atoms)


def _answer(parts: Parts, target: Target, most_atoms: int) -> Bound:
    found = at_once(parts, target) or listed(parts, target, most_atoms)
    if found is None:
        raise _refusal(parts, target, _Effort(QUICK_BITS, False, most_atoms))
    return found


def at_once(parts: Parts, target: Target) -> Bound | None:
    """By a closed form, at any number of mechanisms; None where atoms must be listed, or where it is not decided
    whether any ε works.
    """
    found = _at_once(parts, target, QUICK_BITS)
    return None if found is None else _bound(target, found, parts)


def has_closed_form(parts: Parts, target: Target) -> bool:
    """Whether `at_once` has an answer, without working it out where ε are equal."""
    if parts.kinds > 1:
        return _at_once(parts, target, QUICK_BITS) is not None
    return decided(parts, target)


def listed(parts: Parts, target: Target, most_atoms: int = FLOAT_ATOMS) -> Bound | None:
    """By a list of atoms, if it is short enough, or of few atoms in ball arithmetic."""
    found = _listed(parts, target, _Effort(QUICK_BITS, False, most_atoms))
    return None if found is None else _bound(target, found, parts)


def affordable(parts: Parts, most_atoms: int = FLOAT_ATOMS) -> bool:
    """Whether a list of so many atoms is enough."""
    return _listing(parts, _Effort(QUICK_BITS, False, most_atoms)) is not None


def decided(parts: Parts, target: Target) -> bool:
    """Whether it is known if any ε works: δ may be too close to the probability of a leak to tell."""
    if target.quantity == "delta":
        return True
    t = slack(parts, target.given, QUICK_BITS + 16)
    return bool(t < 0) or bool(t >= 0)


def has_room(parts: Parts, target: Target) -> bool:
    """Whether δ is proved to leave room beside the leaks, so that an ε can be looked for."""
    return target.quantity == "delta" or bool(slack(parts, target.given, QUICK_BITS + 16) > 0)


def to_bits(parts: Parts, target: Target, bits: int) -> Bound:
    """The same between exact rationals at most 2^-bits apart: the paper's own model of computing a real number."""
    working = bits + 32
    while True:
        effort = _Effort(working, True, PATIENT_ATOMS)
        best = _at_once(parts, target, working) or _listed(parts, target, effort)
        if best is None:
            raise _refusal(parts, target, effort)
        if best.method == "leak":
            return _bound(target, best, parts)
        ends = _ends(best.value, bits, working) if best.value.is_finite() else None
        if ends is not None and (ends[1] - ends[0]) * 2**bits <= 1:
            return _bound(target, best, parts, ends)
        working *= 2
        if working > 64 * (bits + 64):
            raise ArithmeticError(f"no convergence at {working} bits: {best.value}")


def _ends(value: arb, bits: int, working: int) -> tuple[Fraction, Fraction]:
    """The ends of a ball around a number known not to be negative, rounded outwards to a grid finer than 2^-bits."""
    grid = 1 << (bits + _SPARE)
    with precision(working + 128):
        lower, upper = ((end * grid).mid() for end in (value.lower(), value.upper()))
        whole = int(lower.floor().unique_fmpz()), int(upper.ceil().unique_fmpz())
    return Fraction(max(whole[0], 0), grid), Fraction(max(whole[1], 0), grid)


def _bound(target: Target, optimum: Optimum, parts: Parts, enclosure: tuple[Fraction, Fraction] | None = None) -> Bound:
    """An exact answer as a Bound, kept between zero and what basic composition proves."""
    lower = upper = math.inf
    if optimum.method != "leak":
        lower, upper = Enclosure.of(optimum.value).clamp(0.0, most(target, parts))
        if target.quantity == "epsilon" and optimum.method == "sum":
            lower = epsilon_sum(parts).lower
        if enclosure is not None:  # both pairs of ends hold
            enclosure = max(enclosure[0], Fraction(lower)), min(enclosure[1], Fraction(upper))
    equal = optimum.method == "binomial" and parts.all_equal
    return Bound(
        quantity=target.quantity,
        lower=lower,
        upper=upper,
        given=target.given,
        theorem=ID_EQUAL if equal else ID,
        method=optimum.method,
        count=parts.count,
        notes=(LEAK,) if optimum.method == "leak" else (),
        enclosure=enclosure,
    )


def most(target: Target, parts: Parts) -> float:
    """What basic composition proves, rounded up; 1 for a δ about which it says nothing."""
    if target.quantity == "epsilon":
        return epsilon_sum(parts).upper
    return delta_sum(parts) if within(parts, target.given) else 1.0


def _at_once(parts: Parts, target: Target, bits: int) -> Optimum | None:
    return target.pick(_epsilon_at_once, _delta_at_once)(parts, target.given, bits)


def _listed(parts: Parts, target: Target, effort: _Effort) -> Optimum | None:
    listing = _listing(parts, effort)
    return None if listing is None else target.pick(_epsilon_listed, _delta_listed)(parts, target.given, effort)


def _epsilon_at_once(parts: Parts, delta: Exact, bits: int) -> Optimum | None:
    """OptComp as a ball, where no atoms need to be listed."""
    t = slack(parts, delta, bits + 16)
    if t < 0:
        return Optimum(arb.pos_inf(), "leak")
    if not t >= 0:
        return None
    with precision(bits + 64):
        total = total_epsilon(parts)
        if not parts.kinds or t.is_zero():
            return Optimum(total, "sum")
        closed = _closed_form_root(parts, t, total)
        if closed is None and parts.kinds == 1:
            ((eps, count),) = parts.coins
            return Optimum(equal_root(count, eps, t, bits), "binomial")
    return closed


def _closed_form_root(parts: Parts, t: arb, total: arb) -> Optimum | None:
    """The answer when only the largest value of L lies above it, or when it is zero by the triangle inequality."""
    room = -(-2 * ball(parts.smallest)).expm1()
    if not t * _least_log_odds(parts, total).exp() >= room:
        share = t * log_odds_sum(parts.coin_tally).exp()
        if share < room:
            return Optimum((total + (-share).log1p()).max(arb(0)), "top cell")
    if _least_distance(parts, total) > t or not distance(parts) <= t:
        return None
    return Optimum(arb(0), "zero")


def distance(parts: Parts, *, quick: bool = True) -> arb:
    """A bound on the excess at any ε >= 0: the total variation distances tanh(ε_i/2) add up at most."""
    return ball_sum(lambda x: (x / 2).tanh(), parts.coin_tally, lambda x: np.tanh(x / 2), quick=quick)


def _least_log_odds(parts: Parts, total: arb) -> arb:
    r"""At most \sum log(1 + e^{-ε_i}), without a look at every ε_i: convex, so least when all equal their mean."""
    count = parts.coin_tally.copies
    return (-total / count).exp().log1p() * count


def _least_distance(parts: Parts, total: arb) -> arb:
    """At most the `distance`, without a look at every ε_i: tanh(x/2)/x is least at the largest."""
    largest = ball(parts.largest)
    return total * (largest / 2).tanh() / largest


def _epsilon_listed(parts: Parts, delta: Exact, effort: _Effort) -> Optimum | None:
    """OptComp as a ball, from a list of atoms."""
    bits = effort.bits
    t = slack(parts, delta, bits + 16)
    if not t >= 0:
        return None
    with precision(bits + 64):
        total = total_epsilon(parts)
    log_t = float(t.mid().log())
    if _listing(parts, effort) == "balls":
        return Optimum(
            enumerated_root(_balls(parts, bits), t, excess_root_guess(*parts.sizes, log_t), total), _name(parts)
        )
    try:
        value = root_above_floor(lambda floor: _floats(parts, floor, log_t), *parts.sizes, t, total)
    except OutOfRange:
        if not _few_for_balls(parts):
            return None
        value = enumerated_root(_balls(parts, bits), t, excess_root_guess(*parts.sizes, log_t), total)
    return Optimum(value, _name(parts))


def _delta_at_once(parts: Parts, epsilon: Exact, bits: int) -> Optimum | None:
    """The least δ at ε as a ball, where no atoms need to be listed."""
    with precision(bits + 64):
        y, total = ball(epsilon), total_epsilon(parts)
        if within(parts, epsilon):
            return _with_all_leaks(parts, arb(0), "sum")
        if total - 2 * ball(parts.smallest) <= y:
            top = (-log_odds_sum(parts.coin_tally)).exp() * (-(y - total).expm1()).nonnegative_part()
            return _with_all_leaks(parts, top, "top cell")
        if parts.kinds == 1:
            ((eps, count),) = parts.coins
            return _with_all_leaks(parts, equal_excess(count, eps, epsilon, bits), "binomial")
    return None


def _delta_listed(parts: Parts, epsilon: Exact, effort: _Effort) -> Optimum | None:
    """The least δ at ε as a ball, from a list of atoms."""
    with precision(effort.bits + 64):
        y = ball(epsilon)
        if _listing(parts, effort) == "balls":
            return _with_all_leaks(parts, enumerated_excess(_balls(parts, effort.bits), y), _name(parts))
        log_guess = log_excess_guess(*parts.sizes, float(epsilon))
        try:
            excess = enumerated_excess(_floats(parts, float(epsilon) * (1 - 1e-9), log_guess), y)
        except OutOfRange:
            if not _few_for_balls(parts):
                return None
            excess = enumerated_excess(_balls(parts, effort.bits), y)
        return _with_all_leaks(parts, excess, _name(parts))


def _with_all_leaks(parts: Parts, excess: arb, method: str) -> Optimum:
    """The excess, at most the distance, with what leaks."""
    if parts.kinds and not excess <= _least_distance(parts, total_epsilon(parts)):
        excess = excess.min(distance(parts, quick=False))
    return Optimum(with_leaks(parts, excess), method)


def _listing(parts: Parts, effort: _Effort) -> Literal["balls", "floats"] | None:
    """In which arithmetic atoms can be listed, if they can be."""
    if pairs_cost(parts.coin_tally) <= (PATIENT_ATOMS if effort.patient else BALL_ATOMS):
        return "balls"
    if effort.patient or pairs_cost(parts.coin_tally, windowed=True) > effort.most_atoms:
        return None
    return "floats"


def _few_for_balls(parts: Parts) -> bool:
    """Whether ball arithmetic is possible where floats ran out of range."""
    return pairs_cost(parts.coins) <= PATIENT_ATOMS


_ADVICE = "method='auto' or 'certified' gives a proved bracket instead"


def undecided() -> NotAffordable:
    """For callers: δ is too close to the probability of a leak to tell whether any ε works."""
    return NotAffordable("deciding whether any ε works at this δ", math.inf, math.inf, "move δ a little up or down")


def _refusal(parts: Parts, target: Target, effort: _Effort) -> NotAffordable:
    """For callers: why there is no exact answer."""
    if not decided(parts, target):
        return undecided()
    if effort.patient:
        cost = pairs_cost(parts.coin_tally)
        return NotAffordable("exact composition to a given number of bits", cost, PATIENT_ATOMS, "ask for no bits")
    cost = pairs_cost(parts.coin_tally, windowed=True)
    if cost > effort.most_atoms:
        return NotAffordable("exact composition", cost, effort.most_atoms, _ADVICE)
    cost = pairs_cost(parts.coins)
    return NotAffordable("exact composition of such extreme parameters", cost, PATIENT_ATOMS, _ADVICE)


def _balls(parts: Parts, bits: int) -> BallHalves:
    return BallHalves(parts.coins, bits + 64, one_half=log_atoms(parts.coins) <= math.log(_SUBSETS))


def _floats(parts: Parts, floor: float, log_t: float) -> FloatHalves:
    return FloatHalves(parts.coins, floor, 60.0 - log_t + log_atoms(parts.coins, windowed=True))


def _name(parts: Parts) -> str:
    if any(count > 1 for _, count in parts.coins):
        return "multiplicities"
    return "subsets" if log_atoms(parts.coins) <= math.log(_SUBSETS) else "meet-in-the-middle"
