"""A composer of any mechanisms: its totals are those of `compose`, for whatever came and went."""

from __future__ import annotations

import json
import pickle
import random
from typing import Any

import pytest

import optcomp as oc
from optcomp.composition import growing_totals
from optcomp.composition.reading import Item
from optcomp.theorems import Growing

ROUND = oc.PoissonSubsampled(oc.Gaussian(1), 0.01)


def drawn(rng: random.Random) -> Item:
    """One mechanism of any kind that has a smooth part, or a pair."""
    kinds: list[Item] = [
        oc.Gaussian(round(rng.uniform(5, 60), 2)),
        oc.PoissonSubsampled(oc.Gaussian(round(rng.uniform(0.8, 4), 2)), round(rng.uniform(0.005, 0.2), 4)),
        oc.PoissonSubsampled(oc.Laplace(round(rng.uniform(1, 6), 2)), round(rng.uniform(0.01, 0.5), 4)),
        oc.Laplace(round(rng.uniform(5, 60), 2)),
        oc.DiscreteLaplace(round(rng.uniform(5, 60), 2)),
        oc.DiscreteGaussian(round(rng.uniform(5, 60), 2)),
        oc.RandomizedResponse(round(rng.uniform(0.02, 0.2), 3), 3),
        round(rng.uniform(0.005, 0.1), 4),
        oc.ApproxDP(round(rng.uniform(0.005, 0.1), 4), 1e-13),
    ]
    return rng.choice(kinds)


def assert_same(bound: oc.Bound, afresh: oc.Bound) -> None:
    assert bound.lower <= afresh.upper
    assert afresh.lower <= bound.upper
    assert bound.width <= max(1e-9, afresh.width) or bound.upper - bound.lower <= 1e-11
    assert bound.count == afresh.count
    assert bound.parts == afresh.parts


@pytest.mark.parametrize("seed", range(12))
def test_growing_lists_of_all_kinds(seed: int) -> None:
    rng = random.Random(seed)
    kinds: list[Item] = [ROUND, *(drawn(rng) for _ in range(rng.randrange(1, 4)))]
    question: Any = {"delta": 10 ** -rng.uniform(3, 12)} if seed % 3 else {"epsilon": 1 + rng.random()}
    counts: dict[Item, int] = {ROUND: 300, oc.Gaussian(30): 5}
    composer = oc.Composer(counts)
    before = composer.total(**question)
    for _ in range(5):
        for kind in rng.sample(kinds, rng.randrange(1, len(kinds) + 1)):
            copies = rng.choice((1, 5, 30))
            composer.add(kind, copies)
            counts[kind] = counts.get(kind, 0) + copies
        bound = composer.total(**question)
        assert_same(bound, oc.compose(counts, **question))
        assert bound.upper >= before.lower
        before = bound


def test_a_long_run_is_never_composed_from_nothing(monkeypatch: pytest.MonkeyPatch) -> None:
    """From a hundred to thirty thousand rounds; what is asked for again and again only multiplies."""
    made: list[str] = []
    compose, renew = growing_totals._afresh, Growing.renew

    def composed(*given: Any) -> oc.Bound:
        made.append("answer")
        return compose(*given)

    def renewed(*given: Any) -> bool:
        made.append("contours")
        return renew(*given)

    monkeypatch.setattr(growing_totals, "_afresh", composed)
    monkeypatch.setattr(Growing, "renew", renewed)
    composer, before = oc.Composer(), 0.0
    for number in range(1, 301):
        composer.add(ROUND, 100)
        bound = composer.total(delta=1e-6)
        assert bound.width <= 1e-9
        assert bound.upper > before
        before = bound.upper
        if number in (1, 2, 10, 60, 150, 300):
            assert_same(bound, oc.compose({ROUND: 100 * number}, delta=1e-6))
    assert made.count("answer") == 0
    assert made.count("contours") <= 5


