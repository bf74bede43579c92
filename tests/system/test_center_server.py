"""The real server with real processes: what it grants is what the slot has, to the last bit, whatever is killed."""

from __future__ import annotations

import json
import os
import signal
import ssl
import subprocess
import sys
import time
from collections.abc import Iterator
from datetime import UTC, datetime, timedelta
from fractions import Fraction
from ipaddress import ip_address
from pathlib import Path
from typing import Any

import httpx
import pytest
from cryptography import x509
from cryptography.hazmat.primitives import hashes, serialization
from cryptography.hazmat.primitives.asymmetric import ec
from cryptography.x509.oid import NameOID

import optcomp
from optcomp.client import NotServed
from optcomp.ledger import Ledger
from optcomp.statistics import Count

RUN = "from optcomp.cli.main import run; run()"
CLIENT = """
import sys, json
import optcomp
from optcomp.statistics import Count
url, token, number, count = sys.argv[1], sys.argv[2], int(sys.argv[3]), int(sys.argv[4])
session = optcomp.Client(url, token, retries=20, timeout=60).open("survey")
granted, refused = [], 0
for place in range(count):
    try:
        answer = session.ask(Count(), epsilon="1/100", key=f"{number} {place}")
        granted.append([f"{number} {place}", answer.value, answer.receipt["sequence"]])
    except optcomp.BudgetExceeded:
        refused += 1
print(json.dumps([granted, refused]))
"""
SLOT = Fraction(1, 2)
"""What each analyst of the demonstration has."""


class Server:
    """`optcomp serve --demo` in a process of its own."""

    def __init__(self, home: Path, log: Path, workers: int) -> None:
        command = [sys.executable, "-c", RUN, "serve", "--demo", "--home", str(home), "--port", "0", "--json"]
        self.log = log
        with log.open("w") as errors:
            self.process = subprocess.Popen(
                [*command, "--workers", str(workers)], stdout=subprocess.PIPE, stderr=errors, text=True
            )
        assert self.process.stdout is not None
        line = self.process.stdout.readline()
        if not line:
            self.process.communicate(timeout=60)
            raise AssertionError(log.read_text())
        self.told: dict[str, Any] = json.loads(line)

    def workers(self) -> list[int]:
        """The processes of uvicorn: those that have runners of their own."""
        return [child for child in children(self.process.pid) if children(child)]

    def end(self) -> tuple[int, str]:
        """SIGTERM; the exit code, and what else was printed."""
        self.process.send_signal(signal.SIGTERM)
        rest, _ = self.process.communicate(timeout=60)
        return self.process.returncode, rest


def children(parent: int) -> list[int]:
    tasks = Path(f"/proc/{parent}/task")
    found = [(task / "children").read_text().split() for task in tasks.iterdir()] if tasks.exists() else []
    return [int(number) for each in found for number in each]


@pytest.fixture(scope="module")
def server(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Server]:
    folder = tmp_path_factory.mktemp("server")
    found = Server(folder / "home", folder / "log", workers=2)
    yield found
    if found.process.poll() is None:
        found.process.kill()
        found.process.communicate(timeout=60)


def clients(server: Server, token: str, processes: int, questions: int) -> list[subprocess.Popen[str]]:
    arguments = [server.told["url"], token]
    return [
        subprocess.Popen(
            [sys.executable, "-c", CLIENT, *arguments, str(number), str(questions)], stdout=subprocess.PIPE, text=True
        )
        for number in range(processes)
    ]


def results(processes: list[subprocess.Popen[str]]) -> tuple[list[Any], int]:
    told = [json.loads(process.communicate(timeout=240)[0]) for process in processes]
    return [line for granted, _ in told for line in granted], sum(refused for _, refused in told)


def seat_of(server: Server, token: str) -> dict[str, Any]:
    headers = {"Authorization": f"Bearer {token}"}
    (seat,) = httpx.get(f"{server.told['url']}/api/v1/seats", headers=headers, timeout=60).json()["seats"]
    found: dict[str, Any] = seat
    return found


