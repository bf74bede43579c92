"""The owner's office: a data set is registered in steps, kept as a draft until the last one.

    source → columns → people → check → account → confirmation → registered

Nothing is read off the data but the names of columns, and how a CSV file is written, until the owner asks for the
check; its exact numbers are kept for a week, as the result of a job.  The check and the registration are jobs: one that
takes longer has a page of its own meanwhile.
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from hashlib import sha256
from secrets import token_urlsafe
from typing import Any

from fastapi import APIRouter, Request, Response
from fastapi.responses import RedirectResponse
from starlette.concurrency import run_in_threadpool
from starlette.datastructures import FormData

from optcomp.center import (
    Draft,
    Drafts,
    NotFound,
    OwnerJob,
    Problem,
    api_audit,
    api_sources,
    bodies,
    declared_of,
    person_of,
    roles,
    service_of,
)
from optcomp.errors import InvalidInput
from optcomp.pages import bounds, office_dialect, office_jobs, office_sources
from optcomp.pages.access import PageRoute, form_of, problem_of
from optcomp.pages.office_forms import exactly, made, number, text, wrong
from optcomp.pages.office_jobs import to_dataset
from optcomp.pages.rendering import page

router = APIRouter(route_class=PageRoute, include_in_schema=False)
STEPS = ("source", "columns", "people", "check", "account", "confirmation")
"""In their order."""
_KIND = "register"
"""Drafts of data sets."""
_START = "/owner/register"
_NEW: dict[str, Any] = {
    "person": "",
    "rows_per_person": "1",
    "neighbours": "add-remove",
    "bad_cells": "missing",
    "multiline": False,
    "dialect": None,
    "name": "",
    "title": "",
    "account": "",
    "epsilon": "1",
    "delta": "1e-6",
    "free": False,
    "disjoint": False,
}
"""What a draft says before anybody said anything."""


def _address(draft: Draft | int, step: str) -> str:
    return f"{_START}/{draft if isinstance(draft, int) else draft.id}/{step}"


def _to(draft: Draft | int, step: str) -> RedirectResponse:
    return RedirectResponse(_address(draft, step), status_code=303)


async def _draft(request: Request, id: int, form: FormData | None = None) -> Draft:
    """A draft of this owner; a form must be about this one, and not about an older one that had its number."""
    found = await run_in_threadpool(Drafts(service_of(request).store).draft, person_of(request), id)
    if found.kind != _KIND or (form is not None and text(form, "key") != found.document["key"]):
        raise NotFound("draft", id)
    return found


async def _save(request: Request, draft: Draft, version: int, **changed: Any) -> Draft:
    drafts = Drafts(service_of(request).store)
    document = {**draft.document, **changed}
    return await run_in_threadpool(_saved, drafts, request, draft.id, document, version)


def _saved(drafts: Drafts, request: Request, id: int, document: Mapping[str, Any], version: int) -> Draft:
    return drafts.save(person_of(request), id, document, version=version)


def _step(request: Request, step: str, draft: Draft, problem: Problem | None = None, **values: Any) -> Response:
    status = 200 if problem is None else problem.status
    shown = {"draft": draft, "about": values.pop("about", draft.document), "step": step, "steps": STEPS}
    return page(request, f"owner_register_{step}.html", status=status, problem=problem, **shown, **values)


@router.get("/owner/register")
@roles("owner", limited=True)
async def source_page(request: Request) -> Response:
    """Files and tables to choose from, and drafts to go on with."""
    return await _source_page(request)


async def _source_page(request: Request, problem: Problem | None = None, form: FormData | None = None) -> Response:
    drafts = await run_in_threadpool(Drafts(service_of(request).store).all, person_of(request), _KIND)
    return page(
        request,
        "owner_register_source.html",
        status=200 if problem is None else problem.status,
        drafts=drafts,
        step="source",
        steps=STEPS,
        draft=None,
        problem=problem if form is None else office_sources.beside(form, problem),
        **await office_sources.offered(request, form),
    )


@router.post("/owner/register")
@roles("owner", limited=True)
async def choose(request: Request) -> Response:
    """A draft about one of the listed sources, or about several files by a pattern."""
    form = await form_of(request)
    try:
        source, table = await office_sources.picked(request, form)
    except Problem as problem:
        return await _source_page(request, problem, form)
    dialect = await office_dialect.proposed(request, source)
    told, refused = await office_dialect.read_columns(request, source, table, dialect)
    if told is None:
        return await _source_page(request, refused, form)
    columns = [bounds.new_column(name, kind) for name, kind in told.columns.items()]
    document = {**_NEW, "key": token_urlsafe(16), "source": source, "table": table, "dialect": dialect}
    document |= {"files": told.files, "columns": columns}
    drafts = Drafts(service_of(request).store)
    draft = await run_in_threadpool(drafts.add, person_of(request), _KIND, document)
    return _to(draft, "columns")


@router.post("/owner/register/{id}/drop")
@roles("owner", limited=True)
async def drop(request: Request, id: int) -> Response:
    """Forget a draft."""
    await _draft(request, id, await form_of(request))
    await run_in_threadpool(Drafts(service_of(request).store).drop, person_of(request), id)
    return RedirectResponse(_START, status_code=303)


@router.get("/owner/register/{id}/columns")
@roles("owner", limited=True)
async def columns_page(request: Request, id: int) -> Response:
    """What each column holds, and how the file is written."""
    return _columns_page(request, await _draft(request, id))


def _columns_page(request: Request, draft: Draft, problem: Problem | None = None) -> Response:
    dialect = draft.document.get("dialect")
    written = None if dialect is None else office_dialect.said(dialect)
    shown = {"presets": bounds.PRESETS, "kinds": bounds.KINDS, "units": bounds.UNITS}
    return _step(request, "columns", draft, problem, written=written, marks=office_dialect.MARKS, **shown)


@router.post("/owner/register/{id}/dialect")
@roles("owner", limited=True)
async def save_dialect(request: Request, id: int) -> Response:
    """The owner's word on how the file is written; the header is read again, and what is declared of a name stays."""
    form = await form_of(request)
    draft = await _draft(request, id, form)
    dialect = office_dialect.chosen(form)
    about = draft.document
    told, problem = await office_dialect.read_columns(request, about["source"], about["table"], dialect)
    if told is None:
        return _columns_page(request, draft, problem)
    known = {each["name"]: each for each in about["columns"]}
    columns = [known.get(name) or bounds.new_column(name, kind) for name, kind in told.columns.items()]
    changed = {"dialect": dialect, "files": told.files, "columns": columns}
    await _save(request, draft, number(form, "version"), **changed)
    return _to(draft, "columns")


