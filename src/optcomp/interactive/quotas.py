"""Which quotas were fixed before anything was told: only those are put together by `concurrent`.

A quota that was chosen after an answer may depend on it.  Whose answer that was does not matter, and a session cannot
tell which tables are about the same people; so every answer in this process counts, but for those about a population
that was declared to be another one.
"""

from __future__ import annotations

from optcomp.errors import HypothesisNotMet
from optcomp.statistics import Declared


class Record:
    """The first answer about each population, in the order in which they came."""

    def __init__(self) -> None:
        self._first: dict[str | None, str] = {}

    def answered(self, table: Declared, session: str) -> None:
        """A session is about to tell something."""
        self._first.setdefault(table.population, f"{session!r} had answered about {table.name}")

    def before(self, table: Declared) -> str | None:
        """What was told first about people who may be the same; without a name they may be anybody."""
        if table.population is None:
            return next(iter(self._first.values()), None)
        return self._first.get(table.population) or self._first.get(None)


RECORD = Record()
"""Of this process."""


def check_unit(first: tuple[str, Declared], other: tuple[str, Declared]) -> None:
    """Refuses sessions that do not protect the same: an ε for a row is no ε for a person of many rows."""
    one, two = _unit(first[1]), _unit(other[1])
    if one != two:
        reason = f"{first[0]!r} protects {one}, and {other[0]!r} protects {two}; their ε are about different neighbours"
        raise HypothesisNotMet("Lyu22-1", reason)


def _unit(table: Declared) -> str:
    whose = "each row by itself" if table.person is None else f"all rows with the same {table.person!r}"
    return f"{whose} ({table.neighbours})"
