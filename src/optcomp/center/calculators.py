"""Processes that calculate for visitors: no data, no ledger, limits on time, memory and queue.

They are apart from the processes that answer questions about people: whatever a stranger types here can slow down or
break no question, and a process that is taken over knows nothing.  Visitors take turns by their address.
"""

from __future__ import annotations

import asyncio
import json
import os
import signal
from collections import OrderedDict
from collections.abc import Awaitable, Callable, Mapping
from concurrent.futures import ThreadPoolExecutor
from contextlib import suppress
from dataclasses import dataclass
from functools import partial
from ipaddress import IPv6Address, ip_address
from multiprocessing.connection import Connection
from typing import Any

from optcomp.center.failures import Busy, CannotStart, RunnerDied, TookTooLong
from optcomp.center.processes import NICE, Runner, do_jobs, leave_no_core, limit_memory, limit_processor
from optcomp.center.settings import Settings
from optcomp.center.turns import Turns
from optcomp.errors import OptcompError

_WAITING = 6
"""Calculations of one address that may wait: somebody who types sends one after the other."""
_PATIENCE = 20.0
"""Seconds that a turn is waited for, at least."""
_KEPT = 256
"""Results that are remembered: what one visitor typed is what many reload."""
_MOST_KEPT = 64 * 1024
"""Bytes of a result that is remembered."""
_MOST_WORDS = 400
"""Letters of an error that people still read; what it quotes may be much longer."""
_PROCESSOR = 2
"""Seconds of a processor for each second that a calculation may take: some libraries work in two threads."""
_SUBNET = 64
"""Bits of an address of version 6 that belong to one household; the others its owner chooses freely."""
_BUSY = "Many people calculate at the moment."
"""What is told when all places are taken, or a turn does not come."""
Gone = Callable[[], Awaitable[bool]]
"""Whether whoever asked has left."""


class Calculators:
    """Processes that calculate, for one event loop; they start when they are first needed, or by `start`."""

    def __init__(self, settings: Settings) -> None:
        self._seconds = settings.calculator_seconds
        place = Limits(settings.calculator_memory, settings.calculator_seconds)
        self._turns = Turns([Runner(place, serve) for _ in range(settings.calculators)], _WAITING)
        self._threads = ThreadPoolExecutor(max(1, settings.calculators), "optcomp-calculator")
        self._tasks: set[asyncio.Task[Any]] = set()
        self._kept: OrderedDict[bytes, dict[str, Any]] = OrderedDict()
        self._closed = False

    @property
    def processes(self) -> list[int]:
        """The numbers of the processes that run."""
        return [number for number in (runner.process_id for runner in self._turns.places) if number is not None]

    @property
    def seconds(self) -> float:
        """What a calculation may take."""
        return self._seconds

    async def start(self) -> None:
        """Start all processes now."""
        loop = asyncio.get_running_loop()
        with suppress(CannotStart):  # whoever calculates is told
            await asyncio.gather(*(loop.run_in_executor(self._threads, runner.ensure) for runner in self._turns.places))

    async def call(
        self, job: str, arguments: Mapping[str, Any], *, address: str, gone: Gone | None = None
    ) -> dict[str, Any]:
        """Have something calculated; a result with "error" says which field is wrong.

        `Busy` or `TooMany` if too many wait, `TookTooLong` past the limit on time, `RunnerDied` past that on memory.
        """
        if not self._turns.places or self._closed:
            raise Busy("The calculator is switched off.")
        message = json.dumps({"job": job, "arguments": dict(arguments)}, allow_nan=False, sort_keys=True).encode()
        if message in self._kept:
            self._kept.move_to_end(message)
            return self._kept[message]
        runner = await self._runner(visitor(address))
        if gone is not None and await gone():
            self._turns.give_back(runner)
            raise Busy(_BUSY)
        task = asyncio.ensure_future(self._work(runner, message))
        self._tasks.add(task)
        task.add_done_callback(self._tasks.discard)
        return await asyncio.shield(task)

    async def _runner(self, person: int) -> Runner:
        """A process, when this visitor's turn has come."""
        gate = self._turns.take(person)
        try:
            return await asyncio.wait_for(asyncio.shield(gate), max(_PATIENCE, 2 * self._seconds))
        except BaseException as error:
            if not gate.done():
                gate.cancel()
            elif not gate.cancelled() and gate.exception() is None:
                self._turns.give_back(gate.result())
            if isinstance(error, TimeoutError):
                raise Busy(_BUSY) from None
            raise

    async def _work(self, runner: Runner, message: bytes) -> dict[str, Any]:
        loop = asyncio.get_running_loop()
        try:
            await loop.run_in_executor(self._threads, runner.ensure)
            future = loop.run_in_executor(self._threads, runner.exchange, message)
            await asyncio.wait({future}, timeout=self._seconds)
            late = not future.done()
            if late:
                runner.kill()
            try:
                reply = await future
            except (EOFError, OSError):
                await loop.run_in_executor(self._threads, runner.kill)
                raise (TookTooLong if late else RunnerDied)() from None
            found: dict[str, Any] = json.loads(reply)["result"]
            self._keep(message, reply, found)
            return found
        finally:
            self._replace(runner)

    def _keep(self, message: bytes, reply: bytes, found: dict[str, Any]) -> None:
        if len(message) + len(reply) <= _MOST_KEPT:
            self._kept[message] = found
            while len(self._kept) > _KEPT:
                self._kept.popitem(last=False)

    def _replace(self, runner: Runner) -> None:
        """Give a process back; one that was killed is started again before."""
        if runner.alive or runner.failed or self._closed:
            self._turns.give_back(runner)
            return

        async def start() -> None:
            with suppress(CannotStart):
                await asyncio.get_running_loop().run_in_executor(self._threads, runner.ensure)
            self._turns.give_back(runner)

        task = asyncio.ensure_future(start())
        self._tasks.add(task)
        task.add_done_callback(self._tasks.discard)

    async def close(self) -> None:
        """End all processes; nobody loses anything by that."""
        self._closed = True
        self._turns.refuse(_BUSY)
        for runner in self._turns.places:
            runner.kill()
        if self._tasks:
            await asyncio.wait(set(self._tasks), timeout=self._seconds)
        for runner in self._turns.places:
            runner.kill()
        await asyncio.get_running_loop().run_in_executor(None, self._threads.shutdown)


