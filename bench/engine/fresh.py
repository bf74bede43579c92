"""What only a fresh interpreter can tell: the price of the first call, and the peak of memory."""

from __future__ import annotations

import pickle
import subprocess
import sys

from bench.engine.lists import LOGARITHMIC, SMALL, instance
from bench.instances import Instance, power
from bench.report import Section
from bench.rows import duration

_SCRIPT = """
import pickle, sys, time
import optcomp

def peak():
    with open("/proc/self/status") as status:
        return next(int(line.split()[1]) for line in status if line.startswith("VmHWM"))

items, delta, rtol = pickle.load(sys.stdin.buffer)
before, times = peak(), []
for _ in range(2):
    started = time.process_time()
    try:
        optcomp.compose(items, delta=delta, rtol=rtol)
    except optcomp.PrecisionNotReached:
        pass
    times.append(time.process_time() - started)
print(*times, before, peak())
"""


def measured(question: Instance, rtol: float | None) -> tuple[float, float, int, int]:
    """Processor time of the first and of the second call; peak memory in kilobytes before and after."""
    given = pickle.dumps((question.items, question.delta, rtol))
    run = subprocess.run([sys.executable, "-c", _SCRIPT], input=given, capture_output=True, check=True)
    first, second, before, after = run.stdout.split()
    return float(first), float(second), int(before), int(after)


def add_fresh(section: Section, quick: bool) -> None:
    """First calls and memory; Linux only."""
    cases: list[tuple[str, int, float, float | None]]
    cases = [(SMALL, k, 1e-9, None) for k in ([1000] if quick else [100, 1000, 10**5, 10**6])]
    cases += [] if quick else [(LOGARITHMIC, 60, 0.1, None), (SMALL, 100, 1e-9, 1e-12)]
    rows = []
    for name, k, delta, rtol in cases:
        runs = [measured(instance(name, k, delta), rtol) for _ in range(1 if rtol else 3)]
        first, second, before, after = (min(column) for column in zip(*runs, strict=True))
        times = duration(first), duration(second), duration(first - second) if first > second else "none"
        asked = "default" if rtol is None else f"rtol={rtol:g}"
        rows.append((name, power(k), f"{delta:g}", asked, *times, f"{before / 1024:.0f} MB", f"{after / 1024:.0f} MB"))
    header = ("ε_i", "k", "δ", "asked", "first call", "second call", "difference", "before the calls", "peak")
    section.add(
        "A fresh process: first call and peak memory (before: interpreter, numpy, list), processor time, best of three",
        header,
        rows,
    )
