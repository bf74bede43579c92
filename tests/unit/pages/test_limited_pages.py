"""Pages under a token that is limited to an account: what lies outside of it looks as what does not exist."""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import Any

import pytest
from fastapi.routing import APIRoute

from optcomp.center import Drafts
from optcomp.pages import make_app
from optcomp.pages.access import PageRoute
from optcomp.pages.app import PARTS
from tests.unit.center.served import QUESTION, Served, served
from tests.unit.pages.visitors import Visitor, words_of

WHO = {"owner": "olga", "analyst": "ada", "auditor": "ruth"}
OUTSIDE = ("survey", "people.parquet", "hush")
"""Words of the other account."""
NOWHERE = {"name": "nothing", "id": "999991", "number": "999992", "form": "csv", "key": "no key"}


def roles_of(route: APIRoute) -> tuple[str, ...]:
    found: tuple[str, ...] = getattr(route.endpoint, "__optcomp_roles__", ())
    return found


ROUTES = [
    (role, route.path)
    for part in PARTS
    for route in part.router.routes
    if isinstance(route, PageRoute) and "GET" in (route.methods or ())
    for role in roles_of(route)
]
"""Every page that somebody with a role can look at."""


@pytest.fixture(scope="module")
def centre(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Served]:
    with served(tmp_path_factory.mktemp("limited") / "home", make_app, processes=False) as found:
        service = found.service
        seat = found.seat("ada")
        found.call("post", f"/api/v1/seats/{seat}/questions", "ada", {"question": QUESTION})
        service.catalogue.wish(seat, "hush", by="ada")
        for role, who in WHO.items():
            token = found.tokens[f"limited {role}"] = service.people.token(who, scope=["later"], by="olga")
            assert service.people.who(token).scope == ("later",)
        yield found


@pytest.fixture(scope="module")
def visitors(centre: Served) -> dict[str, Visitor]:
    return {role: Visitor(centre, f"limited {role}") for role in WHO}


@pytest.mark.parametrize(("role", "path"), ROUTES)
def test_a_page_shows_nothing_of_other_accounts(
    centre: Served, visitors: dict[str, Visitor], role: str, path: str
) -> None:
    wide = centre.service.people.who(centre.tokens[WHO[role]])
    kind = "plan" if path.startswith("/planner") else "token" if "/tokens" in path else "register"
    document: dict[str, Any] = {
        "title": "hush",
        "dataset": "survey",
        "plan": {},
        "worked": None,
        "columns": None,
        "key": "k",
    }
    draft = Drafts(centre.service.store).add(wide, kind, document | {"undo": [], "redo": [], "last": [], "name": "ada"})
    (seat,) = centre.service.catalogue.seats()
    job, _ = centre.service.preparers.jobs.add("check", wide, {"source": "hush"}, account=None, key=None)
    number = str(seat.id if "/seats/" in path else job if "/jobs/" in path else draft.id)
    there = {"name": "survey", "id": number, "number": "1", "form": "csv", "key": "a key"}
    query = "?account={}&batch=batch 0" if path == "/auditor/certificate" else "?batch=batch 0"
    query = query if "certificate" in path else ""
    told = []
    for target in (there, NOWHERE):
        address = path.format(**target) + query.format(target["name"])
        found = visitors[role].get(address)
        assert found.status_code < 500
        text = words_of(found.text)
        if "{" in path or query:
            assert found.status_code == 404, (address, text)
            text = re.sub(r"\b\d+\b", "NUMBER", text.replace(target["name"], "NAME").replace(target["key"], "KEY"))
        else:
            assert [word for word in OUTSIDE if word in found.text] == []
        told.append((found.status_code, text))
    assert told[0] == told[1]


def test_pages_are_found() -> None:
    assert len(ROUTES) > 40
