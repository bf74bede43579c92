"""Jobs about plans that no account pays for yet: reading their text, and working them out.

Nothing here looks at data or at a budget of the ledger.  They are jobs because a plan may take long, and a process that
takes too long is killed.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from optcomp.center.desk import Place
from optcomp.errors import BudgetExceeded, InvalidInput, OptcompError
from optcomp.ledger import Ledger
from optcomp.planner import Document, Plan, WarmStart, make_plan, parsed, read, read_warm_start
from optcomp.release import facts, totals

Told = dict[str, Any]
"""Plain JSON."""


def work_out(ledger: Ledger, settings: Place, *, plan: object, start: object = None) -> Told:
    """Errors, budgets and the total of a plan; `start` is what an earlier search told, and makes this one quicker."""
    made = worked_out(read(plan), read_warm_start(start))
    units = [line.wish.statistic.error_unit for line in made.lines]
    told = {"facts": facts(made), "units": units, "totals": totals(made)}
    return told | {"start": made.warm_start().document()}


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


PLANNING_JOBS = (work_out, read_plan)
"""All of them."""
