"""What is proved of all that was recorded, where the budget it came from is gone or was exceeded.

Whoever plans a release after reading another one chooses its parameters adaptively, so only the totals of a filter or
of an odometer hold.  Both are read off sums: Σε_i, Σρ_i and Σδ_i.
"""

from __future__ import annotations

from dataclasses import dataclass
from fractions import Fraction

from optcomp.errors import Written
from optcomp.guarantees import checked_delta
from optcomp.interactive.filters import Cost, Request
from optcomp.interactive.filters.cost import kept, short_up
from optcomp.interactive.filters.requests import concentrated, pair
from optcomp.interactive.odometers import Odometer
from optcomp.numerics import Number, float_above


@dataclass(frozen=True, repr=False)
class RecordedTotal(Written):
    """An (ε, δ) that is proved of everything recorded so far."""

    epsilon: float
    """Rounded up."""
    delta: Fraction
    theorem: str
    words: str
    """What is promised."""
    exactly: Fraction
    """ε itself: the sum, or the bound that was computed."""


def recorded_cost(request: Request) -> Cost:
    """What is summed of a request: its ε and its ρ, as far as they are proved of it, and its δ."""
    known, about = pair(request), concentrated(request)
    slips = [slip for _, slip in filter(None, (known, about))]
    return Cost(
        epsilon=None if known is None else known[0],
        rho=None if about is None else about[0],
        delta=max(slips, default=Fraction(0)),
    )


def recorded_total(
    spent: Cost, delta: Number | None = None, *, tight_at: Number = 1, delta_parts: Number | None = None
) -> tuple[RecordedTotal, ...]:
    """What is proved of requests with these sums, the least ε first; empty if nothing is.

    The plain sums, where every request had an ε (RRUV16); and with a δ, where every request had a ρ, the odometer of
    WRRW23.  For that one δ, `tight_at` and `delta_parts` (half of δ, if not given) must be fixed before the first
    request, and not be chosen by what was spent.
    """
    found = [*_sums(spent), *([] if delta is None else _odometer(spent, delta, tight_at, delta_parts))]
    return tuple(sorted(found, key=lambda total: (total.epsilon, total.delta)))


def _sums(spent: Cost) -> list[RecordedTotal]:
    if spent.epsilon is None or spent.delta >= 1:
        return []
    words = (
        f"ε = {short_up(spent.epsilon)} and δ = {short_up(spent.delta)} are the sums of all requests: who stops while "
        "they are within an (ε, δ) that was fixed in advance has (ε, δ)-DP"
    )
    return [RecordedTotal(float_above(spent.epsilon), spent.delta, "RRUV16", words, spent.epsilon)]


def _odometer(spent: Cost, delta: Number, tight_at: Number, delta_parts: Number | None) -> list[RecordedTotal]:
    whole = kept(checked_delta(delta), "delta")
    odometer = Odometer(whole, tight_at, whole / 2 if delta_parts is None else delta_parts)
    if spent.rho is None or spent.delta > odometer.delta_parts:
        return []
    alone = odometer.having(Cost(epsilon=None, rho=spent.rho, delta=spent.delta), 0)  # its own bound, without the sum
    eps = Fraction(alone.epsilon)
    words = (
        f"except with probability {short_up(odometer.delta)} the privacy loss is at most {short_up(eps)} now, and was "
        "never more than this bound at any moment before"
    )
    return [RecordedTotal(alone.epsilon, odometer.delta, odometer.theorem, words, eps)]
