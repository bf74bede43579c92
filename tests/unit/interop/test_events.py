"""Events become guarantees and guarantees events, exactly or not at all."""

from __future__ import annotations

import math
import subprocess
import sys
from collections.abc import Callable
from fractions import Fraction
from typing import Any

import numpy as np
import pytest
from dp_accounting import dp_event as ev
from dp_accounting.privacy_accountant import NeighboringRelation
from hypothesis import given
from hypothesis import strategies as st

import optcomp as oc
from optcomp.interop import UnsupportedEvent, from_event, to_event
from tests.unit.interop import later

REPLACE = NeighboringRelation.REPLACE_ONE
SPECIAL = NeighboringRelation.REPLACE_SPECIAL
ADD = NeighboringRelation.ADD_OR_REMOVE_ONE
G, L = ev.GaussianDpEvent(2.0), ev.LaplaceDpEvent(3.0)


@pytest.fixture
def newer(monkeypatch: pytest.MonkeyPatch) -> Any:
    return later.install(monkeypatch)


SAME: list[tuple[Any, object]] = [
    (ev.GaussianDpEvent(2.5), oc.Gaussian(2.5)),
    (ev.GaussianDpEvent(np.float64(0.1)), oc.Gaussian(0.1)),
    (ev.LaplaceDpEvent(0.3), oc.Laplace(0.3)),
    (ev.DiscreteLaplaceDpEvent(0.25, 3), oc.DiscreteLaplace(4, 3)),
    (ev.DiscreteLaplaceDpEvent(0.1, 1), oc.DiscreteLaplace(1 / Fraction(0.1))),
    (ev.ZCDpEvent(0.125), oc.ZCDP(0.125)),
    (ev.PoissonSampledDpEvent(0.01, G), oc.PoissonSubsampled(oc.Gaussian(2.0), 0.01)),
    (ev.PoissonSampledDpEvent(0.1, L), oc.PoissonSubsampled(oc.Laplace(3.0), 0.1)),
    (ev.PoissonSampledDpEvent(1.0, L), oc.PoissonSubsampled(oc.Laplace(3.0), 1)),
]


@pytest.mark.parametrize(("event", "guarantee"), SAME, ids=repr)
def test_both_ways(event: Any, guarantee: Any) -> None:
    assert from_event(event) == {guarantee: 1}
    assert to_event([guarantee]) == event
    assert to_event({guarantee: 7}) == ev.SelfComposedDpEvent(event, 7)
    assert from_event(event, neighboring_relation=SPECIAL) == {guarantee: 1}


def test_both_ways_with_newer_events(newer: Any) -> None:
    cases: list[tuple[Any, Any]] = [
        (newer.EpsilonDeltaDpEvent(0.1, 0.0), oc.PureDP(0.1)),
        (newer.EpsilonDeltaDpEvent(0.1, 1e-9), oc.ApproxDP(0.1, 1e-9)),
        (newer.EpsilonDeltaDpEvent(0.0, 1e-9), oc.ApproxDP(0, 1e-9)),
        (newer.ExponentialMechanismDpEvent(0.5), oc.Exponential(0.5)),
        (newer.DiscreteGaussianDpEvent(2.0, 3.0, 1), oc.DiscreteGaussian(2.0, 3)),
        (
            ev.PoissonSampledDpEvent(0.1, newer.DiscreteGaussianDpEvent(2.0, 3.0, 1)),
            oc.PoissonSubsampled(oc.DiscreteGaussian(2.0, 3), 0.1),
        ),
    ]
    for event, guarantee in cases:
        assert from_event(event) == {guarantee: 1}
        assert to_event([guarantee]) == event


def test_counts_multiply() -> None:
    inner = ev.ComposedDpEvent([G, ev.SelfComposedDpEvent(ev.ComposedDpEvent([L, G, ev.NoOpDpEvent()]), 5)])
    event = ev.ComposedDpEvent([ev.SelfComposedDpEvent(inner, 10**6), L])
    assert from_event(event) == {oc.Gaussian(2.0): 6 * 10**6, oc.Laplace(3.0): 5 * 10**6 + 1}


