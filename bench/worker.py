"""Contenders answer in another process, which is killed when it takes too long and may take only so much memory."""

from __future__ import annotations

import importlib
import math
import multiprocessing
import os
import resource
import statistics
import threading
import time
from collections.abc import Callable
from multiprocessing.connection import Connection
from typing import Any, Self

from bench.answers import Answer, Outcome

MEMORY = 8 << 30
BRIEF = 2.0
"""Calls are repeated until they took this long together (or a quarter of the limit)."""
MEDIAN_OF, BEST_OF = 3, 7
SLOW = 10.0
"""A call longer than this is not repeated for the same mechanisms at another δ."""
PATIENCE = 10.0
"""A limit of processor time may take so many times as long to be reached."""
_START = 120.0
_LOOK = 0.5
"""Seconds between two looks at the processor time."""
_SHORT = 5
"""A first call of up to so many times the time that all calls may take is not the only one."""
_OUT_OF_TIME = 75
"""The exit code of a process that ended itself."""


class Worker:
    """One process that answers questions by contender name; started anew after it was killed."""

    def __init__(
        self,
        limit: float,
        best: bool = False,
        contenders: str = "bench.contenders",
        brief: float = BRIEF,
        cpu: bool = False,
    ) -> None:
        """Times are the median of three calls, or the best of seven; `contenders` is a module with a `BY_NAME`.

        The limit is one of time that passes, or of processor time, with patience for a machine that does other work.
        """
        self.limit, self.best, self.contenders, self.brief, self.cpu = limit, best, contenders, brief, cpu
        self._context = multiprocessing.get_context("spawn")
        self._start()

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self._stop()

    def ask(self, name: str, instance: object) -> Outcome:
        """Time one contender on one instance of the kind that these contenders take."""
        self._pipe.send((name, instance))
        started = time.perf_counter()
        try:
            if self._pipe.poll(self.limit * (PATIENCE if self.cpu else 1)):
                outcome: Outcome = self._pipe.recv()
                return outcome
            outcome = Outcome(None, None, f"> {self.limit:g} s", slow=True, hopeless=True)
        except (EOFError, ConnectionError):
            seconds = time.perf_counter() - started
            self._process.join()
            out_of_time = self._process.exitcode == _OUT_OF_TIME
            told = f"> {self.limit:g} s" if out_of_time else f"process died after {seconds:.0f} s"
            outcome = Outcome(None, None, told, slow=True, hopeless=True)
        self._stop()
        self._start()
        return outcome

    def _start(self) -> None:
        self._pipe, far = self._context.Pipe()
        settings = (min(self.brief, self.limit / 4), self.best, self.contenders, self.limit if self.cpu else 0.0)
        self._process = self._context.Process(target=_serve, args=(far, *settings), daemon=True)
        self._process.start()
        far.close()
        if not self._pipe.poll(_START):
            raise TimeoutError("the worker does not start")
        self._pipe.recv()

    def _stop(self) -> None:
        self._process.kill()
        self._process.join()
        self._pipe.close()


def _serve(pipe: Connection, brief: float, best: bool, contenders: str, most: float) -> None:
    """Import everybody, say so, then answer until killed, or until an answer takes `most` seconds of work, unless 0."""
    by_name = importlib.import_module(contenders).BY_NAME
    resource.setrlimit(resource.RLIMIT_AS, (MEMORY, MEMORY))
    allowed = _Allowed()
    threading.Thread(target=allowed.watch, daemon=True).start()
    pipe.send("ready")
    while True:
        name, instance = pipe.recv()
        allowed.until = time.process_time() + most if most else math.inf
        try:
            outcome = _timed(by_name[name].ask, instance, brief, best, bool(most))
        except MemoryError:
            outcome = Outcome(None, None, f"needs more than {MEMORY >> 30} GB", slow=True)
        allowed.until = math.inf
        pipe.send(outcome)


class _Allowed:
    """How much processor time this process may have used by the end of an answer."""

    until = math.inf

    def watch(self) -> None:
        """End the process when it has used more."""
        while time.process_time() < self.until:
            time.sleep(_LOOK)
        os._exit(_OUT_OF_TIME)


def _timed(ask: Callable[[Any], Answer], instance: object, brief: float, best: bool, by_cpu: bool) -> Outcome:
    times: list[float] = []
    cpu: list[float] = []
    while len(times) < (BEST_OF if best else MEDIAN_OF) and _again(cpu if by_cpu else times, brief, by_cpu):
        started, worked = time.perf_counter(), time.process_time()
        try:
            answer = ask(instance)
        except MemoryError:
            raise
        except Exception as error:
            reason = f"{type(error).__name__}: {error}"
            return Outcome(None, None, reason, slow=time.perf_counter() - started > SLOW)
        times.append(time.perf_counter() - started)
        cpu.append(time.process_time() - worked)
    pick = min if best else statistics.median
    return Outcome(pick(times), answer, slow=min(times) > SLOW, cpu=pick(cpu), first=cpu[0])


def _again(times: list[float], brief: float, by_cpu: bool) -> bool:
    """Whether to ask once more: in processor time also after a single call, because a first one may import things."""
    return sum(times) < brief or (by_cpu and len(times) == 1 and times[0] < _SHORT * brief)
