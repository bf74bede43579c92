"""Processes that answer, and that can be killed: one job at a time each, while the service goes on serving.

They are started by "spawn", each with a ledger and an engine of its own, so nothing that was drawn in one process is
drawn again in another.  Jobs and results are JSON over a pipe; nothing is unpickled that came from outside.  A process
that is killed leaves the ledger as it is: what was debited stays reserved, and the same key runs it again.

Jobs that only read the ledger have processes of their own, so that they do not wait behind slow questions.  They take
an idle process of the others too; questions never take theirs.
"""

from __future__ import annotations

import asyncio
import json
import time
from collections.abc import Mapping
from concurrent.futures import ThreadPoolExecutor
from contextlib import suppress
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any, Protocol

from optcomp.center.failures import Busy, Cancelled, CannotStart, RunnerDied, Stopped, TookTooLong
from optcomp.center.processes import Runner, Workplace
from optcomp.center.turns import Gate, Person, Turns
from optcomp.errors import InvalidInput

_LEAST_LEASE = 30.0
"""Seconds that a process may work on a request before others may take it over, at least."""
_CLOSING = "the service is closing; nothing was spent"
"""What is told of jobs that come, or wait, when the service ends."""


class RunnerSettings(Protocol):
    """What is needed of the settings."""

    @property
    def home(self) -> Path:
        """The folder of the centre."""

    @property
    def ledger(self) -> str:
        """Its address."""

    @property
    def private(self) -> Path:
        """The folder with the keys of the ledger."""

    @property
    def witness(self) -> str | None:
        """The witness of the ledger, if it has one."""

    @property
    def seconds(self) -> float:
        """That one question may take."""

    @property
    def runners(self) -> int:
        """How many processes answer questions."""

    @property
    def readers(self) -> int:
        """How many processes read the ledger only; 0: that takes its turn with questions."""

    @property
    def waiting(self) -> int:
        """Jobs of one person that may wait for questions, and as many for reading."""

    @property
    def memory(self) -> int:
        """Megabytes that a process may take beyond what it has when it starts; 0 is no limit."""

    @property
    def bucket(self) -> float:
        """Seconds; what follows a debit is told at whole multiples of it.  0: at once."""


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
        place = _workplace(settings)
        self._questions = Turns([Runner(place) for _ in range(number)], settings.waiting)
        reading = replace(place, answers=False)
        self._reading = Turns([Runner(reading) for _ in range(settings.readers)], settings.waiting)
        self._all = (*self._questions.runners, *self._reading.runners)
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
        """How many jobs wait to read the ledger."""
        return self._reading.waiting

    @property
    def processes(self) -> list[int]:
        """The numbers of the processes that answer questions and run."""
        return _numbers(self._questions)

    @property
    def readers(self) -> list[int]:
        """The numbers of the processes that read the ledger and run."""
        return _numbers(self._reading)

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
    ) -> dict[str, Any]:
        """Have a job done; a result with "error" is a refusal, or a failure in words that tell nothing else.

        `Busy` if too many wait, `TooMany` if too many of this person do; `TookTooLong`, `Cancelled` or `RunnerDied` if
        the process was stopped.  Whoever stops waiting does not stop the job: it was paid for.  `token` is what
        `cancel` takes; by default that of its seat and key.  People take turns: `person` says whose job it is.
        """
        from optcomp.center.jobs import SPENDING

        message, begun = _message(job, arguments), time.monotonic()
        call = _Call(token if token is not None else _token(arguments))
        limit = self._settings.seconds if seconds is None else seconds
        if self._closed:
            raise Busy(_CLOSING)
        place = self._place(job, person, opens="snapshot" in arguments)
        try:
            return await self._done(call, place, message, limit)
        finally:
            if job in SPENDING and self._settings.bucket > 0:
                await asyncio.sleep(until_next(time.monotonic() - begun, self._settings.bucket))

    def _place(self, job: str, person: Person, *, opens: bool) -> Runner | Gate:
        """A process that is free for a job, which may open a table; or, where it waits for one."""
        from optcomp.center.jobs import READING, READING_LONG

        if job not in READING or opens or not self._reading.runners:
            own, able = self._questions, [self._questions]
        else:
            own, able = self._reading, [self._reading, self._questions]
        if job in READING_LONG:
            able.reverse()  # so that others can still read
        for turns in able:
            if turns.idle:
                return turns.idle.popleft()
        return own.join(person)

    async def _done(self, call: _Call, place: Runner | Gate, message: bytes, limit: float) -> dict[str, Any]:
        if call.token:
            self._calls.setdefault(call.token, []).append(call)
        try:
            runner = place if isinstance(place, Runner) else await self._turn(call, place)
        except BaseException:
            self._forget(call)
            raise
        task = asyncio.ensure_future(self._work(call, runner, message, limit))
        self._tasks.add(task)
        task.add_done_callback(self._tasks.discard)
        task.add_done_callback(_looked_at)
        return await asyncio.shield(task)

    async def _turn(self, call: _Call, gate: Gate) -> Runner:
        """The process that a job gets when its turn has come."""
        call.gate = gate
        try:
            return await gate
        except asyncio.CancelledError:
            if gate.done() and not gate.cancelled() and gate.exception() is None:
                self._release(gate.result())
            raise
        finally:
            call.gate = None

    def _release(self, runner: Runner) -> None:
        """Give a process to whose turn it is; one that has no question left reads."""
        own = self._reading if runner in self._reading.runners else self._questions
        gate = own.next() or self._reading.next()
        if gate is None:
            own.idle.append(runner)
        else:
            gate.set_result(runner)

    def _forget(self, call: _Call) -> None:
        others = [each for each in self._calls.get(call.token, ()) if each is not call]
        if others:
            self._calls[call.token] = others
        else:
            self._calls.pop(call.token, None)

    async def _work(self, call: _Call, runner: Runner, message: bytes, limit: float) -> dict[str, Any]:
        loop = asyncio.get_running_loop()
        try:
            await loop.run_in_executor(self._threads, runner.ensure)
            if call.stopped is not None:
                raise call.stopped()
            call.runner = runner
            future = loop.run_in_executor(self._threads, runner.exchange, message)
            await asyncio.wait({future}, timeout=limit)
            if not future.done():
                call.stop(TookTooLong)
            try:
                reply = await future
            except (EOFError, OSError):
                await loop.run_in_executor(self._threads, runner.kill)  # one that is about to end takes no more jobs
                raise (call.stopped or RunnerDied)() from None
            found: dict[str, Any] = json.loads(reply)
            return found
        finally:
            call.runner = None
            self._forget(call)
            self._replace_later(runner)

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
        """Kill what works on this token, and forget what waits; whether there was anything.  What was paid stays so."""
        calls = list(self._calls.get(token, ()))
        for call in calls:
            call.stop(Cancelled)
        return bool(calls)

    def holds(self, token: str) -> bool:
        """Whether a job of this token is at work or waits."""
        return token in self._calls

    async def close(self) -> None:
        """Let what works finish, for as long as a question may take, and end all processes."""
        self._closed = True
        for turns in (self._questions, self._reading):
            turns.refuse(_CLOSING)
        if self._tasks:
            await asyncio.wait(set(self._tasks), timeout=self._settings.seconds)
        for runner in self._all:
            runner.kill()
        await asyncio.get_running_loop().run_in_executor(None, self._threads.shutdown)


@dataclass(eq=False)
class _Call:
    """A job on its way."""

    token: str
    gate: Gate | None = None
    runner: Runner | None = None
    stopped: type[Stopped] | None = field(default=None)

    def stop(self, why: type[Stopped]) -> None:
        """End it wherever it is."""
        self.stopped = self.stopped or why
        if self.runner is not None:
            self.runner.kill()
        elif self.gate is not None and not self.gate.done():
            self.gate.set_exception(why())


def _workplace(settings: RunnerSettings) -> Workplace:
    lease = max(_LEAST_LEASE, settings.seconds + 5)
    databases = tuple(getattr(settings, "databases", ()))
    about = settings.home, settings.ledger, settings.private, lease, settings.witness
    return Workplace(*about, databases, settings.memory)


def _numbers(turns: Turns) -> list[int]:
    return [number for number in (runner.process_id for runner in turns.runners) if number is not None]


def until_next(passed: float, bucket: float) -> float:
    """Seconds from now to the next whole multiple of a bucket, counted from the beginning."""
    return -passed % bucket


def _message(job: str, arguments: Mapping[str, Any]) -> bytes:
    try:
        return json.dumps({"job": job, "arguments": dict(arguments)}, allow_nan=False).encode()
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