def test_very_deep_events() -> None:
    event = G
    for _ in range(5000):
        event = ev.ComposedDpEvent([ev.SelfComposedDpEvent(event, 1)])
    assert from_event(event) == {oc.Gaussian(2.0): 1}


@pytest.mark.parametrize(
    "event",
    [
        ev.NoOpDpEvent(),
        ev.ComposedDpEvent([]),
        ev.SelfComposedDpEvent(G, 0),
        ev.SelfComposedDpEvent(ev.UnsupportedDpEvent(), 0),
        ev.SelfComposedDpEvent(ev.ComposedDpEvent([ev.SelfComposedDpEvent(G, 3)]), 0),
        ev.PoissonSampledDpEvent(0.1, ev.NoOpDpEvent()),
        ev.PoissonSampledDpEvent(0.1, ev.ComposedDpEvent([ev.NoOpDpEvent(), ev.SelfComposedDpEvent(G, 0)])),
        ev.PoissonSampledDpEvent(0.0, G),
        ev.ZCDpEvent(0.0),
        ev.RandomizedResponseDpEvent(1.0, 5),
        ev.RandomizedResponseDpEvent(0.0, 1),
    ],
    ids=repr,
)
def test_what_costs_nothing_vanishes(event: Any) -> None:
    assert from_event(event) == {}
    assert from_event(ev.ComposedDpEvent([event]), neighboring_relation=REPLACE if "Resp" in repr(event) else ADD) == {}


def test_newer_events_that_cost_nothing(newer: Any) -> None:
    assert (
        from_event(ev.ComposedDpEvent([newer.EpsilonDeltaDpEvent(0, 0.0), newer.ExponentialMechanismDpEvent(0)])) == {}
    )


def test_a_sample_of_one_mechanism_once() -> None:
    wrapped = ev.ComposedDpEvent([ev.NoOpDpEvent(), ev.SelfComposedDpEvent(G, 1)])
    assert from_event(ev.PoissonSampledDpEvent(0.1, wrapped)) == {oc.PoissonSubsampled(oc.Gaussian(2.0), 0.1): 1}


