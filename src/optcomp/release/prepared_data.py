"""Data prepared for a plan, and kept: a snapshot, with exact counts of what was dropped, changed and not read."""

from __future__ import annotations

from dataclasses import asdict, dataclass, replace
from pathlib import Path
from typing import Any

from optcomp.planner import Document
from optcomp.release.file_counts import ColumnCounts, FileCounts, PersonCounts
from optcomp.release.first_look import NOTICE
from optcomp.release.found_counts import column_counts, file_counts, person_counts, prepared
from optcomp.statistics import BadCells, ExactCounts, check_new_snapshot, is_address


@dataclass(frozen=True)
class PreparedData:
    """Where the snapshot is, and exact counts of what preparation did; not private."""

    snapshot: str
    rows: int
    """That stay."""
    file: FileCounts
    person: PersonCounts | None
    columns: tuple[ColumnCounts, ...]

    def as_dict(self) -> dict[str, Any]:
        """All of it, ready for JSON."""
        return {"notice": NOTICE, **asdict(self)}


def prepare_data(
    document: Document,
    data: str | Path,
    out: str | Path,
    *,
    bad_cells: BadCells | None = None,
    multiline: bool | None = None,
    memory: str | None = None,
) -> PreparedData:
    """Prepare a file as the plan declares it, and write the snapshot into the new folder `out`.

    What is not said is as the plan's entry `data` has it.  Raises `UnreadableData`, and writes nothing, if something
    cannot be read and must not count as missing.
    """
    target, bad = Path(out), document.bad_cells if bad_cells is None else bad_cells
    check_new_snapshot(target)  # before the data are read, which may take long
    found = prepared(
        document,
        Path(data) if not is_address(data) else data,
        bad_cells=bad,
        reading=document.reading if multiline is None else replace(document.reading, multiline=multiline),
        memory=memory,
        keep_everything=False,
    )
    rows, person = ExactCounts(found).rows(), person_counts(found)
    found.save(target)
    return PreparedData(str(target), rows, file_counts(document, found, bad), person, tuple(column_counts(found)))
