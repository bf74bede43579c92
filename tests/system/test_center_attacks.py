"""Attacks on a centre, tried one by one: on what owners register, tokens, bodies, and on what errors and logs tell."""

from __future__ import annotations

import gzip
import json
import os
import re
import subprocess
import sys
import time
import zipfile
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from optcomp.center import Settings, people
from optcomp.errors import InvalidInput
from tests.unit.center.served import QUESTION, SECRET, Served, served

PASSWORD = "hunter2secret"
"""Must be nowhere."""
DECLARATION = {"columns": {"age": {"integers": [0, 99]}}}
HUGE = 100_000
"""Levels of a document."""


@pytest.fixture(scope="module")
def listed() -> str:
    """A database that is listed, and does not run."""
    return f"postgresql://reader:{PASSWORD}@127.0.0.1:1/people?password={PASSWORD}"


@pytest.fixture(scope="module")
def centre(tmp_path_factory: pytest.TempPathFactory, listed: str) -> Iterator[Served]:
    home = tmp_path_factory.mktemp("attacks") / "home"
    with served(home, processes=False, databases=[listed]) as found:
        yield found


def folder_of(centre: Served) -> Path:
    return centre.settings.folders[0]


def register(centre: Served, source: str, **more: Any) -> Any:
    body = {"name": "stolen", "source": source, "account": "stolen", "epsilon": "1", "delta": "1e-6", "disjoint": True}
    return centre.call("post", "/api/v1/owner/datasets", "olga", {**body, "declaration": DECLARATION, **more})


def outside(centre: Served) -> Path:
    """A good table, beside the folder of the settings."""
    path = folder_of(centre).parent / "outside.csv"
    path.write_text("age\n1\n2\n")
    return path


def sources_outside(centre: Served) -> list[str]:
    path, folder = outside(centre), folder_of(centre)
    near = folder.with_name(folder.name + "-near")
    near.mkdir(exist_ok=True)
    (near / "table.csv").write_text("age\n1\n")
    for link, target in (("link.csv", path), ("linked", path.parent), ("chain.csv", folder / "link.csv")):
        if not (folder / link).is_symlink():
            os.symlink(target, folder / link)
    return [
        "/etc/passwd",
        str(path),
        "../outside.csv",
        f"{folder}/../outside.csv",
        "people.parquet/../../outside.csv",
        str(near / "table.csv"),
        "link.csv",
        "linked/outside.csv",
        "chain.csv",
        f"file://{path}",
        "*.csv",
        ".",
        str(folder),
        "/proc/self/environ",
        "/dev/stdin",
        str(centre.settings.home / "center.db"),
        str(centre.settings.private / "keys.json"),
    ]


def test_files_outside_the_folders(centre: Served) -> None:
    for source in sources_outside(centre):
        found = register(centre, source)
        assert found.status_code == 422, (source, found.text)
        there, missing = register(centre, str(outside(centre))), register(centre, str(outside(centre)) + "-missing")
        assert there.json()["message"].replace("-missing", "") == missing.json()["message"].replace("-missing", "")
        renewed = centre.call("post", "/api/v1/owner/datasets/survey/versions", "olga", {"source": source})
        assert renewed.status_code == 422, source
    assert "stolen" not in centre.call("get", "/api/v1/datasets", "olga").text
    assert centre.service.catalogue.dataset("survey").version == 1


@pytest.mark.parametrize(
    "source",
    [
        f"postgresql://u:{PASSWORD}@127.0.0.1/people",
        f"postgres://127.0.0.1/people?password={PASSWORD}",
        f"mysql://u:{PASSWORD}@127.0.0.1/x",
        "sqlite:///etc/x.db",
        "duckdb:///tmp/x.db",
        f"s3://key:{PASSWORD}@bucket/x.parquet",
        f"https://u:{PASSWORD}@example.org/x.parquet",
        f"postgresql://[broken{PASSWORD}",
    ],
)
def test_databases_that_are_not_listed(centre: Served, source: str, capfd: pytest.CaptureFixture[str]) -> None:
    found = register(centre, source, table="people")
    assert found.status_code == 422, found.text
    assert "settings list" in found.text
    changes = centre.call("get", "/api/v1/owner/changes", "olga").text
    assert PASSWORD not in found.text + changes + "".join(capfd.readouterr())


def test_a_listed_database_tells_no_password(centre: Served, listed: str, capfd: pytest.CaptureFixture[str]) -> None:
    for source in (listed, "postgresql://127.0.0.1:1/people"):
        found = register(centre, source, table="people")
        assert found.status_code == 422
        assert "cannot be opened" in found.json()["message"]
        assert PASSWORD not in found.text
    told = [centre.call("get", path, "olga").text for path in ("/api/v1/owner/changes", "/api/v1/audit/export")]
    assert PASSWORD not in "".join(told) + "".join(capfd.readouterr()) + repr(centre.settings)


