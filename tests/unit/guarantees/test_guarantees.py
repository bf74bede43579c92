"""Guarantees are frozen, hashable, exact values."""

from __future__ import annotations

import copy
import dataclasses
import pickle
from decimal import Decimal
from fractions import Fraction

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import optcomp
from optcomp import ApproxDP, PureDP
from optcomp.guarantees import Guarantee


def test_immutable() -> None:
    for guarantee, field in ((PureDP(0.1), "epsilon"), (ApproxDP(0.1, 1e-9), "delta")):
        with pytest.raises(dataclasses.FrozenInstanceError):
            setattr(guarantee, field, 0.0)
        with pytest.raises((AttributeError, TypeError)):
            guarantee.note = "extra"  # type: ignore[union-attr]  # there is no such field


@given(st.one_of(st.just(0.0), st.floats(1e-100, 1e12)), st.floats(0, 0.999))
def test_equal_values_are_equal_and_hash_alike(eps: float, delta: float) -> None:
    assert ApproxDP(eps, delta) == ApproxDP(Fraction(eps), Fraction(delta))
    assert hash(ApproxDP(eps, delta)) == hash(ApproxDP(Fraction(eps), Decimal(delta)))
    assert len({PureDP(eps), PureDP(Decimal(eps))}) == 1


@pytest.mark.parametrize("value", [0.25, "0.25", "1/4", Fraction(1, 4), Decimal("0.25"), np.float32(0.25), "25e-2"])
def test_every_way_to_write_a_number(value: float) -> None:
    assert PureDP(value) == PureDP(0.25)
    assert ApproxDP(value, value).delta == Fraction(1, 4)


def test_copies() -> None:
    guarantee = ApproxDP("0.1", 1e-9)
    assert pickle.loads(pickle.dumps(guarantee)) == guarantee
    assert copy.deepcopy(guarantee) == guarantee
    assert repr(PureDP(0.5)) == "PureDP(epsilon=0.5)"


def test_minus_zero_is_zero() -> None:
    assert str(PureDP(-0.0).epsilon) == "0.0"
    assert str(ApproxDP(-0.0, -0.0).delta) == "0.0"


def test_protocol() -> None:
    assert isinstance(PureDP(1), Guarantee)
    assert isinstance(ApproxDP(1, 0), Guarantee)
    assert not isinstance(0.1, Guarantee)
    assert PureDP(1).delta == 0


def test_exports() -> None:
    constants_then_classes = sorted(optcomp.__all__, key=lambda name: (not name.isupper(), name[0].islower(), name))
    assert optcomp.__all__ == constants_then_classes
    for name in optcomp.__all__:
        assert getattr(optcomp, name).__doc__ or name == "METHODS"
    namespace: dict[str, object] = {}
    exec("from optcomp import *", namespace)
    assert set(optcomp.__all__) <= set(namespace)