def test_what_if_and_removing() -> None:
    composer = oc.Composer({ROUND: 400, 0.05: 2})
    first = composer.total(delta=1e-6)
    expected = composer.what_if(ROUND, 50, delta=1e-6)
    assert composer.count == 402
    composer.add(ROUND, 50)
    bound = composer.total(delta=1e-6)
    assert_same(bound, oc.compose({ROUND: 450, 0.05: 2}, delta=1e-6))
    assert bound.lower <= expected.upper
    assert expected.lower <= bound.upper
    assert composer.total(delta=1e-6) is not first
    assert composer.total(delta=1e-6) == bound
    composer.remove(ROUND, 150)
    assert_same(composer.total(delta=1e-6), oc.compose({ROUND: 300, 0.05: 2}, delta=1e-6))
    assert_same(
        composer.what_if(oc.Laplace(20), delta=1e-6),
        oc.compose([*[ROUND] * 300, 0.05, 0.05, oc.Laplace(20)], delta=1e-6),
    )
    with pytest.raises(oc.InvalidInput, match=r"mechanism: is here 300 times, not 301"):
        composer.remove(ROUND, 301)
    composer.remove(ROUND, 300)
    assert composer.total(delta=1e-6) == oc.compose([0.05, 0.05], delta=1e-6)


def test_never_more_than_the_sum_of_all_epsilon() -> None:
    composer = oc.Composer({oc.Laplace(10): 3, oc.DiscreteLaplace(10): 2})
    for _ in range(3):
        composer.add(oc.Laplace(10))
        assert composer.total(delta=1e-15).upper <= composer.count * 0.1 * (1 + 1e-15)


def test_closed_forms_and_notions_are_those_of_compose() -> None:
    composer = oc.Composer({oc.Gaussian(5): 3})
    assert composer.total(delta=1e-6) == oc.compose({oc.Gaussian(5): 3}, delta=1e-6)
    composer.add(oc.Gaussian(5))
    assert composer.total(delta=1e-6) == oc.compose({oc.Gaussian(5): 4}, delta=1e-6)
    composer.add(oc.ZCDP("1/100"), 2)
    counts: dict[Item, int] = {oc.Gaussian(5): 4, oc.ZCDP("1/100"): 2}
    assert composer.total(delta=1e-6) == oc.compose(counts, delta=1e-6)


def test_a_demanded_width_is_kept_or_refused() -> None:
    composer = oc.Composer({ROUND: 500})
    assert composer.total(delta=1e-6, rtol=1e-6).width <= 1e-6
    composer.add(ROUND)
    assert composer.total(delta=1e-6, rtol=1e-6).width <= 1e-6
    with pytest.raises(oc.PrecisionNotReached):
        composer.total(delta=1e-6, rtol=1e-17)


def test_copies_are_independent_and_documents_hold_everything() -> None:
    composer = oc.Composer(
        [
            ROUND,
            oc.PoissonSubsampled(oc.Laplace("1/3"), "0.1"),
            oc.DiscreteGaussian(7, 2),
            oc.DiscreteLaplace("7/3"),
            oc.GaussianDP("0.1"),
            oc.RandomizedResponse("0.2", 5),
            oc.Exponential(0.3),
            oc.ZCDP("1/100"),
            oc.ApproxZCDP(0.01, 1e-9),
            oc.TCDP(0.01, 20),
            oc.RenyiDP({2: 0.1, 8: "0.3"}),
            "1/7",
            oc.ApproxDP(0.1, 1e-12),
        ]
    )
    other = composer.copy()
    other.add(ROUND, 5)
    assert (len(composer), len(other)) == (13, 18)
    assert repr(other) == "<Composer of 18 mechanisms, 13 different>"
    for again in (oc.Composer.of(json.loads(json.dumps(other.as_dict()))), pickle.loads(pickle.dumps(other))):
        assert again.parts == other.parts


@pytest.mark.parametrize(
    ("others", "place"),
    [
        ("x", "document['others']"),
        ([{"kind": "Nothing", "parameters": [], "copies": 1}], "document['others'][0]"),
        ([{"kind": "Gaussian", "parameters": [1, 2, 3], "copies": 1}], "document['others'][0]"),
        ([{"kind": "Gaussian", "parameters": [1, 1.0], "copies": 0}], "document['others'][0]['copies']"),
    ],
)
def test_documents_that_are_wrong(others: object, place: str) -> None:
    with pytest.raises(oc.InvalidInput) as refusal:
        oc.Composer.of({**oc.Composer().as_dict(), "others": others})
    assert str(refusal.value).startswith(f"{place}:")


def test_a_function_cannot_be_written() -> None:
    with pytest.raises(oc.InvalidInput, match="mechanism: can only be written"):
        oc.Composer([oc.RenyiDP(lambda alpha: 0.1 * alpha)]).as_dict()
