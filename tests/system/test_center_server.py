"""The real server with real processes: one line when it answers, workers that come back, a clean end, and TLS."""

from __future__ import annotations

import json
import os
import signal
import ssl
import subprocess
import sys
from concurrent.futures import ThreadPoolExecutor
from datetime import UTC, datetime, timedelta
from fractions import Fraction
from ipaddress import ip_address
from pathlib import Path
from threading import Event

import httpx
import pytest
from cryptography import x509
from cryptography.hazmat.primitives import hashes, serialization
from cryptography.hazmat.primitives.asymmetric import ec
from cryptography.x509.oid import NameOID

import optcomp
from optcomp.client import NotServed
from optcomp.statistics import Count
from tests.system.served_centers import PATIENCE, Home, is_running, make_home, serving, until
from tests.unit.cli.in_process import invoke

RUN = "from optcomp.cli.main import run; run()"
QUESTIONS = 30
"""That one client asks while a worker is killed."""


@pytest.mark.slow
def test_a_worker_is_killed_under_load_and_the_server_ends_cleanly(tmp_path: Path) -> None:
    """Nothing that was paid for is lost, nothing is free; the worker is started again; no value is in the log."""
    home, log, some = make_home(tmp_path), tmp_path / "log", Event()
    with serving(home.path, 2, log) as server, ThreadPoolExecutor(1) as beside:
        assert set(server.told) == {"url", "ledger"}
        assert httpx.get(server.url + "/health", timeout=PATIENCE).json()["ok"] is True
        server.until_complete(2, 2)
        killed = server.workers()[0]
        asking = beside.submit(ask_all, server.url, home.tokens["ada"], some)
        assert some.wait(PATIENCE), "no question was answered"
        os.kill(killed, signal.SIGKILL)
        first = asking.result(PATIENCE)
        server.until_complete(2, 2)
        assert killed not in server.workers()
        assert ask_all(server.url, home.tokens["ada"]) == first  # stored answers are told again
        everybody = server.everybody()
        server.stop()
        assert server.exit_code == 0
        until(lambda: not any(map(is_running, everybody)), "the end of all processes")
    check_ledger(home)
    check_log(home, log)


def ask_all(url: str, token: str, some: Event | None = None) -> list[object]:
    """Answers to all questions, each under its key; `some` is set when there are a few."""
    told: list[object] = []
    with optcomp.Client(url, token, retries=20) as client:
        session = client.open("survey")
        for place in range(QUESTIONS):
            told.append(session.ask(Count("age >= 41"), epsilon="1/100", key=f"key-{place}").value)
            if some is not None and place == 3:
                some.set()
    return told


def check_ledger(home: Home) -> None:
    """By the ledger's own sums: what was granted is what was spent, and everything follows from the chain."""
    with home.ledger() as ledger:
        left, whole = ledger.account("survey").slot(home.slot).remaining().amounts["epsilon"]
        assert whole - left == Fraction(QUESTIONS, 100)
        assert ledger.verify().findings == ()
        assert ledger.waiting() == ()


def check_log(home: Home, log: Path) -> None:
    """Lines of JSON, of which none says what was asked or answered."""
    lines = [json.loads(line) for line in log.read_text().splitlines()]
    assert {line.get("route") for line in lines} >= {"/health", "/api/v1/seats/{id}/questions"}
    assert not [line for line in lines if line.get("status", 0) >= 500 or "failure" in line]
    without_times = json.dumps([line | {"time": None, "ms": None} for line in lines])
    assert not [word for word in (*home.tokens.values(), "41", "key-") if word in without_times]


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
    done = invoke(["serve", *arguments])
    assert (done.exit_code, done.stdout) == (2, "")
    assert words in done.stderr
    assert len(done.stderr.splitlines()) == 1


@pytest.mark.slow
@pytest.mark.parametrize("workers", ["1", "2"])
def test_a_home_that_does_not_open(tmp_path: Path, workers: str) -> None:
    """It is told in one line, before any worker starts."""
    home = tmp_path / "home"
    home.mkdir()
    (home / "center.yaml").write_text("name: broken\nledger: nowhere/at/all.ledger\n")
    command = [sys.executable, "-c", RUN, "serve", str(home), "--port", "0", "--workers", workers]
    done = subprocess.run(command, capture_output=True, text=True, timeout=PATIENCE, check=False)
    assert (done.returncode, done.stdout) == (2, "")
    assert len(done.stderr.splitlines()) == 1


@pytest.mark.slow
def test_tls(tmp_path: Path) -> None:
    """With a certificate of its own, which the client is told to trust; a client that is not told refuses."""
    home, (certificate, key) = make_home(tmp_path), self_signed(tmp_path)
    secured = ("--host", "127.0.0.1", "--tls-cert", str(certificate), "--tls-key", str(key))
    with serving(home.path, 1, tmp_path / "log", more=secured) as server:
        assert server.url.startswith("https://")
        trusted = ssl.create_default_context(cafile=str(certificate))
        with optcomp.Client(server.url, home.tokens["ada"], verify=trusted) as client:
            assert client.datasets() == ["survey"]
        with optcomp.Client(server.url, home.tokens["ada"], retries=0) as client, pytest.raises(NotServed):
            client.datasets()
        server.stop()
        assert server.exit_code == 0


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
