"""Six ways in which one cell used to be told by an error: now the owner is told before any session can exist.

In each, one person's cell cannot be read.  By default no table is made, and the error names the place and no value.
With `bad_cells="missing"` everybody else's stored rows are those of the table without that person.  Where the column
is not declared, the cell does not matter at all.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import ibis
import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from optcomp.errors import UnreadableData
from optcomp.interactive import PrivateMultiplicativeWeights, Session, SparseVector, SumFilter
from optcomp.statistics import Categories, Count, Domain, Integers, Reals, Table
from tests import servers
from tests.oracles.snapshots import identity

KEY = bytes(range(32))
PEOPLE: dict[str, Domain] = {"age": Integers(0, 99)}
LARGE = pytest.mark.parametrize("letters", [3 * 10**6, 270 * 10**6], ids=["3 megabytes", "270 megabytes"])
"""Of one cell; the larger ones take seconds."""


def stored(source: Any, columns: dict[str, Domain], **options: Any) -> Counter[tuple[Any, ...]]:
    table = Table(source, columns, person="who", rows_per_person=2, lot_key=KEY, **options)
    return Counter(table.run(f"SELECT * FROM {table._rows.name}"))


def check(odd: Any, without: Any, columns: dict[str, Domain], place: str, reason: str, victim: str = "eve") -> None:
    """The table with one unreadable cell of the victim, and the table without the victim."""
    with pytest.raises(UnreadableData) as caught:
        stored(odd, columns)
    assert (caught.value.place, caught.value.reason, caught.value.count) == (place, reason, 1)
    assert len(str(caught.value)) < 300
    others, everybody = stored(without, columns), stored(odd, columns, bad_cells="missing")
    victims = {row: count for row, count in everybody.items() if row[0] == identity(KEY, victim)}
    assert everybody - Counter(victims) == others
    assert 1 <= sum(victims.values()) <= 2
    cells = [row[1 + list(columns).index("odd")] for row in victims]
    assert None in cells
    undeclared(odd, without, columns, victim)


def undeclared(odd: Any, without: Any, columns: dict[str, Domain], victim: str = "eve") -> None:
    """Nothing can be told if the column is not declared, not even by default."""
    fewer = {name: domain for name, domain in columns.items() if name != "odd"}
    everybody = stored(odd, fewer)
    rest = Counter({row: count for row, count in everybody.items() if row[0] != identity(KEY, victim)})
    assert rest == stored(without, fewer)


def arrow(cells: Any, who: tuple[str, ...] = ("ann", "eve", "bob", "eve")) -> pa.Table:
    return pa.table({"who": list(who), "age": [20 + place for place in range(len(who))], "odd": cells})


def without_eve(table: pa.Table) -> pa.Table:
    return table.filter(pa.compute.not_equal(table["who"], "eve"))


def files(folder: Path, odd: pa.Table) -> tuple[Path, Path]:
    for name, table in (("odd", odd), ("without", without_eve(odd))):
        pq.write_table(table, folder / f"{name}.parquet")
    return folder / "odd.parquet", folder / "without.parquet"


@pytest.fixture(scope="module")
def server() -> Iterator[Any]:
    with servers.postgres() as running:
        yield running


def filled(server: Any, name: str, kind: str, cells: list[str]) -> tuple[Any, Any]:
    """Cells as SQL writes them, the second that of the victim."""
    with server.con.cursor() as cursor:
        cursor.execute(f"CREATE TABLE {name} (who text, age bigint, odd {kind})")
        for who, age, cell in zip(("ann", "eve", "bob", "eve"), range(20, 24), cells, strict=True):
            cursor.execute(f"INSERT INTO {name} VALUES ('{who}', {age}, {cell})")
    server.con.commit()
    table = server.table(name)
    return table, table.filter(table.who != "eve")


@pytest.mark.parametrize("kind", [pa.string(), pa.large_string()])
def test_text_that_is_not_utf8_in_a_parquet_file(tmp_path: Path, kind: Any) -> None:
    raw = pa.binary() if kind == pa.string() else pa.large_binary()
    cells = pa.array([b"a", b"se\xffcret", b"b", b"a"], raw).view(kind)
    with pytest.raises(UnicodeDecodeError):
        cells.to_pylist()
    odd, without = files(tmp_path, arrow(cells))
    place = "odd.parquet, row 2, column 'odd'"
    check(odd, without, PEOPLE | {"odd": Categories(["a", "b"])}, place, "text that is not UTF-8")


@pytest.mark.parametrize("unit", ["ms", "us"])
def test_a_time_that_no_calendar_has(tmp_path: Path, unit: str) -> None:
    cells = pa.array([0, 2**62, 86_400_000_000, 0], pa.int64()).view(pa.timestamp(unit))
    odd, without = files(tmp_path, arrow(cells))
    reason = "neither text nor a number, a truth value or a date"
    days = Categories(["1970-01-01 00:00:00", "1970-01-02 00:00:00"])
    check(odd, without, PEOPLE | {"odd": days}, "odd.parquet, row 2, column 'odd'", reason)
    assert {row[2] for row in stored(without, PEOPLE | {"odd": days})} <= {0, 1, 2}


def test_one_late_date_does_not_change_how_others_are_written() -> None:
    days = Categories(["1970-01-01 00:00:00"])
    for late in (2**62, 0):
        cells = pa.array([0, late, 0, 0], pa.int64()).view(pa.timestamp("us"))
        found = stored(arrow(cells), PEOPLE | {"odd": days}, bad_cells="missing")
        assert found[identity(KEY, "ann"), 20, 0] == 1


def test_an_infinite_date_in_duckdb() -> None:
    backend = ibis.duckdb.connect()
    backend.con.execute("CREATE TABLE odd (who VARCHAR, age INT, odd TIMESTAMP)")
    cells = ("1970-01-01", "infinity", "1970-01-02", "1970-01-01")
    for who, age, cell in zip(("ann", "eve", "bob", "eve"), range(20, 24), cells, strict=True):
        backend.con.execute("INSERT INTO odd VALUES (?, ?, ?)", [who, age, cell])
    table = backend.table("odd")
    reason = "neither text nor a number, a truth value or a date"
    declared = PEOPLE | {"odd": Categories(["1970-01-01 00:00:00"])}
    check(table, table.filter(table.who != "eve"), declared, "odd, row 2, column 'odd'", reason)


UNDERFLOW = {"text": "'1e-400'", "numeric": "1e-400::numeric", "double precision": "5e-324::float8"}
OVERFLOW = {"text": "'1e400'", "numeric": "1e400::numeric"}


@pytest.mark.parametrize("kind", list(UNDERFLOW))
def test_numbers_that_a_cast_of_postgres_underflows_at_are_zero(server: Any, kind: str) -> None:
    """Nothing is unreadable: by default, too, the table is made."""
    name = f"under_{kind[:4].strip()}"
    odd, without = filled(server, name, kind, ["'1'", UNDERFLOW[kind], "'2'", "'1'"])
    found = stored(odd, PEOPLE | {"odd": Reals(-4, 4, unit=1)})
    assert found[identity(KEY, "eve"), 21, 4] == 1
    assert Counter({row: n for row, n in found.items() if row[0] != identity(KEY, "eve")}) == stored(
        without, PEOPLE | {"odd": Reals(-4, 4, unit=1)}
    )
    undeclared(odd, without, PEOPLE | {"odd": Reals(-4, 4)})


@pytest.mark.parametrize("kind", list(OVERFLOW))
def test_numbers_beyond_floats_in_postgres(server: Any, kind: str) -> None:
    odd, without = filled(server, f"over_{kind}", kind, ["'1'", OVERFLOW[kind], "'2'", "'1'"])
    declared = PEOPLE | {"odd": Reals(-4, 4)}
    check(odd, without, declared, f"over_{kind}, row 2, column 'odd'", "a number beyond the range of floats")


@pytest.mark.slow_cases("270 megabytes")
@LARGE
def test_long_text_in_postgres(server: Any, letters: int) -> None:
    cells = ["'a'", f"repeat('x', {letters})", "'b'", "'a'"]
    odd, without = filled(server, f"large_{letters}", "text", cells)
    declared = PEOPLE | {"odd": Categories(["a", "b"])}
    check(odd, without, declared, f"large_{letters}, row 2, column 'odd'", "longer than 4,096 characters")


@pytest.mark.slow_cases("270 megabytes")
@LARGE
def test_long_text_in_a_parquet_file(tmp_path: Path, letters: int) -> None:
    odd, without = files(tmp_path, arrow(["a", "x" * letters, "b", "a"]))
    declared = PEOPLE | {"odd": Categories(["a", "b"])}
    check(odd, without, declared, "odd.parquet, row 2, column 'odd'", "longer than 4,096 characters")


def test_a_quotation_mark_that_is_never_closed(tmp_path: Path) -> None:
    """It used to swallow everybody who came after it; now it makes one line unreadable."""
    others = [("ann", "20", "a"), ("bob", "22", "b"), ("cyd", "23", "a"), ("dan", "24", "b")]
    lines = ["\t".join(row) for row in others]
    path, without = tmp_path / "odd.tsv", tmp_path / "without.tsv"
    header = "who\tage\todd"
    without.write_text("\n".join([header, *lines, ""]))
    declared = PEOPLE | {"odd": Categories(["a", "b"])}
    for broken in ('eve\t21\t"a', '"eve\t21\ta', 'eve\t"21\ta', 'eve\t21\t"a""', 'eve\t21\ta"'):
        path.write_text("\n".join([header, lines[0], broken, *lines[1:], ""]))
        with pytest.raises(UnreadableData, match="quotation mark") as caught:
            stored(path, declared)
        assert (caught.value.place, caught.value.count) == ("odd.tsv, line 3", 1)
        assert "eve" not in str(caught.value)
        assert stored(path, declared, bad_cells="missing") == stored(without, declared)


@pytest.mark.parametrize("letters", [(1 << 22) - 100, (1 << 22) + 100, 9 << 20])
def test_a_line_of_megabytes_spoils_no_other(tmp_path: Path, letters: int) -> None:
    """Wherever the blocks end in which the file is read."""
    others = [f"p{place},{place % 100},a" for place in range(1000)]
    path, without = tmp_path / "odd.csv", tmp_path / "without.csv"
    without.write_text("\n".join(["who,age,odd", *others, ""]))
    path.write_text("\n".join(["who,age,odd", *others[:500], f"eve,21,{'x' * letters}", *others[500:], ""]))
    declared = PEOPLE | {"odd": Categories(["a", "b"])}
    with pytest.raises(UnreadableData) as caught:
        stored(path, declared)
    assert caught.value.count == 1
    assert caught.value.place.startswith("odd.csv, line 502")
    found = stored(path, declared, bad_cells="missing")
    assert Counter({row: n for row, n in found.items() if row[0] != identity(KEY, "eve")}) == stored(without, declared)


def hostile_votes() -> pa.Table:
    """A hundred people, one of whom has nothing but cells that cannot be read."""
    votes = [b"\xff" if place == 7 else (b"yes" if place % 2 else b"no") for place in range(100)]
    ages = ["1e400" if place == 7 else str(place) for place in range(100)]
    return pa.table({"age": ages, "vote": pa.array(votes, pa.binary()).view(pa.string())})


def test_inside_an_opened_mechanism_no_cell_can_raise() -> None:
    columns: dict[str, Domain] = {"age": Integers(0, 99), "vote": Categories(["yes", "no"])}
    with pytest.raises(UnreadableData):
        Table(hostile_votes(), columns)
    table = Table(hostile_votes(), columns, bad_cells="missing")
    session = Session(table, SumFilter(2000))
    # 49 people said yes: noise of scale 1/50 makes 50 of them with a probability below 1e-20
    compared = session.open(SparseVector(50, epsilon=400, positives=3))
    assert [
        compared.ask(Count(where)) for where in ("age >= 90", "age is not None", "vote is None", "vote != 'no'")
    ] == [
        *(False, True, False, False),
    ]
    weights = session.open(PrivateMultiplicativeWeights(["vote"], tolerance=10, epsilon=400, corrections=5))
    for chosen in ([True, False, False], [False, True, False], [False, False, True]):
        weights.ask(chosen)
