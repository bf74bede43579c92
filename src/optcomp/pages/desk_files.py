"""Answers as files: a table for spreadsheets, JSON with the exact amounts, the certificate and the receipt.

Text that somebody entered cannot become a formula: a cell of text that begins like one gets an apostrophe.
"""

from __future__ import annotations

import csv
import io
import json
from typing import Any

from fastapi import APIRouter, Request, Response
from starlette.concurrency import run_in_threadpool

from optcomp.center import (
    Number,
    Problem,
    api_analyst,
    roles,
    seat_of,
)
from optcomp.pages import desk_form, desk_view
from optcomp.pages.access import PageRoute
from optcomp.pages.desk_questions import line_of
from optcomp.pages.rendering import words_for

router = APIRouter(route_class=PageRoute, include_in_schema=False)
_FORMULAS = ("=", "+", "-", "@", "\t", "\r")
"""With which spreadsheets let a formula begin."""
_TABLE = ("statistic", "cell", "value", "low", "high", "confidence", "unit", "invented")
"""The columns of a table of answers."""


@router.get("/analyst/seats/{id}/requests/{number}/answer.csv")
@roles("analyst", limited=True)
async def answer_csv(request: Request, id: Number, number: Number, confidence: str = "0.95") -> Response:
    """All numbers of an answer with their intervals."""
    found, shown = await _told(request, id, number, confidence)
    text = io.StringIO()
    writer = csv.writer(text, lineterminator="\r\n")
    writer.writerow(_TABLE)
    about = [safe_cell(found["what"])], [shown.confidence, safe_cell(shown.unit), "no"]
    for row in shown.rows:
        writer.writerow([*about[0], safe_cell(row.cell), row.value, _or_empty(row.low), _or_empty(row.high), *about[1]])
    return attached(text.getvalue(), f"answer-{number}.csv", "text/csv; charset=utf-8")


@router.get("/analyst/seats/{id}/requests/{number}/answer.json")
@roles("analyst", limited=True)
async def answer_json(request: Request, id: Number, number: Number, confidence: str = "0.95") -> Response:
    """The answer with its exact amounts, what it cost, and its receipt."""
    found, shown = await _told(request, id, number, confidence)
    rows = [vars(row) for row in shown.rows]
    about = {name: found[name] for name in ("request", "what", "paid", "answer", "receipt")}
    told = {**about, "unit": shown.unit, "confidence": shown.confidence, "rows": rows, "invented": False}
    return attached(json_text(told), f"answer-{number}.json", "application/json")


@router.get("/analyst/seats/{id}/requests/{number}/certificate.json")
@roles("analyst", limited=True)
async def certificate_json(request: Request, id: Number, number: Number) -> Response:
    """What proves the batch of the slot; `optcomp verify` reads it."""
    batch = (await api_analyst.why(request, id, number)).model_dump()["batch"]
    if batch is None:
        raise Problem("not_found", str(words_for(request)("desk.missing.batch")))
    return attached(json_text(batch["certificate"]), "certificate.json", "application/json")


@router.get("/analyst/seats/{id}/requests/{number}/receipt.json")
@roles("analyst", limited=True)
async def receipt_json(request: Request, id: Number, number: Number) -> Response:
    """Where the ledger entered the request."""
    seat = await run_in_threadpool(seat_of, request, id)
    found = await line_of(request, seat, number)
    return attached(json_text(found["receipt"]), f"receipt-{number}.json", "application/json")


async def _told(request: Request, id: int, number: int, confidence: str) -> tuple[dict[str, Any], desk_view.Told]:
    seat = await run_in_threadpool(seat_of, request, id)
    found = await line_of(request, seat, number)
    if found["answer"] is None or found["kind"] not in ("question", "planned"):
        raise Problem("not_found", str(words_for(request)("desk.missing.answer")))
    sure = confidence if confidence in desk_form.CONFIDENCES else "0.95"
    shown = await run_in_threadpool(desk_view.told, found["answer"], seat.dataset.declared, sure, found["what"])
    return found, shown


def safe_cell(text: str) -> str:
    """Text for a cell of a table, which no spreadsheet takes for a formula."""
    return f"'{text}" if text.startswith(_FORMULAS) else text


def json_text(value: Any) -> str:
    """JSON for people to read."""
    return json.dumps(value, ensure_ascii=False, indent=2) + "\n"


def attached(text: str, name: str, kind: str) -> Response:
    """A file to download, under a name of ours."""
    headers = {"Content-Disposition": f'attachment; filename="{name}"', "Cache-Control": "no-store"}
    return Response(text.encode(), media_type=kind, headers=headers)


def _or_empty(value: float | None) -> float | str:
    return "" if value is None else value
