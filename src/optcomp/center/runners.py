"""Processes that answer, and that can be killed: one job at a time each, while the service goes on serving.

They are started by "spawn", each with a ledger and an engine of its own, so nothing that was drawn in one process is
drawn again in another.  Jobs and results are JSON over a pipe; nothing is unpickled that came from outside.  A process
that is killed leaves the ledger as it is: what was debited stays reserved, and the same key runs it again.
"""

from __future__ import annotations

import asyncio
import json
import multiprocessing
import os
import signal
import threading
import time
from collections import deque
from collections.abc import Mapping
from concurrent.futures import ThreadPoolExecutor
from contextlib import suppress
from dataclasses import dataclass, field
from multiprocessing.connection import Connection
from pathlib import Path
from typing import Any, Protocol

from optcomp.center.failures import Busy, Cancelled, CannotStart, RunnerDied, Stopped, TookTooLong
from optcomp.errors import InvalidInput

_READY = b"ready"
"""What a process says when it can work."""
_START = 60.0
"""Seconds that a process may take to start: it imports numerical libraries, on a machine that may be at work."""
_STARTS = 2
"""How often a process is started before that is an error."""
_QUEUE = 64
"""Jobs that may wait, beside four for each process."""
_LEAST_LEASE = 30.0
"""Seconds that a process may work on a request before others may take it over, at least."""


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
    def seconds(self) -> float:
        """That one question may take."""

    @property
    def runners(self) -> int:
        """How many processes."""

    @property
    def bucket(self) -> float:
        """Seconds; what follows a debit is told at whole multiples of it.  0: at once."""


@dataclass(frozen=True)
class Workplace:
    """What a process is told when it starts."""

    home: Path
    ledger: str = field(repr=False)
    private: Path
    lease: float
    databases: tuple[str, ...] = field(default=(), repr=False)


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
        lease = max(_LEAST_LEASE, settings.seconds + 5)
        databases = tuple(getattr(settings, "databases", ()))
        place = Workplace(settings.home, settings.ledger, settings.private, lease, databases)
        self._all = [_Runner(place) for _ in range(number)]
        self._idle = deque(self._all)
        self._waiting = deque[asyncio.Future[_Runner]]()
        self._calls: dict[str, list[_Call]] = {}
        self._tasks: set[asyncio.Task[Any]] = set()
        self._threads = ThreadPoolExecutor(number, "optcomp-runner")
        self._closed = False

    @property
    def waiting(self) -> int:
        """How many jobs wait for a process."""
        return sum(not gate.done() for gate in self._waiting)

    @property
    def working(self) -> int:
        """How many processes are at work."""
        return self.count - len(self._idle)

    @property
    def processes(self) -> list[int]:
        """The numbers of the processes that run."""
        return [number for number in (runner.process_id for runner in self._all) if number is not None]

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
    ) -> dict[str, Any]:
        """Have a job done; a result with "error" is a refusal, or a failure in words that tell nothing else.

        `Busy` if too many wait; `TookTooLong`, `Cancelled` or `RunnerDied` if the process was stopped.  Whoever stops
        waiting does not stop the job: it was paid for.  `token` is what `cancel` takes; by default that of its seat and
        key.
        """
        from optcomp.center.jobs import SPENDING

        message, begun = _message(job, arguments), time.monotonic()
        call = _Call(token if token is not None else _token(arguments))
        limit = self._settings.seconds if seconds is None else seconds
        if self._closed:
            raise Busy("the service is closing; nothing was spent")
        if not self._idle and self.waiting >= 4 * self.count + _QUEUE:
            raise Busy("too many questions wait; nothing was spent, ask again in a while")
        try:
            return await self._done(call, message, limit)
        finally:
            if job in SPENDING and self._settings.bucket > 0:
                await asyncio.sleep(until_next(time.monotonic() - begun, self._settings.bucket))

    async def _done(self, call: _Call, message: bytes, limit: float) -> dict[str, Any]:
        if call.token:
            self._calls.setdefault(call.token, []).append(call)
        try:
            runner = await self._turn(call)
        except BaseException:
            self._forget(call)
            raise
        task = asyncio.ensure_future(self._work(call, runner, message, limit))
        self._tasks.add(task)
        task.add_done_callback(self._tasks.discard)
        task.add_done_callback(_looked_at)
        return await asyncio.shield(task)

    async def _turn(self, call: _Call) -> _Runner:
        """A process that is free, in the order of asking."""
        if self._idle:
            return self._idle.popleft()
        call.gate = asyncio.get_running_loop().create_future()
        self._waiting.append(call.gate)
        try:
            return await call.gate
        except asyncio.CancelledError:
            if call.gate.done() and not call.gate.cancelled() and call.gate.exception() is None:
                self._release(call.gate.result())
            raise
        finally:
            call.gate = None

    def _release(self, runner: _Runner) -> None:
        while self._waiting:
            gate = self._waiting.popleft()
            if not gate.done():
                gate.set_result(runner)
                return
        self._idle.append(runner)

    def _forget(self, call: _Call) -> None:
        others = [each for each in self._calls.get(call.token, ()) if each is not call]
        if others:
            self._calls[call.token] = others
        else:
            self._calls.pop(call.token, None)

    async def _work(self, call: _Call, runner: _Runner, message: bytes, limit: float) -> dict[str, Any]:
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
                raise (call.stopped or RunnerDied)() from None
            found: dict[str, Any] = json.loads(reply)
            return found
        finally:
            call.runner = None
            self._forget(call)
            self._replace_later(runner)

    def _replace_later(self, runner: _Runner) -> None:
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

    async def close(self) -> None:
        """Let what works finish, for as long as a question may take, and end all processes."""
        self._closed = True
        for gate in self._waiting:
            if not gate.done():
                gate.set_exception(Busy("the service is closing; nothing was spent"))
        if self._tasks:
            await asyncio.wait(set(self._tasks), timeout=self._settings.seconds)
        for runner in self._all:
            runner.kill()
        await asyncio.get_running_loop().run_in_executor(None, self._threads.shutdown)


