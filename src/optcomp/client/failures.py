"""What a centre refuses, as the library's own errors."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from optcomp.errors import (
    BudgetExceeded,
    HypothesisNotMet,
    InvalidInput,
    MechanismClosed,
    MechanismFailed,
    OptcompError,
)


class NotServed(OptcompError):
    """A centre did not serve a request; `.code` says why, `.status` is that of HTTP, 0 if nobody answered."""

    def __init__(self, code: str, status: int, message: str) -> None:
        self.code, self.status, self.message = code, status, message
        super().__init__(f"{code.replace('_', ' ')}: {message}")


def _refused(argument: str, message: str) -> InvalidInput:
    """An argument that the centre found wrong; it has said so in its own words."""
    error = InvalidInput(argument, None, message)
    error.args = (message,)
    return error


def error_of(status: int, body: Mapping[str, Any]) -> OptcompError:
    """The error that a response tells."""
    code, message = str(body.get("error", "not_served")), str(body.get("message", "the server gave no reason"))
    if code == "budget_exceeded":
        return BudgetExceeded(None, body.get("remaining"), message)
    if code == "not_answered":
        return MechanismFailed("the question", "failure of the server; ask again: nothing is paid twice")
    if "theorem" in body:
        return HypothesisNotMet(str(body["theorem"]), message)
    if code == "invalid":
        return _refused(str(body.get("argument", "request")), message)
    if body.get("closed"):
        return MechanismClosed(None, message)
    return NotServed(code, status, message)
