"""`python -m bench.front_door`: processor time until the first word, of the package and of the command line.

Each is run in fresh processes, and the best of five counts: user and system time together, so that other work on the
machine matters little.  Needs nothing but an installed optcomp.
"""

from __future__ import annotations

import resource
import subprocess
import sys
import tempfile
from pathlib import Path

RUNS = 5
"""The best of these counts."""

_COMMAND = "from optcomp.cli.main import run; run()"
_MISTAKE = "version: 1\nbugdet: {epsilon: 1}\n"
"""A plan with a misspelled entry."""


def processor_seconds(code: str, *args: str) -> float:
    """User and system time of a fresh Python that runs this code, best of five."""
    return min(_once([sys.executable, "-c", code, *args]) for _ in range(RUNS))


def _once(call: list[str]) -> float:
    before = resource.getrusage(resource.RUSAGE_CHILDREN)
    subprocess.run(call, capture_output=True, check=False)
    after = resource.getrusage(resource.RUSAGE_CHILDREN)
    return after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime


def rows(plan: str) -> list[tuple[str, float]]:
    """What is measured, from nothing at all to a first answer; `plan` is a file with a mistake in it."""
    return [
        ("Python alone", processor_seconds("pass")),
        ("`import numpy`, for scale", processor_seconds("import numpy")),
        ("`import optcomp`", processor_seconds("import optcomp")),
        ("`import optcomp; optcomp.compose`", processor_seconds("import optcomp; optcomp.compose")),
        ("`optcomp --version`", processor_seconds(_COMMAND, "--version")),
        ("`optcomp --help`", processor_seconds(_COMMAND, "--help")),
        ("`optcomp compose --help`", processor_seconds(_COMMAND, "compose", "--help")),
        ("a mistyped option", processor_seconds(_COMMAND, "compose", "0.1x50", "--detla", "1e-6")),
        ("a mistake in a plan", processor_seconds(_COMMAND, "plan", plan)),
        ("`optcomp compose 0.1x50 --delta 1e-6`", processor_seconds(_COMMAND, "compose", "0.1x50", "--delta", "1e-6")),
    ]


def main() -> None:
    """Print the table in Markdown."""
    with tempfile.TemporaryDirectory() as directory:
        plan = Path(directory) / "plan.yaml"
        plan.write_text(_MISTAKE, encoding="utf8")
        found = rows(str(plan))
    print("| what | processor time |\n| --- | --- |")
    for what, seconds in found:
        print(f"| {what} | {seconds:.3f} s |")


if __name__ == "__main__":
    main()