def visitor(address: str) -> int:
    """A number for everybody at this address, or in this network of version 6."""
    try:
        found = ip_address(address)
    except ValueError:
        return -1
    if isinstance(found, IPv6Address):
        return int(found) >> _SUBNET if found.ipv4_mapped is None else int(found.ipv4_mapped)
    return int(found)


@dataclass(frozen=True)
class Limits:
    """What a process is told when it starts: nothing of the centre."""

    memory: int
    seconds: float


def serve(connection: Connection, place: Limits) -> None:
    """The main loop of a process."""
    signal.signal(signal.SIGINT, signal.SIG_IGN)  # a service that is interrupted ends its processes itself
    os.environ.clear()
    from optcomp.center.logs import log_as_json

    log_as_json()
    warm_up()
    leave_no_core()
    limit_memory(place.memory)
    os.nice(NICE)
    do_jobs(connection, partial(_within, place.seconds))


def _within(seconds: float, job: str, arguments: Mapping[str, Any]) -> dict[str, Any]:
    """A result; the operating system ends a process whose service is gone and cannot end it any more."""
    limit_processor(_PROCESSOR * seconds + 1)
    return perform(job, arguments)


def warm_up() -> None:
    """Fetch what calculations need, so that the first visitor does not wait for it."""
    perform("answer", {"given": {"mechanisms": "0.1x50 0.2,1e-9x3", "sought": "epsilon", "at": "1e-6"}})
    given = {"mechanisms": "0.1x3 gaussian(sigma=4)x2", "sought": "epsilon", "at": "1e-6"}
    perform("compared", {"given": given})
    perform("curves", {"given": given, "seconds": 0.1})


def perform(job: str, arguments: Mapping[str, Any]) -> dict[str, Any]:
    """A result, or what is wrong with what was given."""
    from optcomp.center import calculations, curves

    jobs: dict[str, Callable[..., dict[str, Any]]] = {
        "answer": calculations.answer,
        "certificate": calculations.certificate,
        "compared": calculations.compared,
        "curves": curves.curves,
        "read_file": calculations.read_file,
    }
    try:
        return jobs[job](**arguments)
    except calculations.Wrong as error:
        return {"error": error.argument, "words": _cut(calculations.worded(error.words))}
    except (OptcompError, ArithmeticError) as error:
        words = str(error) if isinstance(error, OptcompError) else "a number is too large for this computation"
        return {"error": "mechanisms", "words": _cut(calculations.worded(words))}


def _cut(words: str) -> str:
    line = "".join(sign if sign.isprintable() else " " for sign in words)
    return line if len(line) <= _MOST_WORDS else line[:_MOST_WORDS] + "…"
