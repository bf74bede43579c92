"""DNRRV09: a threshold of its own for every round, and every round within its share of ε, exactly."""

from __future__ import annotations

from fractions import Fraction
from itertools import product

import pytest
from flint import arb

from optcomp import PureDP
from optcomp.interactive import SparseVector
from tests.oracles.thresholds import BITS, Script, sparse_courses, worst_loss
from tests.oracles.truth import real, working

INSTANCES = [
    ([40, 40, -20, 40, -20, 40], [1, 1, -1, 1, -1, 1]),
    ([20, 25, -5, 30, 40, -30], [-1, -1, 1, -1, -1, 1]),
    ([25, 25, 25, 25, -9, -9], [-1, -1, -1, -1, 1, 1]),
]


def spec(positives: int, *, monotone: bool = False, epsilon: str = "3") -> SparseVector:
    return SparseVector(0, epsilon=epsilon, positives=positives, refresh=True, monotone=monotone)


def round_losses(one: Script, two: Script) -> list[arb]:
    with working(BITS):
        return [abs((p / q).log()) for p, q in zip(one.rounds(), two.rounds(), strict=True)]


def moved(values: list[int], changes: list[int]) -> list[int]:
    return [value + change for value, change in zip(values, changes, strict=True)]


@pytest.mark.parametrize("positives", [1, 2, 3])
@pytest.mark.parametrize(("values", "changes"), INSTANCES)
def test_every_round_is_within_its_share(positives: int, values: list[int], changes: list[int]) -> None:
    made = spec(positives)
    one, two = (sparse_courses(made, list(each), 6) for each in (values, moved(values, changes)))
    share, worst = real(Fraction(made.epsilon) / positives), arb(0)
    for answers, script in one.items():
        found = round_losses(script, two[answers])
        assert len(found) == sum(answers) + (not answers[-1])  # a round ends with its ⊤
        assert all(loss <= share for loss in found)
        worst = max(worst, *found, key=float)
    assert worst > share / 2


@pytest.mark.parametrize(("values", "changes"), INSTANCES)
def test_all_rounds_together(values: list[int], changes: list[int]) -> None:
    assert worst_loss(spec(2), values, moved(values, changes), 6) <= 3


@pytest.mark.parametrize("changes", list(product((0, 1), repeat=4)))
def test_monotone(changes: tuple[int, ...]) -> None:
    values = [30, 30, 0, -6]
    assert worst_loss(spec(1, monotone=True, epsilon="2"), values, moved(values, list(changes)), 4) <= 2


def test_costs_are_the_rounds() -> None:
    assert spec(3).costs() == (PureDP(1),) * 3
    assert spec(3).theorem == "DNRRV09"


def test_the_scales_of_the_book() -> None:
    """2Δ/ε and 4Δ/ε for one round."""
    made = SparseVector(0, epsilon="1/2", positives=1, sensitivity=3, refresh=True)
    assert made.scales() == (12.0, 24.0)
    assert SparseVector(0, epsilon=2, positives=4, sensitivity=3, refresh=True).scales() == (12.0, 24.0)


def test_a_stale_threshold_would_be_caught() -> None:
    """With the noise of one round for each of three, but one threshold for all, the total is more than ε of a round."""

    class Stale(SparseVector):
        def scales(self) -> tuple[float, float]:
            return 2.0, 4.0

    stale = Stale(0, epsilon=1, positives=3)
    values, changes = [40, 40, 40, -20, -20, -20], [1, 1, 1, -1, -1, -1]
    assert worst_loss(stale, values, moved(values, changes), 6) > 1


def test_no_new_threshold_after_the_last_round() -> None:
    script = sparse_courses(spec(1), [0, 0], 2)[(True,)]
    assert len(script.rounds()) == 1
