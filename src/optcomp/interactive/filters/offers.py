"""Several proved guarantees of one mechanism: the filter takes the cheapest that it can price.

A mechanism may be known by a pair (ε, δ), by a ρ, by a Rényi curve, or part by part; each of these is true of it, so
any one of them may be charged.  What is cheapest depends on what is spent.

Pricing and charging are two steps.  `price_offers` may run code of the caller, such as a Rényi curve, and depends on
the kind of the filter only; `charge_cheapest` compares numbers, and may run while a lock is held.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from fractions import Fraction
from functools import reduce

from optcomp.errors import HypothesisNotMet, InvalidInput, Written
from optcomp.interactive.filters.admission import Admitted, F, Filter, Refused
from optcomp.interactive.filters.cost import PLACES, Cost
from optcomp.interactive.filters.requests import Request, holds_float, in_words, read_request, runs_of

Offer = tuple[Request, ...]
"""Guarantees that are spent together: one alone for a whole mechanism, or those of its parts."""


@dataclass(frozen=True, repr=False)
class PricedOffer(Written):
    """What an offer costs in a kind of filter, however much is spent there."""

    index: int
    """Its place among the offers."""
    requests: tuple[object, ...]
    cost: Cost
    """Of all its parts together."""
    measure: str
    """That of the filters which ask this price."""
    words: str
    from_float: bool

    @property
    def request(self) -> object:
        """The guarantee, or all of them where there are several."""
        return self.requests[0] if len(self.requests) == 1 else self.requests


@dataclass(frozen=True, repr=False)
class Taken(Admitted[F]):
    """Yes, by this one of the offers."""

    index: int


def price_offers(state: Filter, offers: Sequence[Offer], *, places: int | None = PLACES) -> tuple[PricedOffer, ...]:
    """The offers that have a price here, each rounded up to 10^-places (None: exact); HypothesisNotMet if none has."""
    if not offers or not all(offers):
        raise InvalidInput("offers", offers, "must be offers of at least one guarantee, at least one")
    found, refusals = [], []
    for index, offer in enumerate(offers):
        try:
            found.append(_priced(state, index, offer, places))
        except HypothesisNotMet as refusal:
            refusals.append(refusal.reason)
    if not found:
        reasons = "; ".join(dict.fromkeys(refusals))
        raise HypothesisNotMet(state.theorem, f"{reasons}. A {type(state).__name__} takes {state.takes}")
    return tuple(found)


def charge_cheapest(state: F, prices: Sequence[PricedOffer], *, delta_counts: bool = True) -> Taken[F] | Refused:
    """Charge the offer after which the smallest share of the budget is used, the first of equal ones.

    If none fits, the refusal is about the one that comes nearest.  An offer counts as one request.  Where δ was given
    to be spent, `delta_counts=False` compares the offers that fit by what they use of the rest.
    """
    if not prices or any(price.measure != state.measure for price in prices):
        raise InvalidInput("prices", prices, f"must be prices for a filter of the kind {state.measure}, at least one")
    afters = [state.spent.plus(price.cost) for price in prices]
    shares = [state.share_of(after) for after in afters]
    place = shares.index(min(shares))
    if not delta_counts and len(prices) > 1 and shares[place] <= 1:
        bare = [state.share_of(replace(after, delta=Fraction(0))) for after in afters]
        place = min((each for each in range(len(prices)) if shares[each] <= 1), key=bare.__getitem__)
    best = prices[place]
    if shares[place] <= 1:
        return Taken(state._moved(afters[place], state.admitted + 1), best.request, best.cost, best.index)
    reason = state.reason(best.words, best.cost, best.from_float)
    if len(prices) > 1:
        reason += f"; it is the cheapest of {len(prices)} offers"
    return Refused(best.request, reason, state.remaining())


def _priced(state: Filter, index: int, offer: Offer, places: int | None) -> PricedOffer:
    same = [(read_request(request), count) for request, count in runs_of(offer)]
    requests = tuple(request for request, count in same for _ in range(count))
    whole = reduce(Cost.plus, (state.price(request).times(count) for request, count in same))  # type: ignore[arg-type]
    words = in_words(requests[0]) if len(requests) == 1 else f"{len(requests)} parts"
    return PricedOffer(
        index,
        requests,
        whole if places is None else whole.rounded_up(places),
        state.measure,
        words,
        any(holds_float(request) for request, _ in same),
    )
