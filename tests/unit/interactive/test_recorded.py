"""Totals of what was recorded: exact sums, the odometer's own bound, and nothing where nothing is proved."""

from __future__ import annotations

from fractions import Fraction
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import optcomp as oc
from optcomp.errors import InvalidInput
from optcomp.interactive import BestFilter, Cost, Odometer, recorded_total
from optcomp.theorems import wrrw23

PRICES = BestFilter("1e6", "0.5", "0.4")


def sums(requests: list[Any]) -> Cost:
    total = Cost(epsilon=Fraction(0), rho=Fraction(0))
    for request in requests:
        total = total.plus(PRICES.price(request))
    return total


@pytest.mark.parametrize(
    ("request_", "epsilon", "delta"),
    [("0.1", "0.1", "0"), (0.1, 0.1, "0"), (("1.7", "1e-7"), "1.7", "1e-7"), ((2.5, 1e-9), 2.5, Fraction(1e-9))],
)
def test_one_release_is_its_own_pair(request_: Any, epsilon: Any, delta: Any) -> None:
    best, *_ = recorded_total(sums([request_]), "1e-6")
    assert (best.exactly, best.delta, best.theorem) == (Fraction(epsilon), Fraction(delta), "RRUV16")
    assert 0 <= Fraction(best.epsilon) - best.exactly <= best.exactly / 2**51
    if isinstance(epsilon, float):
        assert best.epsilon == epsilon


def test_sums_are_exact_and_rounded_up_once() -> None:
    requests = ["0.1"] * 3 + [Fraction(1, 7), ("0.2", "1e-8"), ("0.3", "3e-8")]
    (total,) = recorded_total(sums(requests))
    exactly = 3 * Fraction("0.1") + Fraction(1, 7) + Fraction("0.5")
    assert exactly <= Fraction(total.epsilon) <= exactly * (1 + Fraction(1, 2**51))
    assert total.delta == Fraction("4e-8")


def test_many_small_requests_go_by_the_odometer() -> None:
    requests = ["0.01"] * 1000
    best, second = recorded_total(sums(requests), "1e-6", delta_parts=0)
    odometer = Odometer("1e-6")
    for request in requests:
        odometer = odometer.record(request)
    assert (best.epsilon, best.delta, best.theorem) == (odometer.epsilon, Fraction("1e-6"), "WRRW23")
    assert (second.epsilon, second.delta, second.theorem) == (10.0, Fraction(0), "RRUV16")


def test_half_of_delta_is_kept_for_requests_with_a_delta() -> None:
    spent = sums([("0.01", "4e-10")] * 1000)
    found = {total.theorem: total for total in recorded_total(spent, "1e-6")}
    odometer = Odometer("1e-6", delta_parts="5e-7")
    for _ in range(1000):
        odometer = odometer.record(("0.01", "4e-10"))
    assert found["WRRW23"].epsilon == odometer.epsilon
    assert found["WRRW23"].delta == Fraction("1e-6")
    more = sums([("0.01", "6e-10")] * 1000)
    assert [total.theorem for total in recorded_total(more, "1e-6")] == ["RRUV16"]
    assert [total.theorem for total in recorded_total(more, "1e-6", delta_parts="7e-7")] == ["WRRW23", "RRUV16"]


def test_noise_without_an_epsilon_has_no_sum() -> None:
    spent = sums(["0.1", oc.Gaussian(10)])
    (total,) = recorded_total(spent, "1e-6", delta_parts=0)
    assert total.epsilon == Odometer("1e-6").record("0.1").record(oc.Gaussian(10)).epsilon
    assert recorded_total(spent) == ()


def test_nothing_is_proved_without_a_currency_or_with_a_delta_of_one() -> None:
    assert recorded_total(Cost(), "1e-6") == ()
    assert recorded_total(Cost(epsilon=Fraction(1), delta=Fraction(1)), "1e-6") == ()
    assert [total.theorem for total in recorded_total(Cost(epsilon=Fraction(1)), "1e-6")] == ["RRUV16"]


def test_nothing_recorded() -> None:
    assert recorded_total(sums([]))[0].epsilon == 0


def test_tight_at() -> None:
    """The bound of WRRW23 with the γ of that place, computed again."""
    spent = sums([oc.ZCDP("0.02")] * 9)
    for place in ("0.3", "3"):
        (total,) = recorded_total(spent, "1e-6", tight_at=place, delta_parts=0)
        gamma = wrrw23.mixing(wrrw23.square_cap(Fraction(place), Fraction("1e-6")), Fraction("1e-6"))
        assert total.epsilon == wrrw23.odometer_epsilon(Fraction("0.18"), gamma, Fraction("1e-6"))


REQUESTS = st.sampled_from(["0.01", 0.3, Fraction(1, 7), ("0.05", "1e-8"), oc.ZCDP("0.001"), oc.Exponential("0.2")])


@given(st.lists(REQUESTS, min_size=1, max_size=12))
@settings(deadline=None, max_examples=60)
def test_as_an_odometer_that_saw_every_request(requests: list[Any]) -> None:
    odometer = Odometer("1e-6", delta_parts="5e-7")
    for request in requests:
        odometer = odometer.record(request)
    totals = recorded_total(sums(requests), "1e-6")
    assert [total.epsilon for total in totals] == sorted(total.epsilon for total in totals)
    # an exponential mechanism's ρ is less than half its ε²: here both are read off the same sums
    assert Fraction(totals[0].epsilon) == pytest.approx(Fraction(odometer.epsilon), rel=1e-15)
    assert odometer.spent == sums(requests)
    for total in totals:
        assert str(total.words)


def test_bad_arguments() -> None:
    spent = sums(["0.1"])
    arguments: dict[str, Any]
    for arguments in ({"delta": 0}, {"delta": 1}, {"delta": "1e-6", "delta_parts": "1e-6"}, {"delta": "x"}):
        with pytest.raises(InvalidInput, match="delta"):
            recorded_total(spent, **arguments)
    with pytest.raises(InvalidInput, match="tight_at"):
        recorded_total(spent, "1e-6", tight_at=0)


def test_an_odometer_takes_sums_kept_elsewhere() -> None:
    spent = sums(["0.1", ("0.2", "1e-8")])
    odometer = Odometer("1e-6", delta_parts="1e-7")
    assert odometer.having(spent, 2) == odometer.record("0.1").record(("0.2", "1e-8"))
    for wrong in (Cost(epsilon=Fraction(1)), Cost(rho=Fraction(1), delta=Fraction("2e-7"))):
        with pytest.raises(InvalidInput, match="spent"):
            odometer.having(wrong, 1)