@router.post("/owner/register/{id}/columns")
@roles("owner", limited=True)
async def save_columns(request: Request, id: int) -> Response:
    """Save; fill in presets, or go on if everything is declared."""
    form = await form_of(request)
    draft = await _draft(request, id, form)
    columns = [_typed(form, place, each) for place, each in enumerate(draft.document["columns"])]
    fill = text(form, "go") == "fill"
    if not fill:
        columns = [bounds.chosen(each) for each in columns]
    else:
        columns = [bounds.filled(each, each["preset"]) if each["preset"] else each for each in columns]
    saved = await _save(request, draft, number(form, "version"), columns=columns)
    problem = None if fill else _wrong_column(columns)
    if problem is not None:
        return _columns_page(request, saved, problem)
    return _to(draft, "columns" if fill else "people")


def _typed(form: FormData, place: int, known: Mapping[str, Any]) -> dict[str, Any]:
    given = {key: text(form, f"{key}-{place}") for key in bounds.FIELDS}
    unit = given["unit"] or bounds.UNITS[0]
    if given["kind"] not in bounds.KINDS or given["preset"] not in ("", *bounds.PRESETS) or unit not in bounds.UNITS:
        raise wrong("choice", f"kind-{place}")
    return {"name": known["name"], "use": text(form, f"use-{place}") == "on", **given}


