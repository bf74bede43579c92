"""Who may see which page, and whether a form came from one of our own pages.

A page belongs to roles, or to everybody.  A form that changes something sends back the proof of its visit; and no
request that another site made changes anything.  What is refused is a page too, in plain words.
"""

from __future__ import annotations

import re
import secrets
from collections.abc import Callable, Coroutine
from typing import Any, TypeVar
from urllib.parse import quote, urlsplit

from fastapi import Request, Response
from fastapi.exceptions import RequestValidationError
from fastapi.responses import RedirectResponse
from fastapi.routing import APIRoute
from starlette.concurrency import run_in_threadpool
from starlette.datastructures import FormData
from starlette.exceptions import HTTPException

from optcomp.center import (
    DEFECT,
    OPEN_BYTES,
    SPENDS,
    NeedsSecond,
    NotKnown,
    Problem,
    Visit,
    Visits,
    count_body,
    described,
    let_in,
    log,
    not_answered,
    of_library,
    read_form,
    service_of,
    take_body,
)
from optcomp.errors import OptcompError
from optcomp.pages.rendering import page, visit_of, words_for
from optcomp.pages.words import words

Endpoint = TypeVar("Endpoint", bound=Callable[..., Any])
_OPEN, _TAKES = "__optcomp_open__", "__optcomp_takes__"
COOKIE, SECURE_COOKIE = "optcomp_visit", "__Host-optcomp_visit"
"""What holds the secret of a visit: by the second name over TLS, where browsers accept it from this host alone."""
_FIELDS, _FILES = 5000, 4
"""Fields and files of one form: a plan of a hundred statistics has a thousand."""
_OPEN_FIELDS = 20
"""Fields of a form of a page that needs no visit."""
_SAFE = {"GET", "HEAD"}
_REFUSED = {404: "not_found", 405: "not_allowed", 413: "too_large"}
"""What the framework refuses."""


def open_to_all(endpoint: Endpoint) -> Endpoint:
    """Marks a page that needs no visit: its forms are small, unless it is marked with `takes` too."""
    setattr(endpoint, _OPEN, True)
    return endpoint


def takes(most: int) -> Callable[[Endpoint], Endpoint]:
    """Mark a page that needs no visit with the bytes that its form may have."""

    def mark(endpoint: Endpoint) -> Endpoint:
        setattr(endpoint, _TAKES, most)
        return endpoint

    return mark


class PageRoute(APIRoute):
    """A page that knows who may see it; without a mark nobody may."""

    def get_route_handler(self) -> Callable[[Request], Coroutine[Any, Any, Response]]:
        """The handler, behind the check of visit, role, rate and origin."""
        handler = super().get_route_handler()
        open_page = getattr(self.endpoint, _OPEN, False)

        async def guarded(request: Request) -> Response:
            try:
                request.state.visit = await run_in_threadpool(found_visit, request)
                if not open_page:
                    await _admit(request, self.endpoint)
                else:
                    take_body(request, getattr(self.endpoint, _TAKES, OPEN_BYTES))
                if request.method not in _SAFE:
                    await _check_origin(request, open_page)
                return await handler(request)
            except Exception as error:
                return _refusal(request, error)

        return guarded


def found_visit(request: Request) -> Visit | None:
    """Who is signed in in this browser."""
    secret = request.cookies.get(cookie_name(request))
    if not secret:
        return None
    try:
        return Visits(service_of(request).store).who(secret)
    except NotKnown:
        return None


def is_secure(request: Request) -> bool:
    """Whether the browser asks over TLS, which may end in a proxy: at the public address it always does."""
    public = service_of(request).settings.public_host
    return request.url.scheme == "https" or (public is not None and request.headers.get("host", "").lower() == public)


def cookie_name(request: Request) -> str:
    """What the cookie of a visit is called."""
    return SECURE_COOKIE if is_secure(request) else COOKIE


async def _admit(request: Request, endpoint: Callable[..., Any]) -> None:
    visit = visit_of(request)
    if visit is None:
        raise Problem("not_known", str(words_for(request)("problem.sign_in")))
    await let_in(request, visit.person, endpoint)


