"""With quantised response times, free requests show nothing of the paid ones that are computed beside them.

An analyst asks paid questions about a small and a large table, in random order.  Beside each question another one sends
a free request and takes its time.  Times are compared by the rank-sum test, which is a permutation test: if the free
request did not depend on the table, each assignment of times to tables would be as likely as any other.
"""

from __future__ import annotations

import http.client
import json
import random
import threading
import time
from collections.abc import Iterator
from contextlib import closing, contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any
from urllib.parse import urlsplit

import numpy as np
import pyarrow
import pyarrow.parquet
import pytest
from scipy.stats import mannwhitneyu

from optcomp.center import Catalogue, People, Settings, Store
from optcomp.ledger import Ledger
from optcomp.statistics import Count, Integers, Quantiles, Question
from tests.system.served_centers import PATIENCE, serving

pytestmark = pytest.mark.slow

BUCKET = 1.0  # seconds: longer than a paid question takes, also on a busy machine
ROWS = {"small": 1_000, "large": 3_000_000}
PAIRS = 40  # free requests beside questions about each table
CHANCE = 1e-9  # probability with which the test fails although nothing depends on the table
COLUMNS = {"age": Integers(0, 99), "place": Integers(0, 449)}
FREE: dict[str, tuple[str, str, Any]] = {
    "dry run": ("POST", "datasets/small/dry-run", {"question": Question(Count(), epsilon="1/10").document()}),
    "what is left": ("GET", "seats/{eve}", None),
}
"""Method, path and body of free requests of eve, who has a seat at the small table."""


@dataclass(frozen=True)
class Center:
    """A server, its tokens, and seats by analyst and table."""

    url: str
    tokens: dict[str, str]
    seats: dict[str, int]

    def seconds(self, who: str, method: str, path: str, body: Any) -> float:
        """Send a request and return how long its answer took."""
        where = urlsplit(self.url)
        headers = {"Authorization": f"Bearer {self.tokens[who]}", "Content-Type": "application/json"}
        with closing(http.client.HTTPConnection(where.hostname or "", where.port, timeout=PATIENCE)) as connection:
            connection.connect()
            begun = time.perf_counter()
            connection.request(method, f"/api/v1/{path}", None if body is None else json.dumps(body), headers)
            response = connection.getresponse()
            text = response.read()
            taken = time.perf_counter() - begun
        assert response.status == 200, text
        return taken


@contextmanager
def center(folder: Path) -> Iterator[Center]:
    files = folder / "files"
    files.mkdir()
    numbers = np.random.default_rng(35)
    for name, rows in ROWS.items():
        cells = {column: numbers.integers(0, int(domain.high) + 1, rows) for column, domain in COLUMNS.items()}
        pyarrow.parquet.write_table(pyarrow.table(cells), files / f"{name}.parquet")
    settings = Settings.write(folder / "home", folders=[str(files)], bucket=BUCKET, runners=1, calculators=0)
    seats: dict[str, int] = {}
    with Store(settings) as store, Ledger(settings.ledger, private=settings.private) as ledger:
        people, catalogue = People(store), Catalogue(store, ledger)
        people.add("olga", "owner", by=None)
        for who in ("ada", "eve"):
            people.add(who, "analyst", by="olga")
        for name in ROWS:
            budget: dict[str, Any] = {"account": name, "epsilon": "10", "delta": "1e-6", "disjoint": True}
            catalogue.register(name, f"{name}.parquet", COLUMNS, **budget, by="olga")
        catalogue.cut("small", "first", {"ada": ("4", "0"), "eve": ("4", "0")}, delta="1e-9", by="olga")
        catalogue.cut("large", "first", {"ada": ("4", "0")}, delta="1e-9", by="olga")
        for who in ("ada", "eve"):
            seats |= {f"{who} {seat.dataset.name}": seat.id for seat in catalogue.seats(who)}
        tokens = {who: people.token(who, by="olga") for who in ("ada", "eve")}
    with serving(settings.home, 1, folder / "log") as server:
        yield Center(server.url, tokens, seats)


@pytest.fixture(scope="module")
def asked(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Center]:
    with center(tmp_path_factory.mktemp("timing")) as found:
        yield found


@pytest.mark.parametrize("kind", FREE)
def test_free_requests_take_the_same_time_beside_any_question(asked: Center, kind: str) -> None:
    method, path, body = FREE[kind]
    order = random.Random(kind).sample([*ROWS] * PAIRS, k=PAIRS * len(ROWS))
    statistic = Quantiles("place", ["1/4", "1/2", "3/4"], by="age")
    question = Question(statistic, epsilon="1/1000").document()
    times: dict[str, list[float]] = {name: [] for name in ROWS}
    for number, name in enumerate(order):
        paid = {"question": question, "key": f"{kind} {number}"}
        about = ("ada", "POST", f"seats/{asked.seats[f'ada {name}']}/questions", paid)
        beside = threading.Thread(target=asked.seconds, args=about)
        beside.start()
        time.sleep(0.05)  # the question is being computed
        free_path = path.format(eve=asked.seats["eve small"])
        times[name].append(asked.seconds("eve", method, free_path, body))
        beside.join()
    found = mannwhitneyu(times["small"], times["large"], method="exact")
    medians = {name: float(np.median(each)) for name, each in times.items()}
    assert found.pvalue > CHANCE, f"medians {medians}, p = {found.pvalue:g}"
