"""Privacy filters: budgets that stay sound when every request is chosen after seeing the answers before it.

outcome = SumFilter("1").admit(PureDP("0.1"))
outcome.state        # the filter that comes next, if the outcome is Admitted
outcome.reason       # one sentence with numbers, if it is Refused
"""

from optcomp.interactive.filters.admission import Admitted, Filter, Refused, Remaining, Total
from optcomp.interactive.filters.cost import Cost
from optcomp.interactive.filters.documents import restore
from optcomp.interactive.filters.kinds import AdaptiveFilter, BestFilter, RenyiFilter, SumFilter, ZCDPFilter
from optcomp.interactive.filters.requests import Request

__all__ = [
    "AdaptiveFilter",
    "Admitted",
    "BestFilter",
    "Cost",
    "Filter",
    "Refused",
    "Remaining",
    "RenyiFilter",
    "Request",
    "SumFilter",
    "Total",
    "ZCDPFilter",
    "restore",
]
