"""The counts of `data check` and `data prepare` on a terminal: between two notices that they are not private."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from rich import box
from rich.table import Table
from rich.text import Text

from optcomp.cli.writing.plain_signs import writable
from optcomp.cli.writing.printing import listed, print_table, say
from optcomp.release import (
    BOUNDS,
    NOTICE,
    ColumnCounts,
    ConditionCounts,
    FileCounts,
    PersonCounts,
    Preflight,
    PreparedData,
    percent,
    plain,
    printable,
    shortened,
)

_NUMBERS = ("missing", "unreadable", "below", "above", "other", "least", "greatest")
"""Columns of the table after name and kind."""
_CONDITIONS = ("rows", "of", "lost", "people", "of", "lost")
"""Columns of the table of conditions: what is left after the lot, of what there was before."""
_MOST_NAMES = 12
"""Columns of the file that are named though the plan does not; more would fill the page."""
_LOT = "The lot, which rows of a person stay, was drawn for this look; a release or a snapshot draws another one."
"""Said where rows are dropped."""


def show_check(found: Preflight) -> None:
    """The file, the people, a line for each column and each condition, then the advice."""
    say(f"{NOTICE}.")
    _show(found.file, found.person, found.columns)
    if found.conditions:
        print_table(_conditions(found.conditions))
    if found.person is not None and found.person.dropped:
        print_table(_bias(found.columns))
        say(_LOT)
    for line in found.advice:
        say(f"! {printable(line, 1000)}")
    say("Something may be wrong: see above." if found.advice else "Nothing looks wrong.")
    for sentence in (*BOUNDS, NOTICE):
        say(f"{sentence}.")


def show_prepared(found: PreparedData) -> None:
    """The file, the people, a line for each column, and where the snapshot is."""
    say(f"{NOTICE}.")
    _show(found.file, found.person, found.columns, [("rows that stay", f"{found.rows:,}")])
    say(
        f"The snapshot is in {printable(found.snapshot, 1000)}; it holds people's data: keep it where the file is kept."
    )
    say(f"{NOTICE}.")


def _show(
    file: FileCounts,
    person: PersonCounts | None,
    columns: Sequence[ColumnCounts],
    more: Sequence[tuple[str, str]] = (),
) -> None:
    rows = [*_file(file), *(_person(person) if person is not None else []), *more]
    rows += [
        (f"unreadable {printable(shortened(column.name))}", _unread(column.reasons, column.first_unread))
        for column in columns
        if column.unreadable
    ]
    rows += [
        (f"not whole {printable(shortened(column.name))}", f"{column.rounded:,}, rounded")
        for column in columns
        if column.rounded
    ]
    print_table(listed(rows))
    if columns:
        print_table(_columns(columns))


def _file(file: FileCounts) -> list[tuple[str, str]]:
    told = "" if file.declared_rows is None else f"; declared: about {file.declared_rows:,}"
    rows = [("file", f"{printable(file.name)}, {file.size:,} bytes"), ("rows", f"{file.rows:,}{told}")]
    if file.unread:
        rows.append(("unreadable lines", _unread(file.unread, file.first_unread)))
    if file.longest_record > 1:
        rows.append(("longest record", f"{file.longest_record:,} lines"))
    names = [printable(shortened(name)) for name in file.unmentioned]
    if names:
        left = len(names) - _MOST_NAMES
        shown = ", ".join(names[:_MOST_NAMES]) + (f" and {left:,} more" if left > 0 else "")
        rows.append(("not in the plan", shown))
    return rows


def _unread(reasons: Mapping[str, int], first: str | None) -> str:
    counts = ", ".join(f"{why}: {count:,}" for why, count in reasons.items())
    return f"{counts}; first {printable(first or '', 200)}"


def _person(person: PersonCounts) -> list[tuple[str, str]]:
    told = f"{person.people:,}"
    if person.most is not None:
        over = f"{person.over:,}" if person.over else "none"
        told += f", with up to {person.most:,} rows; with more than {person.allowed:,}: {over}"
    rows = [("people", told), ("rows of nobody", f"{person.nobody:,}, left out")]
    rows.append(("rows too many", f"{person.dropped:,} of {person.rows:,}, left out by lot"))
    if person.unreadable:
        rows.append(("unreadable people", _unread(person.reasons, person.first_unread)))
    return rows


def _table(headings: Sequence[str], numbers: Sequence[str]) -> Table:
    table = Table(box=box.ROUNDED)
    table.add_column(headings[0], style="bold", overflow="fold")
    for heading in headings[1:]:
        table.add_column(heading)
    for heading in numbers:
        table.add_column(heading, justify="right", no_wrap=True)
    return table


def _add(table: Table, cells: Sequence[str]) -> None:
    table.add_row(*(Text(writable(cell)) for cell in cells))


def _columns(columns: Sequence[ColumnCounts]) -> Table:
    table = _table(("column", "declared"), _NUMBERS)
    for column in columns:
        _add(table, [printable(shortened(column.name)), *_cells(column)])
    return table


def _cells(column: ColumnCounts) -> list[str]:
    counts = [f"{count:,}" for count in (column.missing, column.unreadable)]
    if column.kind == "categories":
        other = f"{column.other:,} ({percent(column.other, column.rows)})"
        return [column.kind, *counts, "", "", other, "", ""]
    if column.kind == "text":
        return [column.kind, *counts, *[""] * 5]
    counts += [f"{count:,}" for count in (column.below, column.above)]
    declared = f"{column.kind} {plain(column.low)} to {plain(column.high)}"
    return [declared, *counts, "", plain(column.least), plain(column.greatest)]


def _conditions(conditions: Sequence[ConditionCounts]) -> Table:
    """Rows and people that satisfy each condition after the lot and before it."""
    table = _table(("statistic", "condition"), _CONDITIONS)
    for each in conditions:
        counts = [each.rows, each.rows_before, each.rows_before - each.rows]
        counts += [each.people, each.people_before, each.people_before - each.people]
        words = [printable(shortened(each.statistic)), printable(each.where, 200)]
        _add(table, [*words, *(f"{count:,}" for count in counts)])
    return table


def _bias(columns: Sequence[ColumnCounts]) -> Table:
    """Means and shares over all rows and over those that the lot leaves."""
    table = _table(("column", "bias of the lot"), ("all rows", "rows that stay"))
    for column in columns:
        name, moved = printable(shortened(column.name)), column.moved
        if moved is not None:
            words = f"share of {printable(shortened(moved.category))}, which moves most"
            _add(table, [name, words, *(f"{100 * share:.4g} %" for share in (moved.everything, moved.kept))])
        elif column.mean is not None:
            kept = "" if column.mean_kept is None else f"{column.mean_kept:,.6g}"
            _add(table, [name, "mean", f"{column.mean:,.6g}", kept])
    return table
