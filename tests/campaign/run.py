"""Many random instances in parallel processes, a table by class, and exit code 1 on any finding."""

from __future__ import annotations

import argparse
import os
import resource
import time
from collections.abc import Iterable, Iterator, Sequence
from concurrent.futures import FIRST_COMPLETED, Future, ProcessPoolExecutor, wait
from itertools import islice
from multiprocessing import get_context

from tests.campaign.classes import CLASSES, judged
from tests.campaign.judge import FINDINGS, Outcome

INSTANCES = 20_000
MEMORY = 4 << 30
"""Bytes that a process may use, so that an instance that runs away takes nothing else with it."""
_HEADER = ("instances", "answers", "refused", "noted", *FINDINGS)
Job = tuple[str, int]
"""The class and the seed of an instance."""


def main(arguments: Sequence[str]) -> int:
    """Run what the command line asks for."""
    options = _options(arguments)
    start = time.perf_counter()
    jobs = campaign(options.kind or list(CLASSES), options.instances, options.seed)
    outcomes: list[Outcome] = []
    for outcome in outcomes_of(jobs, options.workers, start + options.seconds):
        outcomes.append(outcome)
        for line in told(outcome):
            print(line, flush=True)
    print(table(outcomes))
    print(f"{len(outcomes)} of {len(jobs)} instances in {time.perf_counter() - start:.0f} s")
    return int(any(outcome.findings for outcome in outcomes))


def told(outcome: Outcome) -> list[str]:
    """Each finding, with the arguments that bring it back."""
    again = f"--kind {outcome.kind} --seed {outcome.seed} --instances 1"
    return [f"{word.upper()} {again}: {text}" for word, text in outcome.findings]


def _options(arguments: Sequence[str]) -> argparse.Namespace:
    parser = argparse.ArgumentParser(prog="python -m tests.campaign", description=__doc__)
    parser.add_argument("--instances", type=int, default=INSTANCES, help="how many in all (%(default)s)")
    parser.add_argument("--seed", type=int, default=0, help="seed of the first instance of each class (%(default)s)")
    parser.add_argument("--seconds", type=float, default=float("inf"), help="begin no instance after this time")
    parser.add_argument("--workers", type=int, default=os.cpu_count() or 1, help="processes (%(default)s)")
    parser.add_argument("--kind", action="append", choices=list(CLASSES), help="only this class (may be repeated)")
    return parser.parse_args(arguments)


def amounts(kinds: Sequence[str], instances: int) -> dict[str, int]:
    """How many instances of each class, by their shares."""
    shares = sum(CLASSES[kind].share for kind in kinds)
    return {kind: round(instances * CLASSES[kind].share / shares) for kind in kinds}


def campaign(kinds: Sequence[str], instances: int, seed: int) -> list[Job]:
    """The classes mixed evenly, each with seeds that count up, so that an early stop leaves no class out."""
    wanted = amounts(kinds, instances)
    placed = sorted(((i + 0.5) / amount, kind, seed + i) for kind, amount in wanted.items() for i in range(amount))
    return [(kind, each) for _, kind, each in placed]


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
    """One line for each class, and one for all."""
    lines = [f"{'class':>17}" + "".join(f"{name:>10}" for name in (*_HEADER, "widest", "slowest", "in all"))]
    kinds = [kind for kind in CLASSES if any(outcome.kind == kind for outcome in outcomes)]
    lines += [_line(kind, [outcome for outcome in outcomes if outcome.kind == kind]) for kind in kinds]
    lines.append(_line("all", outcomes))
    return "\n".join(lines)


def _line(kind: str, outcomes: Sequence[Outcome]) -> str:
    numbers = [
        len(outcomes),
        sum(outcome.answers for outcome in outcomes),
        sum(outcome.refused for outcome in outcomes),
        sum(outcome.noted for outcome in outcomes),
        *(sum(outcome.number(word) for outcome in outcomes) for word in FINDINGS),
    ]
    widest = max((width for outcome in outcomes for width in outcome.widths), default=0.0)
    slowest = max((outcome.seconds for outcome in outcomes), default=0.0)
    spent = sum(outcome.spent for outcome in outcomes)
    cells = "".join(f"{number:>10}" for number in numbers)
    return f"{kind:>17}{cells}{widest:>10.1e}{slowest:>8.1f} s{spent:>8.0f} s"
