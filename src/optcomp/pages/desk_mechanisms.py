"""Interactive mechanisms: opened after a confirmation that fixes them, asked, and seen side by side.

All that a mechanism will ever cost is paid when it is opened.  A question to it has no key but itself: the same
question again has the stored answer, unless somebody asks for a fresh one.
"""

from __future__ import annotations

import inspect
import json
import re
from typing import Any
from urllib.parse import urlencode

from fastapi import APIRouter, Request, Response
from fastapi.responses import RedirectResponse
from starlette.concurrency import run_in_threadpool
from starlette.datastructures import FormData, QueryParams

from optcomp.center import (
    Number,
    Problem,
    Seat,
    api_analyst,
    bodies,
    roles,
    seat_of,
    spends,
)
from optcomp.errors import OptcompError
from optcomp.interactive import Mechanism, read_mechanism
from optcomp.pages import desk_form, desk_view
from optcomp.pages.access import PageRoute, form_of, problem_of
from optcomp.pages.conditions import example
from optcomp.pages.desk import left_of
from optcomp.pages.desk_mechanism_form import MechanismForm, read_mechanism_form
from optcomp.pages.desk_questions import KeyInPath, fixed_body, new_key
from optcomp.pages.rendering import page, words_for
from optcomp.statistics import Declared

router = APIRouter(route_class=PageRoute, include_in_schema=False)
_QUESTIONS = 100
"""For so many questions the error of a mechanism is shown."""


@router.get("/analyst/seats/{id}/open")
@roles("analyst", limited=True)
async def choose(request: Request, id: Number) -> Response:
    """A form for a mechanism, with what it would cost."""
    seat = await run_in_threadpool(seat_of, request, id)
    form = read_mechanism_form(request.query_params, seat.dataset.declared)
    shown = await _previewed(request, seat, form) | await left_of(request, seat)
    return page(request, "desk_open.html", seat=seat, form=form, **shown)


@router.get("/analyst/seats/{id}/open/fix")
@roles("analyst", limited=True)
async def fix_mechanism(request: Request, id: Number) -> Response:
    """Draw a key for what is in the form."""
    await run_in_threadpool(seat_of, request, id)
    query = urlencode(request.query_params.multi_items())
    return RedirectResponse(f"/analyst/seats/{id}/open/key/{new_key()}?{query}", status_code=303)


@router.get("/analyst/seats/{id}/open/key/{key}")
@roles("analyst", limited=True)
async def confirm_mechanism(request: Request, id: Number, key: KeyInPath) -> Response:
    """What will be opened and paid; or, if that has happened, the mechanism."""
    seat = await run_in_threadpool(seat_of, request, id)
    known = (await api_analyst.transcript(request, id, key=key)).requests
    if known:
        return RedirectResponse(f"/analyst/seats/{id}/mechanisms/{known[0]['request']}", status_code=303)
    return await _confirmation(request, seat, key)


async def _confirmation(request: Request, seat: Seat, key: str, problem: Problem | None = None) -> Response:
    form = read_mechanism_form(request.query_params, seat.dataset.declared)
    shown = await _previewed(request, seat, form)
    back = f"/analyst/seats/{seat.id}/open?{request.url.query}"
    if shown["preview"] is None:
        return RedirectResponse(back, status_code=303)
    fixed = json.dumps(shown["preview"]["mechanism"], ensure_ascii=False)
    shown |= {"problem": problem, "fixed": fixed, "back": back, **await left_of(request, seat)}
    status = 200 if problem is None else problem.status
    return page(request, "desk_open_confirm.html", status=status, seat=seat, key=key, **shown)


async def _previewed(request: Request, seat: Seat, form: MechanismForm) -> dict[str, Any]:
    try:
        document = form.spec().document()
        body = bodies.MechanismPreviewBody(mechanism=document, questions=_QUESTIONS, confidence=0.95)
        found = await api_analyst.preview_mechanism(request, seat.id, body)
    except (Problem, OptcompError) as error:
        problem = problem_of(error)
        if problem is None or problem.code != "invalid":
            raise
        return {"preview": None, "problem": desk_view.placed(problem, form.names, {"column": "columns"})}
    return {"preview": found.model_dump(), "problem": None}


