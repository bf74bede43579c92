"""Totals from kept contours are true, as narrow as those from nothing, and say nothing where they cannot."""

from __future__ import annotations

import numpy as np
import pytest

import optcomp as oc
from optcomp.composition.reading import Item, read_any
from optcomp.instances import Mixture
from optcomp.theorems import Effort, Growing, Target, suits
from optcomp.theorems.growing import _Contours

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
    assert isinstance(made._contours, _Contours)
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


@pytest.mark.parametrize("rate", [0.02, 0.6])
def test_a_list_that_grows_evenly_is_answered_ahead(rate: float) -> None:
    """The next totals are there before they are asked for, and are those of `compose`, in both directions."""
    item = oc.PoissonSubsampled(oc.Gaussian(2), rate)
    made = growing(Target("epsilon", 1e-6), {item: 400})
    for copies in (400, 410, 420):
        assert made.answer(mixture({item: copies})) is not None
    table = made._pace.table
    assert table is not None
    ahead = [copies for (copies,) in table.found]
    assert len(ahead) > 24
    for copies in (ahead[0], ahead[len(ahead) // 2], ahead[-1]):
        found, afresh = made.answer(mixture({item: copies})), oc.compose({item: copies}, delta=1e-6)
        assert made._pace.table is table
        assert found is not None
        assert made.ahead({item: copies}) == found.upper
        assert found.lower <= afresh.upper
        assert afresh.lower <= found.upper
        assert found.width <= 1.2e-9
        assert found.count == copies


def test_another_direction_is_looked_at_also_ahead() -> None:
    """Seen from the direction that costs less, nothing is proved: the other one is not below it."""
    item = oc.PoissonSubsampled(oc.Gaussian(2), 0.1)
    made = growing(Target("epsilon", 1e-6), {item: 400})
    contours = made._contours
    assert isinstance(contours, _Contours)
    laws, rows = contours._laws(mixture({item: 400})), np.array([[410.0], [420.0]])
    assert laws is not None
    with np.errstate(all="ignore"):
        assert made.answer(mixture({item: 400})) is not None
        assert None not in contours._brackets(mixture({item: 400}), laws, rows)
        contours.ways[1] = contours._planned(mixture({item: 400}), laws[1], 1.0, None)
        contours.ways.reverse()
        assert contours._brackets(mixture({item: 400}), laws[::-1], rows) == [None, None]


def test_uneven_lists_and_lists_with_pairs_are_not_answered_ahead() -> None:
    made = growing(Target("epsilon", 1e-6), {SAMPLED: 400})
    for copies in (400, 410, 425, 431, 460):
        assert made.answer(mixture({SAMPLED: copies})) is not None
    assert made._pace.table is None
    made = growing(Target("epsilon", 1e-6), {SAMPLED: 400, 0.01: 1})
    for copies in (400, 410, 420, 430):
        assert made.answer(mixture({SAMPLED: copies, 0.01: 1})) is not None
    assert made._pace.table is None


def test_a_pair_that_comes_later_is_not_overlooked() -> None:
    made = growing(Target("epsilon", 1e-6), {SAMPLED: 400})
    for copies in (400, 410, 420):
        made.answer(mixture({SAMPLED: copies}))
    plain, more = made.answer(mixture({SAMPLED: 440})), made.answer(mixture({SAMPLED: 430, 0.5: 1}))
    leaky = made.answer(mixture({SAMPLED: 450, (0.0, 9e-7): 1}))
    without = made.answer(mixture({SAMPLED: 450}))
    assert plain is not None
    assert more is not None
    assert more.lower > plain.upper
    assert leaky is not None
    assert without is not None
    assert leaky.lower > without.upper
