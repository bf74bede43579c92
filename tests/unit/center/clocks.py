"""A clock that a test moves, in place of `time` and `asyncio.sleep` of one module of the centre."""

from __future__ import annotations

import asyncio
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from types import ModuleType, SimpleNamespace
from unittest.mock import patch

TICK = 0.125
"""Seconds that pass whenever somebody looks at the clock; exact in binary, as all sums of it are."""


@dataclass
class Clock:
    """Time passes only when somebody looks at it, or sleeps."""

    now: float = 1000.0
    looks: list[float] = field(default_factory=list)
    """What it showed."""
    woken: list[float] = field(default_factory=list)
    """When somebody woke up."""

    def monotonic(self) -> float:
        self.now += TICK
        self.looks.append(self.now)
        return self.now

    perf_counter = monotonic

    async def sleep(self, seconds: float) -> None:
        self.now += seconds
        self.woken.append(self.now)
        await asyncio.sleep(0)

    @contextmanager
    def within(self, module: ModuleType) -> Iterator[None]:
        """Be the clock of a module."""
        with (
            patch.object(module, "time", self),
            patch.object(module, "asyncio", SimpleNamespace(**(vars(asyncio) | {"sleep": self.sleep}))),
        ):
            yield
