"""What can be audited: a mechanism, its claim, and a way to run it on either of two neighbouring inputs.

`run(side, trials)` gives one feature for each of `trials` runs that are independent of each other and of every other
call.  A feature is what an attacker keeps of an output: anything hashable, computed from the output alone.  Features
that are numbers are compared by size as well.

A run may also fail, and that is an output like any other.  `probes` are further pairs of inputs, made to make it fail:
of these only whether they fail is looked at.
"""

from __future__ import annotations

from collections.abc import Callable, Hashable, Iterable
from dataclasses import dataclass
from typing import Literal

from optcomp.errors import InvalidGuarantee, InvalidInput, Written
from optcomp.numerics import Exact, exact

Side = Literal[0, 1]
"""The first or the second of the two neighbouring inputs."""

TRIALS = 100_000
"""Runs on each input unless told otherwise."""


@dataclass(frozen=True)
class Probe:
    """Two more neighbouring inputs; whether a run on them fails must not differ."""

    name: str
    run: Callable[[Side], object]


@dataclass(frozen=True, kw_only=True, repr=False)
class Auditable(Written):
    """A mechanism on two neighbouring inputs, and the (ε, δ) it claims for them."""

    name: str
    epsilon: Exact
    delta: Exact = 0.0
    description: str
    source: str
    """Where the mechanism comes from."""
    private: bool
    """Whether the claim is believed; False for mechanisms known to be broken."""
    run: Callable[[Side, int], Iterable[Hashable]]
    trials: int = TRIALS
    """Runs on each input unless told otherwise; fewer where a run is slow."""
    probes: Callable[[], Iterable[Probe]] = tuple
    """Looked at before anything is counted."""

    def __post_init__(self) -> None:
        if not exact(self.epsilon, "epsilon", InvalidGuarantee) >= 0:
            raise InvalidGuarantee("epsilon", self.epsilon, "must not be negative")
        if not 0 <= exact(self.delta, "delta", InvalidGuarantee) < 1:
            raise InvalidGuarantee("delta", self.delta, "must be at least 0 and less than 1")

    def features(self, side: Side, trials: int) -> list[Hashable]:
        """The features of that many runs; refuses a mechanism that gives more or fewer."""
        found = list(self.run(side, trials))
        if len(found) != trials:
            raise InvalidInput("run", len(found), f"must give one feature for each of {trials} runs of {self.name}")
        return found
