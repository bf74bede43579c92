"""Planning: choose statistics, see how accurate they will be, split the budget optimally; no data are touched."""

from optcomp.planner.allocate import Allocation, Item, allocate
from optcomp.planner.budgets import PairBudget, RhoBudget, Spending
from optcomp.planner.document import Document, Wish, read, read_file
from optcomp.planner.errors import ErrorModel
from optcomp.planner.plan import Line, Plan, make_plan

__all__ = [
    "Allocation",
    "Document",
    "ErrorModel",
    "Item",
    "Line",
    "PairBudget",
    "Plan",
    "RhoBudget",
    "Spending",
    "Wish",
    "allocate",
    "make_plan",
    "read",
    "read_file",
]
