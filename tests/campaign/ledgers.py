"""Long random histories of ledgers, on both databases: `python -m tests.campaign.ledgers --help`.

Each round draws other histories: its seed is told, so that it can be drawn again.  After the histories crowds of
processes want more than their account has.
"""

from __future__ import annotations

import argparse
import sys
import time
from collections.abc import Callable
from contextlib import ExitStack

from hypothesis import HealthCheck, seed, settings
from hypothesis.stateful import run_state_machine_as_test

from tests.campaign.crowd import crowd
from tests.campaign.ledger_histories import machine
from tests.campaign.ledger_places import File, Place, Server
from tests.servers import new_database, postgres_address

DATABASES = ("sqlite", "postgresql")
ROUND = 20
"""Histories of one seed."""


def histories(places: Callable[[], Place], number: int, steps: int, first: int = 0) -> None:
    """So many histories of so many steps each; the first that is wrong ends in an error, with the shortest like it."""
    for begin in range(0, number, ROUND):
        drawn = settings(
            max_examples=min(ROUND, number - begin),
            stateful_step_count=steps,
            deadline=None,
            database=None,
            derandomize=False,
            suppress_health_check=list(HealthCheck),
        )
        played = seed(first + begin)(machine(places))
        run_state_machine_as_test(played, settings=drawn)


def main(arguments: list[str]) -> int:
    """Run the campaign."""
    parser = argparse.ArgumentParser(prog="python -m tests.campaign.ledgers", description=__doc__)
    parser.add_argument("--histories", type=int, default=400, help="on each database")
    parser.add_argument("--steps", type=int, default=60, help="of each history")
    parser.add_argument("--requests", type=int, default=500, help="of each of eight processes at once")
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--database", choices=DATABASES, action="append", help="both, if not given")
    given = parser.parse_args(arguments)
    for name in given.database or DATABASES:
        with ExitStack() as stack:
            places = _places(name, stack)
            began = time.monotonic()
            histories(places, given.histories, given.steps, given.seed)
            print(f"{name}: {given.histories} histories of {given.steps} steps in {time.monotonic() - began:.0f} s")
            began, place = time.monotonic(), places()
            stack.callback(place.clear)
            crowd(place, 8, given.requests, 7 * given.requests)
            print(f"{name}: 8 processes, {8 * given.requests} requests in {time.monotonic() - began:.0f} s")
    return 0


def _places(name: str, stack: ExitStack) -> Callable[[], Place]:
    if name == "sqlite":
        return File
    server = stack.enter_context(postgres_address())
    database = new_database(server)
    return lambda: Server(server, database)


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
