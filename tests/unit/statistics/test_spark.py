"""Spark, a real session on this machine: the same snapshots and integers as the engine that is shipped."""

from __future__ import annotations

import logging
import os
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import ibis
import pytest

from optcomp.statistics import Histogram, Integers, Mean, Reals, Table
from tests.unit.statistics import engines

SETTINGS = {
    "spark.driver.memory": "512m",
    "spark.driver.host": "127.0.0.1",
    "spark.driver.bindAddress": "127.0.0.1",
    "spark.ui.enabled": "false",
    "spark.ui.showConsoleProgress": "false",
    "spark.sql.shuffle.partitions": "1",
    "spark.log.level": "OFF",
}


@pytest.fixture(scope="module")
def session(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Any]:
    os.environ.setdefault("SPARK_LOCAL_IP", "127.0.0.1")
    from pyspark.sql import SparkSession

    logging.getLogger("py4j").setLevel(logging.ERROR)
    builder = SparkSession.builder.master("local[1]").appName("optcomp")
    builder = builder.config("spark.sql.warehouse.dir", str(tmp_path_factory.mktemp("spark")))
    for name, value in SETTINGS.items():
        builder = builder.config(name, value)
    running = builder.getOrCreate()
    yield running
    running.stop()


@pytest.mark.filterwarnings("ignore:PySpark does not yet fully support pandas")  # which Ibis asks it for
def test_spark_gives_the_same_snapshot_and_never_raises(session: Any, tmp_path: Path) -> None:
    types = "who long, r double, f float, i long, `Te xt` string, n string, b boolean"
    session.createDataFrame(engines.ROWS, types).createOrReplaceTempView("people")
    connection = ibis.pyspark.connect(session)
    engines.check(connection.table("people"))
    low = 2**60 + 1
    session.createDataFrame([(low,), (low + 1,), (None,), (low + 9,)], "x long").createOrReplaceTempView("large")
    large = connection.table("large")
    assert Histogram("x").measure(Table(large, {"x": Integers(low, low + 3)})) == ((1, 1, 0, 1, 1),)
    rows = "SELECT CAST(x AS DECIMAL(38, 18)) AS x FROM VALUES ('1.25'), (NULL), ('1e19') AS t(x)"
    session.sql(rows).createOrReplaceTempView("decimals")
    assert Mean("x").measure(Table(connection.table("decimals"), {"x": Reals(0, 3, unit="1/4")})) == ((2,), (5,))


@pytest.mark.filterwarnings("ignore:PySpark does not yet fully support pandas")
def test_spark_keeps_snapshots(session: Any, tmp_path: Path) -> None:
    connection = ibis.pyspark.connect(session)
    engines.check_kept(connection, tmp_path)
    table = engines.prepared(engines.plain(), engines.PEOPLE[1])
    path = table.save(tmp_path / "tampered", connection=connection)

    def one_more(name: str) -> None:
        session.sql(f"INSERT INTO {name} SELECT * FROM {name} LIMIT 1")

    engines.check_tampered(table, path, connection, one_more)


@pytest.mark.filterwarnings("ignore:PySpark does not yet fully support pandas")
def test_a_save_that_fails_leaves_no_table(session: Any, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def fail(*_: object) -> None:
        raise OSError("no")

    connection = ibis.pyspark.connect(session)
    before = session.sql("SHOW TABLES").collect()
    monkeypatch.setattr(os, "rename", fail)
    with pytest.raises(OSError, match="no"):
        engines.prepared(engines.plain(), {}).save(tmp_path / "snapshot", connection=connection)
    assert session.sql("SHOW TABLES").collect() == before
    assert list(tmp_path.iterdir()) == []
