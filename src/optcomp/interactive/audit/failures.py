r"""Runs that fail: an error tells as much as an answer.

Whether reading a table fails is a function of the table.  If it fails on one of two neighbours and not on the other,
the error is an event of probability 1 on one side and 0 on the other: ε = ∞ at every δ < 1, and nothing is estimated.

Whether a run failed by chance cannot be told from one run.  So both inputs are run `AGAIN` times; a failure is
*certain* if it came every time on one input and never on the other.  What comes now and then is counted like any other
output.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

from optcomp.errors import MechanismFailed
from optcomp.interactive.audit.auditable import Side
from optcomp.interactive.audit.events import Event, Raised

AGAIN = 20
"""Runs on each input before a failure is called certain; all come to the same if no chance is in it."""


@dataclass(frozen=True)
class Failures:
    """How runs on the first and on the second input ended, pair by pair."""

    pairs: tuple[tuple[Raised | None, Raised | None], ...]
    error: Exception | None
    """The last one."""

    @property
    def certain(self) -> Event | None:
        """A failure that tells the two inputs apart every time."""
        (first, second), *others = set(self.pairs)
        if others or first == second:
            return None
        if second is not None:
            return Event(second, 1)
        assert first is not None
        return Event(first, 0)

    @property
    def alike(self) -> bool:
        """Whether both inputs end in the same way every time."""
        return all(pair == self.pairs[0] and pair[0] == pair[1] for pair in self.pairs)


def failures(run: Callable[[Side], object], where: str = "") -> Failures:
    """Runs both inputs once if both succeed, and again and again if not."""
    pairs, last = list[tuple[Raised | None, Raised | None]](), None
    for _ in range(AGAIN):
        (first, error), (second, other) = outcome(run, 0, where), outcome(run, 1, where)
        pairs.append((first, second))
        last = other or error or last
        if last is None:
            break
    return Failures(tuple(pairs), last)


def outcome(run: Callable[[Side], object], side: Side, where: str = "") -> tuple[Raised | None, Exception | None]:
    """Nothing, or how a run failed."""
    try:
        run(side)
    except Exception as error:
        return raised(error, where), error
    return None, None


def raised(error: Exception, where: str = "") -> Raised:
    """An error by its kind; what it says may hold values."""
    kind = type(error).__name__
    return Raised(f"{kind} because of a {error.kind}" if isinstance(error, MechanismFailed) else kind, where)
