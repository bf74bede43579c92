"""The owner's office: work on a source that takes longer than a page may, with its progress and a button to cancel."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any
from urllib.parse import quote

from fastapi import APIRouter, Request, Response
from fastapi.responses import RedirectResponse
from starlette.concurrency import run_in_threadpool

from optcomp.center import OwnerJob, Problem, api_sources, person_of, roles, service_of, started
from optcomp.pages.access import PageRoute, form_of, problem_of
from optcomp.pages.rendering import page

router = APIRouter(route_class=PageRoute, include_in_schema=False)
PATIENCE = 2.0
"""Seconds that a form waits for its job: what is done sooner needs no page that says how far it has come."""


def to_dataset(name: str) -> RedirectResponse:
    """To the page of a data set."""
    return RedirectResponse(f"/owner/datasets/{quote(name)}", status_code=303)


def to_job(job: OwnerJob) -> RedirectResponse:
    """To the page of a job."""
    return RedirectResponse(f"/owner/jobs/{job.id}", status_code=303)


async def begun(request: Request, kind: str, given: Mapping[str, Any], **more: Any) -> OwnerJob:
    """A job, as it stands after a moment; see `started`."""
    return await started(request, kind, given, patience=PATIENCE, **more)


async def latest(request: Request, key: str) -> OwnerJob | None:
    """The newest job with a key, if there is one."""
    return await run_in_threadpool(service_of(request).preparers.jobs.latest, key, person_of(request))


def problem_of_job(job: OwnerJob) -> Problem | None:
    """Why a job has no result, in the words of the page."""
    if job.error is None:
        return None
    more = dict(job.error)
    return problem_of(Problem(more.pop("error"), more.pop("message"), **more))


def shown_result(request: Request, job: OwnerJob) -> Response:
    """Where what a job has done is shown."""
    if "confirmation" in (job.result or {}):
        return page(request, "waits.html", status=202, confirmation=(job.result or {})["confirmation"])
    if job.kind in ("register", "renew"):
        return to_dataset(job.detail["name"])
    return RedirectResponse(_back(job), status_code=303)


@router.get("/owner/jobs/{id}")
@roles("owner", limited=True)
async def job_page(request: Request, id: int) -> Response:
    """How far a job has come, or why it ended; what is done is shown where it belongs."""
    job = await run_in_threadpool(service_of(request).preparers.jobs.job, id, person_of(request))
    if job.state == "done":
        return shown_result(request, job)
    return page(request, "owner_job.html", job=job, back=_back(job), problem=problem_of_job(job))


@router.post("/owner/jobs/{id}/cancel")
@roles("owner", limited=True)
async def cancel(request: Request, id: int) -> Response:
    """End a job; what it wrote is removed."""
    await form_of(request)
    await api_sources.cancel_job(request, id)
    return RedirectResponse(f"/owner/jobs/{id}", status_code=303)


def _back(job: OwnerJob) -> str:
    """Where a job was started."""
    steps = {"check": "check", "register": "confirmation"}
    if "draft" in job.detail and job.kind in steps:
        return f"/owner/register/{job.detail['draft']}/{steps[job.kind]}"
    if job.kind == "renew":
        return f"/owner/datasets/{quote(job.detail['name'])}/version"
    return "/owner"
