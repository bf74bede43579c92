"""The owner's office: what is spent of every account, who waits for an answer, and each data set with its seats."""

from __future__ import annotations

import json

from fastapi import APIRouter, Request, Response
from fastapi.responses import RedirectResponse
from starlette.concurrency import run_in_threadpool

from optcomp.center import (
    Problem,
    api_audit,
    api_owner,
    bodies,
    person_of,
    roles,
    seen_dataset,
    service_of,
)
from optcomp.pages import office_jobs
from optcomp.pages.access import PageRoute, form_of
from optcomp.pages.downloads import download
from optcomp.pages.office_forms import exactly, made, number, text, tried
from optcomp.pages.office_jobs import to_dataset
from optcomp.pages.office_view import accounts_shown, open_wishes, seats_shown, waiting
from optcomp.pages.rendering import page
from optcomp.statistics import declaration_document

router = APIRouter(route_class=PageRoute, include_in_schema=False)
_SUSPENDED = {"on": True, "off": False}
"""What the buttons send."""


@router.get("/owner")
@roles("owner", limited=True)
async def overview(request: Request) -> Response:
    """Accounts with a live odometer, seats, requests for more, and what waits for a second owner."""
    accounts = await accounts_shown(request)
    return page(
        request,
        "owner.html",
        accounts=accounts,
        seats=await seats_shown(request, accounts),
        wishes=await open_wishes(request),
        waiting=await waiting(request),
        person_name=person_of(request).name,
    )


@router.get("/owner/datasets/{name}")
@roles("owner", limited=True)
async def dataset_page(request: Request, name: str) -> Response:
    """One data set."""
    return await _dataset_page(request, name, None)


async def _dataset_page(request: Request, name: str, problem: Problem | None) -> Response:
    found = await run_in_threadpool(seen_dataset, request, name)
    accounts = await accounts_shown(request)
    account = next(each for each in accounts if each.about["name"] == found.account)
    people = [each.name for each in await run_in_threadpool(service_of(request).people.all) if each.role == "analyst"]
    seats = await seats_shown(request, accounts, name)
    return page(
        request,
        "owner_dataset.html",
        status=200 if problem is None else problem.status,
        dataset=found,
        declaration=declaration_document(found.declared),
        account=account,
        seats=seats,
        batches=list(dict.fromkeys(each.seat.batch for each in seats)),
        analysts=people,
        problem=problem,
    )


@router.get("/owner/datasets/{name}/certificate")
@roles("owner", limited=True)
async def certificate(request: Request, name: str, batch: str) -> Response:
    """The certificate of a batch, as a file that another program checks."""
    found = await run_in_threadpool(seen_dataset, request, name)
    told = await api_audit.certificate(request, found.account, batch)
    return download("certificate.json", json.dumps(told.certificate, indent=2), "application/json")


@router.post("/owner/datasets/{name}/suspension")
@roles("owner", limited=True)
async def close(request: Request, name: str) -> Response:
    """Close a data set to all questions, or open it again."""
    form = await form_of(request)
    body = made(bodies.SuspensionBody, suspended=_SUSPENDED.get(text(form, "suspended")))
    await run_in_threadpool(api_owner.close, request, name, body)
    return to_dataset(name)


@router.post("/owner/datasets/{name}/budget")
@roles("owner", limited=True)
async def lower(request: Request, name: str) -> Response:
    """A smaller budget; what was admitted before the change stays within the larger one."""
    form = await form_of(request)
    try:
        body = made(bodies.BudgetBody, epsilon=text(form, "epsilon"), delta=text(form, "delta") or None)
    except Problem as found:
        return await _dataset_page(request, name, found)
    _, problem = await tried(api_owner.lower, request, name, body)
    return to_dataset(name) if problem is None else await _dataset_page(request, name, problem)


@router.post("/owner/seats/suspension")
@roles("owner", limited=True)
async def suspend_seat(request: Request) -> Response:
    """Suspend a seat, or end that."""
    form = await form_of(request)
    body = made(bodies.SuspensionBody, suspended=_SUSPENDED.get(text(form, "suspended")))
    await run_in_threadpool(api_owner.suspend_seat, request, number(form, "seat", 1), body)
    return to_dataset(text(form, "dataset"))


@router.post("/owner/seats/hand-on")
@roles("owner", limited=True)
async def hand_on(request: Request) -> Response:
    """A seat in which nothing was asked becomes somebody else's."""
    form = await form_of(request)
    body = made(bodies.HandOnBody, analyst=exactly(form, "analyst"))
    _, problem = await tried(api_owner.hand_on, request, number(form, "seat", 1), body)
    name = text(form, "dataset")
    return to_dataset(name) if problem is None else await _dataset_page(request, name, problem)


@router.post("/owner/wishes")
@roles("owner", limited=True)
async def decide(request: Request) -> Response:
    """Grant or decline a wish; slots are cut by a step of their own."""
    form = await form_of(request)
    body = made(bodies.WishDecisionBody, granted={"grant": True, "decline": False}.get(text(form, "decision")))
    await run_in_threadpool(api_owner.decide, request, number(form, "wish", 1), body)
    return RedirectResponse("/owner", status_code=303)


@router.post("/owner/confirmations")
@roles("owner", limited=True)
async def confirm(request: Request) -> Response:
    """Carry out what another owner asked for."""
    confirmed = number(await form_of(request), "confirmation", 1)
    if await api_owner.reads_source(request, confirmed):
        job = await office_jobs.begun(request, "confirm", {"confirmation": confirmed}, key=f"confirm {confirmed}")
        return office_jobs.to_job(job)
    found = await api_owner.confirm(request, confirmed)
    if found["kind"] == "make token":  # shown here, as where it is made at once
        return page(request, "owner_token_made.html", name=found["made"]["person"], token=found["made"]["token"])
    return RedirectResponse("/owner", status_code=303)
