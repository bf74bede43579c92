"""Filters: what is admitted, what is refused and why, what is left, and documents that never give more."""

from __future__ import annotations

import json
from contextlib import suppress
from fractions import Fraction
from itertools import product
from math import inf
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from hypothesis.stateful import RuleBasedStateMachine, initialize, invariant, precondition, rule

import optcomp as oc
from optcomp.errors import BudgetExceeded, HypothesisNotMet, InvalidInput
from optcomp.interactive.filters import (
    AdaptiveFilter,
    Admitted,
    BestFilter,
    Cost,
    Filter,
    Refused,
    RenyiFilter,
    SumFilter,
    ZCDPFilter,
    restore,
)
from optcomp.interactive.filters.caps import root_down
from optcomp.interactive.filters.cost import MOST_BITS, bounded_up, short_down, short_up

MAKERS: dict[str, Any] = {
    "sum": lambda: SumFilter("1", "1e-6"),
    "zcdp": lambda: ZCDPFilter.within("1", "1e-6", "1e-7"),
    "renyi": lambda: RenyiFilter.within("1", "1e-6"),
    "adaptive": lambda: AdaptiveFilter("1", "1e-6", "1e-7"),
    "best": lambda: BestFilter("1", "1e-6", "1e-7"),
}
ALL = pytest.mark.parametrize("kind", MAKERS)


def spend(state: Filter, request: Any, times: int = 10**6) -> tuple[Filter, int]:
    """Admit as often as possible."""
    count = 0
    while count < times and isinstance(outcome := state.admit(request), Admitted):
        state, count = outcome.state, count + 1
    return state, count


@pytest.mark.parametrize(
    ("kind", "fit"), [("sum", 100), ("adaptive", 349), ("zcdp", 487), ("best", 487), ("renyi", 490)]
)
def test_how_many_small_requests_fit(kind: str, fit: int) -> None:
    """ε = 0.01 within (1, 1e-6), all of δ for the filter itself."""
    whole = {"zcdp": lambda: ZCDPFilter.within("1", "1e-6"), "adaptive": lambda: AdaptiveFilter("1", "1e-6")}
    whole |= {"best": lambda: BestFilter("1", "1e-6")}
    state = whole.get(kind, MAKERS[kind])()
    assert state.remaining(like="0.01").count == fit
    after, count = spend(state, "0.01")
    assert count == after.admitted == fit
    assert after.remaining(like="0.01").count == 0


