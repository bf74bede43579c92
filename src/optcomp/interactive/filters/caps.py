"""How filters read their caps: rounded down when the filter is made, compared exactly from then on."""

from __future__ import annotations

from fractions import Fraction
from math import isqrt

from optcomp.errors import InvalidInput
from optcomp.guarantees import checked_delta, mechanism_epsilon
from optcomp.interactive.filters.admission import unaccountable
from optcomp.interactive.filters.cost import kept
from optcomp.interactive.filters.requests import Request, concentrated
from optcomp.numerics import Number


def split_delta(epsilon: Number, delta: Number, delta_parts: Number) -> tuple[Fraction, Fraction, Fraction]:
    """ε, δ' and δ'': both ε and δ' must be positive."""
    eps, whole = kept(mechanism_epsilon(epsilon), "epsilon"), kept(checked_delta(delta), "delta")
    parts = kept(checked_delta(delta_parts, "delta_parts"), "delta_parts")
    if not eps:
        raise InvalidInput("epsilon", epsilon, "must be positive")
    if not parts < whole:
        wrong, value = ("delta_parts", delta_parts) if whole else ("delta", delta)
        raise InvalidInput(wrong, value, "must be less than delta" if whole else "must be positive")
    return eps, whole - parts, parts


def priced_in_rho(theorem: str, request: Request) -> tuple[Fraction, Fraction]:
    """ρ and δ of a request; refuses one that has none."""
    known = concentrated(request)
    if known is None:
        advice = "use a RenyiFilter at an order for which it is promised"
        raise unaccountable(theorem, request, "ρ of zero-concentrated privacy", advice)
    return known


def root_down(value: Fraction) -> Fraction:
    """At most the square root, to some 30 digits."""
    bits = 200 + max(0, value.denominator.bit_length() - value.numerator.bit_length())
    return Fraction(isqrt((value.numerator << 2 * bits) // value.denominator), 1 << bits)
