"""Every cell becomes a whole number of units within the declared reach, whatever type its column has."""

from __future__ import annotations

import math
from decimal import Decimal
from fractions import Fraction
from typing import Any

import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st

from optcomp.errors import InvalidInput
from optcomp.statistics import Categories, Integers, Mean, Numbers, Quantiles, Reals, Statistic, Sum, Variance
from tests.unit.statistics.people import Changing

NAN, INF = math.nan, math.inf
wide = st.floats() | st.sampled_from([NAN, INF, -INF, -0.0, 5e-324, 1.7e308, 2.0**62, -(2.0**63), 0.5, 1.5, 2.5])
long = st.integers(-(2**63), 2**63 - 1) | st.integers(-4, 4)
TYPES: dict[str, st.SearchStrategy[Any]] = {
    "DOUBLE": wide,
    "FLOAT": st.floats(width=32),
    "BIGINT": long,
    "TINYINT": st.integers(-128, 127),
    "UBIGINT": st.integers(0, 2**64 - 1) | st.integers(0, 4),
    "HUGEINT": st.integers(-(2**127) + 1, 2**127 - 1) | st.integers(-4, 4),
    "DECIMAL(38, 6)": st.decimals(-(10**31), 10**31, places=6) | st.sampled_from([Decimal("0.5"), Decimal("1e-6")]),
    "BOOLEAN": st.booleans(),
    "VARCHAR": st.one_of(wide.map(repr), long.map(str), st.sampled_from(["1e400", "-1e999", "12 ", "x", "", "0x1"])),
}
bounds = st.one_of(
    st.floats(-4, 4),
    st.integers(-4, 4),
    st.fractions(-4, 4, max_denominator=7),
    st.floats(-1e99, 1e99),
    st.integers(-(2**62), 2**62),
)


@st.composite
def domains(draw: st.DrawFn) -> Numbers:
    ends = draw(st.tuples(bounds, bounds).filter(lambda pair: abs(Fraction(pair[0]) - Fraction(pair[1])) > 1e-90))
    low, high = sorted(Fraction(end) for end in ends)
    size = max(-low, high, high - low)
    if draw(st.booleans()) and max(-low, high) <= 2**62:
        return Integers(math.floor(low), math.ceil(high))
    units = st.none() | st.integers(2, 2**30).map(lambda steps: min(size / steps, high - low)) | st.just(high - low)
    units = units.filter(lambda unit: unit is None or size / unit <= 2**30)
    return Reals(low, high, draw(units))


def number(cell: Any) -> Fraction | float | None:
    """What a stored cell is: a fraction, ±inf, or nothing."""
    if isinstance(cell, str):
        try:
            cell = float(cell)
        except ValueError:
            return None
    if cell is None or (isinstance(cell, float) and math.isnan(cell)):
        return None
    return cell if isinstance(cell, float) and math.isinf(cell) else Fraction(cell)


def clamped(value: Fraction | float, domain: Numbers) -> Fraction:
    return Fraction(min(max(value, domain.low), domain.high))


def near(steps: int, value: Fraction | float, domain: Numbers, origin: Fraction, unit: Fraction) -> bool:
    """Half a unit off inside, a whole one at the bounds, where units may not fit; floats add their own rounding."""
    inside = clamped(value, domain)
    room = Fraction(1) if inside in (domain.low, domain.high) else Fraction(1, 2)
    slack = abs(inside) / unit / 2**40 + Fraction(1, 10**6)
    return abs(steps - (inside - origin) / unit) <= room + slack + (1 if slack > 1 else 0)


