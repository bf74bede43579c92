"""The command `plan init`: a plan to begin with, from the header of a table."""

from __future__ import annotations

import shlex
from pathlib import Path
from typing import Annotated

import typer

from optcomp.cli.failures import Complaint
from optcomp.cli.plan.outputs import write
from optcomp.cli.progress import working
from optcomp.cli.reading.addresses import given_address
from optcomp.cli.reading.plan_file import options_named
from optcomp.cli.writing.printing import say


def begin(
    data: Annotated[
        str,
        typer.Argument(
            metavar="DATA",
            help="A file, or the address of a database; @FILE reads it from a file.",
            show_default=False,
            callback=given_address,
        ),
    ],
    out: Annotated[
        Path | None,
        typer.Option(metavar="FILE", help="The new plan; by default DATA.plan.yaml here.", show_default=False),
    ] = None,
    table: Annotated[
        str | None, typer.Option(metavar="NAME", help="A table of a database, or a sheet.", show_default=False)
    ] = None,
    public: Annotated[
        bool,
        typer.Option(
            "--bounds-are-public",
            help="Read bounds and categories off the data: only if everybody may know them, and they say nothing of "
            "single people.",
        ),
    ] = False,
) -> None:
    """Write a plan to begin with, with comments, from the header of a table: for whoever holds the data.

    Types, and how a CSV file is written, are proposed by a look at its first rows. Bounds and categories are left open:
    they come from what is known beforehand. No budget is spent.

    optcomp plan init people.csv

    optcomp plan init people.xlsx --table Answers --out answers.yaml
    """
    from optcomp.release import first_plan

    stem = (table or "table") if "://" in data else Path(data).name.split(".")[0]
    target = out if out is not None else Path(f"{stem}.plan.yaml")
    if target.exists():
        raise Complaint(f"--out: {str(target)!r} is there already, and is not overwritten")
    with options_named({"table": "table"}), working("looking"):
        text = first_plan(data, table=table, public=public)
    write(target, text, "--out")
    say(f"The plan is in {target}: fill in what is in capitals, then `optcomp plan {shlex.quote(str(target))}`")
