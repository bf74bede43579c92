"""Every kind of source with a real file or frame: the same rows give the same integers, whatever holds them."""

from __future__ import annotations

import datetime
import gzip
import json
import sqlite3
import struct
import zipfile
from collections.abc import Callable
from pathlib import Path
from typing import Any

import duckdb
import ibis
import numpy as np
import pandas as pd
import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from optcomp.errors import InvalidInput, UnreadableData
from optcomp.statistics import Categories, Count, Histogram, Integers, Reals, Sum, Table, named_columns
from tests import servers

NAMES = ("who", "Alter (Jahre)", "wage", "region", "union")
ROWS: list[tuple[Any, ...]] = [
    (1, 34, 10.5, "north", True),
    (1, 35, None, "south", False),
    (2, 17, 2.25, "Nörth", None),
    (3, None, 7.0, None, True),
    (4, 130, -3.5, "south", False),
]
COLUMNS = {
    "Alter (Jahre)": Integers(0, 120),
    "wage": Reals(0, 10, unit="1/4"),
    "region": Categories(["north", "south"]),
    "union": Categories([True, False]),
}
EXPECTED = (((206,),), ((77,),), ((1, 2, 2),), ((2, 2, 1),), ((1,),))
"""Sums of ages and of quarters of wages, regions, unions, and ages that are missing, by hand."""
polars = pytest.importorskip("polars", reason="POLARS IS MISSING: its frames are not tested")
pytest.importorskip("python_calamine", reason="PYTHON-CALAMINE IS MISSING: workbooks are not tested")


def answers(table: Table) -> tuple[Any, ...]:
    return (
        Sum("Alter (Jahre)").measure(table),
        Sum("wage").measure(table),
        Histogram("region").measure(table),
        Histogram("union").measure(table),
        Count("`Alter (Jahre)` is None").measure(table),
    )


def frame() -> dict[str, list[Any]]:
    return {name: [row[place] for row in ROWS] for place, name in enumerate(NAMES)}


def json_lines(path: Path) -> Path:
    lines = [
        json.dumps({name: cell for name, cell in zip(NAMES, row, strict=True) if cell is not None}) for row in ROWS
    ]
    text = "\n".join(lines[:2]) + "\n\n" + "\r\n".join(lines[2:])
    path.write_bytes(gzip.compress(text.encode()) if path.suffix == ".gz" else text.encode())
    return path


def sqlite_file(path: Path) -> Path:
    with sqlite3.connect(path) as connection:
        connection.execute('CREATE TABLE people (who, "Alter (Jahre)", wage, region, "union")')
        connection.executemany("INSERT INTO people VALUES (?, ?, ?, ?, ?)", ROWS)
    connection.close()
    return path


def duckdb_file(path: Path) -> Path:
    with duckdb.connect(path) as connection:
        connection.execute('CREATE TABLE people (who INT, "Alter (Jahre)" INT, wage DOUBLE, region TEXT, "union" BOOL)')
        connection.executemany("INSERT INTO people VALUES (?, ?, ?, ?, ?)", ROWS)
    return path


def parquet_file(path: Path) -> Path:
    pq.write_table(pa.table(frame()), path)
    return path


