"""The command `figures`: comparisons worth a picture, computed anew and written to a directory."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer
from rich import box
from rich.table import Table

from optcomp.cli import options
from optcomp.cli.failures import Refused
from optcomp.cli.figures.files import Picture
from optcomp.cli.progress import working
from optcomp.cli.reading.numbers import plain
from optcomp.cli.writing.digits import excess, shown_up
from optcomp.cli.writing.plain_signs import writable
from optcomp.cli.writing.printing import console, print_json, print_table, say
from optcomp.proofs.count_noise import CLOSE, SIZES, WAYS, CountNoise, Way, compare_counts

if TYPE_CHECKING:
    from matplotlib.figure import Figure

FIGURES = ("counts", "lecture-1", "murtagh-vadhan-2", "concurrent", "simulation")
_DIGITS = 5

# Okabe and Ito's colours, which colour-blind readers tell apart; each has a line of its own for printing in grey.
_STYLES: dict[Way, tuple[str, object, str]] = {
    "laplace-l1": ("#CC79A7", ":", "s"),
    "gaussian-l2": ("#0072B2", "-", "o"),
    "laplace-strong": ("#D55E00", "-.", "^"),
    "laplace-optimal": ("#009E73", "--", "D"),
    "laplace-loss": ("#000000", (0, (1, 1)), "."),
}

_Directory = Annotated[
    Path,
    typer.Argument(
        metavar="DIR", help="The directory for the files; it is made if it does not exist.", show_default=False
    ),
]


def complete_figure(incomplete: str) -> list[str]:
    """Figures for shell completion."""
    return [name for name in FIGURES if name.startswith(incomplete)]


_Only = Annotated[
    list[str] | None,
    typer.Option(
        metavar="NAME",
        help=f"Only these figures: {', '.join(FIGURES)}. May be repeated, or a list with commas. Default: all.",
        autocompletion=complete_figure,
        show_default=False,
    ),
]
_Epsilon = Annotated[str, typer.Option("--epsilon", metavar="ε", help="Total ε of all counts.")]
_Delta = Annotated[str, typer.Option("--delta", metavar="δ", help="Total δ of all counts.")]


def figures(
    directory: _Directory,
    only: _Only = None,
    epsilon: _Epsilon = "1",
    delta: _Delta = "1e-6",
    as_json: options.PlainJson = False,
) -> None:
    """Draw comparisons of composition theorems, pictures of proofs, and the noise that counts need.

    Writes each figure as NAME.png and NAME.svg, with its numbers as NAME.csv, in about twenty seconds.

    Of counts it also prints the table: Laplace and Gaussian noise by five analyses.

    optcomp figures pictures

    optcomp figures pictures --only lecture-1,concurrent

    optcomp figures pictures --only counts --epsilon 0.5 --delta 1e-9
    """
    from optcomp.cli.figures.drawings import PICTURES  # here, for no other command needs the proofs

    names = _chosen(only)
    budget = plain(epsilon, "--epsilon"), plain(delta, "--delta")
    known = {"counts": _counts(budget)} | PICTURES
    _make(directory)
    rows: dict[str, list[Any]] = {}
    written: list[Path] = []
    with working("figures", follow=False) as tell:
        for name in names:
            rows[name] = known[name].computed(tell)
            written += known[name].write(rows[name], directory)
    if as_json:
        views = {name: known[name].view(found) for name, found in rows.items() if name != "counts"}
        print_json((_view(rows["counts"], budget) if "counts" in rows else {}) | views)
        return
    if "counts" in rows:
        _show(rows["counts"], budget)
    for path in written:
        console().print(f"Written: {path}", markup=False, soft_wrap=True)


def _chosen(only: Sequence[str] | None) -> list[str]:
    """The names that were asked for, each once and in the order in which they are drawn."""
    asked = FIGURES if not only else [name.strip() for text in only for name in text.split(",")]
    for name in asked:
        if name.lower() not in FIGURES:
            raise Refused(f"--only: must be one of {', '.join(FIGURES)}, got {name!r}")
    return [name for name in FIGURES if name in {text.lower() for text in asked}]


def _make(directory: Path) -> None:
    try:
        directory.mkdir(parents=True, exist_ok=True)
    except OSError as error:
        raise Refused(f"{str(directory)!r}: {error.strerror or error}") from None


def _counts(budget: tuple[str, str]) -> Picture[CountNoise]:
    """The figure of the counts: standard deviations, a column for each way."""
    return Picture(
        "counts",
        lambda: compare_counts(SIZES, epsilon=budget[0], delta=budget[1]),
        len(SIZES),
        lambda figure, rows: _draw(figure, rows, budget),
        cells=lambda row: {"counts": row.queries} | {way: row.deviation(way) for way in WAYS},
    )


def _draw(figure: Figure, rows: Sequence[CountNoise], budget: tuple[str, str]) -> None:
    axes = figure.add_subplot()
    sizes = [row.queries for row in rows]
    for way, (colour, line, marker) in _STYLES.items():
        values = [row.deviation(way) for row in rows]
        axes.plot(sizes, values, color=colour, linestyle=line, marker=marker, markersize=4, label=WAYS[way])
    axes.set_xscale("log")
    axes.set_yscale("log")
    axes.set_xlabel("number of counts d")
    axes.set_ylabel("standard deviation of the noise on each count")
    axes.set_title(f"Noise that d counts need within ε = {budget[0]}, δ = {budget[1]}")
    axes.grid(color="0.9", which="both")
    axes.legend(fontsize="small")


def _view(rows: Sequence[CountNoise], budget: tuple[str, str]) -> dict[str, object]:
    counts = [
        {"counts": row.queries, "deviations": {way: row.deviation(way) for way in WAYS}, "least": row.least}
        for row in rows
    ]
    return {"epsilon": budget[0], "delta": budget[1], "counts": counts}


def _show(rows: Sequence[CountNoise], budget: tuple[str, str]) -> None:
    title = f"Standard deviation of the noise on each of d counts, total ε = {budget[0]}, δ = {budget[1]}"
    table = Table(box=box.ROUNDED, title=writable(title), title_justify="left")
    for heading in ("d", *WAYS.values()):
        table.add_column(writable(heading), justify="right", no_wrap=True)
    table.add_column("least", no_wrap=True)
    for row in rows:
        numbers = (shown_up(row.deviation(way), _DIGITS) for way in WAYS)
        table.add_row(f"{row.queries:,}", *numbers, writable(WAYS[row.least]))
    print_table(table)
    for line in remarks(rows):
        say(line)


def remarks(rows: Sequence[CountNoise]) -> Iterator[str]:
    """Where each way wins, where it beats the simplest one, and by how much it loses at the end."""
    last = rows[-1]
    for way, name in WAYS.items():
        words = [_wins(rows, way), _beats(rows, way)]
        if way != last.least:
            words.append(f"{excess(last.deviation(way), last.deviation(last.least))} at d = {last.queries:,}")
        yield f"{name}: {'; '.join(word for word in words if word)}"
    yield "Ways within 0.1% of each other count as equal, and the simplest of them is named."


def _wins(rows: Sequence[CountNoise], way: Way) -> str:
    sizes = [f"{row.queries:,}" for row in rows if row.least == way]
    return f"least noise at d = {', '.join(sizes)}" if sizes else "never the least noise"


def _beats(rows: Sequence[CountNoise], way: Way) -> str:
    """From which number of counts on it needs clearly less noise than the simplest way."""
    better = [row.queries for row in rows if row.deviation(way) < (1 - CLOSE) * row.deviation("laplace-l1")]
    return f"below {WAYS['laplace-l1']} from d = {better[0]:,} on" if better else ""