UNKNOWN: list[tuple[Any, str]] = [
    (ev.NonPrivateDpEvent(), "keeps nothing private"),
    (ev.GaussianDpEvent(0), "keeps nothing private"),
    (ev.LaplaceDpEvent(0.0), "keeps nothing private"),
    (ev.RandomizedResponseDpEvent(0.0, 2), "keeps nothing private"),
    (ev.PoissonSampledDpEvent(0.1, ev.GaussianDpEvent(0)), "keeps nothing private"),
    (ev.UnsupportedDpEvent(), "has no description"),
    (ev.DpEvent(), "no guarantee of optcomp says the same"),
    (ev.MixtureOfGaussiansDpEvent(1.0, [0, 1], [0.5, 0.5]), "sensitivity is random"),
    (ev.SampledWithReplacementDpEvent(100, 10, G), "Poisson samples, and samples without replacement"),
    (ev.SampledWithoutReplacementDpEvent(100, 10, G), "REPLACE_ONE neighbours, not for ADD_OR_REMOVE_ONE"),
    (ev.SingleEpochTreeAggregationDpEvent(1.0, 4), "along a tree"),
    (ev.RepeatAndSelectDpEvent(G, 10.0, 1.0), "random number of runs"),
    (ev.TruncatedSubsampledGaussianDpEvent(100, 0.1, 20, 1.0), "truncated"),
    (ev.ZCDpEvent(0.1, 0.1), "xi must be 0"),
    (ev.ZCDpEvent(-0.1), "rho: must be positive"),
    (ev.PoissonSampledDpEvent(0.1, ev.SelfComposedDpEvent(G, 2)), "several mechanisms on one sample"),
    (ev.PoissonSampledDpEvent(0.1, ev.ComposedDpEvent([G, L])), "several mechanisms on one sample"),
    (ev.PoissonSampledDpEvent(0.1, ev.PoissonSampledDpEvent(0.1, G)), "not PoissonSampledDpEvent"),
    (ev.PoissonSampledDpEvent(0.1, ev.ZCDpEvent(0.1)), "not ZCDpEvent"),
    (ev.PoissonSampledDpEvent(0.1, ev.NonPrivateDpEvent()), "not NonPrivateDpEvent"),
    (ev.PoissonSampledDpEvent(1.5, G), "rate: must lie in"),
    (ev.PoissonSampledDpEvent(-0.1, G), "rate: must lie in"),
    (ev.PoissonSampledDpEvent(math.nan, G), "sampling_probability: must be finite"),
    (ev.GaussianDpEvent(-1.0), "sigma: must be positive"),
    (ev.GaussianDpEvent(math.nan), "noise_multiplier: must be finite"),
    (ev.GaussianDpEvent(1e-9), "sensitivity/noise"),
    (ev.GaussianDpEvent(None), "noise_multiplier: must be a float"),
    (ev.GaussianDpEvent(True), "not a truth value"),
    (ev.LaplaceDpEvent(math.inf), "noise_multiplier: must be finite"),
    (ev.DiscreteLaplaceDpEvent(0.0, 1), "noise_parameter: must be positive"),
    (ev.DiscreteLaplaceDpEvent(0.1, 0), "sensitivity: must be at least 1"),
    (ev.DiscreteLaplaceDpEvent(0.1, 1.5), "sensitivity: must be a whole number"),
    (ev.RandomizedResponseDpEvent(1.5, 2), "noise_parameter: must be at least 0 and at most 1"),
    (ev.RandomizedResponseDpEvent(0.5, 0), "num_buckets: must be at least 1"),
    (ev.RandomizedResponseDpEvent(0.5, 2.0), "num_buckets: must be a whole number"),
    (ev.SelfComposedDpEvent(G, -1), "count: must be at least 0"),
    (ev.SelfComposedDpEvent(G, 2.0), "count: must be a whole number"),
    (ev.SelfComposedDpEvent(G, 10**16), "count: must be at least 0 and at most"),
    (ev.ComposedDpEvent(None), "events must be a list"),
]


@pytest.mark.parametrize(("event", "why"), UNKNOWN, ids=lambda value: repr(value)[:60])
@pytest.mark.parametrize(
    "nest", [lambda event: event, lambda event: ev.SelfComposedDpEvent(ev.ComposedDpEvent([event]), 2)]
)
def test_refusals_name_the_event_and_the_reason(event: Any, why: str, nest: Callable[[Any], Any]) -> None:
    with pytest.raises(UnsupportedEvent) as caught:
        from_event(nest(event))
    assert caught.value.value == event
    assert caught.value.argument == "event"
    assert caught.value.reason.startswith(f"{type(event).__name__}: ")
    assert why in caught.value.reason
    assert caught.value.reason in str(caught.value)
    assert isinstance(caught.value, oc.InvalidInput)


def test_newer_events_refused(newer: Any) -> None:
    for event, why in [
        (newer.PermuteAndFlipDpEvent(0.5), "permute-and-flip"),
        (newer.DiscreteGaussianDpEvent(2.0), "dimension must be 1"),
        (newer.DiscreteGaussianDpEvent(2.0, 1.0, 2), "dimension must be 1"),
        (newer.DiscreteGaussianDpEvent(2.0, 1.5, 1), "sensitivity: must be whole"),
        (newer.ExponentialMechanismDpEvent(-0.5), "epsilon: must not be negative"),
        (newer.EpsilonDeltaDpEvent(0.1, 1), "keeps nothing private"),
        (newer.EpsilonDeltaDpEvent(0.1, 1.1), "delta: must be at least 0"),
        (newer.EpsilonDeltaDpEvent(math.inf, 0), "epsilon: must be finite"),
    ]:
        with pytest.raises(UnsupportedEvent, match=why):
            from_event(event)


