"""The auditor's view: what happened, the chain verified, totals derived again, and everything to take away.

No answer and no data are here: the ledger tells answers as commitments only.  Downloads are forms, for they are noted.
"""

from __future__ import annotations

import json
from functools import partial
from typing import Annotated

from fastapi import APIRouter, Query, Request, Response
from fastapi.responses import RedirectResponse
from starlette.concurrency import run_in_threadpool

from optcomp.center import (
    api_audit,
    person_of,
    roles,
    seats_of,
    service_of,
)
from optcomp.pages.access import PageRoute
from optcomp.pages.auditor_view import events, log_rows, newest, theorems
from optcomp.pages.downloads import csv_text, download
from optcomp.pages.numbers import moment
from optcomp.pages.rendering import page

router = APIRouter(route_class=PageRoute, include_in_schema=False)
_After = Annotated[int, Query(ge=0, lt=2**62)]


@router.get("/auditor")
@roles("auditor", "owner", limited=True)
async def overview(request: Request, entries: _After = 0, changes: _After = 0) -> Response:
    """Accounts, batches, and what happened."""
    return page(
        request,
        "auditor.html",
        accounts=(await api_audit.accounts(request)).entries,
        batches=await run_in_threadpool(_batches, request),
        shown=await events(request, entries, changes),
        first=not entries and not changes,
    )


@router.get("/auditor/newest")
@roles("auditor", "owner")
async def to_newest(request: Request) -> Response:
    """To the last page of what happened."""
    entries, changes = await newest(request)
    return RedirectResponse(f"/auditor?entries={entries}&changes={changes}#events", status_code=303)


def _batches(request: Request) -> list[dict[str, object]]:
    """Batches by account, with the number of their slots."""
    counts: dict[tuple[str, str], int] = {}
    for seat in seats_of(request):
        key = seat.dataset.account, seat.batch
        counts[key] = counts.get(key, 0) + 1
    return [{"account": account, "batch": batch, "slots": count} for (account, batch), count in counts.items()]


@router.get("/auditor/verification")
@roles("auditor", "owner")
async def verification(request: Request) -> Response:
    """Follow the chain, derive every total again, and compare; nothing is changed."""
    found = (await api_audit.verification(request)).model_dump()
    return page(request, "auditor_verification.html", found=found, theorems=theorems(found["theorems"]))


@router.get("/auditor/certificate")
@roles("auditor", "owner", limited=True)
async def certificate(request: Request, account: str, batch: str) -> Response:
    """The certificate of a batch, as a file that another program checks."""
    told = await api_audit.certificate(request, account, batch)
    return download("certificate.json", json.dumps(told.certificate, indent=2), "application/json")


@router.post("/auditor/export")
@roles("auditor", "owner")
async def export(request: Request) -> Response:
    """The signed export of the ledger; it is noted who has it."""
    told = await api_audit.export(request)
    return download("ledger.jsonl", told.text, "application/jsonl")


@router.post("/auditor/log")
@roles("auditor", "owner", limited=True)
async def export_log(request: Request) -> Response:
    """The log of changes; it is noted who has it."""
    changes = service_of(request).changes
    found = await run_in_threadpool(partial(changes.all, viewer=person_of(request)))
    await run_in_threadpool(changes.record, person_of(request).name, "exported the log", {"changes": len(found)})
    rows = log_rows(found)
    for row in rows[1:]:
        row[1] = moment(float(str(row[1])))
    return download("changes.csv", csv_text(rows), "text/csv")
