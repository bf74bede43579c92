"""Jobs about plans that no account pays for yet: reading their text, and working them out.

Nothing here looks at data or at a budget of the ledger.  They are jobs because a plan may take long, and a process that
takes too long is killed.
"""

from __future__ import annotations

from collections.abc import Mapping
from fractions import Fraction
from typing import Any

from optcomp.center.bounds import check_lines, check_together
from optcomp.center.desk import Place
from optcomp.errors import BudgetExceeded, InvalidInput, OptcompError
from optcomp.ledger import Ledger
from optcomp.planner import Document, Plan, WarmStart, make_plan, parsed, plan_again, read, read_warm_start
from optcomp.release import facts, first_facts, totals

Told = dict[str, Any]
"""Plain JSON."""


def work_out(ledger: Ledger, settings: Place, *, plan: object, start: object = None, comparing: bool = True) -> Told:
    """Errors, budgets and the total of a plan; `start` is what an earlier search told, and makes this one quicker.

    Not `comparing` gives what is known first, and says by `later` that there is more: `compare` tells it.
    """
    made = worked_out(_read(plan), read_warm_start(start))
    begin = made.warm_start().document()
    if comparing:
        return _told(made, begin)
    return {"facts": first_facts(made), "units": _units(made), "start": begin, "later": True}


def compare(ledger: Ledger, settings: Place, *, plan: object, worked: Mapping[str, Any]) -> Told:
    """All that `work_out` tells, about the very budgets that it found first: nothing is searched again for the plan."""
    budgets = [_budget_in(entry) for entry in worked["facts"]["statistics"]]
    return _told(plan_again(_read(plan), budgets, read_warm_start(worked["start"])), worked["start"])


def _read(plan: object) -> Document:
    check_lines(plan)
    document = read(plan)
    check_together((wish.statistic for wish in document.wishes), document.table, "plan.statistics")
    return document


def _told(made: Plan, start: object) -> Told:
    return {"facts": facts(made), "units": _units(made), "totals": totals(made), "start": start}


def _units(made: Plan) -> list[str]:
    return [line.wish.statistic.error_unit for line in made.lines]


def _budget_in(entry: Mapping[str, Any]) -> tuple[str, Fraction]:
    """The noise of a statistic, and what it spends."""
    return entry["mechanism"], Fraction(entry["rho"] if "rho" in entry else entry["epsilon"])


def read_plan(ledger: Ledger, settings: Place, *, text: str) -> Told:
    """A plan from YAML or JSON, as it is written; what it lacks is found when it is worked out."""
    found = parsed(text, "plan")
    if not isinstance(found, Mapping):
        raise InvalidInput("plan", type(found).__name__, "must be a mapping with the entries of a plan")
    return {"plan": dict(found)}


def worked_out(document: Document, start: WarmStart | None = None) -> Plan:
    """The plan worked out; what the engine cannot do is the fault of the plan."""
    try:
        return make_plan(document, start=start)
    except (InvalidInput, BudgetExceeded):
        raise
    except OptcompError as error:
        kind = type(error).__name__
    raise InvalidInput("plan", document.table.name, f"cannot be worked out ({kind})")


PLANNING_JOBS = (work_out, compare, read_plan)
"""All of them."""
