"""Folders of snapshots below the home: their names, and removing those that jobs left which did not come to an end.

The snapshots of a data set lie in `snapshots/NAME`, as 1, 2 and so on.  One that an owner's job makes has the number of
the job in its name, such as 2-17: if the job is stopped, nobody else can have taken the name meanwhile.
"""

from __future__ import annotations

import re
import shutil
from pathlib import Path

from sqlalchemy import select

from optcomp.center.store import Store
from optcomp.center.tables import ACTIVE, OWNER_JOBS, VERSIONS

_NUMBER = re.compile(r"(\d+)(?:-\d+)?")
"""The name of a folder of a snapshot."""
_OF_JOB = re.compile(r"\.?\d+-(\d+)(?:\.[0-9a-f]+)?")
"""The name of one that a job makes, written or being written."""


def new_folder(folder: Path, job: int | None) -> Path:
    """The next snapshot in the folder of a data set, which is made if it is not there."""
    folder.mkdir(mode=0o700, parents=True, exist_ok=True)
    taken = [int(found[1]) for path in folder.iterdir() if (found := _NUMBER.fullmatch(path.name))]
    number = str(max(taken, default=0) + 1)
    return folder / (number if job is None else f"{number}-{job}")


def remove_leftovers(store: Store) -> list[str]:
    """Remove folders of jobs that have ended and registered nothing; their names.

    They hold rows.  What a version of a data set names is left alone, and so is what a job at work is writing.
    """
    found = list(_of_jobs(store.settings.snapshots))
    if not found:
        return []
    with store.read() as connection:
        running = set(connection.scalars(select(OWNER_JOBS.c.id).where(OWNER_JOBS.c.state.in_(ACTIVE))))
        named = {store.settings.home / each for each in connection.scalars(select(VERSIONS.c.snapshot))}
    left = [path for path, job in found if job not in running and path not in named]
    for path in left:
        shutil.rmtree(path, ignore_errors=True)
    return [str(path.relative_to(store.settings.snapshots)) for path in left]


def _of_jobs(snapshots: Path) -> list[tuple[Path, int]]:
    if not snapshots.is_dir():
        return []
    inside = [path for folder in snapshots.iterdir() if folder.is_dir() for path in folder.iterdir()]
    return [(path, int(found[1])) for path in inside if (found := _OF_JOB.fullmatch(path.name))]
