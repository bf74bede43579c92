"""Leases: who is at work on a request, so that nobody does the same work meanwhile.

A lease names a process and a time.  If the process runs on this machine it is asked for: a lease of a process that is
gone has ended, however long it was meant to last.
"""

from __future__ import annotations

import os
import time
from functools import cache
from pathlib import Path
from uuid import getnode

_GONE = "gone"
"""Stands for the beginning of a process that has ended."""
_ENDED = (b"Z", b"X", b"x")
"""States of processes that were killed and of which nobody has taken notice yet."""


def lease_of_this_process(seconds: float) -> str:
    """For so many seconds from now."""
    return f"{_machine()} {os.getpid()} {_own_start(os.getpid())} {time.time() + seconds:.3f}"


def is_alive(lease: str) -> bool:
    """Whether somebody may still be at work."""
    machine, process, started, until = lease.split(" ")
    if machine == _machine() and _started(int(process)) != started:
        return False
    return time.time() < float(until)


@cache
def _machine() -> str:
    """Which machine this is, since it was started."""
    try:
        return Path("/proc/sys/kernel/random/boot_id").read_text(encoding="ascii").strip()
    except OSError:
        return f"{getnode():x}"


def _started(process: int) -> str:
    """When a process began, so that a number that was given again is not taken for it; nothing if it is gone."""
    try:
        with open(f"/proc/{process}/stat", "rb") as file:
            fields = file.read().rpartition(b")")[2].split()
    except OSError:
        return _GONE if _is_linux() else "unknown"
    return _GONE if fields[0] in _ENDED else fields[19].decode("ascii")


@cache
def _own_start(process: int) -> str:
    """Of this process, which does not change; a forked one has another number."""
    return _started(process)


@cache
def _is_linux() -> bool:
    return Path("/proc/self/stat").exists()
