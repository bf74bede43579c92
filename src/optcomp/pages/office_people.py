"""The owner's office: people and their tokens.

A token is shown in the response to the form that makes it, and nowhere else: not in an address, a cookie, a log or the
database.  The form is a draft that is used up by making the token, so that a reload, a second click or the same form
sent again makes no second one, and shows nothing.
"""

from __future__ import annotations

from secrets import token_urlsafe
from typing import Any

from fastapi import APIRouter, Request, Response
from fastapi.responses import RedirectResponse
from starlette.concurrency import run_in_threadpool

from optcomp.center import (
    Draft,
    Drafts,
    NotFound,
    Problem,
    api_owner,
    bodies,
    datasets_of,
    person_of,
    roles,
    service_of,
)
from optcomp.pages.access import PageRoute, form_of
from optcomp.pages.office_forms import exactly, made, number, text, tried, wrong
from optcomp.pages.rendering import page

router = APIRouter(route_class=PageRoute, include_in_schema=False)
_KIND = "token"
"""Drafts of tokens."""
_ALL = ""
"""In a choice: all accounts."""
_BACK = "/owner/people"


@router.get("/owner/people")
@roles("owner", limited=True)
async def people(request: Request) -> Response:
    """Everybody, with their tokens."""
    return await _people(request)


async def _people(request: Request, problem: Problem | None = None, **given: str) -> Response:
    found = (await run_in_threadpool(api_owner.people, request)).entries
    return page(
        request,
        "owner_people.html",
        status=200 if problem is None else problem.status,
        everybody=found,
        given=given,
        problem=problem,
        me=person_of(request).name,
    )


@router.post("/owner/people")
@roles("owner")
async def add(request: Request) -> Response:
    """Somebody new."""
    form = await form_of(request)
    given = {"name": text(form, "name"), "role": text(form, "role")}
    try:
        body = made(bodies.PersonBody, **given)
    except Problem as found:
        return await _people(request, found, **given)
    _, problem = await tried(api_owner.add_person, request, body)
    if problem is not None:
        problem.more.setdefault("argument", "name")
        return await _people(request, problem, **given)
    return RedirectResponse(_BACK, status_code=303)


@router.post("/owner/people/suspension")
@roles("owner")
async def suspend(request: Request) -> Response:
    """Suspend somebody, or end that."""
    form = await form_of(request)
    body = made(bodies.SuspensionBody, suspended={"on": True, "off": False}.get(text(form, "suspended")))
    await run_in_threadpool(api_owner.suspend, request, exactly(form, "name"), body)
    return RedirectResponse(_BACK, status_code=303)


@router.post("/owner/tokens/revocation")
@roles("owner", limited=True)
async def revoke(request: Request) -> Response:
    """A token is good for nothing from now on."""
    form = await form_of(request)
    await run_in_threadpool(api_owner.revoke, request, number(form, "token", 1))
    return RedirectResponse(_BACK, status_code=303)


@router.post("/owner/tokens")
@roles("owner", limited=True)
async def begin_token(request: Request) -> Response:
    """The draft of a token for somebody."""
    name = exactly(await form_of(request), "name")
    service, person = service_of(request), person_of(request)
    await run_in_threadpool(service.people.person, name)
    draft = await run_in_threadpool(Drafts(service.store).add, person, _KIND, {"name": name, "key": token_urlsafe(16)})
    return RedirectResponse(f"/owner/tokens/{draft.id}", status_code=303)


@router.get("/owner/tokens/{id}")
@roles("owner", limited=True)
async def token_page(request: Request, id: int) -> Response:
    """For how long, and for what."""
    try:
        draft = await run_in_threadpool(Drafts(service_of(request).store).draft, person_of(request), id)
        if draft.kind != _KIND:
            raise NotFound("draft", id)
    except NotFound:
        return page(request, "owner_token_gone.html", status=404)
    return await _token_page(request, draft)


async def _token_page(request: Request, draft: Draft, problem: Problem | None = None, **given: Any) -> Response:
    found = await run_in_threadpool(datasets_of, request)
    return page(
        request,
        "owner_token.html",
        status=200 if problem is None else problem.status,
        draft=draft,
        name=draft.document["name"],
        accounts=sorted({each.account for each in found}),
        given={"days": "90", "scope": _ALL, **given},
        problem=problem,
    )


@router.post("/owner/tokens/{id}")
@roles("owner", limited=True)
async def make_token(request: Request, id: int) -> Response:
    """Make the token and show it here, once."""
    form = await form_of(request)
    drafts, person = Drafts(service_of(request).store), person_of(request)
    try:
        draft = await run_in_threadpool(drafts.draft, person, id)
        if draft.kind != _KIND or draft.document["key"] != text(form, "key"):  # the number was given again since
            raise NotFound("draft", id)
    except NotFound:
        return page(request, "owner_token_gone.html", status=409)
    given = {"days": text(form, "days"), "scope": text(form, "scope")}
    try:
        scope = None if given["scope"] == _ALL else [given["scope"]]
        body = made(bodies.TokenBody, days=_days(given["days"]), scope=scope)
        await run_in_threadpool(drafts.drop, person, id)  # before the token is made: there is at most one
    except Problem as problem:
        return await _token_page(request, draft, problem, **given)
    except NotFound:
        return page(request, "owner_token_gone.html", status=409)
    name = draft.document["name"]
    told = await run_in_threadpool(api_owner.make_token, request, name, body)
    return page(request, "owner_token_made.html", name=name, token=told.token, days=body.days)


def _days(given: str) -> float:
    try:
        return float(given)
    except ValueError:
        raise wrong("days", "days") from None
