"""All tables about known losses, in order."""

from __future__ import annotations

import os

from rich.console import Console

from bench.losses import tables
from bench.losses.asking import MODULE, Asker
from bench.losses.page import write_page
from bench.report import Section
from bench.worker import Worker

_LIMIT = 300.0


def section(quick: bool, console: Console) -> Section:
    """Measure; a full run also writes its part of the page."""
    made = Section("Losses", "")
    before = os.getloadavg()[0]
    with Worker(20.0 if quick else _LIMIT, best=True, contenders=MODULE) as worker, console.status("") as status:
        asker = Asker(worker, status, quick)
        tables.add_gaussian(made, asker)
        tables.add_plain(made, asker)
        tables.add_subsampled(made, asker)
        tables.add_mixed(made, asker)
        tables.add_better(made, asker)
        if not quick:
            write_page(asker)
    made.text = _TEXT.format(limit=_LIMIT, before=before, after=os.getloadavg()[0])
    return made


_TEXT = """\
Mechanisms whose privacy loss is known. *Time* and *CPU* (processor time) are the shortest of up to seven calls within
2 s in a process that has answered before, or those of the only call; the limit is {limit:.0f} s and 8 GB. Our bracket
serves as the truth. Load average of the machine: {before:.1f} before, {after:.1f} after (this run makes up 1 of it).

- `dp-accounting PLDAccountant` is its default; `PLD 1e-3`, `1e-4` (its default) and `1e-5` are the distributions of its
  constructors on these grids, `self_compose`, `compose`, with connect-the-dots wherever it is to be had. On subsampled
  noise the accountant is `PLD 1e-4`. `best` knows more than the package: Gaussian mechanisms are made into one of σ/√k
  on a grid of 1e-4 standard deviations, without convolution; losses on a lattice get that lattice as their grid, and
  repeated doubling. Elsewhere `1e-5` is the strongest configuration found. `deep`: grid 1e-4, tails cut at δ/10^6
  only, its only way below δ = 1e-15. `RDP`: its Rényi accountant.
- `prv-accountant .1`, `.01`, `.001`: its eps_error; delta_error δ/1000. Its upper side is compared."""
