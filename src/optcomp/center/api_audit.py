"""What auditors see: accounts, changes, a verification of the whole ledger, a signed export; never an answer."""

from __future__ import annotations

from fastapi import APIRouter, Request

from optcomp.center import replies
from optcomp.center.access import GuardedRoute, roles, service_of

router = APIRouter(prefix="/api/v1/audit", route_class=GuardedRoute, tags=["audit"], responses=replies.ERRORS)


@router.get("/accounts", summary="All accounts")
@roles("auditor", "owner")
async def accounts(request: Request) -> replies.Listed:
    """What each promised, what is left, what was recorded."""
    found = await service_of(request).call("accounts")
    return replies.Listed(entries=found["accounts"])


@router.get("/changes", summary="What was changed")
@roles("auditor", "owner")
def changes(request: Request) -> replies.Listed:
    """Every change, with who made it and who confirmed it."""
    return replies.Listed(entries=[each.document() for each in service_of(request).changes.all()])


@router.get("/verification", summary="Verify the ledger")
@roles("auditor", "owner")
async def verification(request: Request) -> replies.Verified:
    """Derives every total again from the chain, and compares."""
    return replies.Verified.model_validate(await service_of(request).call("verify"))


@router.get("/export", summary="Export the ledger")
@roles("auditor", "owner")
async def export(request: Request) -> replies.Exported:
    """Signed: all entries and questions, and no answer."""
    return replies.Exported.model_validate(await service_of(request).call("export"))
