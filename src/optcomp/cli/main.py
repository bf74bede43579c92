"""The command `optcomp`, put together from commands that are modules of their own.

What a command needs it imports when it runs, so that help and mistakes are told at once.
"""

from __future__ import annotations

from typing import Annotated

import typer

import optcomp as oc
from optcomp.cli.admin.command import admin_app
from optcomp.cli.ask.command import ask
from optcomp.cli.audit.command import audit
from optcomp.cli.compose.command import compare, compose
from optcomp.cli.data.command import data_app
from optcomp.cli.figures.command import figures
from optcomp.cli.guarded import ItemCommand, OneLineGroup, PlainCommand
from optcomp.cli.ledger.command import ledger_app
from optcomp.cli.plan.command import plan_app
from optcomp.cli.serve.command import serve
from optcomp.cli.show.command import show
from optcomp.cli.theorems import theorems
from optcomp.cli.train.command import train
from optcomp.cli.verify.command import verify

app = typer.Typer(
    name="optcomp",
    cls=OneLineGroup,
    rich_markup_mode="rich",
    pretty_exceptions_enable=False,
    context_settings={"help_option_names": ["-h", "--help"]},
    help="How much privacy is left, with a proof attached: optimal composition of differential privacy.",
)


def run() -> None:
    """Run the command `optcomp`."""
    app(prog_name="optcomp")


def _print_version(wanted: bool) -> None:
    if wanted:
        print(f"optcomp {oc.__version__}")
        raise typer.Exit


@app.callback(invoke_without_command=True)
def _start(
    context: typer.Context,
    version: Annotated[
        bool, typer.Option("--version", help="Print the version.", callback=_print_version, is_eager=True)
    ] = False,
) -> None:
    if context.invoked_subcommand is None:
        print(context.get_help())


app.command(cls=ItemCommand)(compose)
app.command(cls=ItemCommand)(compare)
app.command(cls=PlainCommand)(train)
app.command(cls=PlainCommand)(theorems)
app.command(cls=ItemCommand)(show)
app.command(cls=PlainCommand)(figures)
app.command(cls=PlainCommand)(verify)
app.command(cls=PlainCommand)(audit)
app.command(cls=PlainCommand)(serve)
app.command(cls=PlainCommand)(ask)
app.add_typer(plan_app)
app.add_typer(data_app)
app.add_typer(ledger_app)
app.add_typer(admin_app)
