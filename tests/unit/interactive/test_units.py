"""Guarantees about other neighbours."""

from __future__ import annotations

from fractions import Fraction
from typing import Any

import pytest

import optcomp as oc
from optcomp.errors import HypothesisNotMet, InvalidInput
from optcomp.interactive import SumFilter, convert_unit, for_groups


def test_to_replace_is_two_steps() -> None:
    found = convert_unit(oc.PureDP("0.3"), "add-remove", "replace")
    assert (found.guarantee, found.theorem) == (oc.PureDP("0.6"), "GROUP")
    assert convert_unit("0.3", "add-remove", "replace") == found
    assert convert_unit(oc.ZCDP("0.1"), "add-remove", "replace").guarantee == oc.ZCDP("0.4")
    pair: Any = convert_unit(("0", "1e-6"), "add-remove", "replace").guarantee
    assert (pair.epsilon, pair.delta) == (0, Fraction("2e-6"))


@pytest.mark.parametrize("neighbours", ["add-remove", "replace"])
def test_the_same_neighbours(neighbours: Any) -> None:
    found = convert_unit(oc.RenyiDP(8, "0.1"), neighbours, neighbours)
    assert (found.guarantee, found.theorem) == (oc.RenyiDP(8, "0.1"), None)


def test_no_theorem_leads_back() -> None:
    with pytest.raises(HypothesisNotMet, match="GROUP does not apply: a guarantee for replaced people says nothing"):
        convert_unit(oc.PureDP(1), "replace", "add-remove")
    with pytest.raises(HypothesisNotMet, match="GROUP"):
        convert_unit(oc.RenyiDP(8, "0.1"), "add-remove", "replace")


@pytest.mark.parametrize("arguments", [("rows", "replace"), ("add-remove", None), ("", "")])
def test_unknown_neighbours(arguments: Any) -> None:
    with pytest.raises(InvalidInput, match="neighbours"):
        convert_unit(oc.PureDP(1), *arguments)


def test_groups_can_be_charged() -> None:
    found = for_groups(oc.PureDP("0.1"), 4)
    assert found.theorem == "GROUP"
    assert SumFilter(1).price(found.guarantee).epsilon == Fraction("0.4")
    assert for_groups("0.1", 1).theorem is None
