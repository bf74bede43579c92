"""From events of dp-accounting to our guarantees, each exactly or not at all.

An event that holds others is taken apart and counts multiply, so that an event repeated n times is always the same as n
events.  Only the classes of dp-accounting itself are read: a class derived from one of them may mean something else.
Some classes came after release 0.6.0; they are known by name and looked up when an event arrives.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from enum import Enum
from fractions import Fraction

from dp_accounting import dp_event

from optcomp.composition import MOST_COPIES
from optcomp.errors import InvalidInput
from optcomp.guarantees import (
    ZCDP,
    ApproxDP,
    DiscreteGaussian,
    DiscreteLaplace,
    Exponential,
    Gaussian,
    Guarantee,
    KnownLoss,
    Laplace,
    Neighbours,
    PoissonSubsampled,
    PureDP,
    RandomizedResponse,
    RenyiBounded,
    WithoutReplacement,
)
from optcomp.interop.refusal import UnsupportedEvent
from optcomp.interop.relations import Relation, moves, relation_or_own
from optcomp.numerics import DEEP_BITS, Exact, ball, exact, float_up, precision, whole

Part = Guarantee | KnownLoss | RenyiBounded
_MOST_WHOLE = 10**9
"""A sensitivity or a number of answers beyond this is taken for a slip."""
_MOST_PEOPLE = 10**15
"""A data set that is larger is taken for a slip."""


class Extreme(Enum):
    """What an event may be instead of a guarantee."""

    NOTHING = "costs no privacy"
    EVERYTHING = "keeps nothing private"


@dataclass
class Account:
    """What the events read so far amount to."""

    counts: dict[Part, int] = field(default_factory=dict)
    naked: dp_event.DpEvent | None = None
    """The first event that keeps nothing private, if there is one."""

    def add(self, event: dp_event.DpEvent, count: int, relation: Relation) -> None:
        """One more leaf, `count` times."""
        found = translated(event, relation)
        if found is Extreme.EVERYTHING:
            self.naked = event if self.naked is None else self.naked
        elif not isinstance(found, Extreme):
            self.counts[found] = _copies(event, self.counts.get(found, 0) + count)


def from_event(event: dp_event.DpEvent, *, neighboring_relation: Relation | None = None) -> dict[Part, int]:
    """The guarantees that an event stands for, with their counts: what `compose` takes.

    Without a relation, noise is about adding or removing a record and randomized response about replacing one; an
    event that holds both needs to be told.
    """
    if not isinstance(event, dp_event.DpEvent):
        raise InvalidInput("event", event, "must be a DpEvent of dp-accounting")
    found = list(leaves(event))
    relation = relation_or_own(neighboring_relation, (type(leaf) for leaf, _ in found), _RESPONSE, _NOISE)
    account = Account()
    for leaf, count in found:
        account.add(leaf, count, relation)
    if account.naked is not None:
        raise UnsupportedEvent("event", account.naked, "it keeps nothing private, and no guarantee says that")
    return account.counts


def leaves(event: dp_event.DpEvent, count: int = 1) -> Iterator[tuple[dp_event.DpEvent, int]]:
    """The events that hold no others by composition, from left to right; those that happen no time are left out."""
    waiting = [(event, count)]
    while waiting:
        event, count = waiting.pop()
        if type(event) is dp_event.SelfComposedDpEvent:
            waiting.append((event.event, _copies(event, count * _copies(event, event.count))))
        elif type(event) is dp_event.ComposedDpEvent:
            if not isinstance(event.events, list | tuple):
                raise UnsupportedEvent("event", event, "events must be a list")
            waiting.extend((inner, count) for inner in reversed(event.events))
        elif count:
            yield event, count


def _copies(event: dp_event.DpEvent, count: object) -> int:
    try:
        return whole(count, "count", 0, MOST_COPIES)
    except InvalidInput as error:
        raise UnsupportedEvent("event", event, str(error)) from None


def translated(event: dp_event.DpEvent, relation: Relation) -> Part | Extreme:
    """The guarantee that says what a leaf says."""
    name = type(event).__name__
    if type(event) is not getattr(dp_event, name, None):
        raise UnsupportedEvent("event", event, "it is not one of dp-accounting's own events")
    if name not in _READERS:
        raise UnsupportedEvent("event", event, _REASONS.get(name, "no guarantee of optcomp says the same"))
    try:
        return _READERS[name](event, relation)
    except UnsupportedEvent:
        raise
    except InvalidInput as error:  # a parameter out of range, or not a number
        raise UnsupportedEvent("event", event, str(error)) from error


def _nothing(_: dp_event.DpEvent, __: Relation) -> Extreme:
    return Extreme.NOTHING


def _everything(_: dp_event.DpEvent, __: Relation) -> Extreme:
    return Extreme.EVERYTHING


def _gaussian(event: dp_event.DpEvent, relation: Relation) -> Part | Extreme:
    noise = exact(event.noise_multiplier, "noise_multiplier")
    return Gaussian(noise, float(moves(relation))) if noise else Extreme.EVERYTHING


def _laplace(event: dp_event.DpEvent, relation: Relation) -> Part | Extreme:
    noise = exact(event.noise_multiplier, "noise_multiplier")
    return Laplace(noise, float(moves(relation))) if noise else Extreme.EVERYTHING


def _discrete_laplace(event: dp_event.DpEvent, relation: Relation) -> Part:
    """Its parameter is the inverse of our scale: weight e^{-a|x|} on whole numbers."""
    inverse = exact(event.noise_parameter, "noise_parameter")
    if not inverse > 0:
        raise InvalidInput("noise_parameter", event.noise_parameter, "must be positive")
    return DiscreteLaplace(
        1 / Fraction(inverse), moves(relation) * whole(event.sensitivity, "sensitivity", 1, _MOST_WHOLE)
    )


def _discrete_gaussian(event: dp_event.DpEvent, relation: Relation) -> Part:
    """In one dimension only: in more, several coordinates at once can lose more than one alone."""
    if event.dimension != 1:
        raise UnsupportedEvent("event", event, "only one dimension has a known loss; dimension must be 1")
    sensitivity = Fraction(exact(event.sensitivity, "sensitivity"))
    if sensitivity.denominator != 1:
        raise InvalidInput("sensitivity", event.sensitivity, "must be whole")
    return DiscreteGaussian(event.sigma, moves(relation) * int(sensitivity))


def _epsilon_delta(event: dp_event.DpEvent, _: Relation) -> Part | Extreme:
    eps, delta = exact(event.epsilon, "epsilon"), exact(event.delta, "delta")
    if delta == 1:
        return Extreme.EVERYTHING
    if not eps and not delta:
        return Extreme.NOTHING
    return ApproxDP(eps, delta) if delta else PureDP(eps)


def _zcdp(event: dp_event.DpEvent, _: Relation) -> Part | Extreme:
    if exact(event.xi, "xi"):
        raise UnsupportedEvent("event", event, "xi must be 0: D_α <= ξ + ρα is not a notion of optcomp")
    return ZCDP(event.rho) if exact(event.rho, "rho") else Extreme.NOTHING


def _exponential(event: dp_event.DpEvent, _: Relation) -> Part | Extreme:
    return Exponential(event.epsilon) if exact(event.epsilon, "epsilon") else Extreme.NOTHING


def _randomized_response(event: dp_event.DpEvent, relation: Relation) -> Part | Extreme:
    """With probability p a uniform answer, else the true one: e^ε = (1 - p + p/k)/(p/k) between two answers."""
    if relation is not Relation.REPLACE_ONE:
        raise UnsupportedEvent("event", event, f"it is known for REPLACE_ONE neighbours, not for {relation.name}")
    noise = exact(event.noise_parameter, "noise_parameter")
    answers = whole(event.num_buckets, "num_buckets", 1, _MOST_WHOLE)
    if not 0 <= noise <= 1:
        raise InvalidInput("noise_parameter", event.noise_parameter, "must be at least 0 and at most 1")
    if answers == 1 or noise == 1:
        return Extreme.NOTHING
    return RandomizedResponse(response_epsilon_up(noise, answers), answers) if noise else Extreme.EVERYTHING


def response_epsilon_up(noise: Exact, answers: int) -> float:
    """log(1 + k(1 - p)/p), rounded up: more ε is always worse."""
    p = Fraction(noise)
    with precision(DEEP_BITS):
        return float_up(ball(answers * (1 - p) / p).log1p())


def _held(event: dp_event.DpEvent) -> dp_event.DpEvent | None:
    """The one mechanism that runs once on a sample: several on the same sample are not several subsampled ones."""
    held = [(leaf, count) for leaf, count in leaves(event.event) if type(leaf) is not dp_event.NoOpDpEvent]
    if not held:
        return None
    if len(held) > 1 or held[0][1] > 1:
        why = "several mechanisms on one sample are not the same as each on a sample of its own"
        raise UnsupportedEvent("event", event, why)
    if (inner := type(held[0][0]).__name__) not in _SAMPLED:
        known = "Gaussian, Laplace and discrete Gaussian noise"
        raise UnsupportedEvent("event", event, f"only {known} on a sample is known, not {inner}")
    return held[0][0]


def _poisson(event: dp_event.DpEvent, relation: Relation) -> Part | Extreme:
    """The noise is about the presence of one record in the sample, also where that record is replaced (REPLACE)."""
    held = _held(event)
    if held is None:
        return Extreme.NOTHING
    mechanism = translated(held, Relation.ADD_OR_REMOVE_ONE)
    if not exact(event.sampling_probability, "sampling_probability"):
        return Extreme.NOTHING
    if isinstance(mechanism, Extreme):
        return mechanism
    assert isinstance(mechanism, Gaussian | Laplace | DiscreteGaussian)
    neighbours: Neighbours = "replace" if relation is Relation.REPLACE_ONE else "add-remove"
    return PoissonSubsampled(mechanism, event.sampling_probability, neighbours)


def _batch(event: dp_event.DpEvent, relation: Relation) -> Part | Extreme:
    """A batch of a fixed size; the noise is about a record of it that is replaced (ZDW22-11)."""
    if relation is not Relation.REPLACE_ONE:
        raise UnsupportedEvent("event", event, f"it is known for REPLACE_ONE neighbours, not for {relation.name}")
    held = _held(event)
    population = whole(event.source_dataset_size, "source_dataset_size", 1, _MOST_PEOPLE)
    batch = whole(event.sample_size, "sample_size", 0, population)
    if held is None:
        return Extreme.NOTHING
    mechanism = translated(held, relation)
    if not batch:
        return Extreme.NOTHING
    if isinstance(mechanism, Extreme):
        return mechanism
    if not isinstance(mechanism, Gaussian | Laplace):
        raise UnsupportedEvent("event", event, "only Gaussian and Laplace noise on a batch of a fixed size is known")
    return WithoutReplacement(mechanism, batch, population)


_RESPONSE = "RandomizedResponseDpEvent"
"""The event that is about replacing a record."""
_NOISE = (
    "DiscreteGaussianDpEvent",
    "DiscreteLaplaceDpEvent",
    "GaussianDpEvent",
    "LaplaceDpEvent",
    "PoissonSampledDpEvent",
)
"""Events that are about adding or removing a record, unless told otherwise."""
_SAMPLED = ("DiscreteGaussianDpEvent", "GaussianDpEvent", "LaplaceDpEvent")
"""Noise whose loss on a sample is known."""
_READERS: dict[str, Callable[[dp_event.DpEvent, Relation], Part | Extreme]] = {
    "DiscreteGaussianDpEvent": _discrete_gaussian,
    "DiscreteLaplaceDpEvent": _discrete_laplace,
    "EpsilonDeltaDpEvent": _epsilon_delta,
    "ExponentialMechanismDpEvent": _exponential,
    "GaussianDpEvent": _gaussian,
    "LaplaceDpEvent": _laplace,
    "NoOpDpEvent": _nothing,
    "NonPrivateDpEvent": _everything,
    "PoissonSampledDpEvent": _poisson,
    "RandomizedResponseDpEvent": _randomized_response,
    "SampledWithoutReplacementDpEvent": _batch,
    "ZCDpEvent": _zcdp,
}
"""By name, since some classes are newer than the release that may be installed."""
_REASONS = {
    "MixtureOfGaussiansDpEvent": "optcomp knows no noise whose sensitivity is random",
    "PermuteAndFlipDpEvent": "optcomp does not know the loss of permute-and-flip",
    "RepeatAndSelectDpEvent": "optcomp knows no selection among a random number of runs",
    "SampledWithReplacementDpEvent": "optcomp knows Poisson samples, and samples without replacement",
    "SingleEpochTreeAggregationDpEvent": "optcomp does not know sums along a tree",
    "TruncatedSubsampledGaussianDpEvent": "optcomp knows samples of any size only, not truncated ones",
    "UnsupportedDpEvent": "it says of itself that it has no description",
}
"""Why an event is refused."""
