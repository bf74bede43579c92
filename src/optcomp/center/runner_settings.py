"""What runners must know of the settings, and whom they tell what a job took."""

from __future__ import annotations

from pathlib import Path
from typing import Protocol

from optcomp.center.processes import Workplace

_LEAST_LEASE = 30.0
"""Seconds that a process may work on a request before others may take it over, at least."""


class RunnerSettings(Protocol):
    """What is needed of the settings."""

    @property
    def home(self) -> Path:
        """The folder of the centre."""

    @property
    def ledger(self) -> str:
        """Its address."""

    @property
    def private(self) -> Path:
        """The folder with the keys of the ledger."""

    @property
    def witness(self) -> str | None:
        """The witness of the ledger, if it has one."""

    @property
    def seconds(self) -> float:
        """That one job may take."""

    @property
    def runners(self) -> int:
        """How many processes answer questions."""

    @property
    def readers(self) -> int:
        """How many processes do free work: at least one, also if this is 0."""

    @property
    def waiting(self) -> int:
        """Jobs of one person that may wait for questions, and as many for free work."""

    @property
    def memory(self) -> int:
        """Megabytes that a process may take beyond what it has when it starts; 0 is no limit."""

    @property
    def free_seconds(self) -> float:
        """Of a processor that a free job may take."""

    @property
    def free_memory(self) -> int:
        """Megabytes, as `memory`, for processes that do free work."""


class Meter(Protocol):
    """What a person's free jobs have taken of processors."""

    async def check(self) -> None:
        """Refuse a job whose turn has come, if they have taken too much."""

    async def add(self, seconds: float) -> None:
        """So many seconds of a processor more."""


def workplace(settings: RunnerSettings) -> Workplace:
    """What a process that answers is told when it starts."""
    lease = max(_LEAST_LEASE, settings.seconds + 5)
    databases = tuple(getattr(settings, "databases", ()))
    about = settings.home, settings.ledger, settings.private, lease, settings.witness
    return Workplace(*about, databases, settings.memory)