def workbook(path: Path, sheets: dict[str, list[list[Any]]] | None = None) -> Path:
    """A workbook by hand: a packed folder of XML."""
    found = sheets or {"People": [list(NAMES), *(list(row) for row in ROWS)]}
    types = "".join(
        f'<Override PartName="/xl/worksheets/sheet{place}.xml" ContentType="application/vnd.openxmlformats-'
        'officedocument.spreadsheetml.worksheet+xml"/>'
        for place in range(1, len(found) + 1)
    )
    listed = "".join(
        f'<sheet name="{name}" sheetId="{place}" r:id="rId{place}"/>' for place, name in enumerate(found, 1)
    )
    kind = "http://schemas.openxmlformats.org/officeDocument/2006/relationships"
    related = "".join(
        f'<Relationship Id="rId{place}" Type="{kind}/worksheet" Target="worksheets/sheet{place}.xml"/>'
        for place in range(1, len(found) + 1)
    )
    main = "http://schemas.openxmlformats.org/spreadsheetml/2006/main"
    package = "http://schemas.openxmlformats.org/package/2006"
    with zipfile.ZipFile(path, "w", zipfile.ZIP_DEFLATED) as packed:
        packed.writestr(
            "[Content_Types].xml",
            f'<Types xmlns="{package}/content-types"><Default Extension="rels" ContentType="application/vnd.openxml'
            'formats-package.relationships+xml"/><Default Extension="xml" ContentType="application/xml"/><Override '
            'PartName="/xl/workbook.xml" ContentType="application/vnd.openxmlformats-officedocument.spreadsheetml.'
            f'sheet.main+xml"/>{types}</Types>',
        )
        packed.writestr(
            "_rels/.rels",
            f'<Relationships xmlns="{package}/relationships"><Relationship Id="rId1" Type="{kind}/officeDocument" '
            'Target="xl/workbook.xml"/></Relationships>',
        )
        packed.writestr(
            "xl/workbook.xml", f'<workbook xmlns="{main}" xmlns:r="{kind}"><sheets>{listed}</sheets></workbook>'
        )
        packed.writestr(
            "xl/_rels/workbook.xml.rels", f'<Relationships xmlns="{package}/relationships">{related}</Relationships>'
        )
        for place, rows in enumerate(found.values(), 1):
            body = "".join(f"<row>{''.join(map(_cell, row))}</row>" for row in rows)
            packed.writestr(
                f"xl/worksheets/sheet{place}.xml",
                f'<worksheet xmlns="{main}"><sheetData>{body}</sheetData></worksheet>',
            )
    return path


def _cell(cell: Any) -> str:
    if cell is None:
        return "<c/>"
    if isinstance(cell, bool):
        return f'<c t="b"><v>{int(cell)}</v></c>'
    if isinstance(cell, str):
        return f'<c t="inlineStr"><is><t>{cell}</t></is></c>'
    return f"<c><v>{cell}</v></c>"


FILES: dict[str, Callable[[Path], Path]] = {
    "people.jsonl": json_lines,
    "people.ndjson": json_lines,
    "people.jsonl.gz": json_lines,
    "people.sqlite": sqlite_file,
    "people.db": sqlite_file,
    "people.duckdb": duckdb_file,
    "people.parquet": parquet_file,
    "people.xlsx": workbook,
}


@pytest.mark.parametrize("name", FILES)
def test_files(name: str, tmp_path: Path) -> None:
    path = FILES[name](tmp_path / name)
    table = Table(path, COLUMNS, person="who", rows_per_person=2)
    assert answers(table) == EXPECTED
    assert tuple(named_columns(path)) == NAMES
    path.unlink()
    assert answers(table) == EXPECTED
    again = FILES[name](tmp_path / name)
    renamed = Table(again, {"age": Integers(0, 120)}, person="id", rename={"Alter (Jahre)": "age", "who": "id"})
    assert Sum("age").measure(renamed)[0][0] in (34 + 17 + 120, 35 + 17 + 120)
    with pytest.raises(InvalidInput, match="rename"):
        Table(again, {"age": Integers(0, 120)}, rename={"wage": "region", "Alter (Jahre)": "age"})
    with pytest.raises(InvalidInput, match="dialect"):
        Table(again, COLUMNS, dialect={"decimal": ","})


def frames() -> dict[str, Any]:
    pandas = pd.DataFrame(frame())
    records = np.array(
        [tuple(np.nan if cell is None and place in (1, 2) else cell for place, cell in enumerate(row)) for row in ROWS],
        dtype=[("who", "i8"), ("Alter (Jahre)", "f8"), ("wage", "f8"), ("region", "O"), ("union", "O")],
    )
    some = polars.DataFrame(frame())
    category = some.with_columns(polars.col("region").cast(polars.Categorical))
    enum = some.with_columns(polars.col("region").cast(polars.Enum(["north", "south", "Nörth"])))
    return {
        "pandas": pandas,
        "categorical": pandas.astype({"region": "category"}),
        "arrow": pa.table(frame()),
        "polars": some,
        "polars categorical": category,
        "polars enum": enum,
        "polars lazy": some.lazy(),
        "numpy records": records,
        "lists": frame(),
        "arrays": {name: np.array(cells, dtype=object) for name, cells in frame().items()},
        "series": {name: pandas[name] for name in NAMES},
        "polars columns": {name: some[name] for name in NAMES},
        "arrow columns": {name: pa.array(cells) for name, cells in frame().items()},
    }