def check_ledger(server: Server, token: str, granted: list[Any]) -> None:
    """By the ledger's own sums: what was granted is what was spent, and everything follows from the chain."""
    with Ledger(server.told["ledger"], create=False) as ledger:
        slot = ledger.account("survey").slot(seat_of(server, token)["slot"])
        left, whole = slot.remaining().amounts["epsilon"]
        assert whole == SLOT
        assert whole - left == Fraction(len(granted), 100)
        assert ledger.verify().findings == ()
        assert ledger.waiting() == ()


def test_one_line_when_it_answers(server: Server) -> None:
    assert set(server.told) == {"url", "owner", "analysts", "auditor", "ledger"}
    assert len(server.told["analysts"]) == 3
    assert httpx.get(server.told["url"] + "/health").json()["ok"] is True
    assert len(server.workers()) == 2


def test_eight_processes_on_one_slot(server: Server) -> None:
    token = server.told["analysts"][0]
    granted, refused = results(clients(server, token, 8, 10))
    assert (len(granted), refused) == (50, 30)
    assert len({sequence for _, _, sequence in granted}) == 50
    check_ledger(server, token, granted)


def test_a_worker_is_killed_under_load(server: Server) -> None:
    """Nothing that was paid for is lost, and nothing is free; the worker is started again."""
    token = server.told["analysts"][1]
    running = clients(server, token, 4, 20)
    path = Path(server.told["ledger"])
    with Ledger(path, create=False) as ledger:
        slot = ledger.account("survey").slot(seat_of(server, token)["slot"])
        until = time.monotonic() + 120
        while slot.remaining().amounts["epsilon"][0] > SLOT * Fraction(9, 10) and time.monotonic() < until:
            time.sleep(0.01)
    killed = server.workers()[0]
    os.kill(killed, signal.SIGKILL)
    granted, refused = results(running)
    assert (len(granted), refused) == (50, 30)
    check_ledger(server, token, granted)
    until = time.monotonic() + 180
    while len(server.workers()) < 2 and time.monotonic() < until:
        time.sleep(0.1)
    assert len(server.workers()) == 2
    assert killed not in server.workers()


def test_stored_answers_are_the_same_afterwards(server: Server) -> None:
    """Asked again with the key, every answer is the one that was given."""
    token = server.told["analysts"][2]
    first, _ = results(clients(server, token, 1, 5))
    second, _ = results(clients(server, token, 1, 5))
    assert first == second
    check_ledger(server, token, first)


def test_it_ends_cleanly_and_logged_no_values(server: Server) -> None:
    with optcomp.Client(server.told["url"], server.told["analysts"][2]) as client:
        client.open("survey").ask(Count("age >= 41"), epsilon="1/100", key="the last")
    everybody = [server.process.pid, *children(server.process.pid)]
    everybody += [inner for child in children(server.process.pid) for inner in children(child)]
    code, rest = server.end()
    assert (code, rest) == (0, "")
    until = time.monotonic() + 20
    while time.monotonic() < until and any(Path(f"/proc/{number}").exists() for number in everybody):
        time.sleep(0.1)
    assert not [number for number in everybody if Path(f"/proc/{number}").exists()]
    lines = server.log.read_text().splitlines()
    asked = [json.loads(line) for line in lines if line.startswith("{")]
    assert [line for line in lines if not line.startswith("{")] == []
    assert {line["route"] for line in asked} >= {"/health", "/api/v1/seats/{id}/questions"}
    assert not [line for line in asked if line["status"] >= 500 or "failure" in line]
    assert not [word for word in (*server.told["analysts"], "41", "the last") if word in _without_times(lines)]


