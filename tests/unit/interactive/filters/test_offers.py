"""Offers: the cheapest of several proved guarantees is charged; pricing runs apart from charging."""

from __future__ import annotations

from fractions import Fraction
from functools import reduce
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import optcomp as oc
from optcomp.errors import HypothesisNotMet, InvalidInput
from optcomp.interactive.filters import (
    BestFilter,
    Cost,
    Filter,
    Refused,
    RenyiFilter,
    SumFilter,
    Taken,
    ZCDPFilter,
    added_up,
    charge_cheapest,
    price_offers,
)
from tests.unit.interactive.filters.filter_makers import ALL, MAKERS, sums_near

PAIR, RHO, PARTS = (oc.ApproxDP("0.5", "1e-7"),), (oc.ZCDP("0.01"),), (oc.PureDP("0.1"), oc.PureDP("0.2"))


def taken(state: Filter, *offers: tuple[Any, ...]) -> Taken[Any]:
    outcome = charge_cheapest(state, price_offers(state, offers))
    assert isinstance(outcome, Taken)
    return outcome


def test_each_filter_takes_what_is_cheapest_for_it() -> None:
    offers = PAIR, RHO, PARTS
    assert taken(SumFilter(1, "1e-6"), *offers).index == 2
    assert taken(ZCDPFilter("0.1", "1e-6"), *offers).index == 1
    assert taken(BestFilter(1, "1e-6", "1e-7"), *offers).index == 2
    assert taken(RenyiFilter(8, 1), *offers).index == 1


def test_the_outcome() -> None:
    outcome = taken(SumFilter(1, "1e-6"), RHO, PARTS, PAIR)
    assert outcome.request == PARTS
    assert outcome.cost == Cost(epsilon=Fraction("0.3"))
    assert outcome.state.spent == outcome.cost
    assert outcome.state.admitted == 1
    assert taken(SumFilter(1, "1e-6"), RHO, PAIR).request == PAIR[0]


def test_the_first_of_equals() -> None:
    assert taken(SumFilter(1), ("0.2",), ("0.1", "0.1"), ("0.2",)).index == 0
    assert taken(SumFilter(1), ("0.3",), ("0.1", "0.1"), ("0.2",)).index == 1


def test_what_is_cheapest_depends_on_what_is_spent() -> None:
    state = BestFilter(1, "1e-6", "1e-7")
    offers: list[tuple[Any, ...]] = [("0.15", "0.15"), (oc.ZCDP("0.005"),)]
    first = taken(state, *offers)
    noise = taken(state, (oc.Gaussian(100),)).state  # from here on only concentration counts
    assert (first.index, taken(noise, *offers).index) == (1, 1)
    used = taken(state, ("0.2",)).state  # ρ is nearly used up, ε is not
    assert charge_cheapest(used, price_offers(used, offers)).index == 0  # type: ignore[union-attr]


def test_a_delta_that_is_there_to_be_spent() -> None:
    state = SumFilter(1, "1e-6")
    prices = price_offers(state, [("0.7",), (oc.ApproxDP("0.3", "1e-6"),), (oc.ApproxDP("0.1", "2e-6"),)])
    found = [charge_cheapest(state, prices, delta_counts=counts) for counts in (True, False)]
    assert [outcome.index for outcome in found if isinstance(outcome, Taken)] == [0, 1]
    used = taken(state, (oc.ApproxDP("0.1", "1e-7"),)).state
    assert charge_cheapest(used, prices, delta_counts=False).index == 0  # type: ignore[union-attr]
    full = taken(state, ("0.9",)).state
    assert isinstance(charge_cheapest(full, prices, delta_counts=False), Refused)


def test_rounded_up_once_for_the_whole_offer() -> None:
    third = Fraction(1, 3)
    (price,) = price_offers(SumFilter(1), [(third,) * 3])
    assert price.cost.epsilon == 1
    (price,) = price_offers(SumFilter(1), [(third,)])
    assert price.cost == Cost(epsilon=Fraction("0." + "3" * 29 + "4"))
    (price,) = price_offers(SumFilter(1), [(third,)], places=None)
    assert price.cost == Cost(epsilon=third)


def test_refused_in_terms_of_the_best() -> None:
    state = taken(SumFilter(1, "1e-6"), ("0.8",)).state
    refusal = charge_cheapest(state, price_offers(state, [PAIR, RHO, PARTS]))
    assert isinstance(refusal, Refused)
    assert refusal.request == PARTS
    assert refusal.reason == (
        "ε: this request of 2 parts costs 0.3 and 0.2 of 1 is left, which it exceeds by 0.1; "
        "it is the cheapest of 2 offers"
    )
    assert refusal.remaining == state.remaining()
    alone = charge_cheapest(state, price_offers(state, [("0.3",)]))
    assert isinstance(alone, Refused)
    assert alone.reason == state.admit("0.3").reason