@dataclass(eq=False)
class _Call:
    """A job on its way."""

    token: str
    gate: asyncio.Future[_Runner] | None = None
    runner: _Runner | None = None
    stopped: type[Stopped] | None = field(default=None)

    def stop(self, why: type[Stopped]) -> None:
        """End it wherever it is."""
        self.stopped = self.stopped or why
        if self.runner is not None:
            self.runner.kill()
        elif self.gate is not None and not self.gate.done():
            self.gate.set_exception(why())


class _Runner:
    """One process; `ensure` and `exchange` wait, and are called from threads."""

    def __init__(self, place: Workplace) -> None:
        self._place = place
        self._process: multiprocessing.process.BaseProcess | None = None
        self._connection: Connection | None = None
        self._lock = threading.Lock()
        self.failed = False
        """Whether it did not start when it was started last."""

    @property
    def alive(self) -> bool:
        """Whether the process runs."""
        return self._process is not None and self._process.is_alive()

    @property
    def process_id(self) -> int | None:
        """Its number, if it runs."""
        process = self._process
        return process.pid if process is not None and process.is_alive() else None

    def ensure(self) -> None:
        """Start it if it does not run; CannotStart if it dies at once, twice in a row."""
        with self._lock:
            for _ in range(_STARTS):
                self.failed = not (self.alive or self._started())
                if not self.failed:
                    return
        raise CannotStart(
            f"a process that answers ended {_STARTS} times before it could work; its errors are in the log"
        )

    def _started(self) -> bool:
        self._clear()
        context = multiprocessing.get_context("spawn")
        mine, theirs = context.Pipe()
        process = context.Process(target=serve, args=(theirs, self._place), daemon=True, name="optcomp-runner")
        process.start()
        theirs.close()
        self._process, self._connection = process, mine
        with suppress(EOFError, OSError):
            if mine.poll(_START) and mine.recv_bytes() == _READY:
                return True
        process.kill()
        process.join(_START)
        return False

    def exchange(self, message: bytes) -> bytes:
        """Send a job and wait for its result; EOFError or OSError if the process ends meanwhile."""
        connection = self._connection
        if connection is None:
            raise EOFError
        connection.send_bytes(message)
        return connection.recv_bytes()

    def kill(self) -> None:
        """End it at once, whatever it does."""
        process = self._process
        if process is not None and process.is_alive():
            process.kill()
            process.join(_START)

    def _clear(self) -> None:
        connection, process = self._connection, self._process
        self._connection = self._process = None
        if connection is not None:
            connection.close()
        if process is not None:
            process.join(_START)


def serve(connection: Connection, place: Workplace) -> None:
    """The main loop of a process: jobs in, results out, until the service is gone."""
    signal.signal(signal.SIGINT, signal.SIG_IGN)  # a service that is interrupted ends its processes itself
    from optcomp.center.dry_runs import warm_up
    from optcomp.center.jobs import perform
    from optcomp.center.logs import log_as_json
    from optcomp.ledger import Ledger

    log_as_json()
    warm_up()
    ledger = Ledger(place.ledger, private=place.private, lease=place.lease, create=False)
    connection.send_bytes(_READY)
    while True:
        try:
            message = connection.recv_bytes()
        except (EOFError, OSError):
            break
        job = json.loads(message)
        result = perform(ledger, place, job["job"], job["arguments"])
        with suppress(BrokenPipeError, ConnectionResetError):  # the service is gone: its answer is in the ledger
            connection.send_bytes(json.dumps(result).encode())
    os._exit(0)  # engines may have threads that do not end by themselves


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
