"""Processes that answer, and that can be killed: one job at a time each, while the service goes on serving.

They are started by "spawn", each with a ledger and an engine of its own, so nothing that was drawn in one process is
drawn again in another.  Jobs and results are JSON over a pipe; nothing is unpickled that came from outside.  A process
that is killed leaves the ledger as it is: what was debited stays reserved, and the same key runs it again.

Free work has processes of its own, with a lower priority and less time and memory, and never runs in those that answer
questions; questions never take its processes.  Within each kind people take turns.
"""

from __future__ import annotations

import asyncio
import json
import math
import time
from collections.abc import Iterable, Mapping
from concurrent.futures import ThreadPoolExecutor
from contextlib import suppress
from dataclasses import dataclass, field, replace
from typing import Any, TypeVar

from optcomp.center.failures import Busy, Cancelled, CannotStart, RunnerDied, Stopped, TookTooLong
from optcomp.center.kinds import FREE, Kind, kind_of
from optcomp.center.processes import Runner
from optcomp.center.runner_settings import Meter, RunnerSettings, workplace
from optcomp.center.turns import Person, Turns
from optcomp.errors import InvalidInput

T = TypeVar("T")
QUICK = 0.5
"""Seconds: what takes less is not worth to be cancelled."""
_CLOSING = "the service is closing; nothing was spent"
"""What is told of jobs that come, or wait, when the service ends."""


def token_of(seat: Mapping[str, Any], key: str) -> str:
    """By which a job of this seat with this key is cancelled."""
    return json.dumps([seat["account"], seat["slot"], key])


class Runners:
    """Processes that answer, for one event loop.

    >>> runners = Runners(settings)
    >>> await runners.call("ask", {"seat": seat, "question": question, "key": "first"})

    A result with an entry "error" says what was refused, or that there is no answer.
    """

    def __init__(self, settings: RunnerSettings, count: int | None = None) -> None:
        number = settings.runners if count is None else count
        if isinstance(number, bool) or not isinstance(number, int) or not 0 < number <= 1024:
            raise InvalidInput("count", number, "must be a whole number from 1 to 1024")
        self.count, self._settings = number, settings
        place, readers = workplace(settings), max(1, settings.readers)
        self._questions = Turns([Runner(place) for _ in range(number)], settings.waiting)
        free = replace(place, memory=settings.free_memory, free=True)
        self._free = Turns([Runner(free) for _ in range(readers)], settings.waiting)
        self._long = Turns(range(max(1, readers - 1)), settings.waiting)
        """Leave for a long job to take a process for free work: one process is left for shorter jobs."""
        self._all = (*self._questions.places, *self._free.places)
        self._calls: dict[str, list[_Call]] = {}
        self._tasks: set[asyncio.Task[Any]] = set()
        self._threads = ThreadPoolExecutor(len(self._all), "optcomp-runner")
        self._closed = False

    @property
    def waiting(self) -> int:
        """How many jobs wait for a process that answers questions."""
        return self._questions.waiting

    @property
    def working(self) -> int:
        """How many processes that answer questions are at work."""
        return self._questions.working

    @property
    def reading_waiting(self) -> int:
        """How many free jobs wait."""
        return self._free.waiting + self._long.waiting

    @property
    def processes(self) -> list[int]:
        """The numbers of the processes that answer questions and run."""
        return _numbers(self._questions.places)

    @property
    def readers(self) -> list[int]:
        """The numbers of the processes that do free work and run."""
        return _numbers(self._free.places)

    async def start(self) -> None:
        """Start all processes now, and not when the first job comes; CannotStart if one does not."""
        loop = asyncio.get_running_loop()
        await asyncio.gather(*(loop.run_in_executor(self._threads, runner.ensure) for runner in self._all))

    async def call(
        self,
        job: str,
        arguments: Mapping[str, Any],
        *,
        seconds: float | None = None,
        token: str | None = None,
        person: Person = None,
        meter: Meter | None = None,
    ) -> dict[str, Any]:
        """Have a job done; a result with "error" is a refusal, or a failure in words that tell nothing else.

        `Busy` if too many wait, `TooMany` if too many of this person do; `TookTooLong`, `Cancelled` or `RunnerDied` if
        the process was stopped.  Whoever stops waiting does not stop the job: it was paid for.  `token` is what
        `cancel` takes; by default that of the seat and key of a question.  People take turns: `person` says whose job
        it is, and `meter` is told what it took of a processor.
        """
        kind, named = kind_of(job), _token(arguments) if kind_of(job).rows else ""
        limit = self._settings.seconds if seconds is None else seconds
        call = _Call(kind, named if token is None else token, limit, meter)
        message = _message(job, arguments, None if not kind.counted else self._settings.free_seconds)
        if self._closed:
            raise Busy(_CLOSING)
        if call.token:
            self._calls.setdefault(call.token, []).append(call)
        try:
            if kind.long:
                call.leave = await self._turn(call, self._long, person)
            runner = await self._turn(call, self._questions if kind.rows else self._free, person)
        except BaseException:
            self._forget(call)
            raise
        task = asyncio.ensure_future(self._work(call, runner, message))
        self._tasks.add(task)
        task.add_done_callback(self._tasks.discard)
        task.add_done_callback(_looked_at)
        return await asyncio.shield(task)

    async def _turn(self, call: _Call, turns: Turns[T], person: Person) -> T:
        """What a job gets when its turn has come."""
        gate = call.gate = turns.take(person)
        try:
            return await gate
        except asyncio.CancelledError:
            if gate.done() and not gate.cancelled() and gate.exception() is None:
                turns.give_back(gate.result())
            raise
        finally:
            call.gate = None

    def _release(self, runner: Runner) -> None:
        """Give a process to whose turn it is."""
        (self._free if runner in self._free.places else self._questions).give_back(runner)

    def _forget(self, call: _Call) -> None:
        if call.leave is not None:
            self._long.give_back(call.leave)
        others = [each for each in self._calls.get(call.token, ()) if each is not call]
        if others:
            self._calls[call.token] = others
        else:
            self._calls.pop(call.token, None)

    async def _work(self, call: _Call, runner: Runner, message: bytes) -> dict[str, Any]:
        loop = asyncio.get_running_loop()
        meter = call.meter if call.kind.counted else None
        try:
            if meter is not None:
                await meter.check()
            await loop.run_in_executor(self._threads, runner.ensure)
            if call.stopped is not None:
                raise call.stopped(spends=call.kind.spends)
            call.runner, call.since = runner, time.monotonic()
            reply = await self._exchanged(call, runner, message)
            if meter is not None:
                await meter.add(self._settings.free_seconds if reply is None else reply["processor"])
            if reply is None:
                raise (call.stopped or RunnerDied)(spends=call.kind.spends)
            found: dict[str, Any] = reply["result"]
            return found
        finally:
            call.runner = None
            self._forget(call)
            self._replace_later(runner)

    async def _exchanged(self, call: _Call, runner: Runner, message: bytes) -> dict[str, Any] | None:
        """What a process replies; None if it was stopped before."""
        loop = asyncio.get_running_loop()
        future = loop.run_in_executor(self._threads, runner.exchange, message)
        await asyncio.wait({future}, timeout=call.limit)
        if not future.done():
            call.stop(TookTooLong)
        try:
            reply: dict[str, Any] = json.loads(await future)
            return reply
        except (EOFError, OSError):
            await loop.run_in_executor(self._threads, runner.kill)  # one that is about to end takes no more jobs
            return None

    def _replace_later(self, runner: Runner) -> None:
        """Give a process back; one that was killed is replaced before."""
        if runner.alive or runner.failed or self._closed:
            self._release(runner)
            return

        async def replace() -> None:
            with suppress(CannotStart):  # whoever needs it next is told
                await asyncio.get_running_loop().run_in_executor(self._threads, runner.ensure)
            self._release(runner)

        task = asyncio.ensure_future(replace())
        self._tasks.add(task)
        task.add_done_callback(self._tasks.discard)

    def cancel(self, token: str) -> bool:
        """Forget what waits on this token, and kill what works on it; whether there was anything.

        What was paid stays so.  What works has the time of a quick question: to start another process takes longer.
        """
        calls = list(self._calls.get(token, ()))
        for call in calls:
            if call.since is None:
                call.stop(Cancelled)
            else:
                later = max(0.0, call.since + QUICK - time.monotonic())
                asyncio.get_running_loop().call_later(later, call.stop, Cancelled)
        return bool(calls)

    def holds(self, token: str) -> bool:
        """Whether a job of this token is at work or waits."""
        return token in self._calls

    async def close(self) -> None:
        """Let what works finish, for as long as a question may take, and end all processes."""
        self._closed = True
        for turns in (self._questions, self._free, self._long):
            turns.refuse(_CLOSING)
        if self._tasks:
            await asyncio.wait(set(self._tasks), timeout=self._settings.seconds)
        for runner in self._all:
            runner.kill()
        await asyncio.get_running_loop().run_in_executor(None, self._threads.shutdown)


