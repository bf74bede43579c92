"""The editor of a plan: every change is worked out, shown and kept; and the forms for statistics and columns."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from typing import Any

from fastapi import APIRouter, Request, Response
from fastapi.responses import RedirectResponse

from optcomp.center import (
    Problem,
    roles,
)
from optcomp.errors import InvalidInput
from optcomp.pages.access import PageRoute, form_of, problem_of
from optcomp.pages.conditions import example
from optcomp.pages.planner_drafts import PlanDraft, compared, my_draft, save_draft
from optcomp.pages.planner_entries import (
    KINDS,
    declared_columns,
    entry_fields,
    groups_in,
    kinds,
    table_of,
    typed_columns,
    with_statistic,
)
from optcomp.pages.planner_fields import edited_by, field_named, whole
from optcomp.pages.planner_view import bars, editor_values, sentences, totals_of
from optcomp.pages.rendering import page, words_for
from optcomp.planner import HARM, drop
from optcomp.statistics import Categories

router = APIRouter(route_class=PageRoute, include_in_schema=False)
_ELSEWHERE = (
    "This draft was changed in another window. Nothing here was saved. Load the page again, and go on from there."
)
_TOLD_HERE = ("invalid", "conflict", "busy", "budget_exceeded", "too_large", "too_many")
"""Refusals that are shown in the form."""


@router.get("/planner/{id}")
@roles("analyst", "owner", limited=True)
async def editor(request: Request, id: int) -> Response:
    """The plan, with what it comes to."""
    draft = await my_draft(request, id)
    if not draft.plan.get("columns"):
        return RedirectResponse(f"/planner/{id}/table", status_code=303)
    return _editor(request, await compared(request, draft))


@router.get("/planner/{id}/compared")
@roles("analyst", "owner", limited=True)
async def comparisons(request: Request, id: int, version: int) -> Response:
    """The same page for one version of the draft, which a script asks for when the typing stops."""
    draft = await my_draft(request, id)
    if draft.version != version:
        raise Problem("conflict", _ELSEWHERE)
    return _editor(request, await compared(request, draft))


@router.post("/planner/{id}")
@roles("analyst", "owner", limited=True)
async def edit(request: Request, id: int) -> Response:
    """Work out what was changed, and keep it; while somebody types, errors and costs first."""
    form, draft, live = await form_of(request), await my_draft(request, id), "x-live" in request.headers
    try:
        saved = await _saved(request, draft, form, live=live)
    except Exception as error:
        problem = _told(error, draft)
        return _editor(request, draft if live else await compared(request, draft), problem, form)
    if live:
        return _editor(request, saved)
    return RedirectResponse(f"/planner/{id}", status_code=303)


async def _saved(request: Request, draft: PlanDraft, form: Mapping[str, Any], *, live: bool) -> PlanDraft:
    version = _version(form)
    if version != draft.version:
        raise Problem("conflict", _ELSEWHERE)
    changed = _changed(draft, form)
    return draft if changed is draft else await save_draft(request, changed, version, first=live)


def _changed(draft: PlanDraft, form: Mapping[str, Any]) -> PlanDraft:
    """Undo, redo, or what the fields say and which statistic is left out."""
    if "undo" in form:
        return draft.back()
    if "redo" in form:
        return draft.forth()
    plan, names = edited_by(draft, form) if draft.statistics or "epsilon" in form else (draft.plan, ())
    if "drop" in form:
        plan, names = drop(plan, str(form["drop"])), ()
    return draft.stepped(plan, names)


def _version(form: Mapping[str, Any]) -> int:
    text = str(form.get("version", ""))
    return int(text) if text.isascii() and text.isdigit() and len(text) < 10 else 0


def _told(error: Exception, draft: PlanDraft) -> Problem:
    """What can be shown in the form; everything else is a page of its own."""
    problem = problem_of(error)
    if problem is None or problem.code not in _TOLD_HERE:
        raise error
    return field_named(draft, problem)


def _editor(
    request: Request, draft: PlanDraft, problem: Problem | None = None, form: Mapping[str, Any] | None = None
) -> Response:
    values = editor_values(draft, form)
    t = words_for(request)
    more = {"bars": bars(values["lines"], t), "totals": totals_of(draft.worked), "harms": HARM, "problem": problem}
    more["sentences"] = [] if draft.worked is None else sentences(draft.worked["facts"])
    more["draft_version"] = _shown_version(draft, problem, form)
    more["wrong"] = None if problem is None else problem.more.get("argument")
    return page(request, "planner_editor.html", status=200 if problem is None else problem.status, **values, **more)


def _shown_version(draft: PlanDraft, problem: Problem | None, form: Mapping[str, Any] | None) -> int:
    """What the form sends next: after a conflict the old version, so that it is refused until the page is loaded."""
    stale = form is not None and problem is not None and problem.code == "conflict"
    return _version(form) if stale and form is not None else draft.version


@router.get("/planner/{id}/add")
@roles("analyst", "owner", limited=True)
async def add_page(request: Request, id: int, kind: str = "") -> Response:
    """The form for one more statistic of a kind."""
    draft = await my_draft(request, id)
    return _add_page(request, draft, kind if kind in kinds() else next(iter(kinds())))


def _add_page(
    request: Request, draft: PlanDraft, kind: str, problem: Problem | None = None, form: Any = None
) -> Response:
    table = table_of(draft.plan)
    groups = [name for name, domain in table.columns.items() if isinstance(domain, Categories)]
    noises = ["auto", *(noise.name for noise in kinds()[kind].statistic.noises())]
    fields = entry_fields(kind, table)
    values = {"draft": draft, "kinds": kinds(), "kind": kind, "fields": fields, "groups": groups}
    values["marked"] = {each.name: groups_in(form or {}, each) for each in fields if each.shape == "groups"}
    chosen = [] if form is None or not hasattr(form, "getlist") else form.getlist("columns")
    values |= {"example": example(table.columns), "known": kinds()[kind].keyword.facts}
    values |= {"noises": noises, "form": form or {}, "chosen": chosen, "problem": problem}
    return page(request, "planner_add.html", status=200 if problem is None else problem.status, **values)


@router.post("/planner/{id}/add")
@roles("analyst", "owner", limited=True)
async def add(request: Request, id: int) -> Response:
    """One more statistic, or one for each group."""
    form, draft = await form_of(request), await my_draft(request, id)
    kind = str(form.get("kind", ""))
    if kind not in kinds():
        raise InvalidInput("kind", kind, f"must be one of {', '.join(kinds())}")
    try:
        plan = with_statistic(draft.plan, kind, form, [str(each) for each in form.getlist("columns")])
        await save_draft(request, draft.stepped(plan), _version(form))
    except Exception as error:
        return _add_page(request, draft, kind, _told_beside(error), form)
    return RedirectResponse(f"/planner/{id}", status_code=303)


def _told_beside(error: Exception) -> Problem:
    """A refusal by the last word of its place, which is the name of a field."""
    problem = problem_of(error)
    if problem is None or problem.code not in _TOLD_HERE:
        raise error
    last = str(problem.more.get("argument", "")).rpartition(".")[2]
    return Problem(problem.code, problem.message, **{**problem.more, "argument": _FIELD_OF.get(last, last)})


_FIELD_OF = {"rows": "about_rows"}
"""Entries whose field in a form has another name."""


@router.get("/planner/{id}/table")
@roles("analyst", "owner", limited=True)
async def table_page(request: Request, id: int) -> Response:
    """Columns and people, declared by hand."""
    return _table_page(request, await my_draft(request, id))


def _table_page(request: Request, draft: PlanDraft, problem: Problem | None = None, form: Any = None) -> Response:
    if draft.columns is None:
        return RedirectResponse(f"/planner/{draft.id}", status_code=303)
    rows = [*(typed_columns(form) if form is not None else draft.columns), {}]
    data = draft.plan.get("data") or {} if form is None else form
    values = {"draft": draft, "rows": rows, "kinds": KINDS, "data": data, "problem": problem}
    values["draft_version"] = _shown_version(draft, problem, form)
    return page(request, "planner_table.html", status=200 if problem is None else problem.status, **values)


@router.post("/planner/{id}/table")
@roles("analyst", "owner", limited=True)
async def declare(request: Request, id: int) -> Response:
    """Keep what was typed; and go on to the editor once it is a declaration."""
    form, draft = await form_of(request), await my_draft(request, id)
    rows = typed_columns(form)
    try:
        kept = replace(draft, columns=rows)
        if not draft.plan["columns"]:
            kept = replace(kept, plan={**draft.plan, "data": _data(form, draft)})
        if "more" in form or "x-live" in request.headers:
            saved = await save_draft(request, kept, _version(form))
            if "x-live" in request.headers:
                return _table_page(request, saved)
            return RedirectResponse(f"/planner/{id}/table", status_code=303)
        data = _data(form, draft)
        plan = {**draft.plan, "columns": declared_columns(rows), "data": data}
        table_of(plan)
        await save_draft(request, replace(kept.stepped(plan), columns=rows), _version(form))
    except Exception as error:
        return _table_page(request, draft, _told_in_rows(error, rows), form)
    return RedirectResponse(f"/planner/{id}", status_code=303)


def _data(form: Mapping[str, Any], draft: PlanDraft) -> dict[str, Any]:
    """Who is protected, as the form says it."""
    found = dict(draft.plan.get("data") or {})
    for name, read in (("rows", whole), ("person", str), ("rows_per_person", whole), ("neighbours", str)):
        text = str(form.get(name, "")).strip()
        if text:
            found[name] = read(text)
        else:
            found.pop(name, None)
    return found


def _told_in_rows(error: Exception, rows: tuple[dict[str, str], ...]) -> Problem:
    """A refusal beside the field of its column."""
    problem = problem_of(error)
    if problem is None or problem.code not in _TOLD_HERE:
        raise error
    place = str(problem.more.get("argument", ""))
    name = place.rpartition(".")[2]
    for number, row in enumerate(rows):
        if f"{place}.".startswith(f"columns.{row['name']}."):
            name = f"low-{number}" if row["low"] else f"values-{number}"
    return Problem(problem.code, problem.message, argument=name)
