"""A list that grows: `Composer` against composing afresh."""

from __future__ import annotations

import statistics
import time

import numpy as np

import optcomp
from bench.engine.lists import SMALL, instance
from bench.instances import SEED, power
from bench.report import Section
from bench.rows import duration

_ADDED = 40
_DELTA = 1e-9


def add_incremental(section: Section, quick: bool) -> None:
    """Forty mechanisms come one by one, each followed by the total; then the same list from nothing."""
    sizes = (1000,) if quick else (1000, 10**5)
    rows = [row for k in sizes for row in _rows(k)] if hasattr(optcomp, "Composer") else []
    header = ("k", "what", "median", "longest", "afresh ÷ this", "width")
    caption = f"A growing list, ε_i ~ {SMALL}, δ = {_DELTA:g}: {_ADDED} calls each, processor time"
    section.add(caption, header, rows or [("–", "this version has no Composer", "", "", "", "")])


def _rows(k: int) -> list[tuple[str, ...]]:
    start = np.array(instance(SMALL, k, _DELTA).items)
    new = np.random.default_rng(SEED + 1).uniform(0.001, 0.1, _ADDED)
    optcomp.compose(start, delta=_DELTA)  # the first call of a process takes longer
    composer = optcomp.Composer(start)
    began = time.process_time()
    composer.total(delta=_DELTA)
    first = time.process_time() - began
    added, bounds, afresh, asked = [], [], [], []
    for number, eps in enumerate(new.tolist()):
        began = time.process_time()
        composer.what_if(eps, delta=_DELTA)
        asked.append(time.process_time() - began)
        began = time.process_time()
        composer.add(eps)
        bounds.append(composer.total(delta=_DELTA))
        added.append(time.process_time() - began)
        whole = np.append(start, new[: number + 1])
        began = time.process_time()
        fresh = optcomp.compose(whole, delta=_DELTA)
        afresh.append(time.process_time() - began)
        assert fresh.lower <= bounds[-1].upper, "the brackets do not meet"
        assert bounds[-1].lower <= fresh.upper, "the brackets do not meet"
    scale, width = statistics.median(afresh), f"{max(bound.width for bound in bounds):.1e}"
    named = (("compose afresh", afresh), ("add, then total", added), ("what_if", asked), ("first total", [first]))
    return [
        (
            power(k),
            what,
            duration(statistics.median(times)),
            duration(max(times)),
            ratio,
            width if times is added else "",
        )
        for what, times in named
        for ratio in [f"{scale / statistics.median(times):.2g}"]
    ]
