"""Every cell becomes a whole number of steps within the declared bounds, whatever type its column has."""

from __future__ import annotations

import math
from decimal import Decimal
from fractions import Fraction
from typing import Any

import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st

from optcomp.errors import InvalidInput
from optcomp.statistics import Categories, Declared, Integers, Mean, Numbers, Quantiles, Reals, Sum, Variance
from optcomp.statistics.domains import MOST_UNITS
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
    """What a stored cell is: a fraction, ±inf, or nothing; read by Python, not by an engine."""
    if isinstance(cell, str):
        word = cell.strip(" ").lower()
        if word in ("inf", "-inf"):
            return float(word)
        if not set(word) <= set("0123456789+-.e") or not word:
            return None
        cell = Fraction(word)
        return None if abs(cell) > Fraction(1.7976931348623157e308) else cell  # beyond floats: cannot be read
    if cell is None or (isinstance(cell, float) and math.isnan(cell)):
        return None
    return cell if isinstance(cell, float) and math.isinf(cell) else Fraction(cell)


def clamped(value: Fraction | float, domain: Numbers) -> Fraction:
    return Fraction(min(max(value, domain.low), domain.high))


def rounded(value: Fraction) -> int:
    """To the nearest integer, the greater of two."""
    return math.floor(value + Fraction(1, 2))


def cells_of(changing: Changing) -> list[int | None]:
    """The only column of a snapshot."""
    return [cell for (cell,) in changing.table.run("SELECT c0 FROM optcomp_rows")]


def values_of(domain: Numbers, codes: list[int | None]) -> list[Fraction]:
    """What cells stand for, where they are not missing."""
    return [(domain.first + code) * domain.step for code in codes if code is not None]


def check_code(code: int, value: Fraction | float, domain: Numbers, exactly: bool) -> None:
    """The nearest multiple of the step; floats add their own rounding."""
    assert 0 <= code <= domain.top
    place = clamped(value, domain) / domain.step
    if exactly:
        assert code == min(max(rounded(place) - domain.first, 0), domain.top)
    if value >= domain.high or value <= domain.low:
        assert code == (domain.top if value >= domain.high else 0)
    slack = (abs(place) + abs(domain.first) + 1) / 2**50
    assert abs(code + domain.first - place) <= Fraction(1, 2) + slack


@pytest.mark.slow
@settings(max_examples=40)
@given(st.sampled_from(sorted(TYPES)), domains(), st.data())
@example("BIGINT", Reals(0.9, 1.1), None)  # an integer column sees fractions of bounds
@example("DOUBLE", Integers(2**61, 2**61 + 300), None)  # and a float column what is between two floats
@example("DOUBLE", Integers(2**61 + 1, 2**61 + 3), None)  # or where there is no float
def test_every_cell_is_a_whole_number_of_steps_within_the_bounds(kind: str, domain: Numbers, data: Any) -> None:
    changing = Changing({"x": kind}, {"x": domain}, bad_cells="missing")
    drawn = [0, 1, 2**61 + 512, None] if data is None else data.draw(st.lists(st.none() | TYPES[kind], max_size=6))
    changing.fill([(cell,) for cell in drawn])
    stored, found = [cell for (cell,) in changing.stored()], cells_of(changing)
    assert len(stored) == len(found) == len(drawn)
    whole = isinstance(domain, Integers) and ("INT" in kind or kind == "BOOLEAN")
    for cell, code in zip(stored, found, strict=True):
        value = number(cell)
        assert (code is None) == (value is None), cell
        if code is not None and value is not None:
            check_code(code, value, domain, whole or (isinstance(domain, Integers) and str(cell).isdigit()))
    check_sums(changing, domain, found)


def check_sums(changing: Changing, domain: Numbers, codes: list[int | None]) -> None:
    """Sums over a grid that may be coarser, in fractions."""
    values, table = values_of(domain, codes), changing.table
    (unit,) = (part.unit for part in Sum("x").parts(table))
    assert unit == domain.unit
    assert Sum("x").measure(table) == ((sum(rounded(value / unit) for value in values),),)
    for statistic in (Mean("x"), Variance("x")):
        parts, found = statistic.parts(table), statistic.measure(table)
        distances = [rounded((value - domain.middle) / parts[1].unit) for value in values]
        assert found[:2] == ((len(values),), (sum(distances),))
        assert all(abs(distance) <= part.l1 for distance in distances for part in parts[1:2])
        if len(found) == 3:
            assert found[2] == (sum(distance**2 for distance in distances),)
            assert max((distance**2 for distance in distances), default=0) <= parts[2].l1


mosts = st.sampled_from([1, 2, 5, 2**11, 2**22]) | st.integers(1, 2**30)


@settings(max_examples=150)
@given(domains(), mosts, st.data())
def test_a_coarser_grid_has_the_nearest_multiples_within_so_many(domain: Numbers, most: int, data: Any) -> None:
    coarse = domain.coarse(most)
    assert coarse.unit == coarse.times * domain.step
    places = st.integers(0, domain.top)
    for cell in (0, domain.top, *data.draw(st.lists(places, max_size=5))):
        found = coarse.of(cell) + coarse.low
        assert coarse.of(cell) >= 0
        assert found == rounded((domain.first + cell) * domain.step / coarse.unit)
        assert coarse.low <= found <= coarse.high
    assert max(abs(coarse.low), abs(coarse.high)) <= most
    assert (coarse.low, coarse.high) == (coarse.of(0) + coarse.low, coarse.of(domain.top) + coarse.low)
    if coarse.times > 1:  # half as long a unit would not do
        ends = (domain.first, domain.first + domain.top)
        assert max(abs(rounded(Fraction(2 * end, coarse.times))) for end in ends) > most


