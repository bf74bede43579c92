"""How long `import` takes in a fresh interpreter, best of five."""

from __future__ import annotations

import subprocess
import sys

from bench.report import Section
from bench.rows import duration

MODULES = ("optcomp", "dp_accounting", "prv_accountant", "diffprivlib", "numpy")
_SCRIPT = "import time; t = time.perf_counter(); import {module}; print(time.perf_counter() - t)"


def import_seconds(module: str, repeats: int) -> float:
    """The shortest of several imports, without the start of the interpreter."""
    command = [sys.executable, "-c", _SCRIPT.format(module=module)]
    runs = [subprocess.run(command, capture_output=True, text=True, check=True) for _ in range(repeats)]
    return min(float(run.stdout.strip().splitlines()[-1]) for run in runs)


def section(quick: bool) -> Section:
    """Import times beside that of numpy, which all of them need."""
    times = {module: import_seconds(module, 1 if quick else 5) for module in MODULES}
    made = Section("Import", "Time of `import` in a fresh interpreter, best of five; numpy for scale.")
    rows = [(module, duration(time), f"{time / times['optcomp']:.2g}") for module, time in times.items()]
    made.add("Import time", ("module", "time", "× ours"), rows)
    return made
