"""Folders of snapshots below the home: their names, and removing those that jobs left which did not come to an end.

The snapshots of a data set lie in `snapshots/NAME`, as 1, 2 and so on.  One that an owner's job makes has a mark in its
name, such as 2-9f86d081884c7d65, that was drawn for the job: so nobody else can have taken the name meanwhile, and what
a database that was put back does not know is left alone.
"""

from __future__ import annotations

import re
import shutil
from pathlib import Path

from sqlalchemy import select

from optcomp.center.store import Store
from optcomp.center.tables import OWNER_JOBS, VERSIONS

_NUMBER = re.compile(r"(\d+)(?:-[0-9a-f]{16})?")
"""The name of a folder of a snapshot."""
_OF_JOB = re.compile(r"\.?\d+-([0-9a-f]{16})(?:\.[0-9a-f]+)?")
"""The name of one that a job makes, written or being written."""


def new_folder(folder: Path, mark: str | None) -> Path:
    """The next snapshot in the folder of a data set, which is made if it is not there; `mark` is that of a job."""
    folder.mkdir(mode=0o700, parents=True, exist_ok=True)
    taken = [int(found[1]) for path in folder.iterdir() if (found := _NUMBER.fullmatch(path.name))]
    number = str(max(taken, default=0) + 1)
    return folder / (number if mark is None else f"{number}-{mark}")


def mark_of(store: Store, job: int | None) -> str | None:
    """The mark of a job; None if no job registers."""
    if job is None:
        return None
    with store.read() as connection:
        return connection.scalar(select(OWNER_JOBS.c.mark).where(OWNER_JOBS.c.id == job))


def remove_leftovers(store: Store) -> list[str]:
    """Remove folders of jobs that have ended and registered nothing, for they hold rows; the names of the folders."""
    found = list(_of_jobs(store.settings.snapshots))
    if not found:
        return []
    over = OWNER_JOBS.c.state.in_(("failed", "cancelled", "interrupted"))
    with store.read() as connection:
        marks = set(connection.scalars(select(OWNER_JOBS.c.mark).where(over)))
        named = {store.settings.home / each for each in connection.scalars(select(VERSIONS.c.snapshot))}
    left = [path for path, mark in found if mark in marks and path not in named]
    for path in left:
        shutil.rmtree(path, ignore_errors=True)
    return [str(path.relative_to(store.settings.snapshots)) for path in left]


def _of_jobs(snapshots: Path) -> list[tuple[Path, str]]:
    if not snapshots.is_dir():
        return []
    inside = [path for folder in snapshots.iterdir() if folder.is_dir() for path in folder.iterdir()]
    return [(path, found[1]) for path in inside if (found := _OF_JOB.fullmatch(path.name))]
