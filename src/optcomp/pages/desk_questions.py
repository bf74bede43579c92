"""A question is confirmed, paid for and answered here, and its answer is kept.

The confirmation has the key in its address: a reload, a double click, the back button or a form that is sent again is
the same request, paid once.  The same address tells, after a crash too, what became of it.
"""

from __future__ import annotations

import asyncio
import json
import secrets
from collections.abc import Mapping
from typing import Annotated, Any, TypeVar
from urllib.parse import urlencode

from fastapi import APIRouter, Path, Request, Response
from fastapi.responses import RedirectResponse
from starlette.concurrency import run_in_threadpool

from optcomp.center import (
    Number,
    Problem,
    Seat,
    api_analyst,
    bodies,
    roles,
    seat_of,
    service_of,
    spends,
)
from optcomp.pages import desk_form, desk_view
from optcomp.pages.access import PageRoute, form_of, problem_of
from optcomp.pages.desk import free_answers, left_of, placed, previewed
from optcomp.pages.rendering import page, words_for

B = TypeVar("B", bound=bodies.Body)
router = APIRouter(route_class=PageRoute, include_in_schema=False)
KeyInPath = Annotated[str, Path(min_length=1, max_length=60, pattern=r"^[A-Za-z0-9_-]+$")]
"""A key that a confirmation drew."""
_PATIENCE = 4.0
"""Seconds that a page waits for an answer; after that it says that the question runs, and how to stop it."""
_AT_WORK: set[asyncio.Task[Any]] = set()
"""Questions that run on behind a page; the loop itself keeps no hold of them."""
_LOOKED_AT = 200
"""Requests that are looked through for one that was asked before."""


def new_key() -> str:
    """The key of one confirmation."""
    return secrets.token_urlsafe(16)


def seat_address(id: int, query: str = "") -> str:
    """The page of a seat, with a question in the form."""
    return f"/analyst/seats/{id}?{query}#ask" if query else f"/analyst/seats/{id}"


@router.get("/analyst/seats/{id}/ask")
@roles("analyst", limited=True)
async def fix(request: Request, id: Number) -> Response:
    """Draw a key for what is in the form; from here on both are fixed in the address."""
    await run_in_threadpool(seat_of, request, id)
    kept = [(name, value) for name, value in request.query_params.multi_items() if name not in ("add", "dry")]
    return RedirectResponse(f"/analyst/seats/{id}/ask/{new_key()}?{urlencode(kept)}", status_code=303)


@router.get("/analyst/seats/{id}/ask/{key}")
@roles("analyst", limited=True)
async def confirm(request: Request, id: Number, key: KeyInPath) -> Response:
    """What will be asked and paid; or, if that has happened, what became of it."""
    seat = await run_in_threadpool(seat_of, request, id)
    known = (await api_analyst.transcript(request, id, key=key)).requests
    if known:
        return RedirectResponse(f"/analyst/seats/{id}/requests/{known[0]['request']}", status_code=303)
    return await _confirmation(request, seat, key)


async def _confirmation(request: Request, seat: Seat, key: str, problem: Problem | None = None) -> Response:
    form = desk_form.read(request.query_params, seat.dataset.declared)
    shown = await previewed(request, seat, form)
    if shown["preview"] is None:
        return RedirectResponse(seat_address(seat.id, request.url.query), status_code=303)
    question = shown["preview"]["question"]
    before, shared = await _asked_before(request, seat, question), await free_answers(request, seat)
    shown |= await left_of(request, seat) | {
        "problem": problem,
        "before": before,
        "shared": [each for each in shared if each["question"] == question and before is None],
        "fixed": json.dumps(question, ensure_ascii=False),
        "back": seat_address(seat.id, request.url.query),
        "sent": request.query_params.get("sent") == "1",
    }
    status = 200 if problem is None else problem.status
    return page(request, "desk_confirm.html", status=status, seat=seat, form=form, key=key, **shown)


async def _asked_before(request: Request, seat: Seat, question: Mapping[str, Any]) -> int | None:
    """The newest request of this seat for the very same question, if it has an answer."""
    found = (await api_analyst.transcript(request, seat.id, most=_LOOKED_AT, newest=True)).requests
    same = [each["request"] for each in found if each["form"].get("question") == question and each["answer"]]
    return same[-1] if same else None


@router.post("/analyst/seats/{id}/ask/{key}")
@roles("analyst", limited=True)
@spends
async def pay(request: Request, id: Number, key: KeyInPath) -> Response:
    """Debits and asks, once for each key; then shows what became of it."""
    seat, form = await run_in_threadpool(seat_of, request, id), await form_of(request)
    wanted = {"key": key, "share": form.get("share") == "yes"}
    body = fixed_body(request, bodies.AskBody, "question", form.get("question"), **wanted)
    task = asyncio.create_task(api_analyst.ask(request, id, body))
    _AT_WORK.add(task)
    task.add_done_callback(_ended)
    await asyncio.wait({task}, timeout=_PATIENCE)
    if not task.done():
        again = urlencode([*request.query_params.multi_items(), ("sent", "1")])
        return RedirectResponse(f"/analyst/seats/{id}/ask/{key}?{again}", status_code=303)
    try:
        answer = task.result()
    except Exception as error:
        return await _refused(request, seat, key, error)
    return RedirectResponse(f"/analyst/seats/{id}/requests/{answer.request}", status_code=303)


