"""What is known about a plan as soon as it is found: errors, budgets and the certified total.

All numbers here are those of `facts`.  The lower side, the risk and every comparison take as long again, and are not
here: whoever shows a plan while somebody types asks for them when the typing stops.
"""

from __future__ import annotations

from typing import Any

from optcomp.guarantees import ApproxDP
from optcomp.numerics import float_above
from optcomp.planner import Plan
from optcomp.release.plan_facts import rests_on


def first_facts(plan: Plan) -> dict[str, Any]:
    """Those entries of `facts` that need no further work."""
    shown, inside = plan.first_dict(), plan.inside
    for entry, line in zip(shown["statistics"], plan.lines, strict=True):
        entry |= rests_on(plan.document, line)
    pair = isinstance(inside, ApproxDP)
    return shown | {
        "name": plan.document.table.name,
        "rho": None if pair else plan.total,
        "delta": float_above(inside.delta) if isinstance(inside, ApproxDP) else None,
        "count": len(plan.lines),
    }
