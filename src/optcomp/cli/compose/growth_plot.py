"""`--plot`: every quick theorem's total against the number of mechanisms."""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

import optcomp as oc
from optcomp.cli.drawing import (
    BLACK,
    BLUE,
    FEWEST_POINTS,
    GREEN,
    ORANGE,
    PURPLE,
    VERMILION,
    new_figure,
    save_plot,
)
from optcomp.cli.failures import Complaint
from optcomp.cli.progress import Tell
from optcomp.cli.sought_total import SoughtTotal
from optcomp.composition import growing
from optcomp.extras import needed
from optcomp.reading import MechanismCounts

if TYPE_CHECKING:
    from matplotlib.axes import Axes

MOST_POINTS = 40
"""More points of a curve would not be told apart."""

_LEAST_DELTA = 1e-30
"""δ below this is as good as zero, and would flatten the rest of a logarithmic axis."""

STYLES = {
    "auto": (BLACK, "-"),
    "renyi": (ORANGE, (0, (8, 2))),
    "kov": (BLUE, "--"),
    "strong": (VERMILION, "-."),
    "advanced": (GREEN, (0, (5, 1, 1, 1, 1, 1))),
    "basic": (PURPLE, ":"),
}
"""Methods quick enough to be asked dozens of times; each has a line of its own for printing in grey."""


@dataclass(frozen=True)
class TheoremLine:
    """One method's answers; the label names the theorem behind the last of them."""

    method: str
    label: str
    values: Sequence[float]


def draw(counts: MechanismCounts, question: SoughtTotal, best: oc.Bound, points: int, path: Path, tell: Tell) -> None:
    """Compute the curves and write the figure; `best` is what is already known about the whole list."""
    if not any(counts.values()):
        raise Complaint("--plot: there are no mechanisms, so nothing to draw")
    sizes, curves = _curves(counts, question, best, points, tell)
    if not any(math.isfinite(value) for curve in curves for value in curve.values):
        what = "no finite ε" if question.sought == "ε" else f"no δ above {_LEAST_DELTA:g}"
        raise Complaint(f"--plot: there is {what} at {question.condition}, so nothing to draw")
    figure = new_figure((8, 5))
    axes = figure.add_subplot()
    marker = "o" if len(sizes) <= FEWEST_POINTS else ""
    for curve in curves:
        colour, line = STYLES[curve.method]
        axes.plot(sizes, curve.values, color=colour, linestyle=line, linewidth=1.8, marker=marker, label=curve.label)
    _dress(axes, curves, question)
    axes.set_xlabel(_growth(counts))
    save_plot(figure, path)


def _curves(
    counts: MechanismCounts, question: SoughtTotal, best: oc.Bound, points: int, tell: Tell
) -> tuple[list[int], list[TheoremLine]]:
    """The methods that cover the whole list, each asked about a growing part of it."""
    last = {"auto": best} | dict(_closed_forms(counts, question))
    steps = list(growing(counts, points))
    rows: list[dict[str, oc.Bound]] = []
    for done, part in enumerate(steps[:-1]):
        tell("plot", done / len(steps))
        rows.append({method: question.compose(part, method) for method in last})
    rows.append(last)
    sizes = [sum(part.values()) for part in steps]
    return sizes, [_curve(method, [row[method] for row in rows]) for method in last]


def _curve(method: str, bounds: Sequence[oc.Bound]) -> TheoremLine:
    """The heights; a curve that a logarithmic axis cannot show says so in its label."""
    label, values = f"{bounds[-1].theorem}: {oc.theorem(bounds[-1].theorem).name}", [_height(bound) for bound in bounds]
    if bounds[-1].quantity == "delta" and all(map(math.isnan, values)):
        label += f" (below {_LEAST_DELTA:g})" if any(bound.upper for bound in bounds) else " (0)"
    return TheoremLine(method, label, values)


def _growth(counts: MechanismCounts) -> str:
    """What k mechanisms of the list are."""
    kinds = [count for count in counts.values() if count]
    if len(kinds) == 1:
        return "number of mechanisms k"
    if max(kinds) == 1:
        return "number of mechanisms k, in the order given"
    return "number of mechanisms k, all kinds growing in proportion"


def _closed_forms(counts: MechanismCounts, question: SoughtTotal) -> Iterator[tuple[str, oc.Bound]]:
    for method in list(STYLES)[1:]:
        try:
            yield method, question.compose(counts, method)
        except oc.HypothesisNotMet:
            continue


def _height(bound: oc.Bound) -> float:
    """A gap where nothing is proved, or where a logarithmic axis has no place."""
    if bound.quantity == "delta":
        return bound.upper if bound.upper >= _LEAST_DELTA else math.nan
    return bound.upper if math.isfinite(bound.upper) else math.nan


def _dress(axes: Axes, curves: Sequence[TheoremLine], question: SoughtTotal) -> None:
    axes.set_ylabel(f"total {question.sought}")
    axes.set_title(f"Total {question.sought} at {question.condition}")
    axes.grid(color="0.9")
    axes.set_xlim(left=0)
    axes.xaxis.set_major_locator(needed("matplotlib.ticker", "plots").MaxNLocator(integer=True))
    if question.sought == "δ":
        axes.set_yscale("log")
    else:
        axes.set_ylim(0, _top(curves))
    axes.legend(fontsize="small", framealpha=0.9)


def _top(curves: Sequence[TheoremLine]) -> float | None:
    """Cut off what towers above everything else, so that the close ones can be told apart."""
    peaks = sorted(max((value for value in curve.values if value == value), default=0.0) for curve in curves)
    return 1.5 * peaks[-2] if len(peaks) > 1 and 0 < 2 * peaks[-2] < peaks[-1] else None
