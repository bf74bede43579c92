"""What an account may spend in all: a filter, or ε and δ, for which there is one usual filter."""

from __future__ import annotations

from fractions import Fraction

from optcomp.errors import InvalidInput
from optcomp.guarantees import ApproxDP
from optcomp.interactive import BestFilter, Filter, SumFilter, restore
from optcomp.numerics import Number


def usual_filter(epsilon: Number, delta: Number | None = None) -> Filter:
    """The filter of an account with this ε and δ.

    A `BestFilter` that keeps half of δ for requests with a δ of their own, or a `SumFilter` if there is no δ.
    """
    pair = ApproxDP(epsilon, 0 if delta is None else delta)
    if not pair.delta:
        return SumFilter(pair.epsilon)
    return BestFilter(pair.epsilon, pair.delta, Fraction(pair.delta) / 2)


def cap_of(budget: Filter | None, epsilon: Number | None, delta: Number | None) -> Filter | None:
    """The filter that was given, or that of ε and δ; None if neither was given."""
    if budget is not None:
        if not isinstance(budget, Filter):
            raise InvalidInput("budget", budget, "must be a filter such as BestFilter(3, '1e-6', '5e-7')")
        if epsilon is not None or delta is not None:
            raise InvalidInput("epsilon", epsilon, "must not be given beside a filter")
        return restore(budget.document_text())  # what is written is what counts, whatever a subclass says
    if epsilon is None:
        if delta is not None:
            raise InvalidInput("epsilon", epsilon, "must be given with a delta")
        return None
    return usual_filter(epsilon, delta)
