"""The owner's office: the same table at another time, as a new version of a data set under the same account."""

from __future__ import annotations

import json

from fastapi import APIRouter, Request, Response
from starlette.concurrency import run_in_threadpool

from optcomp.center import Problem, api_owner, bodies, roles, seen_dataset, service_of
from optcomp.pages.access import PageRoute, form_of
from optcomp.pages.office import to_dataset
from optcomp.pages.office_forms import made, number, text, tried, wrong
from optcomp.pages.rendering import page

router = APIRouter(route_class=PageRoute, include_in_schema=False)


@router.get("/owner/datasets/{name}/version")
@roles("owner")
async def version_page(request: Request, name: str) -> Response:
    """Files and tables to choose from; nothing is read."""
    return await _version_page(request, name, None)


async def _version_page(request: Request, name: str, problem: Problem | None) -> Response:
    found = await run_in_threadpool(seen_dataset, request, name)
    return page(
        request,
        "owner_version.html",
        status=200 if problem is None else problem.status,
        dataset=found,
        columns=list(found.declared.columns),
        sources=[each | {"value": _value(each)} for each in await _listed(request)],
        folders=[str(each) for each in service_of(request).store.settings.folders],
        problem=problem,
    )


async def _listed(request: Request) -> list[dict[str, object]]:
    return list((await run_in_threadpool(api_owner.sources, request)).entries)


def _value(source: dict[str, object]) -> str:
    """How a form says which source is meant."""
    return json.dumps([source["source"], source["table"]])


@router.post("/owner/datasets/{name}/version")
@roles("owner")
async def renew(request: Request, name: str) -> Response:
    """Read the table once and freeze it as the next version; the same form again finds it done."""
    form = await form_of(request)
    known = await run_in_threadpool(seen_dataset, request, name)
    if number(form, "version") != known.version:
        return to_dataset(name)
    found = next((each for each in await _listed(request) if _value(each) == text(form, "source")), None)
    if found is None:
        return await _version_page(request, name, wrong("source", "source"))
    told = {"source": found["source"], "table": found["table"], "multiline": text(form, "multiline") == "on"}
    _, problem = await tried(api_owner.renew, request, name, made(bodies.VersionBody, **told))
    return to_dataset(name) if problem is None else await _version_page(request, name, problem)
