"""Privacy filters: budgets that stay sound when every request is chosen after seeing the answers before it.

outcome = SumFilter("1").admit(PureDP("0.1"))
outcome.state        # the filter that comes next, if the outcome is Admitted
outcome.reason       # one sentence with numbers, if it is Refused
"""

from optcomp.interactive.filters.adaptive import AdaptiveFilter
from optcomp.interactive.filters.admission import Admitted, Filter, Refused, Remaining, Total
from optcomp.interactive.filters.best import BestFilter
from optcomp.interactive.filters.cost import Cost, short_down, short_up
from optcomp.interactive.filters.documents import restore
from optcomp.interactive.filters.offers import Offer, PricedOffer, Taken, charge_cheapest, price_offers
from optcomp.interactive.filters.renyi import RenyiFilter
from optcomp.interactive.filters.request_documents import read_request_document, request_document
from optcomp.interactive.filters.requests import Request, added_up, in_words, pair
from optcomp.interactive.filters.sums import SumFilter
from optcomp.interactive.filters.zcdp import ZCDPFilter

__all__ = [
    "AdaptiveFilter",
    "Admitted",
    "BestFilter",
    "Cost",
    "Filter",
    "Offer",
    "PricedOffer",
    "Refused",
    "Remaining",
    "RenyiFilter",
    "Request",
    "SumFilter",
    "Taken",
    "Total",
    "ZCDPFilter",
    "added_up",
    "charge_cheapest",
    "in_words",
    "pair",
    "price_offers",
    "read_request_document",
    "request_document",
    "restore",
    "short_down",
    "short_up",
]
