"""Processes that read sources for owners, apart from those that answer questions: the web process reads none.

Looks, such as at the columns of a table, have processes of their own: they do not wait behind what takes an hour.
Owners take turns.  A job that is to be registered or checked is a row of the database too (`OwnerJobs`), so that
every worker can tell how far it has come and can cancel it.
"""

from __future__ import annotations

import asyncio
import json
from collections.abc import Callable, Mapping
from concurrent.futures import ThreadPoolExecutor
from contextlib import suppress
from dataclasses import asdict, dataclass
from functools import partial
from typing import Any, TypeVar

from optcomp.center.failures import Busy, Cancelled, CannotStart, CenterError, RunnerDied
from optcomp.center.folders import remove_leftovers
from optcomp.center.owner_jobs import LEASE, OwnerJob, OwnerJobs, named
from optcomp.center.persons import Person
from optcomp.center.problems import DEFECT, Problem
from optcomp.center.processes import Runner
from optcomp.center.protection import described, log
from optcomp.center.settings import Settings
from optcomp.center.source_jobs import outcome_of, serve
from optcomp.center.store import Store
from optcomp.center.turns import Turns
from optcomp.errors import InvalidInput

T = TypeVar("T")
LOOKS = ("sources", "columns", "dialect")
"""Jobs that take no longer than a question, and are noted only where somebody does not wait for them."""
_EVERY = 0.5
"""Seconds between two looks whether a job is to be stopped: one query for all that this worker has."""
_STOPPED = {
    "cancelled": "The job was cancelled. Nothing was registered.",
    "interrupted": "The server ended meanwhile. Nothing was registered; start it again.",
    "late": "The job took longer than the {seconds:g} seconds that the settings allow. Nothing was registered.",
    "died": "The process ended while it worked: it may need more memory than the settings allow (preparer_memory). "
    "Nothing was registered.",
}
"""What is told of a job that was stopped: nothing of it can have been registered, and nothing is ever debited."""


@dataclass(eq=False)
class _Call:
    """A job on its way."""

    kind: str
    number: int | None
    gate: asyncio.Future[Runner]
    runner: Runner | None = None
    why: str | None = None
    """Why it is to be stopped."""


