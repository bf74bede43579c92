"""Planning: choose statistics, see how accurate they will be, split the budget optimally; no data are touched.

A name fetches its module when it is first used: reading a plan needs no engine.
"""

from typing import TYPE_CHECKING

from optcomp.late import late, names_of

if TYPE_CHECKING:
    from optcomp.planner.allocation import Allocation, Item, allocate
    from optcomp.planner.budgets import RTOL, Budget, Load, PairBudget, RhoBudget, Spending
    from optcomp.planner.choosing import Choosing, item_of
    from optcomp.planner.document import HARM, Document, Wish, read, read_file
    from optcomp.planner.edits import Edits, drop, edited, free, hold, put
    from optcomp.planner.errors import ErrorModel
    from optcomp.planner.plan import Line, Plan, budget_dict, inside_of, make_plan, plan_again
    from optcomp.planner.plan_schema import schema
    from optcomp.planner.source import MOST_BYTES, dumped, is_data, load, parsed
    from optcomp.planner.warm_start import WarmStart, read_warm_start

_MODULE_OF = {
    "Allocation": "allocation",
    "Budget": "budgets",
    "Choosing": "choosing",
    "Document": "document",
    "Edits": "edits",
    "ErrorModel": "errors",
    "HARM": "document",
    "Item": "allocation",
    "Line": "plan",
    "Load": "budgets",
    "MOST_BYTES": "source",
    "PairBudget": "budgets",
    "Plan": "plan",
    "RTOL": "budgets",
    "RhoBudget": "budgets",
    "Spending": "budgets",
    "WarmStart": "warm_start",
    "Wish": "document",
    "allocate": "allocation",
    "budget_dict": "plan",
    "drop": "edits",
    "dumped": "source",
    "edited": "edits",
    "free": "edits",
    "hold": "edits",
    "inside_of": "plan",
    "is_data": "source",
    "item_of": "choosing",
    "load": "source",
    "make_plan": "plan",
    "parsed": "source",
    "plan_again": "plan",
    "put": "edits",
    "read": "document",
    "read_file": "document",
    "read_warm_start": "warm_start",
    "schema": "plan_schema",
}
"""Every name of the surface, and where it comes from."""

__all__ = [
    "Allocation",
    "Budget",
    "Choosing",
    "Document",
    "Edits",
    "ErrorModel",
    "HARM",
    "Item",
    "Line",
    "Load",
    "MOST_BYTES",
    "PairBudget",
    "Plan",
    "RTOL",
    "RhoBudget",
    "Spending",
    "WarmStart",
    "Wish",
    "allocate",
    "budget_dict",
    "drop",
    "dumped",
    "edited",
    "free",
    "hold",
    "inside_of",
    "is_data",
    "item_of",
    "load",
    "make_plan",
    "parsed",
    "plan_again",
    "put",
    "read",
    "read_file",
    "read_warm_start",
    "schema",
]

if not TYPE_CHECKING:  # a type checker reads the imports above
    __getattr__, __dir__ = late(__name__, _MODULE_OF), names_of(__name__, _MODULE_OF)
