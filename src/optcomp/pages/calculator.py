"""The calculator: what mechanisms cost together, by every theorem, for everybody and without an account.

Everything is computed by processes without data, with limits on time, memory and queue; this module asks them, and
shows what they say.  A GET changes nothing, and its address holds the whole state.
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import replace
from pathlib import PurePosixPath
from typing import Any

from fastapi import APIRouter, Request, Response
from fastapi.responses import RedirectResponse
from starlette.concurrency import run_in_threadpool
from starlette.datastructures import UploadFile

from optcomp.center import ROWS, Busy, CenterError, Problem, TookTooLong, TooMany, access, visitor
from optcomp.pages.access import PageRoute, form_of, open_to_all, takes
from optcomp.pages.calculator_view import EXAMPLES, MOST_TEXT, State, parameters_of, pictures, state_in, state_of
from optcomp.pages.rendering import page, words_for
from optcomp.pages.words import words

router = APIRouter(route_class=PageRoute, include_in_schema=False)
_AT_ONCE, _AT_LEISURE = 0.35, 0.5
"""Seconds for the curves of an ordinary page; and the share of all the time there is, when somebody asks for more."""
_MOST_FILE = 256 * 1024
"""Bytes of a file: more than anybody writes by hand."""
_FILE_FORM = 2 * _MOST_FILE  # bytes of the form that sends it: a file that is too long is told so beside its field
_STATE_FORM = 3 * _MOST_FILE  # bytes of the form that sends back what was read of it, which has signs written as %XX


@router.get("/calculator")
@open_to_all
async def calculator(request: Request) -> Response:
    """The form, and what comes out of it."""
    return await _shown(request, state_of(request.query_params))


@router.post("/calculator/file")
@open_to_all
@takes(_FILE_FORM)
async def file(request: Request) -> Response:
    """Read a file into the form; one that is too long for an address is shown at once."""
    await run_in_threadpool(_count, request)
    form = await form_of(request)
    state, given = state_in(str(form.get("state", ""))[: 4 * MOST_TEXT]), form.get("file")
    try:
        read = await _read(request, given if isinstance(given, UploadFile) else None)
    except Problem as problem:
        return _page(request, state, problem=problem)
    finally:
        await form.close()
    text = f"{state.mechanisms}\n{read['mechanisms']}".strip()
    longer = replace(state, mechanisms=text)
    if len(longer.query) <= MOST_TEXT:
        return RedirectResponse(f"/calculator?{longer.query}", status_code=303)
    return await _shown(request, longer, from_file=True)


@router.get("/calculator/certificate.json")
@open_to_all
async def certificate(request: Request) -> Response:
    """The proof of the answer, for another program."""
    await run_in_threadpool(_count, request)
    return await _certificate(request, state_of(request.query_params))


@router.post("/calculator/certificate.json")
@open_to_all
@takes(_STATE_FORM)
async def certificate_of_file(request: Request) -> Response:
    """The same for mechanisms that are too long for an address."""
    await run_in_threadpool(_count, request)
    form = await form_of(request)
    return await _certificate(request, await run_in_threadpool(state_in, str(form.get("state", ""))))


async def _certificate(request: Request, state: State) -> Response:
    found = await _asked(request, "certificate", given=state.given)
    text = json.dumps(found["certificate"], indent=2, ensure_ascii=True, allow_nan=False) + "\n"
    headers = {"Content-Disposition": 'attachment; filename="certificate.json"', "Cache-Control": "no-store"}
    return Response(text, media_type="application/json", headers=headers)


async def _shown(request: Request, state: State, *, from_file: bool = False) -> Response:
    if len(state.mechanisms) > MOST_TEXT and not from_file:
        long = words()("calculator.too_long", most=MOST_TEXT)
        return _page(
            request, replace(state, mechanisms=""), problem=Problem("invalid", str(long), argument="mechanisms")
        )
    if state.empty:
        return _page(request, state)
    try:
        await run_in_threadpool(_count, request)
        answer = await _asked(request, "answer", given=state.given)
    except Problem as problem:
        return _page(request, state, problem=problem)
    compared = await _if_in_time(request, "compared", given=state.given)
    seconds = _AT_LEISURE * access.service_of(request).calculators.seconds if state.more else _AT_ONCE
    curves = await _if_in_time(request, "curves", given=state.given, seconds=seconds, cost=answer["seconds"])
    return _page(request, state, answer=answer, compared=compared, curves=curves, from_file=from_file)


async def _asked(request: Request, job: str, **arguments: Any) -> dict[str, Any]:
    """What a process calculates; what is wrong, late or too much is a problem in plain words."""
    t, service = words_for(request), access.service_of(request)
    try:
        found = await service.calculators.call(job, arguments, address=_address(request), gone=request.is_disconnected)
    except TookTooLong:
        seconds = format(service.settings.calculator_seconds, "g")
        raise Problem("busy", str(t("calculator.late", seconds=seconds)), late=True) from None
    except (Busy, TooMany):
        if not service.settings.calculators:
            raise Problem("busy", str(t("calculator.off"))) from None
        raise Problem("busy", str(t("calculator.busy")), wait=1.0) from None
    except CenterError:
        raise Problem("busy", str(t("calculator.broken"))) from None
    if "error" in found:
        raise Problem("invalid", found["words"], argument=found["error"])
    return found


async def _if_in_time(request: Request, job: str, **arguments: Any) -> dict[str, Any] | None:
    """The same; nothing if it does not come."""
    try:
        return await _asked(request, job, **arguments)
    except Problem:
        return None


async def _read(request: Request, given: UploadFile | None) -> Mapping[str, Any]:
    t = words_for(request)
    content = b"" if given is None else await given.read(_MOST_FILE + 1)
    if given is None or not given.filename:
        raise Problem("invalid", str(t("calculator.no_file")), argument="file")
    if len(content) > _MOST_FILE:
        raise Problem("invalid", str(t("calculator.large_file", most=_MOST_FILE // 1024)), argument="file")
    try:
        text = content.decode("utf-8-sig")
    except UnicodeDecodeError:
        raise Problem("invalid", str(t("calculator.no_text")), argument="file") from None
    ending = PurePosixPath(given.filename).suffix.lower().removeprefix(".")
    return await _asked(request, "read_file", text=text, ending=ending)


def _count(request: Request) -> None:
    """One more calculation from this address; a large form counts as several."""
    limit = access.service_of(request).settings.calculations
    access.count_request(request, f"calculator {visitor(_address(request))}", limit)


def _address(request: Request) -> str:
    return request.client.host if request.client else ""


def _page(request: Request, state: State, *, problem: Problem | None = None, **found: Any) -> Response:
    t = words_for(request)
    values = {"answer": None, "compared": None, "curves": None, "from_file": False} | found
    drawn = pictures(values["curves"] or {}, t)
    made = page(
        request,
        "calculator.html",
        status=200 if problem is None else problem.status,
        state=state,
        problem=problem,
        pictures=drawn,
        link=f"{request.base_url}calculator?{state.query}",
        parameters_of=parameters_of,
        kinds=tuple(ROWS),
        examples=EXAMPLES,
        most=MOST_TEXT,
        seconds=access.service_of(request).settings.calculator_seconds,
        **values,
    )
    made.headers.update(problem.headers if problem is not None else {})
    return made