class TestSum:
    def test_values(self) -> None:
        state = SumFilter("1", "1e-6")
        outcome = state.admit(oc.ApproxDP("0.3", "1e-7"))
        assert isinstance(outcome, Admitted)
        assert outcome.request == oc.ApproxDP("0.3", "1e-7")
        assert outcome.cost == Cost(epsilon=Fraction(3, 10), delta=Fraction(1, 10**7))
        assert outcome.state.spent == outcome.cost
        assert outcome.state.total == oc.ApproxDP(1, "1e-6") == state.total
        assert state.spent == Cost(epsilon=Fraction(0))
        assert outcome.state.theorem == "RRUV16"

    def test_strings_fill_it_and_floats_do_not(self) -> None:
        """A float 0.2 is a little more than 1/5: the fifth does not fit, and the refusal says what to do."""
        assert spend(SumFilter(1), "0.2")[1] == 5
        state, count = spend(SumFilter(1), 0.2)
        assert count == 4
        refusal = state.admit(0.2)
        assert isinstance(refusal, Refused)
        assert refusal.reason == (
            "ε: this request of ε = 0.2 costs 0.2 and 0.2 of 1 is left, which it exceeds by 5.56e-17; "
            "a float is its exact binary value, so write such numbers as decimal strings"
        )
        assert spend(SumFilter(1), 0.25)[1] == 4

    def test_refusal(self) -> None:
        state = spend(SumFilter("1"), "0.2", 4)[0]
        refusal = state.admit("0.35")
        assert isinstance(refusal, Refused)
        assert refusal.reason == "ε: this request of ε = 0.35 costs 0.35 and 0.2 of 1 is left, which it exceeds by 0.15"
        assert refusal.remaining == state.remaining()
        error = refusal.error()
        assert isinstance(error, BudgetExceeded)
        assert (error.requested, error.remaining, str(error)) == (refusal.request, refusal.remaining, refusal.reason)

    def test_refusal_names_delta(self) -> None:
        refusal = SumFilter("1", "1e-6").admit(("0.1", "1e-5"))
        assert isinstance(refusal, Refused)
        assert refusal.reason.startswith("δ: this request of (ε, δ) = (0.1, 1e-5) costs 1e-5 and 1e-6 of 1e-6 is left")

    def test_words(self) -> None:
        state = spend(SumFilter(1, "1e-6"), "0.05", 13)[0]
        assert str(state.remaining()) == "ε 0.35 of 1 left, δ 1e-6 of 1e-6 left: one request of up to ε = 0.35"
        counted = state.remaining(like=oc.PureDP("0.05"))
        assert str(counted) == "ε 0.35 of 1 left, δ 1e-6 of 1e-6 left: 7 more requests of ε = 0.05"
        assert str(state.remaining(like=("0.3", "1e-7"))).endswith(": 1 more request of (ε, δ) = (0.3, 1e-7)")
        assert str(state.remaining(like=0)).endswith(": any number of more requests of ε = 0")
        assert str(spend(SumFilter(1), 1)[0].remaining()) == "ε 0 of 1 left: nothing more"
        assert str(SumFilter(1)) == "SumFilter, ε = 1 in all: ε 1 of 1 left: one request of up to ε = 1"

    def test_mechanisms_by_their_epsilon(self) -> None:
        request: Any
        for request, eps in [
            (oc.Laplace(10), "0.1"),
            (oc.DiscreteLaplace(10), "0.1"),
            (oc.RandomizedResponse("0.1"), "0.1"),
            (oc.Exponential("0.1"), "0.1"),
            (oc.SparseVectorDP("0.1", "0.2"), "0.3"),
            (0, "0"),
        ]:
            assert SumFilter(1).price(request).epsilon == Fraction(eps)
        assert SumFilter(1).price(oc.NameAndShame("1e-7")) == Cost(epsilon=Fraction(0), delta=Fraction(1, 10**7))
        assert spend(SumFilter(1), oc.Laplace(3))[1] == 3


class TestConcentrated:
    def test_prices(self) -> None:
        state = ZCDPFilter("0.1", "1e-6")
        request: Any
        for request, rho in [
            ("0.2", "0.02"),
            (oc.Laplace(5), "0.02"),
            (oc.Gaussian(5), "0.02"),
            (oc.DiscreteGaussian(5), "0.02"),
            (oc.GaussianDP("0.2"), "0.02"),
            (oc.ZCDP("0.02"), "0.02"),
            (oc.Exponential("0.4"), "0.02"),
            (oc.SparseVectorDP("0.1", "0.1"), "0.02"),
            (oc.PureDP("1e-90"), "0.5e-180"),
            (oc.Gaussian(10**6), "0.5e-12"),
        ]:
            assert state.price(request) == Cost(rho=Fraction(rho))
        assert state.price(("0.2", "1e-7")) == Cost(rho=Fraction(1, 50), delta=Fraction(1, 10**7))
        assert state.price(oc.ApproxZCDP("0.02", "1e-7")) == Cost(rho=Fraction(1, 50), delta=Fraction(1, 10**7))

    def test_total(self) -> None:
        assert ZCDPFilter("0.1").total == oc.ZCDP("0.1")
        assert ZCDPFilter("0.1").theorem == "FZ21"
        assert ZCDPFilter("0.1", "1e-6").total == oc.ApproxZCDP("0.1", "1e-6")
        assert ZCDPFilter("0.1", "1e-6").theorem == "WRRW23"

    @pytest.mark.parametrize(("epsilon", "delta"), [("1", "1e-6"), ("0.1", "1e-9"), ("8", "1e-5")])
    def test_within(self, epsilon: str, delta: str) -> None:
        """The budget as a whole, as `at` and `compose` see it, is within the target, and nearly all of it."""
        state = ZCDPFilter.within(epsilon, delta)
        assert state.at(delta) <= Fraction(epsilon)
        assert oc.compose([state.total], delta=delta).upper == pytest.approx(float(epsilon), rel=1e-9)
        assert state.at("1e-15") > float(epsilon)

    def test_within_with_slips(self) -> None:
        state = ZCDPFilter.within(1, "1e-6", "5e-7")
        assert state.delta == Fraction(5, 10**7)
        assert state.at("1e-6") <= 1
        assert state.at("5e-7") == inf
        assert oc.compose([state.total], delta="1e-6").upper == pytest.approx(1, rel=1e-9)

    def test_too_small(self) -> None:
        with pytest.raises(InvalidInput, match="SumFilter"):
            ZCDPFilter.within("1e-9", "1e-12")

    def test_words(self) -> None:
        state = ZCDPFilter("0.02")
        assert str(state.remaining()) == "ρ 0.02 of 0.02 left: one request of up to ε = 0.2"
        assert str(state.remaining(like=oc.Gaussian(20))).endswith(
            ": 16 more requests of Gaussian(sigma=20, sensitivity=1)"
        )


