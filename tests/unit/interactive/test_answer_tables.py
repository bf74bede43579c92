"""Answers as tables: the same numbers in data frames, in text with commas and in notebooks."""

from __future__ import annotations

import csv
import io
from typing import Any

import pyarrow as pa
import pytest

from optcomp.errors import InvalidInput
from optcomp.interactive import Answer, answer, consistent
from optcomp.interactive.consistency import _adding_up
from optcomp.statistics import (
    Categories,
    Contingency,
    Count,
    Histogram,
    Integers,
    Mean,
    Means,
    Median,
    People,
    Quantiles,
    Question,
    Regression,
    Statistic,
    Table,
)

TABLE = Table(
    pa.table({"x": [1, 2, 3, 4], "c": ["=a", "b", None, "b"], "value": [0, 1, 0, 1]}),
    {"x": Integers(0, 5), "c": Categories(["=a", "b"]), "value": Integers(0, 1)},
)


def asked(statistic: Statistic) -> Answer:
    return answer(Question(statistic, epsilon=1), TABLE)


CASES: list[tuple[Statistic, list[str], int]] = [
    (Count(), ["value", "low", "high"], 1),
    (Mean("x", by="c"), ["c", "value", "low", "high"], 3),
    (Count(by=("c", "value")), ["c", "value (column)", "value", "low", "high"], 9),
    (Histogram("x"), ["x", "value", "low", "high"], 7),
    (Contingency(("c", "value")), ["c", "value (column)", "value", "low", "high"], 9),
    (Median("x"), ["value", "rows_off"], 1),
    (Quantiles("x", by="c"), ["c", "probability", "value", "rows_off"], 9),
    (Means(("x", "value")), ["mean of", "value", "low", "high"], 2),
    (Regression("x", "value"), ["coefficient", "value", "low", "high"], 2),
]


@pytest.mark.parametrize(("statistic", "names", "size"), CASES, ids=str)
def test_tables_hold_every_number(statistic: Statistic, names: list[str], size: int) -> None:
    found = asked(statistic)
    frame = found.to_pandas()
    assert list(frame.columns) == names
    assert len(frame) == size
    told = list(found.value.values()) if isinstance(found.value, dict) else [found.value]
    assert frame["value"].tolist() == told
    lines = list(csv.reader(io.StringIO(found.to_csv())))
    assert lines[0] == names
    assert [float(line[names.index("value")]) for line in lines[1:]] == told
    shown = found._repr_html_()
    assert shown.startswith("<table><caption>")
    assert shown.count("<tr>") == size + 1


@pytest.mark.parametrize(("statistic", "names", "size"), CASES, ids=str)
def test_frames_of_polars_are_the_same(statistic: Statistic, names: list[str], size: int) -> None:
    pytest.importorskip("polars")
    found = asked(statistic)
    frame = found.to_polars()
    assert frame.columns == names
    assert frame.rows() == list(found.to_pandas().itertuples(index=False, name=None))
    assert len(frame) == size


def test_text_is_no_formula_and_no_markup() -> None:
    found = asked(Histogram("c"))
    assert "\r\n'=a," in found.to_csv()
    table = Table(pa.table({"c": ["<b>"]}), {"c": Categories(["<b>"])})
    assert "&lt;b&gt;" in answer(Question(Count(by="c"), epsilon=1), table)._repr_html_()


def test_intervals_have_the_confidence_that_is_asked_for() -> None:
    found = asked(Count(by="c"))
    narrow, wide = (found.to_pandas(sure) for sure in (0.5, 0.999))
    # both are cut off at 0 in a cell whose noise is below -10: in all three with a probability below 1e-13
    assert (wide["high"] - wide["low"]).sum() > (narrow["high"] - narrow["low"]).sum()


def test_counts_are_made_consistent_and_intervals_narrowed() -> None:
    """For any noise: the sum is right, nothing is negative, and intervals stay within the raw ones."""
    for _ in range(50):
        found = asked(Count(by="c"))
        made, raw = consistent(found, total=4), found.interval()
        assert sum(made.value.values()) == 4
        assert all(count >= 0 for count in made.value.values())
        for cell, (low, high) in made.interval.items():
            assert max(raw[cell][0], 0) <= low <= high <= max(raw[cell][1], 0)
        if all(raw[cell][0] <= count <= raw[cell][1] for cell, count in {"=a": 1, "b": 2, "(other)": 1}.items()):
            assert all(
                low <= count <= high for (low, high), count in zip(made.interval.values(), (1, 2, 1), strict=True)
            )
        alone = consistent(found)
        assert alone.value == {cell: max(count, 0) for cell, count in found.value.items()}


@pytest.mark.parametrize(
    ("counts", "total"), [((5, -2, 8), 10), ((5, 2, 0), 20), ((-5, -2, -9), 0), ((3, 3, 3), 1), ((0, 0, 0), 7)]
)
def test_consistent_counts_are_the_nearest(counts: tuple[int, ...], total: int) -> None:
    """Among all that add up, but for rounding."""
    found = tuple(_adding_up(dict(enumerate(counts)), total).values())
    assert sum(found) == total
    ways = [(a, b, total - a - b) for a in range(total + 1) for b in range(total + 1 - a)]
    best = min(sum((x - y) ** 2 for x, y in zip(counts, way, strict=True)) for way in ways)
    assert sum((x - y) ** 2 for x, y in zip(counts, found, strict=True)) <= best + 2


@pytest.mark.parametrize(("statistic", "total"), [(Mean("x", by="c"), None), (Count(), None), (People(by="c"), 4)])
def test_what_is_no_table_of_counts_is_refused(statistic: Statistic, total: Any) -> None:
    with pytest.raises(InvalidInput):
        consistent(asked(statistic), total)
