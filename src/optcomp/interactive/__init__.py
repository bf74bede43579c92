"""Mechanisms that see data, under filters, odometers and sessions.

>>> from optcomp.interactive import Session, SumFilter
>>> from optcomp.statistics import Count, Integers, Table
>>> session = Session(Table("people.csv", {"age": Integers(0, 110)}), SumFilter("1"))
>>> session.ask(Count("age >= 65"), epsilon="0.1").value
"""

from optcomp.interactive.answer_tables import AnswerRow, never_a_formula
from optcomp.interactive.answers import Answer, answer, read_answer
from optcomp.interactive.asking import Asking, Entry, checked_question, committed_offers, question_of, question_offers
from optcomp.interactive.consistency import Consistent, consistent
from optcomp.interactive.filters import (
    AdaptiveFilter,
    Admitted,
    BestFilter,
    Cost,
    Filter,
    Offer,
    PricedOffer,
    Refused,
    Remaining,
    RenyiFilter,
    Request,
    SumFilter,
    Taken,
    ZCDPFilter,
    added_up,
    charge_cheapest,
    in_words,
    pair,
    price_offers,
    read_request_document,
    request_document,
    restore,
    short_down,
    short_up,
)
from optcomp.interactive.guess_and_check import Checked, GuessAndCheck
from optcomp.interactive.mechanisms import known_mechanisms, read_mechanism
from optcomp.interactive.multiplicative_weights import Estimate, PrivateMultiplicativeWeights
from optcomp.interactive.odometers import Odometer
from optcomp.interactive.recorded import RecordedTotal, recorded_cost, recorded_total
from optcomp.interactive.session import (
    CommittedPlan,
    Session,
    concurrent,
    open_sessions,
    paid_session,
)
from optcomp.interactive.sparse_vector import GaussianSparseVector, SparseVector
from optcomp.interactive.specs import Mechanism, Tally
from optcomp.interactive.units import Converted, convert_unit, for_groups

__all__ = [
    "AdaptiveFilter",
    "Admitted",
    "Answer",
    "AnswerRow",
    "Asking",
    "BestFilter",
    "Checked",
    "CommittedPlan",
    "Consistent",
    "Converted",
    "Cost",
    "Entry",
    "Estimate",
    "Filter",
    "GaussianSparseVector",
    "GuessAndCheck",
    "Mechanism",
    "Odometer",
    "Offer",
    "PricedOffer",
    "PrivateMultiplicativeWeights",
    "RecordedTotal",
    "Refused",
    "Remaining",
    "RenyiFilter",
    "Request",
    "Session",
    "SparseVector",
    "SumFilter",
    "Taken",
    "Tally",
    "ZCDPFilter",
    "answer",
    "charge_cheapest",
    "checked_question",
    "committed_offers",
    "concurrent",
    "consistent",
    "convert_unit",
    "for_groups",
    "added_up",
    "in_words",
    "known_mechanisms",
    "never_a_formula",
    "open_sessions",
    "paid_session",
    "pair",
    "price_offers",
    "question_of",
    "question_offers",
    "read_answer",
    "read_mechanism",
    "read_request_document",
    "recorded_cost",
    "recorded_total",
    "request_document",
    "restore",
    "short_down",
    "short_up",
]
