"""CSV files as people have them: other delimiters, decimal commas, other encodings, packed, and in several parts."""

from __future__ import annotations

import csv
import gzip
import io
import json
from collections.abc import Mapping
from fractions import Fraction
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from optcomp.errors import InvalidInput, UnreadableData
from optcomp.statistics import Categories, Count, Dialect, Histogram, Integers, Reals, Sum, Table, propose

GERMAN = {"delimiter": ";", "decimal": ",", "thousands": ".", "encoding": "latin-1"}
LINES = 'Person;Größe (m);Straße;Lohn\n1;1,75;Müllerstraße;"1.234,50"\n2;2;Weg;1.000\n3;n/a;Köln;999,5\n'
COLUMNS = {
    "Größe (m)": Reals(0, 3, unit="1/100"),
    "Straße": Categories(["Müllerstraße", "Köln"]),
    "Lohn": Reals(0, 2000, unit="1/2"),
}


def answers(table: Table) -> tuple[Any, ...]:
    lengths = Sum("Größe (m)").measure(table)[0][0] * Fraction(table.columns["Größe (m)"].unit)  # type: ignore[attr-defined]
    wages = Sum("Lohn").measure(table)[0][0] * Fraction(table.columns["Lohn"].unit)  # type: ignore[attr-defined]
    return lengths, wages, Histogram("Straße").measure(table)


EXPECTED = (Fraction(375, 100), Fraction("1234.5") + 1000 + Fraction("999.5"), ((1, 1, 1),))


@pytest.mark.parametrize("encoding", ["utf-8", "latin-1", "cp1252", "utf-16", "utf-16-le", "utf-16-be", "iso8859-15"])
@pytest.mark.parametrize("packed", [False, True])
def test_the_same_table_in_every_encoding(encoding: str, packed: bool, tmp_path: Path) -> None:
    path, raw = tmp_path / ("wages.csv.gz" if packed else "wages.csv"), LINES.encode(encoding)
    path.write_bytes(gzip.compress(raw) if packed else raw)
    dialect = GERMAN | {"encoding": encoding}
    assert answers(Table(path, COLUMNS, person="Person", dialect=dialect)) == EXPECTED


def test_a_byte_order_mark_is_no_part_of_a_name(tmp_path: Path) -> None:
    path = tmp_path / "wages.csv"
    path.write_bytes(LINES.encode("utf-8-sig"))
    assert answers(Table(path, COLUMNS, person="Person", dialect=GERMAN | {"encoding": "utf-8"})) == EXPECTED
    path.write_bytes(b"\xff\xfe" + LINES.encode("utf-16-le"))
    assert answers(Table(path, COLUMNS, person="Person", dialect=GERMAN | {"encoding": "utf-16-le"})) == EXPECTED
    for encoding in ("latin-1", "cp1252"):  # the mark of one encoding before the letters of another
        path.write_bytes(b"\xef\xbb\xbf" + LINES.encode(encoding))
        assert answers(Table(path, COLUMNS, person="Person", dialect=GERMAN | {"encoding": encoding})) == EXPECTED
        assert propose(path).header[0] == "Person"
        assert propose(path).dialect.encoding == "latin-1"


def test_without_a_dialect_the_defaults_are_fixed(tmp_path: Path) -> None:
    path = tmp_path / "wages.csv"
    path.write_text("a;b\n1,5;2\n1.5;3\n")
    with pytest.raises(UnreadableData) as found:
        Table(path, {"a": Reals(0, 10)})
    assert (found.value.place, found.value.reason) == ("wages.csv, line 2, column 'a'", "not a number")
    path.write_bytes("a;b\n1;é\n".encode("utf-16"))
    with pytest.raises(InvalidInput, match="encoding: utf-16"):
        Table(path, {"a": Reals(0, 10)})
    path.write_bytes("größe\n1\n".encode("latin-1"))
    with pytest.raises(InvalidInput, match="is not in the table"):
        Table(path, {"größe": Reals(0, 10)})


def test_numbers_of_another_dialect_are_no_numbers(tmp_path: Path) -> None:
    path = tmp_path / "numbers.csv"
    cells = ["1.5", "1,5", "1.234,5", "1.23,5", "12.345.678", "1,5e1", "NA", "+,5", "1'000", "1.234"]
    path.write_text("x;k\n" + "".join(f"{cell};{place}\n" for place, cell in enumerate(cells)))
    table = Table(
        path,
        {"x": Reals(0, 2**24, unit=Fraction(1, 2)), "k": Integers(0, 20)},
        dialect=Dialect(";", decimal=",", thousands="."),
        bad_cells="missing",
    )
    wanted = {1: "1.5", 2: "1234.5", 4: "12345678", 5: "15", 7: "0.5", 9: "1234"}
    for place in range(len(cells)):
        (missing,) = Count(f"k == {place} and x is None").measure(table)[0]
        assert missing == (place not in wanted), cells[place]
        if place in wanted:
            step = float(table.columns["x"].step)  # type: ignore[attr-defined]
            near = f"k == {place} and {float(wanted[place]) - step} <= x <= {float(wanted[place]) + step}"
            assert Count(near).measure(table) == ((1,),), cells[place]


