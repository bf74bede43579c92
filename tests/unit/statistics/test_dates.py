"""Dates and times as a domain, against Python's own calendar and time zones."""

from __future__ import annotations

import datetime
from fractions import Fraction
from pathlib import Path
from typing import Any
from zoneinfo import ZoneInfo

import numpy as np
import pandas as pd
import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st

from optcomp.errors import InvalidInput, UnreadableData
from optcomp.planner import read
from optcomp.statistics import (
    CDF,
    Count,
    Dates,
    Histogram,
    Mean,
    Median,
    Quantiles,
    Sum,
    Table,
    TimeUnit,
    Variance,
    check_condition,
    declaration_document,
    read_declaration,
    read_statistic,
)

BERLIN = ZoneInfo("Europe/Berlin")
LENGTHS = {"year": "Y", "month": "M", "day": "D", "hour": "h", "minute": "m", "second": "s"}
WIDE: dict[str, tuple[str, str]] = {
    "year": ("0001", "9999"),
    "month": ("1900-01", "2100-12"),
    "week": ("1900-01-01", "2100-12-31"),
    "day": ("1900-01-01", "2100-12-31"),
    "hour": ("1990-01-01", "2040-12-31"),
    "minute": ("2020-01-01", "2024-12-31"),
    "second": ("2024-03-01", "2024-04-15"),
}


def index(moment: datetime.datetime, unit: str) -> int:
    """Units since 1970, by numpy's own calendar."""
    if unit == "week":
        return (moment.date() - datetime.date(1969, 12, 29)).days // 7
    return int(np.datetime64(moment, "s").astype(f"M8[{LENGTHS[unit]}]").astype(np.int64))


@pytest.mark.parametrize("unit", WIDE)
@settings(max_examples=15, deadline=None)
@given(
    moments=st.lists(
        st.datetimes(datetime.datetime(1800, 1, 1), datetime.datetime(2200, 1, 1)), min_size=20, max_size=60
    )
)
@example(moments=[])
def test_every_cell_becomes_the_unit_it_falls_into(unit: TimeUnit, moments: list[datetime.datetime]) -> None:
    domain = Dates(*WIDE[unit], unit=unit)
    moments = [moment.replace(microsecond=0) for moment in moments]
    table = Table(pa.table({"t": pa.array([str(moment) for moment in moments], pa.string())}), {"t": domain})
    wanted = sorted(min(max(index(moment, unit), int(domain.low)), int(domain.high)) for moment in moments)
    rows = table.run(_all(table))
    assert [int(domain.low) + row[0] for row in rows] == wanted
    for value in wanted[:3]:
        assert domain.index_of(domain.label(value)) == value


def _all(table: Table) -> str:
    return f'SELECT c0 FROM "{table._rows.name}" ORDER BY 1'


UTC_TIMES = st.datetimes(datetime.datetime(1995, 1, 1), datetime.datetime(2035, 1, 1), timezones=st.just(datetime.UTC))


@settings(max_examples=12, deadline=None)
@given(st.lists(st.tuples(UTC_TIMES, st.integers(-12, 14)), min_size=20, max_size=60))
def test_times_with_an_offset_are_moved_to_the_zone(drawn: list[tuple[datetime.datetime, int]]) -> None:
    """Each with an offset of its own."""
    moments = [moment.replace(microsecond=0) for moment, _ in drawn]
    zones = [datetime.timezone(datetime.timedelta(hours=hours)) for _, hours in drawn]
    domain = Dates("1990-01-01", "2040-12-31", "hour", "Europe/Berlin")
    wanted = sorted(index(moment.astimezone(BERLIN).replace(tzinfo=None), "hour") for moment in moments)
    texts = [moment.astimezone(zone).isoformat() for moment, zone in zip(moments, zones, strict=True)]
    for cells in (
        pa.array(texts),
        pa.array([text.replace("+00:00", "Z").replace("T", " ") for text in texts]),
        pa.array(moments, pa.timestamp("us", "America/New_York")),
    ):
        table = Table(pa.table({"t": cells}), {"t": domain})
        assert [int(domain.low) + row[0] for row in table.run(_all(table))] == wanted


