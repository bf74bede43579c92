"""From our guarantees to events of dp-accounting.

An event holds floats.  A parameter that is not a float, such as σ = 1/3, is rounded to the side of less privacy, so an
event never promises more than the guarantee it was made from.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Mapping
from fractions import Fraction
from typing import Any

import numpy as np
from dp_accounting import dp_event

from optcomp.composition import Items, read_any, read_item
from optcomp.guarantees import (
    TCDP,
    ZCDP,
    ApproxDP,
    ApproxZCDP,
    DiscreteGaussian,
    DiscreteLaplace,
    Exponential,
    Gaussian,
    GaussianDP,
    KnownLoss,
    Laplace,
    NameAndShame,
    PoissonSubsampled,
    PureDP,
    RandomizedResponse,
    RenyiBounded,
    RenyiDP,
    SparseVectorDP,
    WithoutReplacement,
)
from optcomp.instances import Mixture, Parts
from optcomp.interop.reading import Part
from optcomp.interop.refusal import UnsupportedEvent
from optcomp.interop.relations import Relation, moves, relation_or_own
from optcomp.numerics import DEEP_BITS, Exact, ball, float_down, precision

_RESPONSE = "RandomizedResponse"
"""The mechanism that is about replacing a record."""
_NOISE = ("DiscreteGaussian", "DiscreteLaplace", "Gaussian", "Laplace", "PoissonSubsampled")
"""Mechanisms that are about adding or removing a record, unless told otherwise."""


def to_event(parts: Items, *, neighboring_relation: Relation | None = None) -> dp_event.DpEvent:
    """One event for a list of guarantees, a mapping to counts or an array: whatever `compose` takes.

    Without a relation, noise is about adding or removing a record and randomized response about replacing one; samples
    say themselves what they are about.
    """
    counts = _counted(parts)
    if neighboring_relation is None and any(_replaced(part) for part in counts):
        neighboring_relation = Relation.REPLACE_ONE
    relation = relation_or_own(neighboring_relation, map(type, counts), _RESPONSE, _NOISE)
    events = [_repeated(written(part, relation), count) for part, count in counts.items() if count]
    if not events:
        return dp_event.NoOpDpEvent()
    return events[0] if len(events) == 1 else dp_event.ComposedDpEvent(events)


def _replaced(part: Part) -> bool:
    """Whether it is about a record that is replaced, and says so."""
    return isinstance(part, KnownLoss) and part.neighbours == "replace"


def _repeated(event: dp_event.DpEvent, count: int) -> dp_event.DpEvent:
    return event if count == 1 else dp_event.SelfComposedDpEvent(event, count)


def _counted(parts: object) -> dict[Part, int]:
    """How often each guarantee occurs, in the order in which they come."""
    if isinstance(parts, Iterable) and not isinstance(parts, np.ndarray | Mapping | str | bytes):
        parts = list(parts)  # it is gone through twice
    read = read_any(parts)  # says what is wrong with them
    counts: dict[Part, int] = {}
    for item, count in _items(parts, read):
        part = _part(item)
        counts[part] = counts.get(part, 0) + count
    return counts


def _items(parts: object, read: Parts | Mixture) -> Iterable[tuple[object, int]]:
    if isinstance(parts, Mapping):
        return ((item, int(count)) for item, count in parts.items())
    if isinstance(parts, list):
        return ((item, 1) for item in parts)
    pairs = read.pairs if isinstance(read, Mixture) else read
    others = read.others if isinstance(read, Mixture) else ()
    return [*(((eps, delta), copies) for eps, delta, copies in pairs.groups), *others]


def _part(item: object) -> Part:
    if isinstance(item, KnownLoss | RenyiBounded | NameAndShame | SparseVectorDP):
        return item
    eps, delta = read_item(item, "parts")
    return ApproxDP(eps, delta) if delta else PureDP(eps)


def written(part: Part, relation: Relation) -> dp_event.DpEvent:
    """The event that says what one guarantee says."""
    if type(part) not in _WRITERS:
        why = _REASONS.get(type(part), "")
        raise UnsupportedEvent("parts", part, f"dp-accounting has no event for it{why and ': ' + why}")
    name, parameters = _WRITERS[type(part)]
    if not hasattr(dp_event, name):
        raise UnsupportedEvent("parts", part, f"it needs {name}, which the installed dp-accounting does not have")
    return getattr(dp_event, name)(**parameters(part, relation))


Parameters = dict[str, Any]


def _gaussian(part: Gaussian, relation: Relation) -> Parameters:
    return {"noise_multiplier": _down(moves(relation) * Fraction(part.sigma) / Fraction(part.sensitivity))}


def _laplace(part: Laplace, relation: Relation) -> Parameters:
    return {"noise_multiplier": _down(moves(relation) * Fraction(part.scale) / Fraction(part.sensitivity))}


def _discrete_laplace(part: DiscreteLaplace, relation: Relation) -> Parameters:
    return {"noise_parameter": _up(1 / Fraction(part.scale)), "sensitivity": _bound(part, relation)}


def _discrete_gaussian(part: DiscreteGaussian, relation: Relation) -> Parameters:
    return {"sigma": _down(part.sigma), "sensitivity": float(_bound(part, relation)), "dimension": 1}


def _bound(part: DiscreteLaplace | DiscreteGaussian, relation: Relation) -> int:
    """The norm bound on one record whose change moves the count by the sensitivity."""
    bound, rest = divmod(part.sensitivity, moves(relation))
    if rest:
        raise UnsupportedEvent("parts", part, "replacing a whole number moves a count by an even number at most")
    return bound


def _epsilon_delta(part: PureDP | ApproxDP, _: Relation) -> Parameters:
    return {"epsilon": _up(part.epsilon), "delta": _up(part.delta)}


def _zcdp(part: ZCDP, _: Relation) -> Parameters:
    return {"rho": _up(part.rho)}


def _exponential(part: Exponential, _: Relation) -> Parameters:
    return {"epsilon": _up(part.epsilon)}


def _randomized_response(part: RandomizedResponse, relation: Relation) -> Parameters:
    """p = k/(e^ε + k - 1): less noise is always worse."""
    if relation is not Relation.REPLACE_ONE:
        raise UnsupportedEvent("parts", part, f"it is an event for REPLACE_ONE neighbours, not for {relation.name}")
    with precision(DEEP_BITS):
        noise = float_down(part.answers / (ball(part.epsilon).expm1() + part.answers))
    if not noise:
        raise UnsupportedEvent("parts", part, "its chance of another answer is too small for a float")
    return {"noise_parameter": noise, "num_buckets": part.answers}


def _poisson(part: PoissonSubsampled, relation: Relation) -> Parameters:
    """The noise is about the presence of one record in the sample, whatever the relation."""
    if (part.neighbours == "replace") is not (relation is Relation.REPLACE_ONE):
        about = "records replaced" if part.neighbours == "replace" else "records added or removed"
        raise UnsupportedEvent("parts", part, f"it is for {about}, not for {relation.name}")
    return {"sampling_probability": _up(part.rate), "event": written(part.mechanism, Relation.ADD_OR_REMOVE_ONE)}


def _batch(part: WithoutReplacement, relation: Relation) -> Parameters:
    """The noise is about a record of the batch that is replaced."""
    if relation is not Relation.REPLACE_ONE:
        raise UnsupportedEvent("parts", part, f"it is for records replaced, not for {relation.name}")
    event = written(part.mechanism, relation)
    return {"source_dataset_size": part.population, "sample_size": part.batch, "event": event}


def _down(value: Exact) -> float:
    near = float(value)
    return near if near <= value else math.nextafter(near, -math.inf)


def _up(value: Exact) -> float:
    near = float(value)
    return near if near >= value else math.nextafter(near, math.inf)


_WRITERS: dict[type, tuple[str, Callable[[Any, Relation], Parameters]]] = {
    ApproxDP: ("EpsilonDeltaDpEvent", _epsilon_delta),
    DiscreteGaussian: ("DiscreteGaussianDpEvent", _discrete_gaussian),
    DiscreteLaplace: ("DiscreteLaplaceDpEvent", _discrete_laplace),
    Exponential: ("ExponentialMechanismDpEvent", _exponential),
    Gaussian: ("GaussianDpEvent", _gaussian),
    Laplace: ("LaplaceDpEvent", _laplace),
    PoissonSubsampled: ("PoissonSampledDpEvent", _poisson),
    PureDP: ("EpsilonDeltaDpEvent", _epsilon_delta),
    RandomizedResponse: ("RandomizedResponseDpEvent", _randomized_response),
    WithoutReplacement: ("SampledWithoutReplacementDpEvent", _batch),
    ZCDP: ("ZCDpEvent", _zcdp),
}
"""The name of the event and its parameters, by the class of a guarantee."""
_REASONS: dict[type, str] = {
    ApproxZCDP: "ZCDpEvent has no δ",
    GaussianDP: "write it as Gaussian noise, Gaussian(1, mu)",
    NameAndShame: "write it as ApproxDP(0, delta)",
    RenyiDP: "only D_α <= ξ + ρα for all α is one",
    SparseVectorDP: "write it as PureDP(epsilon)",
    TCDP: "only D_α <= ξ + ρα for all α is one",
}
"""Why there is no event."""
