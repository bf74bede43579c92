"""Files and data frames: one person's cells do not change how the cells of others are read, and none raises."""

from __future__ import annotations

import datetime
import math
from decimal import Decimal
from pathlib import Path
from typing import Any

import ibis
import numpy as np
import pandas as pd
import pyarrow as pa
import pytest
from hypothesis import HealthCheck, example, given, settings
from hypothesis import strategies as st

from optcomp.errors import InvalidInput, UnreadableData
from optcomp.statistics import (
    CDF,
    Categories,
    Contingency,
    Count,
    Domain,
    Histogram,
    Integers,
    Mean,
    Quantiles,
    Reals,
    Statistic,
    Sum,
    Table,
)
from tests.unit.statistics.people import Vectors, made

HOSTILE = settings(max_examples=15, suppress_health_check=list(HealthCheck))
COLUMNS: dict[str, Domain] = {
    "number": Reals(-2, 5, unit="1/4"),
    "integer": Integers(-3, 12),
    "text": Categories(["a", "1", "true", "it's", ""]),
    "key": Categories([1, 2, -5]),
    "truth": Categories([True, False]),
}
STATISTICS: list[Statistic] = [
    Mean("number"),
    CDF("number", bins=3),
    Histogram("integer"),
    Count(where="integer > 2 or integer is None"),
    Contingency(("text", "truth")),
    Histogram("key"),
    Count(where="not key == 2 and text in ('a', '1') or truth"),
]
QUERIES: dict[Any, str] = {}
PLAIN = ["1", "a", "2.5", None, "true", "it's"]


class Nasty:
    """A cell that cannot even be looked at."""

    def __str__(self) -> str:
        raise RuntimeError("secret")

    __repr__ = __str__

    def __eq__(self, other: object) -> bool:
        raise RuntimeError("secret")

    __hash__ = object.__hash__


HARD = ['"', "'", ",;|\t", "#x", "a\r\nb", "\\", "1e5", " 7 ", "nan", "\x00", "NULL"]
text = st.text(max_size=6) | st.sampled_from(HARD)
objects = st.one_of(
    st.none(),
    st.booleans(),
    st.integers(),
    st.floats(),
    st.text(st.characters(codec=None), max_size=5),
    st.decimals(),
    st.binary(max_size=4),
    st.sampled_from([10**5000, pd.NA, pd.NaT, np.float32(1), np.bool_(True), [1, 2], {}, Nasty(), datetime.date.max]),
)
typed = st.one_of(
    st.lists(st.none() | text, max_size=5),
    st.lists(st.none() | st.floats(), max_size=5),
    st.lists(st.none() | st.integers(-(2**63), 2**63 - 1), max_size=5),
    st.lists(st.none() | st.booleans(), max_size=5),
    st.lists(st.none() | st.decimals(-1000, 1000, places=3), max_size=5),
)


def measured(kind: str, folder: Path, cells: list[Any]) -> list[Vectors]:
    """The same cells, declared in all ways."""
    more = {"multiline": True} if kind in ("csv", "tsv") else {}
    table = made(kind, folder, dict.fromkeys(COLUMNS, cells), COLUMNS, bad_cells="missing", **more)
    table._queries = QUERIES  # the same text whatever the cells are
    Quantiles("number", candidates=5).measure(table)
    return [statistic.measure(table) for statistic in STATISTICS]


def added(left: list[Vectors], right: list[Vectors]) -> list[Vectors]:
    return [
        tuple(tuple(a + b for a, b in zip(*vectors, strict=True)) for vectors in zip(*pair, strict=True))
        for pair in zip(left, right, strict=True)
    ]


@pytest.mark.slow
@pytest.mark.parametrize("kind", ["csv", "tsv", "pandas"])
@HOSTILE
@given(data=st.data())
def test_what_cells_mean_does_not_depend_on_others(kind: str, tmp_path: Path, data: st.DataObject) -> None:
    cells = data.draw(st.lists(objects if kind == "pandas" else text, max_size=5))
    whole = measured(kind, tmp_path, [*PLAIN[:2], *cells, *PLAIN[2:]])
    assert whole == added(measured(kind, tmp_path, cells), measured(kind, tmp_path, PLAIN))


