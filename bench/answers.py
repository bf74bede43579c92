"""What a contender says, and what came of asking."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

from bench.instances import Instance


@dataclass(frozen=True)
class Answer:
    """The ε a user would publish, the lower side if there is one, and how it was found."""

    epsilon: float
    lower: float | None = None
    how: str = ""
    reached: bool = True
    """Whether the accuracy asked for was reached."""

    @property
    def width(self) -> float | None:
        """Relative width of the bracket, if there is one."""
        if self.lower is None:
            return None
        return (self.epsilon - self.lower) / self.epsilon if self.epsilon else 0.0


@dataclass(frozen=True)
class Contender:
    """One package in one configuration."""

    name: str
    ask: Callable[[Instance], Answer]
    fits: Callable[[Instance], bool] = lambda instance: True
    """Instances to ask it; the others would repeat another row or be beside the point."""


@dataclass(frozen=True)
class Outcome:
    """Seconds of the call and its answer, or the reason why there is none."""

    seconds: float | None
    answer: Answer | None
    failure: str = ""
    """Why there is no answer."""
    slow: bool = False
    """Too slow to be asked again about the same mechanisms."""
    hopeless: bool = False
    """Ran into the time limit: not asked about larger instances either."""
    cpu: float | None = None
    """Seconds of processor time, which other work on the machine hardly changes."""
    first: float | None = None
    """The same of the first of several calls alone."""

    @property
    def width(self) -> float | None:
        """That of the answer."""
        return None if self.answer is None else self.answer.width
