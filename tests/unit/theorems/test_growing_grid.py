"""Totals from a kept grid are true, as narrow as asked for, and say nothing where they cannot."""

from __future__ import annotations

import pytest

import optcomp as oc
from optcomp.composition.reading import Item, read_any
from optcomp.instances import Mixture
from optcomp.theorems import Effort, Growing, Target
from optcomp.theorems.growing_grid import LOOSE, GrowingGrid, rare

SAMPLED, OTHER = oc.PoissonSubsampled(oc.Gaussian(0.8), 0.001), oc.PoissonSubsampled(oc.Gaussian(2), 0.01)
TARGET = Target("epsilon", 1e-6)


def mixture(counts: dict[Item, int]) -> Mixture:
    read = read_any(counts)
    assert isinstance(read, Mixture)
    return read


def on_grid(counts: dict[Item, int], target: Target = TARGET, rtol: float = 1e-5) -> GrowingGrid | None:
    return GrowingGrid.of(target, Effort(rtol), mixture(counts), 1.0)


@pytest.mark.parametrize("more", [{SAMPLED: 9}, {SAMPLED: 27}])
def test_further_rounds(more: dict[Item, int]) -> None:
    made = on_grid({SAMPLED: 9})
    assert made is not None
    for each in (made, made.copy()):
        found, afresh = each.answer(mixture(more)), oc.compose(more, delta=1e-6)
        assert found is not None
        assert found.lower <= afresh.upper
        assert afresh.lower <= found.upper
        assert found.width <= 1e-5
        assert (found.theorem, found.count) == ("ZDW22", afresh.count)


def test_what_it_says_nothing_about() -> None:
    """More rounds than it was made for, another kind, pairs, and a leak, which leaves another δ."""
    made = on_grid({SAMPLED: 9})
    assert made is not None
    more: list[Item] = [OTHER, 0.1, oc.NameAndShame(1e-7), (0.0, 1e-7)]
    assert made.answer(mixture({SAMPLED: 121})) is None
    for item in more:
        assert made.answer(mixture({SAMPLED: 9, item: 1})) is None


@pytest.mark.parametrize(
    ("counts", "target", "rtol"),
    [
        ({SAMPLED: 9}, Target("delta", 1.0), 1e-5),
        ({SAMPLED: 9}, TARGET, LOOSE / 2),
        ({SAMPLED: 9, oc.Laplace(2): 1}, TARGET, 1e-5),
        ({SAMPLED: 9, 0.1: 1}, TARGET, 1e-5),
        ({SAMPLED: 10_000}, TARGET, 1e-5),
        ({oc.PoissonSubsampled(oc.Laplace(2), 0.01): 9}, TARGET, 1e-5),
    ],
    ids=["delta", "narrow", "beside Laplace noise", "beside a pair", "too many", "Laplace noise"],
)
def test_where_no_grid_is_kept(counts: dict[Item, int], target: Target, rtol: float) -> None:
    assert on_grid(counts, target, rtol) is None


def test_a_direction_that_may_matter_more_is_not_passed_over() -> None:
    """Nearly everybody is in the sample: whatever is told, adding a person costs no more than that."""
    item = oc.PoissonSubsampled(oc.Gaussian(3), 0.95)
    made = on_grid({item: 9})
    assert made is not None
    for count in (9, 20):
        found, afresh = made.answer(mixture({item: count})), oc.compose({item: count}, delta=1e-6)
        assert found is None or afresh.lower <= found.upper <= afresh.upper * (1 + 1e-5)


def test_first_rounds_come_from_a_grid_and_many_from_a_contour() -> None:
    made = Growing(TARGET, Effort(1e-5))
    assert made.renew(mixture({SAMPLED: 5}))
    assert isinstance(made._contours, GrowingGrid)
    assert made.renew(mixture({OTHER: 5000}))
    assert made._contours is not None
    assert not isinstance(made._contours, GrowingGrid)


def test_a_first_grid_serves_all_rounds_in_which_people_are_rare() -> None:
    """With one in a thousand of them up to a hundred, with one in a hundred up to a few."""
    for item, most in ((SAMPLED, 120), (OTHER, 32)):
        made = on_grid({item: 2})
        assert made is not None
        assert made.answer(mixture({item: most + 1})) is None
        for count in (3, most):
            found, afresh = made.answer(mixture({item: count})), oc.compose({item: count}, delta=1e-6)
            assert found is not None
            assert found.lower <= afresh.upper
            assert afresh.lower <= found.upper <= afresh.upper * (1 + 1e-5)
        assert rare(mixture({item: most - 1}))
        assert not rare(mixture({item: most + 1}))


def test_where_people_are_very_rare_a_contour_is_made_for_the_answer_that_a_first_one_gave() -> None:
    """A guess of the answer may be ten times too large there."""
    item = oc.PoissonSubsampled(oc.Gaussian(0.8), 1e-4)
    made = Growing(TARGET, Effort(0.8e-5))
    tried = [made.answer(mixture({item: 2000})) for there in made.renewed(mixture({item: 2000})) if there]
    found, afresh = next(bound for bound in tried if bound is not None), oc.compose({item: 2000}, delta=1e-6)
    assert tried[0] is None
    assert afresh.lower <= found.upper <= afresh.upper * (1 + 1e-5)
