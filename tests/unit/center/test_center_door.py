"""What is refused before it costs anything: bodies of whoever was not let in, bodies with too many parts, and rates."""

from __future__ import annotations

import json
from collections.abc import AsyncIterator, Callable, Iterator, MutableMapping
from pathlib import Path
from typing import Any

import httpx
import pytest
from sqlalchemy import select

from optcomp.center import Conflict, NotKnown, TooMany, Visits, parsing, people, rates, visits
from optcomp.center.protection import OPEN_BYTES
from optcomp.center.rates import Rates
from optcomp.center.store import now
from optcomp.center.tables import COUNTERS
from tests.unit.center.clocks import Clock
from tests.unit.center.homes import Centre
from tests.unit.center.served import QUESTION, Served, served

WRONG = {"Authorization": "Bearer oc_" + "x" * 43}
JSON = {"Content-Type": "application/json"}


@pytest.fixture(scope="module")
def asked_centre(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Served]:
    with served(tmp_path_factory.mktemp("door") / "home", processes=False) as found:
        yield found


@pytest.fixture
def still(monkeypatch: pytest.MonkeyPatch) -> Callable[[Served], None]:
    """Stop the clock of the database, and that of what is remembered, twenty seconds before the end of a minute."""

    def stop(centre: Served) -> None:
        with centre.service.store.read() as connection:
            at = 60 * (now(connection) // 60) + 40
        monkeypatch.setattr(people, "now", lambda connection: at)
        monkeypatch.setattr(rates, "time", Clock())

    return stop


class Sent:
    """A body that remembers how many pieces of it were asked for."""

    def __init__(self, pieces: int, piece: bytes = b" " * 1000) -> None:
        self.pieces, self.piece, self.asked = pieces, piece, 0

    async def content(self) -> AsyncIterator[bytes]:
        for _ in range(self.pieces):
            self.asked += 1
            yield self.piece

    @property
    def length(self) -> dict[str, str]:
        return {"Content-Length": str(self.pieces * len(self.piece))}


@pytest.mark.parametrize(
    ("path", "who", "headers", "status"),
    [
        ("/api/v1/owner/people", None, {}, 401),
        ("/api/v1/owner/people", None, WRONG, 401),
        ("/api/v1/owner/people", "ada", {}, 403),
        ("/nothing", None, WRONG, 404),
    ],
)
@pytest.mark.parametrize("told", [True, False])
def test_the_body_of_whoever_is_not_let_in_is_not_read(
    asked_centre: Served, path: str, who: str | None, headers: dict[str, str], status: int, told: bool
) -> None:
    sent = Sent(500)
    length = sent.length if told else {}
    found = asked_centre.call("post", path, who, content=sent.content(), headers=JSON | headers | length)
    assert (found.status_code, sent.asked) == (status, 0)


def test_whoever_is_let_in_may_send_more(asked_centre: Served) -> None:
    body = {"name": "x" * 5 * OPEN_BYTES, "role": "analyst"}
    found = asked_centre.call("post", "/api/v1/owner/people", "olga", body)
    assert (found.status_code, found.json()["argument"]) == (422, "name")


def test_whoever_goes_away_in_the_middle_of_a_body_is_no_defect(
    asked_centre: Served, capfd: pytest.CaptureFixture[str]
) -> None:
    came: list[dict[str, Any]] = [{"type": "http.request", "body": b"{", "more_body": True}]
    statuses: list[int] = []

    async def receive() -> dict[str, Any]:
        return came.pop() if came else {"type": "http.disconnect"}

    async def send(message: MutableMapping[str, Any]) -> None:
        statuses.extend([message["status"]] if "status" in message else [])

    headers = {"host": "localhost", "authorization": f"Bearer {asked_centre.tokens['ada']}", **JSON}
    path = f"/api/v1/seats/{asked_centre.seat()}/questions"
    scope = {"type": "http", "method": "POST", "path": path, "query_string": b"", "client": ("127.0.0.1", 1)}
    scope["headers"] = [(name.lower().encode(), value.encode()) for name, value in headers.items()]
    capfd.readouterr()
    asked_centre.wait(asked_centre.app(scope, receive, send))
    assert statuses == [422]
    assert "failure" not in capfd.readouterr().err


def hostile() -> dict[str, bytes]:
    """Bodies of less than a megabyte, each of which kept the event loop for 0.1 to 1.3 seconds."""
    return {
        "lists": b'{"question": {"a": [' + b",".join([b"[]"] * 300_000) + b"]}}",
        "deep": b'{"question": {"a": ' + b"[" * 500_000 + b"]" * 500_000 + b"}}",
        "names": b'{"question": {' + b",".join(b'"k%d": 1' % number for number in range(80_000)) + b"}}",
        "numbers": b'{"question": {"a": [' + b",".join([b"1"] * 500_000) + b"]}}",
        "digits": b'{"question": {"a": [' + b",".join([b"9" * 4000] * 250) + b"]}}",
        "fields": b"{" + b",".join(b'"k%d": 1' % number for number in range(15_000)) + b"}",
    }


@pytest.mark.parametrize("kind", list(hostile()))
def test_json_with_many_parts_is_refused_before_it_is_validated(asked_centre: Served, kind: str) -> None:
    path = f"/api/v1/seats/{asked_centre.seat()}/preview"
    found = asked_centre.call("post", path, "ada", content=hostile()[kind], headers=JSON)
    assert (found.status_code, found.json()["argument"]) == (422, "body")
    assert "names, lists and objects" in found.json()["message"]


def test_json_with_as_many_parts_as_requests_have(asked_centre: Served) -> None:
    """A declaration with forty thousand categories, and a plan with four thousand statistics, are read."""
    path = f"/api/v1/seats/{asked_centre.seat()}/preview"
    categories = {"categories": [f"{number:05}" for number in range(40_000)]}
    plan = {f"mean {number}": {"mean": "age", "where": "age > 3"} for number in range(4000)}
    for document in (categories, plan, {"text": "[{:,}]" * 2000 + "9" * 300}):
        found = asked_centre.call("post", path, "ada", {"question": QUESTION | document})
        assert found.status_code == 422
        assert found.json()["argument"] != "body"


def test_what_is_no_json_is_refused_as_before(asked_centre: Served) -> None:
    path = f"/api/v1/seats/{asked_centre.seat()}/preview"
    for content in (b"", b"{", b"[1, 2]", b'"text"', b"\xff"):
        found = asked_centre.call("post", path, "ada", content=content, headers=JSON)
        assert (found.status_code, found.json()["error"]) == (422, "invalid")
        assert "names, lists" not in found.json()["message"]


REFUSED: dict[str, tuple[str, str, str]] = {
    "role": ("ada", "/api/v1/owner/people", "forbidden"),
    "suspended": ("omar", "/api/v1/owner/people", "suspended"),
    "limited": ("limited", "/api/v1/audit/verification", "forbidden"),
}


@pytest.mark.parametrize("why", REFUSED)
def test_refused_requests_count(tmp_path: Path, still: Callable[[Served], None], why: str) -> None:
    """They were served without end; and others at the same address go on."""
    who, path, error = REFUSED[why]
    with served(tmp_path / "home", processes=False, rate=4) as centre:
        still(centre)
        centre.service.people.suspend("omar", True, by="olga")
        centre.tokens["limited"] = centre.service.people.token("olga", scope=["survey"], by="olga")
        found = [centre.call("get", path, who) for _ in range(9)]
        assert [each.json()["error"] for each in found] == [error] * 4 + ["too_many"] * 5
        assert centre.call("get", "/api/v1/me", "ben").status_code == 200


def test_large_bodies_count_as_several_requests(tmp_path: Path, still: Callable[[Served], None]) -> None:
    """Once more for every 16 kB; and no more than half of the limit, so that one can be sent at all."""
    with served(tmp_path / "home", processes=False, rate=20) as centre:
        still(centre)
        for size, number in ((OPEN_BYTES - 200, 1), (3 * OPEN_BYTES, 4), (60 * OPEN_BYTES, 11)):
            before = sum(counted(centre).values())
            found = centre.call("post", "/api/v1/owner/people", "olga", {"name": "x" * size, "role": "analyst"})
            assert (found.status_code, sum(counted(centre).values()) - before) == (422, number)
        found = centre.call("post", "/api/v1/owner/people", "olga", {"name": "x" * 7 * OPEN_BYTES, "role": "analyst"})
        assert (found.status_code, found.json()["error"]) == (429, "too_many")


def counted(centre: Served) -> dict[str, int]:
    with centre.service.store.read() as connection:
        rows = connection.execute(select(COUNTERS.c.subject, COUNTERS.c["count"])).all()
    return {str(subject): int(number) for subject, number in rows}


def test_whoever_is_beyond_a_rate_is_refused_without_a_write(tmp_path: Path, still: Callable[[Served], None]) -> None:
    with served(tmp_path / "home", processes=False, rate=3, logins=3) as centre:
        still(centre)
        for _ in range(9):
            last = [centre.call("get", "/api/v1/me", "ada"), centre.call("get", "/api/v1/me", headers=WRONG)]
        assert [each.status_code for each in last] == [429, 429]
        assert sorted(counted(centre).values()) == [4, 4]


def test_what_is_remembered_ends_with_the_minute(centre: Centre, monkeypatch: pytest.MonkeyPatch) -> None:
    """To the second that `Retry-After` says; then the database counts again."""
    clock, at = Clock(), [1_200_000_040.0]
    monkeypatch.setattr(people, "now", lambda connection: at[0])
    counting = Rates(centre.people)
    monkeypatch.setattr(rates, "time", clock)
    counting.count("ada", 1)
    for _ in range(3):
        with pytest.raises(TooMany) as told:
            counting.count("ada", 1)
        assert 19 < told.value.seconds <= 20
    at[0] += 20
    clock.now += 20
    counting.count("ada", 1)
    counting.count("ben", 1)


def test_no_more_subjects_are_remembered_than_that(centre: Centre, monkeypatch: pytest.MonkeyPatch) -> None:
    """What is forgotten is counted by the database, and refused all the same."""
    monkeypatch.setattr(rates, "_MOST", 3)
    counting = Rates(centre.people)
    for number in range(8):
        with pytest.raises(TooMany):
            counting.count(f"address {number}", 0)
        assert len(counting._until) <= 3
    with pytest.raises(TooMany):
        counting.count("address 0", 0)


def test_a_person_has_so_many_visits(centre: Centre) -> None:
    """Another one ends those that would end first, and nobody else's."""
    mine, others = Visits(centre.store), centre.people.token("ben", by="olga")
    kept = mine.begin(others)
    tokens = [centre.people.token("ada", by="olga") for _ in range(2)]
    secrets = [mine.begin(tokens[number % 2]) for number in range(visits._LIVING + 3)]
    ended = 0
    for secret in secrets:
        try:
            mine.who(secret)
        except NotKnown:
            ended += 1
    assert ended == 3
    assert [mine.who(secret).person.name for secret in (*secrets[3:], kept)] == ["ada"] * visits._LIVING + ["ben"]


def test_wishes_that_wait(centre: Centre) -> None:
    """Of one person about one seat; when one is decided, there is room for another."""
    centre.register()
    centre.catalogue.cut("people", "spring", {"ada": "0.1", "ben": "0.1"}, delta="1e-8", by="olga")
    seats = {each.analyst: each.id for each in centre.catalogue.seats()}
    first, *_ = [centre.catalogue.wish(seats["ada"], "more", by="ada") for _ in range(5)]
    with pytest.raises(TooMany, match="5 of your requests about this seat wait for an owner"):
        centre.catalogue.wish(seats["ada"], "more", by="ada")
    centre.catalogue.wish(seats["ben"], "more", by="ben")
    centre.catalogue.decide(first, False, by="olga")
    centre.catalogue.wish(seats["ada"], "more", by="ada")
    with pytest.raises(Conflict):
        centre.catalogue.decide(first, True, by="olga")


def test_wishes_in_a_minute(tmp_path: Path, still: Callable[[Served], None]) -> None:
    with served(tmp_path / "home", processes=False) as centre:
        still(centre)
        seats = [centre.seat() for _ in range(3)]

        def asked(seat: int) -> httpx.Response:
            return centre.call("post", f"/api/v1/seats/{seat}/wishes", "ada", {"words": "more"})

        found = [asked(seats[number // 5]) for number in range(12)]
        assert [each.status_code for each in found] == [200] * 10 + [429] * 2
        assert found[-1].json()["message"] == "You may ask for more 10 times in a minute: wait a little."
        assert found[-1].headers["retry-after"].isdigit()


def test_too_many_waiting_wishes_are_told_as_such(asked_centre: Served) -> None:
    seat = asked_centre.seat("ben")
    for _ in range(6):
        found = asked_centre.call("post", f"/api/v1/seats/{seat}/wishes", "ben", {"words": "more"})
    assert (found.status_code, found.headers["retry-after"]) == (429, "60")
    assert "wait for an owner" in found.json()["message"]


def test_the_limits_are_what_the_words_say() -> None:
    assert str(parsing._PARTS) in parsing._TOO_MANY
    assert json.loads(hostile()["digits"])  # each of them is JSON that a parser would read