@pytest.mark.parametrize("kind", ["arrow", "parquet"])
@HOSTILE
@given(cells=typed)
@example(cells=[None, None])
@example(cells=[0.0, math.nan])  # which is not among the values that a Parquet file says it holds
@example(cells=[1.0, 1e300, -math.inf, None] * 3)
def test_no_cell_raises_in_typed_columns(kind: str, tmp_path: Path, cells: list[Any]) -> None:
    once = measured(kind, tmp_path, cells)
    assert measured(kind, tmp_path, cells + cells) == added(once, once)


def test_a_sheet_of_cells_is_read_as_it_was_written(tmp_path: Path) -> None:
    """What is a number, an integer, a truth value."""
    sheet: dict[str, tuple[float | None, int | None, bool | None]] = {
        "1": (1, 1, True), " 1 ": (1, 1, True), "0": (0, 0, False), "-5": (-5, -5, None), "+2": (2, 2, None),
        "2.0": (2, 2, None), "2.5": (2.5, None, None), "1e1": (10, 10, None), ".5": (0.5, None, None),
        "inf": (20, None, None), "-Infinity": (-20, None, None), "1e400": (None,) * 3, "nan": (None,) * 3,
        "9223372036854775807": (20, 2**63 - 1, None), "9223372036854775808": (20, None, None),
        "yes": (None, None, True), "FALSE": (None, None, False), "x": (None,) * 3, "1,5": (None,) * 3,
        "--1": (None,) * 3, "1 2": (None,) * 3, "": (None,) * 3, "１": (None,) * 3,
    }  # fmt: skip
    keys: list[int] = [2**63 - 1, 0, 1, 2, 10, -5]
    truths: list[int] = [True, False]
    columns = {"x": Reals(-20, 20, unit="1/2"), "key": Categories(keys), "truth": Categories(truths)}
    for cell, (number, key, truth) in sheet.items():
        data = {name: [cell] for name in columns}
        table = made("csv", tmp_path, data, columns, bad_cells="missing")
        if number is None and cell not in ("", "nan"):
            with pytest.raises(UnreadableData, match=r"^people\.csv, line 2, column 'x': "):
                made("csv", tmp_path, data, columns)
        else:
            assert Mean("x").measure(made("csv", tmp_path, data, columns)) == Mean("x").measure(table)
        assert Mean("x").measure(table) == ((int(number is not None),), (int((number or 0) * 2),)), cell
        for name, values, value in (("key", keys, key), ("truth", truths, truth)):
            (counts,) = Histogram(name).measure(table)
            assert counts.index(1) == (len(values) if value is None else values.index(value)), cell


TYPED: list[Any] = [
    pd.Series([1, 0, 1, None]),
    pd.Series([1, 0, 1, None], dtype="Int8"),
    pd.Series([1, 0, 1, None], dtype="float32"),
    pd.Series([1.0, 0, 1, np.nan], dtype=object),
    pd.Series([1, "0", Decimal(1), None], dtype=object),
    pd.Series(["1", "0", "1", None], dtype="string"),
    pd.Series(["1", "0", "1", None], dtype="str"),
    pd.Series(["1", "0", "1", None], dtype="category"),
    pd.Series([1, 0, 1, None], dtype="category"),
    pd.Series([1, 0, 1, None], dtype=pd.ArrowDtype(pa.uint64())),
    pa.array([1, 0, 1, None], pa.int8()),
    pa.array([1, 0, 1, None], pa.uint64()),
    pa.array([1, 0, 1, None], pa.float32()),
    pa.array([1, 0, 1, None], pa.float16()),
    pa.array([1, 0, 1, None], pa.decimal128(20, 0)),
    pa.array(["1", "0", "1", None], pa.large_string()),
    pa.array(["1", "0", "1", None]).dictionary_encode(),
]


@pytest.mark.parametrize("column", TYPED, ids=lambda column: str(getattr(column, "dtype", None) or column.type))
def test_a_value_means_the_same_in_columns_of_every_type(column: Any) -> None:
    """A column of integers may become one of floats because of one person's missing cell."""
    source = pd.DataFrame({"x": column}) if isinstance(column, pd.Series) else pa.table({"x": column})
    assert Histogram("x").measure(Table(source, {"x": Categories([0, 1])})) == ((1, 2, 1),)
    assert Histogram("x").measure(Table(source, {"x": Categories([False, True])})) == ((1, 2, 1),)
    assert Mean("x").measure(Table(source, {"x": Integers(-2, 2)})) == ((3,), (2,))
    if not (isinstance(column, pa.Array) and pa.types.is_decimal(column.type)):
        assert Histogram("x").measure(Table(source, {"x": Categories(["0", "1"])})) == ((1, 2, 1),)