class TestRenyi:
    def test_prices(self) -> None:
        state = RenyiFilter(8, 1)
        assert state.price(oc.RenyiDP(8, "0.1")).divergence == Fraction(1, 10)
        assert state.price(oc.RenyiDP({4: "0.05", 8: "0.1"})).divergence == Fraction(1, 10)
        assert state.price(oc.TCDP("0.01", 9)).divergence == Fraction(8, 100)
        assert state.price(oc.ZCDP("0.01")).divergence == Fraction(8, 100)
        assert state.price(oc.Gaussian(10)).divergence == Fraction(4, 100)
        assert state.price(oc.Exponential("0.4")).divergence == Fraction(16, 100)
        assert state.price(0).divergence == 0
        assert spend(state, oc.RenyiDP(8, "0.1"))[1] == 10

    def test_losses(self) -> None:
        """Never more than by concentration, and what the curve of the loss says."""
        for request in (oc.Laplace(5), oc.DiscreteLaplace(5), oc.RandomizedResponse("0.2"), oc.DiscreteGaussian(5)):
            price = RenyiFilter(8, 1).price(request).divergence
            assert price is not None
            assert price <= Fraction(16, 100)
            truth = oc.convert(request, oc.RenyiDP).renyi(8.0)
            assert float(price) == pytest.approx(float(truth.mid()), rel=1e-12)
        coin = RenyiFilter(8, 1).price(oc.RandomizedResponse("0.2")).divergence
        assert RenyiFilter(8, 1).price("0.2").divergence == coin
        subsampled = oc.PoissonSubsampled(oc.Gaussian(1), "0.01")
        price = RenyiFilter(8, 1).price(subsampled).divergence
        assert price is not None
        assert 0 < price < Fraction(1, 1000)

    def test_total_and_within(self) -> None:
        assert RenyiFilter(8, "0.5").total == oc.RenyiDP(8, "0.5")
        for order in (None, 30, "20.5"):
            state = RenyiFilter.within(1, "1e-6", order)
            bound = oc.compose([state.total], delta="1e-6")
            assert bound.upper == pytest.approx(1, rel=1e-6)

    def test_an_order_that_proves_nothing(self) -> None:
        with pytest.raises(InvalidInput, match="proves nothing"):
            RenyiFilter.within(1, "1e-6", 1.5)

    @pytest.mark.parametrize("order", [1, "0.5", "8.1", 2**60, -3, "x"])
    def test_bad_order(self, order: object) -> None:
        with pytest.raises(InvalidInput, match="order"):
            RenyiFilter(order, 1)  # type: ignore[arg-type]

    def test_largest(self) -> None:
        state = RenyiFilter.within(1, "1e-6")
        largest = state.remaining().largest
        assert largest is not None
        assert isinstance(state.admit(largest), Admitted)
        assert isinstance(state.admit(largest * Fraction(100001, 100000)), Refused)


