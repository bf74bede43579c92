"""Mechanisms that see data, under filters, odometers and sessions.

>>> from optcomp.interactive import Session, SumFilter
>>> from optcomp.statistics import Count, Integers, Table
>>> session = Session(Table("people.csv", {"age": Integers(0, 110)}), SumFilter("1"))
>>> session.ask(Count("age >= 65"), epsilon="0.1").value
"""

from optcomp.interactive.answers import Answer, answer
from optcomp.interactive.filters import (
    AdaptiveFilter,
    Admitted,
    BestFilter,
    Cost,
    Filter,
    Refused,
    Remaining,
    RenyiFilter,
    SumFilter,
    ZCDPFilter,
    restore,
)
from optcomp.interactive.guess_and_check import Checked, GuessAndCheck
from optcomp.interactive.multiplicative_weights import Estimate, PrivateMultiplicativeWeights
from optcomp.interactive.odometers import Odometer
from optcomp.interactive.session import (
    CommittedPlan,
    Entry,
    Session,
    concurrent,
    open_sessions,
)
from optcomp.interactive.sparse_vector import GaussianSparseVector, SparseVector

__all__ = [
    "AdaptiveFilter",
    "Admitted",
    "Answer",
    "BestFilter",
    "Checked",
    "CommittedPlan",
    "Cost",
    "Entry",
    "Estimate",
    "Filter",
    "GaussianSparseVector",
    "GuessAndCheck",
    "Odometer",
    "PrivateMultiplicativeWeights",
    "Refused",
    "Remaining",
    "RenyiFilter",
    "Session",
    "SparseVector",
    "SumFilter",
    "ZCDPFilter",
    "answer",
    "concurrent",
    "open_sessions",
    "restore",
]
