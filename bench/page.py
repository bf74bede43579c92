"""The page about the benchmarks: each group writes its own part and leaves those of the others as they are."""

from __future__ import annotations

import os
import platform
from pathlib import Path

from bench.report import split

PAGE = Path(__file__).parents[1] / "docs" / "benchmarks.md"
ENGINE, LOSSES = "Different ε, from ten to a million mechanisms", "Mechanisms whose privacy loss is known"
TRAINING = "Training, setting by setting"
CERTIFICATES, SNAPSHOTS, LEDGER = "Certificates", "Snapshots", "Ledger"
_ORDER = (ENGINE, LOSSES, TRAINING, CERTIFICATES, SNAPSHOTS, LEDGER)

_FIRST = """\
# Benchmarks

`make bench` asks optcomp, dp-accounting, prv-accountant and diffprivlib the same questions in one run, in a separate
process with a limit on time and memory, and writes [all tables](../bench/results.md), this page and its pictures. It
sets up an environment of its own for the peers. In that environment `python -m bench --only engine` runs one group (the
others are `homogeneous`, `heterogeneous`, `murtagh-vadhan`, `losses`, `training`, `data`, `snapshots`, `ledger`,
`planning` and `import`), and `--quick` tries everything on small lists and writes nothing. `data`, `snapshots`,
`ledger` and `planning` need no peers."""

_LAST = """\
## What the tables show

- **Homogeneous, Heterogeneous, Murtagh–Vadhan**: one table for each question, with every contender in its default and
  in its best configuration, and a list of the places where a peer did better than we.
- **Engine**: the lists above at four δ, at the default and with `rtol=1e-12`; the peers beside them; lists of other
  shapes and large δ, with a remark where they are hard; what became of the prototype's weak places, and the work cap;
  the first call and the peak of memory in a fresh process; a growing list and a growing run with
  `Composer`, and what `calibrate` takes.
- **Losses**: Gaussian noise by the engine and by its closed form; Laplace and discrete Gaussian noise, randomized
  response, subsampled Gaussian noise and a mixed list, each beside the peers in several configurations; first calls;
  and a list of the places where a peer did better than we.
- **Training and lattices**: settings of training with noisy gradients over the whole range of rates, noises, rounds and
  δ, beside what trainers use; losses on a lattice and Laplace noise beside dp-accounting's best; totals of each peer.
- **Snapshots**: questions beside the plain query on the raw Parquet and CSV file, where rows of many people are left
  out and where all stay; preparation beside one scan and sort; the peak of memory.
- **Import**: the time of `import`.

A peer that says less than the truth is marked, and so is what was not run. Times depend on the machine and on what else
it does; the tables of the engine, of losses and of training therefore show processor time, and the load before and
after."""


def write(title: str, text: str) -> None:
    """Put one part of docs/benchmarks.md in its place."""
    before = split(PAGE.read_text(encoding="utf-8")) if PAGE.exists() else {}
    parts = before | {title: f"## {title}\n\n{text}"}
    known = [parts[name] for name in _ORDER if name in parts]
    PAGE.write_text("\n\n".join([_FIRST, *known, _LAST]) + "\n", encoding="utf-8")


def machine() -> str:
    """Where it was measured."""
    return f"measured on {os.cpu_count()} cores with Python {platform.python_version()}"
