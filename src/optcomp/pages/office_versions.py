"""The owner's office: the same table at another time, as a new version of a data set under the same account."""

from __future__ import annotations

from fastapi import APIRouter, Request, Response
from starlette.concurrency import run_in_threadpool
from starlette.datastructures import FormData

from optcomp.center import Problem, api_owner, bodies, roles, seen_dataset
from optcomp.pages import office_sources
from optcomp.pages.access import PageRoute, form_of
from optcomp.pages.office import to_dataset
from optcomp.pages.office_forms import made, number, text, tried
from optcomp.pages.rendering import page

router = APIRouter(route_class=PageRoute, include_in_schema=False)


@router.get("/owner/datasets/{name}/version")
@roles("owner", limited=True)
async def version_page(request: Request, name: str) -> Response:
    """Files and tables to choose from; nothing is read."""
    return await _version_page(request, name)


async def _version_page(
    request: Request, name: str, problem: Problem | None = None, form: FormData | None = None
) -> Response:
    found = await run_in_threadpool(seen_dataset, request, name)
    return page(
        request,
        "owner_version.html",
        status=200 if problem is None else problem.status,
        dataset=found,
        columns=list(found.declared.columns),
        problem=problem if form is None else office_sources.beside(form, problem),
        **await office_sources.offered(request, form),
    )


@router.post("/owner/datasets/{name}/version")
@roles("owner", limited=True)
async def renew(request: Request, name: str) -> Response:
    """Read the table once and freeze it as the next version; the same form again finds it done."""
    form = await form_of(request)
    known = await run_in_threadpool(seen_dataset, request, name)
    if number(form, "version") != known.version:
        return to_dataset(name)
    try:
        source, table = await office_sources.picked(request, form)
        multiline = text(form, "multiline") == "on"
        body = made(bodies.VersionBody, source=source, table=table, multiline=multiline)
    except Problem as problem:
        return await _version_page(request, name, problem, form)
    _, refused = await tried(api_owner.renew, request, name, body)
    return to_dataset(name) if refused is None else await _version_page(request, name, refused, form)
