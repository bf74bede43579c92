"""Forms: how large they may be and for whom, how many fields they have, and where they are parsed."""

from __future__ import annotations

import asyncio
import threading
from collections.abc import AsyncIterator, Iterator
from pathlib import Path
from typing import Any

import httpx
import pytest
from fastapi.routing import APIRoute
from starlette.datastructures import FormData, Headers
from starlette.formparsers import FormParser

from optcomp.center import OPEN_BYTES, parsing
from optcomp.pages import make_app
from optcomp.pages.access import _FIELDS, _OPEN_FIELDS
from optcomp.pages.app import PARTS
from tests.unit.center.served import URL, Served, served
from tests.unit.pages.visitors import Visitor

FORM = {"Content-Type": "application/x-www-form-urlencoded"}
OPEN = [
    route
    for part in PARTS
    for route in part.router.routes
    if isinstance(route, APIRoute) and "POST" in (route.methods or ()) and hasattr(route.endpoint, "__optcomp_open__")
]
"""Forms that need no visit."""
PATIENCE = 120.0  # seconds after which a test that waits for the other thread fails


class Sent:
    """A form of so many pieces, which counts those that were asked for."""

    def __init__(self, pieces: int) -> None:
        self.pieces, self.asked = pieces, 0

    async def __aiter__(self) -> AsyncIterator[bytes]:
        for _ in range(self.pieces):
            self.asked += 1
            yield b"x" * 1000


def posted(
    centre: Served, path: str, content: bytes | Sent, visitor: Visitor | None = None, **headers: str
) -> httpx.Response:
    async def asked() -> httpx.Response:
        cookies = None if visitor is None else visitor.cookies
        async with httpx.AsyncClient(transport=centre.transport, base_url=URL, cookies=cookies) as client:
            return await client.post(path, content=content, headers=FORM | headers)

    return centre.wait(asked())


def test_there_are_forms_that_need_no_visit() -> None:
    paths = {route.path for route in OPEN}
    assert paths == {"/sign-in", "/colours", "/calculator/file", "/calculator/certificate.json"}