class TestAdaptiveAndBest:
    def test_prices(self) -> None:
        state = AdaptiveFilter(1, "1e-6", "1e-7")
        assert state.price("0.1").squares == Fraction(1, 100)
        assert state.price(oc.Gaussian(10)).squares == Fraction(1, 100)
        assert state.price(oc.Exponential("0.2")).squares == Fraction(1, 100)
        assert state.price(("0.1", "1e-9")) == Cost(squares=Fraction(1, 100), delta=Fraction(1, 10**9))
        assert state.total == oc.ApproxDP(1, "1e-6")

    def test_delta_is_split(self) -> None:
        assert AdaptiveFilter(1, "1e-6", "9e-7").cap < AdaptiveFilter(1, "1e-6").cap
        refusal = AdaptiveFilter(1, "1e-6", "1e-7").admit(("0.01", "2e-7"))
        assert isinstance(refusal, Refused)
        assert refusal.reason.startswith("δ:")

    def test_best_takes_large_and_small(self) -> None:
        for request, least in ((1, 1), ("0.5", 2), ("0.25", 4), ("0.01", 487), (oc.Gaussian(50), 121)):
            assert spend(BestFilter(1, "1e-6"), request)[1] == least

    def test_best_is_never_worse(self) -> None:
        for request in ("0.5", "0.2", "0.1", "0.05", "0.003"):
            counts = [
                state.remaining(like=request).count or 0
                for state in (SumFilter(1), AdaptiveFilter(1, "1e-6"), ZCDPFilter.within(1, "1e-6"))
            ]
            assert BestFilter(1, "1e-6").remaining(like=request).count == max(counts)

    def test_once_noise_without_an_epsilon_is_in_only_concentration_counts(self) -> None:
        state = spend(BestFilter(1, "1e-6"), oc.Gaussian(50), 1)[0]
        assert state.spent.epsilon is None
        assert isinstance(state.admit("0.5"), Refused)
        assert isinstance(state.admit("0.2"), Admitted)
        assert restore(json.loads(json.dumps(state.document()))) == state
        assert str(state.remaining()).startswith("ε 0 of 1 left or ρ 0.02415")

    def test_best_with_a_tiny_epsilon_is_the_sum(self) -> None:
        state = BestFilter("1e-9", "1e-12")
        assert state.cap == 0
        assert spend(state, "5e-10")[1] == 2


@ALL
@pytest.mark.parametrize("request_", [oc.RenyiDP(3, "0.1"), oc.TCDP("0.1", 2), oc.RenyiDP(lambda alpha: inf)])
def test_what_cannot_be_accounted_for(kind: str, request_: Any) -> None:
    state = MAKERS[kind]()
    with pytest.raises(HypothesisNotMet, match="has no proved") as error:
        state.admit(request_)
    assert error.value.theorem == state.theorem
    with pytest.raises(HypothesisNotMet):
        state.remaining(like=request_)


def test_other_mismatches() -> None:
    for state, request in (
        (SumFilter(1), oc.Gaussian(5)),
        (SumFilter(1), oc.ZCDP("0.1")),
        (ZCDPFilter(1), oc.PoissonSubsampled(oc.Gaussian(5), "0.1")),
        (RenyiFilter(8, 1), ("0.1", "1e-9")),
        (RenyiFilter(8, 1), oc.ApproxZCDP("0.1", "1e-9")),
        (RenyiFilter(8, 1), oc.NameAndShame("1e-9")),
    ):
        with pytest.raises(HypothesisNotMet):
            state.admit(request)


@ALL
@pytest.mark.parametrize(
    "wrong", [-1, "x", None, (1, 2, 3), ("0.1", 1), float("nan"), inf, True, object(), {}, oc.PureDP]
)
def test_bad_requests(kind: str, wrong: Any) -> None:
    with pytest.raises(InvalidInput, match="request"):
        MAKERS[kind]().admit(wrong)


@pytest.mark.parametrize(
    "make",
    [
        lambda: SumFilter(-1),
        lambda: SumFilter("x"),
        lambda: SumFilter(1, 1),
        lambda: SumFilter(1, -1),
        lambda: SumFilter(inf),
        lambda: SumFilter(1 + Fraction(1, 3**10_000)),
        lambda: SumFilter(1, Fraction(1, 2) + Fraction(1, 3**10_000)),
        lambda: ZCDPFilter(0),
        lambda: ZCDPFilter("1e9"),
        lambda: ZCDPFilter.within(1, 0),
        lambda: ZCDPFilter.within(0, "1e-6"),
        lambda: ZCDPFilter.within(1, "1e-6", "1e-6"),
        lambda: RenyiFilter(2, -1),
        lambda: AdaptiveFilter(1, 0),
        lambda: AdaptiveFilter(0, "1e-6"),
        lambda: AdaptiveFilter(1, "1e-6", "1e-5"),
        lambda: BestFilter(1, 1),
        lambda: BestFilter(1, "1e-6", -1),
    ],
)
def test_bad_budgets(make: Any) -> None:
    with pytest.raises(InvalidInput):
        make()


