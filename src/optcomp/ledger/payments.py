"""What is offered and what was paid, as guarantees that can be written: exact numbers, and no code."""

from __future__ import annotations

from collections.abc import Sequence

from optcomp.errors import InvalidInput
from optcomp.guarantees import RenyiDP
from optcomp.interactive import (
    Filter,
    Mechanism,
    Offer,
    RenyiFilter,
    Request,
    SumFilter,
    read_request_document,
    request_document,
)
from optcomp.statistics import Table


def paid_documents(budget: Filter, paid: Sequence[Request]) -> list[dict[str, object]]:
    """What was paid, exact; a Rényi curve at the order that the filter counts."""
    orders = (budget.order,) if isinstance(budget, RenyiFilter) else ()
    return [request_document(each, orders=orders) for each in paid]


def fixed(budget: Filter, offer: Offer) -> Offer:
    """The same guarantees without code: a Rényi curve that is a function is asked once, before any lock is taken."""
    return tuple(_fixed(budget, each) for each in offer)


def mechanism_offer(budget: Filter, mechanism: Mechanism, table: Table) -> Offer:
    """What a mechanism costs: one guarantee where the budget adds up all parts, of which there may be a million."""
    whole = mechanism.sum_of_costs(table) if isinstance(budget, SumFilter) else None
    return tuple(mechanism.costs(table)) if whole is None else (whole,)


def _fixed(budget: Filter, request: Request) -> Request:
    if not isinstance(request, RenyiDP) or request.curve is None or not isinstance(budget, RenyiFilter):
        return request
    try:
        return read_request_document(request_document(request, orders=(budget.order,)))
    except InvalidInput:  # infinite there: it has no price, which the filter tells
        return request
