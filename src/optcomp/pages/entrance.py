"""The first page, signing in and out, and the choice of colours."""

from __future__ import annotations

from typing import Any

from fastapi import APIRouter, Request, Response
from fastapi.responses import RedirectResponse
from starlette.concurrency import run_in_threadpool

from optcomp.center import (
    NotKnown,
    Person,
    Visits,
    count_failed,
    count_sign_in,
    roles,
    service_of,
)
from optcomp.pages.access import PageRoute, cookie_name, form_of, is_secure, open_to_all
from optcomp.pages.rendering import THEME, THEMES, page

router = APIRouter(route_class=PageRoute, include_in_schema=False)
HOMES = {"analyst": "/analyst", "owner": "/owner", "auditor": "/auditor"}
"""Where each role begins."""
_YEAR = 31_536_000
"""Seconds."""


@router.get("/")
@open_to_all
def first(request: Request) -> Response:
    """What there is here."""
    return page(request, "first.html", homes=HOMES)


@router.get("/sign-in")
@open_to_all
def sign_in_page(request: Request, next: str = "/") -> Response:
    """A field for the token."""
    return page(request, "sign_in.html", next=_local(next), wrong=False)


@router.post("/sign-in")
@open_to_all
async def sign_in(request: Request) -> Response:
    """Begin a visit."""
    form = await form_of(request)
    token, wanted = str(form.get("token", "")).strip(), _local(str(form.get("next", "/")))
    try:
        person, secret = await run_in_threadpool(_begun, request, token)
    except NotKnown:
        return page(request, "sign_in.html", status=401, next=wanted, wrong=True)
    made = RedirectResponse(HOMES[person.role] if wanted == "/" else wanted, status_code=303)
    made.set_cookie(cookie_name(request), secret, httponly=True, samesite="strict", **_secure(request))
    return made


def _begun(request: Request, token: str) -> tuple[Person, str]:
    """Whose token this is, and the secret of a new visit of theirs."""
    service = service_of(request)
    try:
        person = service.people.who(token)
        count_sign_in(service, request, person)
        return person, Visits(service.store).begin(token)
    except NotKnown:
        count_failed(service, request)
        raise


@router.post("/sign-out")
@roles("analyst", "owner", "auditor", limited=True)
async def sign_out(request: Request) -> Response:
    """End the visit, here and in the database."""
    secret = request.cookies.get(cookie_name(request), "")
    await run_in_threadpool(Visits(service_of(request).store).end, secret)
    made = RedirectResponse("/", status_code=303)
    made.delete_cookie(cookie_name(request), httponly=True, samesite="strict", **_secure(request))
    return made


@router.post("/colours")
@open_to_all
async def colours(request: Request) -> Response:
    """Remember light or dark for this browser."""
    form = await form_of(request)
    chosen, back = str(form.get("theme", "")), _local(str(form.get("next", "/")))
    made = RedirectResponse(back, status_code=303)
    if chosen in THEMES:
        made.set_cookie(THEME, chosen, max_age=_YEAR, httponly=True, samesite="strict", **_secure(request))
    return made


def _local(address: str) -> str:
    """An address on this server, or the first page: nobody is sent elsewhere."""
    plain = address.startswith("/") and not address.startswith("//") and "\\" not in address
    return address if plain and address.isprintable() and len(address) < 2000 else "/"


def _secure(request: Request) -> dict[str, Any]:
    return {"secure": is_secure(request)}
