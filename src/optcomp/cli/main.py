"""The commands `compose`, `compare`, `theorems`; others, and the group `plan`, are from modules of their own."""

from __future__ import annotations

import dataclasses
import json
import time
from collections.abc import Mapping
from pathlib import Path
from typing import Annotated

import typer

import optcomp as oc
from optcomp.cli import options
from optcomp.cli.audit import audit
from optcomp.cli.compose.left_out import omitted, spelled
from optcomp.cli.failures import ItemCommand, OneLineGroup, PlainCommand, Refused
from optcomp.cli.figures.command import figures
from optcomp.cli.options import asked, gathered, wished
from optcomp.cli.plan.command import plan_app
from optcomp.cli.progress import working
from optcomp.cli.show.command import show
from optcomp.cli.verify import verify
from optcomp.cli.writing.printing import console, print_json

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


@app.command(cls=ItemCommand)
def compose(
    items: options.Items = None,
    files: options.From = None,
    format: options.FileFormat = None,
    delta: options.Delta = None,
    epsilon: options.Epsilon = None,
    method: options.Method = "auto",
    eta: options.Eta = None,
    rtol: options.Rtol = None,
    bits: options.Bits = None,
    adaptive: options.Adaptive = False,
    certificate: options.Certificate = None,
    as_json: options.Json = False,
) -> None:
    """The total ε (or δ) of mechanisms run on the same data, proved, and what to publish.

    optcomp compose 0.1x50 0.2,1e-9x50 --delta 1e-6

    optcomp compose 'gaussian(sigma=4)x100' 'laplace(scale=10)x20' --delta 1e-6

    optcomp compose --from release.csv --epsilon 3 --json

    optcomp compose 0.01x1000000 --delta 1e-9 --bits 200

    optcomp compose 0.1x50 0.2x50 --delta 1e-6 --certificate cert.json
    """
    question = asked(delta, epsilon, adaptive)
    wish = wished(method, eta, rtol, bits)
    counts = gathered(items, files, format)
    with working("composing"):
        bound = question.compose(counts, wish.method, wish.rtol, wish.eta, wish.bits)
    if certificate is not None:
        _write_json(certificate, bound.certificate())
    if as_json:
        print_json(bound.as_dict())
        return
    from optcomp.cli.writing.answer_tables import Asked, show_bound

    show_bound(bound, question.basic(counts), Asked(question, counts), wish.bits)
    if certificate is not None:
        console().print(f"The certificate is in {certificate}", markup=False, soft_wrap=True)


@app.command(cls=ItemCommand)
def compare(
    items: options.Items = None,
    files: options.From = None,
    format: options.FileFormat = None,
    delta: options.Delta = None,
    epsilon: options.Epsilon = None,
    adaptive: options.Adaptive = False,
    plot: options.Plot = None,
    as_json: options.Json = False,
) -> None:
    """What every theorem says about the same mechanisms, best first.

    optcomp compare 0.01x1000 --delta 1e-9 --plot out.png

    optcomp compare 'subsampled(gaussian(sigma=1), rate=0.01)x1000' --delta 1e-6
    """
    from optcomp.cli.compose import growth_plot
    from optcomp.cli.writing.answer_tables import Asked, show_comparison

    question = asked(delta, epsilon, adaptive)
    counts = gathered(items, files, format)
    if plot is not None:
        growth_plot.check_target(plot)
    started = time.monotonic()
    with working("comparing"):
        bounds = question.compare(counts)
    if plot is not None:
        points = growth_plot.affordable_points(time.monotonic() - started)
        with working("plot", follow=False) as tell:
            growth_plot.draw(counts, question, bounds[0], points, plot, tell)
    left_out = omitted(counts, question, bounds)
    if as_json:
        views = [bound.as_dict() for bound in bounds]
        print_json({"bounds": views, "count": bounds[0].count, "omitted": left_out})
        return
    show_comparison(bounds, Asked(question, counts), left_out)
    if plot is not None:
        console().print(f"The plot is in {plot}", markup=False, soft_wrap=True)


@app.command(cls=PlainCommand)
def theorems(
    id: Annotated[
        str | None,
        typer.Argument(
            metavar="ID", help="Explain this theorem, e.g. MV18-1.5.", autocompletion=options.complete_theorem
        ),
    ] = None,
    as_json: options.PlainJson = False,
) -> None:
    """The theorems behind the answers: what each says, when it may be used, where it comes from.

    optcomp theorems MV18-1.5
    """
    from optcomp.cli.writing.answer_tables import show_theorem, show_theorems

    records = oc.known_theorems() if id is None else (oc.theorem(spelled(id)),)
    if as_json:
        views = [dataclasses.asdict(record) for record in records]
        print_json({"theorems": views} if id is None else views[0])
    elif id is None:
        show_theorems(records)
    else:
        show_theorem(records[0])


app.command(cls=ItemCommand)(show)
app.command(cls=PlainCommand)(figures)
app.command(cls=PlainCommand)(verify)
app.command(cls=PlainCommand)(audit)
app.add_typer(plan_app)


def _write_json(path: Path, view: Mapping[str, object]) -> None:
    try:
        path.write_text(json.dumps(view, indent=2, ensure_ascii=True, allow_nan=False) + "\n", encoding="utf-8")
    except OSError as error:
        raise Refused(f"--certificate: {path}: {error.strerror or error}") from None