def test_own_guarantees_are_taken_by_their_epsilon_and_delta() -> None:
    class Mine:
        epsilon, delta = Fraction(1, 10), Fraction(1, 10**7)

    outcome = SumFilter(1, "1e-6").admit(Mine())
    assert isinstance(outcome, Admitted)
    assert outcome.cost == Cost(epsilon=Fraction(1, 10), delta=Fraction(1, 10**7))


@ALL
def test_filters_are_values(kind: str) -> None:
    state = MAKERS[kind]()
    assert state == MAKERS[kind]()
    assert hash(state) == hash(MAKERS[kind]())
    assert hash(state.remaining()) == hash(state.remaining())
    with pytest.raises(AttributeError):
        state.spent = Cost()
    after = state.admit("0.01").state
    assert after != state
    assert state == MAKERS[kind]()


@ALL
def test_nothing_costs_nothing_even_at_the_end(kind: str) -> None:
    state = spend(MAKERS[kind](), "0.03")[0]
    assert isinstance(state.admit(0), Admitted)
    assert state.remaining(like=0).count is None


@ALL
@given(request=st.fractions(Fraction(1, 40), Fraction(1, 3), max_denominator=10**6))
@settings(max_examples=15)
def test_the_count_is_exact(kind: str, request: Fraction) -> None:
    state = MAKERS[kind]()
    assert state.remaining(like=request).count == spend(state, request)[1]


@ALL
def test_the_largest_request_fits_and_is_about_the_largest(kind: str) -> None:
    state = spend(MAKERS[kind](), "0.03", 3)[0]
    largest = state.remaining().largest
    assert largest
    assert isinstance(state.admit(largest), Admitted)
    assert isinstance(state.admit(largest * Fraction(100001, 100000)), Refused)


class TestDocuments:
    @ALL
    def test_round_trip(self, kind: str) -> None:
        state = MAKERS[kind]()
        for request in ("0.01", 0.02, Fraction(1, 300), oc.Laplace(100)):
            assert restore(json.loads(json.dumps(state.document()))) == state
            state = state.admit(request).state
        again = restore(json.loads(json.dumps(state.document())))
        assert (again, again.total, again.theorem) == (state, state.total, state.theorem)
        assert again.remaining() == state.remaining()

    def test_text(self) -> None:
        document = spend(SumFilter("1", "1e-6"), "0.05", 1)[0].document()
        assert document == {
            "format": "optcomp-filter",
            "version": 1,
            "kind": "sum",
            "parameters": {"epsilon": "1", "delta": "1/1000000"},
            "spent": {"epsilon": "1/20", "delta": "0"},
            "admitted": 1,
        }

    @ALL
    def test_every_damage_is_found(self, kind: str) -> None:
        """Any entry missing, of another type, negative, too much, or one too many."""
        good = MAKERS[kind]().admit("0.01").state.document()
        assert restore(good)
        places = [(name,) for name in good] + [(part, name) for part in ("parameters", "spent") for name in good[part]]
        wrongs: list[Any] = [
            None,
            -1,
            0.5,
            True,
            [],
            {},
            "",
            "x",
            "-1/2",
            "1/0",
            "nan",
            "1e-3",
            "1.5",
            " 1",
            "١",
            "9" * 5000,
        ]
        for place, wrong in product(places, wrongs):
            if kind == "best" and place == ("spent", "epsilon") and wrong is None:
                continue
            with pytest.raises(InvalidInput):
                restore(_changed(good, place, wrong))
        for part in (good, *(good[name] for name in ("parameters", "spent"))):
            for name in part:
                place = (name,) if part is good else (next(key for key in good if good[key] is part), name)
                with pytest.raises(InvalidInput):
                    restore(_changed(good, place, _Missing))
        for more in (("other",), ("parameters", "other"), ("spent", "other")):
            with pytest.raises(InvalidInput):
                restore(_changed(good, more, "1"))
        for wrong in (None, [], "x", 3, good | {"version": 2}, good | {"kind": "none"}, good | {"format": "other"}):
            with pytest.raises(InvalidInput):
                restore(wrong)

    @ALL
    def test_overspent(self, kind: str) -> None:
        good = MAKERS[kind]().document()
        main = next(name for name in good["spent"] if name != "delta")
        changed = _changed(good, ("spent", main), "1000")
        changed = _changed(changed, ("spent", "rho"), "1000") if kind == "best" else changed
        with pytest.raises(InvalidInput, match="more than the budget"):
            restore(changed)

    @pytest.mark.parametrize("kind", ["adaptive", "best"])
    def test_a_cap_can_only_shrink(self, kind: str) -> None:
        state = MAKERS[kind]()
        document = state.document()
        for factor, expected in ((2, state.cap), (Fraction(1, 2), state.cap / 2)):
            changed = _changed(document, ("parameters", "cap"), str(state.cap * factor))
            restored: Any = restore(changed)
            assert restored.cap == expected

    def test_a_cap_that_shrank_below_what_was_spent(self) -> None:
        """Written by software that knew a larger cap: nothing is left, and that is all."""
        state = AdaptiveFilter(1, "1e-6")
        changed = _changed(state.document(), ("parameters", "cap"), "1")
        changed = _changed(changed, ("spent", "squares"), "1/2")
        restored = restore(changed)
        assert isinstance(restored.admit("0.001"), Refused)
        assert str(restored.remaining()) == "Σε² 0 of 0.0349378 left: nothing more"


