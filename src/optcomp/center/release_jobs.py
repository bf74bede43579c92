"""Jobs about plans and releases: what a plan would cost, carrying it out, finishing what was interrupted, the report.

A data set is {"account", "snapshot", "declaration"}: a name in the ledger, a folder, and what is declared.
"""

from __future__ import annotations

from collections.abc import Mapping
from fractions import Fraction
from typing import Any

from optcomp.center.bounds import check_lines, check_together
from optcomp.center.desk import LOG, Place, table_of
from optcomp.center.failures import CannotAnswer, left_document
from optcomp.center.plan_forms import plan_about
from optcomp.center.planning_jobs import worked_out
from optcomp.errors import BudgetExceeded, MechanismFailed
from optcomp.guarantees import ZCDP, ApproxDP
from optcomp.interactive import Refused, in_words, request_document
from optcomp.ledger import Account, Ledger, RequestState
from optcomp.planner import Plan
from optcomp.release import facts, growth, offers_of, page, paid_release, plan_digest, plan_sheet, release_snapshot
from optcomp.statistics import Table, read_declaration

Told = dict[str, Any]
"""Plain JSON."""


def look_at_plan(ledger: Ledger, settings: Place, *, dataset: Mapping[str, Any], plan: Mapping[str, Any]) -> Told:
    """What a plan would cost and how far off its numbers would be; from the declaration and the account alone."""
    declared, account = read_declaration(dataset["declaration"]), ledger.account(dataset["account"])
    check_lines(plan)
    document = plan_about(plan, declared, account.name)
    check_together((wish.statistic for wish in document.wishes), declared, "plan.statistics")
    made, digest = worked_out(document), plan_digest(document.source)
    told = facts(made)
    about = {"plan": digest, "document": document.source, "facts": told, "growth": growth(made)}
    committed = any(slot.plan == digest for slot in account.slots)
    return about | {"sheet": plan_sheet(told).as_dict(), "committed": committed} | _foreseen(account, made)


def _foreseen(account: Account, plan: Plan) -> Told:
    """What the release would take from the account, and leave in it."""
    left = {"left": left_document(account.remaining())}
    if not plan.fits:
        reason = "the plan costs more than its own budget"
        return left | {"fits": False, "reason": reason, "paid": None, "after": None}
    spendings = [line.spending for line in plan.lines]
    offers = offers_of(plan.document, spendings, cost_of(plan), plan.reserve)
    try:
        found = account.foreseen(offers, plan.document.table)
    except BudgetExceeded as closed:
        return left | {"fits": False, "reason": closed.reason, "paid": None, "after": None}
    if isinstance(found, Refused):
        return left | {"fits": False, "reason": found.reason, "paid": None, "after": None}
    taken, paid = found
    words = " and ".join(map(in_words, paid)) if len(paid) == 1 else f"{len(paid)} parts"
    exact = {"words": words, "exact": [request_document(each) for each in paid]}
    after = left_document(taken.state.remaining())
    return left | {"fits": True, "reason": None, "paid": exact, "after": after}


def cost_of(plan: Plan) -> ApproxDP | ZCDP:
    """The certified total of a plan, exactly."""
    if plan.bound is None or not isinstance(plan.inside, ApproxDP):
        return ZCDP(plan.total)
    return ApproxDP(Fraction(plan.bound.upper), plan.inside.delta)


def release(ledger: Ledger, settings: Place, *, dataset: Mapping[str, Any], plan: Mapping[str, Any]) -> Told:
    """Debit a plan, run it, keep it; the same plan about the same snapshot again is what was kept."""
    declared, account = read_declaration(dataset["declaration"]), ledger.account(dataset["account"])
    document = plan_about(plan, declared, account.name)
    table = _opened(settings, dataset["snapshot"])
    if table is None:  # out here, so that no __context__ leads to the error
        if account.has_released(plan_digest(document.source)):
            raise MechanismFailed("a release", "CannotAnswer")
        raise CannotAnswer()
    return {"record": release_snapshot(account, document, table)}


def finish_release(ledger: Ledger, settings: Place, *, dataset: Mapping[str, Any], plan: Mapping[str, Any]) -> Told:
    """Finish a release that was debited and interrupted; one that was not debited is left alone."""
    declared, account = read_declaration(dataset["declaration"]), ledger.account(dataset["account"])
    document = plan_about(plan, declared, account.name)
    table = table_of(settings, dataset["snapshot"])
    found = paid_release(account, document, table)
    at_work = found is not None and found.state == RequestState.RESERVED and found.running
    if found is None or found.state == RequestState.FAILED or at_work:
        return {"record": None}
    return {"record": release_snapshot(account, document, table)}


def report(ledger: Ledger, settings: Place, *, record: Mapping[str, Any]) -> Told:
    """The page about a release, from its record."""
    return {"page": page(record["facts"], record["growth"], record)}


RELEASE_JOBS = (look_at_plan, release, finish_release, report)
"""All of them."""


def _opened(settings: Place, snapshot: str) -> Table | None:
    """None if it does not open: why is for the owner of the machine."""
    try:
        return table_of(settings, snapshot)
    except Exception as error:
        LOG.error("a release: the table does not open (%s)", type(error).__name__)
        return None
