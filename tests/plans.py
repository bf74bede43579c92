"""Plans for tests, and ways to spoil them."""

from __future__ import annotations

import copy
from pathlib import Path
from typing import Any

from hypothesis import strategies as st

from optcomp.planner.source import load

ROOT = Path(__file__).parents[1]
Plain = dict[str, Any]
ROWS = 1000
"""Of the data that the small plan is about."""


def example() -> Plain:
    """The plan that is shipped."""
    found: Plain = load(ROOT / "examples" / "plan.yaml")
    return found


def small(**changes: Any) -> Plain:
    """Pure noise, so that it is worked out at once."""
    found: Plain = {
        "plan": 1,
        "data": {"rows": ROWS, "name": "people"},
        "columns": {"age": {"integers": [0, 99]}, "region": {"categories": ["north", "south"]}},
        "budget": {"epsilon": 1},
        "statistics": {"people": {"count": None}, "mean_age": {"mean": "age"}, "regions": {"histogram": "region"}},
    }
    return found | changes


def every_kind() -> Plain:
    """A statistic of every kind, with every entry that it may have."""
    own: Plain = {"where": "age >= 18", "weight": "2.5", "rows": 900}
    return small(
        data={
            "rows": 1000,
            "person": "id",
            "rows_per_person": 3,
            "groups_per_person": 2,
            "rows_per_group": 2,
            "grouped_by": ["region"],
            "bad_cells": "missing",
            "multiline": False,
        },
        columns={
            "age": {"integers": [0, 99], "present": 1, "centre": "45.5", "spread": [10, "30"]},
            "region": {"categories": ["north", "south"], "other": "elsewhere"},
            "income": {"reals": ["0", "1e5"], "unit": "0.01", "present": "0.9", "centre": [20000, "5e4"]},
        },
        confidence="0.9",
        reserve="1/10",
        objective="worst",
        statistics={
            "count": {"count": None, **own, "mechanism": "laplace", "size": 100},
            "sum": {"sum": "income", **own, "hold": True},
            "mean": {"mean": "income", **own, "epsilon": "0.05", "present": "9/10", "centre": 30000},
            "variance": {"variance": "age", **own, "centre": [30, 50], "spread": 20},
            "histogram": {"histogram": "age", **own, "bins": 7},
            "edges": {"histogram": "age", **own, "edges": [0, 50, 99]},
            "contingency": {"contingency": ["region", "age"], **own, "edges": {"age": [0, 18, "99"]}},
            "cdf": {"cdf": "income", **own, "bins": 4, "present": 1},
            "quantiles": {"quantiles": "age", **own, "probabilities": ["0.1", "1/2"], "candidates": 50},
            "median": {"median": "age", **own, "error": 200, "mechanism": "exponential"},
            "people": {"people": "all", **own, "by": "region"},
            "means": {"mean": "age", **own, "by": ["region"], "centre": [30, 50]},
            "several": {"means": ["age", "income"], **own, "present": "0.8"},
            "regression": {"regression": "income", **own, "on": ["age"]},
        },
    )


JUNK: st.SearchStrategy[Any] = st.one_of(
    st.none(),
    st.booleans(),
    st.sampled_from([0, 1, -1, 2, 10**30, -(10**400), 1.5, float("nan"), float("inf"), 1e308, -0.0]),
    st.sampled_from(
        ["", " ", "0.1", "1e-6", "nan", "1e999", "-1", "1/0", "1/3", "age", "region", "x\ny", "é", "$x$", "\x00"]
    ),
    st.sampled_from(["age >= 18", "age >", "__import__('os')", "laplace", "gaussian", "wanted", "replace", "harm"]),
    st.sampled_from([[], {}, [1], [2, 1], ["a", "a"], {"mean": "age"}, {"count": None}, [[1], [2]], {"a": {"b": []}}]),
).map(copy.deepcopy)


def places(value: Any, way: tuple[Any, ...] = ()) -> list[tuple[Any, ...]]:
    """Where every value of a document is."""
    inner = value.items() if isinstance(value, dict) else enumerate(value) if isinstance(value, list) else ()
    return [way, *(place for key, each in inner for place in places(each, (*way, key)))]


@st.composite
def spoiled(draw: st.DrawFn, base: Plain) -> Any:
    """The document with a few values exchanged, left out, or put where they do not belong."""
    found: Any = copy.deepcopy(base)
    for _ in range(draw(st.integers(1, 3))):
        *way, last = draw(st.sampled_from(places(found)[1:])) if len(places(found)) > 1 else (None,)
        inside = found
        for key in way:
            inside = inside[key]
        kind = draw(st.sampled_from(["exchange", "exchange", "leave out", "add", "rename"]))
        if kind == "exchange" or not isinstance(inside, dict):
            inside[last] = draw(JUNK)
        elif kind == "leave out":
            del inside[last]
        elif kind == "rename":
            inside[draw(st.sampled_from(["x", "epsilon", "error", "rho", 3, None, True, ""]))] = inside.pop(last)
        else:
            inside[draw(st.sampled_from(["epsilon", "error", "rho", "where", "bins", "hold", "unit", "harm"]))] = draw(
                JUNK
            )
        if not isinstance(found, dict) or not found:
            break
    return found
