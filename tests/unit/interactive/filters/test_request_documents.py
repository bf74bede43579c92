"""Requests as documents: the same guarantee when they are read, and the same price in every filter."""

from __future__ import annotations

import json
from dataclasses import dataclass
from fractions import Fraction
from math import inf, nextafter
from typing import Any

import pyarrow
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import optcomp as oc
from optcomp.errors import HypothesisNotMet, InvalidInput
from optcomp.guarantees import KnownLoss
from optcomp.interactive import GaussianSparseVector, GuessAndCheck, SparseVector
from optcomp.interactive.filters import Cost, Filter, RenyiFilter, read_request_document, request_document
from optcomp.statistics import Count, Integers, Mean, Median, Question, Table
from tests.unit.interactive.filters.filter_makers import MAKERS

GUARANTEES: list[Any] = [
    *(oc.PureDP("0.1"), oc.PureDP(0.1), oc.PureDP(0), oc.ApproxDP("1/3", 1e-7), oc.ZCDP(0.1), oc.ZCDP("1e-9")),
    *(oc.ApproxZCDP("0.01", "1e-300"), oc.TCDP("0.01", 9.5), oc.GaussianDP("0.3"), oc.GaussianDP(0.3)),
    *(oc.RenyiDP(8, "0.1"), oc.RenyiDP({2: 0.1, "17/2": "1/7", 64: 3}), oc.RenyiDP("8.1", 0)),
    *(oc.Gaussian(7.3), oc.Gaussian("5", "0.1"), oc.Laplace(10.1), oc.Laplace("1/3", "1/30")),
    *(oc.DiscreteGaussian(5.5, 3), oc.DiscreteGaussian("7"), oc.DiscreteLaplace(9.1), oc.DiscreteLaplace("9/7", 2)),
    *(oc.Exponential("0.3"), oc.Exponential(0.3), oc.RandomizedResponse(0.2), oc.RandomizedResponse("0.2", 7)),
    *(oc.NameAndShame("1e-9"), oc.SparseVectorDP(0.1, "0.2")),
    *(oc.PoissonSubsampled(oc.Gaussian(2.5), "0.01"), oc.PoissonSubsampled(oc.Laplace("3"), 0.1)),
]
FILTERS = [*(make() for make in MAKERS.values()), RenyiFilter(2, 1), RenyiFilter("8.5", 1), RenyiFilter(40, 1)]


def price(state: Filter, request: Any) -> Cost | None:
    try:
        return state.price(request)
    except HypothesisNotMet:
        return None


def through_json(request: Any) -> Any:
    text = json.dumps(request_document(request), sort_keys=True, separators=(",", ":"))
    again = read_request_document(text)
    assert again == read_request_document(json.loads(text))
    assert request_document(again) == json.loads(text)
    return again


@pytest.mark.parametrize("request_", GUARANTEES, ids=range(len(GUARANTEES)))
def test_the_same_again_at_the_same_price(request_: Any) -> None:
    again = through_json(request_)
    assert type(again) is type(request_)
    assert again == request_
    for state in FILTERS:
        assert price(state, again) == price(state, request_)


@given(
    st.floats(1e-9, 100) | st.fractions(Fraction(1, 10**9), 100), st.floats(0, 0.99) | st.fractions(0, Fraction(1, 2))
)
@settings(deadline=None)
def test_every_number_is_kept_exactly(epsilon: Any, delta: Any) -> None:
    again = through_json(oc.ApproxDP(epsilon, delta))
    assert (Fraction(again.epsilon), Fraction(again.delta)) == (Fraction(epsilon), Fraction(delta))


def test_texts() -> None:
    assert request_document(oc.PureDP("0.05")) == {"kind": "PureDP", "epsilon": "1/20"}
    assert request_document("0.05") == {"kind": "PureDP", "epsilon": "1/20"}
    assert request_document(("0.05", "1e-6")) == {"kind": "ApproxDP", "epsilon": "1/20", "delta": "1/1000000"}
    assert request_document(oc.DiscreteLaplace("2.5", 3)) == {
        "kind": "DiscreteLaplace",
        "scale": "5/2",
        "sensitivity": 3,
    }
    assert request_document(oc.RenyiDP({8: "0.1", 2: "0.05"})) == {
        "kind": "RenyiDP",
        "orders": [["2", "1/20"], ["8", "1/10"]],
    }


def test_what_questions_and_mechanisms_cost() -> None:
    table = Table(pyarrow.table({"age": list(range(9))}), {"age": Integers(0, 99)})
    questions = [
        Question(Count(), epsilon="0.1"),
        Question(Mean("age"), epsilon=0.3),
        Question(Count(), epsilon="0.2", delta="1e-9"),
        Question(Mean("age"), rho="0.01"),
        Question(Median("age"), epsilon="0.3"),
    ]
    costs: list[Any] = [cost for question in questions for cost in question.costs(table)]
    costs += SparseVector(3, epsilon="0.1", positives=2).costs(table)
    for delta in (0, "1e-6"):
        costs += GuessAndCheck(tolerance=5, epsilon="0.4", corrections=3, delta=delta).costs(table)
    assert {type(cost).__name__ for cost in costs} >= {"PureDP", "ApproxDP", "ZCDP", "Exponential"}
    for cost in costs:
        assert through_json(cost) == cost


