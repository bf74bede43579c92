"""Bins compare their edges exactly with what cells stand for, against counting in fractions."""

from __future__ import annotations

from fractions import Fraction
from functools import cache
from itertools import pairwise

import pyarrow as pa
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from optcomp.statistics import CDF, Contingency, Histogram, Integers, Numbers, Reals, Statistic, Table

DOMAINS: dict[str, Numbers] = {
    "tenths": Reals(0, 3, unit="1/10"),
    "thirds": Reals(-1, 2, unit="1/3"),
    "powers": Reals(-1, 1),
    "whole": Integers(-20, 20),
    "far": Integers(-(2**40), 2**40),
}
CELLS = 50


@cache
def people(name: str) -> tuple[Table, list[Fraction]]:
    """Cells all over the range and two that are missing; and what those that are there stand for."""
    domain = DOMAINS[name]
    wanted = [float(domain.low + (domain.high - domain.low) * i / CELLS) for i in range(CELLS + 1)]
    table = Table(pa.table({"x": pa.array([*wanted, None, None], pa.float64())}), {"x": domain})
    codes = [code for (code,) in table.run("SELECT c0 FROM optcomp_rows WHERE c0 IS NOT NULL")]
    return table, [(domain.first + code) * domain.step for code in codes]


def bin_of(value: Fraction, edges: list[Fraction]) -> int:
    """The one that begins at or below a value; what lies beyond the edges belongs to the first or the last."""
    found = [i for i, (low, high) in enumerate(pairwise(edges)) if low <= value < high]
    return found[0] if found else (0 if value < edges[0] else len(edges) - 2)


@pytest.mark.parametrize("name", DOMAINS)
@settings(max_examples=15)
@given(data=st.data())
def test_a_cell_is_in_the_bin_whose_edges_enclose_it(name: str, data: st.DataObject) -> None:
    """Also where an edge is a float just beside a cell."""
    domain, (table, values) = DOMAINS[name], people(name)
    assert len(values) == CELLS + 1
    inner = st.integers(1, 999).map(lambda share: domain.low + (domain.high - domain.low) * share / 1000)
    beside = st.sampled_from(values).map(lambda value: Fraction(float(value)))
    drawn = data.draw(st.lists(inner | beside | st.sampled_from(values), max_size=6, unique_by=float))
    inside = (edge for edge in drawn if float(domain.low) < float(edge) < float(domain.high))
    edges = sorted({domain.low, domain.high, *inside})
    counts = [0] * (len(edges) - 1)
    for value in values:
        counts[bin_of(value, edges)] += 1
    statistics: list[Statistic] = [
        Histogram("x", edges=edges),
        CDF("x", edges=edges),
        Contingency(("x",), {"x": edges}),
    ]
    for statistic in statistics:
        assert statistic.measure(table) == ((*counts, 2),), (statistic, edges)
