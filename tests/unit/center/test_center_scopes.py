"""Tokens that are limited to an account, on every endpoint of the published description.

What lies outside of the account answers exactly as what does not exist; and no list tells of it.  An endpoint that the
table below does not know fails the test: whoever adds one says what it is asked about.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest

from optcomp.statistics import Count, Question
from tests.unit.center.served import COLUMNS, QUESTION, Served, served
from tests.unit.center.test_center_api_roles import OPEN, ROLES, WHO, operations

OWNER, AUDIT, SEAT, DATASET = "/api/v1/owner", "/api/v1/audit", "/api/v1/seats/{id}", "/api/v1/owner/datasets/{name}"
OUTSIDE = ("survey", "people.parquet", "hush")
"""Words that belong to the other account: its name and that of its data set, its source, a wish."""


@dataclass(frozen=True)
class Target:
    """What a call is about: something of the other account, or nothing at all."""

    name: str
    source: str
    batch: str
    numbers: dict[str, int]

    def path(self, path: str) -> str:
        kind = next((kind for kind in self.numbers if f"/{kind}/{{id}}" in path), "seats")
        found = path.replace("{id}", str(self.numbers[kind])).replace("{number}", str(self.numbers["requests"]))
        return found.replace("{name}", "ada" if "/people/" in path else self.name)

    def plain(self, text: str) -> str:
        """A response without the names and numbers that were sent."""
        for word in (self.name, self.source, self.batch):
            text = text.replace(word, "WORD")
        return re.sub(rf"\b({'|'.join(map(str, self.numbers.values()))})\b", "NUMBER", text)


PLAN = {"data": {"rows": 200}, "budget": {"epsilon": "1/10"}, "statistics": {"people": {"count": None}}}
ON = {"suspended": True}


def asked(target: Target) -> dict[tuple[str, str], Any]:
    """For every endpoint the body or, of one that has none, what its address says besides; None for nothing."""
    about = {"columns": [{"name": "age", "integers": [0, 99]}]}
    dataset = {"name": "later", "source": "fresh.csv", "declaration": about, "account": target.name, "disjoint": True}
    where = {"source": target.source}
    return {
        **dict.fromkeys(ROLES, None),
        ("post", "/api/v1/datasets/{name}/dry-run"): {"question": QUESTION, "rows": 10},
        ("post", f"{SEAT}/preview"): {"question": QUESTION},
        ("post", f"{SEAT}/questions"): {"question": QUESTION},
        ("post", f"{SEAT}/mechanisms"): {"mechanism": {"mechanism": "sparse"}},
        ("post", f"{SEAT}/mechanisms/preview"): {"mechanism": {"mechanism": "sparse"}},
        ("post", f"{SEAT}/mechanisms/{{number}}/questions"): {"ask": {"statistic": {"count": "rows"}}},
        ("post", f"{SEAT}/plans"): {"questions": [QUESTION]},
        ("post", f"{SEAT}/plans/{{number}}/answers"): {"index": 0},
        ("post", f"{SEAT}/cancel"): {"key": "k"},
        ("post", f"{SEAT}/wishes"): {"words": "more"},
        ("post", f"{OWNER}/people"): {"name": "eve", "role": "analyst"},
        ("post", f"{OWNER}/people/{{name}}/tokens"): {"scope": [target.name]},
        ("post", f"{OWNER}/people/{{name}}/suspension"): ON,
        ("get", f"{OWNER}/columns"): where,
        ("get", f"{OWNER}/dialect"): where,
        ("get", f"{OWNER}/gains"): {"epsilon": "1", "delta": "1e-7"},
        ("post", f"{OWNER}/checks"): {**where, "declaration": about},
        ("post", f"{OWNER}/datasets"): dataset,
        ("post", f"{DATASET}/versions"): {"source": "fresh.csv"},
        ("post", f"{DATASET}/suspension"): ON,
        ("post", f"{DATASET}/budget"): {"epsilon": "1", "delta": "1e-6"},
        ("post", f"{DATASET}/proposals"): {"analysts": {"ada": 1}, "epsilon": "1", "delta": "1e-7"},
        ("post", f"{DATASET}/batches"): {"batch": "b", "slots": {"ada": {"epsilon": "1"}}, "delta": "1e-9"},
        ("post", f"{DATASET}/plans/look"): {"plan": PLAN},
        ("post", f"{DATASET}/releases"): {"plan": PLAN},
        ("post", f"{DATASET}/releases/{{id}}/publication"): {"published": False},
        ("post", f"{OWNER}/seats/{{id}}/hand-on"): {"analyst": "ben"},
        ("post", f"{OWNER}/seats/{{id}}/suspension"): ON,
        ("post", f"{OWNER}/wishes/{{id}}"): {"granted": True},
        ("post", "/api/v1/plans/work-out"): {"plan": PLAN},
        ("get", f"{AUDIT}/certificate"): {"account": target.name, "batch": target.batch},
    }


NOWHERE = Target(
    "nothing",
    "absent.parquet",
    "no batch",
    {"jobs": 999_990, "seats": 999_991, "wishes": 999_992, "tokens": 999_993, "confirmations": 999_994}
    | {"releases": 999_995, "requests": 999_996},
)


@dataclass(frozen=True)
class Scoped:
    """A centre with two accounts, and tokens for one of them."""

    centre: Served
    there: Target
    mine: int
    """The seat of the own account."""

    def call(self, method: str, path: str, role: str, given: Any) -> Any:
        more = {"params": given} if method == "get" and given else {}
        return self.centre.call(method, path, f"limited {role}", None if more else given, **more)

    def state(self) -> list[Any]:
        """All that a call could change."""
        service = self.centre.service
        people = [(each.name, each.suspended, service.people.tokens(each.name)) for each in service.people.all()]
        waiting = [each.document() for each in service.changes.waiting()]
        seats = [each.document() for each in service.catalogue.seats()]
        wishes = [each.document() for each in service.catalogue.wishes()]
        return [service.ledger.head, service.changes.last(), people, waiting, seats, wishes]


@pytest.fixture(scope="module")
def scoped(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Scoped]:
    with served(tmp_path_factory.mktemp("scopes") / "home", processes=False) as centre:
        (Path(centre.settings.folders[0]) / "fresh.csv").write_text("age\n1\n2\n", encoding="utf8")
        service = centre.service
        seat = centre.seat("ada")
        answer = centre.call("post", f"/api/v1/seats/{seat}/questions", "ada", {"question": QUESTION}).json()
        wish = service.catalogue.wish(seat, "hush", by="ada")
        released = centre.call("post", f"{OWNER}/datasets/survey/releases", "olga", {"plan": PLAN, "publish": True})
        waiting = service.changes.ask("lower", {"name": "survey", "epsilon": "1", "delta": None}, "olga")
        numbers = {"seats": seat, "wishes": wish, "tokens": service.people.tokens("ada")[0].id}
        numbers |= {"confirmations": waiting, "releases": released.json()["id"], "requests": answer["request"]}
        about = {"columns": [{"name": "age", "integers": [0, 99]}]}
        where = {"source": "people.parquet", "declaration": about}
        numbers["jobs"] = centre.call("post", f"{OWNER}/checks?background=true", "omar", where).json()["id"]
        batch = service.catalogue.seat(seat).batch
        service.catalogue.register(
            "mine",
            "fresh.csv",
            {"age": COLUMNS["age"]},
            account="later",
            epsilon="5",
            delta="1e-6",
            disjoint=True,
            by="olga",
        )
        service.catalogue.cut("mine", "inside", {"ada": "1"}, delta="1e-9", by="olga")
        own = service.catalogue.seats()[-1].id
        for role, who in WHO.items():
            centre.tokens[f"limited {role}"] = service.people.token(who, scope=["later"], by="olga")
        yield Scoped(centre, Target("survey", "people.parquet", batch, numbers), own)


@pytest.mark.parametrize(("method", "path"), sorted(ROLES))
def test_what_is_outside_of_a_scope_is_not_there(scoped: Scoped, method: str, path: str) -> None:
    before = scoped.state()
    for role in ROLES[method, path]:
        told = []
        for target in (scoped.there, NOWHERE):
            found = scoped.call(method, target.path(path), role, asked(target)[method, path])
            assert found.status_code < 500, found.text
            told.append((found.status_code, target.plain(found.text) if found.is_error else found.text))
        assert told[0] == told[1], (role, told)
        named = any(word in path for word in ("{id}", "{name}")) or asked(scoped.there)[method, path] is not None
        if not named and path != f"{OWNER}/jobs":  # which repeats what this token itself has sent
            assert [word for word in OUTSIDE if word in found.text] == [], role
    if path != f"{OWNER}/gains":
        assert scoped.state() == before


def test_every_endpoint_is_asked(scoped: Scoped) -> None:
    assert set(operations(scoped.centre)) - OPEN == set(asked(NOWHERE))


def test_what_is_inside_of_a_scope_is_there(scoped: Scoped) -> None:
    """Else the tests above would pass where nothing works."""

    def get(path: str, role: str = "owner") -> Any:
        return scoped.call("get", path, role, None).json()

    assert [each["name"] for each in get("/api/v1/datasets")["datasets"]] == ["mine"]
    assert [each["id"] for each in get("/api/v1/seats")["seats"]] == [scoped.mine]
    assert [each["name"] for each in get(f"{AUDIT}/accounts", "auditor")["entries"]] == ["later"]
    assert {each["account"] for each in get(f"{AUDIT}/history", "auditor")["entries"]} == {"later"}
    whats = [each["what"] for each in get(f"{AUDIT}/changes", "auditor")["entries"]]
    assert whats[:2] == ["registered", "cut"]
    assert [each["source"] for each in get(f"{OWNER}/sources")["entries"]] == ["fresh.csv"]
    tokens = [token for each in get(f"{OWNER}/people")["entries"] for token in each["tokens"]]
    assert len(tokens) >= 3
    assert {tuple(token["scope"]) for token in tokens} == {("later",)}
    path = f"/api/v1/seats/{scoped.mine}/questions"
    question = Question(Count(), epsilon="1/10").document()
    assert scoped.call("post", path, "analyst", {"question": question}).status_code == 200
    more = {"batch": "more", "slots": {"ben": {"epsilon": "1"}}, "delta": "1e-9"}
    assert scoped.call("post", f"{OWNER}/datasets/mine/batches", "owner", more).status_code == 201
    second: dict[str, Any] = {"name": "second", "source": "fresh.csv", "account": "later"}
    second["declaration"] = {"columns": [{"name": "age", "integers": [0, 99]}]}
    assert scoped.call("post", f"{OWNER}/datasets", "owner", second).status_code == 201
    made = scoped.call("post", f"{OWNER}/people/ben/tokens", "owner", {"scope": ["later"]})
    assert made.status_code == 201


def test_a_data_set_is_registered_under_no_account_outside(scoped: Scoped) -> None:
    """As it was found: a token for an account that does not exist registers under one that it does not see."""
    centre = scoped.centre
    centre.tokens["other owner"] = centre.service.people.token("olga", scope=["new"], by="olga")
    head = centre.service.ledger.head
    body: dict[str, Any] = {"name": "new", "source": "fresh.csv", "account": "survey"}
    body["declaration"] = {"columns": [{"name": "age", "integers": [0, 99]}]}
    found = centre.call("post", f"{OWNER}/datasets", "other owner", body)
    assert (found.status_code, found.json()["error"]) == (404, "not_found")
    own = centre.call("post", f"{OWNER}/datasets", "other owner", body | {"account": "new"})
    assert (own.status_code, own.json()["argument"]) == (422, "disjoint")
    assert "survey" not in own.text
    assert centre.service.ledger.head == head


def test_a_token_tells_whom_it_names_who_made_it(scoped: Scoped) -> None:
    centre = scoped.centre
    mine = centre.call("get", "/api/v1/me/tokens", "ada").json()["entries"]
    assert [(each["by"], each["second"], each["scope"]) for each in mine] == [
        ("olga", None, None),
        ("olga", None, ["later"]),
    ]
    assert all(each["made"] > 1.6e9 and not each["revoked"] for each in mine)
    limited = centre.call("get", "/api/v1/me/tokens", "limited analyst").json()["entries"]
    assert [(each["scope"], each["more"]) for each in limited] == [(["later"], True), (["later"], False)]
