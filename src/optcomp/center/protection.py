"""What every request passes before anything reads it, and every response before it leaves.

The Host header is one of those that the owner listed.  A body is counted while it is read, and must come within a time.
Until somebody is let in, by a token that was looked up, a body may have a few kilobytes; a larger one is not read.
Responses say that browsers are to keep, frame, sniff and load nothing.  One line of JSON is logged for each request:
when, what route, how it ended, how long it took, and who asked by number; never a body, a value or an error's text.
"""

from __future__ import annotations

import asyncio
import json
import re
import sys
import time
import traceback
from datetime import UTC, datetime
from typing import Any

from starlette.exceptions import HTTPException
from starlette.requests import Request
from starlette.types import ASGIApp, Message, Receive, Scope, Send

from optcomp.center.meters import Meters
from optcomp.center.problems import DEFECT, Problem, not_answered

HEADERS = {
    "X-Content-Type-Options": "nosniff",
    "X-Frame-Options": "DENY",
    "Referrer-Policy": "no-referrer",
    "Content-Security-Policy": "default-src 'none'; frame-ancestors 'none'",
    "Cross-Origin-Resource-Policy": "same-origin",
}
"""On every response that does not say otherwise."""
_HOST = re.compile(r"(\[[^\]]*\]|[^:]*)(?::[0-9]*)?")
"""A Host header: a name or an address in brackets, and a port."""
_BODY_SECONDS = 30.0
"""Within which a body must have come: whoever sends it slower holds a place that others need."""
OPEN_BYTES = 16 * 1024
"""Bytes of a body before anybody was let in: forms of pages that need no token have some hundred.  See `take_body`."""
SPENDS = "optcomp_spends"
"""Under which a request remembers that it may debit."""
_BODY = "optcomp_body"
"""Under which a request remembers how large its body may be."""
PERSON = "optcomp_person"
"""Under which a request remembers who asks."""


class Protection:
    """The outermost layer of the centre."""

    def __init__(self, app: ASGIApp, *, hosts: tuple[str, ...], most_bytes: int, meters: Meters) -> None:
        self._app, self._hosts, self._most, self._meters = app, {host.lower() for host in hosts}, most_bytes, meters

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Let a request through, or refuse it."""
        if scope["type"] != "http":
            if scope["type"] == "lifespan":
                await self._app(scope, receive, send)
            return
        started, told = time.perf_counter(), _Told(send, scope["path"])
        failure = None
        try:
            await self._passed(scope, receive, told)
        except Exception as error:
            failure = error
            if not told.status:
                await self._failed(scope, receive, told)
        finally:
            self._note(scope, told.status, time.perf_counter() - started, failure)

    async def _passed(self, scope: Scope, receive: Receive, send: Send) -> None:
        headers = {name.lower(): value for name, value in scope["headers"]}
        if _host(headers.get(b"host", b"").decode("latin-1")) not in self._hosts:
            await Problem("wrong_host", "This server does not answer to that name.").response()(scope, receive, send)
            return
        length = headers.get(b"content-length", b"0")
        if not length.isdigit() or int(length[:20]) > self._most:
            too_large = Problem("too_large", f"A body may have {self._most} bytes.")
            await too_large.response()(scope, receive, send)
            return
        body = _Counted(receive, int(length[:20]), self._most)
        scope.setdefault("state", {})[_BODY] = body
        await self._app(scope, body, send)

    async def _failed(self, scope: Scope, receive: Receive, send: Send) -> None:
        spends = scope.get("state", {}).get(SPENDS, False)
        problem = not_answered() if spends else Problem("defect", DEFECT)
        await problem.response()(scope, receive, send)

    def _note(self, scope: Scope, status: int, seconds: float, failure: Exception | None) -> None:
        route = getattr(scope.get("route"), "path", "none")
        method = scope["method"] if scope["method"] in _METHODS else "other"
        self._meters.note(method, route, status, seconds)
        line: dict[str, Any] = {"time": datetime.now(UTC).isoformat(timespec="milliseconds"), "method": method}
        line |= {"route": route, "status": status, "ms": round(seconds * 1000, 1)}
        line["person"] = scope.get("state", {}).get(PERSON)
        if failure is not None:
            line["failure"] = described(failure)
        log(line)


_METHODS = {"GET", "HEAD", "POST", "PUT", "PATCH", "DELETE", "OPTIONS"}
"""Methods that are logged by name; others are words of the caller's own."""


class _Told:
    """Sends, adds what every response has, and remembers the status."""

    def __init__(self, send: Send, path: str) -> None:
        self._send, self.status = send, 0
        kept = {"Cache-Control": "no-store"} if path.startswith("/api") else {}
        self._headers = [(name.lower().encode(), value.encode()) for name, value in (HEADERS | kept).items()]

    async def __call__(self, message: Message) -> None:
        if message["type"] == "http.response.start":
            self.status = message["status"]
            given = {name.lower() for name, _ in message["headers"]}
            more = [(name, value) for name, value in self._headers if name not in given]
            message = {**message, "headers": [*message["headers"], *more]}
        await self._send(message)


class _Counted:
    """Receives a body, and refuses to go on when it has become too large or takes too long.

    One whose length says that it is too large is refused before anything of it is received.
    """

    def __init__(self, receive: Receive, length: int, most: int) -> None:
        self._receive, self._length, self._most, self._done = receive, length, most, False
        self._read, self._limit = 0, min(OPEN_BYTES, most)
        self._until = time.monotonic() + _BODY_SECONDS

    def take(self, most: int | None) -> None:
        """Take so many bytes from now on, or as many as the settings allow."""
        self._limit = self._most if most is None else min(most, self._most)

    async def __call__(self) -> Message:
        if self._done:
            return await self._receive()
        if self._length > self._limit:
            raise HTTPException(413)
        try:
            message = await asyncio.wait_for(self._receive(), max(0.0, self._until - time.monotonic()))
        except TimeoutError:
            raise HTTPException(400) from None
        self._read += len(message.get("body", b""))
        self._done = not message.get("more_body", False)
        if self._read > self._limit:
            raise HTTPException(413)
        return message


def take_body(request: Request, most: int | None = None) -> None:
    """Let a request have a body of so many bytes: by default, as many as the settings allow.

    Called when a request is let in, and for pages that declare a larger limit. All other requests have `OPEN_BYTES`,
    so a new route without a token is limited too.
    """
    body: _Counted | None = getattr(request.state, _BODY, None)
    if body is not None:
        body.take(most)


def _host(given: str) -> str:
    """The name in a Host header, without its port; nothing if something else follows it."""
    found = _HOST.fullmatch(given.strip().lower())
    return found[1] if found else ""


def described(error: BaseException) -> str:
    """Of what kind an error is and where it came up; never its text."""
    frames = traceback.extract_tb(error.__traceback__)
    place = next((frame for frame in reversed(frames) if "optcomp" in frame.filename), frames[-1] if frames else None)
    return type(error).__name__ + (f" at {place.filename.rpartition('/')[2]}:{place.lineno}" if place else "")


def log(line: dict[str, Any]) -> None:
    """Write a line of JSON on standard error."""
    print(json.dumps(line), file=sys.stderr, flush=True)
