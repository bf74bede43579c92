"""The analyst's desk: my seats, one seat with a form for questions, its transcript, free answers, asking for more.

Nothing here spends: what does is in `desk_questions` and `desk_mechanisms`.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from fastapi import APIRouter, Request, Response
from fastapi.responses import RedirectResponse
from starlette.concurrency import run_in_threadpool

from optcomp.center import (
    Number,
    Problem,
    Seat,
    api_analyst,
    bodies,
    person_of,
    roles,
    seat_of,
    seats_of,
    service_of,
)
from optcomp.errors import InvalidInput, OptcompError
from optcomp.pages import desk_form, desk_view
from optcomp.pages.access import PageRoute, form_of, problem_of
from optcomp.pages.conditions import example
from optcomp.pages.rendering import page, words_for
from optcomp.statistics import Count, Question

router = APIRouter(route_class=PageRoute, include_in_schema=False)
_LIKE = Question(Count(), epsilon="1/20").document()
"""What is left is told in questions like this, before anything is asked."""
_LAST = 15
"""Lines of a transcript on the page of a seat."""
_PAGE = 100
"""Lines of a transcript on a page of its own."""
_INVENTED = 1000
"""Rows of a dry run."""
_ALSO = {"mechanism": "noise"}
"""What errors call the fields of the form."""


@router.get("/analyst")
@roles("analyst", limited=True)
async def desk(request: Request) -> Response:
    """All seats of whoever asks, a card each."""
    found = await run_in_threadpool(seats_of, request)
    cards = [await _card(request, seat) for seat in found]
    tokens = (await run_in_threadpool(api_analyst.my_tokens, request)).entries
    return page(request, "desk.html", cards=cards, tokens=tokens)


async def _card(request: Request, seat: Seat) -> dict[str, Any]:
    in_full = await api_analyst.seat(request, seat.id)
    preview = await api_analyst.preview(request, seat.id, bodies.PreviewBody(question=_LIKE, confidence=0.95))
    shown = {"seat": seat, "left": desk_view.amounts(in_full.left), "notice": in_full.notice}
    return shown | {"words": in_full.left["words"], "like": preview.model_dump()}


@router.get("/analyst/seats/{id}")
@roles("analyst", limited=True)
async def seat_page(request: Request, id: Number, wished: bool = False) -> Response:
    """One seat; the form for questions is in the address."""
    seat = await run_in_threadpool(seat_of, request, id)
    left = await left_of(request, seat)
    form = desk_form.read(request.query_params, seat.dataset.declared, usual=desk_view.usual_epsilon(left["left"]))
    shown = await previewed(request, seat, form)
    if request.query_params.get("dry") and shown["problem"] is None:
        shown |= await _dry(request, seat, form)
    shown |= {"wished": wished, "example": example(seat.dataset.declared.columns), **left}
    if "x-live" not in request.headers:
        shown |= await _around(request, seat)
    return page(request, "desk_seat.html", seat=seat, form=form, **shown)


async def previewed(request: Request, seat: Seat, form: desk_form.Form) -> dict[str, Any]:
    """What the question of a form would cost, or what is wrong with it."""
    body = bodies.PreviewBody(question=form.question(), confidence=float(form.confidence))
    try:
        found = await api_analyst.preview(request, seat.id, body)
    except (Problem, InvalidInput) as error:
        problem = problem_of(error)
        if problem is None or problem.code != "invalid":
            raise
        return {"preview": None, "problem": placed(problem, form), "dry": None}
    return {"preview": found.model_dump(), "problem": None, "dry": None}


def placed(problem: Problem, form: desk_form.Form) -> Problem:
    """A refusal beside its field."""
    return desk_view.placed(problem, form.names, {form.word: "column", **_ALSO})


async def _dry(request: Request, seat: Seat, form: desk_form.Form) -> dict[str, Any]:
    """The answer about invented rows; or why there is none, for a question that may be asked all the same."""
    body = bodies.DryRunBody(question=form.question(), rows=_INVENTED)
    try:
        found = await api_analyst.dry_run(request, seat.dataset.name, body)
    except (Problem, OptcompError) as error:
        problem = problem_of(error)
        if problem is None or problem.code not in ("invalid", "too_large", "too_many"):
            raise
        return {"problem": placed(problem, form)}
    title = str(words_for(request)("desk.dry.title"))
    told = await run_in_threadpool(desk_view.told, found.answer, seat.dataset.declared, form.confidence, title)
    return {"dry": told}


async def left_of(request: Request, seat: Seat) -> dict[str, Any]:
    """What is left in a seat, as pages show it."""
    found = await api_analyst.seat(request, seat.id)
    return {"left": desk_view.amounts(found.left), "notice": found.notice, "left_words": found.left["words"]}


async def _around(request: Request, seat: Seat) -> dict[str, Any]:
    """What a seat has beside the form: transcript, mechanisms, free answers, wishes, the declaration."""
    t, declared = words_for(request), seat.dataset.declared
    lines = (await api_analyst.transcript(request, seat.id, most=_LAST, newest=True)).requests
    running = (await api_analyst.mechanisms(request, seat.id)).mechanisms
    asked = await run_in_threadpool(service_of(request).catalogue.wishes)
    return {
        "lines": [desk_view.line(each, declared, seat.id, t) for each in reversed(lines)],
        "mechanisms": [desk_view.opened(each, declared, seat.id, t) for each in running],
        "free": await free_answers(request, seat),
        "wishes": [each for each in asked if each.seat == seat.id],
        "columns": desk_view.columns(declared),
        "declared": declared,
    }


async def free_answers(request: Request, seat: Seat) -> list[dict[str, Any]]:
    """Answers about the data set that their analysts shared, with what is shown of them."""
    if not seat.dataset.free:
        return []
    found = (await api_analyst.free(request, seat.dataset.name)).answers
    return [await run_in_threadpool(_free, each, seat) for each in reversed(found)]


def _free(found: Mapping[str, Any], seat: Seat) -> dict[str, Any]:
    shown = desk_view.told(found["answer"], seat.dataset.declared, "0.95", found["what"])
    return {"what": found["what"], "told": shown, "question": found["form"]["question"], "receipt": found["receipt"]}


@router.get("/analyst/seats/{id}/transcript")
@roles("analyst", limited=True)
async def transcript_page(request: Request, id: Number, after: api_analyst.After = 0) -> Response:
    """Everything that was asked, the oldest first."""
    seat, t = await run_in_threadpool(seat_of, request, id), words_for(request)
    found = await api_analyst.transcript(request, id, after=after, most=_PAGE)
    lines = [desk_view.line(each, seat.dataset.declared, id, t) for each in found.requests]
    return page(request, "desk_transcript.html", seat=seat, lines=lines, more=found.more)


@router.post("/analyst/seats/{id}/wishes")
@roles("analyst", limited=True)
async def wish(request: Request, id: Number) -> Response:
    """Ask the owner for more; the same words again are one wish."""
    form = await form_of(request)
    said = " ".join(str(form.get("words", "")).split())
    if not 0 < len(said) <= 2000 or not said.isprintable():
        raise Problem("invalid", str(words_for(request)("desk.wish.wrong")), argument="words")
    known = await run_in_threadpool(service_of(request).catalogue.wishes)
    name = person_of(request).name
    if not any((each.seat, each.analyst, each.words, each.state) == (id, name, said, "open") for each in known):
        await run_in_threadpool(api_analyst.wish, request, id, bodies.WishBody(words=said))
    return RedirectResponse(f"/analyst/seats/{id}?wished=1#more", status_code=303)
