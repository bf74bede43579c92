"""Three analysts who share everything that they are told, and ask what the answers so far suggest.

All of them want to know which of two neighbouring tables the centre has.  Two ask for the same count, and one has a
sparse vector; who asks next and how much is spent is decided by all answers so far, and sometimes two ask at once.
Whatever costs nothing is tried too: the same key again, and fresh noise when a slot is spent.  If that tells anything
new, it is tried until they are sure.
"""

from __future__ import annotations

import asyncio
import random
from dataclasses import dataclass, field
from fractions import Fraction
from typing import Any

from optcomp.interactive import SparseVector
from optcomp.statistics import Count
from tests.campaign.asgi_center import SLOTS, SOUTH, AsgiCenter, Trial

_COUNT = Count("region == 'south'")
_WHOLE = {name: Fraction(epsilon) for name, (epsilon, _) in SLOTS.items()}
_GUARD = "cho"
"""Who has the sparse vector."""
_BITS = 6
"""Questions to it, unless it closes before."""
_FIRST = "ada"
"""Who has most."""
_SAME = 8
"""So often the same answer to the question of who has most, and they believe that there is no other."""
_TWICE = 2
"""The same for the others."""
_SURE = 12.0
"""The score, or minus the score, from which on they ask for no more free answers."""
_ENOUGH = 200
"""Free answers to a question of ε = 1, at most: the more an answer tells, the more are worth having."""
_FREE = 15
"""Answers that they take from a slot that is spent, where there are any."""


class WrongOutcome(Exception):
    """The centre did something that it must not do, whatever the data are."""


@dataclass
class Colluders:
    """One trial: what they know together, and what each of them has left."""

    center: AsgiCenter
    trial: Trial
    choice: random.Random
    score: float = 0.0
    """For the second table, against the first: the logarithm of how much likelier all counts are."""
    left: dict[str, Fraction] = field(default_factory=dict)
    free: int = 0
    """Answers that nobody paid for."""
    _asked: int = 0
    _mechanism: int | None = None
    _bits: int = 0

    async def play(self) -> float:
        """Spend everything; the score at the end."""
        self.left = dict(_WHOLE)
        while turns := [name for name in self.trial.seats if self.left[name] or (name == _GUARD and self._open)]:
            together = self.choice.sample(turns, min(len(turns), 1 + (self.choice.random() < 0.25)))
            await asyncio.gather(*(self._turn(name) for name in together))
        for name in self.trial.seats:
            await self._refused(name)
        return self.score

    @property
    def _open(self) -> bool:
        return self._mechanism is not None and self._bits < _BITS

    async def _turn(self, name: str) -> None:
        await (self._guard(name) if name == _GUARD else self._count(name))

    async def _count(self, name: str) -> None:
        """All that is left, unless it is little and the answers so far have decided already."""
        all_of_it = name == _FIRST or abs(self.score) < 0.5
        share = self.left[name] if all_of_it else min(self.left[name], _WHOLE[name] / 2)
        self.left[name] -= share
        self._asked += 1
        body = {"question": _question(share), "key": f"{name} {self._asked}"}
        first = await self._answer(name, body)
        self._learn(first, share)
        again = [await self._answer(name, body) for _ in range((_SAME if name == _FIRST else _TWICE) - 1)]
        if set(again) == {first}:
            return
        for _ in range(int(_ENOUGH * share**2)):
            self._learn(again.pop() if again else await self._answer(name, body), share)
            self.free += 1
            if abs(self.score) >= _SURE:
                return

    async def _answer(self, name: str, body: dict[str, Any]) -> float:
        found = await self.center.post(name, f"seats/{self.trial.seats[name]}/questions", body)
        if found.status_code != 200:
            raise WrongOutcome(f"a question was not answered: {found.text}")
        return float(found.json()["value"])

    async def _refused(self, name: str) -> None:
        """Nothing is left: fresh noise costs more than that."""
        share, path = Fraction(1), f"seats/{self.trial.seats[name]}/questions"
        for number in range(1, _FREE + 1):
            body = {"question": _question(share), "key": f"{name} more {number}", "repeat": number}
            found = await self.center.post(name, path, body)
            if found.status_code == 409 and found.json()["error"] == "budget_exceeded":
                return
            if found.status_code != 200:
                raise WrongOutcome(f"{found.status_code} instead of a refusal: {found.text}")
            self._learn(float(found.json()["value"]), share)
            self.free += 1

    async def _guard(self, name: str) -> None:
        """Open the sparse vector with the whole slot, then ask it one question after another."""
        path = f"seats/{self.trial.seats[name]}/mechanisms"
        if self.left[name]:
            self.left[name] = Fraction(0)
            sparse = SparseVector(epsilon=_WHOLE[name], threshold=SOUTH + 1, sensitivity=1, positives=1, monotone=True)
            opened = await self.center.post(name, path, {"mechanism": sparse.document()})
            if opened.status_code != 200:
                raise WrongOutcome(f"a mechanism was not opened: {opened.text}")
            self._mechanism = opened.json()["mechanism"]
            return
        body = {"ask": {"statistic": _COUNT.document()}, "key": f"bit {self._bits}", "repeat": self._bits}
        found = await self.center.post(name, f"{path}/{self._mechanism}/questions", body)
        if found.status_code != 200:
            raise WrongOutcome(f"a sparse vector did not answer: {found.text}")
        self._bits = _BITS if found.json()["answer"] else self._bits + 1
        self.score += 0.15 if found.json()["answer"] else -0.05

    def _learn(self, value: float, epsilon: Fraction) -> None:
        self.score += float(epsilon) * (abs(value - SOUTH) - abs(value - SOUTH - 1))


def _question(epsilon: Fraction) -> dict[str, Any]:
    return {"statistic": _COUNT.document(), "noise": "laplace", "epsilon": str(epsilon)}
