"""An accountant for Flower: what its protocol `PrivacyAccountant` asks for, answered with our bounds.

Flower 1.42 has the protocol, in `flwr.serverapp`.  Install Flower yourself: it pins versions of Typer that our command
line is too new for, so that no extra can name both; the accountant does not need Typer.
"""

from __future__ import annotations

import threading
from collections.abc import Mapping, Sequence

from optcomp.errors import InvalidInput
from optcomp.extras import needed

needed("flwr", "flower")  # looked for here, so that its absence is told in one place

from flwr.serverapp import GaussianPrivacyEvent, PrivacyConfig, PrivacySpent, SamplingMethod

from optcomp.composition import MOST_COPIES
from optcomp.guarantees import checked_epsilon
from optcomp.interop.steps import DrawnStep, Step, StepTotals
from optcomp.numerics import whole

NAME = "optcomp"
"""What `PrivacySpent.accounting_method` says."""
_VERSION = 1
"""Of the state dictionaries."""


class FlowerAccountant:
    """Client-level cost of rounds of noisy aggregation: never below the truth, rounding included.

    The noise of an event is over the clip norm of one client's update.  Samples without replacement are covered by
    ZDW22-11 for clients that are replaced, which move the sum by up to twice the clip norm: the population must be
    fixed and public, and every round must draw its clients anew and hear from all of them.
    """

    def __init__(self, config: PrivacyConfig) -> None:
        self._config, self._lock, self._totals = config, threading.RLock(), StepTotals()
        self._done: list[tuple[GaussianPrivacyEvent, int]] = []

    @property
    def config(self) -> PrivacyConfig:
        """What it was made for."""
        return self._config

    @property
    def num_releases(self) -> int:
        """How many noisy aggregations there were."""
        with self._lock:
            return sum(count for _, count in self._done)

    def compose(self, event: GaussianPrivacyEvent, count: int = 1) -> None:
        """One more noisy aggregation, or several alike."""
        checked = self._checked(event), whole(count, "count", 1, MOST_COPIES)
        with self._lock:
            self._done.append(checked)

    def get_epsilon(self, delta: float) -> float:
        """At least the ε spent so far at this δ."""
        return self._totals.epsilon(self._steps(), delta)

    def get_delta(self, epsilon: float) -> float:
        """At least the δ spent so far at this ε."""
        return self._totals.delta(self._steps(), epsilon)

    def get_privacy_spent(self, delta: float | None = None) -> PrivacySpent:
        """What was spent so far, at the δ of the configuration unless another is given."""
        target = self._config.target_delta if delta is None else delta
        return PrivacySpent(self.get_epsilon(target), target, self.num_releases, NAME)

    def would_exceed(self, event: GaussianPrivacyEvent, max_epsilon: float | None = None, count: int = 1) -> bool:
        """Whether so many more would go beyond the limit; nothing is added."""
        limit = self._config.max_epsilon if max_epsilon is None else max_epsilon
        if limit is None:
            raise InvalidInput("max_epsilon", None, "must be given here or in the configuration")
        more = self._step(self._checked(event), whole(count, "count", 1, MOST_COPIES))
        after = StepTotals().epsilon([*self._steps(), more], self._config.target_delta)
        return after > checked_epsilon(limit, "max_epsilon")

    def state_dict(self) -> dict[str, object]:
        """What was composed, for a checkpoint; JSON-ready."""
        with self._lock:
            rows = [[event.noise_multiplier, event.sample_size, count] for event, count in self._done]
        return {"version": _VERSION, "backend": NAME, "config": self._described(), "compositions": rows}

    def load_state_dict(self, state: Mapping[str, object]) -> None:
        """Go on from a checkpoint of the same configuration."""
        for name, value in (("version", _VERSION), ("backend", NAME), ("config", self._described())):
            if state.get(name) != value:
                raise InvalidInput(f"state[{name!r}]", state.get(name), f"must be {value!r}")
        rows = state.get("compositions")
        if not isinstance(rows, Sequence) or not all(isinstance(row, Sequence) and len(row) == 3 for row in rows):
            raise InvalidInput("state['compositions']", rows, "must be rows of noise, sample size and count")
        done = [
            (GaussianPrivacyEvent(noise, size, self._config.population_size), whole(count, "count", 1, MOST_COPIES))
            for noise, size, count in rows
        ]
        with self._lock:
            self._done = done

    def _described(self) -> dict[str, object]:
        config = self._config
        return {
            "target_delta": config.target_delta,
            "population_size": config.population_size,
            "neighboring_relation": config.neighboring_relation.value,
            "sampling_method": config.sampling_method.value,
            "max_epsilon": config.max_epsilon,
        }

    def _checked(self, event: GaussianPrivacyEvent) -> GaussianPrivacyEvent:
        if event.population_size != self._config.population_size:
            raise InvalidInput("event", event.population_size, f"must be about {self._config.population_size} clients")
        return event

    def _steps(self) -> list[Step | DrawnStep]:
        with self._lock:
            return [self._step(event, count) for event, count in self._done]

    def _step(self, event: GaussianPrivacyEvent, count: int) -> Step | DrawnStep:
        if self._config.sampling_method is SamplingMethod.WITHOUT_REPLACEMENT:
            return DrawnStep(event.noise_multiplier, event.sample_size, event.population_size, count)
        sampled = self._config.sampling_method is SamplingMethod.POISSON
        return event.noise_multiplier, event.sample_size / event.population_size if sampled else 1.0, count