@settings(max_examples=80)
@given(st.sampled_from(sorted(TYPES)), domains(), st.data())
@example("BIGINT", Reals(0.9, 1.1), None)  # once an integer column did not see fractions of bounds
@example("DOUBLE", Integers(2**61, 2**61 + 300), None)  # nor a float column what is between two floats
def test_every_cell_is_a_whole_number_of_units_within_reach(kind: str, domain: Numbers, data: Any) -> None:
    changing = Changing({"x": kind}, {"x": domain})
    cells = [0, 1, 2**61 + 512, None] if data is None else data.draw(st.lists(st.none() | TYPES[kind], max_size=4))
    statistics: list[Statistic] = [Sum("x"), Mean("x"), Variance("x")]
    for cell in cells:
        changing.fill([(cell,)])
        ((stored,),) = changing.stored()
        value = number(stored)
        found = [statistic.measure(changing.table) for statistic in statistics]
        for statistic, vectors in zip(statistics, found, strict=True):
            for (integer,), part in zip(vectors, statistic.parts(changing.table), strict=True):
                assert abs(integer) <= part.l1, (statistic, stored)
        ((total,),), ((count,), (apart,)), ((counted,), (distance,), (square,)) = found
        assert count == counted == (value is not None), stored
        assert square == distance**2
        if value is None:
            assert total == apart == distance == 0
            continue
        spread = statistics[2].parts(changing.table)[1].unit
        assert near(total, value, domain, Fraction(0), domain.unit), stored
        assert near(apart, value, domain, domain.middle, domain.unit), stored
        assert near(distance, value, domain, domain.middle, spread), stored


@settings(max_examples=40)
@given(st.sampled_from(sorted(TYPES)), domains(), st.integers(2, 50), st.data())
def test_every_cell_has_a_place_among_the_candidates(kind: str, domain: Numbers, count: int, data: Any) -> None:
    changing, statistic = Changing({"x": kind}, {"x": domain}), Quantiles("x", ["1/2"], candidates=count)
    for cell in data.draw(st.lists(st.none() | TYPES[kind], max_size=4)):
        (scores,) = changing.measure(statistic, [(cell,)])
        value = number(changing.stored()[0][0])
        here = [i for i, score in enumerate(scores) if score == 0]
        if value is None:
            assert len(here) == count
            continue
        (place,) = here
        assert set(scores[:place]) <= {-1}
        assert set(scores[place + 1 :]) <= {-1}
        low, step, _ = statistic.grid(changing.table)
        assert near(place, value, domain, low, step) or place in (0, count - 1), cell


def test_integers_are_summed_exactly() -> None:
    values = [3, -7, 2**30, -(2**30), 2**63 - 1, -(2**63), None, 0]
    changing = Changing({"x": "BIGINT"}, {"x": Integers(-(2**30), 2**30)})
    clean = [min(max(value, -(2**30)), 2**30) for value in values if value is not None]
    rows = [(value,) for value in values]
    assert changing.measure(Sum("x"), rows) == ((sum(clean),),)
    assert changing.measure(Mean("x"), rows) == ((len(clean),), (sum(clean),))
    changing = Changing({"x": "BIGINT"}, {"x": Integers(-300, 301)})
    clean = [min(max(value, -300), 301) for value in values if value is not None]
    assert changing.measure(Variance("x"), rows) == ((7,), (sum(clean),), (sum(value**2 for value in clean),))


BAD: list[tuple[str, Any]] = [
    ("low", lambda: Integers(3, 3)),
    ("low", lambda: Integers(0.0, 3)),  # type: ignore[arg-type]
    ("high", lambda: Integers(0, 2**62 + 1)),
    ("high", lambda: Integers(0, True)),
    ("low", lambda: Reals(1, -1)),
    ("low", lambda: Reals(NAN, 1)),
    ("high", lambda: Reals(0, INF)),
    ("high", lambda: Reals(0, "1e400")),
    ("low", lambda: Reals(-1e101, 1)),
    ("high", lambda: Reals(0, 1e-320)),
    ("unit", lambda: Reals(0, 1, unit=0)),
    ("unit", lambda: Reals(0, 1, unit=-1)),
    ("unit", lambda: Reals(0, 1, unit="1e-12")),
    ("unit", lambda: Reals(0, 1, unit="1e400")),
    ("unit", lambda: Reals(5, 6, unit=2)),
    ("values", lambda: Categories([])),
    ("values", lambda: Categories(["a", 1])),
    ("values", lambda: Categories(["a", "a"])),
    ("values", lambda: Categories([1.5])),  # type: ignore[list-item]
    ("values", lambda: Categories([True, 1])),
    ("values", lambda: Categories(["\ud800"])),
    ("values", lambda: Categories([2**64])),
    ("other", lambda: Categories(["a", "b"], other="a")),
]


@pytest.mark.parametrize(("argument", "make"), BAD)
def test_a_domain_that_makes_no_sense_is_refused_by_name(argument: str, make: Any) -> None:
    with pytest.raises(InvalidInput, match=rf"^{argument}: ") as caught:
        make()
    assert caught.value.argument == argument