class _Missing:
    pass


def _changed(document: dict[str, Any], place: tuple[str, ...], value: object) -> dict[str, Any]:
    other: dict[str, Any] = json.loads(json.dumps(document))
    inner = other
    for name in place[:-1]:
        inner = inner[name]
    if value is _Missing:
        del inner[place[-1]]
    else:
        inner[place[-1]] = value
    return other


class TestNumbers:
    def test_long_denominators_are_bounded_and_rounded_up(self) -> None:
        state: Filter = ZCDPFilter("0.1")
        for odd in range(10**9 + 1, 10**9 + 2001, 2):
            state = state.admit(Fraction(1, odd)).state  # type: ignore[union-attr]
        rho = state.spent.rho
        assert rho is not None
        exactly = sum((Fraction(1, odd) ** 2 / 2 for odd in range(10**9 + 1, 10**9 + 2001, 2)), Fraction(0))
        assert exactly <= rho <= exactly + Fraction(1000, 2**13_400)
        assert rho.denominator.bit_length() <= MOST_BITS
        assert restore(json.loads(json.dumps(state.document()))) == state

    def test_bounded_up(self) -> None:
        assert bounded_up(Fraction(1, 3)) == Fraction(1, 3)
        long = Fraction(1, 3**9_000)
        assert 0 <= bounded_up(long) - long < Fraction(1, 2**13_400)

    def test_short(self) -> None:
        assert (short_down(Fraction(2, 3)), short_up(Fraction(2, 3))) == ("0.666666", "0.666667")
        assert short_down(Fraction(0.1)) == short_up(Fraction(0.1)) == "0.1"
        assert (short_up(Fraction(1, 10**9)), short_up(Fraction(10**15)), short_up(Fraction(0))) == (
            "1e-9",
            "1e+15",
            "0",
        )

    @given(st.fractions(0, 10**6))
    def test_root(self, value: Fraction) -> None:
        root = root_down(value)
        assert root**2 <= value
        assert (root * (1 + Fraction(1, 10**30)) + Fraction(1, 10**40)) ** 2 > value


REQUESTS = st.one_of(
    st.sampled_from(["0.01", "0.1", "0.05", 0.01, 0.1, 0, "1e-20", Fraction(1, 3)]),
    st.fractions(0, Fraction(1, 2), max_denominator=1000),
    st.floats(1e-6, 0.5),
    st.sampled_from(
        [oc.Laplace(30), oc.Exponential("0.05"), oc.RandomizedResponse("0.02"), oc.SparseVectorDP("0.1", "0.01")]
    ),
    st.tuples(st.sampled_from(["0.01", 0.1]), st.sampled_from([0, "1e-8", "5e-8", 1e-7, "1e-5"])),
    st.sampled_from([oc.Gaussian(30), oc.ZCDP("0.001"), oc.DiscreteGaussian(20), oc.NameAndShame("1e-8")]),
)