def test_a_class_of_the_same_name_or_derived_is_not_the_same() -> None:
    class GaussianDpEvent(ev.GaussianDpEvent):  # type: ignore[misc]  # dp-accounting is not typed
        """Perhaps with half the noise."""

    class Repeated(ev.SelfComposedDpEvent):  # type: ignore[misc]  # dp-accounting is not typed
        """Perhaps with twice the count."""

    for event in (GaussianDpEvent(2.0), Repeated(G, 2), ev.ComposedDpEvent([None])):
        with pytest.raises(UnsupportedEvent, match="not one of dp-accounting's own"):
            from_event(event)


@pytest.mark.parametrize("event", [None, 1.0, "GaussianDpEvent", [G], oc.Gaussian(2.0)])
def test_not_an_event(event: Any) -> None:
    with pytest.raises(oc.InvalidInput, match="event: must be a DpEvent"):
        from_event(event)


# neighbouring relations


def test_replacing_a_record_moves_a_sum_twice_as_far() -> None:
    cases: list[tuple[Any, Any]] = [
        (G, oc.Gaussian(2.0, 2.0)),
        (L, oc.Laplace(3.0, 2.0)),
        (ev.DiscreteLaplaceDpEvent(0.25, 3), oc.DiscreteLaplace(4, 6)),
        (ev.ZCDpEvent(0.125), oc.ZCDP(0.125)),
    ]
    for event, guarantee in cases:
        assert from_event(event, neighboring_relation=REPLACE) == {guarantee: 1}
        assert to_event([guarantee], neighboring_relation=REPLACE) == event


def test_randomized_response_beside_noise_needs_a_relation() -> None:
    event = ev.ComposedDpEvent([G, ev.RandomizedResponseDpEvent(0.5, 2)])
    parts = [oc.Gaussian(2.0, 2.0), oc.RandomizedResponse(1.0)]
    with pytest.raises(oc.InvalidInput, match="neighboring_relation: must be given"):
        from_event(event)
    with pytest.raises(oc.InvalidInput, match="neighboring_relation: must be given"):
        to_event(parts)
    assert oc.Gaussian(2.0, 2.0) in from_event(event, neighboring_relation=REPLACE)
    assert to_event(parts, neighboring_relation=REPLACE).events[0] == G


@pytest.mark.parametrize("relation", [ADD, SPECIAL])
def test_randomized_response_is_about_replacing(relation: Any) -> None:
    with pytest.raises(UnsupportedEvent, match=f"known for REPLACE_ONE neighbours, not for {relation.name}"):
        from_event(ev.RandomizedResponseDpEvent(0.5, 2), neighboring_relation=relation)
    with pytest.raises(UnsupportedEvent, match="RandomizedResponse: it is an event for REPLACE_ONE"):
        to_event([oc.RandomizedResponse(1.0)], neighboring_relation=relation)


SAMPLES: list[tuple[Any, Any]] = [
    (ev.PoissonSampledDpEvent(0.1, G), oc.PoissonSubsampled(oc.Gaussian(2.0), 0.1, "replace")),
    (
        ev.PoissonSampledDpEvent(0.25, ev.LaplaceDpEvent(3.0)),
        oc.PoissonSubsampled(oc.Laplace(3.0), 0.25, "replace"),
    ),
    (
        ev.SampledWithoutReplacementDpEvent(1000, 10, G),
        oc.WithoutReplacement(oc.Gaussian(2.0, 2.0), 10, 1000),
    ),
    (
        ev.SampledWithoutReplacementDpEvent(50, 50, ev.LaplaceDpEvent(3.0)),
        oc.WithoutReplacement(oc.Laplace(3.0, 2.0), 50, 50),
    ),
]
"""Samples of which a record is replaced: its presence moves a sum by 1, its replacement inside of a batch by 2."""


@pytest.mark.parametrize(("event", "part"), SAMPLES, ids=str)
def test_samples_where_a_record_is_replaced(event: Any, part: Any) -> None:
    """There and back, with the relation given or, for guarantees, known from what they say themselves."""
    repeated = ev.SelfComposedDpEvent(event, 3)
    assert from_event(repeated, neighboring_relation=REPLACE) == {part: 3}
    assert to_event({part: 3}) == to_event({part: 3}, neighboring_relation=REPLACE) == repeated
    for relation in (ADD, SPECIAL):
        with pytest.raises(UnsupportedEvent, match=f"not for {relation.name}"):
            to_event([part], neighboring_relation=relation)


