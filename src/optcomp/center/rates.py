"""Requests in a minute: counted in the database, and refused from memory where the database has refused before.

The database is the truth: it counts what all workers and servers were asked, by its clock.  A count never falls within
a minute, so a person beyond a limit stays so until the next one begins, and need not be counted again until then:
without this, every refusal would be a write.  What is remembered ends when `Retry-After` said that it does, at most a
second after the minute; whoever waits as long as they were told to is counted as before.  Another worker finds out by
one count of its own.
"""

from __future__ import annotations

import time

from optcomp.center.people import People
from optcomp.center.refusals import TooMany

_MOST = 10_000  # subjects that are remembered; beyond it those are forgotten whose time is over, or else all of them


class Rates:
    """The limits on how often somebody asks, in one worker."""

    def __init__(self, people: People) -> None:
        self._people = people
        self._until: dict[str, float] = {}

    def count(self, subject: str, limit: int, amount: int = 1) -> None:
        """So many more of a subject in this minute; `TooMany` if there are too many, with the seconds to wait."""
        left = self._until.get(subject, 0.0) - time.monotonic()
        if left > 0:
            raise TooMany(left)
        try:
            self._people.count(subject, limit, amount)
        except TooMany as error:
            self._remember(subject, error.seconds)
            raise

    def _remember(self, subject: str, seconds: float) -> None:
        at = time.monotonic()
        if len(self._until) >= _MOST:
            self._until = {each: until for each, until in self._until.items() if until > at}
        if len(self._until) >= _MOST:
            self._until = {}
        self._until[subject] = at + seconds
