"""Long inputs are read as arrays, to the same parts and the same errors as item by item."""

from __future__ import annotations

import random
from collections.abc import Callable, Sequence
from decimal import Decimal
from fractions import Fraction
from typing import NamedTuple

import numpy as np
import pandas as pd
import pyarrow as pa
import pytest
from hypothesis import given
from hypothesis import strategies as st

from optcomp import ApproxDP, Composer, InvalidGuarantee, InvalidInput, PureDP, compare, compose
from optcomp.composition.columns import plain_columns, plain_counts
from optcomp.composition.reading import MOST_COPIES, read_item, read_parts
from optcomp.instances.parts import Parts

eps_values = st.one_of(st.sampled_from([0.0, -0.0, 0.1, 0.25, 1e-100, 1e12]), st.floats(1e-100, 1e12))
delta_values = st.one_of(st.sampled_from([0.0, -0.0, 1e-9, 5e-324]), st.floats(0, 1, exclude_max=True))
rows = st.lists(st.tuples(eps_values, delta_values), max_size=30)


def tallied(pairs: Sequence[tuple[float, float]]) -> Parts:
    """The definition: count equal pairs."""
    read = [read_item(pair, "pair") for pair in pairs]
    return Parts.of({pair: read.count(pair) for pair in read})


def same(first: Parts, second: Parts) -> bool:
    return (
        first == second
        and hash(first) == hash(second)
        and first.groups == second.groups
        and first.coins == second.coins
        and first.leaks == second.leaks
        and first.count == second.count
    )


@given(rows, st.randoms(use_true_random=False))
def test_every_form_reads_alike(pairs: list[tuple[float, float]], shuffler: random.Random) -> None:
    expected = tallied(pairs)
    shuffled = list(pairs)
    shuffler.shuffle(shuffled)
    counts = {pair: pairs.count(pair) for pair in pairs}
    forms: list[object] = [
        pairs,
        shuffled,
        tuple(pairs),
        iter(pairs),
        [list(pair) for pair in pairs],
        [ApproxDP(*pair) for pair in pairs],
        [(np.float64(eps), np.float64(delta)) for eps, delta in pairs],
        [(Fraction(eps), delta) for eps, delta in pairs],
        [*pairs, *(PureDP(0.5) for _ in range(0))],
        np.array(pairs).reshape(-1, 2),
        np.array(pairs).reshape(-1, 2)[::-1],
        counts,
        {pair: np.int64(count) for pair, count in counts.items()},
        {ApproxDP(*pair): count for pair, count in counts.items()},
    ]
    assert all(same(read_parts(form), expected) for form in forms)


@given(st.lists(eps_values, max_size=30))
def test_every_form_of_pure_privacy_reads_alike(sizes: list[float]) -> None:
    expected = tallied([(eps, 0.0) for eps in sizes])
    guarantees = [PureDP(eps) for eps in sizes]
    forms: list[object] = [
        sizes,
        np.array(sizes),
        list(np.array(sizes)),
        guarantees,
        [ApproxDP(eps, 0.0) for eps in sizes],
        [PureDP(eps) if eps > 1 else ApproxDP(eps, 0.0) for eps in sizes],
        [eps if eps > 1 else PureDP(eps) for eps in sizes],
        [Decimal(eps) for eps in sizes],
        {PureDP(eps): guarantees.count(PureDP(eps)) for eps in sizes},
    ]
    assert all(same(read_parts(form), expected) for form in forms)


def test_equal_items_of_a_mapping_add_up() -> None:
    mapping = {0.5: 2, PureDP(0.5): 3, (0.5, 0.0): 4, ApproxDP(0.5, 0.0): 10**14, (0.25, 0.0): 0}
    assert read_parts(mapping).coins == ((0.5, 9 + 10**14),)
    pairs = {(0.5, 0.0): 2, (0.5, 1e-9): 3, (0.25, 1e-9): 4, (0.0, 0.5): 7, (0.125, 0.0): 0}
    assert read_parts(pairs).coins == ((0.5, 5), (0.25, 4))
    assert read_parts(pairs).leaks == ((0.5, 7), (1e-9, 7))