def test_the_noise_of_a_batch_beside_plain_noise() -> None:
    """Under REPLACE_ONE plain noise gets twice the sensitivity; a sample's own rule takes care of its two records."""
    event = ev.ComposedDpEvent([G, ev.PoissonSampledDpEvent(0.5, G), ev.RandomizedResponseDpEvent(0.5, 2)])
    parts = from_event(event, neighboring_relation=REPLACE)
    assert oc.Gaussian(2.0, 2.0) in parts
    assert oc.PoissonSubsampled(oc.Gaussian(2.0), 0.5, "replace") in parts
    whole = from_event(ev.PoissonSampledDpEvent(1.0, G), neighboring_relation=REPLACE)
    plain = from_event(G, neighboring_relation=REPLACE)
    assert oc.compose(whole, delta=1e-6).upper == oc.compose(plain, delta=1e-6).upper


@pytest.mark.parametrize(
    ("event", "why"),
    [
        (ev.SampledWithoutReplacementDpEvent(10, 11, G), "sample_size"),
        (ev.SampledWithoutReplacementDpEvent(0, 0, G), "source_dataset_size"),
        (ev.SampledWithoutReplacementDpEvent(10, 2.5, G), "sample_size"),
        (ev.SampledWithoutReplacementDpEvent(100, 10, ev.SelfComposedDpEvent(G, 2)), "several mechanisms"),
        (
            ev.SampledWithoutReplacementDpEvent(100, 10, ev.ZCDpEvent(0.1)),
            "only Gaussian, Laplace and discrete Gaussian noise",
        ),
        (ev.PoissonSampledDpEvent(0.1, ev.GaussianDpEvent(0.01)), "sensitivity/noise of at most 20"),
        (ev.PoissonSampledDpEvent(0.0, ev.GaussianDpEvent(-1)), "must be positive"),
    ],
    ids=str,
)
def test_samples_that_are_refused(event: Any, why: str) -> None:
    with pytest.raises(UnsupportedEvent, match=why):
        from_event(event, neighboring_relation=REPLACE)


def test_batches_that_cost_nothing() -> None:
    for event in (
        ev.SampledWithoutReplacementDpEvent(100, 0, G),
        ev.SampledWithoutReplacementDpEvent(100, 10, ev.NoOpDpEvent()),
        ev.PoissonSampledDpEvent(0.0, G),
    ):
        assert from_event(event, neighboring_relation=REPLACE) == {}


def test_samples_are_about_what_they_say() -> None:
    with pytest.raises(UnsupportedEvent, match=r"PoissonSubsampled: .* not for REPLACE_ONE"):
        to_event([oc.PoissonSubsampled(oc.Gaussian(2.0), 0.1)], neighboring_relation=REPLACE)
    with pytest.raises(UnsupportedEvent, match=r"DiscreteLaplace: .* even number"):
        to_event([oc.DiscreteLaplace(2, 3)], neighboring_relation=REPLACE)


@pytest.mark.parametrize("relation", ["REPLACE_ONE", 1])
def test_not_a_relation(relation: Any) -> None:
    for call in (
        lambda: from_event(G, neighboring_relation=relation),
        lambda: to_event([], neighboring_relation=relation),
    ):
        with pytest.raises(
            oc.InvalidInput, match=r"neighboring_relation: must be a dp_accounting\.NeighboringRelation"
        ):
            call()


# randomized response: p and ε are tied by a logarithm


@given(st.floats(1e-300, 1, exclude_max=True), st.integers(2, 10**6))
def test_randomized_response_is_never_underestimated(noise: float, answers: int) -> None:
    (part, count), *more = from_event(ev.RandomizedResponseDpEvent(noise, answers)).items()
    assert isinstance(part, oc.RandomizedResponse)
    assert (count, more, part.answers) == (1, [], answers)
    true_odds = 1 + answers * (1 - Fraction(noise)) / Fraction(noise)
    assert _log_below(true_odds) <= part.epsilon <= math.log1p(float(true_odds - 1)) * (1 + 1e-15)

    back = to_event([part])
    assert back.num_buckets == answers
    assert 0 < back.noise_parameter <= noise
    assert back.noise_parameter >= noise * (1 - 2e-13)


