"""What goes wrong, as JSON: every error has a code, and words that hold nothing of anybody's data.

A failure that may have come after a debit has one body, whatever happened: what went wrong may depend on the data.  An
error that nobody foresaw has a fixed body too; its text is shown to nobody, and not logged.
"""

from __future__ import annotations

import math
from collections.abc import Mapping
from typing import Any

from fastapi import FastAPI, Request
from fastapi.exceptions import RequestValidationError
from fastapi.responses import JSONResponse
from starlette.exceptions import HTTPException

from optcomp.center.failures import NOT_ANSWERED, Busy, Cancelled, CannotAnswer, CannotStart, Stopped, database_failed
from optcomp.center.refusals import Conflict, Forbidden, NeedsSecond, NotFound, NotKnown, Suspended, TooMany
from optcomp.errors import (
    BudgetExceeded,
    HypothesisNotMet,
    InvalidInput,
    MechanismClosed,
    NotAffordable,
    OptcompError,
    UnreadableData,
)
from optcomp.ledger import LedgerCopied

STATUS = {
    "not_known": 401,
    "forbidden": 403,
    "suspended": 403,
    "not_found": 404,
    "not_allowed": 405,
    "conflict": 409,
    "budget_exceeded": 409,
    "too_large": 413,
    "wrong_host": 421,
    "invalid": 422,
    "not_answered": 424,
    "too_many": 429,
    "defect": 500,
    "busy": 503,
}
"""Every code of an error, with its HTTP status."""
_CODE_OF = {400: "invalid", 401: "not_known", 403: "forbidden", 404: "not_found", 405: "not_allowed", 413: "too_large"}
"""What the framework's own refusals are called."""
_CODES: tuple[tuple[type[OptcompError] | tuple[type[OptcompError], ...], str], ...] = (
    (NotKnown, "not_known"),
    (Forbidden, "forbidden"),
    (Suspended, "suspended"),
    (NotFound, "not_found"),
    ((Conflict, CannotAnswer, LedgerCopied), "conflict"),
    ((Busy, CannotStart), "busy"),
    ((NotAffordable, UnreadableData), "invalid"),
)
"""What the errors are called that have nothing to tell but their words."""
_LONGEST = 600
"""Letters of a message: what somebody sent may be quoted in it."""
NO_DATABASE = "A database of the centre cannot be used at the moment. Ask again in a while."
"""The words if the database of the centre or that of the ledger fails: where it lies is for its owner."""
DEFECT = "The server failed. What happened is in its log, without any values."
"""The words for an error that nobody foresaw."""


_NO_OBJECT = "must be a JSON object, sent with the header Content-Type: application/json"
"""What is wrong with a body that is none, or that does not say so."""


class Problem(Exception):
    """A refusal: its code, its words, and what else a program may act on."""

    def __init__(self, code: str, message: str, *, wait: float | None = None, **more: Any) -> None:
        self.code, self.message, self.more = code, message, more
        self.headers = {} if wait is None else {"Retry-After": str(max(1, math.ceil(wait)))}
        if code == "not_known":
            self.headers["WWW-Authenticate"] = "Bearer"
        super().__init__(code)

    @property
    def status(self) -> int:
        """The HTTP status."""
        return STATUS[self.code]

    def body(self) -> dict[str, Any]:
        """The body of the response."""
        return {"error": self.code, "message": plain(self.message), **self.more}

    def response(self) -> JSONResponse:
        """The response."""
        return JSONResponse(self.body(), status_code=self.status, headers=self.headers)


def plain(text: str) -> str:
    """One line that can be written as UTF-8, cut where it is absurdly long."""
    line = "".join(sign if sign.isprintable() else " " for sign in text)
    return line if len(line) <= _LONGEST else line[: _LONGEST - 1] + "…"


def not_answered() -> Problem:
    """After a debit, or after what may have been one."""
    return Problem("not_answered", NOT_ANSWERED)


def of_library(error: OptcompError) -> Problem:
    """An error that the library or the centre raised on purpose."""
    if isinstance(error, Stopped):
        return not_answered() if error.spends else _stopped(error)
    if isinstance(error, TooMany):
        return Problem("too_many", str(error), wait=error.seconds)
    if isinstance(error, BudgetExceeded):
        return Problem("budget_exceeded", str(error), remaining=_left(error.remaining))
    if database_failed(error):
        return Problem("busy", NO_DATABASE)
    if isinstance(error, InvalidInput):
        return Problem("invalid", str(error), argument=plain(error.argument))
    if isinstance(error, HypothesisNotMet):
        return Problem("invalid", str(error), theorem=error.theorem)
    if isinstance(error, MechanismClosed):
        return Problem("conflict", str(error), closed=True)
    for kinds, code in _CODES:
        if isinstance(error, kinds):
            return Problem(code, str(error))
    return Problem("conflict", f"It could not be done, because of a {type(error).__name__}.")


def _stopped(error: Stopped) -> Problem:
    """Free work that was stopped: by whoever asked, or by its limits."""
    return Problem("conflict" if isinstance(error, Cancelled) else "too_large", str(error))


def _left(remaining: object) -> Any:
    """What is left, as JSON if it came as that."""
    return remaining if isinstance(remaining, dict | None) else plain(str(remaining))


def add_handlers(app: FastAPI) -> None:
    """Every error that reaches the framework leaves as one of ours."""

    async def problem(_: Request, error: Any) -> JSONResponse:
        if isinstance(error, NeedsSecond):
            return JSONResponse({"confirmation": error.confirmation, "message": plain(str(error))}, status_code=202)
        return (error if isinstance(error, Problem) else of_library(error)).response()

    async def wrong(_: Request, error: Any) -> JSONResponse:
        return _of_validation(error.errors()).response()

    async def framework(_: Request, error: Any) -> JSONResponse:
        return _of_framework(error).response()

    app.add_exception_handler(Problem, problem)
    app.add_exception_handler(OptcompError, problem)
    app.add_exception_handler(RequestValidationError, wrong)
    app.add_exception_handler(HTTPException, framework)


def _of_validation(errors: Any) -> Problem:
    """The first thing that is wrong with a request, by its place; the value is not repeated."""
    first: Mapping[str, Any] = next(iter(errors), {"loc": ("body",), "msg": "cannot be read"})
    place = ".".join(str(step) for step in first["loc"][1:]) or str(first["loc"][0])
    words = _NO_OBJECT if place == "body" else first["msg"]
    return Problem("invalid", f"{place}: {words}", argument=plain(place))


def _of_framework(error: HTTPException) -> Problem:
    code = _CODE_OF.get(error.status_code, "invalid")
    words = {"not_found": "There is nothing of that name here.", "too_large": "The body is too large."}
    found = Problem(code, words.get(code, "The request cannot be read."))
    found.headers |= {name: value for name, value in (error.headers or {}).items() if name.lower() == "allow"}
    return found
