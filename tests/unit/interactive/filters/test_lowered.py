"""Lowering a cap: never more than before, never less than what is spent."""

from __future__ import annotations

from fractions import Fraction
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import optcomp as oc
from optcomp.errors import InvalidInput
from optcomp.interactive.filters import (
    AdaptiveFilter,
    Admitted,
    BestFilter,
    Filter,
    Refused,
    RenyiFilter,
    SumFilter,
    ZCDPFilter,
    restore,
)

LARGER_AND_SMALLER: list[tuple[Any, Any]] = [
    (SumFilter("1", "1e-6"), SumFilter("0.5", "1e-7")),
    (ZCDPFilter("0.1", "1e-6"), ZCDPFilter("0.05", "1e-6")),
    (RenyiFilter(8, 1), RenyiFilter(8, "0.5")),
    (AdaptiveFilter("1", "1e-6", "1e-7"), AdaptiveFilter("0.7", "1e-6", "1e-7")),
    (BestFilter("1", "1e-6", "1e-7"), BestFilter("0.7", "1e-6", "1e-7")),
]
PAIRS = pytest.mark.parametrize(("larger", "smaller"), LARGER_AND_SMALLER, ids=lambda state: state.kind)


def spent(state: Filter, request: Any) -> Any:
    outcome = state.admit(request)
    assert isinstance(outcome, Admitted)
    return outcome.state


@PAIRS
def test_the_smaller_cap_with_what_was_spent(larger: Any, smaller: Any) -> None:
    before = spent(spent(larger, "0.01"), "0.02")
    after = before.lowered(smaller)
    assert (after.spent, after.admitted) == (before.spent, 2)
    assert (after.caps, after.total, type(after)) == (smaller.caps, smaller.total, type(smaller))
    assert after == spent(spent(smaller, "0.01"), "0.02")
    assert restore(after.document_text()) == after
    assert before.lowered(larger) == before
    assert after.share > before.share


@PAIRS
def test_never_raised(larger: Any, smaller: Any) -> None:
    with pytest.raises(InvalidInput, match=r"^to: must not raise the cap of .* from .* to "):
        smaller.lowered(larger)


@PAIRS
def test_never_below_what_is_spent(larger: Any, smaller: Any) -> None:
    state: Any = larger
    while isinstance(outcome := state.admit("0.04"), Admitted):
        state = outcome.state
    with pytest.raises(InvalidInput, match=r"must not be less than what is spent: .*="):
        state.lowered(smaller)


def test_down_to_exactly_what_is_spent() -> None:
    state = spent(SumFilter("1"), "0.3").lowered(SumFilter("0.3"))
    assert state.share == 1
    assert isinstance(state.admit("1e-9"), Refused)
    with pytest.raises(InvalidInput, match=r"to: must not be less than what is spent: ε = 0.3"):
        spent(SumFilter("1"), "0.3").lowered(SumFilter(Fraction("0.3") - Fraction(1, 10**40)))


def test_numbers_in_words() -> None:
    with pytest.raises(InvalidInput, match=r"^to: must not raise the cap of ε from 1 to 1.5"):
        SumFilter(1).lowered(SumFilter("1.5"))
    with pytest.raises(InvalidInput, match=r"^to: must not raise the cap of δ from 1e-7 to 1e-6"):
        SumFilter(1, "1e-7").lowered(SumFilter(1, "1e-6"))


@pytest.mark.parametrize(
    ("state", "to"),
    [
        (SumFilter(1), ZCDPFilter("0.1")),
        (RenyiFilter(8, 1), RenyiFilter(9, "0.5")),
        (SumFilter(1), "0.5"),
        (SumFilter(1), spent(SumFilter("0.5"), "0.1")),
    ],
)
def test_another_kind_or_one_in_use(state: Any, to: Any) -> None:
    with pytest.raises(InvalidInput, match=r"^to: must be a"):
        state.lowered(to)


def test_no_larger_delta_for_a_smaller_epsilon() -> None:
    """All caps of the second filter are smaller, but it promises less."""
    before, after = BestFilter("1", "1e-6", "1e-7"), BestFilter("0.9", "1.01e-6", "1e-7")
    assert after.cap < before.cap
    with pytest.raises(InvalidInput, match=r"must not raise δ from 1e-6 to 1\.01e-6"):
        before.lowered(after)


def test_one_of_two_ways_is_enough() -> None:
    """ρ of a single large request is beyond the cap of ρ all along; its ε is within."""
    state = spent(BestFilter(1, "1e-6"), "0.5")
    assert state.lowered(BestFilter("0.6", "1e-6")).share == Fraction(5, 6)
    noise = spent(BestFilter(1, "1e-6"), oc.ZCDP("0.02"))
    with pytest.raises(InvalidInput, match="what is spent"):
        noise.lowered(BestFilter("0.6", "1e-6"))


@given(st.lists(st.fractions(Fraction(1, 50), Fraction(1, 2), max_denominator=60), max_size=6), st.integers(1, 12))
@settings(deadline=None)
def test_what_the_lowered_one_admits_the_first_would(requests: list[Fraction], twelfths: int) -> None:
    first: Filter = BestFilter(1, "1e-6")
    state: Filter = first
    lower = BestFilter(Fraction(twelfths, 12), "1e-6")
    for request in requests:
        outcome = state.admit(request)
        if isinstance(outcome, Admitted):
            assert first.fits(outcome.state.spent)
            state = outcome.state
        if lower.fits(state.spent) and state.caps.epsilon == 1:
            state = state.lowered(lower)
