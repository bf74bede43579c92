"""The commands `data check` and `data prepare`: what is in the data, and the snapshot that questions are asked of."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated, cast

import typer

from optcomp.cli import options
from optcomp.cli.failures import Complaint
from optcomp.cli.guarded import OneLineGroup, PlainCommand
from optcomp.cli.plan.outputs import check_apart
from optcomp.cli.progress import working
from optcomp.cli.reading.addresses import given_address
from optcomp.cli.reading.plan_file import about, options_named, plan_in
from optcomp.cli.writing.printing import print_json

if TYPE_CHECKING:
    from optcomp.statistics import BadCells

_HELP = """Look at data and prepare them for a plan, before anything is spent: for whoever holds the data.

Exit code 0 if all is well, 1 if `check` has advice, 2 and one line on standard error for bad input or unreadable data.

optcomp data check plan.yaml --data table.csv

optcomp data prepare plan.yaml --data table.csv --out table.snapshot

optcomp plan release plan.yaml --data table.snapshot
"""

ADVICE = 1
"""The exit code of `data check` if something may be wrong."""

data_app = typer.Typer(name="data", cls=OneLineGroup, rich_markup_mode="rich", help=_HELP)


@data_app.callback(invoke_without_command=True)
def _start(context: typer.Context) -> None:
    if context.invoked_subcommand is None:
        print(context.get_help())


_Plan = Annotated[
    Path, typer.Argument(metavar="PLAN", help="The plan: YAML, or JSON if it is named so.", show_default=False)
]
_Data = Annotated[
    str,
    typer.Option(
        metavar="FILE",
        help="The table: a file such as CSV, Parquet, Excel or SQLite, several by a pattern in quotes, or the address "
        "of a database; @FILE reads it from a file.",
        show_default=False,
        callback=given_address,
    ),
]
_Out = Annotated[
    Path,
    typer.Option(
        metavar="FOLDER", help="The new folder of the snapshot, such as table.snapshot; private.", show_default=False
    ),
]
_BadCells = Annotated[
    str | None,
    typer.Option(
        metavar="refuse|missing",
        help="What happens to cells and lines that cannot be read: nothing is prepared, or they count as missing. "
        "By default as the plan says.",
        show_default=False,
    ),
]
_Multiline = Annotated[
    bool | None,
    typer.Option(
        "--multiline/--no-multiline",
        help="Whether quoted cells of a CSV file may hold line breaks. By default as the plan says.",
        show_default=False,
    ),
]
_Memory = Annotated[
    str | None,
    typer.Option(
        metavar="SIZE",
        help="What the engine may take, such as 512MB; what is larger goes to disk.",
        show_default=False,
    ),
]


@data_app.command(cls=PlainCommand)
def check(plan: _Plan, data: _Data, as_json: options.PlainJson = False) -> None:
    """Count what preparation drops, changes and cannot read, and what conditions lose, before anything is spent.

    The numbers are exact, without noise: do not publish them. Nothing is written, and no budget is spent.

    Exit code 0 if nothing looks wrong, 1 if there is advice, 2 for bad input.

    optcomp data check plan.yaml --data table.csv

    optcomp data check plan.yaml --data table.parquet --json
    """
    document = plan_in(plan)
    from optcomp.cli.data.counts import show_check
    from optcomp.release import preflight

    with about(str(plan)), options_named({"source": "data"}), working("counting"):
        found = preflight(document, data if "://" in data else Path(data))
    if as_json:
        print_json(found.as_dict())
    else:
        show_check(found)
    if found.advice:
        raise typer.Exit(ADVICE)


@data_app.command(cls=PlainCommand)
def prepare(
    plan: _Plan,
    data: _Data,
    out: _Out,
    bad_cells: _BadCells = None,
    multiline: _Multiline = None,
    memory: _Memory = None,
    as_json: options.PlainJson = False,
) -> None:
    """Read a table once, as the plan declares it, and write the snapshot that questions are asked of.

    The numbers that are printed are exact, without noise: do not publish them. Keep the snapshot with the data. No
    budget is spent.

    Exit code 0 if the snapshot is written; 2 and one line if it is not: bad input, or data that cannot be read.

    optcomp data prepare plan.yaml --data table.csv --out table.snapshot

    optcomp data prepare plan.yaml --data table.csv --out table.snapshot --bad-cells missing --memory 512MB
    """
    if bad_cells not in (None, "refuse", "missing"):
        raise Complaint(f"--bad-cells: must be refuse or missing, got {bad_cells!r}")
    if not out.parent.is_dir():
        raise Complaint(f"--out: {str(out.parent)!r} is not a directory")
    document = plan_in(plan)
    check_apart({"PLAN": plan, "--data": None if "://" in data else Path(data), "--out": out})
    from optcomp.cli.data.counts import show_prepared
    from optcomp.release import prepare_data

    named = {"source": "data", "path": "out", "memory": "memory"}
    with about(str(plan)), options_named(named), working("preparing"):
        found = prepare_data(
            document,
            data,
            out,
            bad_cells=cast("BadCells | None", bad_cells),
            multiline=multiline,
            memory=memory,
        )
    if as_json:
        print_json(found.as_dict())
    else:
        show_prepared(found)
