"""Whether questions can be answered: tried every few seconds, and cached for the requests in between.

Tried is what a question needs: the ledger, the database of the centre by looking a token up, and a process that
answers.  Asking for the state costs nothing, however often it is done.
"""

from __future__ import annotations

import asyncio
import secrets
from collections.abc import Awaitable, Callable
from contextlib import suppress

from starlette.concurrency import run_in_threadpool

from optcomp.center.failures import CannotAnswer
from optcomp.center.people import People
from optcomp.center.protection import described, log
from optcomp.center.refusals import NotKnown
from optcomp.center.runners import Runners
from optcomp.ledger import Ledger

READY = "ready"
"""The state in which questions can be answered."""
_LIMIT = 10.0  # seconds that a try may take; beyond it, it has failed until it ends, and no other one is begun
_STALE = 60.0
"""Seconds after the last look from which on the service does not count as ready."""


class Readiness:
    """What was found when ledger, database and processes were tried last."""

    def __init__(self, ledger: Ledger, people: People, runners: Runners) -> None:
        self._ledger, self._people, self._runners = ledger, people, runners
        self._tries: dict[str, asyncio.Task[str]] = {}
        """Those that are not done, by the state that they stand for if they fail."""
        self._found: dict[str, str] = {}
        """What each found last."""
        self._doubt: str | None = None
        self._looked: float | None = None
        """When they were tried, by the clock of the event loop."""

    @property
    def state(self) -> str:
        """Either "ready", or why no question can be answered now: see `GET /ready`."""
        if self._looked is None or asyncio.get_running_loop().time() > self._looked + _STALE:
            return "unreachable"
        return next((found for found in self._found.values() if found != READY), READY)

    async def look(self) -> None:
        """Try all of it, each for a limited time."""
        tests = {"unreachable": self._watch, "database": self._look_token_up, "processes": self._ask_process}
        found = await asyncio.gather(*(self._tried(state, test) for state, test in tests.items()))
        self._found, self._looked = dict(zip(tests, found, strict=True)), asyncio.get_running_loop().time()

    async def _tried(self, state: str, test: Callable[[], Awaitable[str]]) -> str:
        """What a test finds; this state if it fails or takes too long."""
        task = self._tries.get(state)
        if task is None:
            task = self._tries[state] = asyncio.ensure_future(test())
        await asyncio.wait({task}, timeout=_LIMIT)
        if not task.done():
            return self._failed(state, "takes too long")
        del self._tries[state]
        error = task.exception()
        return task.result() if error is None else self._failed(state, described(error))

    def _failed(self, state: str, why: str) -> str:
        if self._found.get(state) != state:
            log({"event": "not ready", "state": state, "failure": why})
        return state

    async def _watch(self) -> str:
        """Look whether the ledger may be a copy; let anchor and witness know how far it has come if it is not."""
        doubt = await run_in_threadpool(self._ledger.watch)
        if doubt is not None and doubt != self._doubt:
            log({"event": "ledger in doubt", "reason": doubt})
        self._doubt = doubt
        return READY if doubt is None else "doubt"

    async def _look_token_up(self) -> str:
        """As every request does, in a thread, by its hash; nobody has this one."""
        with suppress(NotKnown):
            await run_in_threadpool(self._people.who, f"oc_{secrets.token_urlsafe(32)}")
        return READY

    async def _ask_process(self) -> str:
        """Have an idle process do a job that takes no time; one that does not is killed and replaced.

        A process at work cannot be asked, and need not be: its question has a limit of its own.  The first idle one
        is taken before anything else happens, so that this never waits behind questions.
        """
        if self._runners.working == self._runners.count:
            return READY if self._runners.processes else "processes"
        if "error" in await self._runners.call("ping", {}, seconds=_LIMIT):
            raise CannotAnswer
        return READY

    async def close(self) -> None:
        """End what is still tried."""
        for task in self._tries.values():
            task.cancel()
        await asyncio.gather(*self._tries.values(), return_exceptions=True)