def test_more_mechanisms_than_floats_count() -> None:
    sizes = [0.001 * n for n in range(1, 13)]
    parts = read_parts(dict.fromkeys(sizes, MOST_COPIES))
    assert parts.count == 12 * 10**15 > 2**53
    assert parts == Parts.of({(eps, 0.0): MOST_COPIES for eps in sizes})
    assert parts.exact_sizes


def test_what_is_no_float_is_read_one_by_one() -> None:
    class Named(NamedTuple):
        epsilon: float
        delta: float

    others: list[list[object]] = [
        [0.1, 1],
        [0.1, Fraction(1, 3)],
        [0.1, "0.2"],
        [0.1, True],
        [0.1, np.float32(0.1)],
        [0.1, np.longdouble(0.1)],
        [0.1, PureDP(0.2)],
        [PureDP("0.1"), PureDP(0.1)],
        [ApproxDP(0.1, Fraction(1, 3)), ApproxDP(0.1, 0.2)],
        [(0.1, 0.0), (0.1, 0)],
        [(0.1, 0.0), (0.1,)],
        [(0.1, 0.0), (0.1, 0.0, 0.0)],
        [Named(0.1, 0.2)],
    ]
    assert [plain_columns(items) for items in others] == [None] * len(others)
    for counts in ([True], [1.0], [-1], [10], [np.int64(1)], [2**70]):
        assert plain_counts(counts, 9) is None
    assert read_parts([0.1, Fraction(1, 3)]).coins == ((Fraction(1, 3), 1), (0.1, 1))
    assert read_parts([Named(0.1, 0.2), Named(0.1, 0.2)]).leaks == ((0.2, 2),)


def test_whole_numbers_of_arrays_are_not_rounded() -> None:
    assert read_parts(np.array([3, 2, 3])).coins == ((3, 2), (2, 1))
    with pytest.raises(InvalidGuarantee, match=rf"^parts\[1\]: .*, got {2**53 + 1}$"):
        read_parts(np.array([1, 2**53 + 1]))
    assert read_parts(np.array([0.5, 0.1], dtype=np.float32)).coins == ((0.5, 1), (float(np.float32(0.1)), 1))


def test_reading_copies_what_may_change() -> None:
    array = np.array([0.1, 0.2])
    parts = read_parts(array)
    array[0] = 0.7
    assert parts.coins == ((0.2, 1), (0.1, 1))


TEXTS: list[tuple[Callable[[], object], str]] = [
    (lambda: [0.1] * 5 + [-0.5, -0.7], "parts[5]: must not be negative, got -0.5"),
    (lambda: [0.1, float("nan"), 0.2], "parts[1]: must be finite, got nan"),
    (lambda: [*np.array([0.1, 0.2]), np.float64(-1)], "parts[2]: must not be negative, got np.float64(-1.0)"),
    (lambda: [0.1, 1e-101], "parts[1]: must be 0 or between 1e-100 and 1e+12, got 1e-101"),
    (lambda: [0.1, 0.2, 0.1, 1e13], "parts[3]: must be 0 or between 1e-100 and 1e+12, got 10000000000000.0"),
    (lambda: [0.1, True], "parts[1]: must be a number, not a truth value, got True"),
    (lambda: [(0.1, 0.0), (0.1, 1.0)], "parts[1][1]: must be at least 0 and less than 1, got 1.0"),
    (lambda: [(0.1, 0.0), (0.1, float("nan"))], "parts[1][1]: must be finite, got nan"),
    (lambda: [(0.1, 0.0), (-1.0, 2.0)], "parts[1][0]: must not be negative, got -1.0"),
    (lambda: {0.1: 2, -0.2: 1}, "parts[1]: must not be negative, got -0.2"),
    (lambda: np.array([0.1, 0.2, np.inf, np.nan]), "parts[2][0]: must be finite, got inf"),
    (lambda: np.array([[0.1, 0.0], [0.1, -1e-9]]), "parts[1][1]: must be at least 0 and less than 1, got -1e-09"),
    (lambda: np.array([1, 2, -3]), "parts[2]: must not be negative, got -3"),
    (lambda: {0.1: 2, -0.2: MOST_COPIES + 1}, "count of -0.2: must be at least 0 and at most 1000000000000000, "),
    (lambda: broken(PureDP(0.1), -1.0), "parts[1].epsilon: must not be negative, got -1.0"),
]


