"""What forms of the office send, as bodies of the interface: wrong fields are told by name."""

from __future__ import annotations

from collections.abc import Awaitable, Callable
from typing import Any, TypeVar

from fastapi import Request
from pydantic import BaseModel, ValidationError
from starlette.concurrency import run_in_threadpool
from starlette.datastructures import FormData

from optcomp.center import NeedsSecond, Problem
from optcomp.pages.access import problem_of
from optcomp.pages.words import words

Made = TypeVar("Made", bound=BaseModel)
Found = TypeVar("Found")
_LONGEST = 10_000
"""Letters of one field."""


def made(kind: type[Made], **given: Any) -> Made:
    """A body of the interface; what is wrong with it is a problem that names the field."""
    try:
        return kind(**given)
    except ValidationError as error:
        first = error.errors()[0]
        place = str(first["loc"][0]) if first["loc"] else "form"
        raise wrong(_WORDS.get(first["type"], "other"), place) from None


_WORDS = {
    "string_pattern_mismatch": "amount",
    "string_too_short": "empty",
    "string_too_long": "long",
    "value_error": "printed",
    "too_long": "many",
    "greater_than": "range",
    "greater_than_equal": "range",
    "less_than": "range",
    "less_than_equal": "range",
    "bool_type": "choice",
    "literal_error": "choice",
}
"""For what a body refuses, the sentence that says so."""


def text(form: FormData, name: str) -> str:
    """What somebody typed into a field; nothing if there is no such field."""
    found = form.get(name, "")
    return found.strip()[:_LONGEST] if isinstance(found, str) else ""


def exactly(form: FormData, name: str) -> str:
    """A name that one of our own pages sent, with every blank of it."""
    found = form.get(name, "")
    return found[:_LONGEST] if isinstance(found, str) else ""


def number(form: FormData, name: str, least: int = 0) -> int:
    """A whole number that somebody typed."""
    found = text(form, name)
    if not found.isdecimal() or len(found) > 12 or int(found) < least:
        raise wrong("number", name, least=least)
    return int(found)


def wrong(key: str, argument: str, **places: object) -> Problem:
    """A refusal in words of the catalogue, beside the field of this name."""
    return Problem("invalid", str(words()(f"owner.wrong.{key}", **places)), argument=argument)


async def tried(call: Callable[..., Found], *given: Any) -> tuple[Found | None, Problem | None]:
    """What a function of the interface says, or why it refuses; what nobody foresaw is raised."""
    return await outcome(run_in_threadpool(call, *given))


async def outcome(call: Awaitable[Found]) -> tuple[Found | None, Problem | None]:
    """What a request of the interface comes to, or why it is refused."""
    try:
        return await call, None
    except NeedsSecond:  # no refusal: it has a page of its own
        raise
    except Exception as error:
        found = problem_of(error)
        if found is None:
            raise
        return None, found


def query_numbers(request: Request, name: str) -> list[int]:
    """All whole numbers of one name in an address."""
    return [int(each) for each in request.query_params.getlist(name)[:1000] if each.isdecimal() and len(each) < 13]