def _without_times(lines: list[str]) -> str:
    """What was logged, without the numbers that a value could be mistaken for."""
    kept = [{name: value for name, value in json.loads(line).items() if name not in ("time", "ms")} for line in lines]
    return json.dumps(kept)


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        ([], "give the home of a centre, or --demo"),
        (["--demo", "somewhere"], "give the home of a centre, or --demo"),
        (["nowhere"], "is not the home of a centre"),
        (["--demo", "--port", "70000"], "port"),
        (["--demo", "--tls-cert", "nothing.pem"], "tls"),
        (["--demo", "--workers", "0"], "workers"),
    ],
)
def test_what_cannot_be_served(arguments: list[str], words: str) -> None:
    done = subprocess.run(
        [sys.executable, "-c", RUN, "serve", *arguments], capture_output=True, text=True, timeout=60, check=False
    )
    assert (done.returncode, done.stdout) == (2, "")
    assert words in done.stderr
    assert len(done.stderr.splitlines()) == 1


@pytest.mark.parametrize("workers", ["1", "2"])
def test_a_home_that_does_not_open(tmp_path: Path, workers: str) -> None:
    """It is told in one line, before any worker starts."""
    home = tmp_path / "home"
    home.mkdir()
    (home / "center.yaml").write_text("name: broken\nledger: nowhere/at/all.ledger\n")
    command = [sys.executable, "-c", RUN, "serve", str(home), "--port", "0", "--workers", workers]
    done = subprocess.run(command, capture_output=True, text=True, timeout=60, check=False)
    assert (done.returncode, done.stdout) == (2, "")
    assert len(done.stderr.splitlines()) == 1


def test_tls(tmp_path: Path) -> None:
    """With a certificate of its own, which the client is told to trust; a client that is not told refuses."""
    certificate, key = self_signed(tmp_path)
    command = [sys.executable, "-c", RUN, "serve", "--demo", "--port", "0", "--json", "--host", "127.0.0.1"]
    with (tmp_path / "log").open("w") as errors:
        process = subprocess.Popen(
            [*command, "--tls-cert", str(certificate), "--tls-key", str(key)],
            stdout=subprocess.PIPE,
            stderr=errors,
            text=True,
        )
    assert process.stdout is not None
    try:
        told = json.loads(process.stdout.readline())
        assert told["url"].startswith("https://")
        trusted = ssl.create_default_context(cafile=str(certificate))
        with optcomp.Client(told["url"], told["analysts"][0], verify=trusted) as client:
            assert client.datasets() == ["survey"]
        with optcomp.Client(told["url"], told["analysts"][0], retries=0) as client, pytest.raises(NotServed):
            client.datasets()
    finally:
        process.send_signal(signal.SIGTERM)
        process.communicate(timeout=60)
    assert process.returncode == 0
    assert not Path(told["ledger"]).exists()  # what a demonstration made is dropped


def self_signed(folder: Path) -> tuple[Path, Path]:
    key = ec.generate_private_key(ec.SECP256R1())
    name = x509.Name([x509.NameAttribute(NameOID.COMMON_NAME, "localhost")])
    now = datetime.now(UTC)
    made = (
        x509.CertificateBuilder()
        .subject_name(name)
        .issuer_name(name)
        .public_key(key.public_key())
        .serial_number(x509.random_serial_number())
        .not_valid_before(now - timedelta(days=1))
        .not_valid_after(now + timedelta(days=1))
        .add_extension(x509.SubjectAlternativeName([x509.IPAddress(ip_address("127.0.0.1"))]), critical=False)
        .add_extension(x509.BasicConstraints(ca=True, path_length=None), critical=True)
        .sign(key, hashes.SHA256())
    )
    paths = folder / "cert.pem", folder / "key.pem"
    paths[0].write_bytes(made.public_bytes(serialization.Encoding.PEM))
    plain = serialization.PrivateFormat.PKCS8, serialization.NoEncryption()
    paths[1].write_bytes(key.private_bytes(serialization.Encoding.PEM, *plain))
    return paths