def bombs(folder: Path) -> list[Path]:
    """Small files that would become very large."""
    blank = gzip.compress(b"1\n" * (1 << 20))
    (folder / "bomb.csv.gz").write_bytes(gzip.compress(b"age\n") + 100 * blank)  # members are unpacked one by one
    with zipfile.ZipFile(folder / "bomb.xlsx", "w", zipfile.ZIP_DEFLATED, compresslevel=1) as book:
        with book.open("xl/worksheets/sheet1.xml", "w") as sheet:
            for _ in range(200):
                sheet.write(bytes(1 << 20))
        book.writestr("[Content_Types].xml", "<Types/>")
    return [folder / "bomb.csv.gz", folder / "bomb.xlsx"]


@pytest.mark.slow
def test_bombs_are_no_tables(centre: Served) -> None:
    for path, reason in zip(bombs(folder_of(centre)), ("as bombs do", "cannot be read as a workbook"), strict=True):
        found = register(centre, path.name)
        assert found.status_code == 422, found.text
        assert reason in found.text
        path.unlink()


def test_aliases_in_settings(tmp_path: Path) -> None:
    """Nine levels of ten aliases each would be a thousand million values."""
    Settings.write(tmp_path / "home")
    lines = ["a0: &a0 [x]"] + [f"a{n}: &a{n} [{', '.join([f'*a{n - 1}'] * 10)}]" for n in range(1, 10)]
    (tmp_path / "home" / "center.yaml").write_text("\n".join([*lines, "databases: *a9"]))
    begun = time.thread_time()
    with pytest.raises(InvalidInput):
        Settings.read(tmp_path / "home")
    assert time.thread_time() - begun < 5  # of a processor; it takes a hundredth


@pytest.mark.parametrize(
    "text",
    [
        "ledger: {address}: {{",
        "ledger: [{address}]",
        "{address}",
        "ledger: {address}\nledger: {address}",
        "ledger: !!python/object {address}",
        "ledger: {address}\nrate: many",
    ],
)
def test_broken_settings_tell_no_password(tmp_path: Path, text: str, listed: str) -> None:
    Settings.write(tmp_path / "home")
    (tmp_path / "home" / "center.yaml").write_text(text.format(address=listed))
    with pytest.raises(InvalidInput) as caught:
        Settings.read(tmp_path / "home")
    assert PASSWORD not in f"{caught.value!s} {caught.value!r} {caught.value.__context__!r}"


@pytest.mark.slow
@pytest.mark.parametrize("which", ["ledger", "database"])
def test_a_server_whose_database_is_away_tells_no_password(tmp_path: Path, which: str, listed: str) -> None:
    settings = Settings.write(tmp_path / "home", **{which: listed})
    command = [sys.executable, "-c", "from optcomp.cli.main import run; run()", "serve", str(settings.home)]
    ended = subprocess.run([*command, "--port", "0"], capture_output=True, text=True, timeout=180, check=False)
    assert ended.returncode != 0
    assert PASSWORD not in ended.stdout + ended.stderr


def deep(level: int) -> bytes:
    return b'{"question":' + b'{"a":' * level + b"1" + b"}" * level + b"}"


ODD_BODIES = {
    "deep objects": deep(HUGE),
    "deep lists": b"[" * HUGE + b"]" * HUGE,
    "unclosed lists": b"[" * HUGE,
    "many digits": b'{"question": {"epsilon": ' + b"9" * 10_000 + b"}}",
    "infinite": b'{"question": {"epsilon": 1e999}}',
    "not a number": b'{"question": {"epsilon": NaN}}',
    "half a character": b'{"question": {"epsilon": "\\ud800"}}',
    "no text": b"\xff\xfe\x00\x01",
    "a key twice": json.dumps({"question": QUESTION})[:-1].encode() + b', "question": {}}',
    "gzip": gzip.compress(bytes(100 << 20)),
    "forms": b"question=1&key=2",
    "null": b"null",
}


@pytest.mark.parametrize("kind", sorted(ODD_BODIES))
def test_odd_bodies(centre: Served, kind: str) -> None:
    """Refused before anything is spent, and with little work."""
    seat, head = centre.seat(), centre.service.ledger.head
    more = {"Content-Encoding": "gzip"} if kind == "gzip" else {}
    for path in ("questions", "preview", "mechanisms", "plans"):
        begun = time.process_time()
        headers = {"Content-Type": "application/json", **more}
        found = centre.call("post", f"/api/v1/seats/{seat}/{path}", "ada", content=ODD_BODIES[kind], headers=headers)
        assert found.status_code in (400, 413, 422), (path, found.text[:300])
        assert len(found.content) < 5000
        assert time.process_time() - begun < 5  # of a processor; it takes a tenth
    if kind != "a key twice":
        assert centre.service.ledger.head == head


def test_no_other_site_may_read(centre: Served) -> None:
    """No header of CORS, whatever a browser asks."""
    for origin in ("https://evil.example", "null", "http://localhost"):
        asked = {"Origin": origin, "Access-Control-Request-Method": "POST"}
        asked |= {"Access-Control-Request-Headers": "authorization"}
        for method, path, who in (
            ("options", "/api/v1/seats", None),
            ("options", "/api/v1/owner/people", "olga"),
            ("get", "/api/v1/me", "ada"),
            ("get", "/api/openapi.json", None),
            ("get", "/health", None),
        ):
            found = centre.call(method, path, who, headers=asked)
            assert not [name for name in found.headers if name.lower().startswith("access-control")], path
            assert found.status_code == (405 if method == "options" else 200)
            assert "set-cookie" not in found.headers