def _log_below(odds: Fraction) -> float:
    """Slightly less than log(odds), by the C library."""
    return math.log1p(float(odds - 1)) * (1 - 1e-15)


@given(st.floats(1e-9, 600), st.integers(2, 1000))
def test_a_response_there_and_back_never_loses(eps: float, answers: int) -> None:
    ((part, _),) = from_event(to_event([oc.RandomizedResponse(eps, answers)])).items()
    assert isinstance(part, oc.RandomizedResponse)
    assert eps <= part.epsilon <= eps * (1 + 1e-14) + 1e-15 * answers


def test_known_responses() -> None:
    ((half, _),) = from_event(ev.RandomizedResponseDpEvent(0.5, 2)).items()
    assert half == oc.RandomizedResponse(math.nextafter(math.log(3), 2)) or half == oc.RandomizedResponse(math.log(3))
    ((five, _),) = from_event(ev.RandomizedResponseDpEvent(0.5, 5)).items()
    assert isinstance(five, oc.RandomizedResponse)
    assert abs(float(five.epsilon) - math.log((0.5 + 0.1) / 0.1)) < 1e-15 * 4


def test_too_little_noise_for_a_float() -> None:
    with pytest.raises(UnsupportedEvent, match="too small for a float"):
        to_event([oc.RandomizedResponse(800.0)])


# back to events

positive = st.floats(0.01, 100)
mechanisms = st.one_of(
    positive.map(oc.Gaussian),
    positive.map(oc.Laplace),
    st.builds(lambda a, s: oc.DiscreteLaplace(1 / Fraction(a), s), positive, st.integers(1, 9)),
    positive.map(oc.ZCDP),
    st.builds(lambda s, q: oc.PoissonSubsampled(oc.Gaussian(s), q), positive, st.floats(1e-6, 1)),
    st.builds(lambda s, q: oc.PoissonSubsampled(oc.Laplace(s), q), positive, st.floats(1e-6, 1)),
)


@given(st.dictionaries(mechanisms, st.integers(1, 10**9), max_size=6))
def test_round_trip_of_guarantees(parts: dict[Any, int]) -> None:
    event = to_event(parts)
    assert from_event(event) == parts
    assert to_event(from_event(event)) == event


@given(st.lists(mechanisms, max_size=8))
def test_every_way_to_write_parts(parts: list[Any]) -> None:
    counts = {part: parts.count(part) for part in parts}
    assert to_event(parts) == to_event(tuple(parts)) == to_event(iter(parts)) == to_event(counts)
    assert from_event(to_event(parts)) == counts


def test_plain_numbers_pairs_and_arrays(newer: Any) -> None:
    pure = newer.EpsilonDeltaDpEvent(0.5, 0.0)
    for parts in ([oc.PureDP(0.5)], [0.5], [(0.5, 0)], [[0.5, 0.0]], ["0.5"], np.array([0.5]), {0.5: 1, 0.25: 0}):
        assert to_event(parts) == pure  # type: ignore[arg-type]
    pairs = np.array([[0.5, 0.0], [0.5, 1e-9], [0.5, 0.0]])
    assert from_event(to_event(pairs)) == {oc.PureDP(0.5): 2, oc.ApproxDP(0.5, 1e-9): 1}
    assert from_event(to_event([0.5, oc.Gaussian(1.0), oc.PureDP(0.5)])) == {oc.PureDP(0.5): 2, oc.Gaussian(1.0): 1}


def test_no_parts_are_no_operation() -> None:
    forms: list[Any] = [[], {}, np.zeros(0), {oc.Gaussian(1.0): 0}]
    assert [to_event(parts) for parts in forms] == [ev.NoOpDpEvent()] * len(forms)


