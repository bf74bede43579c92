"""Many random instances in parallel processes, a table for each kind, and exit code 1 on any violation or crash."""

from __future__ import annotations

import argparse
import os
import resource
import statistics
import time
from collections.abc import Iterable, Iterator, Sequence
from concurrent.futures import FIRST_COMPLETED, Future, ProcessPoolExecutor, wait
from itertools import islice
from multiprocessing import get_context

from tests.campaign.judge import Outcome, judged
from tests.campaign.lists import KINDS

INSTANCES = 20_400
MEMORY = 4 << 30
"""Bytes that a process may use, so that an instance that runs away takes nothing else with it."""
_HEADER = ("kind", "instances", "answers", "contour", "two-sided", "undecided", "stuck", "crashed", "violations")
Job = tuple[str, int]
"""The kind and the seed of an instance."""


def main(arguments: Sequence[str]) -> int:
    """Run what the command line asks for."""
    options = _options(arguments)
    start = time.perf_counter()
    jobs = campaign(options.kind or list(KINDS), options.instances, options.seed)
    outcomes: list[Outcome] = []
    for outcome in outcomes_of(jobs, options.workers, start + options.seconds):
        outcomes.append(outcome)
        for word, notes in (("VIOLATION", outcome.wrong), ("CRASH", outcome.crashed), ("STUCK", outcome.stuck)):
            for note in notes:
                print(f"{word} --kind {outcome.kind} --seed {outcome.seed} --instances 1: {note}", flush=True)
    print(table(outcomes))
    print(f"{len(outcomes)} of {len(jobs)} instances in {time.perf_counter() - start:.0f} s")
    return int(not all(outcome.sound for outcome in outcomes))


def _options(arguments: Sequence[str]) -> argparse.Namespace:
    parser = argparse.ArgumentParser(prog="python -m tests.campaign", description=__doc__)
    parser.add_argument("--instances", type=int, default=INSTANCES, help="how many in all (%(default)s)")
    parser.add_argument("--seed", type=int, default=0, help="seed of the first instance of each kind (%(default)s)")
    parser.add_argument("--seconds", type=float, default=float("inf"), help="begin no instance after this time")
    parser.add_argument("--workers", type=int, default=os.cpu_count() or 1, help="processes (%(default)s)")
    parser.add_argument("--kind", action="append", choices=list(KINDS), help="only this kind (may be repeated)")
    return parser.parse_args(arguments)


def campaign(kinds: Sequence[str], instances: int, seed: int) -> list[Job]:
    """The kinds in turn, each with seeds that count up, so that an early stop leaves no kind out."""
    shares = sum(KINDS[kind].share for kind in kinds)
    amounts = {kind: round(instances * KINDS[kind].share / shares) or 1 for kind in kinds}
    most = max(amounts.values())
    rounds = ((kind, seed + i) for i in range(most) for kind in kinds if i < amounts[kind])
    return list(islice(rounds, instances))


def outcomes_of(jobs: Iterable[Job], workers: int, deadline: float) -> Iterator[Outcome]:
    """As they come; nothing new is begun after the deadline."""
    left = iter(jobs)
    with ProcessPoolExecutor(workers, get_context("spawn"), _limit_memory) as pool:
        running: set[Future[Outcome]] = {pool.submit(judged, *job) for job in islice(left, 3 * workers)}
        while running:
            done, running = wait(running, return_when=FIRST_COMPLETED)
            if time.perf_counter() < deadline:
                running |= {pool.submit(judged, *job) for job in islice(left, len(done))}
            for future in done:
                yield future.result()


def _limit_memory() -> None:
    resource.setrlimit(resource.RLIMIT_AS, (MEMORY, MEMORY))


def table(outcomes: Sequence[Outcome]) -> str:
    """One line for each kind, and one for all."""
    lines = ["".join(f"{name:>11}" for name in _HEADER) + f"{'median width':>14}{'worst width':>13}{'slowest':>10}"]
    kinds = dict.fromkeys(outcome.kind for outcome in outcomes)
    lines += [_line(kind, [outcome for outcome in outcomes if outcome.kind == kind]) for kind in kinds]
    lines.append(_line("all", outcomes))
    return "\n".join(lines)


def _line(kind: str, outcomes: Sequence[Outcome]) -> str:
    widths = sorted(width for outcome in outcomes for width in outcome.widths) or [0.0]
    numbers = (
        len(outcomes),
        sum(outcome.asked for outcome in outcomes),
        sum(outcome.contour for outcome in outcomes),
        sum(outcome.two_sided for outcome in outcomes),
        sum(outcome.undecided for outcome in outcomes),
        sum(len(outcome.stuck) for outcome in outcomes),
        sum(len(outcome.crashed) for outcome in outcomes),
        sum(len(outcome.wrong) for outcome in outcomes),
    )
    slowest = max((outcome.seconds for outcome in outcomes), default=0.0)
    return (
        f"{kind:>11}"
        + "".join(f"{number:>11}" for number in numbers)
        + f"{statistics.median(widths):>14.1e}{widths[-1]:>13.1e}{slowest:>9.2f}s"
    )
