"""One row for one contender on one instance, and the rules for what it says."""

from __future__ import annotations

import math
from dataclasses import dataclass

from bench.answers import Outcome
from bench.instances import Instance
from bench.truth import Truth

BELOW = "below the truth"


@dataclass(frozen=True)
class Row:
    """A measured answer, ready to be shown."""

    instance: Instance
    contender: str
    outcome: Outcome
    truth: Truth | None
    ours: float | None
    """Seconds that our own row took on the same instance."""

    @property
    def excess(self) -> float | None:
        answer = self.outcome.answer
        if answer is None or self.truth is None or not math.isfinite(answer.epsilon):
            return None
        return self.truth.excess(answer.epsilon)

    @property
    def ratio(self) -> float | None:
        return self.outcome.seconds / self.ours if self.outcome.seconds is not None and self.ours else None

    @property
    def sound(self) -> bool:
        return self.excess is not None and self.excess >= 0

    def cells(self) -> tuple[str, ...]:
        """Contender, time, ε, excess, ratio, remarks."""
        answer, excess = self.outcome.answer, self.excess
        return (
            self.contender,
            "–" if self.outcome.seconds is None else duration(self.outcome.seconds),
            "–" if answer is None else number(answer.epsilon),
            "–" if excess is None else signed(excess),
            "–" if self.ratio is None else f"{self.ratio:.2g}" if self.ratio < 10 else f"{self.ratio:.0f}",
            "; ".join(self.remarks()),
        )

    def remarks(self) -> list[str]:
        answer = self.outcome.answer
        if answer is None:
            return [short(self.outcome.failure)]
        remarks = [answer.how] if answer.how else []
        if math.isinf(answer.epsilon):
            remarks.append("no finite answer")
        if self.excess is not None and self.excess < 0:
            remarks.append(f"**{BELOW}**")
        return remarks + self._bracket()

    def _bracket(self) -> list[str]:
        answer = self.outcome.answer
        if answer is None or answer.lower is None:
            return []
        if answer.epsilon > 0 and answer.lower > 0 and answer.epsilon / answer.lower - 1 < 1e-8:
            return [f"bracket of relative width {answer.epsilon / answer.lower - 1:.0e}"]
        outside = self.truth is not None and answer.lower > self.truth.upper
        return [f"from {number(answer.lower)}" + (" — **above the truth**" if outside else "")]


def duration(seconds: float) -> str:
    """Two significant digits with a fitting unit."""
    for unit, size in (("s", 1.0), ("ms", 1e-3), ("µs", 1e-6)):
        if seconds >= size:
            value = seconds / size
            return f"{value:.2g} {unit}" if value < 10 else f"{value:.0f} {unit}"
    return "< 1 µs"


def signed(excess: float) -> str:
    """A relative difference with its sign."""
    return "0" if excess == 0 else f"{excess:+.1e}"


def number(value: float) -> str:
    """Ten significant digits, or ∞."""
    return "∞" if math.isinf(value) else f"{value:.10g}"


def short(reason: str) -> str:
    first = " ".join(reason.split())
    return first if len(first) <= 90 else first[:87] + "…"
