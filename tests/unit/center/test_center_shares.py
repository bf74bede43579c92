"""Proposed slots: certified, as large as they can be, and honest about what is gained."""

from __future__ import annotations

from fractions import Fraction

import pytest

import optcomp as oc
from optcomp.center.shares import propose_shares
from optcomp.errors import InvalidInput
from tests.unit.center.homes import Centre


def total(slots: dict[str, tuple[str, str]], delta: str, factor: Fraction = Fraction(1)) -> float:
    parts = [oc.PureDP(Fraction(eps) * factor) for eps, _ in slots.values()]
    return oc.compose(parts, delta=delta).upper


@pytest.mark.parametrize("count", [20, 100, 1000])
def test_equal_slots_are_the_largest_that_fit(count: int) -> None:
    found = propose_shares("d", [f"a{number}" for number in range(count)], "1", "1e-6", fits=True)
    assert len(set(found.slots.values())) == 1
    assert total(found.slots, "1e-6") <= 1
    assert found.composed <= 1
    if found.gain > 1:
        assert total(found.slots, "1e-6", Fraction(10001, 10000)) > 1  # a ten-thousandth more is too much
    share, split = (Fraction(next(iter(slots.values()))[0]) for slots in (found.slots, found.split))
    assert float(share / split) == pytest.approx(found.gain, rel=1e-4)
    assert split == Fraction(1, count)


def test_a_hundred_slots_gain_and_two_do_not() -> None:
    many = propose_shares("d", [str(number) for number in range(100)], "1", "1e-6", fits=True)
    assert many.gain > 1.5
    assert "times the 0.01 of splitting" in many.words
    few = propose_shares("d", ["a", "b"], "1", "1e-6", fits=True)
    assert few.gain == 1
    assert few.slots == few.split == {"a": ("0.5", "0"), "b": ("0.5", "0")}
    assert "gains nothing over splitting" in few.words
    assert total(few.slots, "1e-6") <= 1


def test_without_a_delta_there_is_nothing_to_gain() -> None:
    found = propose_shares("d", [str(number) for number in range(100)], "1", 0, fits=True)
    assert (found.gain, found.slots) == (1, found.split)


def test_weights() -> None:
    weights = {f"a{number}": 1 if number % 2 else "2.5" for number in range(60)}
    found = propose_shares("d", weights, "1", "1e-6", fits=True)
    big, small = Fraction(found.slots["a0"][0]), Fraction(found.slots["a1"][0])
    assert float(big / small) == pytest.approx(2.5, rel=1e-4)
    assert total(found.slots, "1e-6") <= 1
    assert sum(Fraction(eps) for eps, _ in found.split.values()) <= 1
    assert found.gain > 1.2
    assert found.document()["slots"]["a0"] == [found.slots["a0"][0], "0"]


def test_thirds_add_up_to_no_more() -> None:
    found = propose_shares("d", ["a", "b", "c"], "1", 0, fits=True)
    assert sum(Fraction(eps) for eps, _ in found.slots.values()) <= 1
    assert found.slots["a"][0] == "0.333333"


@pytest.mark.parametrize("analysts", [[], {}, "ada", ["a", "a"], {"a": 0}, {"a": -1}, {"a": 10**7}, [3], None])
def test_bad_analysts(analysts: object) -> None:
    with pytest.raises(InvalidInput):
        propose_shares("d", analysts, "1", "1e-6", fits=True)  # type: ignore[arg-type]


def test_a_proposal_can_be_cut_as_it_is(centre: Centre) -> None:
    centre.register()
    names = [f"analyst {number}" for number in range(30)]
    for name in names:
        centre.people.add(name, "analyst", by="olga")
    found = centre.catalogue.propose("people", names, epsilon="1", delta="4e-7")
    assert found.fits
    proof = centre.catalogue.cut("people", "all", found.slots, delta="4e-7", epsilon="1", by="olga")
    assert proof["composed"] <= 1
    assert len(centre.catalogue.seats()) == 30
    assert not centre.catalogue.propose("people", names, epsilon="2.5", delta="4e-7").fits