@pytest.mark.parametrize("dtype", ["bool", "boolean", object])
def test_truth_values_are_numbers_and_words(dtype: Any) -> None:
    frame = pd.DataFrame({"x": pd.Series([True, False, True], dtype=dtype)})
    assert Histogram("x").measure(Table(frame, {"x": Categories([True, False])})) == ((2, 1, 0),)
    assert Histogram("x").measure(Table(frame, {"x": Categories(["true", "false"])})) == ((2, 1, 0),)
    assert Sum("x").measure(Table(frame, {"x": Integers(0, 1)})) == ((2,),)
    assert Histogram("x").measure(Table(frame, {"x": Categories([1, 0])}))[0][0] in (2, 0)


def csv_counts(folder: Path, content: bytes, **declared: Any) -> Vectors:
    path = folder / "it's people.csv"
    path.write_bytes(content)
    return Histogram("k").measure(Table(path, {"k": Categories(["a", "b"])}, **declared))


def test_lines_that_cannot_be_read_do_no_harm_to_others(tmp_path: Path) -> None:
    assert csv_counts(tmp_path, b"k,n\n") == ((0, 0, 0),)
    assert csv_counts(tmp_path, b"\xef\xbb\xbfk,n\r\na,1\r\nb,2") == ((1, 1, 0),)
    assert csv_counts(tmp_path, b"n;k\n1;a\n'#;'b'\n2;b\n") == ((1, 1, 1),)
    assert csv_counts(tmp_path, b"k,n\na,\xff\xfe\na,1\n") == ((2, 0, 0),)  # in a column that is not read
    assert csv_counts(tmp_path, b"k,n\n#,1\n# a,#\na,1\n") == ((1, 0, 2),)
    bad: dict[bytes, tuple[str, int, Vectors]] = {
        b"k,n\na,1\nb\na,1,2,3\n\nb,2\n": ("line 3: too few cells", 2, ((1, 1, 2),)),
        b"k,n\n\xff,1\na,1\n": ("line 2, column 'k': text that is not UTF-8", 1, ((1, 0, 1),)),
        b"k,n\na,1\n" + b"x" * 3_000_000 + b",1\nb,1\n": ("line 3, column 'k': longer than", 1, ((1, 1, 1),)),
        b"k,n\na,1\n" + b"x" * 5_000_000 + b",1\nb,1\n": ("line 3: too long", 1, ((1, 1, 1),)),
        b'k,n\n"a,1\nb,1\na,1\n': ("line 2: a quotation mark that is not closed", 1, ((1, 1, 1),)),
        b'k,n\na,1\na,1"2"\nb,1\n': ("line 3: a quotation mark in the middle", 1, ((1, 1, 1),)),
    }
    for content, (problem, count, counts) in bad.items():
        assert csv_counts(tmp_path, content, bad_cells="missing") == counts, problem
        with pytest.raises(UnreadableData, match=f"^it's people\\.csv, {problem}") as caught:
            csv_counts(tmp_path, content)
        assert caught.value.count == count


def test_line_ends_inside_quotes_are_kept_apart_in_large_files(tmp_path: Path) -> None:
    """Read by several threads at once, such a file came out differently."""
    block = b'a,"1\na,""2""\nb,3\n"\r\nb,plain\r\n"x","\r\n,\r\n"\r\n' * 1000
    found = csv_counts(tmp_path, b"k,n\r\n" + block * 300, multiline=True)
    assert found == ((300_000, 300_000, 300_000),)


@pytest.mark.parametrize("name", ["people.txt", "nothing.csv", "people", "q*.csv", "empty.csv", "twice.csv"])
def test_files_that_are_no_tables_are_refused(name: str, tmp_path: Path) -> None:
    (tmp_path / "people.txt").write_text("x\n1\n")
    (tmp_path / "pattern.csv").write_text("x\n1\n")
    (tmp_path / "empty.csv").write_text("")
    (tmp_path / "twice.csv").write_text("x,x\n1,2\n")
    with pytest.raises(InvalidInput, match=r"^source: "):
        Table(tmp_path / name, {"x": Integers(0, 1)})


