"""Lines, tables and JSON on standard output; plain text when that is not a terminal."""

from __future__ import annotations

import json
import sys
from collections.abc import Iterable, Mapping
from typing import TYPE_CHECKING

from optcomp.cli.writing.plain_signs import writable

if TYPE_CHECKING:
    from rich.console import Console
    from rich.table import Table

_PLAIN_WIDTH = 120
"""Columns when nobody says how wide the page is."""

_UNBOUNDED = 10_000
"""Columns enough for any table."""


def console() -> Console:
    """Where tables go: stdout, without colours unless it is a terminal."""
    from rich.console import Console

    output = Console(highlight=False, emoji=False)
    if not output.is_terminal:
        output = Console(highlight=False, emoji=False, width=_PLAIN_WIDTH)
    return output


def room() -> int:
    """Columns of the terminal; as many as one likes where there is none."""
    output = console()
    return output.width if output.is_terminal else _UNBOUNDED


def say(text: str) -> None:
    """Print a line, however long."""
    console().print(writable(text), markup=False, soft_wrap=True)


def warn(text: str) -> None:
    """Print a line on standard error: what should be read, although all went well."""
    print(f"optcomp: {writable(text)}", file=sys.stderr, flush=True)


def print_table(table: Table) -> None:
    """Print a table whole: a narrow terminal breaks its lines rather than lose digits."""
    from rich.console import Console

    output = console()
    output.width = max(output.width, Console(width=_UNBOUNDED).measure(table).minimum)
    output.print(table)


def listed(rows: Iterable[tuple[str, str]]) -> Table:
    """Names and values, one below the other."""
    from rich import box
    from rich.table import Table
    from rich.text import Text

    table = Table(box=box.ROUNDED, show_header=False)
    table.add_column(style="bold", no_wrap=True)
    table.add_column(overflow="fold")
    for name, value in rows:
        table.add_row(Text(writable(name)), Text(writable(value)))
    return table


def print_json(view: Mapping[str, object]) -> None:
    """One object on one page; Greek letters as they are wherever the output can hold them."""
    narrow = not (sys.stdout.encoding or "").lower().startswith("utf")
    print(json.dumps(view, indent=2, ensure_ascii=narrow, allow_nan=False))
