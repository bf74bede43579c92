"""Bodies of requests, parsed within bounds: forms beside the event loop, and JSON only where it has few parts.

What a body costs is bounded before anything is parsed, by counting bytes: the event loop serves everybody, and stands
still while a parser or a validator works.
"""

from __future__ import annotations

import asyncio
from collections.abc import AsyncGenerator, Coroutine
from concurrent.futures import ThreadPoolExecutor
from contextlib import suppress
from functools import partial
from typing import Any
from urllib.parse import parse_qsl

from starlette.datastructures import FormData, Headers
from starlette.exceptions import HTTPException
from starlette.formparsers import MultiPartException, MultiPartParser
from starlette.requests import Request

from optcomp.center.problems import Problem
from optcomp.center.protection import OPEN_BYTES

_PARTS = (
    20_000  # names, lists and objects in a body of JSON, each of which costs microseconds; more are refused with 422
)
_ENTRIES = 50_000  # commas, so also numbers and texts in lists
_FIRST_NAMES = 100  # names on the first level, for each of which a wrong one makes an error
_DIGITS = 400  # digits in a row: reading and writing a number takes time in their square
_ZEROS = bytes(48 if 48 <= each <= 57 else each for each in range(256))
"""Makes every digit a zero."""
_TOO_MANY = (
    f"body: may have {_PARTS} names, lists and objects, {_ENTRIES} entries, {_FIRST_NAMES} names on its first level "
    f"and {_DIGITS - 1} digits in a row"
)
_FORM = "optcomp_form"
"""Under which a request keeps its form."""
_BESIDE = ThreadPoolExecutor(1, "optcomp-parser")
"""One thread, because many that compute would leave the event loop little of the interpreter."""


async def read_form(request: Request, *, fields: int, files: int) -> FormData:
    """What a form sent, with at most so many fields and files.

    A large one is parsed beside the event loop; a small one takes less time than to hand it over, and waits for none.
    """
    found: FormData | None = getattr(request.state, _FORM, None)
    if found is None:
        body = await request.body() if "content-type" in request.headers else b""
        work = partial(_form, request.headers, body, fields, files)
        large = len(body) > OPEN_BYTES
        found = await asyncio.get_running_loop().run_in_executor(_BESIDE, work) if large else work()
        setattr(request.state, _FORM, found)
    return found


def _form(headers: Headers, body: bytes, fields: int, files: int) -> FormData:
    kind = headers.get("content-type", "").partition(";")[0].strip().lower()
    try:
        if kind == "application/x-www-form-urlencoded":
            pairs = parse_qsl(body.decode("latin-1"), keep_blank_values=True, max_num_fields=fields)
            return FormData([*pairs])
        if kind == "multipart/form-data":
            most = len(body)
            parser = MultiPartParser(headers, _whole(body), max_files=files, max_fields=fields, max_part_size=most)
            parser.spool_max_size = most  # files stay in memory, where the body is
            return _run(parser.parse())
    except (ValueError, MultiPartException):
        raise HTTPException(400) from None
    return FormData()


async def _whole(body: bytes) -> AsyncGenerator[bytes, None]:
    yield body


def _run(parsing: Coroutine[Any, Any, FormData]) -> FormData:
    """The result of a parser that has all of its input, and so waits for nothing."""
    try:
        parsing.send(None)
    except StopIteration as done:
        found: FormData = done.value
        return found
    raise AssertionError("a parser that has all of its input waits for nothing")


async def check_json(request: Request) -> None:
    """Refuse a body with more parts than any request of ours has, before it is parsed and validated."""
    body = await request.body()
    parts = sum(map(body.count, (b"[", b"{", b":")))
    if parts > _PARTS or body.count(b",") > _ENTRIES or b"0" * _DIGITS in body.translate(_ZEROS):
        raise Problem("invalid", _TOO_MANY, argument="body")
    with suppress(ValueError, RecursionError):  # what cannot be parsed is refused where it is validated
        found = await request.json()
        if isinstance(found, dict) and len(found) > _FIRST_NAMES:
            raise Problem("invalid", _TOO_MANY, argument="body")
