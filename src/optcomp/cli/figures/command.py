"""The command `figures`: comparisons worth a picture, computed anew and written to a directory."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Annotated, Any

import typer

from optcomp.cli import options
from optcomp.cli.failures import Complaint
from optcomp.cli.progress import working
from optcomp.cli.writing.printing import console, print_json
from optcomp.reading import plain

FIGURES = ("counts", "lecture-1", "murtagh-vadhan-2", "concurrent", "simulation")
"""In the order in which they are drawn; a test compares them with the drawings."""

_Directory = Annotated[
    Path,
    typer.Argument(
        metavar="DIR", help="The directory for the files; it is made if it does not exist.", show_default=False
    ),
]


def complete_figure(incomplete: str) -> list[str]:
    """Figures for shell completion."""
    return options.starting(FIGURES, incomplete)


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
    from optcomp.cli.drawing import check_plots
    from optcomp.cli.figures.counts import counts_picture, counts_view, show_counts
    from optcomp.cli.figures.drawings import PICTURES

    names = _chosen(only)
    budget = plain(epsilon, "--epsilon"), plain(delta, "--delta")
    known = {"counts": counts_picture(budget)} | PICTURES
    check_plots()
    _make(directory)
    rows: dict[str, list[Any]] = {}
    written: list[Path] = []
    with working("figures", follow=False) as tell:
        for name in names:
            rows[name] = known[name].computed(tell)
            written += known[name].write(rows[name], directory)
    if as_json:
        views = {name: known[name].view(found) for name, found in rows.items() if name != "counts"}
        print_json((counts_view(rows["counts"], budget) if "counts" in rows else {}) | views)
        return
    if "counts" in rows:
        show_counts(rows["counts"], budget)
    for path in written:
        console().print(f"Written: {path}", markup=False, soft_wrap=True)


def _chosen(only: Sequence[str] | None) -> list[str]:
    """The names that were asked for, each once and in the order in which they are drawn."""
    asked = FIGURES if not only else [name.strip() for text in only for name in text.split(",")]
    for name in asked:
        if name.lower() not in FIGURES:
            raise Complaint(f"--only: must be one of {', '.join(FIGURES)}, got {name!r}")
    return [name for name in FIGURES if name in {text.lower() for text in asked}]


def _make(directory: Path) -> None:
    try:
        directory.mkdir(parents=True, exist_ok=True)
    except OSError as error:
        raise Complaint(f"{str(directory)!r}: {error.strerror or error}") from None
