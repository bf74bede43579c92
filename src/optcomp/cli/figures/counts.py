"""The figure of the counts: the noise that d counts need within one budget, by five analyses."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING

from rich import box
from rich.table import Table

from optcomp.cli.drawing import BLACK, BLUE, GREEN, PURPLE, VERMILION
from optcomp.cli.figures.files import Picture
from optcomp.cli.writing.plain_signs import writable
from optcomp.cli.writing.printing import print_table, say
from optcomp.composition import excess, shown_up
from optcomp.proofs import count_noise

if TYPE_CHECKING:
    from matplotlib.figure import Figure

_DIGITS = 5
"""Significant digits of a standard deviation."""

_STYLES: dict[count_noise.Way, tuple[str, object, str]] = {
    "laplace-l1": (PURPLE, ":", "s"),
    "gaussian-l2": (BLUE, "-", "o"),
    "laplace-strong": (VERMILION, "-.", "^"),
    "laplace-optimal": (GREEN, "--", "D"),
    "laplace-loss": (BLACK, (0, (1, 1)), "."),
}
"""Each has a line and a marker of its own for printing in grey."""


def counts_picture(budget: tuple[str, str]) -> Picture[count_noise.CountNoise]:
    """The figure of the counts: standard deviations, a column for each way."""
    return Picture(
        "counts",
        lambda: count_noise.compare_counts(count_noise.SIZES, epsilon=budget[0], delta=budget[1]),
        len(count_noise.SIZES),
        lambda figure, rows: _draw(figure, rows, budget),
        cells=lambda row: {"counts": row.queries} | {way: row.deviation(way) for way in count_noise.WAYS},
    )


def _draw(figure: Figure, rows: Sequence[count_noise.CountNoise], budget: tuple[str, str]) -> None:
    axes = figure.add_subplot()
    sizes = [row.queries for row in rows]
    for way, (colour, line, marker) in _STYLES.items():
        values = [row.deviation(way) for row in rows]
        axes.plot(sizes, values, color=colour, linestyle=line, marker=marker, markersize=4, label=count_noise.WAYS[way])
    axes.set_xscale("log")
    axes.set_yscale("log")
    axes.set_xlabel("number of counts d")
    axes.set_ylabel("standard deviation of the noise on each count")
    axes.set_title(f"Noise that d counts need within ε = {budget[0]}, δ = {budget[1]}")
    axes.grid(color="0.9", which="both")
    axes.legend(fontsize="small")


def counts_view(rows: Sequence[count_noise.CountNoise], budget: tuple[str, str]) -> dict[str, object]:
    """The numbers for JSON."""
    counts = [
        {"counts": row.queries, "deviations": {way: row.deviation(way) for way in count_noise.WAYS}, "least": row.least}
        for row in rows
    ]
    return {"epsilon": budget[0], "delta": budget[1], "counts": counts}


def show_counts(rows: Sequence[count_noise.CountNoise], budget: tuple[str, str]) -> None:
    """The table, and what it says in words."""
    title = f"Standard deviation of the noise on each of d counts, total ε = {budget[0]}, δ = {budget[1]}"
    table = Table(box=box.ROUNDED, title=writable(title), title_justify="left")
    for heading in ("d", *count_noise.WAYS.values()):
        table.add_column(writable(heading), justify="right", no_wrap=True)
    table.add_column("least", no_wrap=True)
    for row in rows:
        numbers = (shown_up(row.deviation(way), _DIGITS) for way in count_noise.WAYS)
        table.add_row(f"{row.queries:,}", *numbers, writable(count_noise.WAYS[row.least]))
    print_table(table)
    for line in remarks(rows):
        say(line)


def remarks(rows: Sequence[count_noise.CountNoise]) -> Iterator[str]:
    """Where each way wins, where it beats the simplest one, and by how much it loses at the end."""
    last = rows[-1]
    for way, name in count_noise.WAYS.items():
        words = [_wins(rows, way), _beats(rows, way)]
        if way != last.least:
            words.append(f"{excess(last.deviation(way), last.deviation(last.least))} at d = {last.queries:,}")
        yield f"{name}: {'; '.join(word for word in words if word)}"
    yield "Ways within 0.1% of each other count as equal, and the simplest of them is named."


def _wins(rows: Sequence[count_noise.CountNoise], way: count_noise.Way) -> str:
    sizes = [f"{row.queries:,}" for row in rows if row.least == way]
    return f"least noise at d = {', '.join(sizes)}" if sizes else "never the least noise"


def _beats(rows: Sequence[count_noise.CountNoise], way: count_noise.Way) -> str:
    """From which number of counts on it needs clearly less noise than the simplest way."""
    better = [row.queries for row in rows if row.deviation(way) < (1 - count_noise.CLOSE) * row.deviation("laplace-l1")]
    return f"below {count_noise.WAYS['laplace-l1']} from d = {better[0]:,} on" if better else ""
