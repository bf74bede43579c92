"""Time and width against k and against δ, as small pictures for the documentation."""

from __future__ import annotations

import math
from collections.abc import Sequence
from pathlib import Path
from typing import Literal

from matplotlib.axes import Axes
from matplotlib.figure import Figure

from bench.answers import Outcome
from bench.engine.asking import Asker
from bench.engine.distinct import BEST, DEFAULT, MAIN, TYPICAL, looser, sizes
from bench.engine.lists import SMALL, instance
from bench.instances import power
from bench.ours import AUTO, FINE

IMAGES = Path(__file__).parents[2] / "docs" / "images"
_DELTAS = (0.3, 0.1, 1e-2, 1e-3, 1e-6, 1e-9, 1e-12, 1e-16, 1e-20, 1e-50, 1e-100, 1e-200, 1e-300)
_STYLES = {
    AUTO: ("optcomp", "#000000", "o-"),
    FINE.name: ("optcomp, rtol=1e-12", "#0072B2", "s--"),
    BEST: ("dp-accounting, best", "#D55E00", "^-."),
    DEFAULT: ("dp-accounting, default", "#CC79A7", "v:"),
    TYPICAL: ("prv-accountant", "#009E73", "d:"),
}
"""Okabe and Ito's colours; each has a mark and a line of its own for printing in grey."""
Value = Literal["time", "width"]
Points = list[tuple[float, float]]


def draw(asker: Asker) -> None:
    """Both pictures, from answers that are known and a few more of our own."""
    _picture("bench-k.png", {name: _against_k(asker, name) for name in _STYLES}, "number of mechanisms k", False)
    lengths = (1000,) if asker.quick else (1000, 10**5)
    curves = {f"optcomp, k = {power(k)}": _against_delta(asker, k) for k in lengths}
    _picture("bench-delta.png", curves, "total δ, smaller to the right: −log10 δ", True)


def _against_k(asker: Asker, name: str) -> dict[Value, Points]:
    times: Points = []
    widths: Points = []
    for k in sizes(asker.quick):
        outcome = asker.known.get((name, instance(SMALL, k, MAIN).group, MAIN))
        if outcome is None or outcome.answer is None:
            continue
        excess = _width(outcome) if name in (AUTO, FINE.name) else looser(asker, k, MAIN, name)[0]
        times.append((k, outcome.cpu or math.nan))
        widths.append((k, excess if excess > 0 else math.nan))
    return {"time": times, "width": widths}


def _against_delta(asker: Asker, k: int) -> dict[Value, Points]:
    outcomes = [(-math.log10(delta), asker.default(instance(SMALL, k, delta))) for delta in _DELTAS]
    return {
        "time": [(place, outcome.cpu or math.nan) for place, outcome in outcomes],
        "width": [(place, _width(outcome)) for place, outcome in outcomes],
    }


def _width(outcome: Outcome) -> float:
    return outcome.width or math.nan


def _picture(name: str, curves: dict[str, dict[Value, Points]], label: str, over_delta: bool) -> None:
    figure = Figure(figsize=(9, 3.8), dpi=100, layout="constrained")
    left, right = figure.subplots(1, 2)
    styles = list(_STYLES.values())
    for number, (key, curve) in enumerate(curves.items()):
        shown, colour, line = (key, *styles[number][1:]) if over_delta else _STYLES[key]
        for axes, value in ((left, "time"), (right, "width")):
            points = curve["time" if value == "time" else "width"]
            axes.plot(*_columns(points), line, color=colour, label=shown, markersize=4, linewidth=1.4)
    _dress(left, "seconds of processor time", label)
    _dress(right, "relative width" if over_delta else "relative width, or a peer's excess", label)
    right.legend(fontsize="small")
    figure.savefig(IMAGES / name)


def _columns(points: Points) -> tuple[Sequence[float], Sequence[float]]:
    return [x for x, _ in points], [y for _, y in points]


def _dress(axes: Axes, what: str, label: str) -> None:
    axes.set_yscale("log")
    axes.set_xscale("log")
    axes.set_xlabel(label)
    axes.set_ylabel(what)
    axes.grid(color="0.9")