class Life(RuleBasedStateMachine):
    """A filter from its making to its end, beside the plain list of what it admitted."""

    state: Filter

    def __init__(self) -> None:
        super().__init__()
        self.costs: list[Cost] = []
        self.refusals = 0

    @initialize(kind=st.sampled_from(sorted(MAKERS)))
    def make(self, kind: str) -> None:
        self.state = MAKERS[kind]()
        self.first = MAKERS[kind]()

    @rule(request=REQUESTS)
    def ask(self, request: Any) -> None:
        before = self.state.document()
        try:
            outcome = self.state.admit(request)
        except HypothesisNotMet:
            assert self.state.document() == before
            return
        count = self.state.remaining(like=request).count
        assert isinstance(outcome, Admitted) == (count is None or count > 0)
        assert self.state.document() == before
        if isinstance(outcome, Admitted):
            self.costs.append(outcome.cost)
            self.state = outcome.state
        else:
            self.refusals += 1
            assert outcome.remaining == self.state.remaining()
            assert outcome.reason

    @rule()
    def save_and_restore(self) -> None:
        again = restore(json.loads(json.dumps(self.state.document())))
        assert again == self.state
        self.state = again

    @precondition(lambda self: bool(self.costs))
    @rule(at=st.integers(0, 10**6))
    def a_copy_goes_its_own_way(self, at: int) -> None:
        """What happens to a copy is no matter to the original."""
        before = self.state.document()
        spend(restore(before), Fraction(1, 50 + at % 100), 20)
        assert self.state.document() == before

    @invariant()
    def sums_are_exact_and_within(self) -> None:
        for name in self.state.currencies():
            amounts = [cost.get(name) for cost in self.costs]
            expected = None if None in amounts else sum((amount for amount in amounts if amount), Fraction(0))
            assert self.state.spent.get(name) == expected
        assert self.state.fits(self.state.spent)
        assert self.state.admitted == len(self.costs)
        assert self.state.total == self.first.total
        for name, (left, whole) in self.state.remaining().amounts.items():
            assert 0 <= left <= whole == self.first.caps.get(name)


TestLife = Life.TestCase
TestLife.settings = settings(max_examples=40, stateful_step_count=25)


LONG, SMALL = Fraction(10**5000 + 1, 10**5000), Fraction(1, 10**200_000)


@ALL
@pytest.mark.parametrize(
    "request_",
    [
        *(LONG, SMALL, -LONG, (LONG, SMALL), ("1/9", 1 - SMALL), oc.PureDP(LONG / 9), oc.ZCDP(LONG), oc.Gaussian(LONG)),
        *(oc.RenyiDP({2: LONG, 8: LONG}), oc.RenyiDP(LONG, LONG), oc.TCDP(LONG, 1 + LONG)),
    ],
    ids=range(11),
)
def test_numbers_of_thousands_of_digits_are_counted_or_refused_in_words(kind: str, request_: Any) -> None:
    """Whatever is said about them, it is said: outcomes, refusals, what is left, and documents."""
    state: Filter = MAKERS[kind]()
    for say in (state.admit, state.remaining):
        found: Any = "refused in words"
        with suppress(InvalidInput, HypothesisNotMet):
            found = say(request_)
        assert repr(found)
        assert str(found)
        if isinstance(found, Refused):
            assert len(found.reason) < 400
        if isinstance(found, Admitted):
            assert restore(json.dumps(found.state.document())) == found.state


def test_short_numbers_are_the_same_however_long_the_fraction() -> None:
    assert (short_up(SMALL), short_down(SMALL)) == ("1e-200000", "1e-200000")
    assert (short_up(LONG), short_down(2 - LONG), short_down(1 - SMALL)) == ("1", "1", "1")
    assert (short_up(Fraction(1, 3)), short_down(Fraction(1, 3))) == ("0.333334", "0.333333")
    assert (short_up(Fraction(999_999_5, 10**7)), short_down(Fraction(999_999_5, 10**7))) == ("1", "0.999999")


@ALL
def test_a_saved_text_says_nothing_twice(kind: str) -> None:
    state, _ = spend(MAKERS[kind](), "0.01", 3)
    text = json.dumps(state.document())
    assert restore(text) == state
    with pytest.raises(InvalidInput, match=r"^admitted: is given twice, first as 0"):
        restore(text.replace('"admitted"', '"admitted": 0, "admitted"'))
    for bad, why in (
        ("{", "is not JSON"),
        ("[" * 100_000, "that can be read"),
        ('"x"', "must be an object"),
    ):
        with pytest.raises(InvalidInput, match=why):
            restore(bad)