@settings(max_examples=150)
@given(domains(), mosts, st.data())
def test_distances_from_the_middle_are_the_nearest_within_so_many(domain: Numbers, most: int, data: Any) -> None:
    coarse, middle = domain.around_middle(most), domain.middle_cell
    assert domain.middle == (domain.first + middle) * domain.step
    assert abs(domain.middle - (domain.low + domain.high) / 2) <= domain.step
    assert coarse.unit == coarse.times * domain.step
    for cell in (0, middle, domain.top, *data.draw(st.lists(st.integers(0, domain.top), max_size=5))):
        found = coarse.of(cell) + coarse.low
        assert coarse.of(cell) >= 0
        assert found == rounded((cell - middle) * domain.step / coarse.unit)
        assert coarse.low <= found <= coarse.high
    assert coarse.of(middle) + coarse.low == 0
    assert max(-coarse.low, coarse.high) <= most
    if coarse.times > 1:
        ends = (-middle, domain.top - middle)
        assert max(abs(rounded(Fraction(2 * end, coarse.times))) for end in ends) > most


@given(domains())
def test_sums_of_a_billion_rows_a_thousand_times_fit_62_bits(domain: Numbers) -> None:
    coarse, spread = domain.coarse(MOST_UNITS), Variance("x").parts(Declared({"x": domain}))[2]
    assert domain.top <= 2**22
    assert 2**40 * max(abs(coarse.low), abs(coarse.high), coarse.high - coarse.low) <= 2**63 - 1
    assert 2**40 * spread.l1 <= 2**62


@settings(max_examples=150)
@given(domains(), st.integers(2, 50) | st.integers(2, 100_000), st.data())
def test_places_among_candidates_ascend_and_are_the_nearest(domain: Numbers, count: int, data: Any) -> None:
    """Candidates are spread evenly from the first cell to the last."""
    statistic, declared = Quantiles("x", ["1/2"], candidates=count), Declared({"x": domain})
    place = statistic._place(declared)
    drawn = sorted(data.draw(st.lists(st.integers(0, domain.top), max_size=6)))
    found = [place(cell) for cell in (0, *drawn, domain.top)]
    assert found == sorted(found)
    assert (found[0], found[-1]) == (0, count - 1)
    low, step, _ = statistic.grid(declared)
    for cell, candidate in zip(drawn, found[1:-1], strict=True):
        assert candidate == rounded(Fraction(cell * (count - 1), domain.top))
        away = (domain.first + cell) * domain.step - (low + step * candidate)
        assert abs(away) <= step / 2 + domain.step


@settings(max_examples=15)
@given(st.sampled_from(sorted(TYPES)), domains(), st.integers(2, 50), st.data())
def test_every_cell_has_a_place_among_the_candidates(kind: str, domain: Numbers, count: int, data: Any) -> None:
    changing = Changing({"x": kind}, {"x": domain}, bad_cells="missing")
    statistic = Quantiles("x", ["1/2"], candidates=count)
    for cell in data.draw(st.lists(st.none() | TYPES[kind], max_size=3)):
        (scores,) = changing.measure(statistic, [(cell,)])
        (code,) = cells_of(changing)
        here = [i for i, score in enumerate(scores) if score == 0]
        if code is None:
            assert len(here) == count
            continue
        (place,) = here
        assert set(scores[:place]) <= {-1}
        assert set(scores[place + 1 :]) <= {-1}
        assert place == rounded(Fraction(code * (count - 1), domain.top))


def test_integers_are_summed_exactly() -> None:
    values = [3, -7, 2**30, -(2**30), 2**63 - 1, -(2**63), None, 0]
    rows = [(value,) for value in values]
    for low, high in ((-(2**21), 2**21), (0, 2**22), (-300, 301)):
        changing = Changing({"x": "BIGINT"}, {"x": Integers(low, high)})
        clean = [min(max(value, low), high) for value in values if value is not None]
        middle = math.floor(Fraction(low + high + 1, 2))
        assert changing.measure(Sum("x"), rows) == ((sum(clean),),)
        assert changing.measure(Mean("x"), rows) == ((len(clean),), (sum(value - middle for value in clean),))
    squares = sum((value - middle) ** 2 for value in clean)
    assert changing.measure(Variance("x"), rows) == ((7,), (sum(value - middle for value in clean),), (squares,))


def test_integers_far_apart_are_summed_on_a_coarser_grid() -> None:
    domain = Integers(-(2**30), 2**30)
    changing, values = (
        Changing({"x": "BIGINT"}, {"x": domain}),
        [3, -7, 2**30, -(2**30), 2**63 - 1, 255, 256, 2**29 + 1],
    )
    assert domain.step == domain.unit == 512
    expected = sum(rounded(Fraction(min(max(value, -(2**30)), 2**30), 512)) for value in values)
    assert changing.measure(Sum("x"), [(value,) for value in values]) == ((expected,),)


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
