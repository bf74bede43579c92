"""A training run as people have it: examples, batch, epochs, noise; and as it is counted: rate, steps, noise.

rate  = batch / examples                every example is in a batch with this probability
steps = ⌈epochs · examples / batch⌉     noise is added once in each
noise = σ times the clip norm           of the sum of clipped gradients
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from fractions import Fraction

from optcomp.composition import MOST_COPIES, Item
from optcomp.errors import InvalidInput
from optcomp.guarantees import Gaussian, PoissonSubsampled, WithoutReplacement
from optcomp.numerics import DEEP_BITS, Exact, Number, exact, whole
from optcomp.training.kinds import ADD_REMOVE, POISSON, REPLACE, ZERO_OUT, Batches, Neighbours

_MOST_EXAMPLES = 10**12
"""More examples than anybody has."""
_MOST_GROUP = 1000
"""Examples of one person beyond which nothing is left to prove."""


@dataclass(frozen=True)
class Schedule:
    """How often and at which rate: derived from what was given."""

    rate: Fraction
    steps: int
    told: int | None = None
    """Passes over the data, where a person said how many."""

    def passes(self, steps: int) -> int:
        """How often an example is used at most, if every pass uses each once and perhaps leaves out a last batch."""
        most = math.ceil(Fraction(steps, math.floor(1 / self.rate)))
        return most if self.told is None else min(most, self.told)

    @property
    def epochs(self) -> Fraction:
        """How many passes over the data the steps amount to, on average."""
        return self.rate * self.steps


@dataclass(frozen=True)
class Phase:
    """Some steps with the same noise at the same rate."""

    sigma: Exact
    schedule: Schedule

    def __init__(self, sigma: Number, schedule: Schedule) -> None:
        object.__setattr__(self, "sigma", exact(sigma, "sigma"))
        object.__setattr__(self, "schedule", schedule)


@dataclass(frozen=True)
class TrainingRun:
    """Phases one after another, how batches are drawn, and who is protected."""

    phases: tuple[Phase, ...]
    batches: Batches = POISSON
    neighbours: Neighbours = ADD_REMOVE
    group: int = 1
    """Examples of one person."""
    examples: int | None = None

    def __post_init__(self) -> None:
        whole(self.group, "group", 1, _MOST_GROUP)
        if self.batches.by_passes and self.neighbours is ADD_REMOVE:
            words = "must be zero-out or replace with shuffled or fixed batches, which an added example would shift"
            raise InvalidInput("neighbours", self.neighbours.name, words)
        if self.batches.only_replace and self.neighbours is not REPLACE:
            raise InvalidInput("neighbours", self.neighbours.name, "must be replace with batches of a fixed size")
        if self.batches.only_replace and self.phases and self.examples is None:
            raise InvalidInput("examples", None, "must be given with batches of a fixed size")

    @property
    def direct(self) -> bool:
        """Whether the mechanisms already speak about all that is protected; else groups follow by GROUP."""
        return self.group == 1 or self.plain

    @property
    def steps(self) -> int:
        """Steps of all phases."""
        return sum(phase.schedule.steps for phase in self.phases)

    @property
    def plain(self) -> bool:
        """Whether no step samples: then a group only moves the sum further."""
        return self.batches.by_passes or all(phase.schedule.rate == 1 for phase in self.phases)

    def counts(self, share: Fraction = Fraction(1)) -> dict[Item, int]:
        """The mechanisms of the run, or of its first part.

        Groups are in the sensitivity where no step samples, and follow by GROUP otherwise.
        """
        found: dict[Item, int] = {}
        left = math.ceil(share * self.steps)
        for phase in self.phases:
            steps = min(left, phase.schedule.steps)
            left -= steps
            if steps:
                item = self._mechanism(phase)
                found[item] = found.get(item, 0) + (phase.schedule.passes(steps) if self.batches.by_passes else steps)
        return found

    def _mechanism(self, phase: Phase) -> Item:
        moves, rate = self.neighbours.moves, phase.schedule.rate
        if self.plain:
            return Gaussian(phase.sigma, self.group * moves)
        if self.batches.only_replace:
            population = whole(self.examples, "examples", 1, _MOST_EXAMPLES)
            batch = rate * population
            if batch.denominator != 1:
                raise InvalidInput("rate", float(rate), f"must make a whole batch out of {population} examples")
            return WithoutReplacement(Gaussian(phase.sigma, moves), int(batch), population)
        if moves > 1:
            return PoissonSubsampled(Gaussian(phase.sigma), rate, "replace")
        return Gaussian(phase.sigma) if rate == 1 else PoissonSubsampled(Gaussian(phase.sigma), rate)


def schedule_of(
    *,
    examples: Number | None = None,
    batch: Number | None = None,
    epochs: Number | None = None,
    rate: Number | None = None,
    steps: Number | None = None,
    accumulate: int = 1,
) -> Schedule:
    """Rate and steps from what is given: `examples` and `batch`, or `rate`; and `epochs` or `steps`.

    With `accumulate` the batch is a physical one, and noise is added once for so many of them.
    """
    if (rate is None) == (batch is None):
        raise InvalidInput("rate", rate, "exactly one of rate and batch must be given")
    if (epochs is None) == (steps is None):
        raise InvalidInput("steps", steps, "exactly one of steps and epochs must be given")
    share = _rate(examples, batch, accumulate) if rate is None else Fraction(exact(rate, "rate")) * accumulate
    if not 0 < share <= 1:
        name, value = ("rate", rate) if batch is None else ("batch", batch)
        raise InvalidInput(name, value, f"makes a rate of {float(share):g}, which must lie between 0 and 1")
    if steps is not None:
        return Schedule(share, _whole(steps, "steps", MOST_COPIES))
    passes = Fraction(exact(epochs if epochs is not None else 0, "epochs"))
    if not passes > 0:
        raise InvalidInput("epochs", epochs, "must be positive")
    return Schedule(share, whole(math.ceil(passes / share), "epochs", 1, MOST_COPIES), math.ceil(passes))


def _rate(examples: Number | None, batch: Number | None, accumulate: int) -> Fraction:
    if examples is None:
        raise InvalidInput("examples", examples, "must be given with a batch")
    number = _whole(examples, "examples", _MOST_EXAMPLES)
    return Fraction(_whole(batch, "batch", _MOST_EXAMPLES) * accumulate, number)


def _whole(value: object, argument: str, most: int) -> int:
    """A whole number, also one that is written 6e4."""
    number = Fraction(exact(value, argument))  # what is no number is refused there
    return whole(int(number) if number.denominator == 1 else value, argument, 1, most)


def joint_noise(sigma: Number, second: Number) -> Fraction:
    r"""The noise of one query that says as much as two on the same sample, rounded down: (σ^{-2} + τ^{-2})^{-1/2}.

    Adaptive clipping asks a second query in every step, how many gradients were clipped; τ is its noise over how far
    one example moves that count (1/2 if examples count as +1/2 or -1/2).
    """
    one, two = (Fraction(exact(value, name)) for value, name in ((sigma, "sigma"), (second, "count_sigma")))
    for value, name in ((one, "sigma"), (two, "count_sigma")):
        if not value > 0:
            raise InvalidInput(name, float(value), "must be positive")
    square = 1 / (1 / one**2 + 1 / two**2)
    return Fraction(math.isqrt(math.floor(square * 4**DEEP_BITS)), 2**DEEP_BITS)


def neighbours_for(batches: Batches, given: Neighbours | None) -> Neighbours:
    """Those that were given; else those that are natural for the batches."""
    if given is not None:
        return given
    return REPLACE if batches.only_replace else ZERO_OUT if batches.by_passes else ADD_REMOVE