def test_nothing_that_can_be_priced() -> None:
    with pytest.raises(HypothesisNotMet, match=r"ρ = 0.01 has no proved .*; .* A SumFilter takes \(ε, δ\)-DP") as error:
        price_offers(SumFilter(1), [RHO, (oc.Gaussian(9), oc.PureDP("0.1"))])
    assert error.value.theorem == "RRUV16"
    with pytest.raises(HypothesisNotMet, match="a Rényi divergence of its own order"):
        price_offers(RenyiFilter(8, 1), [PAIR])


@pytest.mark.parametrize("wrong", [[], [()], [PAIR, ()]])
def test_bad_offers(wrong: Any) -> None:
    with pytest.raises(InvalidInput, match="offers"):
        price_offers(SumFilter(1), wrong)
    with pytest.raises(InvalidInput, match="request"):
        price_offers(SumFilter(1), [("x",)])


def test_prices_are_for_filters_of_one_measure() -> None:
    prices = price_offers(RenyiFilter(8, 1), [RHO])
    assert isinstance(charge_cheapest(RenyiFilter(8, 2), prices), Taken)
    for other in (RenyiFilter(9, 1), SumFilter(1)):
        with pytest.raises(InvalidInput, match="prices"):
            charge_cheapest(other, prices)
    with pytest.raises(InvalidInput, match="prices"):
        charge_cheapest(SumFilter(1), [])


def test_code_of_the_caller_runs_only_in_the_first_step() -> None:
    calls = []

    def curve(alpha: float) -> float:
        calls.append(alpha)
        return 0.01 * alpha

    state: Filter = RenyiFilter(8, "0.1")
    prices = price_offers(state, [(oc.RenyiDP(curve),), (oc.RenyiDP(8, 1),)])
    before = len(calls)
    assert before
    outcome = charge_cheapest(state, prices)
    assert isinstance(outcome, Taken)
    assert isinstance(charge_cheapest(outcome.state, prices), Refused)
    assert len(calls) == before


OFFERS = st.lists(
    st.lists(
        st.sampled_from(
            ["0.01", "0.3", Fraction(1, 7), oc.ZCDP("0.003"), oc.Gaussian(30), oc.ApproxDP("0.02", "3e-8")]
        ),
        min_size=1,
        max_size=3,
    ).map(tuple),
    min_size=1,
    max_size=4,
)


@ALL
@given(data=st.data(), offers=OFFERS)
@settings(max_examples=60, deadline=None)
def test_no_other_offer_leaves_more(kind: str, data: st.DataObject, offers: list[tuple[Any, ...]]) -> None:
    """Against each offer charged alone, part by part."""
    fresh = MAKERS[kind]()
    state = fresh._moved(data.draw(sums_near(fresh).filter(fresh.fits)), 3)
    alone: dict[int, Filter] = {}
    known = 0
    for index, offer in enumerate(offers):
        try:
            costs = [state.price(request) for request in offer]
        except HypothesisNotMet:
            continue
        known += 1
        after = state.spent.plus(reduce(Cost.plus, costs).rounded_up())
        if state.fits(after):
            alone[index] = state._moved(after, 4)
    if not known:
        with pytest.raises(HypothesisNotMet):
            price_offers(state, offers)
        return
    outcome = charge_cheapest(state, price_offers(state, offers))
    if not alone:
        assert isinstance(outcome, Refused)
        return
    assert isinstance(outcome, Taken)
    assert outcome.state == alone[outcome.index]
    assert outcome.index == min(alone, key=lambda index: (alone[index].share, index))


@pytest.mark.parametrize("state", [SumFilter("9", "1e-3"), BestFilter("9", "1e-3", "1e-4"), ZCDPFilter("9")])
@pytest.mark.parametrize("count", [1, 2, 1000])
def test_many_equal_parts_cost_what_they_cost_one_by_one(state: Filter, count: int) -> None:
    """To the last digit, whether they are one object or equal ones; other parts may stand between them."""
    part, other = oc.PureDP("1/3000"), oc.PureDP("1/7")
    same = (*[part] * count, other, *[part] * count)
    apart = tuple(oc.PureDP(Fraction(each.epsilon)) for each in same)
    one, two = (price_offers(state, [offer], places=None) for offer in (same, apart))
    assert one == two
    assert added_up(same) == added_up(apart) == oc.ApproxDP(Fraction(2 * count, 3000) + Fraction(1, 7), 0)


def test_a_sum_of_what_has_no_epsilon_is_not_known() -> None:
    assert added_up([oc.PureDP(1), oc.ZCDP(1)]) is None
    assert added_up([oc.PureDP(1), oc.ApproxDP(2, "1/8"), oc.ApproxDP(2, "1/8")]) == oc.ApproxDP(5, "1/4")
