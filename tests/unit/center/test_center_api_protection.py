"""What every request passes: the name of the host, the size of the body, rates; and what logs and errors never tell."""

from __future__ import annotations

import json
from collections.abc import AsyncIterator, Iterator
from pathlib import Path
from typing import Any

import pytest

from optcomp.center import clock, people, protection, rates
from optcomp.center.protection import described
from optcomp.center.store import now
from tests.unit.center.clocks import Clock
from tests.unit.center.served import QUESTION, SECRET, Served, served


@pytest.fixture(scope="module")
def centre(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Served]:
    with served(tmp_path_factory.mktemp("protection") / "home", processes=False) as found:
        yield found


@pytest.fixture(scope="module")
def narrow(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Served]:
    """A centre that takes small bodies only."""
    with served(tmp_path_factory.mktemp("narrow") / "home", processes=False, most_bytes=2000) as found:
        yield found


def lines(capfd: pytest.CaptureFixture[str]) -> list[dict[str, Any]]:
    return [json.loads(line) for line in capfd.readouterr().err.splitlines() if line.startswith("{")]


HOSTS = ["evil.example", "localhost.evil.example", "", "127.0.0.1.nip.io", "[::2]:80", "localhost:1@evil.example"]
HOSTS += ["[::1]evil.example", "localhost:80,evil.example", "localhost:80:80"]


@pytest.mark.parametrize("host", HOSTS)
def test_another_host_is_refused(centre: Served, host: str) -> None:
    found = centre.call("get", "/health", headers={"Host": host})
    assert (found.status_code, found.json()["error"]) == (421, "wrong_host")


@pytest.mark.parametrize("host", ["localhost", "LOCALHOST:8000", "127.0.0.1:1", "[::1]:8000"])
def test_our_own_hosts_are_served(centre: Served, host: str) -> None:
    assert centre.call("get", "/health", headers={"Host": host}).json()["ok"] is True


def test_a_large_body_is_refused_by_its_length(narrow: Served) -> None:
    found = narrow.call("post", "/api/v1/owner/people", "olga", {"name": "x" * 3000, "role": "analyst"})
    assert (found.status_code, found.json()["error"]) == (413, "too_large")


def test_a_large_body_is_refused_while_it_is_read(narrow: Served) -> None:
    """Without a length: what is read is counted, and the rest is never asked for."""
    asked = []

    async def pieces() -> AsyncIterator[bytes]:
        for number in range(1000):
            asked.append(number)
            yield b" " * 500

    found = narrow.call(
        "post", "/api/v1/owner/people", "olga", content=pieces(), headers={"Content-Type": "application/json"}
    )
    assert (found.status_code, found.json()["error"]) == (413, "too_large")


def test_every_response_has_the_headers(centre: Served) -> None:
    for path, who in (("/health", None), ("/api/v1/me", "ada"), ("/api/v1/me", None), ("/nothing", None)):
        headers = centre.call("get", path, who).headers
        assert headers["x-content-type-options"] == "nosniff"
        assert headers["referrer-policy"] == "no-referrer"
        assert headers["x-frame-options"] == "DENY"
        assert headers["content-security-policy"].startswith("default-src 'none'")
        assert "access-control-allow-origin" not in headers
        assert (headers.get("cache-control") == "no-store") == path.startswith("/api")


def test_no_cors(centre: Served) -> None:
    asked = {"Origin": "https://evil.example", "Access-Control-Request-Method": "POST"}
    found = centre.call("options", "/api/v1/me", headers=asked)
    assert found.status_code == 405
    assert not [name for name in found.headers if name.startswith("access-control")]


def test_a_line_for_each_request_without_values(centre: Served, capfd: pytest.CaptureFixture[str]) -> None:
    seat = centre.seat()
    capfd.readouterr()
    body = {"question": {**QUESTION, "statistic": {"count": "rows", "where": "age > 41"}}, "key": "mykey"}
    centre.call("post", f"/api/v1/seats/{seat}/questions?word=41", "ada", body)
    (line,) = lines(capfd)
    assert set(line) == {"time", "method", "route", "status", "ms", "person"}
    assert (line["method"], line["route"], line["status"]) == ("POST", "/api/v1/seats/{id}/questions", 200)
    assert isinstance(line["person"], int)
    written = json.dumps(line)
    assert not [word for word in ("mykey", "age", "word", "ada", SECRET, centre.tokens["ada"]) if word in written]


