"""All tables of the engine, in order."""

from __future__ import annotations

import os

from rich.console import Console

from bench.engine import distinct, families, plots
from bench.engine.asking import Asker
from bench.engine.fresh import add_fresh
from bench.engine.growing_runs import add_growing_runs
from bench.engine.incremental import add_incremental
from bench.engine.page import write_page
from bench.report import Section
from bench.worker import Worker

_LIMIT = 300.0


def section(quick: bool, console: Console) -> Section:
    """Measure; a full run also draws the pictures and writes the page that shows them."""
    made = Section("Engine", "")
    before = os.getloadavg()[0]
    with Worker(20.0 if quick else _LIMIT, best=True) as worker, console.status("") as status:
        asker = Asker(worker, status, quick)
        distinct.add_ours(made, asker)
        distinct.add_peers(made, asker)
        distinct.add_goals(made, asker)
        families.add_families(made, asker)
        families.add_large_deltas(made, asker)
        families.add_weaknesses(made, asker)
        status.update("fresh processes")
        add_fresh(made, quick)
        status.update("a growing list")
        add_incremental(made, quick)
        add_growing_runs(made, quick)
        if not quick:
            plots.draw(asker)
            write_page(asker)
    made.text = (
        "Long and hard lists of different ε; lists come from a fixed seed. *Time* is the shortest of up to seven calls "
        "within 2 s, or that of the only call. *CPU* is processor time, which other work "
        "on the machine changes less than *time*. *Width* is that of our bracket, relative; "
        f"*excess* is relative to our bracket, which serves as the truth. The limit is {_LIMIT:.0f} s here. Load "
        f"average of the machine: {before:.1f} before, {os.getloadavg()[0]:.1f} after (this run makes up 1 of it)."
    )
    return made