@pytest.mark.parametrize("route", OPEN, ids=lambda route: route.path)
def test_a_large_form_without_a_visit_is_not_read(centre: Served, route: APIRoute) -> None:
    most = getattr(route.endpoint, "__optcomp_takes__", OPEN_BYTES)
    assert most < centre.settings.most_bytes
    sent = Sent(most // 1000 + 1)
    length = {"Content-Length": str(sent.pieces * 1000)}
    for visitor in (None, Visitor(centre, "ada")):  # who is signed in does not matter where nobody has to be
        found = posted(centre, route.path, sent, visitor, **length)
        assert (found.status_code, sent.asked) == (413, 0)
    assert "larger than this server accepts" in found.text


def test_a_large_form_without_a_length_is_read_so_far(centre: Served) -> None:
    sent = Sent(500)
    assert posted(centre, "/colours", sent).status_code == 413
    assert (sent.asked - 1) * 1000 <= OPEN_BYTES


@pytest.mark.parametrize("cookies", [{}, {"optcomp_visit": "wrong"}, {"optcomp_visit": "x" * 43}])
def test_the_form_of_whoever_is_not_signed_in_is_not_read(centre: Served, cookies: dict[str, str]) -> None:
    visitor, sent = Visitor(centre), Sent(500)
    visitor.cookies.update(cookies)
    found = posted(centre, "/planner", sent, visitor)
    assert (found.status_code, found.headers["location"], sent.asked) == (303, "/sign-in?next=/", 0)


def test_the_form_of_another_role_is_not_read(centre: Served) -> None:
    sent = Sent(500)
    assert posted(centre, "/owner/people", sent, Visitor(centre, "ada")).status_code in (403, 405)
    assert sent.asked == 0


def test_whoever_is_let_in_may_send_a_large_form(centre: Served) -> None:
    visitor = Visitor(centre, "ada")
    form = {"proof": visitor.proof(), "begin": "text", "text": "plan: 1\n" + "# long\n" * 20_000}
    found = visitor.post("/planner", form)
    assert found.status_code == 303
    assert found.headers["location"].startswith("/planner/")


@pytest.mark.parametrize("kind", ["urlencoded", "multipart"])
def test_the_fields_of_a_form_are_counted(centre: Served, kind: str) -> None:
    visitor = Visitor(centre, "ada")
    for path, most, fields in (
        ("/colours", _OPEN_FIELDS, {"theme": "dark"}),
        ("/sign-out", _FIELDS, {"proof": visitor.proof()}),
    ):
        for number, status in ((most + 1, 422), (most, 303)):
            form = fields | {f"f{place}": "x" for place in range(number - len(fields))}
            sent: dict[str, Any] = {"data": form}
            if kind == "multipart":
                sent = {"files": {name: (None, value) for name, value in form.items()}}
            if len(str(form)) < OPEN_BYTES or path != "/colours":
                assert visitor._asked("POST", path, **sent).status_code == status, (path, number)


def test_others_are_served_while_a_large_form_is_parsed(centre: Served, monkeypatch: pytest.MonkeyPatch) -> None:
    """A form that takes for ever holds neither the event loop nor small forms."""
    begun, answered, parse = threading.Event(), threading.Event(), parsing._form

    def slow(headers: Headers, body: bytes, *limits: int) -> FormData:
        if len(body) > OPEN_BYTES:
            begun.set()
            assert answered.wait(PATIENCE)
        return parse(headers, body, *limits)

    monkeypatch.setattr(parsing, "_form", slow)
    visitor, found = Visitor(centre, "ada"), []
    form = {"proof": visitor.proof(), "begin": "text", "text": "x" * 2 * OPEN_BYTES}
    large = threading.Thread(target=lambda: found.append(visitor.post("/planner", form).status_code))
    large.start()
    try:
        assert begun.wait(PATIENCE)
        assert Visitor(centre).get("/glossary").status_code == 200
        assert Visitor(centre).post("/colours", {"theme": "dark"}).status_code == 303
    finally:
        answered.set()
        large.join(PATIENCE)
    assert found == [422]


ODD = [
    b"",
    b"a",
    b"a=",
    b"=a",
    b"&&a=1&",
    b"a=1&a=2",
    b"a=%",
    b"a=%e9",
    b"a=%zz",
    b"a=\xe9",
    b"a=+%2B",
    b"a;b=1",
    b"a=b=c",
]


@pytest.mark.parametrize("body", ODD)
def test_odd_forms_are_read_as_browsers_write_them(body: bytes) -> None:
    """As the framework reads them, too."""

    async def stream() -> AsyncIterator[bytes]:
        yield body
        yield b""

    async def theirs() -> list[tuple[str, Any]]:
        return (await FormParser(Headers(FORM), stream()).parse()).multi_items()  # type: ignore[arg-type]

    ours = parsing._form(Headers(FORM), body, 100, 1).multi_items()
    assert ours == asyncio.run(theirs())


def test_files_of_a_form(centre: Served) -> None:
    """Of somebody without a visit, and larger than other forms without one: it is read to its end."""
    content = b"0.1\n" * 50_000
    found = Visitor(centre)._asked("POST", "/calculator/file", files={"file": ("a.csv", content)}, data={"state": ""})
    assert found.status_code == 303
    assert "0.1x50000" in found.headers["location"]


def test_large_files_without_a_visit_count_as_several_calculations(tmp_path: Path) -> None:
    with served(tmp_path / "home", make_app, processes=False, calculations=40) as centre:
        sent = [
            Visitor(centre)._asked("POST", "/calculator/file", files={"file": ("a.csv", b"0.1\n" * 40_000)})
            for _ in range(12)
        ]
    assert sent[0].status_code == 303
    assert [each.status_code for each in sent].count(429) >= 4  # also if a minute begins meanwhile


@pytest.fixture(scope="module")
def strict(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Served]:
    home = tmp_path_factory.mktemp("strict") / "home"
    with served(home, make_app, processes=False, logins=3, rate=1000) as found:
        yield found


def test_sign_ins_of_a_person_are_counted(strict: Served) -> None:
    """And others at the same address sign in."""
    tokens = strict.tokens
    found = [Visitor(strict).post("/sign-in", {"token": tokens["ada"]}) for _ in range(8)]
    assert {each.status_code for each in found[:3]} == {303}
    assert [each.status_code for each in found].count(429) >= 2
    late = next(each for each in found if each.status_code == 429)
    assert late.headers["retry-after"].isdigit()
    assert "set-cookie" not in late.headers
    assert Visitor(strict).post("/sign-in", {"token": tokens["ben"]}).status_code == 303


def test_sign_ins_from_an_address_are_counted(tmp_path: Path) -> None:
    with served(tmp_path / "home", make_app, processes=False, rate=4) as centre:
        people = ("ada", "ben", "olga", "omar", "ruth") * 3
        found = [Visitor(centre).post("/sign-in", {"token": centre.tokens[who]}).status_code for who in people]
    assert found[:4] == [303] * 4
    assert found.count(429) >= 4
