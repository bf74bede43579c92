"""What owners do with sources: list, look at, check and register them, in processes of their own.

A request waits for its job and holds no thread meanwhile.  With `background=true` the reply is the job, which goes on;
it can be looked at and cancelled until it ends.
"""

from __future__ import annotations

from typing import Annotated, Any

from fastapi import APIRouter, Query, Request
from starlette.concurrency import run_in_threadpool

from optcomp.center import bodies, replies
from optcomp.center.access import GuardedRoute, person_of, roles, service_of
from optcomp.center.background import Background, answered, told
from optcomp.center.bodies import Number, PathName
from optcomp.center.problems import Problem
from optcomp.center.refusals import NotFound

router = APIRouter(prefix="/api/v1/owner", route_class=GuardedRoute, tags=["owner"], responses=replies.OF_OWNERS)
_Source = Annotated[
    str, Query(min_length=1, max_length=1000, description="As listed, or a pattern such as 2025-*.csv.")
]


@router.get("/sources", summary="What may be registered", response_model=replies.Listed)
@roles("owner", limited=True)
async def sources(request: Request, background: Background = False) -> Any:
    """Files below the folders of the settings, and tables of the listed databases."""
    return await answered(request, "sources", {}, background)


@router.get("/columns", summary="The columns of a source", response_model=replies.Columns)
@roles("owner", limited=True)
async def columns(
    request: Request,
    source: _Source,
    table: Annotated[str | None, Query(max_length=200, description="Of a database.")] = None,
    multiline: Annotated[bool, Query(description="Whether quoted cells may hold line breaks.")] = False,
    delimiter: Annotated[str | None, Query(max_length=1, description="Of a CSV file.")] = None,
    quote: Annotated[str | None, Query(max_length=1, description="Of a CSV file.")] = None,
    encoding: Annotated[str | None, Query(max_length=20, description="Of a CSV file.")] = None,
    background: Background = False,
) -> Any:
    """Names, and what their types say that they hold; no cell is read."""
    said = {"delimiter": delimiter, "quote": quote, "encoding": encoding}
    dialect = {name: value for name, value in said.items() if value is not None} or None
    given = {"source": source, "table": table, "multiline": multiline, "dialect": dialect}
    return await answered(request, "columns", given, background)


@router.get("/dialect", summary="How a file looks written", response_model=replies.Proposed)
@roles("owner", limited=True)
async def dialect(request: Request, source: _Source, background: Background = False) -> Any:
    """A proposal from the beginning of a file, for its owner to confirm; null of what is not written in lines."""
    return await answered(request, "dialect", {"source": source}, background)


@router.post("/checks", summary="Look at a table before it is registered", response_model=replies.Checked)
@roles("owner", limited=True)
async def check(request: Request, body: bodies.CheckBody, background: Background = False) -> Any:
    """Exact counts of what preparation would find, for owners alone; nothing is spent, and the look is noted."""
    return await answered(request, "check", body.model_dump(), background)


@router.post("/datasets", summary="Register a table", status_code=201, response_model=replies.DatasetInFull)
@roles("owner", limited=True)
async def register(request: Request, body: bodies.DatasetBody, background: Background = False) -> Any:
    """Reads a table once, checks and freezes it, and opens its account in the ledger."""
    return await answered(request, "register", asked_to_register(body), background, body.account)


@router.post(
    "/datasets/{name}/versions",
    summary="Register a new version",
    status_code=201,
    response_model=replies.DatasetInFull,
)
@roles("owner", limited=True)
async def renew(request: Request, name: PathName, body: bodies.VersionBody, background: Background = False) -> Any:
    """The same table at another time, under the same account; sessions that were opened go on with what they had."""
    account = await run_in_threadpool(account_of, request, name)
    return await answered(request, "renew", {"name": name, **body.model_dump()}, background, account)


@router.get("/jobs", summary="Jobs in the background")
@roles("owner", limited=True)
def jobs(request: Request) -> replies.OwnerJobs:
    """What owners have checked, registered and renewed, and what they do now."""
    found = service_of(request).preparers.jobs.all(person_of(request))
    return replies.OwnerJobs(jobs=[told(each) for each in found])


@router.get("/jobs/{id}", summary="One job")
@roles("owner", limited=True)
def job(request: Request, id: Number) -> replies.OwnerJob:
    """Its state, how far it has come, and its result or error."""
    return told(service_of(request).preparers.jobs.job(id, person_of(request)))


@router.post("/jobs/{id}/cancel", summary="Cancel a job")
@roles("owner", limited=True)
async def cancel_job(request: Request, id: Number) -> replies.Cancelled:
    """Its process is killed, and what it wrote is removed; false if it had ended."""
    return replies.Cancelled(cancelled=await service_of(request).preparers.cancel(id, person_of(request)))


def asked_to_register(body: bodies.DatasetBody) -> dict[str, Any]:
    """What a job is told that registers a table or a snapshot."""
    if body.snapshot == (body.declaration is not None):
        raise Problem("invalid", "declaration: give one, or a snapshot that has its own", argument="declaration")
    of_tables = {"declaration", "table", "bad_cells", "multiline", "dialect", "rename"}
    return body.model_dump(exclude=of_tables if body.snapshot else None)


def account_of(request: Request, name: str) -> str | None:
    """The account of a data set, if there is one that this owner sees; the job says what is wrong with the name."""
    try:
        found = service_of(request).catalogue.dataset(name).account
    except NotFound:
        return None
    return found if person_of(request).sees(found) else None
