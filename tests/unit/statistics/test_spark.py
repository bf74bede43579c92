"""Spark, a real session on this machine: the same snapshots and integers as the engine that is shipped.

One preparation is part of the fast tier.  Starting Spark takes about 10 seconds of processor time, and whatever it does
for the first time about one more, because Java compiles it.
"""

from __future__ import annotations

import os
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import ibis
import pytest

from optcomp.errors import InvalidInput
from optcomp.statistics import Histogram, Integers, Mean, Reals, Table
from tests import servers
from tests.unit.statistics import engines
from tests.unit.statistics import test_condition_rule as condition_rule

pytestmark = pytest.mark.filterwarnings("ignore:PySpark does not yet fully support pandas")  # which Ibis asks it for


@pytest.fixture(scope="module")
def session() -> Iterator[Any]:
    with servers.spark() as connection:
        yield connection._session


def people(session: Any) -> Any:
    """The rows for all engines, as a table of Spark."""
    types = "who long, r double, f float, i long, `Te xt` string, n string, b boolean"
    session.createDataFrame(engines.ROWS, types).createOrReplaceTempView("people")
    return ibis.pyspark.connect(session).table("people")


@pytest.mark.smoke("Spark preparation")
def test_spark_prepares_the_same_snapshot(session: Any) -> None:
    engines.check_snapshot(people(session), engines.PEOPLE[1])


@pytest.mark.slow
def test_spark_gives_the_same_snapshot_and_never_raises(session: Any) -> None:
    engines.check(people(session))
    connection = ibis.pyspark.connect(session)
    low = 2**60 + 1
    session.createDataFrame([(low,), (low + 1,), (None,), (low + 9,)], "x long").createOrReplaceTempView("large")
    large = connection.table("large")
    assert Histogram("x").measure(Table(large, {"x": Integers(low, low + 3)})) == ((1, 1, 0, 1, 1),)
    rows = "SELECT CAST(x AS DECIMAL(38, 18)) AS x FROM VALUES ('1.25'), (NULL), ('1e19') AS t(x)"
    session.sql(rows).createOrReplaceTempView("decimals")
    assert Mean("x").measure(Table(connection.table("decimals"), {"x": Reals(0, 3, unit="1/4")})) == ((2,), (5,))


@pytest.mark.slow
def test_conditions_follow_the_same_rule(session: Any, tmp_path: Path) -> None:
    rows = list(zip(*condition_rule.ROWS.values(), list(range(5)), strict=True))
    types = "region string, size long, day string, works boolean, who long"
    session.createDataFrame(rows, types).createOrReplaceTempView("ruled")
    connection = ibis.pyspark.connect(session)
    table = Table(connection.table("ruled"), condition_rule.COLUMNS, person="who")
    assert condition_rule.measured(table) == condition_rule.WANTED
    path = table.save(tmp_path / "kept", connection=connection)
    assert condition_rule.measured(Table.open(path, connection=connection)) == condition_rule.WANTED


@pytest.mark.slow
def test_spark_keeps_snapshots(session: Any, tmp_path: Path) -> None:
    connection = ibis.pyspark.connect(session)
    engines.check_kept(connection, tmp_path)
    table = engines.prepared(engines.plain(), engines.PEOPLE[1])
    path = table.save(tmp_path / "tampered", connection=connection)

    def one_more(name: str) -> None:
        session.sql(f"INSERT INTO {name} SELECT * FROM {name} LIMIT 1")

    engines.check_tampered(table, path, connection, one_more)


@pytest.mark.slow
def test_a_save_that_fails_leaves_no_table(session: Any, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def fail(*_: object) -> None:
        raise OSError("no")

    connection = ibis.pyspark.connect(session)
    before, table = session.sql("SHOW TABLES").collect(), engines.prepared(engines.plain(), {})
    monkeypatch.setattr(os, "rename", fail)
    with pytest.raises(InvalidInput, match=r"^path: cannot be written \(no\)"):
        table.save(tmp_path / "snapshot", connection=connection)
    assert session.sql("SHOW TABLES").collect() == before
    assert list(tmp_path.iterdir()) == []