@pytest.mark.parametrize("kind", frames())
def test_frames_and_arrays(kind: str) -> None:
    source = frames()[kind]
    table = Table(source, COLUMNS, person="who", rows_per_person=2)
    assert answers(table) == EXPECTED
    assert tuple(named_columns(source)) == NAMES
    assert Count().measure(Table(source, {})) == ((5,),)
    renamed = Table(source, {"age": Integers(0, 120)}, rename={"Alter (Jahre)": "age"})
    assert Sum("age").measure(renamed) == ((206,),)


def test_arrays_that_are_no_table_are_refused() -> None:
    for wrong in ({"a": [1], "b": [1, 2]}, {"a": "text"}, np.zeros((2, 2)), {"a": np.zeros((2, 2))}, {"a": 5}):
        with pytest.raises(InvalidInput, match="source"):
            Table(wrong, {"a": Integers(0, 9)})
    assert Sum("a").measure(Table({"a": np.array(["1", "2"])}, {"a": Integers(0, 9)})) == ((3,),)
    assert Count("a == 'é'").measure(Table({"a": np.array(["é".encode(), b"x"])}, {"a": Categories(["é"])})) == ((1,),)
    wide = {2020: [1, 2], "x": ["a", "b"]}
    assert Sum("2020").measure(Table(pd.DataFrame(wide), {"2020": Integers(0, 9)})) == ((3,),)


def test_lines_that_are_no_objects_spoil_no_other(tmp_path: Path) -> None:
    path = tmp_path / "odd.jsonl"
    path.write_bytes(
        b'{"x": 1}\n[1]\n{"x": 2, "x": 3}\n{"x": "\xff"}\n{"x": {"y": 1}}\n{"x": 4.0}\n{}\n{"x": NaN}\n{x}\n'
    )
    with pytest.raises(UnreadableData) as found:
        Table(path, {"x": Integers(0, 9)})
    assert found.value.place == "odd.jsonl, line 2"
    assert found.value.count == 5
    table = Table(path, {"x": Integers(0, 9)}, bad_cells="missing")
    assert Count().measure(table) == ((9,),)
    assert Sum("x").measure(table) == ((5,),)
    assert Count("x is None").measure(table) == ((7,),)


def test_a_person_has_one_name_however_it_is_written(tmp_path: Path) -> None:
    path = tmp_path / "people.jsonl"
    path.write_text('{"p": 7}\n{"p": "7"}\n{"p": 7.0}\n{"p": 7e0}\n{"p": 8}\n')
    assert Count().measure(Table(path, {}, person="p")) == ((2,),)


def test_sheets_and_tables_are_named_where_there_are_several(tmp_path: Path) -> None:
    book = workbook(tmp_path / "two.xlsx", {"A": [["x"], [1]], "B b": [["x"], [5], [None], ["7"], ["q"]]})
    with pytest.raises(InvalidInput, match="A, B b"):
        Table(book, {"x": Integers(0, 9)})
    with pytest.raises(InvalidInput, match="is not a sheet"):
        Table(book, {"x": Integers(0, 9)}, table="C")
    with pytest.raises(UnreadableData) as found:
        Table(book, {"x": Integers(0, 9)}, table="B b")
    assert found.value.place == "two.xlsx, row 5, column 'x'"
    table = Table(book, {"x": Integers(0, 9)}, table="B b", bad_cells="missing")
    assert (Sum("x").measure(table), Count().measure(table)) == (((12,),), ((3,),))
    path = sqlite_file(tmp_path / "two.sqlite")
    with sqlite3.connect(path) as connection:
        connection.execute("CREATE TABLE other (x)")
    connection.close()
    with pytest.raises(InvalidInput, match="other, people"):
        Table(path, COLUMNS)
    assert answers(Table(path, COLUMNS, table="people", person="who", rows_per_person=2)) == EXPECTED
    with pytest.raises(InvalidInput, match="table"):
        Table(parquet_file(tmp_path / "p.parquet"), COLUMNS, table="people")