class Preparers:
    """Processes that read sources, for one event loop; each starts when it is first needed."""

    def __init__(self, settings: Settings, store: Store) -> None:
        self._settings, self._store, self.jobs = settings, store, OwnerJobs(store)
        self._work, self._looks = (
            Turns([Runner(settings, serve) for _ in range(settings.preparers)], settings.waiting) for _ in range(2)
        )
        # two threads more, for the database: no job of an owner holds a thread that requests need
        self._threads = ThreadPoolExecutor(2 * settings.preparers + 2, "optcomp-preparer")
        self._calls: set[_Call] = set()
        self._tasks: dict[int, asyncio.Task[dict[str, Any]]] = {}
        self._running: set[asyncio.Task[Any]] = set()
        self._watching: asyncio.Task[None] | None = None
        self._closed = False

    @property
    def processes(self) -> list[int]:
        """The numbers of the processes that run."""
        runners = (*self._work.places, *self._looks.places)
        return [number for number in (each.process_id for each in runners) if number is not None]

    async def call(
        self, kind: str, arguments: Mapping[str, Any], person: Person, *, account: str | None = None
    ) -> dict[str, Any]:
        """Have a job done, and wait for it. A caller that stops waiting does not stop the job.

        `Busy` if too many wait, `TooMany` if too many of this owner do; a `Problem` if it was refused or stopped.
        """
        _, task = await self._taken(kind, arguments, person, account, None, noted=kind not in LOOKS)
        assert task is not None  # without a key no job is another one
        return await asyncio.shield(task)

    async def start(
        self,
        kind: str,
        arguments: Mapping[str, Any],
        person: Person,
        *,
        account: str | None = None,
        key: str | None = None,
        patience: float = 0.0,
    ) -> OwnerJob:
        """Have a job done in the background; the job as it stands, after waiting for it for `patience` seconds at most.

        A job with the same key that has not ended is the same job.
        """
        number, task = await self._taken(kind, arguments, person, account, key, noted=True)
        assert number is not None
        if task is not None:
            self._tasks[number] = task
            task.add_done_callback(lambda _: self._tasks.pop(number, None))
        if number in self._tasks and patience:
            await asyncio.wait({self._tasks[number]}, timeout=patience)
        return await self._in_thread(self.jobs.job, number, person)

    async def cancel(self, number: int, viewer: Person) -> bool:
        """Stop a job, wherever it is; False if it has ended."""
        found = await self._in_thread(self.jobs.cancel, number, viewer)
        for call in [each for each in self._calls if found and each.number == number]:
            self._stop(call, "cancelled")
        return found

    async def tidy(self) -> None:
        """End jobs whose worker is gone, and remove what they left."""
        await self._in_thread(self.jobs.end_lapsed)
        left = await self._in_thread(remove_leftovers, self._store)
        if left:
            log({"event": "removed snapshots of jobs that were not finished", "count": len(left)})

    def _place(self, kind: str, person: Person) -> asyncio.Future[Runner]:
        if self._closed:
            raise Busy("the service is closing; nothing was registered")
        return (self._looks if kind in LOOKS else self._work).take(person.id)

    def _give_back(self, gate: asyncio.Future[Runner]) -> None:
        if not gate.cancel() and gate.exception() is None:
            self._release(gate.result())

    def _release(self, runner: Runner) -> None:
        (self._looks if runner in self._looks.places else self._work).give_back(runner)

    async def _taken(
        self,
        kind: str,
        arguments: Mapping[str, Any],
        person: Person,
        account: str | None,
        key: str | None,
        *,
        noted: bool,
    ) -> tuple[int | None, asyncio.Task[dict[str, Any]] | None]:
        """The number of a job, if it is noted, and its work; no work if there is a job with this key already."""
        message, place, number, new = _written(arguments), self._place(kind, person), None, True
        try:
            if noted:
                add = partial(self.jobs.add, kind, person, named(arguments), account=account, key=key)
                number, new = await self._in_thread(add)
        except BaseException:
            new = False
            raise
        finally:
            if not new:
                self._give_back(place)
        return number, self._begun(_Call(kind, number, place), message, person) if new else None

    def _begun(self, call: _Call, arguments: str, person: Person) -> asyncio.Task[dict[str, Any]]:
        given = {"arguments": arguments, "number": call.number, "person": asdict(person)}
        message = json.dumps({"job": call.kind, "arguments": given}).encode()
        task = asyncio.ensure_future(self._done(call, message))
        self._calls.add(call)
        self._running.add(task)
        task.add_done_callback(partial(self._forget, call))
        if self._watching is None or self._watching.done():
            self._watching = asyncio.ensure_future(self._watch())
        return task

    def _forget(self, call: _Call, task: asyncio.Task[Any]) -> None:
        self._calls.discard(call)
        self._running.discard(task)
        if not task.cancelled():
            task.exception()  # the waiting request reports it

    async def _done(self, call: _Call, message: bytes) -> dict[str, Any]:
        """The result of a job, which is noted with its end."""
        try:
            found = await self._worked(call, message)
        except CenterError as error:
            return await self._stopped(call, error)
        result, refusal = outcome_of(found)
        if result is None:
            body = refusal.body() if isinstance(refusal, Problem) else {"error": "defect", "message": DEFECT}
            await self._ended(call, "failed", error=body)
        else:
            await self._ended(call, "done", result=result)
        if refusal is not None:
            raise refusal
        return result or {}

    async def _worked(self, call: _Call, message: bytes) -> dict[str, Any]:
        runner = await call.gate
        try:
            await self._in_thread(runner.ensure)
            if call.number is not None:
                await self._in_thread(self.jobs.begin, call.number)
            if call.why is not None:
                raise Cancelled()
            call.runner = runner
            future = asyncio.get_running_loop().run_in_executor(self._threads, runner.exchange, message)
            await asyncio.wait({future}, timeout=self._seconds(call.kind))
            if not future.done():
                self._stop(call, "late")
            try:
                return dict(json.loads(await future)["result"])
            except (EOFError, OSError):
                call.why = call.why or "died"
                raise RunnerDied() from None
        finally:
            call.runner = None
            if call.why is not None:  # its process may be ending: the next job gets another one
                await self._in_thread(runner.kill)
            self._release(runner)

    def _seconds(self, kind: str) -> float:
        return self._settings.seconds if kind in LOOKS else self._settings.prepare_seconds

    def _stop(self, call: _Call, why: str) -> None:
        """End a job wherever it is."""
        call.why = call.why or why
        if call.runner is not None:
            call.runner.strike()
        elif not call.gate.done():
            call.gate.set_exception(Cancelled())

    async def _stopped(self, call: _Call, error: CenterError) -> dict[str, Any]:
        """What is told of a job whose process was stopped: it may have registered all of it a moment before."""
        if isinstance(error, Busy | CannotStart):
            problem = Problem("busy", str(error))
            await self._ended(call, "failed", error=problem.body())
            raise problem from None
        why = str(call.why)
        problem = Problem("conflict", _STOPPED[why].format(seconds=self._seconds(call.kind)))
        state = why if why in ("cancelled", "interrupted") else "failed"
        if await self._ended(call, state, error=problem.body()) == "done":
            problem = Problem("conflict", "The job was done, and its process ended before it could say more.")
        raise problem from None

    async def _ended(self, call: _Call, state: str, **told: Any) -> str:
        if call.number is None:
            return state
        found = await self._in_thread(partial(self.jobs.end, call.number, state, **told))
        if found != "done":
            await self._in_thread(remove_leftovers, self._store)
        return found

    async def _watch(self) -> None:
        loop, renewed = asyncio.get_running_loop(), 0.0
        while self._calls:
            await asyncio.sleep(_EVERY)
            held = {each.number: each for each in self._calls if each.number is not None}
            try:
                if held and loop.time() >= renewed + LEASE / 4:
                    renewed = loop.time()
                    await self._in_thread(self.jobs.renew, list(held))
                for number in await self._in_thread(self.jobs.to_stop, list(held)) if held else ():
                    self._stop(held[number], "cancelled")
            except Exception as error:  # a database that fails now may be there at the next look
                log({"event": "owner's jobs", "failure": described(error)})

    async def _in_thread(self, call: Callable[..., T], *given: Any) -> T:
        return await asyncio.get_running_loop().run_in_executor(self._threads, call, *given)

    async def close(self) -> None:
        """Interrupt what is at work, and end all processes."""
        self._closed = True
        for call in list(self._calls):
            self._stop(call, "interrupted")
        if self._running:
            await asyncio.wait(set(self._running))
        if self._watching is not None:
            self._watching.cancel()
            with suppress(asyncio.CancelledError):
                await self._watching
        for runner in (*self._work.places, *self._looks.places):
            runner.kill()
        await asyncio.get_running_loop().run_in_executor(None, self._threads.shutdown)


def _written(arguments: Mapping[str, Any]) -> str:
    try:
        return json.dumps(dict(arguments), allow_nan=False)
    except (TypeError, ValueError):
        raise InvalidInput("arguments", type(arguments).__name__, "must be plain JSON") from None
