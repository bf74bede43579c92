"""Ask every contender about every instance, with patience for the slow."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field

from rich.console import Console

from bench import truth
from bench.answers import Contender, Outcome
from bench.instances import Instance
from bench.ours import AUTO
from bench.rows import Row
from bench.worker import Worker


@dataclass
class Patience:
    """Who need not be asked again: slow on the same mechanisms, or out of time on fewer of them."""

    slow: dict[tuple[str, str], str] = field(default_factory=dict)
    hopeless: dict[str, str] = field(default_factory=dict)

    def refuses(self, name: str, instance: Instance) -> str | None:
        """The reason not to ask, if there is one."""
        return self.slow.get((name, instance.group)) or (self.hopeless.get(name) if instance.homogeneous else None)

    def learn(self, name: str, instance: Instance, outcome: Outcome) -> None:
        told = outcome.failure if outcome.seconds is None else f"{outcome.seconds:.0f} s"
        if outcome.slow:
            self.slow[name, instance.group] = f"not run again: {told} at δ = {instance.delta:g}"
        if outcome.hopeless and instance.homogeneous:
            self.hopeless[name] = f"not run: {told} for {instance.group}"


def measure(
    contenders: Sequence[Contender], instances: Iterable[Instance], limit: float, console: Console
) -> list[Row]:
    """All rows of one table; the first contender is the one that the others' times are compared with."""
    rows, patience = [], Patience()
    with Worker(limit) as worker, console.status("") as status:
        for instance in instances:
            outcomes = {}
            for contender in contenders:
                status.update(f"{instance.group}, δ = {instance.delta:g}: {contender.name}")
                if contender.fits(instance):
                    outcomes[contender.name] = _ask(contender.name, instance, worker, patience)
            rows += _rows(instance, outcomes)
    return rows


def _ask(name: str, instance: Instance, worker: Worker, patience: Patience) -> Outcome:
    reason = patience.refuses(name, instance)
    if reason is not None:
        return Outcome(None, None, reason)
    outcome = worker.ask(name, instance)
    patience.learn(name, instance, outcome)
    return outcome


def _rows(instance: Instance, outcomes: dict[str, Outcome]) -> list[Row]:
    first = next(iter(outcomes.values()))
    ours = outcomes.get(AUTO, first)
    found = truth.find(instance, ours.answer)
    return [Row(instance, name, outcome, found, first.seconds) for name, outcome in outcomes.items()]
