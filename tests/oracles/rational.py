"""Compositions whose e^{ε_i} are rational: everything, δ included, is an exact fraction.

`exact_delta` multiplies out the two distributions of leaky randomized responses; `worst_event` takes the definition of
differential privacy at its word and tries every event.
"""

from __future__ import annotations

from collections.abc import Sequence
from fractions import Fraction
from itertools import product

from flint import arb, fmpq

from tests.oracles.truth import rational_ends, working

Response = tuple[Fraction, Fraction]
"""e^ε and δ."""
Pair = tuple[Fraction, Fraction]
"""The probabilities of one outcome under the two data sets."""


def leaky_response(odds: Fraction, delta: Fraction) -> list[Pair]:
    """The four outcomes of leaky randomized response."""
    likely, unlikely = (1 - delta) * odds / (1 + odds), (1 - delta) / (1 + odds)
    return [(delta, Fraction(0)), (likely, unlikely), (unlikely, likely), (Fraction(0), delta)]


def outcomes(responses: Sequence[Response]) -> list[Pair]:
    """All outcomes of the responses run side by side."""
    joint: list[Pair] = []
    for choice in product(*(leaky_response(*response) for response in responses)):
        p = q = Fraction(1)
        for under_p, under_q in choice:
            p, q = p * under_p, q * under_q
        joint.append((p, q))
    return joint


def exact_delta(responses: Sequence[Response], odds: Fraction) -> Fraction:
    """The least δ at e^ε = odds: the sum of (P - e^ε Q)_+ over outcomes."""
    return sum((max(p - odds * q, Fraction(0)) for p, q in outcomes(responses)), Fraction(0))


def worst_event(joint: Sequence[Pair], odds: Fraction) -> Fraction:
    """max over all events E of P(E) - e^ε Q(E), one event after another."""
    events = [Fraction(0)]
    for p, q in joint:
        gain = p - odds * q
        events += [event + gain for event in events]
    return max(events)


def log_between(odds: Fraction, bits: int) -> tuple[Fraction, Fraction]:
    """Rationals just below and just above log(odds)."""
    with working(bits):
        return rational_ends(arb(fmpq(odds.numerator, odds.denominator)).log())