def _wrong_column(columns: list[dict[str, Any]]) -> Problem | None:
    """The first column that is not declared as it must be; the library says what is wrong."""
    if not any(each["use"] for each in columns):
        return wrong("no_column", "columns")
    try:
        bounds.renamed(columns)
    except InvalidInput as error:
        place = next(place for place, each in enumerate(columns) if each["rename"] == error.value)
        return _of_column(columns[place], Problem("invalid", error.problem, argument=f"rename-{place}"))
    for place, each in enumerate(columns):
        if each["use"]:
            try:
                declared_of("data", None, bounds.declaration([each], {}), {})
            except bounds.NotDeclared as error:
                return _of_column(each, wrong(error.key, f"{error.field}-{place}"))
            except InvalidInput as error:
                return _of_column(each, Problem("invalid", error.problem, argument=f"kind-{place}"))
    return None


def _of_column(column: Mapping[str, Any], problem: Problem) -> Problem:
    """A refusal that says which column it is about: a table has many."""
    return Problem("invalid", f"{column['name']}: {problem.message}", **problem.more)


@router.get("/owner/register/{id}/people")
@roles("owner", limited=True)
async def people_page(request: Request, id: int) -> Response:
    """Who is protected."""
    return _step(request, "people", await _draft(request, id))


@router.post("/owner/register/{id}/people")
@roles("owner", limited=True)
async def save_people(request: Request, id: int) -> Response:
    """Whose rows they are, and what happens to bad cells."""
    form = await form_of(request)
    draft = await _draft(request, id, form)
    given = {key: text(form, key) for key in ("rows_per_person", "neighbours", "bad_cells")}
    given["person"] = exactly(form, "person")
    changed = {**given, "multiline": text(form, "multiline") == "on"}
    try:
        if given["person"] not in ("", *(each["name"] for each in draft.document["columns"])):
            raise wrong("choice", "person")
        number(form, "rows_per_person", 1)
        declaration = bounds.declaration(draft.document["columns"], given)
        await run_in_threadpool(declared_of, "data", None, declaration, {})
        if given["bad_cells"] not in ("missing", "refuse"):
            raise wrong("choice", "bad_cells")
    except InvalidInput as error:
        problem = problem_of(error)
    except Problem as found:
        problem = found
    else:
        await _save(request, draft, number(form, "version"), **changed)
        return _to(draft, "check")
    return _step(request, "people", draft, problem, about={**draft.document, **changed})


@router.get("/owner/register/{id}/check")
@roles("owner", limited=True)
async def check_page(request: Request, id: int) -> Response:
    """The numbers that the owner's check found, if it was made."""
    draft = await _draft(request, id)
    job = await office_jobs.latest(request, _key_of_check(draft))
    if job is not None and job.active:
        return office_jobs.to_job(job)
    return _check_page(request, draft, job, None if job is None else office_jobs.problem_of_job(job))


def _check_page(request: Request, draft: Draft, job: OwnerJob | None, problem: Problem | None = None) -> Response:
    return _step(request, "check", draft, problem, found=None if job is None else job.result)


@router.post("/owner/register/{id}/check")
@roles("owner", limited=True)
async def check(request: Request, id: int) -> Response:
    """Look at the data; the numbers are for owners."""
    draft = await _draft(request, id, await form_of(request))
    given = {**_check_body(draft).model_dump(), "draft": id}
    job = await office_jobs.begun(request, "check", given, key=_key_of_check(draft))
    if job.active:
        return office_jobs.to_job(job)
    problem = office_jobs.problem_of_job(job)
    return _to(draft, "check") if problem is None else _check_page(request, draft, job, problem)


def _check_body(draft: Draft) -> bodies.CheckBody:
    about = draft.document
    return made(bodies.CheckBody, **_source(about), declaration=bounds.declaration(about["columns"], about))


def _key_of_check(draft: Draft) -> str:
    """Names the check of this draft as it is now: whoever changes the declaration has not checked it yet."""
    about = json.dumps([draft.document["key"], _check_body(draft).model_dump()], sort_keys=True)
    return f"check {sha256(about.encode()).hexdigest()}"


