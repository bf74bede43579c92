"""Tables on the terminal and the same tables in Markdown."""

from __future__ import annotations

import os
import platform
from collections.abc import Sequence
from dataclasses import dataclass, field
from itertools import groupby
from pathlib import Path

from rich.console import Console
from rich.table import Table

from bench.ours import AUTO, MURTAGH_VADHAN
from bench.rows import Row

HEADER = ("contender", "time", "ε", "excess", "× ours", "remarks")
RESULTS = Path(__file__).with_name("results.md")
_NEAR = 1e-3
"""How far above the truth a faster peer may be to be listed as better."""


@dataclass
class Section:
    """A title, a word on what is compared, and tables of cells."""

    title: str
    text: str
    tables: list[tuple[str, tuple[str, ...], Sequence[tuple[str, ...]]]] = field(default_factory=list)

    def add(self, caption: str, header: tuple[str, ...], rows: Sequence[tuple[str, ...]]) -> None:
        self.tables.append((caption, header, rows))


def section(title: str, text: str, rows: Sequence[Row]) -> Section:
    """One table for each instance, and one of the peers that did better."""
    made = Section(title, text)
    for _, group in groupby(rows, key=lambda row: row.instance):
        found = list(group)
        source = found[0].truth.source if found[0].truth else "unknown"
        made.add(f"{_place(found[0])}. Truth: {source}", HEADER, [row.cells() for row in found])
    made.add(
        "Where a peer was sound and beat ours: faster within .1 % of the truth, or tighter", _BEATEN, _beaten(rows)
    )
    return made


_BEATEN = ("instance", "contender", "time", "excess", "ours", "time", "excess")


def _beaten(rows: Sequence[Row]) -> list[tuple[str, ...]]:
    pairs = [(peer, ours) for peer in rows for ours in rows if _beats(peer, ours)]
    return [(_place(peer), *_figures(peer), *_figures(ours)) for peer, ours in pairs] or [("none", *[""] * 6)]


def _beats(peer: Row, ours: Row) -> bool:
    """A sound peer against our default or our Murtagh–Vadhan on the same instance."""
    if peer.instance != ours.instance or ours.contender not in (AUTO, MURTAGH_VADHAN.name):
        return False
    if peer.contender.startswith("optcomp") or peer.excess is None or ours.excess is None or peer.excess < 0:
        return False
    faster = (peer.outcome.seconds or 0) < (ours.outcome.seconds or 0)
    return (faster and peer.excess < _NEAR) or peer.excess < ours.excess


def _place(row: Row) -> str:
    return f"{row.instance.group}, δ = {row.instance.delta:g}" + (
        f", η = {row.instance.eta:g}" if row.instance.eta is not None else ""
    )


def _figures(row: Row) -> tuple[str, str, str]:
    return row.contender, row.cells()[1], row.cells()[3]


def show(made: Section, console: Console) -> None:
    console.rule(made.title)
    console.print(made.text)
    for caption, header, rows in made.tables:
        table = Table(title=caption, title_justify="left", title_style="bold")
        for column in header:
            table.add_column(column, overflow="fold")
        for row in rows:
            table.add_row(*(cell.replace("**", "") for cell in row))
        console.print(table)


def write(sections: Sequence[Section], path: Path) -> None:
    """All tables as one Markdown file; sections that were not measured this time stay as they are."""
    before = split(path.read_text(encoding="utf-8")) if path.exists() else {}
    texts = before | {made.title: _markdown(made) for made in sections}
    head = "\n".join(["# Side by side", "", _machine(), "", READING])
    path.write_text("\n\n".join([head, *texts.values()]) + "\n", encoding="utf-8")


def split(text: str) -> dict[str, str]:
    """The sections of a file by title."""
    parts = [f"## {part}".strip() for part in text.split("\n## ")[1:]]
    return {part.partition("\n")[0].removeprefix("## "): part for part in parts}


def _markdown(made: Section) -> str:
    lines = [f"## {made.title}", "", made.text, ""]
    for caption, header, rows in made.tables:
        lines += [f"**{caption}**", "", line(header), line(["---"] * len(header)), *map(line, rows), ""]
    return "\n".join(lines).rstrip()


def line(cells: Sequence[str]) -> str:
    """A row of a Markdown table."""
    return "| " + " | ".join(cell.replace("|", "\\|") for cell in cells) + " |"


def _machine() -> str:
    return f"Measured by `make bench` on {os.cpu_count()} cores with Python {platform.python_version()}."


READING = """\
Every contender is asked the same question in the same run, in a separate process with a limit on time and memory
(60 s, 8 GB); imports are not timed. A time is the median of up to three calls within 2 s, or that of the only call.
*Excess* is relative to the truth: positive wastes privacy, negative claims more privacy than there is. *× ours* is the
time divided by that of the first row.

- `optcomp auto` is the default; `kov`, `strong`, `advanced` and `basic` are its closed forms, whose time includes the
  lower side of the bracket.
- `dp-accounting PLD default`: `from_privacy_parameters`, `self_compose`, `compose` as they come (grid 1e-4).
  `dots 1e-4`: connect-the-dots on that grid, `self_compose`, balanced tree. `best`: connect-the-dots on a grid that
  divides every ε_i where there is one (else 1e-4), repeated doubling, balanced tree, tails cut at 1e-16 and not 1e-15;
  `untruncated`: the same with tails kept, its only way below δ = 1e-16. `PLDAccountant`: its accountant given the
  self-composed randomized-response event.
- `dp-accounting RDP default`: its own Rényi orders; `best`: 201 orders around the optimal one.
- `prv-accountant typical`: eps_error .1, delta_error δ/1000, domain found by itself; `tuned`: eps_error a thousandth of
  ε, a tight domain, and exact means in place of its quadrature. Its upper side is compared.
- `diffprivlib`: `BudgetAccountant.total` with slack δ."""
