"""A run that grows by rounds and asks for its ε after every epoch: `Composer` against answers from nothing."""

from __future__ import annotations

import statistics
import time
from collections.abc import Callable

import optcomp
from bench.report import Section
from bench.rows import duration
from optcomp.theorems import Bound

_EPOCH, _ASKS, _FEW, _DELTA = 100, 1000, 100, 1e-6
"""Rounds of an epoch, asks of a full and of a quick run, and the δ of every ask."""
_COLD = 5
"""Answers from nothing, each about a mechanism that nobody asked about before."""
_CHECKED = 8
"""Answers that are compared with `compose` of the same list."""


def add_growing_runs(section: Section, quick: bool) -> None:
    """One more epoch, then its ε, again and again; beside it noise, a rate and a number of rounds that fit a budget."""
    asks = _FEW if quick else _ASKS
    caption = f"A run of subsampled Gaussian noise, q = .01, σ = 1, δ = {_DELTA:g}, {_EPOCH} rounds more for every ask"
    section.add(caption, ("what", "processor time", "in answers from nothing", "width"), _asked(asks))
    header = ("what is sought", "evaluations", "how", "processor time")
    section.add("`calibrate` to a millionth, ε = 1, δ = 1e-6", header, [_fitted(*family) for family in _FAMILIES])


def _asked(asks: int) -> list[tuple[str, ...]]:
    cold = statistics.median(_cold(1 + number / 1000) for number in range(1, _COLD + 1))
    epoch = optcomp.PoissonSubsampled(optcomp.Gaussian(1), 0.01)
    composer, bounds, times = optcomp.Composer(), list[Bound](), list[float]()
    for _ in range(asks):
        began = time.process_time()
        composer.add(epoch, _EPOCH)
        bounds.append(composer.total(delta=_DELTA))
        times.append(time.process_time() - began)
    for number in range(asks // _CHECKED, asks + 1, asks // _CHECKED):
        fresh, bound = optcomp.compose({epoch: number * _EPOCH}, delta=_DELTA), bounds[number - 1]
        assert fresh.lower <= bound.upper, "the brackets do not meet"
        assert bound.lower <= fresh.upper, "the brackets do not meet"
    width = f"{max(bound.width for bound in bounds):.1e}"
    rows = (
        (f"{asks} asks of a growing run", sum(times), width),
        ("the first of them", times[0], f"{bounds[0].width:.1e}"),
        ("the median", statistics.median(times), ""),
        ("the longest of the others", max(times[1:]), ""),
        ("an answer from nothing, 1000 rounds", cold, ""),
    )
    return [(what, duration(taken), f"{taken / cold:.2g}", how_wide) for what, taken, how_wide in rows]


def _cold(sigma: float) -> float:
    items = {optcomp.PoissonSubsampled(optcomp.Gaussian(sigma), 0.01): 1000}
    began = time.process_time()
    optcomp.compose(items, delta=_DELTA)
    return time.process_time() - began


def _noise(number: float) -> dict[optcomp.PoissonSubsampled, int]:
    return {optcomp.PoissonSubsampled(optcomp.Gaussian(number), 0.01): 1000}


def _rate(number: float) -> dict[optcomp.PoissonSubsampled, int]:
    return {optcomp.PoissonSubsampled(optcomp.Gaussian(1), number): 1000}


def _rounds(number: float) -> dict[optcomp.PoissonSubsampled, int]:
    return {optcomp.PoissonSubsampled(optcomp.Gaussian(2), 0.01): int(number)}


_FAMILIES: tuple[tuple[str, Callable[[float], dict[optcomp.PoissonSubsampled, int]], bool], ...] = (
    ("σ of 1000 rounds, q = .01", _noise, False),
    ("q of 1000 rounds, σ = 1", _rate, False),
    ("rounds, q = .01, σ = 2", _rounds, True),
)


def _fitted(
    what: str, build: Callable[[float], dict[optcomp.PoissonSubsampled, int]], whole: bool
) -> tuple[str, str, str, str]:
    began = time.process_time()
    found = optcomp.calibrate(build, epsilon=1, delta=_DELTA, whole=whole)
    return what, str(found.evaluations), found.method, duration(time.process_time() - began)
