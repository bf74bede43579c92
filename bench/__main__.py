"""`python -m bench [--quick] [--only GROUP]`: measure, print, and write `bench/results.md`.

A group imports what it compares with when its turn comes: those without peers run wherever optcomp does.
"""

from __future__ import annotations

import argparse
import time
from collections.abc import Callable
from importlib import import_module

from rich.console import Console

from bench import imports, instances, report
from bench.report import RESULTS, Section
from bench.run import measure

Maker = Callable[[bool, Console], Section]


def _homogeneous(quick: bool, console: Console) -> Section:
    from bench import contenders

    rows = measure(contenders.HOMOGENEOUS, instances.homogeneous(quick), _limit(quick), console)
    return report.section("Homogeneous", "k mechanisms with the same ε; the least total ε at a total δ.", rows)


def _heterogeneous(quick: bool, console: Console) -> Section:
    from bench import contenders

    rows = measure(contenders.HETEROGENEOUS, instances.heterogeneous(quick), _limit(quick), console)
    text = "Different ε_i (uniform ones from a fixed seed), where optcomp has the exact answer or nearly so."
    return report.section("Heterogeneous", text, rows)


def _murtagh_vadhan(quick: bool, console: Console) -> Section:
    from bench import contenders

    rows = measure(contenders.MURTAGH_VADHAN, instances.murtagh_vadhan(quick), _limit(quick), console)
    text = (
        "All ε_i different, δ = 1e-9. The baseline is the algorithm as published, in numpy (`bench/published.py`); "
        "optcomp's rows return a lower side too, the others do not. Those who know no η are asked once."
    )
    return report.section("Murtagh–Vadhan", text, rows)


def _imports(quick: bool, console: Console) -> Section:
    with console.status("import"):
        return imports.section(quick)


def _of(module: str) -> Maker:
    """The section that a module makes."""

    def made(quick: bool, console: Console) -> Section:
        found: Section = import_module(module).section(quick, console)
        return found

    return made


TABLES: dict[str, Maker] = {
    "homogeneous": _homogeneous,
    "heterogeneous": _heterogeneous,
    "murtagh-vadhan": _murtagh_vadhan,
    "engine": _of("bench.engine.section"),
    "losses": _of("bench.losses.section"),
    "training": _of("bench.training.section"),
    "certificates": _of("bench.certificates"),
    "data": _of("bench.data"),
    "snapshots": _of("bench.snapshots"),
    "ledger": _of("bench.ledger"),
    "center": _of("bench.center"),
    "center-growth": _of("bench.center_growth"),
    "planning": _of("bench.planning"),
    "planner-page": _of("bench.planner_pages"),
    "desks": _of("bench.desks"),
    "import": _imports,
}


def _limit(quick: bool) -> float:
    """Seconds that one call may take."""
    return 2.0 if quick else 60.0


def main() -> None:
    """A run that is not quick replaces the committed figures of what it measured."""
    parser = argparse.ArgumentParser(prog="python -m bench", description="optcomp beside its peers")
    parser.add_argument("--quick", action="store_true", help="fewer and smaller instances, under a minute")
    parser.add_argument("--only", choices=TABLES, help="one group of tables")
    options = parser.parse_args()
    console = Console()
    if not console.is_terminal:
        console = Console(width=150)
    console.print(report.READING)
    sections = []
    for name, make in TABLES.items():
        if options.only in (None, name):
            started = time.perf_counter()
            sections.append(make(options.quick, console))
            report.show(sections[-1], console)
            console.print(f"{name}: {time.perf_counter() - started:.0f} s")
    if not options.quick:
        report.write(sections, RESULTS)
        console.print(f"written to bench/{RESULTS.name}")


if __name__ == "__main__":
    main()
