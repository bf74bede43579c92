"""Odometers: reports that only grow, exact sums, and documents."""

from __future__ import annotations

import json
from fractions import Fraction
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import optcomp as oc
from optcomp.errors import BudgetExceeded, HypothesisNotMet, InvalidInput
from optcomp.interactive.filters import AdaptiveFilter, Cost
from optcomp.interactive.odometers import Odometer
from tests.oracles.filtered import filter_epsilon


def recorded(odometer: Odometer, request: Any, times: int) -> Odometer:
    for _ in range(times):
        odometer = odometer.record(request)
    return odometer


def test_starts_at_nothing() -> None:
    odometer = Odometer("1e-6")
    assert odometer.epsilon == 0
    assert odometer.recorded == 0
    assert odometer.delta == Fraction(1, 10**6)
    assert odometer.theorem == "WRRW23"


def test_few_requests_go_by_the_sum() -> None:
    assert recorded(Odometer("1e-6"), "0.1", 3).epsilon == pytest.approx(0.3, rel=1e-15)
    assert Fraction(recorded(Odometer("1e-6"), "0.1", 3).epsilon) >= Fraction(3, 10)


@pytest.mark.parametrize("place", ["0.1", "1", "5"])
def test_tight_where_it_was_asked_to_be(place: str) -> None:
    """There it reports at most 8 % more than what a filter spends at that moment, and less so elsewhere."""
    cap = AdaptiveFilter(place, "1e-6").cap
    odometer = Odometer("1e-6", tight_at=place).record(oc.ZCDP(cap / 2))
    assert float(place) < odometer.epsilon < 1.08 * float(place)
    for elsewhere in (Fraction(1, 30), Fraction(30)):
        other = Odometer("1e-6", tight_at=Fraction(place) * elsewhere).record(oc.ZCDP(cap / 2))
        assert other.epsilon > odometer.epsilon


def test_never_below_what_a_filter_proves_at_one_moment_when_sums_do_not_help() -> None:
    odometer = Odometer("1e-6")
    for step in range(1, 12):
        odometer = odometer.record(oc.ZCDP("0.003"))
        assert odometer.epsilon > filter_epsilon(Fraction(6 * step, 1000), Fraction(1, 10**6))


def test_noise_without_an_epsilon() -> None:
    odometer = Odometer("1e-6").record("0.1").record(oc.Gaussian(10))
    assert odometer.spent == Cost(epsilon=None, rho=Fraction(1, 100))
    assert odometer.epsilon > 0.1


def test_slips() -> None:
    odometer = Odometer("1e-6", delta_parts="1e-7").record(("0.1", "6e-8"))
    assert odometer.spent.delta == Fraction(6, 10**8)
    assert odometer.delta == Fraction(1, 10**6)
    with pytest.raises(BudgetExceeded, match="set aside") as error:
        odometer.record(("0.1", "6e-8"))
    assert error.value.requested == oc.ApproxDP("0.1", "6e-8")
    assert str(error.value.remaining) == "δ 4e-8 of 1e-7 left"
    with pytest.raises(BudgetExceeded):
        Odometer("1e-6").record(("0.1", "1e-30"))


def test_what_cannot_be_accounted_for() -> None:
    with pytest.raises(HypothesisNotMet, match="has no proved ρ"):
        Odometer("1e-6").record(oc.RenyiDP(8, "0.1"))


@given(st.lists(st.sampled_from(["0.01", 0.1, Fraction(1, 7), oc.Laplace(20), oc.Exponential("0.2"), 0]), max_size=12))
def test_reports_grow_and_sums_are_exact(requests: list[Any]) -> None:
    odometer, reports = Odometer("1e-5", tight_at="0.5"), [0.0]
    for request in requests:
        odometer = odometer.record(request)
        reports.append(odometer.epsilon)
    assert reports == sorted(reports)
    prices = [AdaptiveFilter(9, "0.1").price(request).squares or Fraction(0) for request in requests]
    assert odometer.spent.rho == sum(prices, Fraction(0)) / 2
    assert odometer.recorded == len(requests)


@settings(max_examples=20)
@given(st.lists(st.sampled_from(["0.01", 0.1, ("0.1", "1e-8"), oc.Gaussian(20)]), max_size=6))
def test_round_trip(requests: list[Any]) -> None:
    odometer = Odometer("1e-5", tight_at=2, delta_parts="1e-6")
    for request in requests:
        odometer = odometer.record(request)
    again = Odometer.restore(json.loads(json.dumps(odometer.document())))
    assert again == odometer
    assert again.epsilon == odometer.epsilon
    assert hash(again) == hash(odometer)


def test_values() -> None:
    odometer = Odometer("1e-6")
    odometer.record("0.1")
    assert odometer == Odometer("1e-6")
    assert str(recorded(odometer, "0.01", 1)) == "ε <= 0.01 after 1 request, except with probability 1e-6"
    with pytest.raises(AttributeError):
        odometer.spent = Cost()  # type: ignore[misc]


@pytest.mark.parametrize(
    "make",
    [
        lambda: Odometer(0),
        lambda: Odometer(1),
        lambda: Odometer("x"),
        lambda: Odometer("1e-6", tight_at=0),
        lambda: Odometer("1e-6", tight_at=-1),
        lambda: Odometer("1e-6", delta_parts="1e-6"),
        lambda: Odometer("1e-6", delta_parts=-1),
    ],
)
def test_bad_arguments(make: Any) -> None:
    with pytest.raises(InvalidInput):
        make()


@pytest.mark.parametrize(
    ("place", "value"),
    [
        (("format",), "optcomp-filter"),
        (("version",), 2),
        (("recorded",), -1),
        (("recorded",), "1"),
        (("parameters",), {}),
        (("parameters", "delta"), "1"),
        (("parameters", "delta"), "0"),
        (("parameters", "delta"), 0.1),
        (("parameters", "delta_parts"), "1/2"),
        (("parameters", "gamma"), "0"),
        (("parameters", "gamma"), "-1"),
        (("spent", "rho"), None),
        (("spent", "rho"), "-1"),
        (("spent", "delta"), "1/10"),
        (("spent", "epsilon"), "x"),
        (("spent", "more"), "1"),
    ],
)
def test_bad_documents(place: tuple[str, ...], value: object) -> None:
    document: Any = json.loads(json.dumps(Odometer("1e-6", delta_parts="1e-7").record("0.1").document()))
    Odometer.restore(document)
    inner = document if len(place) == 1 else document[place[0]]
    inner[place[-1]] = value
    with pytest.raises(InvalidInput):
        Odometer.restore(document)


def test_a_saved_text_says_nothing_twice() -> None:
    odometer = Odometer("0.01").record("0.1")
    text = json.dumps(odometer.document())
    assert Odometer.restore(text) == odometer
    with pytest.raises(InvalidInput, match=r"^recorded: is given twice, first as 0"):
        Odometer.restore(text.replace('"recorded"', '"recorded": 0, "recorded"'))
