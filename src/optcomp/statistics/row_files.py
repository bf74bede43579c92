"""Files with rows, and folders for them: nobody else's, and named so that an engine opens them and nothing else."""

from __future__ import annotations

import os
from collections.abc import Callable
from pathlib import Path
from shutil import rmtree
from tempfile import gettempdir, mkdtemp
from weakref import finalize

from optcomp.errors import InvalidInput

_PATTERN = "*?["
"""Letters with which DuckDB looks for files, also for others than the one that is meant."""
_PREFIX = "optcomp-rows-"
"""How the names of working folders begin."""
_FOLDERS: dict[str, Callable[[], object]] = {}
"""The working folders of this process, with what removes each of them."""


def literal_path(path: Path) -> Path:
    """Where a file really is, wherever links go later; refused where engines would take it for a pattern."""
    try:
        found = path.resolve()
    except (OSError, RuntimeError):
        raise InvalidInput("path", str(path), "leads nowhere: its links go in a circle") from None
    if any(letter in str(found) for letter in _PATTERN):
        raise InvalidInput("path", str(found), "must not have any of * ? [ in it: engines take them for patterns")
    return found


def read_parquet(path: Path) -> str:
    """How DuckDB reads a file, and nothing else: a folder named c0=5 would otherwise become the column c0."""
    quoted = str(path).replace("'", "''")
    return f"read_parquet('{quoted}', hive_partitioning = false)"


class WorkingFolder:
    """A private folder, removed with this object by the process that made it; a forked process leaves it alone.

    The process holds a lock on the folder while it runs.  If the process is killed, the system releases the lock, and
    the next process that makes a working folder removes this one: it may hold rows.
    """

    def __init__(self) -> None:
        literal_path(Path(gettempdir()))
        remove_abandoned_folders()
        made = Path(mkdtemp(prefix="optcomp-new-"))  # nothing looks for this name before the folder is locked
        handle = _locked(made, exclusive=False)
        self.name = str(made.rename(made.with_name(_PREFIX + made.name.rpartition("-")[2])))
        _FOLDERS[self.name] = finalize(self, _remove, self.name, os.getpid(), handle)


def remove_abandoned_folders() -> None:
    """Remove the working folders of processes that were killed."""
    for folder in Path(gettempdir()).glob(f"{_PREFIX}*"):
        handle = _locked(folder, exclusive=True)
        if handle is not None:
            rmtree(folder, ignore_errors=True)
            os.close(handle)


def remove_own_folders() -> None:
    """Remove the working folders of this process, which is about to end without running exit handlers."""
    for remove in list(_FOLDERS.values()):
        remove()


def _locked(folder: Path, *, exclusive: bool) -> int | None:
    """Lock a folder without waiting; None if another process has it, or if the system has no such locks."""
    try:
        import fcntl  # here, so that other systems can import the package
    except ImportError:
        return None
    try:
        handle = os.open(folder, os.O_RDONLY)
    except OSError:  # of another user, or just removed
        return None
    try:
        fcntl.flock(handle, (fcntl.LOCK_EX if exclusive else fcntl.LOCK_SH) | fcntl.LOCK_NB)
    except OSError:
        os.close(handle)
        return None
    return handle


def _remove(folder: str, owner: int, handle: int | None) -> None:
    if os.getpid() != owner:
        return
    _FOLDERS.pop(folder, None)
    rmtree(folder, ignore_errors=True)
    if handle is not None:
        os.close(handle)