@pytest.mark.parametrize(
    ("content", "problem"),
    [
        (b"", "is empty"),
        (b"\xef\xbb\xbf", "is empty"),
        (b"\nx,y\n", "must begin with the names of its columns, not with an empty line"),
        (b"x,y,x\n1,2,3\n", "must name each column once, and its header has 'x' twice"),
        (b"x,y,Y\n1,2,3\n", "must name each column once, and its header has 'y' and 'Y'"),
        (
            "x,y\n1,2\n".encode("utf-16"),
            "is in UTF-16, and is read as UTF-8: say encoding: utf-16 in its dialect, or convert it",
        ),
    ],
)
def test_what_is_wrong_with_a_header_is_said(content: bytes, problem: str, tmp_path: Path) -> None:
    path = tmp_path / "people.csv"
    path.write_bytes(content)
    with pytest.raises(InvalidInput) as caught:
        Table(path, {"x": Integers(0, 1)})
    assert str(caught.value) == f"source: {problem}, got {str(path)!r}"


def test_columns_without_a_name_do_no_harm(tmp_path: Path) -> None:
    (tmp_path / "people.csv").write_text(",x,,\n0,1,2,3\n1,0,,\n2,1,,\n")
    assert Sum("x").measure(Table(tmp_path / "people.csv", {"x": Integers(0, 1)})) == ((2,),)


@pytest.mark.parametrize("source", [None, 5, {"x": 1}, [{"x": 1}], object(), pd.Series([1]), b"x.csv"])
def test_what_is_no_table_is_refused(source: object) -> None:
    with pytest.raises(InvalidInput, match=r"^source: "):
        Table(source, {"x": Integers(0, 1)})


def test_what_is_no_table_is_told_what_would_be_one(tmp_path: Path) -> None:
    columns = {"age": Integers(0, 9)}
    kept = Table(pa.table({"age": [1]}), columns).save(tmp_path / "kept")
    twice = pd.DataFrame([[1, 2]], columns=["age", "age"])
    for source, words in (
        ([7_654_321], "source: must be one table: join tables before you prepare them"),
        (
            7_654_321,
            "source: must be the path of a file, a data frame, arrays by their names, or a table of Arrow or Ibis",
        ),
        ({"age": {"x": 1}}, "source: must have arrays or lists as columns, got 'dict'"),
        (kept, "source: is a snapshot: open it by Table.open, got"),
        (str(tmp_path), "source: is a folder, and must be a file, such as one of CSV or Parquet, got"),
        (twice, "columns: is in the table twice, got 'age'"),
        (pa.Table.from_arrays([[1], [2]], ["age", "age"]), "columns: is in the table twice, got 'age'"),
    ):
        with pytest.raises(InvalidInput) as caught:
            Table(source, columns)
        assert str(caught.value).startswith(words)
        assert "7654321" not in str(caught.value)


@pytest.mark.parametrize("multiline", ["no", 0, None])
def test_multiline_is_a_truth_value(multiline: Any) -> None:
    with pytest.raises(InvalidInput, match=r"^multiline: must be True or False, got"):
        Table(pa.table({"age": [1]}), {"age": Integers(0, 9)}, multiline=multiline)


def test_columns_must_be_there_and_hold_what_can_be_declared(tmp_path: Path) -> None:
    frame = pd.DataFrame({"x": [1], "day": [pd.Timestamp("2020-01-01")], 5: [1]})
    bit = Integers(0, 1)
    for columns, person in (({"y": bit}, None), ({"x": bit}, "who"), ({"day": bit}, None)):
        with pytest.raises(InvalidInput, match=r"^columns: "):
            Table(frame, columns, person=person)
    alike = Table(pa.table({"x": [1], "X": [0]}), {"x": bit, "X": bit})
    assert (Sum("x").measure(alike), Sum("X").measure(alike)) == (((1,),), ((0,),))
    for wrong in ([("x", Integers(0, 1))], {"x": int}, None):
        with pytest.raises(InvalidInput, match=r"^columns: "):
            Table(frame, wrong)  # type: ignore[arg-type]
    assert Histogram("day").measure(Table(frame, {"day": Categories(["2020-01-01 00:00:00"])})) == ((1, 0),)


