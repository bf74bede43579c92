"""Contenders answer in another process, which is killed when it takes too long and may take only so much memory."""

from __future__ import annotations

import importlib
import multiprocessing
import resource
import statistics
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
_START = 120.0


class Worker:
    """One process that answers questions by contender name; started anew after it was killed."""

    def __init__(self, limit: float, best: bool = False, contenders: str = "bench.contenders") -> None:
        """Times are the median of three calls, or the best of seven; `contenders` is a module with a `BY_NAME`."""
        self.limit, self.best, self.contenders = limit, best, contenders
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
            if self._pipe.poll(self.limit):
                outcome: Outcome = self._pipe.recv()
                return outcome
            outcome = Outcome(None, None, f"> {self.limit:g} s", slow=True, hopeless=True)
        except (EOFError, ConnectionError):
            seconds = time.perf_counter() - started
            outcome = Outcome(None, None, f"process died after {seconds:.0f} s", slow=True, hopeless=True)
        self._stop()
        self._start()
        return outcome

    def _start(self) -> None:
        self._pipe, far = self._context.Pipe()
        self._process = self._context.Process(
            target=_serve, args=(far, min(BRIEF, self.limit / 4), self.best, self.contenders), daemon=True
        )
        self._process.start()
        far.close()
        if not self._pipe.poll(_START):
            raise TimeoutError("the worker does not start")
        self._pipe.recv()

    def _stop(self) -> None:
        self._process.kill()
        self._process.join()
        self._pipe.close()


def _serve(pipe: Connection, brief: float, best: bool, contenders: str) -> None:
    """Import everybody, say so, then answer until killed."""
    by_name = importlib.import_module(contenders).BY_NAME
    resource.setrlimit(resource.RLIMIT_AS, (MEMORY, MEMORY))
    pipe.send("ready")
    while True:
        name, instance = pipe.recv()
        try:
            pipe.send(_timed(by_name[name].ask, instance, brief, best))
        except MemoryError:
            pipe.send(Outcome(None, None, f"needs more than {MEMORY >> 30} GB", slow=True))


def _timed(ask: Callable[[Any], Answer], instance: object, brief: float, best: bool) -> Outcome:
    times: list[float] = []
    cpu: list[float] = []
    while len(times) < (BEST_OF if best else MEDIAN_OF) and sum(times) < brief:
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
