"""A fair queue: people take turns, however many jobs each of them sent.

A plain queue would let one person with sixty jobs hold up everybody who comes later.  Here the next place goes to the
person with the fewest jobs at work, and among these to the one whose last turn was longest ago.  What decides is how
many jobs somebody has, never how long they take: that may depend on rows.
"""

from __future__ import annotations

import asyncio
from collections import Counter, OrderedDict, deque
from collections.abc import Iterable
from typing import Generic, TypeVar

from optcomp.center.failures import Busy
from optcomp.center.refusals import TooMany

T = TypeVar("T")
Person = int | None
"""By number; None is the centre itself."""
_QUEUE = 64
"""Jobs that may wait, beside four for each place."""
_AGAIN = 1.0
"""Seconds after which somebody with too many jobs may try again: by then some are likely done."""
_FULL = "too many questions wait; nothing was spent, ask again in a while"
"""What is told when all places are taken."""


class Turns(Generic[T]):
    """Places of one kind, such as processes, and the jobs that wait for them."""

    def __init__(self, places: Iterable[T], most_each: int) -> None:
        self.places = tuple(places)
        self._idle = deque(self.places)
        self._most, self._most_each = 4 * len(self.places) + _QUEUE, most_each
        self._waiting: OrderedDict[Person, deque[asyncio.Future[T]]] = OrderedDict()
        self._holders: dict[T, Person] = {}
        self._held = Counter[Person]()

    @property
    def waiting(self) -> int:
        """How many jobs wait."""
        return sum(map(_open, self._waiting.values()))

    @property
    def working(self) -> int:
        """How many places are taken."""
        return len(self.places) - len(self._idle)

    def take(self, person: Person) -> asyncio.Future[T]:
        """A place, or where it is waited for: `TooMany` if this person waits too often, `Busy` if too many wait."""
        gate: asyncio.Future[T] = asyncio.get_running_loop().create_future()
        if self._idle:
            self._give(self._idle.popleft(), person, gate)
            return gate
        held = deque(each for each in self._waiting.get(person, ()) if not each.done())
        if person is not None and len(held) >= self._most_each:
            words = f"{self._most_each} of your requests wait already; nothing was spent, wait for one of them"
            raise TooMany(_AGAIN, words)
        if self.waiting >= self._most:
            raise Busy(_FULL)
        self._waiting[person] = held
        held.append(gate)
        return gate

    def _give(self, place: T, person: Person, gate: asyncio.Future[T]) -> None:
        self._holders[place] = person
        self._held[person] += 1
        gate.set_result(place)

    def give_back(self, place: T) -> None:
        """A place is free: it goes to whose turn it is, if anybody waits."""
        self._held[self._holders.pop(place)] -= 1
        self._held = +self._held
        self._forget_cancelled()
        if not self._waiting:
            self._idle.append(place)
            return
        person = min(self._waiting, key=self._held.__getitem__)  # the first of several: the longest ago
        gates = self._waiting.pop(person)
        self._give(place, person, gates.popleft())
        if gates:
            self._waiting[person] = gates

    def _forget_cancelled(self) -> None:
        for person, gates in list(self._waiting.items()):
            while gates and gates[0].done():
                gates.popleft()
            if not gates:
                del self._waiting[person]

    def refuse(self, words: str) -> None:
        """Tell all who wait that nobody will work for them."""
        waiting, self._waiting = self._waiting, OrderedDict()
        for gate in (gate for gates in waiting.values() for gate in gates):
            if not gate.done():
                gate.set_exception(Busy(words))


def _open(gates: Iterable[asyncio.Future[T]]) -> int:
    return sum(not gate.done() for gate in gates)