@router.post("/analyst/seats/{id}/open/key/{key}")
@roles("analyst", limited=True)
@spends
async def open_mechanism(request: Request, id: Number, key: KeyInPath) -> Response:
    """Debits all that the mechanism will ever cost, once for each key, and opens it."""
    seat, form = await run_in_threadpool(seat_of, request, id), await form_of(request)
    body = fixed_body(request, bodies.MechanismBody, "mechanism", form.get("mechanism"), key=key)
    try:
        opened = await api_analyst.open_mechanism(request, id, body)
    except Problem as problem:
        if problem.code == "not_answered":
            return RedirectResponse(request.url.path + f"?{request.url.query}", status_code=303)
        if problem.code in ("budget_exceeded", "invalid", "conflict", "busy"):
            return await _confirmation(request, seat, key, problem)
        raise
    return RedirectResponse(f"/analyst/seats/{id}/mechanisms/{opened.mechanism}", status_code=303)


@router.get("/analyst/seats/{id}/mechanisms/{number}")
@roles("analyst", limited=True)
async def mechanism_page(request: Request, id: Number, number: Number) -> Response:
    """A mechanism with its answers, and a form to ask it."""
    seat = await run_in_threadpool(seat_of, request, id)
    return await _mechanism(request, seat, number, request.query_params)


async def _mechanism(
    request: Request, seat: Seat, number: int, given: QueryParams, problem: Problem | None = None
) -> Response:
    found, t = await _found(request, seat, number), words_for(request)
    declared = seat.dataset.declared
    form = desk_form.read(given, declared, comparable=True)
    beside = None
    if problem is not None:
        beside = desk_view.placed(problem, {*form.names, "guess"}, {form.word: "column"})
    shown = {
        "opened": desk_view.opened(found, declared, seat.id, t),
        "wants": _wants(read_mechanism(found["document"])),
        "form": form,
        "example": example(declared.columns),
        "able": _able(form, declared),
        "guess": given.get("guess", ""),
        "problem": beside,
        "told": given.get("told", ""),
        "why": (await api_analyst.why(request, seat.id, number)).model_dump(),
    }
    status = 200 if problem is None else problem.status
    return page(request, "desk_mechanism.html", status=status, seat=seat, **shown, **await left_of(request, seat))


async def _found(request: Request, seat: Seat, number: int) -> dict[str, Any]:
    running = (await api_analyst.mechanisms(request, seat.id)).mechanisms
    found = next((each for each in running if each["mechanism"] == number), None)
    if found is None:
        raise Problem("not_found", str(words_for(request)("desk.missing.mechanism")))
    return found


def _able(form: desk_form.Form, declared: Declared) -> tuple[str, ...]:
    """The columns that any of the statistics which it takes may be about."""
    forms = [desk_form.read(QueryParams({"kind": word}), declared, comparable=True) for word in form.words]
    found = {option for each in forms for field in each.fields if field.kind == "column" for option in field.options}
    return tuple(name for name in declared.columns if name in found)


def _wants(spec: Mechanism) -> tuple[str, ...]:
    """What a question to it consists of."""
    return tuple(inspect.signature(spec.form).parameters)[1:]


@router.post("/analyst/seats/{id}/mechanisms/{number}")
@roles("analyst", limited=True)
@spends
async def ask_mechanism(request: Request, id: Number, number: Number) -> Response:
    """Ask it; the same question again has the stored answer."""
    seat, sent = await run_in_threadpool(seat_of, request, id), await form_of(request)
    given = _given(sent)
    found = await _found(request, seat, number)
    form = desk_form.read(given, seat.dataset.declared, comparable=True)
    wants = _wants(read_mechanism(found["document"]))
    asked: dict[str, Any] = {"statistic": form.statistic()} if "statistic" in wants else {"where": form.where}
    asked |= {"guess": given.get("guess", "")} if "guess" in wants else {}
    repeat = int(given["fresh"]) if re.fullmatch("[0-9]{1,6}", given.get("fresh", "")) else 0
    body = bodies.MechanismAskBody(ask=asked, key=None, repeat=repeat)
    try:
        told = await api_analyst.ask_mechanism(request, id, number, body)
    except Problem as problem:
        if problem.code in ("invalid", "conflict", "not_answered", "busy"):
            return await _mechanism(request, seat, number, given, problem)
        raise
    return RedirectResponse(
        f"/analyst/seats/{id}/mechanisms/{number}?told={told.model_dump()['request']}", status_code=303
    )


def _given(sent: FormData) -> QueryParams:
    return QueryParams(
        [(name, value) for name, value in sent.multi_items() if isinstance(value, str) and name != "proof"]
    )
