"""The page about the benchmarks, with the main figures of this run."""

from __future__ import annotations

import os
import platform
from pathlib import Path

from bench.engine.asking import Asker
from bench.engine.distinct import BEST, MAIN, summary
from bench.report import line

PAGE = Path(__file__).parents[2] / "docs" / "benchmarks.md"

_TEXT = """\
# Benchmarks

`make bench` asks optcomp, dp-accounting, prv-accountant and diffprivlib the same questions in one run, in a separate
process with a limit on time and memory, and writes [all tables](../bench/results.md), this page and its pictures. It
sets up an environment of its own for the peers. In that environment `python -m bench --only engine` runs one group (the
others are `homogeneous`, `heterogeneous`, `murtagh-vadhan` and `import`), and `--quick` tries everything on small lists
and writes nothing.

## Different ε, from ten to a million mechanisms

ε_i ~ U(.001, .1), all different, δ = {delta:g}, in processor time; measured on {cores} cores with Python {python}.
*Width* is that of the bracket, relative; *excess* is how far the peer is above it. The peer is
`{peer}`, the strongest configuration found.

{table}

![Time and width against the number of mechanisms](images/bench-k.png)

Time and width against δ; where a closed form applies, as for k = 1000 at δ = 1e-300, both drop:

![Time and width against δ](images/bench-delta.png)

## What the tables show

- **Homogeneous, Heterogeneous, Murtagh–Vadhan**: one table for each question, with every contender in its default and
  in its best configuration, and a list of the places where a peer did better than we.
- **Engine**: the lists above at four δ, at the default and with `rtol=1e-12`; the peers beside them; lists of other
  shapes and large δ, with a remark where they are hard; what became of the prototype's weak places, and the work cap;
  the first call and the peak of memory in a fresh process; and a growing list with `Composer`.
- **Import**: the time of `import`.

A peer that says less than the truth is marked, and so is what was not run. Times depend on the machine and on what else
it does; the engine's tables therefore show processor time beside the time that passed, and the load before and after.
"""


def write_page(asker: Asker) -> None:
    """Write docs/benchmarks.md."""
    header = ("k", "optcomp", "width", "dp-accounting", "excess")
    table = "\n".join(line(row) for row in (header, ["---"] * len(header), *summary(asker)))
    text = _TEXT.format(delta=MAIN, cores=os.cpu_count(), python=platform.python_version(), peer=BEST, table=table)
    PAGE.write_text(text, encoding="utf-8")
