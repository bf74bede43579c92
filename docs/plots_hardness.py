"""Draw docs/images/hardness.png: what exact composition costs against what a proved bracket costs.

`python docs/plots_hardness.py` takes about a minute; times are CPU time, which a busy machine does not distort much.
"""

from __future__ import annotations

import logging
import math
import time
from collections.abc import Callable, Iterable
from functools import partial
from pathlib import Path

import numpy as np

import optcomp as oc

TARGET = Path(__file__).parent / "images" / "hardness.png"
DELTA = 1e-3
EXACT = tuple(range(10, 45, 2))
TO_BITS = tuple(range(10, 35, 2))
CERTIFIED = (*EXACT, 50, 60, 80, 100, 150, 200, 500, 1000, 3000, 10_000, 30_000, 100_000)
REPEATS = 3

Curve = list[tuple[int, float]]


def different(k: int) -> list[float]:
    """All-different random ε_i whose squares add up to about 1, whatever k is."""
    drawn = np.random.default_rng(k).uniform(0.5, 1.5, k)
    return [float(eps) for eps in drawn / math.sqrt(k)]


def cpu_seconds(task: Callable[[], object]) -> float:
    """The least of a few runs."""
    times = []
    for _ in range(REPEATS):
        start = time.process_time()
        task()
        times.append(time.process_time() - start)
    return min(times)


def curve(sizes: Iterable[int], method: str = "auto", bits: int | None = None) -> Curve:
    """How long each size takes; one small question first, so that nothing is loaded on the clock."""
    oc.compose(different(12), delta=DELTA, method=method, bits=bits)
    asked = ((k, partial(oc.compose, different(k), delta=DELTA, method=method, bits=bits)) for k in sizes)
    return [(k, cpu_seconds(task)) for k, task in asked]


def draw(path: Path = TARGET) -> None:
    """Measure and write the figure."""
    logging.getLogger("matplotlib.font_manager").setLevel(logging.ERROR)
    from matplotlib.figure import Figure

    figure = Figure(figsize=(8, 4.5), dpi=150, layout="constrained")
    axes = figure.add_subplot(xscale="log", yscale="log")
    curves = {
        "exact to 64 bits": (curve(TO_BITS, bits=64), "#D55E00", "s", "--"),
        "exact, in floats": (curve(EXACT, "exact"), "#0072B2", "o", "-"),
        "proved bracket (certified)": (curve(CERTIFIED, "certified"), "#000000", ".", "-"),
    }
    for label, (points, colour, marker, line) in curves.items():
        axes.plot(*zip(*points, strict=True), color=colour, marker=marker, markersize=4, linestyle=line, label=label)
    axes.set_xlabel("number of mechanisms k, all ε different")
    axes.set_ylabel("CPU seconds")
    axes.set_title(f"Total ε at δ = {DELTA:g}: exact answers cost twice as much with two mechanisms more")
    axes.grid(color="0.9")
    axes.legend(framealpha=0.9)
    figure.savefig(path)


if __name__ == "__main__":
    draw()
