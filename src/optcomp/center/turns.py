"""Whose turn it is: people take turns, each with one job at a time, however many jobs each of them sent.

A plain queue would let one person with sixty jobs hold up everybody who comes later.  Here whoever comes waits for at
most one job of each other person who waits.
"""

from __future__ import annotations

import asyncio
from collections import OrderedDict, deque
from collections.abc import Iterable

from optcomp.center.failures import Busy
from optcomp.center.processes import Runner
from optcomp.center.refusals import TooMany

Gate = asyncio.Future[Runner]
"""What a job waits at; it opens with a process."""
Person = int | None
"""By number; None is the centre itself."""
_QUEUE = 64
"""Jobs that may wait, beside four for each process."""
_AGAIN = 1.0
"""Seconds after which somebody with too many jobs may try again: by then some are likely done."""
_FULL = "too many questions wait; nothing was spent, ask again in a while"
"""What is told when all places are taken."""


class Turns:
    """Processes of one kind, and the jobs that wait for them."""

    def __init__(self, runners: Iterable[Runner], most_each: int) -> None:
        self.runners = tuple(runners)
        self.idle = deque(self.runners)
        self._most, self._most_each = 4 * len(self.runners) + _QUEUE, most_each
        self._waiting: OrderedDict[Person, deque[Gate]] = OrderedDict()

    @property
    def waiting(self) -> int:
        """How many jobs wait."""
        return sum(map(_open, self._waiting.values()))

    @property
    def working(self) -> int:
        """How many processes are at work."""
        return len(self.runners) - len(self.idle)

    def join(self, person: Person) -> Gate:
        """A place among those who wait: `TooMany` if this person has too many already, `Busy` if all are taken."""
        held = deque(gate for gate in self._waiting.get(person, ()) if not gate.done())
        if person is not None and len(held) >= self._most_each:
            words = f"{self._most_each} of your requests wait already; nothing was spent, wait for one of them"
            raise TooMany(_AGAIN, words)
        if self.waiting >= self._most:
            raise Busy(_FULL)
        gate: Gate = asyncio.get_running_loop().create_future()
        self._waiting[person] = held
        held.append(gate)
        return gate

    def next(self) -> Gate | None:
        """The job whose turn it is, if one waits; its person comes last now."""
        while self._waiting:
            person, gates = self._waiting.popitem(last=False)
            while gates:
                gate = gates.popleft()
                if not gate.done():
                    if gates:
                        self._waiting[person] = gates
                    return gate
        return None

    def refuse(self, words: str) -> None:
        """Tell all who wait that nobody will work for them."""
        while (gate := self.next()) is not None:
            gate.set_exception(Busy(words))


def _open(gates: Iterable[Gate]) -> int:
    return sum(not gate.done() for gate in gates)
