"""Files with rows, and folders for them: nobody else's, and named so that an engine opens them and nothing else."""

from __future__ import annotations

import os
from pathlib import Path
from shutil import rmtree
from tempfile import gettempdir, mkdtemp
from weakref import finalize

from optcomp.errors import InvalidInput

_PATTERN = "*?["
"""Letters with which DuckDB looks for files, also for others than the one that is meant."""


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
    """A folder for nobody else, removed with this object by the process that made it: a forked one leaves it alone."""

    def __init__(self) -> None:
        literal_path(Path(gettempdir()))
        self.name = mkdtemp(prefix="optcomp-")
        finalize(self, _remove, self.name, os.getpid())


def _remove(folder: str, owner: int) -> None:
    if os.getpid() == owner:
        rmtree(folder, ignore_errors=True)
