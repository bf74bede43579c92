"""What the tests of the closed forms share: parameter sets, and the demand that a formula is rounded up and no more."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable
from fractions import Fraction

from flint import arb

from tests.oracles.equal import Equal
from tests.oracles.sums import Lattice, Subsets
from tests.oracles.truth import Mechanism, Truth, real, working

BITS = 2600

EQUAL: dict[str, list[Mechanism]] = {
    "ten": [(0.1, 0.0, 10)],
    "one": [(5.0, 1e-9, 1)],
    "a billion": [(1e-4, 1e-16, 10**9)],
    "thousands in total": [(1.0, 0.0, 3000)],
    "tiny": [(1e-12, 0.0, 1000)],
    "tiny δ": [(0.01, 1e-305, 200)],
}
DIFFERENT: dict[str, list[Mechanism]] = {
    "two types": [(Fraction(1, 10), 0.0, 50), (Fraction(2, 10), 1e-9, 50)],
    "huge and tiny": [(50.0, 0.0, 1), (1e-6, 1e-12, 10)],
    "tiny and large": [(1e-12, 0.0, 3), (3.0, 0.0, 2)],
    "with a pure leak": [(0.5, 0.0, 6), (0.0, 1e-8, 3)],
}
ALL = EQUAL | DIFFERENT
DELTAS = (1e-300, 1e-6, 0.5)


def parts_of(groups: Iterable[Mechanism]) -> dict[tuple[Fraction | float, Fraction | float], int]:
    """What `compose` takes."""
    return {(eps, delta): count for eps, delta, count in groups}


def truth_of(groups: list[Mechanism]) -> Truth:
    """The oracle that can afford these mechanisms."""
    if len(groups) == 1:
        eps, delta, count = groups[0]
        return Equal(count, eps, delta)
    return Lattice(groups) if all(isinstance(eps, Fraction) for eps, _, _ in groups) else Subsets(groups)


def epsilons_of(groups: list[Mechanism]) -> list[float]:
    """Totals to ask about: zero, inside, at and beyond the sum."""
    total = float(sum(Fraction(eps) * count for eps, _, count in groups))
    return [0.0, total * 0.3, total * 0.97, math.nextafter(total, 0.0), total * 1.001]


def rounded_up(upper: float, formula: Callable[[], arb], ulps: int = 1) -> bool:
    """Whether upper is at least the formula's value, as a float and as a decimal, and less than that many floats above.

    One more float is allowed if the decimal of the one before is too small.
    """
    with working(BITS):
        value = formula()
        if math.isinf(upper):
            return bool(value > real(Fraction(2) ** 1023))
        below = math.nextafter(upper, -math.inf)
        if not value <= real(Fraction(repr(below))):
            below = math.nextafter(below, -math.inf)
        for _ in range(ulps - 1):
            below = math.nextafter(below, -math.inf)
        decimal = real(Fraction(repr(upper))) + real(Fraction(5, 10**324))
        told = value <= real(upper) and (value <= decimal or value >= real(upper))  # an exact float is its own name
        return bool(told and value >= real(below))


def spread(groups: Iterable[Mechanism]) -> arb:
    """Σε_i²."""
    return sum((real(Fraction(eps) ** 2 * count) for eps, _, count in groups), arb(0))


def drift(groups: Iterable[Mechanism]) -> arb:
    """Σε_i (e^{ε_i} - 1)/(e^{ε_i} + 1)."""
    terms = ((real(eps), real(eps).exp(), count) for eps, _, count in groups)
    return sum((eps * (odds - 1) / (odds + 1) * count for eps, odds, count in terms), arb(0))


def leaks(groups: Iterable[Mechanism]) -> Fraction:
    """Σδ_i."""
    return sum((Fraction(delta) * count for _, delta, count in groups), Fraction(0))


def slip(groups: Iterable[Mechanism], delta: Fraction | float) -> arb:
    """δ̃ with δ = 1 - (1 - δ̃)∏(1 - δ_i)."""
    kept = arb(1)
    for _, part, count in groups:
        kept *= real(1 - Fraction(part)) ** count
    return 1 - real(1 - Fraction(delta)) / kept