def broken(guarantee: PureDP, eps: float) -> list[PureDP]:
    object.__setattr__(guarantee, "epsilon", eps)
    return [PureDP(0.2), guarantee]


@pytest.mark.parametrize("case", range(len(TEXTS)))
def test_the_first_wrong_item_is_named(case: int) -> None:
    parts, text = TEXTS[case]
    with pytest.raises(InvalidInput) as refusal:
        read_parts(parts())
    assert str(refusal.value).startswith(text)


def test_repeated_objects_cost_one_look() -> None:
    class Shy:
        looks = 0

        @property
        def epsilon(self) -> float:
            Shy.looks += 1
            return 0.1

        @property
        def delta(self) -> float:
            return 0.0

    assert read_parts([Shy()] * 1000).coins == ((0.1, 1000),)
    assert Shy.looks <= 2


FRAME = pd.DataFrame({"epsilon": [0.1, 0.25, 0.1], "delta": [0.0, 1e-9, 0.0]})


@pytest.mark.parametrize(
    ("series", "tenth"),
    [
        (FRAME["epsilon"], 0.1),
        (FRAME["epsilon"].astype("Float64"), 0.1),
        (pd.Index(FRAME["epsilon"]), 0.1),
        (pd.Series([Decimal("0.1"), Fraction(1, 4), "0.1"], dtype=object), Fraction(1, 10)),
        (pa.array([0.1, 0.25, 0.1]), 0.1),
        (pa.chunked_array([[0.1], [0.25, 0.1]]), 0.1),
        (pa.array([Decimal("0.10"), Decimal("0.25"), Decimal("0.10")]), Fraction(1, 10)),
    ],
    ids=range(7),
)
def test_a_series_is_an_array(series: object, tenth: float | Fraction) -> None:
    assert read_parts(series) == read_parts([tenth, 0.25, tenth])


def test_whole_numbers_in_a_series() -> None:
    assert read_parts(pd.Series([1, 2])) == read_parts([1, 2])
    assert read_parts(FRAME[["epsilon", "delta"]].to_numpy()) == read_parts([(0.1, 0.0), (0.25, 1e-9), (0.1, 0.0)])


@pytest.mark.parametrize(
    "series", [pd.Series([0.1, None]), pa.array([0.1, None]), pd.Series([0.1, -1.0])], ids=range(3)
)
def test_what_is_wrong_in_a_series_is_named_by_its_place(series: object) -> None:
    with pytest.raises(InvalidInput, match=r"parts\[1\]"):
        read_parts(series)


@pytest.mark.parametrize("frame", [FRAME, pd.DataFrame({"0.1": [5.0]}), pd.DataFrame(), pa.table({"epsilon": [0.1]})])
def test_a_data_frame_is_no_list_of_its_names(frame: object) -> None:
    """A column named 0.1 was taken for a mechanism."""
    for ask in (lambda: compose(frame, delta=0), lambda: compare(frame, delta=0.1), lambda: Composer(frame)):  # type: ignore[arg-type]
        with pytest.raises(InvalidInput, match="parts: must not be a data frame: give its columns"):
            ask()
