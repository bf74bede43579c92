"""Amounts as a ledger writes them: exact texts for people and the chain, a whole number for the database's guard."""

from __future__ import annotations

import json
from collections.abc import Sequence
from fractions import Fraction
from functools import reduce
from json.encoder import encode_basestring_ascii as _quoted
from typing import Any

from optcomp.interactive import Cost, Filter, Request, recorded_cost
from optcomp.ledger.chain import canonical, digest
from optcomp.ledger.schema import FULL

NOTHING = Cost(epsilon=Fraction(0), rho=Fraction(0))
"""The sums of an account in which nothing is recorded."""
_RECORDED = ("epsilon", "rho", "delta")
"""What is summed of everything recorded."""


def named(key: str, what: str) -> str:
    """What the chain says of a request's key and of its description."""
    return digest(f"[{_quoted(key)},{_quoted(what)}]")  # the canonical JSON of both


def guard(budget: Filter) -> int:
    """floor(2^62 · share): at most 2^62 as long as the filter admits what is spent."""
    share = budget.share
    return FULL * share.numerator // share.denominator


def written_cost(cost: Cost) -> dict[str, str]:
    """The amounts of a cost that are counted, exact."""
    amounts = {name: cost.get(name) for name in ("epsilon", "rho", "squares", "divergence", "delta")}
    return {name: str(amount) for name, amount in amounts.items() if amount is not None}


def summed(sums: Cost, paid: Sequence[Request]) -> Cost:
    """The sums of everything recorded, with one request more."""
    return reduce(Cost.plus, (recorded_cost(each).rounded_up() for each in paid), sums)


def written_sums(sums: Cost) -> str:
    """Exact."""
    return canonical({name: None if sums.get(name) is None else str(sums.get(name)) for name in _RECORDED})


def read_sums(text: str) -> Cost:
    """The same again."""
    found = json.loads(text)
    amounts: dict[str, Any] = {name: None if found[name] is None else Fraction(found[name]) for name in _RECORDED}
    return Cost(**amounts)