CELLS = [
    "2024-02-29",
    "2023-02-29",
    "29.02.2024",
    "",
    None,
    "NA",
    "2024-13-01",
    "2024-3-1",
    "1950-01-01",
    "soon",
    "2024",
]


def test_cells_that_are_no_dates_cannot_be_read() -> None:
    source = pa.table({"d": pa.array(CELLS), "k": list(range(len(CELLS)))})
    domain = Dates("2000-01-01", "2024-12-31")
    with pytest.raises(UnreadableData) as found:
        Table(source, {"d": domain})
    assert (found.value.reason, found.value.count) == ("not a date or time as declared", 6)
    table = Table(source, {"d": domain}, bad_cells="missing")
    assert Count("d == '2024-02-29'").measure(table) == ((1,),)
    assert Count("d is None").measure(table) == ((9,),)
    assert Count("d == '2000-01-01'").measure(table) == ((1,),)  # clamped
    german = Table(source, {"d": Dates("2000-01-01", "2024-12-31", format="%d.%m.%Y")}, bad_cells="missing")
    assert Count("d == '2024-02-29'").measure(german) == ((2,),)


@pytest.mark.parametrize(
    ("format", "text"),
    [
        ("%d.%m.%Y", "3.1.2024"),
        ("%m/%d/%y", "01/03/24"),
        ("%Y%m%d", "20240103"),
        ("%d.%m.%Y %H:%M", "03.01.2024 23:59"),
    ],
)
def test_formats(format: str, text: str, tmp_path: Path) -> None:
    path = tmp_path / "days.csv"
    path.write_text(f"day\n{text}\n2024-01-03\n")
    table = Table(path, {"day": Dates("2024-01-01", "2024-01-31", format=format)})
    assert Count("day == '2024-01-03'").measure(table) == ((2,),)


@pytest.mark.parametrize(
    "cells",
    [
        pa.array([datetime.date(2024, 3, 31), None], pa.date32()),
        pa.array([datetime.datetime(2024, 3, 31, 22), None], pa.timestamp("ns")),
        pd.Series([pd.Timestamp("2024-03-31 01:00"), pd.NaT]),
        pd.Series([datetime.date(2024, 3, 31), None], dtype=object),
        np.array(["2024-03-31", "NaT"], "M8[D]"),
        ["2024-03-31T12:30:00.123456", None],
    ],
    ids=["date32", "timestamp", "pandas", "objects", "numpy", "text"],
)
def test_dates_of_every_type(cells: Any, tmp_path: Path) -> None:
    table = Table({"d": cells}, {"d": Dates("2024-01", "2024-12", "month")})
    assert Histogram("d").measure(table) == ((0, 0, 1, 0, 0, 0, 0, 0, 0, 0, 0, 0, 1),)
    if isinstance(cells, pa.Array):
        pq.write_table(pa.table({"d": cells}), tmp_path / "d.parquet")
        kept = Table(tmp_path / "d.parquet", {"d": Dates("2024-01", "2024-12", "month")})
        assert Count("d == '2024-03'").measure(kept) == ((1,),)


def test_conditions_with_dates() -> None:
    days = [f"2024-{month:02d}-{day:02d}" for month in range(1, 13) for day in (1, 15, 28)]
    table = Table({"d": days}, {"d": Dates("2024-01-01", "2024-12-31")})
    for where, wanted in {
        "d >= '2024-03-15'": sum(day >= "2024-03-15" for day in days),
        "d < '2024-03'": 6,
        "'2024-02' <= d < '2024-04'": 6,
        "d in ('2024-01-01', '2024-12-28')": 2,
        "d not in ('2024-01-01', '2024-12-28')": 34,
        "d != '2024-01-01'": 35,
        "d > '2025'": 0,
        "d is None": 0,
    }.items():
        assert Count(where).measure(table) == ((wanted,),), where
    months = {"m": Dates("2024-01", "2024-12", "month")}
    check_condition("m >= '2024-03-01'", months)
    for wrong in ("m >= '2024-03-15'", "m == 3", "m == 'soon'", "m == '2024-02-30'", "m == '2024-03-01T00:00Z'", "m"):
        with pytest.raises(InvalidInput, match="where"):
            check_condition(wrong, months)


