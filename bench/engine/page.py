"""The engine's part of the page about the benchmarks, with the main figures of this run."""

from __future__ import annotations

from bench import page
from bench.engine.asking import Asker
from bench.engine.distinct import BEST, MAIN, summary
from bench.report import line

_TEXT = """\
ε_i ~ U(.001, .1), all different, δ = {delta:g}, in processor time; {machine}.
*Width* is that of the bracket, relative; *excess* is how far the peer is above it. The peer is
`{peer}`, the strongest configuration found.

{table}

![Time and width against the number of mechanisms](images/bench-k.png)

Time and width against δ; where a closed form applies, as for k = 1000 at δ = 1e-300, both drop:

![Time and width against δ](images/bench-delta.png)"""


def write_page(asker: Asker) -> None:
    """Write this part of docs/benchmarks.md."""
    header = ("k", "optcomp", "width", "dp-accounting", "excess")
    table = "\n".join(line(row) for row in (header, ["---"] * len(header), *summary(asker)))
    page.write(page.ENGINE, _TEXT.format(delta=MAIN, machine=page.machine(), peer=BEST, table=table))
