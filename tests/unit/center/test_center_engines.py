"""A table of Spark is registered, stays there, and is answered by Spark in a real runner."""

from __future__ import annotations

import asyncio
import json
import os
import subprocess
import sys
from fractions import Fraction
from pathlib import Path
from typing import Any
from urllib.parse import urlencode

import pytest

from optcomp.center import Catalogue, Settings, Store
from optcomp.center.engines import reading
from optcomp.center.runners import Runners
from optcomp.center.service import place_of
from optcomp.ledger import Ledger
from tests.servers import SPARK
from tests.unit.center.held import processes_that_hold

ROWS, OLD = 100, 60
"""Rows of the table, and those with an age of 40 or more."""
_REGISTERS = """
import sys
from pathlib import Path
from optcomp.center import Catalogue, People, Settings, Store
from optcomp.center.engines import spark_at
from optcomp.ledger import Ledger
from optcomp.statistics import Integers

address = sys.argv[2]
spark = spark_at(address)
spark._session.sql("CREATE TABLE people USING parquet AS SELECT CAST(id AS INT) AS age FROM range(%d)")
spark.disconnect()
settings = Settings.write(Path(sys.argv[1]), databases=[address])
with Store(settings) as store, Ledger(settings.ledger, private=settings.private) as ledger:
    people, catalogue = People(store), Catalogue(store, ledger)
    people.add("olga", "owner", by=None)
    people.add("ada", "analyst", by="olga")
    columns = {"age": Integers(0, 99)}
    catalogue.register("survey", address, columns, table="people", epsilon="100", delta="0", by="olga")
    catalogue.cut("survey", "first", {"ada": ("50", "0")}, delta="0", by="olga")
"""
"""Makes a table, and a centre with a slot; in a process of its own, for its Spark must have ended before the next."""


@pytest.fixture
def address(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> str:
    """Of a Spark in one process, whose catalogue is in a folder."""
    monkeypatch.setenv("SPARK_LOCAL_IP", "127.0.0.1")
    monkeypatch.setenv("PYTHONWARNINGS", "ignore")  # of Spark about Pandas, which Ibis asks it for
    place = f"jdbc:derby:;databaseName={tmp_path}/metastore;create=true"
    given = {"spark.master": "local[1]", "spark.sql.warehouse.dir": f"{tmp_path}/warehouse"}
    given |= {"spark.sql.catalogImplementation": "hive", "spark.hadoop.javax.jdo.option.ConnectionURL": place}
    options = SPARK["spark.driver.extraJavaOptions"]
    given |= {"spark.driver.extraJavaOptions": f"{options} -Dderby.system.home={tmp_path}"}
    return "pyspark://?" + urlencode({**SPARK, **given})


@pytest.mark.slow
def test_a_table_of_spark_is_answered_by_spark(tmp_path: Path, address: str) -> None:
    """Its rows are in no file of the home; the answer is right within its noise, and paid once for each key."""
    command = [sys.executable, "-c", _REGISTERS % ROWS, str(tmp_path / "home"), address]
    made = subprocess.run(command, capture_output=True, text=True, timeout=500, env=dict(os.environ))
    assert made.returncode == 0, made.stderr[-2000:]
    settings = Settings.read(tmp_path / "home")
    with Store(settings) as store, Ledger(settings.ledger, private=settings.private) as ledger:
        (seat,) = Catalogue(store, ledger).seats("ada")
    kept = json.loads((seat.dataset.snapshot / "declaration.json").read_text())["rows"]
    assert kept["engine"] == "pyspark"
    assert not list(settings.home.rglob("*.parquet"))
    assert list((tmp_path / "warehouse" / kept["table"]).glob("*.parquet"))
    question = {"statistic": {"count": "rows", "where": "age >= 40"}, "noise": "laplace", "epsilon": "5"}

    async def run() -> list[Any]:
        with processes_that_hold():
            runners = Runners(settings, 1)
        try:
            await runners.start()
            arguments = {"seat": place_of(seat), "question": question}
            return [await runners.call("ask", arguments | {"key": key}, seconds=400) for key in ("a", "b", "a")]
        finally:
            await runners.close()

    first, other, again = asyncio.run(run())
    assert abs(first["value"] - OLD) < 10  # beyond: a chance of e^-50
    assert abs(other["value"] - OLD) < 10
    assert again["answer"] == first["answer"]
    with Ledger(settings.ledger, private=settings.private) as ledger:
        assert ledger.account("survey").slot(seat.slot).budget.spent.epsilon == Fraction(10)


def test_an_address_of_another_kind_is_not_opened() -> None:
    """Each engine has addresses of its own."""
    for engine, address in (("postgres", "pyspark://?a=b"), ("pyspark", "postgresql://x/y"), (None, "pyspark://")):
        assert reading(engine, address) is None
