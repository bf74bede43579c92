"""Where answers leave in buckets of time, the requests of a seat take turns.

An answer that leaves at a whole multiple of a bucket hides how long it took only if nothing else tells: not the
transcript, not the same key asked again a moment later, not what cancelling finds.  So nothing of a seat is looked at
while a request of it is at work or waits for the end of its bucket, and cancelling has its effect at that end.
"""

from __future__ import annotations

import asyncio
import time
from collections import Counter
from collections.abc import AsyncIterator, Mapping
from contextlib import asynccontextmanager
from typing import Any
from weakref import WeakValueDictionary

from optcomp.center.failures import Busy
from optcomp.center.runners import until_next

_MOST = 64
"""Requests of a seat that may wait for their turn."""


class Buckets:
    """Whose turn it is, in each seat; without buckets nobody waits."""

    def __init__(self, bucket: float) -> None:
        self._bucket = bucket
        self._locks: WeakValueDictionary[tuple[str, str], asyncio.Lock] = WeakValueDictionary()
        self._waiting, self._begun = Counter[tuple[str, str]](), dict[tuple[str, str], float]()

    @asynccontextmanager
    async def of(self, seat: Mapping[str, Any] | None) -> AsyncIterator[None]:
        """The turn of a request; `Busy` if too many wait before it."""
        if seat is None or not self._bucket:
            yield
            return
        name = seat["account"], seat["slot"]
        if self._waiting[name] >= _MOST:
            raise Busy("too many requests of this seat wait; nothing was spent, ask again in a while")
        lock = self._locks.setdefault(name, asyncio.Lock())
        self._waiting[name] += 1
        try:
            async with lock:
                self._begun[name] = time.monotonic()
                try:
                    yield
                finally:
                    del self._begun[name]
        finally:
            self._waiting[name] -= 1
            if not self._waiting[name]:
                del self._waiting[name]

    async def end_of_bucket(self, seat: Mapping[str, Any]) -> None:
        """Wait until what is at work in a seat may be told from what is done."""
        begun = self._begun.get((seat["account"], seat["slot"]))
        if begun is not None:
            await asyncio.sleep(until_next(time.monotonic() - begun, self._bucket))