def test_parameters_that_are_not_floats_are_rounded_to_less_privacy(newer: Any) -> None:
    third = Fraction(1, 3)
    assert Fraction(to_event([oc.Gaussian(third)]).noise_multiplier) < third
    assert Fraction(to_event([oc.Gaussian(1, 3)]).noise_multiplier) < third
    assert Fraction(to_event([oc.Laplace(2 * third)]).noise_multiplier) < 2 * third
    assert Fraction(to_event([oc.DiscreteLaplace(10)]).noise_parameter) > Fraction(1, 10)
    assert Fraction(to_event([oc.DiscreteLaplace(3)]).noise_parameter) > third
    assert Fraction(to_event([oc.ZCDP(third)]).rho) > third
    assert Fraction(to_event([oc.PoissonSubsampled(oc.Gaussian(1), third)]).sampling_probability) > third
    assert Fraction(to_event([oc.PureDP("1/3")]).epsilon) > third
    assert Fraction(to_event([oc.ApproxDP(1, "0.3")]).delta) >= Fraction("0.3")
    assert to_event([oc.Gaussian(4.0, 2.0)]) == ev.GaussianDpEvent(2.0)


REFUSED: list[tuple[Any, str]] = [
    (oc.RenyiDP(2, 0.1), "RenyiDP: dp-accounting has no event for it"),
    (oc.TCDP(0.1, 10), "TCDP: dp-accounting has no event for it"),
    (oc.ApproxZCDP(0.1, 1e-9), "ApproxZCDP: dp-accounting has no event for it: ZCDpEvent has no δ"),
    (oc.GaussianDP(0.5), "GaussianDP: .*: write it as Gaussian noise"),
    (oc.NameAndShame(1e-9), "NameAndShame: .*: write it as ApproxDP"),
    (oc.SparseVectorDP(0.1, 0.1), "SparseVectorDP: .*: write it as PureDP"),
]


@pytest.mark.parametrize(("part", "why"), REFUSED, ids=lambda value: repr(value)[:40])
def test_guarantees_without_an_event(part: Any, why: str) -> None:
    with pytest.raises(UnsupportedEvent, match=why) as caught:
        to_event([oc.Gaussian(1.0), part])
    assert caught.value.value == part
    assert caught.value.argument == "parts"


def test_events_that_the_release_lacks(monkeypatch: pytest.MonkeyPatch) -> None:
    cases: list[tuple[str, Any]] = [
        ("EpsilonDeltaDpEvent", oc.PureDP(0.1)),
        ("ExponentialMechanismDpEvent", oc.Exponential(0.1)),
        ("DiscreteGaussianDpEvent", oc.DiscreteGaussian(2.0)),
    ]
    for name, part in cases:
        monkeypatch.delattr(ev, name, raising=False)
        with pytest.raises(UnsupportedEvent, match=f"{type(part).__name__}: it needs {name}"):
            to_event([part])


@pytest.mark.parametrize(
    ("parts", "why"),
    [
        (None, "parts: must be a list"),
        ("0.1", "parts: must be a list"),
        (oc.Gaussian(1.0), "parts: must be a list"),
        ([oc.Gaussian(1.0), None], r"parts\[1\]: must be a float"),
        ({oc.Gaussian(1.0): -1}, "count of .*: must be at least 0"),
        ({oc.Gaussian(1.0): 1.5}, "count of .*: must be a whole number"),
        (np.array([[1.0, 2.0, 3.0]]), "parts: must be a 1-D array"),
    ],
)
def test_wrong_parts(parts: Any, why: str) -> None:
    with pytest.raises(oc.InvalidInput, match=why):
        to_event(parts)


# optional


def _python(code: str) -> str:
    return subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True, timeout=120).stdout


def test_optcomp_alone_does_not_import_dp_accounting() -> None:
    assert _python("import sys, optcomp, optcomp.cli.main; print('dp_accounting' in sys.modules)") == "False\n"


def test_without_dp_accounting() -> None:
    code = """
import sys
sys.modules["dp_accounting"] = None
try:
    import optcomp.interop
except ImportError as error:
    print(error)
"""
    assert _python(code) == "dp_accounting is missing: install optcomp[interop]\n"
