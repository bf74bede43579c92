"""What auditors see: accounts, changes, entries, a verification of the ledger, a signed export; never an answer."""

from __future__ import annotations

from typing import Annotated

from fastapi import APIRouter, Query, Request
from starlette.concurrency import run_in_threadpool

from optcomp.center import bodies, replies
from optcomp.center.access import GuardedRoute, person_of, roles, service_of
from optcomp.center.problems import Problem

router = APIRouter(prefix="/api/v1/audit", route_class=GuardedRoute, tags=["audit"], responses=replies.ERRORS)


@router.get("/accounts", summary="All accounts")
@roles("auditor", "owner", limited=True)
async def accounts(request: Request) -> replies.Listed:
    """What each promised, what is left, what was recorded."""
    found, person = await service_of(request).call("accounts"), person_of(request)
    return replies.Listed(entries=[each for each in found["accounts"] if person.sees(each["name"])])


@router.get("/changes", summary="What was changed")
@roles("auditor", "owner", limited=True)
def changes(request: Request) -> replies.Listed:
    """Every change, with who made it and who confirmed it."""
    found = service_of(request).changes.all(viewer=person_of(request))
    return replies.Listed(entries=[each.document() for each in found])


@router.get("/history", summary="What happened in the ledger")
@roles("auditor", "owner", limited=True)
async def history(
    request: Request, after: Annotated[int, Query(ge=0, lt=2**62, description="The last entry that you know.")] = 0
) -> replies.History:
    """Every entry of the chain in words, the oldest first: requests, debits and budgets, and no answer."""
    scope = person_of(request).scope
    accounts = None if scope is None else list(scope)
    found = await service_of(request).call("history", after=after, most=100, accounts=accounts)
    return replies.History.model_validate(found)


@router.get("/certificate", summary="The certificate of a batch")
@roles("auditor", "owner", limited=True)
async def certificate(
    request: Request,
    account: Annotated[str, Query(max_length=200, description="Of the ledger.")],
    batch: Annotated[str, Query(max_length=200, description="Of the account.")],
) -> replies.BatchCertificate:
    """What the slots of a batch come to, proved again, with a certificate that another program can check."""
    service = service_of(request)
    seats = await run_in_threadpool(service.catalogue.seats)
    slot = next((each.slot for each in seats if (each.dataset.account, each.batch) == (account, batch)), None)
    if slot is None or not person_of(request).sees(account):
        raise Problem("not_found", "There is no such batch.")
    return replies.BatchCertificate.model_validate(await service.call("certificate", account=account, slot=slot))


@router.get("/verification", summary="Verify the ledger")
@roles("auditor", "owner")
async def verification(request: Request) -> replies.Verified:
    """Derives every total again from the chain, and compares."""
    return replies.Verified.model_validate(await service_of(request).call("verify"))


@router.get("/export", summary="Export the ledger")
@roles("auditor", "owner")
async def export(request: Request) -> replies.Exported:
    """Signed: all entries and questions, and no answer.  Who has it, and how far it goes, is noted in the log."""
    service = service_of(request)
    found = replies.Exported.model_validate(await service.call("export"))
    about = {"sequence": found.sequence, "head": found.head, "sha256": found.sha256}
    await run_in_threadpool(service.changes.record, person_of(request).name, "exported the ledger", about)
    return found


@router.post("/receipts", summary="Present a receipt")
@roles("analyst", "owner", "auditor", limited=True)
async def receipts(request: Request, body: bodies.ReceiptBody) -> replies.Presented:
    """Whether the ledger has what a receipt proves; what is missing shows that its database went back in time.

    If an owner or an auditor presents it, the ledger then debits nothing, on any server, until it is adopted.  Receipts
    are not signed: that an analyst, or a limited token, presented one that does not fit is noted and closes nothing.
    """
    service, person = service_of(request), person_of(request)
    return await run_in_threadpool(service.present, body.model_dump(), person)