async def _check_origin(request: Request, open_page: bool) -> None:
    """Refuse what another site made a browser send."""
    site, origin = request.headers.get("sec-fetch-site"), request.headers.get("origin")
    foreign = site not in (None, "same-origin", "none")
    foreign |= origin is not None and urlsplit(origin).netloc != request.headers.get("host", "")
    visit = visit_of(request)
    if not open_page and not foreign and visit is not None:
        given = (await form_of(request)).get("proof")
        foreign = not isinstance(given, str) or not secrets.compare_digest(given.encode(), visit.proof.encode())
    if foreign:
        raise Problem("forbidden", str(words_for(request)("problem.foreign")))


async def form_of(request: Request) -> FormData:
    """What a form sent; from somebody who was let in, it may have many fields."""
    known = getattr(request.state, "person", None) is not None
    await count_body(request)
    return await read_form(request, fields=_FIELDS if known else _OPEN_FIELDS, files=_FILES)


def _refusal(request: Request, error: Exception) -> Response:
    """The page for a refusal, and for an error that nobody foresaw: its text is shown to nobody."""
    if isinstance(error, NeedsSecond):
        return page(request, "waits.html", status=202, confirmation=error.confirmation, message=str(error))
    problem = problem_of(error) or _unforeseen(request, error)
    if problem.code == "not_known":
        asked = request.url.path if request.method in _SAFE else "/"
        return RedirectResponse(f"/sign-in?next={quote(asked, safe='/')}", status_code=303)
    made = page(request, "problem.html", status=problem.status, problem=problem)
    made.headers.update({name: value for name, value in problem.headers.items() if name != "WWW-Authenticate"})
    return made


def _unforeseen(request: Request, error: Exception) -> Problem:
    """After what may have been a debit there is one answer, whatever happened."""
    log({"event": "page", "failure": described(error)})
    return not_answered() if getattr(request.state, SPENDS, False) else Problem("defect", DEFECT)


def problem_of(error: Exception) -> Problem | None:
    """An error that was raised on purpose, in the words of the interface."""
    if isinstance(error, Problem):
        return plainly(error)
    if isinstance(error, RequestValidationError):
        return Problem("not_found", str(words()("problem.refused.not_found")))
    if isinstance(error, OptcompError):
        return plainly(of_library(error))
    if isinstance(error, HTTPException):
        code = _REFUSED.get(error.status_code, "invalid")
        return Problem(code, str(words()("problem.refused." + code)))
    return None


def plainly(problem: Problem) -> Problem:
    """What is wrong with an argument, as a sentence about what somebody typed; all else stays as it is."""
    place = str(problem.more.get("argument") or "")
    found = _REFUSAL.fullmatch(problem.message.removeprefix(f"{place}: "))
    if problem.code != "invalid" or not problem.message.startswith(f"{place}: ") or found is None:
        return problem
    said, name = found["problem"].rstrip("."), place.rpartition(".")[2].replace("_", " ")
    if said.split(" ", 1)[0] in _VERBS:
        number = _NUMBER.fullmatch(found["value"])
        said = f"{name} {said}, not {number[1]}" if number else f"{_subject(found['value']) or name} {said}"
    else:
        said = said[:1].upper() + said[1:]
    return Problem("invalid", f"{said}.", **problem.more)


def _subject(value: str) -> str:
    """A value as the subject of a sentence: names of a list without their quotes; nothing where it is long or none."""
    if value.startswith("['") and value.endswith("']"):
        value = ", ".join(value[2:-2].split("', '"))
    return value if value not in _NOTHING and len(value) <= _SHORT else ""


_REFUSAL = re.compile(r"(?P<problem>.+), got (?P<value>.*)", re.DOTALL)
"""How the library says what is wrong with an argument, after its name."""
_VERBS = frozenset({"is", "are", "must", "has", "have", "holds", "needs", "may", "cannot", "names", "compares", "was"})
"""What it begins with where it says something about a value."""
_NUMBER = re.compile(r"'?([-+]?[0-9][0-9.e/+-]*)'?")
"""A value that says little as the subject of a sentence."""
_NOTHING = ("", "''", "None", "True", "False", "[]", "{}")
"""Values that are no subject of a sentence."""
_SHORT = 100
"""Letters of a value that a sentence repeats."""
