"""The planner's first page: drafts, new ones from a data set, by hand or from a file, and the plan as a file."""

from __future__ import annotations

from typing import Any

from fastapi import APIRouter, Request, Response
from fastapi.responses import RedirectResponse
from starlette.concurrency import run_in_threadpool
from starlette.datastructures import FormData, UploadFile

from optcomp.center import (
    Dataset,
    Problem,
    person_of,
    plan_forms,
    releases,
    roles,
    seen,
    service_of,
)
from optcomp.errors import InvalidInput
from optcomp.pages.access import PageRoute, form_of, problem_of
from optcomp.pages.planner_drafts import add_draft, drop_draft, my_draft, my_drafts
from optcomp.pages.planner_fields import whole
from optcomp.pages.rendering import page
from optcomp.planner import dumped

router = APIRouter(route_class=PageRoute, include_in_schema=False)
_FIRST_BUDGET = {"harm": "high"}
"""Of a new plan, until somebody says what is right."""
_LONGEST_TITLE = 100
"""Letters of a title."""
_MOST_TEXT = 500_000
"""Letters of a plan that is pasted: some thousand statistics."""


@router.get("/planner")
@roles("analyst", "owner", limited=True)
async def planner(request: Request) -> Response:
    """Drafts, what was released, and ways to begin."""
    return await _first_page(request)


async def _first_page(request: Request, problem: Problem | None = None, form: Any = None) -> Response:
    datasets = await run_in_threadpool(_datasets, request)
    released = [
        each
        for dataset in datasets
        for each in await run_in_threadpool(
            releases.seen_releases, service_of(request), dataset.name, person_of(request)
        )
    ]
    values = {"drafts": await my_drafts(request), "datasets": datasets, "released": released[::-1]}
    status = 200 if problem is None else problem.status
    return page(request, "planner.html", status=status, problem=problem, form=form or {}, **values)


def _datasets(request: Request) -> list[Dataset]:
    return seen.all_seen_by(service_of(request).catalogue, person_of(request))


@router.post("/planner")
@roles("analyst", "owner", limited=True)
async def new_draft(request: Request) -> Response:
    """A new draft: about a data set, from a text or a file, or by hand."""
    form = await form_of(request)
    try:
        made = await _made(request, form)
    except Exception as error:
        problem = problem_of(error)
        if problem is None or problem.code not in ("invalid", "conflict", "not_found"):
            raise
        return await _first_page(request, problem, form)
    return RedirectResponse(made, status_code=303)


async def _made(request: Request, form: FormData) -> str:
    begin, name = str(form.get("begin", "")), str(form.get("dataset", ""))
    title = str(form.get("title", "")).strip()[:_LONGEST_TITLE]
    dataset = (
        await run_in_threadpool(seen.seen_by, service_of(request).catalogue, person_of(request), name) if name else None
    )
    if begin == "text":
        plan = await _pasted(request, form, dataset)
        made = await add_draft(request, title or _name_of(plan), plan, dataset=name or None)
    elif dataset is not None:
        rows = whole(str(form.get("rows", "")).strip())
        if not isinstance(rows, int) or rows < 1:
            raise InvalidInput("rows", rows, "must be about how many rows there are: a whole number")
        plan = plan_forms.completed(
            {"data": {"rows": rows}, "budget": _FIRST_BUDGET, "statistics": {}}, dataset.declared
        )
        made = await add_draft(request, title or dataset.title or name, plan, dataset=name)
    else:
        plan = {"plan": 1, "data": {}, "columns": {}, "budget": _FIRST_BUDGET, "statistics": {}}
        made = await add_draft(request, title, plan, columns=())
        return f"/planner/{made.id}/table"
    return f"/planner/{made.id}"


async def _pasted(request: Request, form: FormData, dataset: Dataset | None) -> dict[str, Any]:
    """A plan from a file or from a text field; about a data set, it need not repeat what is declared."""
    text, file = str(form.get("text", "")), form.get("file")
    if isinstance(file, UploadFile):
        uploaded = await file.read()
        await file.close()
        try:
            text = uploaded.decode("utf-8-sig") or text
        except UnicodeDecodeError:
            raise InvalidInput("file", "bytes", "must be text in UTF-8") from None
    if not text.strip() or len(text) > _MOST_TEXT:
        raise InvalidInput("text", f"{len(text)} letters", f"must be a plan of at most {_MOST_TEXT} letters")
    found: dict[str, Any] = (await service_of(request).call("read_plan", text=text))["plan"]
    if dataset is not None:
        return plan_forms.plan_about(found, dataset.declared, dataset.account).source
    return found


def _name_of(plan: dict[str, Any]) -> str:
    data = plan.get("data")
    return str(data.get("name", "") if isinstance(data, dict) else "")[:_LONGEST_TITLE]


@router.post("/planner/{id}/drop")
@roles("analyst", "owner", limited=True)
async def drop(request: Request, id: int) -> Response:
    """Delete a draft; what was released stays."""
    await drop_draft(request, id)
    return RedirectResponse("/planner", status_code=303)


@router.get("/planner/{id}/plan.yaml")
@roles("analyst", "owner", limited=True)
async def as_file(request: Request, id: int) -> Response:
    """The plan as YAML."""
    draft = await my_draft(request, id)
    headers = {"Content-Disposition": 'attachment; filename="plan.yaml"', "Cache-Control": "no-store"}
    return Response(dumped(draft.plan), media_type="application/yaml; charset=utf-8", headers=headers)
