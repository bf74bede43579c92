"""The oracles behind random settings are sound and close, and their judge can fail."""

from __future__ import annotations

from dataclasses import replace
from fractions import Fraction
from random import Random

import pytest

import optcomp as oc
from tests.campaign.judge import Outcome
from tests.campaign.settings import WAYS, Setting, drawn, judge, part_of
from tests.oracles.gridded import TwoRounds
from tests.oracles.losses import Way, response_atoms, sums_of
from tests.oracles.losses import subsampled_gaussian_hockey as one_round
from tests.oracles.sandwich import Lattice, Sandwich
from tests.oracles.truth import real, working

_MU, _RATE = Fraction(1), 0.1


@pytest.mark.parametrize("way", WAYS)
def test_discretisations_enclose_one_and_two_rounds(way: Way) -> None:
    """Closed forms lie between the two sides, closely, and never on the wrong one."""
    for copies, y in ((1, 0.05), (1, 1.5), (2, 0.05), (2, 1.0)):
        low, high = Sandwich([part_of(_MU, _RATE, way, copies, 1e-9)], 1e-9, 1500).excess(y)
        with working(192):
            one, two = one_round(_MU, _RATE, way)(real(y)), TwoRounds(_MU, _RATE, way == "towards").excess(y)
            truth = one if copies == 1 else two
            assert not low > truth
            assert not truth > high
        assert high - low <= 0.02 * high + 1e-12


def test_lattices_are_convolved_to_many_digits() -> None:
    """Against every sum of seven losses."""
    low, high = Lattice([(lambda: response_atoms(0.25, 4), 7)], 1e-12).excess(0.6)
    with working(192):
        atoms = sums_of([(response_atoms(0.25, 4), 7)])
        truth = sum(-p * (real(0.6) - real(place)).expm1() for place, p in atoms if place > Fraction(0.6))
        assert low <= truth
        assert truth <= high
    assert high - low <= 1e-10 * high


def _asked(words: str) -> Setting:
    """The first setting of a kind."""
    found = (drawn(Random(f"setting {seed}")) for seed in range(200))
    return next(one for one in found if words in str(one.items) and sum(one.items.values()) < 100)


@pytest.mark.slow_cases("rate", "replace")
@pytest.mark.parametrize("words", ["rate", "replace", "RandomizedResponse", "DiscreteGaussian", "DiscreteLaplace"])
def test_a_wrong_side_is_found(words: str) -> None:
    asked = _asked(words)
    epsilon = oc.compose(asked.items, delta=asked.delta)
    oracles = asked.oracles(asked.delta / 3)
    asked = replace(asked, oracles=lambda _: oracles)
    for bound in (epsilon, oc.compose(asked.items, epsilon=epsilon.upper / 2)):
        right = Outcome("settings", 0)
        judge(asked, bound, right, words)
        assert not right.findings
        for wrong in (bound.upper / 3, bound.lower * 3):
            moved = Outcome("settings", 0)
            judge(asked, replace(bound, lower=wrong, upper=wrong), moved, words)
            assert moved.number("violation") == 1


def test_settings_are_varied() -> None:
    asked = [drawn(Random(f"setting {seed}")) for seed in range(80)]
    words = [str(one.items) for one in asked]
    for text in (
        "replace",
        "Laplace",
        "RandomizedResponse",
        "DiscreteLaplace",
        "DiscreteGaussian",
        ": 1}",
        ": 2}",
        ", Poisson",
    ):
        assert any(text in word for word in words), text
    assert {len(str(round(1 / one.delta))) for one in asked} >= {4, 8, 12}
