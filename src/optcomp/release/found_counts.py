"""What preparation found, as counts: the file, the people and the columns."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from fractions import Fraction
from pathlib import Path
from typing import Any

from optcomp.errors import InvalidInput
from optcomp.planner import Document
from optcomp.release.file_counts import ColumnCounts, FileCounts, PersonCounts
from optcomp.release.released import misfit
from optcomp.statistics import (
    BadCells,
    Categories,
    ColumnTally,
    Dates,
    Declared,
    ExactCounts,
    Integers,
    Numbers,
    Preparation,
    Reading,
    Text,
    is_snapshot,
)


def prepared(
    document: Document,
    data: object,
    *,
    bad_cells: BadCells,
    reading: Reading,
    memory: str | None,
    keep_everything: bool,
) -> Preparation:
    """A file read as the plan declares; an error says that it is about the file."""
    if isinstance(data, str | Path) and is_snapshot(Path(data)):
        problem = "is a snapshot, of a file that was read already: name the file that it was prepared from"
        raise InvalidInput("source", str(data), problem)
    try:
        return Preparation(
            data,
            document.table,
            bad_cells=bad_cells,
            **reading.arguments,
            memory=memory,
            keep_everything=keep_everything,
        )
    except InvalidInput as error:
        if error.argument != "columns":
            raise
        raise misfit(data, error) from None
    except OSError as error:
        raise InvalidInput("source", str(data), f"cannot be read ({error.strerror or error})") from None


def file_counts(document: Document, found: Preparation, bad_cells: BadCells) -> FileCounts:
    """The file of a plan, and its lines."""
    about = source_counts(found, document.table, bad_cells)
    return replace(about, declared_rows=document.rows, exact_rows=document.population is not None)


def source_counts(found: Preparation, declared: Declared, bad_cells: BadCells) -> FileCounts:
    """A file or table, and its lines; no number of rows is declared of it."""
    source = found.source
    lines = source.lines
    first = None if lines.first is None else f"{lines.file or source.where}, line {lines.first[0]:,}"
    return FileCounts(
        name=source.where,
        size=source.size or 0,
        rows=found.found.rows,
        declared_rows=None,
        exact_rows=False,
        bad_cells=bad_cells,
        unread=dict(lines.bad),
        first_unread=first,
        longest_record=lines.longest,
        unmentioned=tuple(name for name in source.columns if name not in (*declared.columns, declared.person)),
    )


def person_counts(found: Preparation) -> PersonCounts | None:
    """Whose rows they are, and how many stay; None if every row is a person of its own."""
    tally = found.found.person
    if tally is None:
        return None
    kept, nobody = ExactCounts(found), tally.missing + tally.unreadable
    rows = found.found.rows - nobody
    return PersonCounts(
        column=tally.name,
        people=kept.people(),
        rows=rows,
        nobody=nobody,
        allowed=found.declared.contribution.rows,
        dropped=rows - kept.rows(),
        **_unread(found, tally),
    )


def column_counts(found: Preparation) -> list[ColumnCounts]:
    """The declared columns, over all rows that were read."""
    return [_column(found, tally) for tally in found.found.columns]


def _column(found: Preparation, tally: ColumnTally) -> ColumnCounts:
    domain, known = tally.domain, {"rows": tally.rows, "missing": tally.missing, **_unread(found, tally)}
    if isinstance(domain, Categories):
        return ColumnCounts(
            tally.name,
            "categories",
            unknown=tally.unknown,
            other=tally.unknown + tally.missing + tally.unreadable,
            examples=tally.shown,
            unseen=tuple(str(value) for code, value in enumerate(domain.values) if code not in tally.seen),
            **known,
        )
    if isinstance(domain, Text):
        return ColumnCounts(tally.name, "text", **known)
    assert isinstance(domain, Numbers)
    if isinstance(domain, Dates):
        low, high = domain.ends_shown
        ends = [None if end is None else domain.label(int(end)) for end in (tally.least, tally.greatest)]
        counts: dict[str, Any] = {"below": tally.below, "above": tally.above, "least": ends[0], "greatest": ends[1]}
        return ColumnCounts(tally.name, "dates", low=low, high=high, examples=tally.shown, **counts, **known)
    return ColumnCounts(
        tally.name,
        "integers" if isinstance(domain, Integers) else "reals",
        rounded=tally.rounded,
        below=tally.below,
        above=tally.above,
        low=_plain(Fraction(domain.low)),
        high=_plain(Fraction(domain.high)),
        least=tally.least,
        greatest=tally.greatest,
        examples=tally.shown,
        **known,
    )


def _unread(found: Preparation, tally: ColumnTally) -> Mapping[str, Any]:
    first = None if tally.first is None else f"{found.source.where}, {found.source.place(tally.first[0])}"
    return {"unreadable": tally.unreadable, "reasons": tally.reasons, "first_unread": first}


def _plain(bound: Fraction) -> float:
    return int(bound) if bound.denominator == 1 else float(bound)