@pytest.mark.parametrize("unit", ["s", "ms", "us", "ns"])
def test_dates_are_written_without_zeros_that_say_nothing(unit: str) -> None:
    """However fine the clock of a column is."""
    whole = datetime.datetime(2020, 1, 2, 3, 4, 50)
    words = ["2020-01-02 03:04:50", "2020-01-02 03:04:50.25"]
    later = whole if unit == "s" else whole.replace(microsecond=250_000)
    moments = pa.array([whole, later, None], pa.timestamp(unit))
    counts = Histogram("x").measure(Table(pa.table({"x": moments}), {"x": Categories(words)}))
    assert counts == ((2, 0, 1) if unit == "s" else (1, 1, 1),)
    aware = pa.array([whole], pa.timestamp(unit, tz="UTC"))
    assert Histogram("x").measure(Table(pa.table({"x": aware}), {"x": Categories([f"{words[0]}Z"])})) == ((1, 0),)
    days = pa.array([whole.date()], pa.date32())
    assert Histogram("x").measure(Table(pa.table({"x": days}), {"x": Categories(["2020-01-02"])})) == ((1, 0),)


def test_the_source_is_never_looked_at_again(tmp_path: Path) -> None:
    """Deleted or changed afterwards, it goes on as it was."""
    rows = b"x,who\n1,a\n2,b\n4,c\n"
    csv, parquet, frame = tmp_path / "p.csv", tmp_path / "p.parquet", pd.DataFrame({"x": [1, 2, 4], "who": list("abc")})
    csv.write_bytes(rows)
    frame.to_parquet(parquet)
    connection = ibis.duckdb.connect(tmp_path / "p.duckdb")
    connection.con.execute(f"CREATE TABLE people AS FROM read_parquet('{parquet}')")
    sources = [csv, parquet, frame, connection.table("people")]
    ways: list[dict[str, Any]] = [{}, {"person": "who"}]
    tables = [Table(source, {"x": Integers(0, 9)}, **people) for source in sources for people in ways]
    csv.write_bytes(rows + b"9,z\n")
    frame.loc[0, "x"] = 9
    connection.con.execute("UPDATE people SET x = 9")
    for table in tables[::2]:
        assert Sum("x").measure(table) == ((7,),)
    csv.unlink()
    parquet.unlink()
    connection.con.execute("DROP TABLE people")
    connection.disconnect()
    (tmp_path / "p.duckdb").unlink()
    for table in tables:
        assert Sum("x").measure(table) == ((7,),)
        assert Count(where="x > 1").measure(table) == ((2,),)


def test_ibis_tables_of_the_same_engine_are_asked_as_they_are() -> None:
    connection = ibis.duckdb.connect()
    for temporary in (True, False):
        name = f"t{temporary}"
        connection.con.execute(f"CREATE {'TEMP' if temporary else ''} TABLE {name} AS SELECT unnest([1, 2, 5]) AS x")
        table = Table(connection.table(name).filter(ibis._.x > 1), {"x": Integers(0, 4)})
        statistics: list[Statistic] = [Count(), Sum("x"), Histogram("x", bins=2)]
        assert [each.measure(table) for each in statistics] == [((2,),), ((6,),), ((0, 2, 0),)]


@pytest.mark.parametrize("chunk", [1, 2, 5, 9, 1 << 22])
def test_a_byte_order_mark_in_a_cell_is_a_letter_wherever_a_block_begins(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, chunk: int
) -> None:
    """Where blocks begin depends on what others wrote."""
    monkeypatch.setattr("optcomp.statistics.sources.lines._CHUNK", chunk)
    mark, path = "\ufeff".encode(), tmp_path / "marks.csv"
    path.write_bytes(b"text\n" + mark + b"a\na\n" + mark + b"\n" + mark + b"a\n\xef\n")
    table = Table(path, {"text": Categories(["a", "\ufeffa", "\ufeff"])}, bad_cells="missing")
    assert Histogram("text").measure(table) == ((1, 2, 1, 1),)


def test_a_header_with_an_endless_name_is_refused(tmp_path: Path) -> None:
    path = tmp_path / "long.csv"
    path.write_bytes(b"x," + b"a" * 200_000 + b"\n1,2\n")
    with pytest.raises(InvalidInput, match="header"):
        Table(path, {"x": Integers(0, 5)})


@pytest.mark.parametrize("value", [1e-05, 9007199254740994.0, 2.5, 1e300, 7.0])
def test_a_person_who_is_a_float_has_one_id(value: float) -> None:
    """Whether the column holds floats or objects."""
    key, columns = b"k" * 32, {"x": Integers(0, 9)}
    floats, objects = (pd.DataFrame({"who": pd.Series([value], dtype=kind), "x": [1]}) for kind in ("float64", object))
    tables = [Table(frame, columns, person="who", lot_key=key) for frame in (floats, objects)]
    assert tables[0].run("SELECT * FROM optcomp_rows") == tables[1].run("SELECT * FROM optcomp_rows")