@pytest.mark.parametrize("blank", [" ", "\u00a0", "\u202f"])
def test_blanks_between_thousands(blank: str, tmp_path: Path) -> None:
    path = tmp_path / "numbers.csv"
    path.write_text(f"x\n1{blank}234\n 12{blank}345{blank}678\n1{blank}23\n", encoding="utf-8")
    table = Table(path, {"x": Integers(0, 10**8)}, dialect={"thousands": " "}, bad_cells="missing")
    assert Count("x is None").measure(table) == ((1,),)
    assert Count("1200 < x < 1300").measure(table) == ((1,),)
    assert Count("12345600 < x < 12345700").measure(table) == ((1,),)


def test_integer_categories_are_numbers_too(tmp_path: Path) -> None:
    path = tmp_path / "codes.csv"
    path.write_text("k;t\n1.000;1.000\n1000,0;a\n2;b\n")
    columns = {"k": Categories([1000, 2]), "t": Categories(["1.000", "a"])}
    table = Table(path, columns, dialect=Dialect(";", decimal=",", thousands="."))
    assert Histogram("k").measure(table) == ((2, 1, 0),)
    assert Histogram("t").measure(table) == ((1, 1, 1),)


@pytest.mark.parametrize("multiline", [False, True])
def test_apostrophes_and_no_quotation_marks(multiline: bool, tmp_path: Path) -> None:
    path = tmp_path / "quoted.csv"
    path.write_text("a|b\n'x|y'|'it''s'\n\"q\"|z\n'open|1\n")
    columns = {"a": Categories(["x|y", '"q"', "'open"]), "b": Categories(["it's", "z", "1"])}
    table = Table(path, columns, dialect={"delimiter": "|", "quote": "'"}, bad_cells="missing")
    assert Histogram("a").measure(table) == ((1, 1, 0, 1),)
    assert Histogram("b").measure(table) == ((1, 1, 0, 1),)
    path.write_text("a|b\n'open|1\n\"q|z\n")
    columns = {"a": Categories(["'open", '"q']), "b": Categories(["1", "z"])}
    table = Table(path, columns, dialect={"delimiter": "|", "quote": ""}, multiline=multiline)
    assert Histogram("a").measure(table) == Histogram("b").measure(table) == ((1, 1, 0),)
    path.write_text("a\nx\n")
    with pytest.raises(InvalidInput, match="quote"):
        Table(path, {"a": Categories(["x"])}, dialect={"quote": ""})


def test_a_letter_that_an_encoding_has_not_spoils_its_cell_alone(tmp_path: Path) -> None:
    path = tmp_path / "odd.csv"
    path.write_bytes(b"a,b\nx,\x81\nx,\x80\n")
    table = Table(
        path, {"a": Categories(["x"]), "b": Categories(["€"])}, dialect={"encoding": "cp1252"}, bad_cells="missing"
    )
    assert Histogram("a").measure(table) == ((2, 0),)
    assert Count("b == '€'").measure(table) == ((1,),)
    path.write_bytes("a,b\nx,1\nx,2\n".encode("utf-16-le")[:-1])
    half = Table(path, {"b": Integers(0, 9)}, dialect={"encoding": "utf-16-le"}, bad_cells="missing")
    assert Count().measure(half) == ((2,),)


def test_the_dialect_is_frozen_in_the_snapshot(tmp_path: Path) -> None:
    path = tmp_path / "wages.csv"
    path.write_bytes(LINES.encode("latin-1"))
    kept = Table(path, COLUMNS, person="Person", dialect=GERMAN).save(tmp_path / "wages.snapshot")
    path.unlink()
    how = json.loads((kept / "declaration.json").read_text())["preparation"]
    assert {name: how[name] for name in GERMAN} == GERMAN
    assert answers(Table.open(kept)) == EXPECTED


@pytest.mark.parametrize(
    "wrong",
    [
        {"delimiter": ""},
        {"delimiter": "ab"},
        {"delimiter": "."},
        {"delimiter": "é"},
        {"quote": "x"},
        {"decimal": ";"},
        {"decimal": ",", "thousands": ","},
        {"thousands": "''"},
        {"quote": "'", "thousands": "'"},
        {"encoding": "utf-7"},
        {"encoding": "rot13"},
        {"encoding": 5},
        {"colour": "red"},
    ],
)
def test_what_is_no_dialect_is_refused_by_name(wrong: Mapping[str, Any], tmp_path: Path) -> None:
    path = tmp_path / "wages.csv"
    path.write_text("a\n1\n")
    with pytest.raises(InvalidInput) as found:
        Table(path, {"a": Integers(0, 9)}, dialect=wrong)
    assert found.value.argument in (*wrong, "dialect")