def test_statistics_tell_dates_in_their_own_unit() -> None:
    days = [datetime.date(2024, 1, 1) + datetime.timedelta(days=n % 60) for n in range(6000)]
    table = Table({"d": days}, {"d": Dates("2024-01-01", "2024-12-31")})
    assert Median("d").value(table, ((Fraction(29),),)) == "2024-01-30"
    assert Quantiles("d", ["3/4", "1/4"]).value(table, ((Fraction(0),), (Fraction(365),))) == {
        0.75: "2024-12-31",
        0.25: "2024-01-01",
    }
    months = Table({"d": days}, {"d": Dates("2024-01", "2024-12", "month")})
    assert Histogram("d").cells(months)[:2] == ("2024-01", "2024-02")
    assert Histogram("d").measure(months)[0][:3] == (3100, 2900, 0)
    halves = Histogram("d", bins=2)
    assert halves.cells(months) == ("[2024-01, 2024-07)", "[2024-07, 2025-01]", "(missing)")
    assert halves.measure(months) == ((6000, 0, 0),)
    winter = Histogram("d", edges=("2024-01-01", "2024-02-01", 2025))
    assert winter.cells(table)[:2] == ("[2024-01-01, 2024-02-01)", "[2024-02-01, 2025-01-01]")
    assert winter.measure(table) == ((3100, 2900, 0),)
    assert read_statistic(winter.document()) == winter
    thirds = CDF("d", bins=3)
    counts = [[Fraction(count) for count in part] for part in thirds.measure(months)]
    assert list(thirds.value(months, counts)) == ["2024-05", "2024-09", "2025-01"]
    wrongs: list[tuple[Any, ...]] = [("2024-01", "2024-03"), ("2024-01-15", "2025-01"), ("2024-01", "x"), (1.5, 2025)]
    for wrong in wrongs:
        with pytest.raises(InvalidInput, match="edges"):
            Histogram("d", edges=wrong).parts(months)
    for statistic in (Mean("d"), Sum("d"), Variance("d")):
        with pytest.raises(InvalidInput, match="not added up"):
            statistic.parts(table)


def test_declarations_and_plans_keep_them(tmp_path: Path) -> None:
    domain = Dates("2020-01-01 00:00", "2021-01-01", "hour", "Europe/Berlin", "%d.%m.%Y %H")
    table = Table({"d": ["2020-05-05 12:00"]}, {"d": domain})
    assert read_declaration(declaration_document(table)).columns["d"] == domain
    assert Table.open(table.save(tmp_path / "kept")).columns["d"] == domain
    column = {"dates": [2020, "2024-12-31"], "unit": "month", "zone": "Europe/Berlin"}
    plan = {"plan": 1, "columns": {"d": column}, "budget": {"epsilon": 1}, "statistics": {"n": {"histogram": "d"}}}
    assert read(plan).table.columns["d"] == Dates("2020-01", "2024-12", "month", "Europe/Berlin")


@pytest.mark.parametrize(
    ("place", "wrong"),
    [
        ("low", {"low": "2025-01-01"}),
        ("low", {"low": "soon"}),
        ("high", {"high": "2024-02-30"}),
        ("high", {"high": 5}),
        ("unit", {"unit": "fortnight"}),
        ("unit", {"unit": "second", "low": "1900"}),
        ("zone", {"zone": "Europe/Nowhere"}),
        ("zone", {"zone": "../../etc/passwd"}),
        ("format", {"format": "%d.%m"}),
        ("format", {"format": "%Y-%d-%m"}),
        ("format", {"format": "%d.%m.%Y %p"}),
        ("format", {"format": "%d%d%m%Y"}),
    ],
)
def test_what_is_no_range_of_dates_is_refused_by_name(place: str, wrong: dict[str, Any]) -> None:
    with pytest.raises(InvalidInput) as found:
        Dates(**{"low": "2024-01-01", "high": "2024-12-31", **wrong})
    assert found.value.argument == place