class TestCurves:
    def test_a_function_is_written_at_the_orders_that_are_asked_for(self) -> None:
        curve = oc.RenyiDP(lambda alpha: 0.01 * alpha if alpha < 20 else inf)
        written = request_document(curve, orders=["8.5", 2, 64])
        again = read_request_document(written)
        assert again == oc.RenyiDP({2: 0.02, 8.5: 0.01 * 8.5})
        for order in (2, "8.5"):
            assert RenyiFilter(order, 1).price(again) == RenyiFilter(order, 1).price(curve)
        with pytest.raises(HypothesisNotMet):
            RenyiFilter(64, 1).price(again)

    def test_a_bound_of_our_own(self) -> None:
        (cost,) = GaussianSparseVector(3, questions=10, positives=2, sigma_threshold=50, sigma_questions=100).costs()
        again = read_request_document(request_document(cost, orders=[8]))
        assert RenyiFilter(8, 9).price(again) == RenyiFilter(8, 9).price(cost)

    def test_rounded_up(self) -> None:
        curve: Any = lambda alpha: Fraction(1, 3)  # noqa: E731
        written: Any = request_document(oc.RenyiDP(curve), orders=[4])
        value = Fraction(written["orders"][0][1])
        assert Fraction(1, 3) <= value <= Fraction(nextafter(nextafter(1 / 3, 1), 1))

    def test_refused(self) -> None:
        curve = oc.RenyiDP(lambda alpha: inf)
        with pytest.raises(InvalidInput, match="orders to write it at must be given"):
            request_document(curve)
        with pytest.raises(InvalidInput, match="at which the curve is finite"):
            request_document(curve, orders=[2, 8])
        wrong: Any
        for wrong in (1, "8.1", "x", 10**400):
            with pytest.raises(InvalidInput, match="orders"):
                request_document(curve, orders=[wrong])

    def test_orders_do_not_change_what_can_be_written_whole(self) -> None:
        for request in (oc.RenyiDP({2: "0.1"}), oc.Gaussian(5), oc.PureDP(1)):
            assert request_document(request, orders=[8]) == request_document(request)


def test_own_guarantees() -> None:
    """By their ε and δ, unless more is known of them that would be lost."""

    @dataclass(frozen=True)
    class Mine:
        epsilon: Fraction = Fraction(1, 10)
        delta: Fraction = Fraction(1, 10**7)

    assert read_request_document(request_document(Mine())) == oc.ApproxDP("0.1", "1e-7")

    class Loss(KnownLoss):
        laws = ()

    with pytest.raises(InvalidInput, match="can only be written"):
        request_document(Loss())


def test_numbers_too_long_to_be_read_again() -> None:
    with pytest.raises(InvalidInput, match="at most 14000 bits"):
        request_document(oc.PureDP(1 + Fraction(1, 10**5000)))
    assert through_json(oc.PureDP(1 + Fraction(1, 10**4000))).epsilon == 1 + Fraction(1, 10**4000)


@pytest.mark.parametrize(
    "wrong",
    [
        *(
            None,
            [],
            "x",
            {},
            {"kind": "PureDP"},
            {"kind": "None", "epsilon": "1"},
            {"kind": ["PureDP"], "epsilon": "1"},
        ),
        *({"kind": "PureDP", "epsilon": 1}, {"kind": "PureDP", "epsilon": "-1"}, {"kind": "PureDP", "epsilon": "0.1"}),
        {"kind": "PureDP", "epsilon": "1", "delta": "0"},
        *({"kind": "ApproxDP", "epsilon": "1", "delta": "1"}, {"kind": "ZCDP", "rho": "0"}),
        {"kind": "DiscreteLaplace", "scale": "1", "sensitivity": "1"},
        {"kind": "RandomizedResponse", "epsilon": "1", "answers": True},
        *({"kind": "RenyiDP", "orders": []}, {"kind": "RenyiDP", "orders": [["2"]]}, {"kind": "RenyiDP", "orders": {}}),
        *({"kind": "RenyiDP", "orders": [["2", "1"], ["4/2", "3"]]}, {"kind": "RenyiDP", "orders": [["1", "1"]]}),
        {"kind": "PoissonSubsampled", "mechanism": {"kind": "PureDP", "epsilon": "1"}, "rate": "1/2"},
        {"kind": "PoissonSubsampled", "mechanism": {"kind": "Gaussian", "sigma": "1", "sensitivity": "1"}, "rate": "2"},
        '{"kind":"PureDP","epsilon":"1","epsilon":"1/2"}',
    ],
)
def test_every_damage_is_found(wrong: object) -> None:
    with pytest.raises(InvalidInput):
        read_request_document(wrong)
