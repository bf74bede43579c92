"""Plans that are committed together, before the first answer of any of them: one batch, composed optimally.

Whoever writes a plan after reading the release of another one chooses its parameters adaptively, and the totals add up
in the account.  Plans whose digests are in the ledger before the first answer are fixed, so OptComp holds for all.
"""

from __future__ import annotations

import hashlib
from collections.abc import Sequence
from fractions import Fraction
from typing import TYPE_CHECKING

from optcomp.errors import BudgetExceeded, HypothesisNotMet, InvalidInput
from optcomp.guarantees import ApproxDP
from optcomp.numerics import Number
from optcomp.planner import Document, make_plan
from optcomp.release.store import plan_digest
from optcomp.theorems import Bound

if TYPE_CHECKING:
    from optcomp.ledger import Account, Slot, Unit

_DELTA = Fraction(1, 10**6)
"""δ of a batch of plans that have none."""


def commit_plans(
    account: Account, documents: Sequence[Document], *, delta: Number | None = None
) -> tuple[Bound, dict[str, Slot]]:
    """Cut a slot for each plan, all in one batch, debited now; a later release of such a plan takes its slot.

    Returns the certified total of the batch at `delta`, and the slots by the digests of their plans.  Without `delta`
    it is twice what the plans have together, or 1e-6.  A plan in ρ has no pair (ε, δ) and cannot be committed.
    """
    if not documents or not all(isinstance(each, Document) for each in documents):
        raise InvalidInput("documents", documents, "must be plans as planner.read gives them, at least one")
    unit, totals = account.unit_for(documents[0].table), dict[str, ApproxDP]()
    for document in documents:
        digest = plan_digest(document.source)
        if digest in totals:
            raise InvalidInput("documents", digest[:12], "is the digest of two of the plans; commit each once")
        totals[digest] = _total(document, unit)
    _check_fresh(account, totals)
    if delta is None:
        delta = 2 * sum(Fraction(total.delta) for total in totals.values()) or _DELTA
    whole = hashlib.sha256("".join(totals).encode()).hexdigest()
    bound, slots = account.commit_plans(totals, delta=delta, name=f"plans {whole[:12]}", unit=unit)
    return bound, {str(slot.plan): slot for slot in slots.values()}


def _total(document: Document, unit: Unit) -> ApproxDP:
    """What a plan comes to, for the unit of the account; no data are needed."""
    plan = make_plan(document)
    if plan.bound is None or not isinstance(plan.inside, ApproxDP):
        raise HypothesisNotMet("Lyu22-1", "a slot is a pair (ε, δ), and a plan in ρ has none; release it by itself")
    if not plan.fits:
        reason = f"the plan costs ε = {plan.total:.10g}, more than its budget of {float(plan.inside.epsilon):g}"
        raise BudgetExceeded(plan.total, plan.inside.epsilon, f"{reason}; nothing was spent")
    total = ApproxDP(Fraction(plan.bound.upper), plan.inside.delta)
    (found,) = unit.converted((total,), type(unit).of(document.table))
    return ApproxDP(found.epsilon, found.delta)  # type: ignore[union-attr]


def _check_fresh(account: Account, totals: dict[str, ApproxDP]) -> None:
    """None of them may have been committed or released before."""
    committed = {slot.plan for slot in account.slots}
    for digest in totals:
        if digest in committed:
            raise InvalidInput("plan", digest[:12], f"is committed in account {account.name!r} already")
        if account.has_released(digest):
            raise InvalidInput("plan", digest[:12], "was released before; commit plans before their first answer")