def test_several_files_are_one_table(tmp_path: Path) -> None:
    (tmp_path / "part-1.csv").write_text("who,x\na,1\nb,2\n")
    (tmp_path / "part-2.csv").write_text("x,who\n3,a\nbad,c\n")
    with gzip.open(tmp_path / "part-3.csv.gz", "wt") as file:
        file.write("who,x\nd,4\n")
    pattern = tmp_path / "part-*"
    with pytest.raises(UnreadableData) as found:
        Table(pattern, {"x": Integers(0, 9)}, person="who", rows_per_person=2)
    assert "part-2.csv, line 3, column 'x'" in found.value.place
    table = Table(str(pattern), {"x": Integers(0, 9)}, person="who", rows_per_person=2, bad_cells="missing")
    assert Sum("x").measure(table) == ((10,),)
    one = Table(pattern, {"x": Integers(0, 9)}, person="who", rows_per_person=1, bad_cells="missing")
    assert Count().measure(one) == ((4,),)  # a is one person in two files
    (tmp_path / "part-4.csv").write_text("who,y\n1,1\n")
    with pytest.raises(InvalidInput, match=r"part-4.csv.*same columns|columns.*'x'"):
        Table(pattern, {"x": Integers(0, 9)}, person="who")
    with pytest.raises(InvalidInput, match="pattern of no file"):
        Table(tmp_path / "none-*.csv", {"x": Integers(0, 9)})


def test_bombs_and_damaged_files_are_refused(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("optcomp.statistics.sources.decoding._FREE", 1 << 16)
    path = tmp_path / "bomb.csv.gz"
    with gzip.open(path, "wb") as file:
        file.write(b"x\n" + b"0\n" * 10_000_000)
    assert path.stat().st_size * 200 < 20_000_000
    with pytest.raises(UnreadableData, match="bombs"):
        Table(path, {"x": Integers(0, 9)}, bad_cells="missing")
    path.write_bytes(gzip.compress(b"x\n1\n2\n")[:-6])
    with pytest.raises(UnreadableData, match="gzip"):
        Table(path, {"x": Integers(0, 9)})
    path.write_bytes(b"x\n1\n")
    with pytest.raises(UnreadableData, match="gzip"):
        Table(path, {"x": Integers(0, 9)})


FORMATS = st.builds(
    Dialect,
    delimiter=st.sampled_from(";\t|"),
    quote=st.just('"'),
    decimal=st.sampled_from(",."),
    encoding=st.sampled_from(["utf-8", "latin-1", "utf-16"]),
)


@settings(max_examples=20, deadline=None)
@given(form=FORMATS, values=st.lists(st.integers(-99_999, 99_999), min_size=5, max_size=30))
def test_what_was_written_is_proposed_and_read_back(
    form: Dialect, values: list[int], tmp_path_factory: pytest.TempPathFactory
) -> None:
    path = tmp_path_factory.mktemp("proposed") / "made.csv"
    out = io.StringIO()
    writer = csv.writer(out, delimiter=form.delimiter or ",", lineterminator="\n")
    writer.writerow(["Zähler", "Größe; m"])
    for value in values:
        writer.writerow(["é", f"{value / 100:.2f}".replace(".", form.decimal)])
    path.write_bytes(out.getvalue().encode(form.encoding))
    proposal = propose(path)
    assert proposal.dialect == form
    assert proposal.header == ("Zähler", "Größe; m")
    table = Table(path, {"Größe; m": Reals(-1000, 1000, unit="1/100")}, dialect=proposal.dialect)
    assert Sum("Größe; m").measure(table) == ((sum(values),),)


def test_thousands_are_proposed_where_they_are_certain(tmp_path: Path) -> None:
    path = tmp_path / "wages.csv"
    path.write_bytes(LINES.encode("latin-1"))
    assert propose(path).dialect == Dialect(";", decimal=",", thousands=".", encoding="latin-1")
    path.write_text("a,b\n1.234,x\n5.678,y\n")
    assert propose(path).dialect == Dialect(",")
    path.write_text('a,b\n"1,234.5",x\n"5,678",y\n')
    assert propose(path).dialect == Dialect(",", thousands=",")
    path.write_bytes(b"a;b\n\x801;x\n")
    assert propose(path).dialect.encoding == "cp1252"
    with pytest.raises(InvalidInput):
        propose(tmp_path / "wages.parquet")
