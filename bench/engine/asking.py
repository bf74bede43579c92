"""Ask once, remember the answer."""

from __future__ import annotations

import math
from dataclasses import dataclass, field

from rich.status import Status

from bench.answers import Answer, Outcome
from bench.instances import Instance
from bench.ours import AUTO, FINE
from bench.references import contour_root, halves
from bench.rows import duration
from bench.truth import SLACK, Truth
from bench.worker import Worker


@dataclass
class Asker:
    """Every answer of this run; several tables show some of them."""

    worker: Worker
    status: Status
    quick: bool
    known: dict[tuple[str, str, float], Outcome] = field(default_factory=dict)

    def ask(self, name: str, instance: Instance) -> Outcome:
        key = name, instance.group, instance.delta
        if key not in self.known:
            self.status.update(f"{instance.group}, δ = {instance.delta:g}: {name}")
            self.known[key] = self.worker.ask(name, instance)
        return self.known[key]

    def default(self, instance: Instance) -> Outcome:
        return self.ask(AUTO, instance)

    def fine(self, instance: Instance) -> Outcome:
        return self.ask(FINE.name, instance)


def bracket(outcome: Outcome) -> Truth | None:
    """Our bracket as the truth."""
    answer = outcome.answer
    return None if answer is None or answer.lower is None else Truth(answer.lower, answer.epsilon, "")


def confirmed(instance: Instance, answer: Answer | None) -> bool | None:
    """Whether an independent computation in floats agrees with our bracket; None where floats give no answer."""
    if answer is None or answer.lower is None:
        return False
    low, high = answer.lower * (1 - SLACK), answer.epsilon * (1 + SLACK)
    if instance.check == "halves":
        delta = halves(instance)
        return delta(low) >= instance.delta and (high >= instance.total or delta(high) <= instance.delta)
    try:
        return low <= contour_root(instance) <= high
    except ValueError:
        return None


def time_cell(outcome: Outcome) -> str:
    return "–" if outcome.seconds is None else duration(outcome.seconds)


def cpu_cell(outcome: Outcome) -> str:
    return "–" if outcome.cpu is None else duration(outcome.cpu)


def width_cell(outcome: Outcome) -> str:
    return "–" if outcome.width is None else "∞" if math.isinf(outcome.width) else f"{outcome.width:.1e}"
