"""A category that was never declared is refused by name: over HTTP, by the client and in forms, whatever the data hold.

Two tables with the same declaration: a third of the rows of one have the word, and no row of the other.  Every refusal
is the same for both, and the same when the rows of both are gone: nobody looked at them, so no clock can tell either.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from html import unescape
from typing import Any
from urllib.parse import urlencode

import pyarrow
import pyarrow.parquet
import pytest

from optcomp.client import NotServed
from optcomp.interactive import SparseVector
from optcomp.statistics import Count, Mean, Median, People, Statistic
from tests.unit.center.served import COLUMNS, SECRET, Served
from tests.unit.pages.visitors import Visitor, words_of

WHERE = (f"region == '{SECRET}'", f"age >= 3 and region in ('north', '{SECRET}')", f"not region != '{SECRET}'")
"""A misspelled category in several conditions."""
WORDS = f"names '{SECRET}', which is no declared category of 'region' ('north', 'south')"
STATISTICS: tuple[Callable[..., Statistic], ...] = (Count, People, Mean, Median)
DATASETS = ("survey", "clean")


@pytest.fixture(scope="module")
def seats(centre: Served) -> dict[str, int]:
    """A seat at each table."""
    who = [f"p{number // 2}" for number in range(200)]
    cells = {"who": who, "age": [5] * 200, "region": ["north", "south"] * 100}
    pyarrow.parquet.write_table(pyarrow.table(cells), centre.settings.folders[0] / "clean.parquet")
    catalogue, known = centre.service.catalogue, centre.service.catalogue.dataset("survey").declared
    more: dict[str, Any] = {"person": "who", "rows_per_person": known.contribution.rows, "account": "survey"}
    catalogue.register("clean", "clean.parquet", COLUMNS, by="olga", **more)
    for name in DATASETS:
        catalogue.cut(name, f"{name} batch", {"ada": ("1", "0")}, delta="1e-9", by="olga")
    return {each.dataset.name: each.id for each in catalogue.seats()}


@contextmanager
def without_rows(centre: Served) -> Iterator[None]:
    """Nobody can read the rows of any table."""
    files = [each.snapshot / "rows.parquet" for each in centre.service.catalogue.datasets()]
    for file in files:
        file.rename(file.with_name("kept.parquet"))
    try:
        yield
    finally:
        for file in files:
            file.with_name("kept.parquet").rename(file)


def made(kind: Callable[..., Statistic], where: str) -> Statistic:
    """Of everybody, or of the column of numbers."""
    return kind(where) if kind in (Count, People) else kind("age", where=where)


def left(centre: Served, seats: dict[str, int]) -> list[Any]:
    """What the ledger has of every slot."""
    account = centre.service.ledger.account("survey")
    return [account.slot(centre.slot_of(seat)).remaining().amounts for seat in seats.values()]


def refusals(centre: Served, name: str, seat: int, kind: Callable[..., Statistic]) -> list[str]:
    """What every way of asking for a statistic says."""
    api, told = f"/api/v1/seats/{seat}", []
    for where in WHERE:
        noise = "exponential" if kind is Median else "laplace"
        asked = {"statistic": made(kind, where).document(), "noise": noise, "epsilon": "1/10"}
        bodies: dict[str, Any] = {f"{api}/questions": {"question": asked}, f"{api}/preview": {"question": asked}}
        bodies |= {f"/api/v1/datasets/{name}/dry-run": {"question": asked, "rows": 10}}
        bodies |= {f"{api}/plans": {"questions": [asked], "delta": "0"}}
        for path, body in bodies.items():
            found = centre.call("post", path, "ada", body)
            assert found.status_code == 422, (path, found.text)
            assert WORDS in found.json()["message"], found.text
            told.append(found.text)
    plan = {"statistics": {"few": made(kind, WHERE[0]).document()}, "budget": {"epsilon": 1}, "data": {"rows": 200}}
    looked = centre.call("post", f"/api/v1/owner/datasets/{name}/plans/look", "olga", {"plan": {"plan": 1, **plan}})
    assert looked.status_code == 422, looked.text
    assert WORDS in looked.json()["message"]
    return [*told, looked.text.replace(name, "")]


@pytest.mark.parametrize("kind", STATISTICS)
def test_the_interface_refuses_in_the_same_words_for_any_data(
    centre: Served, seats: dict[str, int], kind: Callable[..., Statistic]
) -> None:
    before = left(centre, seats)
    told = {name: refusals(centre, name, seats[name], kind) for name in DATASETS}
    with without_rows(centre):
        told |= {f"{name} without rows": refusals(centre, name, seats[name], kind) for name in DATASETS}
    assert len({tuple(each) for each in told.values()}) == 1
    assert left(centre, seats) == before


def test_a_mechanism_refuses_it_and_goes_on(centre: Served, seats: dict[str, int]) -> None:
    spec, told = SparseVector(epsilon="1/10", threshold=10**6, sensitivity=2, positives=1), set()
    for name in DATASETS:
        path = f"/api/v1/seats/{seats[name]}/mechanisms"
        opened = centre.call("post", path, "ada", {"mechanism": spec.document()}).json()["mechanism"]
        wrong = {"ask": {"statistic": Count(WHERE[0]).document()}}
        found = centre.call("post", f"{path}/{opened}/questions", "ada", wrong)
        assert found.status_code == 422, found.text
        told |= {found.text}
        good = {"ask": {"statistic": Count("region == 'north'").document()}}
        told_apart = centre.call("post", f"{path}/{opened}/questions", "ada", good).json()["answer"]
        assert told_apart is False  # noise of scale 65 reaches 10^6 with a probability that no float can hold
    assert len(told) == 1
    assert WORDS in told.pop()


def test_the_client_says_so(centre: Served, seats: dict[str, int]) -> None:
    told = set()
    for name in DATASETS:
        session = centre.client("ada").open(name)
        before = session.remaining()
        for kind in STATISTICS:
            for ask in (session.ask, session.preview):
                with pytest.raises((NotServed, ValueError)) as refused:
                    ask(made(kind, WHERE[0]), epsilon="1/10")
                assert WORDS in str(refused.value)
                told |= {str(refused.value)}
        assert session.remaining() == before
    assert len(told) == 1


def test_forms_say_so_beside_the_field(centre: Served, seats: dict[str, int]) -> None:
    at, told = Visitor(centre, "ada"), set()
    before = left(centre, seats)
    for rows in (True, False):
        for name in DATASETS:
            seat = seats[name]
            query = urlencode({"kind": "count", "where": WHERE[0], "noise": "laplace", "epsilon": "0.1"})
            if rows:
                found = at.get(f"/analyst/seats/{seat}?{query}")
            else:
                with without_rows(centre):
                    found = at.get(f"/analyst/seats/{seat}?{query}")
            assert WORDS in unescape(found.text)
            place = found.text.index('id="where-wrong"')
            told |= {words_of(unescape(found.text[place : found.text.index("</p>", place)]))}
            confirmed = at.get(f"/analyst/seats/{seat}/ask?{query}")
            assert confirmed.status_code != 303 or "confirm" not in confirmed.headers["location"], confirmed.headers
    assert len(told) == 1
    assert left(centre, seats) == before
