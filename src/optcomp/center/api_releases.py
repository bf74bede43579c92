"""Plans and releases over HTTP: look at a plan, release it once, read what was released.

A GET never spends.  A release that was not published is there for owners alone.
"""

from __future__ import annotations

from typing import Annotated, Any

from fastapi import APIRouter, Query, Request, Response
from starlette.concurrency import run_in_threadpool

from optcomp.center import bodies, releases, replies
from optcomp.center.access import GuardedRoute, person_of, roles, service_of, spends
from optcomp.center.bodies import KeyHeader, Number, PathName, one_key
from optcomp.center.releases import Format
from optcomp.center.shelf import Release

router = APIRouter(prefix="/api/v1", route_class=GuardedRoute, tags=["releases"], responses=replies.ERRORS)
_POLICY = "default-src 'none'; style-src 'unsafe-inline'; img-src data:; frame-ancestors 'none'; sandbox"
"""For the report: it has its style and pictures inside, and runs nothing."""
_FORMATS: dict[int | str, dict[str, Any]] = {
    200: {
        "content": {
            "application/json": {},
            "text/csv": {},
            "text/html": {},
            "text/x-python": {},
            "application/x-ipynb+json": {},
        },
        "description": "The record.",
    }
}
_WAITS: dict[int | str, dict[str, Any]] = {
    202: {"model": replies.Waits, "description": "Another owner must confirm it."}
}
FormatAsked = Annotated[Format, Query(alias="format", description="The record itself, its numbers, a report, or code.")]


@router.post("/plans/work-out", summary="Work a plan out")
@roles("analyst", "owner", limited=True)
async def work_out(request: Request, body: bodies.WorkOutBody) -> replies.WorkedOut:
    """Errors, budgets and the total of a plan about any table; no account is asked, and nothing is spent."""
    return replies.WorkedOut.model_validate(await releases.work_out(service_of(request), body.plan, body.start))


@router.post("/owner/datasets/{name}/plans/look", summary="What a plan would cost")
@roles("owner", limited=True)
async def look(request: Request, name: PathName, body: bodies.LookBody) -> replies.PlanLook:
    """Allocation, errors, cost and what would be left, from declarations and the account; nothing is spent."""
    found = await releases.look(service_of(request), name, body.plan, by=person_of(request))
    return replies.PlanLook.model_validate(found)


@router.post("/owner/datasets/{name}/releases", summary="Release a plan", status_code=201, responses=_WAITS)
@roles("owner", limited=True)
@spends
async def release(
    request: Request, name: PathName, body: bodies.ReleaseBody, header: KeyHeader = None
) -> replies.Released:
    """Debits the account, then asks all questions of the plan at once.  It cannot be undone.

    The same key, or the same plan about the same version, has the same record and is paid once.
    """
    service, key = service_of(request), one_key(body.key, header)
    made = await releases.release(service, name, body.plan, key=key, publish=body.publish, by=person_of(request))
    return await run_in_threadpool(_told, request, made)


@router.post("/owner/datasets/{name}/releases/{id}/publication", summary="Publish a release, or end that")
@roles("owner", limited=True)
def publish(request: Request, name: PathName, id: Number, body: bodies.PublicationBody) -> replies.ReleaseInShort:
    """Whether everybody who may see the dataset may read it; nothing is paid."""
    found = service_of(request).catalogue.publish_release(name, id, body.published, by=person_of(request))
    return replies.ReleaseInShort.model_validate(found.document())


@router.get("/datasets/{name}/releases", summary="What was released")
@roles("analyst", "owner", "auditor", limited=True)
def listed(request: Request, name: PathName) -> replies.Releases:
    """All releases for owners; for others those that were published."""
    found = releases.seen_releases(service_of(request), name, person_of(request))
    return replies.Releases(releases=[replies.ReleaseInShort.model_validate(each.document()) for each in found])


@router.get("/datasets/{name}/releases/{id}", summary="One release", responses=_FORMATS, response_class=Response)
@roles("analyst", "owner", "auditor", limited=True)
async def one(request: Request, name: PathName, id: Number, form: FormatAsked = "json") -> Response:
    """The record, its numbers as CSV, a report in HTML, a script or a notebook; all from one record, for nothing."""
    found = await releases.released_file(service_of(request), name, id, form, person_of(request))
    headers = {"Content-Disposition": f'attachment; filename="{found.name}"'}
    if form == "html":
        headers["Content-Security-Policy"] = _POLICY
    return Response(found.text, media_type=found.media, headers=headers)


def _told(request: Request, made: Release) -> replies.Released:
    record = releases.record_of(service_of(request), made)
    return replies.Released.model_validate(made.document() | {"record": record})