def test_tokens_that_are_over(centre: Served) -> None:
    short = centre.call("post", "/api/v1/owner/people/ada/tokens", "olga", {"days": 1e-9}).json()["token"]
    revoked = centre.call("post", "/api/v1/owner/people/ada/tokens", "olga", {}).json()["token"]
    (*_, view) = centre.service.people.tokens("ada")
    centre.call("delete", f"/api/v1/owner/tokens/{view.id}", "olga")
    good = centre.tokens["ada"]
    wrong = [short, revoked, good[:-1], good + "x", good.upper(), f" {good[3:]}", "oc_" + "a" * 43, "'; DROP TABLE", ""]
    for token in wrong:
        found = centre.call("get", "/api/v1/me", headers={"Authorization": f"Bearer {token}".strip()})
        assert (found.status_code, found.json()["error"]) == (401, "not_known"), token
    for header in (f"Basic {good}", good, f"Bearer: {good}"):
        assert centre.call("get", "/api/v1/me", headers={"Authorization": header}).status_code == 401
    assert centre.call("get", f"/api/v1/me?token={good}&access_token={good}").status_code == 401
    assert centre.call("get", "/api/v1/me", headers={"Cookie": f"token={good}"}).status_code == 401
    stored = Path(centre.settings.database).read_bytes() + Path(f"{centre.settings.database}-wal").read_bytes()
    assert good.encode() not in stored


def test_guessing_is_throttled(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(people, "now", lambda _connection: 1.7e9)  # no minute ends in between
    with served(tmp_path / "home", processes=False, logins=10) as centre:
        told = []
        for number in range(40):
            headers = {"Authorization": f"Bearer oc_{number:043d}", "X-Forwarded-For": f"10.0.0.{number}"}
            told.append(centre.call("get", "/api/v1/me", headers=headers).status_code)
        assert told == [401] * 10 + [429] * 30
        assert centre.call("get", "/api/v1/me", "ada").status_code == 200


def addresses(centre: Served, seat: int, number: int) -> list[str]:
    """Every GET that is published, about things that are there."""
    paths = [path for path, methods in centre.app.openapi()["paths"].items() if "get" in methods]
    found = [path.replace("{id}", str(seat)).replace("{number}", str(number)) for path in paths]
    return [path.replace("{name}", "survey") for path in found]


def test_reading_never_spends(centre: Served) -> None:
    """Every GET, and HEAD, by everybody: the ledger has the same head afterwards, and slots are not taken."""
    used, fresh = centre.seat(), centre.seat()
    path = f"/api/v1/seats/{used}/questions"
    number = centre.call("post", path, "ada", {"question": QUESTION, "share": True}).json()["request"]
    head = centre.service.ledger.head
    count = 0
    for seat in (used, fresh):
        for address in addresses(centre, seat, number):
            assert "{" not in address
            for who in ("ada", "ben", "olga", "ruth", None):
                found = centre.call("get", address, who)
                assert found.status_code in (200, 401, 403, 404, 422), (address, who, found.text)
                count += found.status_code == 200
                centre.call("head", address, who)
    assert count > 40
    assert centre.service.ledger.head == head
    state = {seat: centre.call("get", f"/api/v1/seats/{seat}", "ada").json()["left"]["state"] for seat in (used, fresh)}
    assert state[used] != state[fresh]


def test_methods_that_are_not_there(centre: Served) -> None:
    """Nothing is done by another method, or by a header that names one."""
    seat, head = centre.seat(), centre.service.ledger.head
    path = f"/api/v1/seats/{seat}/questions"
    for method in ("put", "patch", "delete", "get", "trace", "connect", "propfind"):
        body = {} if method == "get" else {"body": {"question": QUESTION}}
        assert centre.call(method, path, "ada", **body).status_code == 405
    headers = {"X-HTTP-Method-Override": "POST", "X-Method-Override": "POST"}
    assert centre.call("get", f"{path}?_method=POST", "ada", headers=headers).status_code == 405
    assert centre.service.ledger.head == head


def test_words_of_callers_stay_out_of_logs(centre: Served, capfd: pytest.CaptureFixture[str]) -> None:
    """Nothing that a caller writes makes a line of its own, or is there at all."""
    seat, forged = centre.seat(), '{"event": "forged"}'
    centre.call("post", f"/api/v1/seats/{seat}/wishes", "ada", {"words": f"x {forged}"})
    centre.call("get", f"/api/v1/nothing/%0A{forged}", "ada", headers={"User-Agent": forged, "Referer": forged})
    centre.call("post", f"/api/v1/seats/{seat}/questions", "ada", {"question": {"statistic": {forged: SECRET}}})
    lines = capfd.readouterr().err.splitlines()
    assert len(lines) >= 3
    assert not [line for line in lines if "forged" in line or SECRET in line]
    assert all(re.fullmatch(r"\{.*\}", line) for line in lines)