def _source(about: Mapping[str, Any]) -> dict[str, Any]:
    said = {name: about.get(name) for name in ("source", "table", "bad_cells", "multiline", "dialect")}
    return said | {"rename": bounds.renamed(about["columns"]) or None}


@router.get("/owner/register/{id}/account")
@roles("owner", limited=True)
async def account_page(request: Request, id: int) -> Response:
    """What it is called, and what pays for its answers."""
    return await _account_page(request, await _draft(request, id))


async def _account_page(request: Request, draft: Draft, problem: Problem | None = None, **more: Any) -> Response:
    return _step(request, "account", draft, problem, accounts=await _accounts(request), **more)


async def _accounts(request: Request) -> list[str]:
    return [each["name"] for each in (await api_audit.accounts(request)).entries]


@router.post("/owner/register/{id}/account")
@roles("owner", limited=True)
async def save_account(request: Request, id: int) -> Response:
    """Save the name and the budget."""
    form = await form_of(request)
    draft = await _draft(request, id, form)
    given: dict[str, Any] = {key: text(form, key) for key in ("name", "title", "account", "epsilon", "delta")}
    given |= {key: text(form, key) == "on" for key in ("free", "disjoint")}
    try:
        _body({**draft.document, **given})
        if not given["account"] and not given["disjoint"] and await _accounts(request):
            raise wrong("disjoint", "disjoint")
    except Problem as problem:
        return await _account_page(request, draft, problem, about={**draft.document, **given})
    await _save(request, draft, number(form, "version"), **given)
    return _to(draft, "confirmation")


def _body(about: Mapping[str, Any]) -> bodies.DatasetBody:
    """What is registered; an account that is there keeps its own budget."""
    there = bool(about["account"])
    return made(
        bodies.DatasetBody,
        **_source(about),
        name=about["name"],
        title=about["title"],
        declaration=bounds.declaration(about["columns"], about),
        account=about["account"] or about["name"],
        epsilon=None if there else about["epsilon"],
        delta=None if there else about["delta"] or None,
        free=about["free"],
        disjoint=None if there else about["disjoint"],
    )


@router.get("/owner/register/{id}/confirmation")
@roles("owner", limited=True)
async def confirmation_page(request: Request, id: int) -> Response:
    """Everything, before it is done."""
    draft = await _draft(request, id)
    if not draft.document["name"]:
        return _to(draft, "account")
    job = await office_jobs.latest(request, _key_of_registering(draft))
    return office_jobs.to_job(job) if job is not None and job.active else await _confirmation(request, draft)


async def _confirmation(request: Request, draft: Draft, problem: Problem | None = None) -> Response:
    declared = bounds.declaration(draft.document["columns"], draft.document)
    dialect = draft.document.get("dialect")
    written = None if dialect is None else office_dialect.said(dialect)
    job = await office_jobs.latest(request, _key_of_check(draft))
    shown = {"declared": declared["columns"], "whose": declared["person"], "written": written}
    return _step(request, "confirmation", draft, problem, **shown, checked=job is not None and job.result is not None)


@router.post("/owner/register/{id}/confirmation")
@roles("owner", limited=True)
async def register(request: Request, id: int) -> Response:
    """Read the table once, freeze it and open its account; the same form again finds it done."""
    form = await form_of(request)
    try:
        draft = await _draft(request, id, form)
    except NotFound:
        return to_dataset(text(form, "name"))
    body = _body(draft.document)
    given = {**api_sources.asked_to_register(body), "draft": id}
    job = await office_jobs.begun(request, "register", given, account=body.account, key=_key_of_registering(draft))
    if job.active:
        return office_jobs.to_job(job)
    problem = office_jobs.problem_of_job(job)
    return office_jobs.shown_result(request, job) if problem is None else await _confirmation(request, draft, problem)


def _key_of_registering(draft: Draft) -> str:
    return f"register {draft.document['key']}"
