"""Runs that grow by rounds and are asked for their ε again and again, against answers from nothing.

`python -m bench.engine.growing_runs` prints the table for several runs, asked after every epoch and after every step.
"""

from __future__ import annotations

import statistics
import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass

import optcomp
from bench.report import Section
from bench.rows import duration
from optcomp.interop.steps import RTOL, StepTotals

_ASKS, _FEW, _DELTA = 1000, 100, 1e-6
"""Asks of a full and of a quick run, and the δ of what is sought."""
_COLD = 5
"""Answers from nothing, each about a mechanism that nobody asked about before: of an accountant, and of `compose`."""
_CHECKED = 8
"""Answers that are compared with `compose` of the same list."""


@dataclass(frozen=True)
class Run:
    """Subsampled Gaussian noise, asked for its ε after the first rounds and then every so often."""

    rate: float
    sigma: float
    delta: float
    every: int
    first: int

    @property
    def words(self) -> str:
        """As it stands in a table."""
        return f"q = {self.rate:g}, σ = {self.sigma:g}, δ = {self.delta:g}"


EPOCHS = (Run(0.01, 1.0, 1e-6, 100, 100), Run(0.004, 1.1, 1e-5, 250, 250), Run(0.001, 0.8, 1e-6, 1000, 1000))
"""An ask after every epoch."""
STEPS = (Run(0.01, 1.0, 1e-6, 1, 1), Run(0.004, 1.1, 1e-5, 1, 1), Run(0.001, 0.8, 1e-6, 1, 1))
"""An ask after every step."""
HEADER = (
    "a run",
    "asked after",
    "processor time",
    "median ask",
    "longest",
    "a first ask",
    "in first asks",
    "`compose`",
    "in `compose`",
)
"""What `rows` are about."""


def add_growing_runs(section: Section, quick: bool) -> None:
    """One more epoch, then its ε, again and again; beside it noise, a rate and a number of rounds that fit a budget."""
    asks = _FEW if quick else _ASKS
    section.add(f"{asks} asks of growing runs", HEADER, rows(EPOCHS, asks))
    header = ("what is sought", "evaluations", "how", "processor time")
    section.add("`calibrate` to a millionth, ε = 1, δ = 1e-6", header, [_fitted(*family) for family in _FAMILIES])


def rows(runs: Sequence[Run], asks: int) -> list[tuple[str, ...]]:
    """A row for each run, as accountants for training ask."""
    return [_row(run, asks) for run in runs]


def _row(run: Run, asks: int) -> tuple[str, ...]:
    first = statistics.median(_cold(run, number, asks, _accounted) for number in range(1, _COLD + 1))
    composed = statistics.median(_cold(run, number, asks, _composed) for number in range(_COLD + 1, 2 * _COLD + 1))
    found, whole = _asked(run, asks)
    times = _single_times(run, asks)
    for count in list(found)[:: max(asks // _CHECKED, 1)]:
        fresh = optcomp.compose({_mechanism(run): count}, delta=run.delta)
        assert fresh.lower <= found[count] <= fresh.upper * (1 + RTOL), "not the answer of compose"
    when = "every round" if run.every == 1 else f"every {run.every:,} rounds"
    cells = [run.words, when]
    cells += map(duration, (whole, statistics.median(times), max(times)))
    for cold in (first, composed):
        cells += [duration(cold), f"{whole / cold:.2g}"]
    return tuple(cells)


def _asked(run: Run, asks: int) -> tuple[dict[int, float], float]:
    """Every ε, and the processor time of all asks together: reading that clock takes as long as most single asks."""
    totals, found, began = StepTotals(), dict[int, float](), time.process_time()
    for count in range(run.first, run.first + asks * run.every, run.every):
        found[count] = totals.epsilon([(run.sigma, run.rate, count)], run.delta)
    return found, time.process_time() - began


def _single_times(run: Run, asks: int) -> list[float]:
    """The time that passes in each ask of another such run."""
    totals, times = StepTotals(), list[float]()
    for count in range(run.first, run.first + asks * run.every, run.every):
        began = time.perf_counter()
        totals.epsilon([(run.sigma, run.rate, count)], run.delta)
        times.append(time.perf_counter() - began)
    return times


def _mechanism(run: Run, more: float = 0.0) -> optcomp.PoissonSubsampled:
    return optcomp.PoissonSubsampled(optcomp.Gaussian(run.sigma * (1 + more)), run.rate)


def _cold(run: Run, number: int, asks: int, ask: Callable[[Run, float, int], object]) -> float:
    """The time of an answer about the middle of the run, for noise that nobody asked about before."""
    began = time.process_time()
    ask(run, number / 1000, run.first + run.every * (asks // 2))
    return time.process_time() - began


def _accounted(run: Run, more: float, count: int) -> float:
    """The first ask of an accountant."""
    return StepTotals().epsilon([(run.sigma * (1 + more), run.rate, count)], run.delta)


def _composed(run: Run, more: float, count: int) -> optcomp.Bound:
    """With nine digits."""
    return optcomp.compose({_mechanism(run, more): count}, delta=run.delta)


def _noise(number: float) -> dict[optcomp.PoissonSubsampled, int]:
    return {optcomp.PoissonSubsampled(optcomp.Gaussian(number), 0.01): 1000}


def _rate(number: float) -> dict[optcomp.PoissonSubsampled, int]:
    return {optcomp.PoissonSubsampled(optcomp.Gaussian(1), number): 1000}


def _rounds(number: float) -> dict[optcomp.PoissonSubsampled, int]:
    return {optcomp.PoissonSubsampled(optcomp.Gaussian(2), 0.01): int(number)}


_FAMILIES: tuple[tuple[str, Callable[[float], dict[optcomp.PoissonSubsampled, int]], bool], ...] = (
    ("σ of 1000 rounds, q = .01", _noise, False),
    ("q of 1000 rounds, σ = 1", _rate, False),
    ("rounds, q = .01, σ = 2", _rounds, True),
)


def _fitted(
    what: str, build: Callable[[float], dict[optcomp.PoissonSubsampled, int]], whole: bool
) -> tuple[str, str, str, str]:
    began = time.process_time()
    found = optcomp.calibrate(build, epsilon=1, delta=_DELTA, whole=whole)
    return what, str(found.evaluations), found.method, duration(time.process_time() - began)


def main() -> None:
    """Print the table."""
    optcomp.compose({optcomp.PoissonSubsampled(optcomp.Gaussian(1.3), 0.01): 1000}, delta=_DELTA)  # imports
    for line in (HEADER, ("---",) * len(HEADER), *rows((*EPOCHS, *STEPS), _ASKS)):
        print("|", " | ".join(line), "|", flush=True)


if __name__ == "__main__":
    main()
