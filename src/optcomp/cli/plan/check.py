"""The counts of `plan check` on a terminal: between two notices that they are not private."""

from __future__ import annotations

from rich import box
from rich.table import Table
from rich.text import Text

from optcomp.cli.writing.plain_signs import writable
from optcomp.cli.writing.printing import listed, print_table, say
from optcomp.release import (
    BOUNDS,
    NOTICE,
    ColumnCounts,
    FileCounts,
    PersonCounts,
    Preflight,
    percent,
    plain,
    printable,
    shortened,
)

_NUMBERS = ("missing", "unreadable", "below", "above", "other", "least", "greatest")
"""Columns of the table after name and kind."""
_MOST_NAMES = 12
"""Columns of the file that are named though the plan does not; more would fill the page."""


def show_check(found: Preflight) -> None:
    """The file, the people, a line for each column, then the advice."""
    say(f"{NOTICE}.")
    rows = [*_file(found.file), *(_person(found.person) if found.person is not None else [])]
    rows += [
        (printable(each.statistic), f"{each.rows:,} rows satisfy {printable(each.where, 200)}")
        for each in found.conditions
    ]
    print_table(listed(rows))
    if found.columns:
        print_table(_columns(found.columns))
    for line in found.advice:
        say(f"! {printable(line, 1000)}")
    say("Something may be wrong: see above." if found.advice else "Nothing looks wrong.")
    for sentence in (*BOUNDS, NOTICE):
        say(f"{sentence}.")


def _file(file: FileCounts) -> list[tuple[str, str]]:
    told = "" if file.declared_rows is None else f"; declared: about {file.declared_rows:,}"
    rows = [("file", f"{printable(file.name)}, {file.size:,} bytes"), ("rows", f"{file.rows:,}{told}")]
    for name, counts in (("lines not read", file.unread), ("read in part", file.cut)):
        if counts:
            rows.append((name, ", ".join(f"{why}: {count:,}" for why, count in counts.items())))
    names = [printable(shortened(name)) for name in file.unmentioned]
    if names:
        left = len(names) - _MOST_NAMES
        shown = ", ".join(names[:_MOST_NAMES]) + (f" and {left:,} more" if left > 0 else "")
        rows.append(("not in the plan", shown))
    return rows


def _person(person: PersonCounts) -> list[tuple[str, str]]:
    over = f"{person.over:,}" if person.over else "none"
    return [
        ("people", f"{person.people:,}, with up to {person.most:,} rows; with more than {person.allowed:,}: {over}")
    ]


def _columns(columns: tuple[ColumnCounts, ...]) -> Table:
    table = Table(box=box.ROUNDED)
    table.add_column("column", style="bold", overflow="fold")
    table.add_column("declared")
    for heading in _NUMBERS:
        table.add_column(heading, justify="right", no_wrap=True)
    for column in columns:
        cells = [printable(shortened(column.name)), *_cells(column)]
        table.add_row(*(Text(writable(cell)) for cell in cells))
    return table


def _cells(column: ColumnCounts) -> list[str]:
    if column.kind == "categories":
        other = f"{column.other:,} ({percent(column.other, column.rows)})"
        return [column.kind, f"{column.missing:,}", "", "", "", other, "", ""]
    counts = [f"{count:,}" for count in (column.missing, column.unreadable, column.below, column.above)]
    declared = f"{column.kind} {plain(column.low)} to {plain(column.high)}"
    return [declared, *counts, "", plain(column.least), plain(column.greatest)]