def _ended(task: asyncio.Task[Any]) -> None:
    """Its outcome is in the ledger; an error that nobody waits for is looked at here, so that none is reported."""
    _AT_WORK.discard(task)
    if not task.cancelled():
        task.exception()


async def _refused(request: Request, seat: Seat, key: str, error: Exception) -> Response:
    """A refusal beside the question; what was paid for and has no answer yet is shown as that."""
    problem = problem_of(error)
    if problem is None or problem.code in ("suspended", "not_found", "forbidden"):
        raise error
    if problem.code == "not_answered":
        known = (await api_analyst.transcript(request, seat.id, key=key)).requests
        if known:
            return RedirectResponse(f"/analyst/seats/{seat.id}/requests/{known[0]['request']}", status_code=303)
    form = desk_form.read(request.query_params, seat.dataset.declared)
    return await _confirmation(request, seat, key, placed(problem, form))


def fixed_body(request: Request, kind: type[B], name: str, text: object, **more: Any) -> B:
    """The body of a request, of a document that a confirmation fixed; refused before anything is paid."""
    try:
        return kind(**{name: json.loads(str(text)), **more})
    except (ValueError, RecursionError):  # no JSON, or none that could be stored
        raise Problem("invalid", str(words_for(request)("desk.missing.fixed")), argument=name) from None


async def line_of(request: Request, seat: Seat, number: int) -> dict[str, Any]:
    """One request of a seat."""
    found = await api_analyst.transcript(request, seat.id, after=number - 1, most=1)
    lines = [each for each in found.requests if each["request"] == number]
    if not lines:
        raise Problem("not_found", str(words_for(request)("desk.missing.request")))
    return lines[0]


@router.get("/analyst/seats/{id}/requests/{number}")
@roles("analyst", limited=True)
async def answer_page(request: Request, id: Number, number: Number, confidence: str = "0.95") -> Response:
    """An answer with its interval, why it is private, and what can be done with it."""
    seat = await run_in_threadpool(seat_of, request, id)
    found = await line_of(request, seat, number)
    if found["kind"] in ("mechanism", "ask"):
        opened = found["form"]["mechanism"] if found["kind"] == "ask" else number
        return RedirectResponse(f"/analyst/seats/{id}/mechanisms/{opened}", status_code=303)
    sure, declared, t = (
        confidence if confidence in desk_form.CONFIDENCES else "0.95",
        seat.dataset.declared,
        words_for(request),
    )
    shown: dict[str, Any] = {"line": desk_view.line(found, declared, id, t), "told": None, "confidence": sure}
    if found["answer"] is not None and found["kind"] in ("question", "planned"):
        shown["told"] = await run_in_threadpool(desk_view.told, found["answer"], declared, sure, found["what"])
    agreed = await run_in_threadpool(service_of(request).catalogue.agreed, seat.dataset.name)
    shown |= {"shared": (id, str(number)) in agreed, "confidences": desk_form.CONFIDENCES}
    shown |= {"why": (await api_analyst.why(request, id, number)).model_dump(), "found": found}
    return page(request, "desk_answer.html", seat=seat, **shown, **await left_of(request, seat))


@router.post("/analyst/seats/{id}/requests/{number}/again")
@roles("analyst", limited=True)
@spends
async def again(request: Request, id: Number, number: Number) -> Response:
    """Have a question that was paid for answered now; nothing more is paid."""
    seat = await run_in_threadpool(seat_of, request, id)
    found = await line_of(request, seat, number)
    if found["kind"] == "question":
        form = found["form"]
        body = bodies.AskBody(question=form["question"], key=found["key"], repeat=form["repeat"], share=False)
        try:
            await api_analyst.ask(request, id, body)
        except Problem as problem:
            if problem.code != "not_answered":
                raise
    return RedirectResponse(f"/analyst/seats/{id}/requests/{number}", status_code=303)


@router.post("/analyst/seats/{id}/requests/{number}/cancel")
@roles("analyst", limited=True)
async def cancel(request: Request, id: Number, number: Number) -> Response:
    """Stop the process at work on a question; it stays paid."""
    seat = await run_in_threadpool(seat_of, request, id)
    found = await line_of(request, seat, number)
    if found["key"] is not None:
        await api_analyst.cancel(request, id, bodies.CancelBody(key=found["key"]))
    return RedirectResponse(f"/analyst/seats/{id}/requests/{number}", status_code=303)


@router.post("/analyst/seats/{id}/requests/{number}/share")
@roles("analyst", limited=True)
async def share(request: Request, id: Number, number: Number) -> Response:
    """Let others read the answer."""
    await api_analyst.share(request, id, number)
    return RedirectResponse(f"/analyst/seats/{id}/requests/{number}#share", status_code=303)
