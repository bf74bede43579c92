"""Cancelling reaches the process that is at work on a request, in whichever worker or server that is.

Whoever cancels leaves a row in the centre's database.  A worker that has been at work on something for longer than a
quick question takes looks for such rows, takes those that are meant for it, and stops what they name.  A row is meant
for requests that began before it, by the clock of the database: the same key again is another request, which goes on.
"""

from __future__ import annotations

import asyncio
import time
from collections.abc import Mapping
from contextlib import suppress
from hashlib import sha256

from sqlalchemy import Connection, delete, insert, select, update
from starlette.concurrency import run_in_threadpool

from optcomp.center.protection import described, log
from optcomp.center.runners import QUICK, Runners
from optcomp.center.store import Store, now
from optcomp.center.tables import CANCELLATIONS

_EVERY = 0.25
"""Seconds between two looks of a worker: one query for all that it is at work on."""
_PATIENCE = 2.0
"""Seconds after which nobody has the request: whoever has it looked at least twice."""
_ASKS = 0.1
"""Seconds between two looks of whoever cancels."""
_KEPT = 60.0
"""Seconds after which a row means nothing, by the clock of the database."""


class Cancellations:
    """The rows; nothing in them tells a key."""

    def __init__(self, store: Store) -> None:
        self._store = store

    def ask(self, token: str) -> int:
        """Have a request stopped; the number of the row."""
        with self._store.write() as connection:
            at = now(connection)
            connection.execute(delete(CANCELLATIONS).where(CANCELLATIONS.c.at < at - _KEPT))
            row = insert(CANCELLATIONS).values(request=_mark(token), at=at, taken=False)
            return int(connection.execute(row.returning(CANCELLATIONS.c.id)).scalar_one())

    def taken(self, number: int) -> bool:
        """Whether some worker stops the request."""
        with self._store.read() as connection:
            return bool(connection.scalar(select(CANCELLATIONS.c.taken).where(CANCELLATIONS.c.id == number)))

    def withdraw(self, number: int) -> bool:
        """Nobody may take the row any more; whether somebody has."""
        mine = CANCELLATIONS.c.id == number
        with self._store.write() as connection:
            found = bool(connection.scalar(select(CANCELLATIONS.c.taken).where(mine)))
            if not found:
                connection.execute(delete(CANCELLATIONS).where(mine))
        return found

    def take(self, held: Mapping[str, float]) -> list[str]:
        """Which of these requests are to be stopped; each is held since a moment of `time.monotonic`."""
        marks = {_mark(token): token for token in held}
        with self._store.read() as connection:
            looked, moment = time.monotonic(), now(connection)
            wanted = select(CANCELLATIONS.c.request, CANCELLATIONS.c.at).where(
                CANCELLATIONS.c.request.in_(list(marks)), CANCELLATIONS.c.at > moment - _KEPT
            )
            rows = connection.execute(wanted).all()
        begun = {mark: moment - (looked - held[token]) for mark, token in marks.items()}
        found = {row.request for row in rows if row.at >= begun[row.request]}
        if not found:
            return []
        with self._store.write() as connection:
            return [marks[mark] for mark in found if self._taken_now(connection, mark, begun[mark])]

    @staticmethod
    def _taken_now(connection: Connection, mark: str, begun: float) -> bool:
        meant = CANCELLATIONS.c.request == mark, CANCELLATIONS.c.at >= begun
        return connection.execute(update(CANCELLATIONS).where(*meant).values(taken=True)).rowcount > 0


class Cancelling:
    """What this process is at work on, and how it and others are told to stop; for one event loop."""

    def __init__(self, store: Store, runners: Runners) -> None:
        self._rows, self._runners = Cancellations(store), runners
        self._since: dict[str, float] = {}
        self._watching: asyncio.Task[None] | None = None

    def begins(self, token: str) -> None:
        """The runners are about to be given a request; it is forgotten when they are done with it."""
        if not self._runners.holds(token):
            self._since[token] = time.monotonic()
        if self._watching is None or self._watching.done():
            self._watching = asyncio.ensure_future(self._watch())

    async def stop(self, token: str) -> bool:
        """Stop a request wherever it is; whether there was one.  What it cost stays spent."""
        here = self._runners.cancel(token)
        number = await run_in_threadpool(self._rows.ask, token)  # also if it was here: a key may be asked in two places
        if here:
            return True
        until = time.monotonic() + _PATIENCE
        while time.monotonic() < until:
            await asyncio.sleep(_ASKS)
            if await run_in_threadpool(self._rows.taken, number):
                return True
        return await run_in_threadpool(self._rows.withdraw, number)

    async def _watch(self) -> None:
        while self._since:
            await asyncio.sleep(_EVERY)
            self._since = {token: since for token, since in self._since.items() if self._runners.holds(token)}
            try:
                await self._look()
            except Exception as error:  # a database that fails now may be there at the next look
                log({"event": "cancel", "failure": described(error)})

    async def _look(self) -> None:
        limit = time.monotonic() - QUICK
        held = {token: since for token, since in self._since.items() if since <= limit}
        if not held:
            return
        for token in await run_in_threadpool(self._rows.take, held):
            if self._since.get(token) == held[token]:  # and it was not asked again meanwhile
                self._runners.cancel(token)

    async def close(self) -> None:
        """Look no more."""
        if self._watching is not None:
            self._watching.cancel()
            with suppress(asyncio.CancelledError):
                await self._watching


def _mark(token: str) -> str:
    return sha256(token.encode()).hexdigest()
