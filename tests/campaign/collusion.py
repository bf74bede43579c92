"""Analysts who collude against a real centre: what they learn together stays below what the batch certifies.

Each trial has a fresh account with a certified batch of three slots, about one of two neighbouring snapshots, and is
played by ASGI.  The auditor's lower bound on ε, from one bit of each transcript, must stay below the certified ε at its
δ; for centres that are broken on purpose it must lie above.  Exit code 1 on any finding.
"""

from __future__ import annotations

import argparse
import asyncio
import os
import random
import sys
from collections.abc import Sequence
from concurrent.futures import ProcessPoolExecutor
from contextlib import redirect_stderr
from dataclasses import dataclass, field
from fractions import Fraction
from multiprocessing import get_context
from pathlib import Path
from tempfile import TemporaryDirectory

from optcomp.interactive.audit import Side
from optcomp.interactive.audit.run import epsilon_down
from tests.campaign.asgi_center import AsgiCenter, asgi_center
from tests.campaign.broken_centers import BROKEN
from tests.campaign.colluders import Colluders, WrongOutcome

HONEST = "honest"
"""The centre as it is."""
CONFIDENCE = "0.999"
"""Of each bound."""
_QUICK = "/dev/shm" if os.path.isdir("/dev/shm") else None
"""Memory instead of a disk, where there is one."""
_SHARE = 10
"""Broken centres have so many times fewer trials: one that is broken shows it at once."""
_DECIDES = 0.0
"""The distinguisher's bit is whether the score is larger: fixed before the first trial, so that all trials count."""


@dataclass
class Played:
    """What came of some trials."""

    scores: tuple[list[float], list[float]] = field(default_factory=lambda: ([], []))
    certified: set[tuple[str, str]] = field(default_factory=set)
    free: int = 0
    wrong: list[str] = field(default_factory=list)

    @property
    def bits(self) -> tuple[int, int]:
        """How often the distinguisher says that it is the second table: when it is, and when it is the first."""
        return tuple(sum(score > _DECIDES for score in self.scores[side]) for side in (1, 0))  # type: ignore[return-value]

    def add(self, other: Played) -> None:
        """Take in what came of others."""
        for mine, others in zip(self.scores, other.scores, strict=True):
            mine += others
        self.certified |= other.certified
        self.free += other.free
        self.wrong += other.wrong


def play(kind: str, trials: int, seed: int, *, processes: bool = True) -> Played:
    """That many trials, one after the other, half of them on each side; `processes` says whether a process answers."""
    with open(os.devnull, "w") as nowhere, redirect_stderr(nowhere):  # a line for each request
        return asyncio.run(_played(kind, trials, seed, processes))


async def _played(kind: str, trials: int, seed: int, processes: bool) -> Played:
    found, choice = Played(), random.Random(f"{kind} {seed}")
    with TemporaryDirectory(prefix="optcomp-", dir=_QUICK, ignore_cleanup_errors=True) as folder:
        async with asgi_center(Path(folder), BROKEN.get(kind), processes=processes) as center:
            sides: list[Side] = [0, 1] * (trials // 2)
            choice.shuffle(sides)
            for side in sides:
                await _one(center, side, choice, found)
            if kind == HONEST and center.service.ledger.verify().findings:
                found.wrong.append("the ledger does not verify")
    return found


async def _one(center: AsgiCenter, side: Side, choice: random.Random, found: Played) -> None:
    trial = center.trial(side)
    together = Colluders(center, trial, choice)
    try:
        found.scores[side].append(await together.play())
    except WrongOutcome as error:
        found.wrong.append(str(error))
    for name in trial.seats:
        spent = center.service.ledger.account(trial.account).slot(f"batch: {name}").remaining().amounts["epsilon"]
        if spent[0] != 0:
            found.wrong.append(f"{name} could not spend a slot: {spent[0]} is left")
    found.certified.add((trial.epsilon, trial.delta))
    found.free += together.free


def bound_of(played: Played, delta: str, confidence: str) -> float:
    """The auditor's lower bound on ε at δ: each of the two probabilities is bounded but for half of the error."""
    trials = min(map(len, played.scores))
    assert trials == max(map(len, played.scores))
    return epsilon_down(played.bits, trials, Fraction(delta), (1 - Fraction(confidence)) / 2)


def judged(kind: str, played: Played, confidence: str) -> list[str]:
    """Print one line; the findings."""
    if played.wrong:
        return [f"{kind}: {line}" for line in played.wrong]
    ((epsilon, delta),) = played.certified
    lower = bound_of(played, delta, confidence)
    caught, (hits, misses) = lower > Fraction(epsilon), played.bits
    print(
        f"{kind:>8}: {sum(map(len, played.scores))} trials, bit {hits} and {misses} times, ε >= {lower:.3f} at"
        f" confidence {confidence}, certified ({float(Fraction(epsilon)):.4f}, {float(Fraction(delta)):.0e}),"
        f" {played.free} free answers",
        flush=True,
    )
    if kind == HONEST:
        wrong = ["leaks more than is certified"] * caught + [f"{played.free} answers were free"] * bool(played.free)
    else:
        wrong = ["was not caught"] * (not caught)
    return [f"{kind}: {line}" for line in wrong]


def collude(kind: str, trials: int, processes: int, seed: int) -> list[str]:
    """Play in several processes, and judge; the findings."""
    played = Played()
    shares = [trials // processes // 2 * 2] * processes
    with ProcessPoolExecutor(processes, mp_context=get_context("spawn")) as pool:
        for each in pool.map(play, [kind] * processes, shares, range(seed, seed + processes)):
            played.add(each)
    return judged(kind, played, CONFIDENCE)


def main(arguments: Sequence[str]) -> int:
    """Run what the command line asks for."""
    parser = argparse.ArgumentParser(prog="python -m tests.campaign.collusion", description=__doc__)
    parser.add_argument("--trials", type=int, default=2000, help="in all (%(default)s)")
    parser.add_argument("--broken", type=int, help="trials of each broken centre (a tenth, and at least 100)")
    parser.add_argument("--processes", type=int, default=2, help="(%(default)s)")
    parser.add_argument("--seed", type=int, default=1, help="of who asks when; noise is always real (%(default)s)")
    parser.add_argument("--kind", action="append", choices=(HONEST, *BROKEN), help="only this centre")
    options = parser.parse_args(arguments)
    fewer = max(100, options.trials // _SHARE) if options.broken is None else options.broken
    wrong = []
    for kind in options.kind or (HONEST, *BROKEN):
        wrong += collude(kind, options.trials if kind == HONEST else fewer, options.processes, options.seed)
    for line in wrong[:20]:
        print("FOUND", line)
    return int(bool(wrong))


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
