"""What every oracle offers: δ(ε) of a composition as a ball as narrow as wanted, and decisions made with it.

The optimal ε at δ is never computed.  An answer [lower, upper] is checked by its two inequalities,
δ(upper) <= δ and δ(lower) >= δ, each decided by raising the precision until the ball is on one side.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager
from fractions import Fraction

from flint import arb, ctx, fmpq

Rational = Fraction | float | int
Mechanism = tuple[Rational, Rational, int]
"""ε, δ and how many copies."""

LEVELS = (192, 512, 1024, 2048, 4096, 8192)
EQUAL = arb(2) ** -6000
"""No float lies so close to a number that it is compared with, unless it is the number."""
_EXACT_BITS = 40_000


@contextmanager
def working(bits: int) -> Iterator[None]:
    """Ball arithmetic with this many bits."""
    before = ctx.prec
    ctx.prec = bits
    try:
        yield
    finally:
        ctx.prec = before


def real(value: Rational) -> arb:
    """A ball around an exact number."""
    exact = value if type(value) is Fraction else Fraction(value)  # copying one takes as long as all the rest
    return arb(fmpq(exact.numerator, exact.denominator))


def rational_ends(ball: arb) -> tuple[Fraction, Fraction]:
    """The two ends of a finite ball, exactly."""
    (low, low_power), (high, high_power) = ball.lower().man_exp(), ball.upper().man_exp()
    two = Fraction(2)
    return int(low) * two ** int(low_power), int(high) * two ** int(high_power)


def decided(difference: Callable[[int], arb]) -> int:
    """The sign of a number, from balls of growing precision; zero if a ball says just that, or is as small as `EQUAL`.

    A float may be the truth itself, such as 1/2, where balls come ever closer to zero and never say so.
    """
    for bits in LEVELS:
        with working(bits):
            ball = difference(bits)
        if ball > 0:
            return 1
        if ball < 0:
            return -1
        if ball.is_zero():
            return 0
    if abs(ball) < EQUAL:
        return 0
    raise AssertionError(f"undecided at {LEVELS[-1]} bits: {ball}")


class Truth(ABC):
    """The optimal composition of mechanisms, as a decision procedure."""

    def __init__(self, mechanisms: Iterable[Mechanism]) -> None:
        self.mechanisms = [(Fraction(eps), Fraction(delta), count) for eps, delta, count in mechanisms if count]
        self.total = sum((eps * count for eps, _, count in self.mechanisms), Fraction(0))
        """Σε_i."""

    @abstractmethod
    def excess(self, y: Fraction, bits: int) -> arb:
        """E(1 - e^{y-L})_+ of the pure parts for y below Σε_i, at the precision already set."""

    def kept_exactly(self) -> Fraction | None:
        """The probability that nothing leaks, where that fraction is not absurdly long."""
        leaks = [(delta, count) for _, delta, count in self.mechanisms if delta]
        if sum(delta.denominator.bit_length() * count for delta, count in leaks) > _EXACT_BITS:
            return None
        kept = Fraction(1)
        for delta, count in leaks:
            kept *= (1 - delta) ** count
        return kept

    def kept(self) -> arb:
        """The probability that nothing leaks, at the precision already set."""
        kept = arb(1)
        for _, delta, count in self.mechanisms:
            if delta:
                kept *= real(1 - delta) ** count
        return kept

    def delta(self, y: Fraction, bits: int) -> arb:
        """The optimal δ at ε = y."""
        with working(bits):
            kept = self.kept()
            return (1 - kept) + kept * (self.excess(y, bits) if y < self.total else arb(0))

    def sign(self, y: Rational, delta: Rational) -> int:
        """The sign of δ(y) - delta."""
        place, goal = Fraction(y), Fraction(delta)
        if goal >= 1:
            return -1  # something stays hidden as long as every ε_i is finite and every δ_i below 1
        kept = self.kept_exactly() if place >= self.total else None
        if kept is not None:
            leak = 1 - kept
            return (leak > goal) - (leak < goal)
        return decided(lambda bits: self.delta(place, bits) - real(goal))

    def feasible(self, delta: Rational) -> bool:
        """Whether any ε works at this δ."""
        return self.sign(self.total, delta) <= 0

    def at_least(self, lower: Rational, delta: Rational) -> bool:
        """Whether the optimal ε at δ is at least `lower`."""
        if lower <= 0 or not self.feasible(delta):
            return True
        return lower <= self.total and self.sign(lower, delta) >= 0

    def at_most(self, upper: Rational, delta: Rational) -> bool:
        """Whether the optimal ε at δ is at most `upper`."""
        return upper >= 0 and self.sign(upper, delta) <= 0