def test_an_error_that_nobody_foresaw(
    centre: Served, capfd: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    """Its text is told to nobody, and is in no log; where something may have been paid, it is the error for that."""
    seat = centre.seat()

    async def fails(*_: object, **__: object) -> None:
        raise RuntimeError(SECRET)

    monkeypatch.setattr(centre.service, "call", fails)
    capfd.readouterr()
    read = centre.call("get", f"/api/v1/seats/{seat}", "ada")
    paid = centre.call("post", f"/api/v1/seats/{seat}/questions", "ada", {"question": QUESTION})
    assert (read.status_code, read.json()["error"]) == (500, "defect")
    assert (paid.status_code, paid.json()["error"]) == (424, "not_answered")
    captured = capfd.readouterr()
    assert SECRET not in read.text + paid.text + captured.err + captured.out
    assert "RuntimeError at " in captured.err


def test_where_an_error_came_up_is_told_without_its_text() -> None:
    try:
        raise ValueError(SECRET)
    except ValueError as error:
        told = described(error)
    assert told.startswith("ValueError at ")
    assert SECRET not in told


def test_metrics_count_and_name_nobody(centre: Served) -> None:
    centre.call("get", "/api/v1/me", "ada")
    text = centre.call("get", "/metrics").text
    assert 'route="/api/v1/me",status="200"' in text
    assert "optcomp_request_seconds_count" in text
    assert "optcomp_runners{" in text
    assert not [name for name in ("ada", "olga", "survey", SECRET) if name in text]


def test_rates_are_counted(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """In a minute that does not end, 20 seconds before its end."""
    with served(tmp_path / "home", processes=False, rate=5, logins=3) as centre:
        with centre.service.store.read() as connection:
            minute = now(connection) // 60
        monkeypatch.setattr(people, "now", lambda connection: 60 * minute + 40)
        monkeypatch.setattr(rates, "time", Clock())
        found = [centre.call("get", "/api/v1/me", "ada") for _ in range(12)]
        assert [each.status_code for each in found] == [200] * 5 + [429] * 7
        assert found[-1].headers["retry-after"] == "20"
        assert found[-1].json()["error"] == "too_many"
        wrong = {"Authorization": "Bearer oc_" + "x" * 43}
        tried = [centre.call("get", "/api/v1/me", headers=wrong).status_code for _ in range(8)]
        assert tried == [401] * 3 + [429] * 5
        assert centre.call("get", "/api/v1/me", "ben").status_code == 200


def test_responses_leave_at_multiples_of_the_bucket(tmp_path: Path) -> None:
    """Answers, refusals, and what is free: all of them share the machine with questions that are paid for."""
    of_test = Clock()
    with served(tmp_path / "home", processes=False, bucket=0.5) as centre, of_test.within(clock):
        seat = centre.seat()
        path = f"/api/v1/seats/{seat}"
        asked: list[tuple[str, str, Any, int]] = [
            ("get", path, None, 200),
            ("get", "/health", None, 200),
            ("get", "/api/v1/seats/99", None, 404),
        ]
        asked += [("post", f"{path}/preview", {"question": QUESTION}, 200)]
        for key, expected in (("one", 200), ("one", 200), ("two", 409)):
            question = {**QUESTION, "epsilon": "1" if key == "one" else "2"}
            asked.append(("post", f"{path}/questions", {"question": question, "key": key}, expected))
        for method, where, body, expected in asked:
            of_test.looks.clear()
            assert centre.call(method, where, "ada", body).status_code == expected
            begun, done = of_test.looks
            assert done < of_test.woken[-1] == begun + 0.5
        assert len(of_test.woken) == len(asked)


def test_a_body_that_comes_too_slowly(centre: Served) -> None:
    """Each piece takes ten seconds by the clock of the centre: it stops to read when its time is over."""
    clock, sent = Clock(), []

    async def drops() -> AsyncIterator[bytes]:
        for number in range(100):
            clock.now += 10
            sent.append(number)
            yield b" "

    headers = {"Content-Type": "application/json"}
    with clock.within(protection):
        found = centre.call("post", "/api/v1/owner/people", "olga", content=drops(), headers=headers)
    assert (found.status_code, found.json()["error"]) == (422, "invalid")
    assert len(sent) * 10 <= protection._BODY_SECONDS + 10


@pytest.mark.parametrize("levels", [25, 900])
@pytest.mark.parametrize("end", ["preview", "questions"])
def test_deep_bodies_are_refused_as_such(centre: Served, levels: int, end: str) -> None:
    """Nothing was debited: that there is no answer yet would be wrong."""
    question = '{"a":' * levels + "1" + "}" * levels
    headers = {"Content-Type": "application/json"}
    content = f'{{"question": {question}}}'.encode()
    path = f"/api/v1/seats/{centre.seat('ada')}/{end}"
    found = centre.call("post", path, "ada", content=content, headers=headers)
    assert (found.status_code, found.json()["error"]) == (422, "invalid")
    assert "24 levels" in found.json()["message"]


def test_a_body_without_its_type_is_told_so(centre: Served) -> None:
    """What plain curl sends."""
    headers = {"Content-Type": "application/x-www-form-urlencoded"}
    content = json.dumps({"question": QUESTION}).encode()
    found = centre.call(
        "post", f"/api/v1/seats/{centre.seat('ada')}/questions", "ada", content=content, headers=headers
    )
    assert found.status_code == 422
    assert "Content-Type: application/json" in found.json()["message"]
