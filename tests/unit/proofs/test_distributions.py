"""Finite distributions and kernels: checked on construction, immutable, exact."""

from __future__ import annotations

import copy
import pickle
import random
from collections import Counter
from collections.abc import Callable
from fractions import Fraction

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import optcomp.proofs as proofs
from optcomp.errors import InvalidInput
from optcomp.proofs import Finite, Kernel, mixture, product
from tests.unit.proofs.generators import finites

THIRD = Fraction(1, 3)


def test_every_exported_name_is_documented() -> None:
    assert proofs.__all__ == sorted(proofs.__all__)
    undocumented = [name for name in proofs.__all__ if callable(getattr(proofs, name)) and not _documented(name)]
    assert undocumented == []


def _documented(name: str) -> bool:
    text = getattr(proofs, name).__doc__ or ""
    return bool(text) and not text.startswith(f"{name}(")  # what dataclasses write by themselves


def test_numbers_are_kept_as_given() -> None:
    assert Finite({"a": "1/3", "b": "0.5", "c": Fraction(1, 6)}) == Finite({"a": THIRD, "b": 0.5, "c": Fraction(1, 6)})
    assert type(Finite({"a": 1})["a"]) is Fraction
    assert type(Finite({"a": np.float64(0.5), "b": 0.5})["b"]) is float


@pytest.mark.parametrize(
    ("probabilities", "message"),
    [
        ({"a": Fraction(3, 2), "b": Fraction(-1, 2)}, "probability of 'b': must not be negative"),
        ({"a": THIRD, "b": THIRD}, "probabilities: must sum to one"),
        ({"a": THIRD, "b": Fraction(2, 3) + Fraction(1, 10**30)}, "probabilities: must sum to one"),
        ({"a": 0.5, "b": 0.5 + 1e-11}, "probabilities: must sum to one"),
        ({}, "probabilities: must sum to one"),
        ({"a": float("nan")}, "probability of 'a': must be finite"),
        ({"a": "most"}, "probability of 'a': must be a number"),
    ],
)
def test_refuses_what_is_no_distribution(probabilities: dict[str, object], message: str) -> None:
    with pytest.raises(InvalidInput, match=message):
        Finite(probabilities)


def test_floats_may_be_off_by_roundings() -> None:
    assert len(Finite(dict.fromkeys(range(10), 0.1))) == 10


def test_outcomes_of_probability_zero_are_not_there() -> None:
    coin = Finite({"a": 1, "b": 0})
    assert coin == Finite.point("a")
    assert coin.support == ("a",)
    assert coin["b"] == coin["c"] == 0


def test_never_changes() -> None:
    given_rows = {"a": THIRD, "b": 2 * THIRD}
    coin = Finite(given_rows)
    given_rows["a"] = Fraction(1)
    assert coin["a"] == THIRD
    with pytest.raises(AttributeError, match="a Finite never changes"):
        coin._rows = {}
    with pytest.raises(TypeError):
        coin["a"] = 1  # type: ignore[index]
    for twin in (copy.deepcopy(coin), pickle.loads(pickle.dumps(coin)), Finite({"b": 2 * THIRD, "a": THIRD})):
        assert twin == coin
        assert hash(twin) == hash(coin)
    rows = Kernel({0: coin})
    assert pickle.loads(pickle.dumps(rows)) == rows
    assert rows != coin


def test_reads_well() -> None:
    coin = Finite({"a": "1/3", "b": "2/3"})
    assert str(coin) == "{a: 1/3, b: 2/3}"
    assert str(Kernel({0: coin})) == "{0: {a: 1/3, b: 2/3}}"
    assert eval(repr(coin)) == coin
    assert list(coin) == ["a", "b"]


def test_named_constructors() -> None:
    assert Finite.uniform("aab") == Finite({"a": "2/3", "b": "1/3"}) == Finite.proportional({"a": 2, "b": 1, "c": 0})
    with pytest.raises(InvalidInput, match="must not be empty"):
        Finite.uniform([])
    with pytest.raises(InvalidInput, match="must have a positive sum"):
        Finite.proportional({"a": 0})
    with pytest.raises(InvalidInput, match="must not be negative"):
        Finite.proportional({"a": 2, "b": -1})


@settings(max_examples=200)
@given(finites(), finites())
def test_product_and_push_forward(p: Finite[str], q: Finite[str]) -> None:
    both = product(p, q)
    assert all(both[a, b] == p[a] * q[b] for a in p for b in q)
    assert both.map(lambda pair: pair[0]) == p
    assert both.map(lambda pair: pair[1]) == q
    assert product() == Finite.point(())


@settings(max_examples=200)
@given(finites("ab"), finites(), finites(), finites("xy"), finites("xy"))
def test_maps_follow_each_other(
    start: Finite[str], a: Finite[str], b: Finite[str], x: Finite[str], y: Finite[str]
) -> None:
    first = Kernel({"a": a, "b": b})
    second = Kernel({"a": x, "b": y, "c": x, "d": y})
    assert start.through(first) == mixture([(start["a"], a), (start["b"], b)])
    assert start.through(first).through(second) == start.through(first.then(second))
    assert start.through(Finite.point) == start


@settings(max_examples=200)
@given(finites(), st.sets(st.sampled_from("abcd")))
def test_conditioning_splits_the_whole(p: Finite[str], event: set[str]) -> None:
    inside = p.probability(event)
    assert inside + p.probability(lambda a: a not in event) == 1
    parts = [(inside, p.given(event))] if inside else []
    parts += [(1 - inside, p.given(lambda a: a not in event))] if inside < 1 else []
    assert mixture(parts) == p
    assert all(part.support for _, part in parts)


def test_conditioning_on_nothing_is_refused() -> None:
    with pytest.raises(InvalidInput, match="must have positive probability"):
        Finite.point("a").given({"b"})


def test_a_map_knows_its_inputs() -> None:
    with pytest.raises(InvalidInput, match="must be one of"):
        Kernel({0: Finite.point("a")})(1)


@settings(max_examples=200)
@given(finites(), finites())
def test_floats_follow_the_fractions(p: Finite[str], q: Finite[str]) -> None:
    assert all(type(weight) is float for _, weight in p.floats().items())
    assert p.floats().distance(p) < 1e-15
    assert abs(float(p.distance(q)) - float(p.floats().distance(q.floats()))) < 1e-15
    assert Kernel({0: p, 1: q}).floats()(1) == q.floats()
    assert p.distance(q) == q.distance(p) == sum(abs(Fraction(p[a]) - Fraction(q[a])) for a in "abcd") / 2


@pytest.mark.parametrize("kind", [random.Random, np.random.default_rng])
def test_samples(kind: Callable[[int], random.Random]) -> None:
    p, generator = Finite({"a": "1/2", "b": "1/3", "c": "1/6"}), kind(5)
    counts = Counter(p.sample(generator) for _ in range(6000))
    assert all(abs(counts[a] - 6000 * p[a]) < 200 for a in "abc")


def test_sampling_survives_roundings() -> None:
    class Last(random.Random):
        def random(self) -> float:
            return 1 - 2**-53

    assert Finite(dict.fromkeys(range(10), 0.1)).sample(Last()) == 9
