"""Plans and releases by both clients, against a real centre."""

from __future__ import annotations

import asyncio
import csv
import io
import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from optcomp.client.failures import NotServed
from optcomp.client.release_flows import PlanLike
from optcomp.errors import BudgetExceeded, InvalidInput
from optcomp.planner import dumped, make_plan, read
from optcomp.release import verify_release
from tests.unit.center.served import Served, served


@pytest.fixture(scope="module")
def centre(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Served]:
    with served(tmp_path_factory.mktemp("client-releases") / "home", processes=False) as found:
        yield found


def plan(epsilon: str, most: int = 3) -> dict[str, Any]:
    statistics = {"people": {"count": None, "epsilon": epsilon, "mechanism": "laplace"}}
    return {"data": {"rows": 200}, "budget": {"epsilon": most}, "statistics": statistics}


def whole(epsilon: str) -> dict[str, Any]:
    about = {"rows": 200, "name": "survey", "person": "who", "rows_per_person": 2, "groups_per_person": 2}
    columns = {"age": {"integers": [0, 99]}, "region": {"categories": ["north", "south"]}}
    return {"plan": 1, "columns": columns, **plan(epsilon), "data": about}


def test_a_plan_may_be_given_in_every_way(centre: Served, tmp_path: Path) -> None:
    """The same plan, and so the same release; it is paid once."""
    document = read(whole("1/4"))
    yaml, as_json = tmp_path / "plan.yaml", tmp_path / "plan.json"
    yaml.write_text(dumped(whole("1/4")))
    as_json.write_text(json.dumps(whole("1/4")))
    with centre.client("olga") as client:
        given: list[PlanLike] = [make_plan(document), document, whole("1/4"), yaml, str(as_json)]
        digests = {client.look("survey", each)["plan"] for each in given}
        made = [client.release("survey", each) for each in given]
        assert digests == {made[0]["plan"]}
        assert all(each == made[0] for each in made)
        assert client.look("survey", whole("1/4"))["released"] == made[0]["id"]
        assert [each["id"] for each in client.releases("survey")] == [made[0]["id"]]
        with pytest.raises(InvalidInput, match="plan"):
            client.look("survey", 3)  # type: ignore[arg-type]
        with pytest.raises(InvalidInput, match="named like a file of data"):
            client.look("survey", tmp_path / "people.csv")


def test_a_record_is_read_for_nothing(centre: Served) -> None:
    with centre.client("olga") as client, centre.client("ruth") as auditor:
        made = client.release("survey", plan("1/5"), key="fifth")
        record = client.release_record("survey", made["id"])
        assert record == made["record"]
        assert verify_release(record).proved
        text = client.release_file("survey", made["id"])
        assert json.loads(text) == record
        (line,) = csv.DictReader(io.StringIO(client.release_file("survey", made["id"], "csv")))
        assert float(line["value"]) == record["statistics"][0]["value"]
        assert client.release_file("survey", made["id"], "html").startswith("<!doctype html>")
        with pytest.raises(InvalidInput, match="form"):
            client.release_file("survey", made["id"], "pdf")
        with pytest.raises(NotServed, match="not found"):
            auditor.release_record("survey", made["id"])
        assert client.publish("survey", made["id"])["published"]
        assert auditor.release_record("survey", made["id"]) == record


def test_what_is_refused_is_an_error_of_the_library(centre: Served) -> None:
    with centre.client("olga") as client, centre.client("ruth") as auditor:
        with pytest.raises(BudgetExceeded):
            client.release("survey", plan("1500", 2000))
        with pytest.raises(InvalidInput, match="statistics"):
            client.release("survey", plan("1/6") | {"statistics": {}})
        with pytest.raises(NotServed, match="forbidden"):
            auditor.release("survey", plan("1/6"))


def test_the_same_with_await(centre: Served) -> None:
    async def released() -> tuple[dict[str, Any], dict[str, Any], str, list[dict[str, Any]]]:
        client = centre.async_client("olga")
        look = await client.look("survey", plan("1/7"))
        made = await client.release("survey", plan("1/7"), publish=True)
        record = await client.release_record("survey", made["id"])
        text = await client.release_file("survey", made["id"])
        listed = await client.releases("survey")
        assert (await client.publish("survey", made["id"], False))["published"] is False
        await client.close()
        assert look["plan"] == made["plan"]
        return made, record, text, listed

    made, record, text, listed = asyncio.run_coroutine_threadsafe(released(), centre.loop).result(120)
    assert made["record"] == record == json.loads(text)
    assert made["published"]
    assert made["id"] in [each["id"] for each in listed]