def test_workbooks_that_are_bombs_or_none_are_refused(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("optcomp.statistics.sources.workbooks._MOST_BYTES", 1 << 20)
    path = workbook(tmp_path / "bomb.xlsx")
    with zipfile.ZipFile(path, "a", zipfile.ZIP_DEFLATED) as packed:
        packed.writestr("xl/bomb.xml", b"0" * (1 << 21))
    with pytest.raises(UnreadableData, match="bombs"):
        Table(path, COLUMNS)
    lying = bytearray(path.read_bytes())
    for mark, place in ((b"PK\x03\x04", 22), (b"PK\x01\x02", 24)):  # what it says of the length of its last entry
        start = lying.rindex(mark)
        lying[start + place : start + place + 4] = struct.pack("<I", 10)
    path.write_bytes(bytes(lying))
    with zipfile.ZipFile(path) as packed:
        assert packed.getinfo("xl/bomb.xml").file_size == 10
    with pytest.raises(UnreadableData, match="bombs"):
        Table(path, COLUMNS)
    path.write_bytes(b"PK\x03\x04 no workbook")
    with pytest.raises(InvalidInput, match="workbook"):
        Table(path, COLUMNS)
    with zipfile.ZipFile(path, "w") as packed:
        packed.writestr("a", "b")
    with pytest.raises(InvalidInput, match="workbook"):
        Table(path, COLUMNS)


@pytest.mark.parametrize("name", ["p.sqlite", "p.duckdb", "p.parquet", "p.xlsx"])
def test_files_that_are_not_what_they_are_called(name: str, tmp_path: Path) -> None:
    (tmp_path / name).write_bytes(b"nothing of the kind" * 100)
    with pytest.raises(InvalidInput, match=r"^source: "):
        Table(tmp_path / name, COLUMNS)


def test_dates_in_workbooks_and_databases_are_text_for_categories(tmp_path: Path) -> None:
    with duckdb.connect(tmp_path / "d.duckdb") as connection:
        connection.execute("CREATE TABLE d AS SELECT DATE '2024-02-29' AS x")
    days = {"x": Categories(["2024-02-29"])}
    assert Histogram("x").measure(Table(tmp_path / "d.duckdb", days)) == ((1, 0),)
    assert Histogram("x").measure(Table({"x": [datetime.date(2024, 2, 29)]}, days)) == ((1, 0),)
    assert Histogram("x").measure(Table({"x": np.array(["2024-02-29"], "M8[D]")}, days)) == ((1, 0),)


def test_joins_are_refused(tmp_path: Path) -> None:
    connection = ibis.duckdb.connect()
    left = connection.create_table("people", pa.table({"p": [1], "x": [1]}))
    right = connection.create_table("visits", pa.table({"p": [1], "y": [1]}))
    with pytest.raises(InvalidInput, match="before you prepare"):
        Table(left.join(right, "p"), {"x": Integers(0, 9)})
    with pytest.raises(InvalidInput, match="before you prepare"):
        Table([left, right], {"x": Integers(0, 9)})
    connection.disconnect()


def test_a_table_by_the_address_of_a_database(tmp_path: Path) -> None:
    with servers.postgres() as server:
        with server.con.cursor() as cursor:
            cursor.execute('CREATE TABLE people (who int, "Alter (Jahre)" int, wage float8, region text, "union" bool)')
            cursor.executemany("INSERT INTO people VALUES (%s, %s, %s, %s, %s)", ROWS)
        server.con.commit()
        info = server.con.info
        address = f"postgresql://{info.user}@/{info.dbname}?host={info.host}&port={info.port}"
        table = Table(address, COLUMNS, person="who", rows_per_person=2, table="people")
        assert answers(table) == EXPECTED
        assert answers(Table(address, COLUMNS, person="who", rows_per_person=2, table="public.people")) == EXPECTED
        with pytest.raises(InvalidInput) as found:
            Table(address, COLUMNS, table="nothing")
        assert info.host not in str(found.value)
    with pytest.raises(InvalidInput) as found:
        Table("postgresql://me:secret@127.0.0.1:1/none", COLUMNS, table="people")
    assert "secret" not in str(found.value)
