"""One process that answers: started by "spawn", given one job at a time over a pipe, and killed when it must be.

It has a ledger and an engine of its own.  The operating system bounds its memory: whatever asks for more ends alone.
"""

from __future__ import annotations

import gc
import json
import math
import multiprocessing
import os
import resource
import signal
import threading
import time
from collections.abc import Callable, Mapping
from contextlib import suppress
from dataclasses import dataclass, field
from functools import partial
from logging import getLogger
from multiprocessing.connection import Connection
from pathlib import Path
from typing import Any

from optcomp.center.failures import CannotStart

_READY = b"ready"
"""What a process says when it can work."""
_START = 300.0
"""Seconds that a process may take to start: it imports numerical libraries, and on a very busy machine that has taken
more than a minute.  One that ends before is noticed at once."""
_STARTS = 2
"""How often a process is started before that is an error."""
_STATM = Path("/proc/self/statm")
"""Where Linux tells the sizes of a process, in pages; the sixth is its private memory that may be written to."""
_MEGABYTE = 1 << 20
"""Bytes."""
NICE = 10
"""By how much processes that do free work give way to those that answer questions."""


@dataclass(frozen=True)
class Workplace:
    """What a process is told when it starts."""

    home: Path
    ledger: str = field(repr=False)
    private: Path
    lease: float
    witness: str | None = field(default=None, repr=False)
    databases: tuple[str, ...] = field(default=(), repr=False)
    memory: int = 0
    """Megabytes beyond what it takes when it starts; 0 is no limit."""
    free: bool = False
    """Whether it does free work only, and gives way to the processes that answer questions."""


class Runner:
    """One process; `ensure` and `exchange` wait, and are called from threads.

    It is told its place, and runs `main`: by default what answers questions.
    """

    def __init__(self, place: Any, main: Callable[[Connection, Any], None] | None = None) -> None:
        self._place, self._main = place, main or serve
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
        process = context.Process(target=self._main, args=(theirs, self._place), daemon=True, name="optcomp-runner")
        process.start()
        theirs.close()
        self._process, self._connection = process, mine
        with suppress(EOFError, OSError):
            if mine.poll(_START) and mine.recv_bytes() == _READY:
                return True
        process.kill()
        _wait_for_end(process)
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
            _wait_for_end(process)

    def strike(self) -> None:
        """Kill it and do not wait for its end: `kill` does, before it gets another job."""
        process = self._process
        if process is not None:
            process.kill()

    def _clear(self) -> None:
        connection, process = self._connection, self._process
        self._connection = self._process = None
        if connection is not None:
            connection.close()
        if process is not None:
            _wait_for_end(process)


def _wait_for_end(process: multiprocessing.process.BaseProcess) -> None:
    """Wait until a process has ended, and remove the working folders that it left if it was killed."""
    from optcomp.statistics import remove_abandoned_folders  # here: processes that calculate do without

    process.join(_START)
    remove_abandoned_folders()


def serve(connection: Connection, place: Workplace) -> None:
    """The main loop of a process: jobs in, results out, until the service is gone."""
    signal.signal(signal.SIGINT, signal.SIG_IGN)  # a service that is interrupted ends its processes itself
    if place.free:
        os.nice(NICE)  # also while it starts: one that was stopped is started again beside questions
    from optcomp.center.dry_runs import warm_up
    from optcomp.center.jobs import perform
    from optcomp.center.logs import log_as_json
    from optcomp.ledger import Ledger
    from optcomp.statistics import remove_own_folders

    log_as_json()
    if not place.free:
        warm_up()
    options = {"private": place.private, "witness": place.witness}
    ledger = Ledger(place.ledger, **options, lease=place.lease, create=False)
    leave_no_core()
    limit_memory(place.memory)
    do_jobs(connection, partial(perform, ledger, place), before_exit=remove_own_folders)


def do_jobs(
    connection: Connection,
    perform: Callable[[str, Mapping[str, Any]], Mapping[str, Any]],
    before_exit: Callable[[], None] = lambda: None,
) -> None:
    """Say that this process can work, and do one job after the other until the service is gone.

    Beside each result it says how many seconds of a processor the job took.  A job may name how many it may take.  The
    process ends without exit handlers; `before_exit` is called instead.
    """
    known: set[str] = set()
    keep_loaded()
    connection.send_bytes(_READY)
    while True:
        try:
            message = connection.recv_bytes()
        except (EOFError, OSError):
            break
        job = json.loads(message)
        limit_processor(job.get("processor"))
        begun = time.process_time()
        try:
            result = perform(job["job"], job["arguments"])
        except MemoryError:  # what is left may be too little for the next job: another process takes its place
            getLogger("optcomp.center").error("%s: takes more memory than the settings allow", job["job"])
            before_exit()
            os._exit(1)
        with suppress(BrokenPipeError, ConnectionResetError):  # the service is gone: its answer is in the ledger
            reply = {"result": result, "processor": time.process_time() - begun}
            connection.send_bytes(json.dumps(reply).encode())
        if job["job"] not in known:  # it loaded what its kind needs
            known.add(job["job"])
            keep_loaded()
    before_exit()
    os._exit(0)  # engines may have threads that do not end by themselves


def keep_loaded() -> None:
    """Tell the garbage collector that what is loaded stays: looking through all of it takes a tenth of a second.

    It would do so in the middle of some job, and somebody waits for that.
    """
    gc.collect()
    gc.freeze()


def leave_no_core() -> None:
    """A library that runs out of memory may abort: the core that the system would write holds rows."""
    resource.setrlimit(resource.RLIMIT_CORE, (0, 0))


def limit_processor(seconds: float | None) -> None:
    """Have the operating system end this process after so many more seconds of a processor; None is no limit."""
    soft, hard = resource.getrlimit(resource.RLIMIT_CPU)
    used = resource.getrusage(resource.RUSAGE_SELF)
    wanted = hard if seconds is None else math.ceil(used.ru_utime + used.ru_stime + seconds)
    if soft != wanted:
        resource.setrlimit(resource.RLIMIT_CPU, (wanted, hard))


def limit_memory(megabytes: int) -> None:
    """Have the operating system refuse this process more than so much beyond what it has now; 0 is no limit.

    By RLIMIT_DATA and not by RLIMIT_AS: libraries reserve addresses that they never use, and map files that take no
    memory of their own.  What is counted is private memory that may be written to.  Only Linux counts it so.
    """
    if not megabytes or not _STATM.exists():
        return
    pages = int(_STATM.read_text().split()[5])
    wanted = pages * resource.getpagesize() + megabytes * _MEGABYTE
    _, most = resource.getrlimit(resource.RLIMIT_DATA)
    if most == resource.RLIM_INFINITY or wanted < most:
        resource.setrlimit(resource.RLIMIT_DATA, (wanted, wanted))
