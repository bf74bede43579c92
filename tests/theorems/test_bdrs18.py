"""BDRS18: truncated concentrated differential privacy."""

from __future__ import annotations

import pytest

import optcomp as oc


def test_rho_adds_up_and_the_least_omega_counts() -> None:
    mixed = oc.compose([oc.TCDP("0.01", 30), oc.TCDP("0.02", 12)], delta=1e-9)
    assert mixed.upper == pytest.approx(oc.compose([oc.TCDP("0.03", 12)], delta=1e-9).upper, rel=1e-9)


def test_truncation_costs_where_large_orders_are_needed() -> None:
    plain = oc.compose([oc.ZCDP("0.03")], delta=1e-9).upper
    assert oc.compose([oc.TCDP("0.03", 10**6)], delta=1e-9).upper == pytest.approx(plain, rel=1e-9)
    assert oc.compose([oc.TCDP("0.03", 5)], delta=1e-9).upper > 1.5 * plain
    assert oc.compose([oc.ZCDP("0.03"), oc.TCDP("0.0001", 5)], delta=1e-9).upper > 1.5 * plain


def test_orders_from_omega_on_are_not_promised() -> None:
    assert not oc.TCDP(1, 4).renyi(4.0).is_finite()
    assert oc.TCDP(1, 4).renyi(3.999).is_finite()
    assert oc.convert(oc.ZCDP(1), oc.TCDP).rho == 1


@pytest.mark.parametrize("omega", [1.0001, 1.00001, "1.0003", 1.5])
def test_orders_just_above_one_still_prove_something(omega: object) -> None:
    assert oc.compose([oc.TCDP("0.1", omega)], delta=1e-6).upper < 1.5e6  # type: ignore[arg-type]  # any number


@pytest.mark.parametrize("wrong", [1, 0, "x"])
def test_bad_omega(wrong: object) -> None:
    with pytest.raises(oc.InvalidGuarantee, match="omega"):
        oc.TCDP(0.1, wrong)  # type: ignore[arg-type]
