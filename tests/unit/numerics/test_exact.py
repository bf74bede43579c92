"""Oracles agree with each other and with the plain definition before they are trusted."""

from __future__ import annotations

from fractions import Fraction

import pytest
from flint import arb

from optcomp import listening
from optcomp.numerics.exact_numbers import exact
from optcomp.numerics.knapsack import Knapsack
from tests.oracles.equal import Equal
from tests.oracles.rational import exact_delta, log_between, outcomes, worst_event
from tests.oracles.sums import Lattice, Subsets
from tests.oracles.truth import real, working

RESPONSES = [
    [(Fraction(3, 2), Fraction(0))],
    [(Fraction(3, 2), Fraction(1, 10)), (Fraction(2), Fraction(1, 7))],
    [(Fraction(5, 4), Fraction(0)), (Fraction(5, 4), Fraction(1, 100))],
]


@pytest.mark.parametrize("responses", RESPONSES)
@pytest.mark.parametrize("odds", [Fraction(1), Fraction(9, 8), Fraction(3, 2), Fraction(7, 2)])
def test_hockey_stick_is_the_worst_event(responses: list[tuple[Fraction, Fraction]], odds: Fraction) -> None:
    joint = outcomes(responses)
    assert sum(p for p, _ in joint) == sum(q for _, q in joint) == 1
    assert worst_event(joint, odds) == exact_delta(responses, odds)
    assert worst_event([(q, p) for p, q in joint], odds) == exact_delta(responses, odds)


@pytest.mark.parametrize("responses", RESPONSES)
@pytest.mark.parametrize("odds", [Fraction(9, 8), Fraction(3, 2), Fraction(7, 2)])
def test_listing_sums_agrees_with_fractions(responses: list[tuple[Fraction, Fraction]], odds: Fraction) -> None:
    truth = Subsets([(log_between(r, 400)[0], leak, 1) for r, leak in responses])
    near = truth.delta(log_between(odds, 400)[0], 400)
    with working(400):
        assert abs(near - real(exact_delta(responses, odds))) < arb(2) ** -380


def test_three_oracles_agree() -> None:
    for y in (Fraction(0), Fraction(1, 4), Fraction(5, 4), Fraction(9, 4)):
        found = [
            oracle.delta(y, 300)
            for oracle in (Equal(9, 0.25, 0.01), Subsets([(0.25, 0.01, 9)]), Lattice([(0.25, 0.01, 9)]))
        ]
        with working(300):
            assert all(abs(a - found[0]) < arb(2) ** -280 for a in found[1:])


def test_numbers_are_kept_exactly() -> None:
    assert exact("0.1", "x") == Fraction(1, 10)
    assert exact(0.1, "x") == Fraction(3602879701896397, 2**55)
    assert exact(10**400, "x") == 10**400


def test_long_work_reports_progress() -> None:
    heard: list[tuple[str, float]] = []
    with listening(lambda what, share: heard.append((what, share))):
        Knapsack([(1, 3), (2, 20)], 0.1, 0.0)
    assert heard[-1] == ("knapsack table", 1.0)
    assert [share for _, share in heard] == sorted(share for _, share in heard)
    Knapsack([(1, 3)], 0.1, 0.0)
    assert len(heard) == 2
