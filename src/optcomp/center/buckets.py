"""Where answers leave in buckets of time, the requests of a seat take turns.

An answer that leaves at a whole multiple of a bucket (see `clock`) hides how long it took only if nothing else tells:
not the transcript, not the same key asked again a moment later, not what cancelling finds.  So nothing of a seat is
looked at while a request of it is at work or, if it spends, until its answer leaves; cancelling has its effect then.
"""

from __future__ import annotations

import asyncio
import time
from collections import Counter
from collections.abc import AsyncIterator, Mapping
from contextlib import asynccontextmanager
from typing import Any
from weakref import WeakValueDictionary

from optcomp.center.clock import BEGUN, until_next
from optcomp.center.failures import Busy

_MOST = 64
"""Requests of a seat that may wait for their turn."""


class Buckets:
    """Whose turn it is, in each seat; without buckets nobody waits."""

    def __init__(self, bucket: float) -> None:
        self._bucket = bucket
        self._locks: WeakValueDictionary[tuple[str, str], asyncio.Lock] = WeakValueDictionary()
        self._waiting, self._begun = Counter[tuple[str, str]](), dict[tuple[str, str], float]()

    @asynccontextmanager
    async def of(self, seat: Mapping[str, Any] | None, *, spends: bool = False) -> AsyncIterator[None]:
        """The turn of a request, until the end of its bucket if it spends; `Busy` if too many wait before it."""
        if seat is None or not self._bucket:
            yield
            return
        name = seat["account"], seat["slot"]
        if self._waiting[name] >= _MOST:
            raise Busy("too many requests of this seat wait; nothing was spent, ask again in a while")
        lock = self._locks.setdefault(name, asyncio.Lock())
        self._waiting[name] += 1
        try:
            await lock.acquire()
        except BaseException:
            self._leave(name)
            raise
        begun = self._begun[name] = BEGUN.get() or time.monotonic()
        try:
            yield
        finally:
            if spends:
                later = until_next(time.monotonic() - begun, self._bucket)
                asyncio.get_running_loop().call_later(later, self._end, name, lock)
            else:
                self._end(name, lock)

    def _end(self, name: tuple[str, str], lock: asyncio.Lock) -> None:
        del self._begun[name]
        lock.release()
        self._leave(name)

    def _leave(self, name: tuple[str, str]) -> None:
        self._waiting[name] -= 1
        if not self._waiting[name]:
            del self._waiting[name]

    async def end_of_bucket(self, seat: Mapping[str, Any]) -> None:
        """Wait until what is at work in a seat may be told from what is done."""
        begun = self._begun.get((seat["account"], seat["slot"]))
        if begun is not None:
            await asyncio.sleep(until_next(time.monotonic() - begun, self._bucket))
