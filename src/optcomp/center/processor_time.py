"""Processor seconds of a person's free work, counted in the database for each minute.

Only jobs that read no rows are counted: how long a question about people takes may depend on them, and a refusal that
depends on that would tell of them.
"""

from __future__ import annotations

from dataclasses import dataclass

from starlette.concurrency import run_in_threadpool

from optcomp.center.people import People

_PARTS = 1000
"""Of a second: counters are whole numbers."""


@dataclass(frozen=True)
class ProcessorTime:
    """What the free jobs of a person have taken in this minute, in all workers and servers of a centre."""

    people: People
    person: int
    most: float
    """Seconds in a minute."""

    @property
    def _subject(self) -> str:
        return f"processor {self.person}"

    async def check(self) -> None:
        """Refuse the next job if they have taken all of it; `TooMany` says when the next minute begins."""
        words = (
            f"your free requests may take {self.most:g} seconds of a processor in a minute, and have taken them; "
            "nothing was spent, and questions that spend budget are answered as before"
        )
        await run_in_threadpool(self.people.check_count, self._subject, int(self.most * _PARTS), words)

    async def add(self, seconds: float) -> None:
        """So many seconds more."""
        await run_in_threadpool(self.people.count_more, self._subject, max(1, round(seconds * _PARTS)))