@dataclass(eq=False)
class _Call:
    """A job on its way."""

    kind: Kind = FREE
    token: str = ""
    limit: float = math.inf
    """Seconds that it may take."""
    meter: Meter | None = None
    leave: int | None = None
    """That a long job has to take a process for free work."""
    gate: asyncio.Future[Any] | None = None
    runner: Runner | None = None
    since: float | None = None
    """When a process began to work on it."""
    stopped: type[Stopped] | None = field(default=None)

    def stop(self, why: type[Stopped]) -> None:
        """End it wherever it is."""
        self.stopped = self.stopped or why
        if self.runner is not None:
            self.runner.kill()
        elif self.gate is not None and not self.gate.done():
            self.gate.set_exception(why(spends=self.kind.spends))


def _numbers(runners: Iterable[Runner]) -> list[int]:
    return [number for number in (runner.process_id for runner in runners) if number is not None]


def _message(job: str, arguments: Mapping[str, Any], processor: float | None) -> bytes:
    told = {"job": job, "arguments": dict(arguments), "processor": processor}
    try:
        return json.dumps(told, allow_nan=False).encode()
    except (TypeError, ValueError):
        raise InvalidInput("arguments", job, "must be plain JSON") from None


def _token(arguments: Mapping[str, Any]) -> str:
    seat, key = arguments.get("seat"), arguments.get("key")
    known = isinstance(seat, Mapping) and isinstance(key, str) and {"account", "slot"} <= set(seat)
    return token_of(seat, key) if known else ""  # type: ignore[arg-type]


def _looked_at(task: asyncio.Task[Any]) -> None:
    """An error that nobody waits for any more is none."""
    if not task.cancelled():
        task.exception()
