"""The last page of a plan, and what it released: a cart with one button that cannot be undone, a report, and files.

The cart fixes the plan by its digest, and a key.  Whoever sends it again, by a reload or a second click, gets the
same release and pays nothing more.
"""

from __future__ import annotations

import secrets
from typing import Any
from urllib.parse import quote

from fastapi import APIRouter, Request, Response
from fastapi.responses import RedirectResponse
from starlette.concurrency import run_in_threadpool

from optcomp.center import (
    Problem,
    bodies,
    person_of,
    releases,
    roles,
    service_of,
    spends,
)
from optcomp.center import api_releases as interface
from optcomp.pages.access import PageRoute, form_of
from optcomp.pages.charts import Curve, line_chart
from optcomp.pages.planner_drafts import PlanDraft, compared, my_draft
from optcomp.pages.planner_view import lines_of, result_pictures, sentences, totals_of
from optcomp.pages.rendering import page, words_for

router = APIRouter(route_class=PageRoute, include_in_schema=False)
FORMS = ("html", "csv", "ipynb", "py", "json")
"""The files of a release, in the order in which they are offered."""
_POLICY = "default-src 'none'; style-src 'unsafe-inline'; img-src data:; frame-ancestors 'none'; sandbox"
"""For the report, if a browser shows it: it has its style and pictures inside, and runs nothing."""


@router.get("/planner/{id}/cart")
@roles("analyst", "owner", limited=True)
async def cart(request: Request, id: int) -> Response:
    """What would be released, what it would cost, and what would be left; nothing is spent."""
    draft = await compared(request, await my_draft(request, id))
    if draft.worked is None:
        return RedirectResponse(f"/planner/{id}", status_code=303)
    look = await _look(request, draft)
    values: dict[str, Any] = {"draft": draft, "look": look, "key": secrets.token_urlsafe(16)}
    values |= {"lines": lines_of(draft.worked), "totals": totals_of(draft.worked), "chart": _growth(request, look)}
    values |= {"sentences": sentences(draft.worked["facts"]), "facts": draft.worked["facts"]}
    return page(request, "planner_cart.html", **values)


async def _look(request: Request, draft: PlanDraft) -> dict[str, Any] | None:
    """What the account says about the plan; None for plans about no data set, and for whoever is no owner."""
    if draft.dataset is None or person_of(request).role != "owner":
        return None
    return await releases.look(service_of(request), draft.dataset, draft.plan, by=person_of(request))


def _growth(request: Request, look: dict[str, Any] | None) -> Any:
    """What the first so many statistics cost together, by each way to add up."""
    if look is None or len(look["growth"]) < 2:
        return ""
    t = words_for(request)
    names = {"total": "optimal", "rho": "zcdp", "sum": "basic"}
    curves = [
        Curve(str(t(f"planner.total.{word}")), [(each["count"], each[key]) for each in look["growth"]])
        for key, word in names.items()
        if all(each[key] is not None for each in look["growth"])
    ]
    symbol = "ε" if look["facts"]["rho"] is None else "ρ"
    return line_chart(curves, title=str(t("planner.cart.growth")), across=str(t("planner.cart.count")), up=symbol)


@router.post("/planner/{id}/cart")
@roles("owner", limited=True)
@spends
async def release(request: Request, id: int) -> Response:
    """Debit the account once, and release the plan; the same plan again is the release that there is."""
    form = await form_of(request)
    digest, key = str(form.get("plan", "")), str(form.get("key", ""))
    draft = await my_draft(request, id)
    if draft.dataset is None:
        raise Problem("invalid", str(words_for(request)("planner.cart.no_dataset")))
    catalogue = service_of(request).catalogue
    known = await run_in_threadpool(catalogue.known_release, draft.dataset, digest)
    if known is not None and known.done:
        return RedirectResponse(address_of(known.dataset, known.id), status_code=303)
    look = await _look(request, draft)
    if look is None or look["plan"] != digest:
        raise Problem("conflict", str(words_for(request)("planner.cart.stale")))
    body = bodies.ReleaseBody(plan=draft.plan, key=key or None, publish=form.get("publish") == "on")
    made = await interface.release(request, draft.dataset, body)
    return RedirectResponse(address_of(made.dataset, made.id), status_code=303)


def address_of(dataset: str, number: int) -> str:
    """Where a release is shown."""
    return f"/planner/releases/{quote(dataset, safe='')}/{number}"


@router.get("/planner/releases/{name}/{number}")
@roles("analyst", "owner", "auditor", limited=True)
async def released(request: Request, name: str, number: int) -> Response:
    """A release: numbers with intervals, what is promised, and its files; it costs nothing."""
    found = await run_in_threadpool(releases.seen_release, service_of(request), name, number, person_of(request))
    values: dict[str, Any] = {"release": found, "forms": FORMS, "address": address_of(name, number)}
    if found.done:
        record = await run_in_threadpool(releases.record_of, service_of(request), found)
        values |= {"record": record, "results": result_pictures(record, words_for(request))}
        values |= {"sentences": sentences(record["facts"])}
    return page(request, "planner_release.html", **values)


@router.post("/planner/releases/{name}/{number}/publication")
@roles("owner", limited=True)
async def publish(request: Request, name: str, number: int) -> Response:
    """Publish a release to everybody who may see the data set, or end that."""
    form = await form_of(request)
    body = bodies.PublicationBody(published=form.get("published") == "yes")
    await run_in_threadpool(interface.publish, request, name, number, body)
    return RedirectResponse(address_of(name, number), status_code=303)


@router.get("/planner/releases/{name}/{number}/{form}")
@roles("analyst", "owner", "auditor", limited=True)
async def file(request: Request, name: str, number: int, form: str) -> Response:
    """One of its files, from the one record; it costs nothing."""
    found = await releases.released_file(service_of(request), name, number, form, person_of(request))
    headers = {"Content-Disposition": f'attachment; filename="{found.name}"', "Cache-Control": "no-store"}
    return Response(found.text, media_type=found.media, headers=headers | {"Content-Security-Policy": _POLICY})
