"""The owner's office: the same table at another time, as a new version of a data set under the same account."""

from __future__ import annotations

from typing import Any

from fastapi import APIRouter, Request, Response
from starlette.concurrency import run_in_threadpool
from starlette.datastructures import FormData

from optcomp.center import Problem, bodies, roles, seen_dataset
from optcomp.pages import office_jobs, office_sources
from optcomp.pages.access import PageRoute, form_of
from optcomp.pages.office_forms import made, number, text
from optcomp.pages.office_jobs import to_dataset
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
    about: dict[str, Any] = {"account": known.account, "key": f"renew {known.id} {known.version}"}
    job = await office_jobs.begun(request, "renew", {"name": name, **body.model_dump()}, **about)
    if job.active:
        return office_jobs.to_job(job)
    refused = office_jobs.problem_of_job(job)
    if refused is not None:
        return await _version_page(request, name, refused, form)
    return office_jobs.shown_result(request, job)
