"""Totals from kept contours are true, as narrow as those from nothing, and say nothing where they cannot."""

from __future__ import annotations

import pytest

import optcomp as oc
from optcomp.composition.reading import Item, read_any
from optcomp.instances import Mixture
from optcomp.theorems import Effort, Growing, Target, suits

SAMPLED = oc.PoissonSubsampled(oc.Gaussian(1), 0.02)


def mixture(counts: dict[Item, int]) -> Mixture:
    read = read_any(counts)
    assert isinstance(read, Mixture)
    return read


def growing(target: Target, counts: dict[Item, int]) -> Growing:
    made = Growing(target, Effort(1e-9))
    assert made.renew(mixture(counts))
    return made


@pytest.mark.parametrize("target", [Target("epsilon", 1e-6), Target("epsilon", 1e-30), Target("delta", 3.0)])
def test_further_rounds_and_further_mechanisms(target: Target) -> None:
    """Beside more rounds come Gaussian noise, another sample, pairs that are new and a leak."""
    counts: dict[Item, int] = {SAMPLED: 500, 0.05: 3}
    made = growing(target, counts)
    more: list[Item] = [SAMPLED, oc.Gaussian(50), oc.PoissonSubsampled(oc.Laplace(2), 0.03), 0.02, (0.01, 1e-40)]
    for item in more:
        counts[item] = counts.get(item, 0) + 20
        found = made.answer(mixture(counts))
        given = {target.pick("delta", "epsilon"): target.given}
        afresh = oc.compose(counts, **given)  # type: ignore[arg-type]
        assert found is not None
        assert found.lower <= afresh.upper
        assert afresh.lower <= found.upper
        assert found.width <= 1e-9
        assert found.count == afresh.count


def test_directions_that_are_about_as_costly_are_both_looked_at() -> None:
    """Nearly everybody is in the sample: adding and removing a person cost about the same."""
    target, item = Target("epsilon", 1e-5), oc.PoissonSubsampled(oc.Gaussian(3), 0.9)
    made = growing(target, {item: 20})
    for copies in (20, 25, 40):
        found, afresh = made.answer(mixture({item: copies})), oc.compose({item: copies}, delta=1e-5)
        assert found is not None
        assert found.lower <= afresh.upper
        assert afresh.lower <= found.upper
    assert made._contours is not None
    assert all(way.kept is not None for way in made._contours.ways)


def test_what_went_is_not_covered() -> None:
    made = growing(Target("epsilon", 1e-6), {SAMPLED: 500, 0.05: 3})
    assert made.answer(mixture({SAMPLED: 499, 0.05: 3})) is None
    assert made.answer(mixture({SAMPLED: 500, 0.05: 2})) is None
    assert made.answer(mixture({SAMPLED: 500})) is None
    assert made.answer(mixture({SAMPLED: 501, 0.05: 3})) is not None


def test_copies_do_not_disturb_each_other() -> None:
    made = growing(Target("epsilon", 1e-6), {SAMPLED: 500})
    other = made.copy()
    before = made.answer(mixture({SAMPLED: 600}))
    other.renew(mixture({SAMPLED: 900}))
    assert other.answer(mixture({SAMPLED: 600})) is None
    again = made.answer(mixture({SAMPLED: 600}))
    assert before is not None
    assert again is not None
    assert before.lower <= again.upper
    assert again.lower <= before.upper


@pytest.mark.parametrize(
    "counts",
    [{oc.Gaussian(2): 5}, {oc.Laplace(2): 1}, {SAMPLED: 50, oc.ZCDP(0.1): 1}, {SAMPLED: 50, "1/3": 1}],
    ids=["closed form", "alone", "a notion", "not a float"],
)
def test_what_is_better_served_otherwise(counts: dict[Item, int]) -> None:
    assert not suits(mixture(counts))
    assert not Growing(Target("epsilon", 1e-6), Effort(1e-9)).renew(mixture(counts))


def test_no_room_beside_the_leaks() -> None:
    made = growing(Target("epsilon", 1e-6), {SAMPLED: 500})
    assert made.answer(mixture({SAMPLED: 500, (0.0, 1e-5): 1})) is None
    assert not made.renew(mixture({SAMPLED: 500, (0.0, 1e-5): 1}))
