"""`--plot`: the cost of a run over its steps, and what other accountants would say."""

from __future__ import annotations

import math
from collections.abc import Sequence
from fractions import Fraction
from pathlib import Path

from optcomp.cli.drawing import BLACK, BLUE, GREEN, VERMILION, new_figure, save_plot
from optcomp.cli.failures import Complaint
from optcomp.training import ACCOUNTANTS, Point, TrainingRun, first_steps, others_say

POINTS = 24
"""Points of a curve; others are asked at a quarter of them."""
_SOME = 4
"""Every so many points others are asked too, which takes longer."""


def draw(run: TrainingRun, points: Sequence[Point], delta: Fraction | None, path: Path, beside: bool) -> None:
    """Write the figure."""
    if not any(math.isfinite(point.bound.upper) for point in points):
        raise Complaint("--plot: there is nothing finite to draw")
    symbol = "ε" if points[0].bound.quantity == "epsilon" else "δ"
    figure = new_figure((8, 5))
    axes = figure.add_subplot()
    steps = [point.steps for point in points]
    axes.plot(steps, [point.bound.upper for point in points], color=BLACK, linewidth=1.8, label="optcomp, proved")
    if beside and delta is not None:
        some = steps[_SOME - 1 :: _SOME] or steps[-1:]
        told = [_told(first_steps(run, step), delta) for step in some]
        styles = zip(ACCOUNTANTS, (VERMILION, BLUE, GREEN), ("--", ":", "-."), strict=True)
        for name, colour, line in styles:
            values = [one.get(name, math.nan) for one in told]
            if not all(map(math.isnan, values)):
                axes.plot(some, values, color=colour, linestyle=line, linewidth=1.5, marker="o", label=name)
    axes.set_xlabel("noisy steps")
    axes.set_ylabel(f"total {symbol}")
    axes.set_title(f"Total {symbol} over the steps")
    axes.grid(color="0.9")
    axes.set_xlim(left=0)
    if symbol == "δ":
        axes.set_yscale("log")
    axes.legend(fontsize="small", framealpha=0.9)
    save_plot(figure, path)


def _told(run: TrainingRun, delta: Fraction) -> dict[str, float]:
    """Those who have an answer, by name."""
    return {said.name: said.epsilon for said in others_say(run, float(delta)) if said.epsilon is not None}
