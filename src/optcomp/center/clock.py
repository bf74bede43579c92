"""One clock for all responses: with the setting `bucket`, each leaves at a whole multiple of it after its request came.

A request that costs nothing shares processors, the event loop and databases with the questions that others pay for.
How long it takes would tell whether one of these is being computed, and so how long that takes, which may depend on
rows.  Multiples are counted from each request's own beginning: of a clock that all requests share one could choose the
distance to the next tick, and find out by trying how long something took.
"""

from __future__ import annotations

import asyncio
import time
from contextvars import ContextVar

from starlette.types import ASGIApp, Message, Receive, Scope, Send

BEGUN: ContextVar[float | None] = ContextVar("optcomp_begun", default=None)
"""When the request came that is being answered, by `time.monotonic`; None outside of requests."""


def until_next(passed: float, bucket: float) -> float:
    """Seconds from now to the next whole multiple of a bucket, counted from the beginning."""
    return -passed % bucket


class OnClock:
    """A layer that lets responses go on time; its errors too."""

    def __init__(self, app: ASGIApp, *, bucket: float) -> None:
        self._app, self._bucket = app, bucket

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Answer a request, at the end of a bucket."""
        if scope["type"] != "http" or not self._bucket:
            await self._app(scope, receive, send)
            return
        begun = time.monotonic()
        BEGUN.set(begun)

        async def wait() -> None:
            await asyncio.sleep(until_next(time.monotonic() - begun, self._bucket))

        async def on_time(message: Message) -> None:
            if message["type"] == "http.response.start":
                await wait()
            await send(message)

        try:
            await self._app(scope, receive, on_time)
        except Exception:
            await wait()
            raise
