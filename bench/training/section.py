"""All tables about training and lattices, in order."""

from __future__ import annotations

import os

from rich.console import Console

import optcomp as oc
from bench.losses.asking import Asker
from bench.losses.questions import Question
from bench.report import Section
from bench.training.page import write_page
from bench.training.tables import add_tables
from bench.worker import Worker

MODULE = "bench.training.contenders"
LIMIT = 20.0
"""Seconds of processor time after which somebody is given up, so that the whole takes some minutes."""
_BRIEF = 0.6
"""Calls are repeated until they took this long together."""
_OFTEN, _TIMES = 5e-4, 6.0
"""The independent computation in floats is quick from this rate on, if a person takes part so many times on average."""


def section(quick: bool, console: Console) -> Section:
    """Measure; a full run also writes its part of the page."""
    made = Section("Training and lattices", "")
    before = os.getloadavg()[0]
    with Worker(LIMIT, best=True, contenders=MODULE, brief=_BRIEF, cpu=True) as worker, console.status("") as status:
        asker = Asker(worker, status, quick, checkable=_checkable)
        add_tables(made, asker)
        load = (before, os.getloadavg()[0])
        made.text = _TEXT.format(limit=LIMIT, brief=_BRIEF, before=load[0], after=load[1])
        if not quick:
            write_page(asker, load)
    return made


def _checkable(question: Question) -> bool:
    item = question.only
    if not isinstance(item, oc.PoissonSubsampled):
        return True
    return float(item.rate) >= _OFTEN and float(item.rate) * question.count >= _TIMES


_TEXT = """\
Settings of training with noisy gradients, over the whole range, and losses on a lattice. *CPU* is processor time, the
shortest of up to seven calls within {brief:g} s in a process that has answered before, or that of the only call; the
limit is {limit:.0f} s of it, and 8 GB. Our bracket serves as the truth. Load average of the machine:
{before:.1f} before, {after:.1f} after (this run makes up 1 of it).

- `dp-accounting PLDAccountant` is its default (grid 1e-4), `PLD 1e-5` a finer grid. `best` knows more than the package:
  losses on a lattice get that lattice as their grid, and repeated doubling. `PLD 1e-2` and `1e-3` are coarser grids.
- `prv-accountant 0.01`: eps_error .01 and delta_error δ/1000, which is how Opacus calls its accountant PRV.
- `RDP, orders of Opacus`: dp-accounting's Rényi accountant with the orders that Opacus tries.
- `GDP (CLT)`: the central limit formula of Opacus' accountant GDP. It is no bound."""
