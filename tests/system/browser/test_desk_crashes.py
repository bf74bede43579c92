"""One slot spent from two browsers and the command line at once; a server that is killed between click and answer."""

from __future__ import annotations

import os
import socket
import subprocess
import sys
import time
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from fractions import Fraction
from pathlib import Path

import pytest
from playwright.sync_api import Browser, Page, expect

import optcomp as oc
from optcomp.ledger import RequestState
from tests.system.browser.browsers import Window
from tests.system.served_centers import Home, Server, make_home, serving

SLOW = "kind=contingency&columns=place&columns=age&epsilon=0.5"
"""Takes a second: forty-five thousand cells get noise, after the debit."""


_ASK = [sys.executable, "-c", "from optcomp.cli.main import run; run()", "ask"]
"""The command `optcomp ask`, wherever it is installed."""


@pytest.fixture
def home(tmp_path: Path) -> Home:
    return make_home(tmp_path, readers=1)


@pytest.fixture
def windows(chromium_browser: Browser) -> Iterator[list[Window]]:
    """Windows that are closed at the end; what a killed server did not answer is no complaint."""
    made: list[Window] = []
    yield made
    for each in made:
        each.close()


def spent(home: Home) -> tuple[Fraction, list[RequestState]]:
    """What the ledger says: the sum, and the states of all questions."""
    with home.ledger() as ledger:
        slot = ledger.account("survey").slot(home.slot)
        return Fraction(slot.budget.spent.epsilon or 0), [each.state for each in slot.requests()]


def pay(page: Page, home: Home) -> bool:
    """Ask one more question; whether it was granted."""
    page.goto(f"/analyst/seats/{home.seat}/ask?kind=count&epsilon=0.2")
    if not page.get_by_role("button", name="Pay and ask").count():
        return False
    page.get_by_role("button", name="Pay and ask").click()
    expect(page.locator(".figure, [role=alert]").first).to_be_visible()
    return page.locator(".figure").count() == 1


def commands(url: str, token: str) -> list[bool]:
    """`optcomp ask` again and again, each time as a process of its own, until one is refused; which were granted."""
    environment = {**os.environ, "OPTCOMP_SERVER": url, "OPTCOMP_TOKEN": token}
    granted = list[bool]()
    while not granted or granted[-1]:
        question = f"count where age >= {len(granted)}"
        run = subprocess.run(
            [*_ASK, "survey", question, "--epsilon", "0.2"], env=environment, capture_output=True, text=True, timeout=60
        )
        assert run.returncode == 0 or "costs 0.2 and 0 of 1 is left" in run.stderr, run.stderr
        granted.append(run.returncode == 0)
    return granted


def test_two_browsers_and_the_command_line_spend_from_one_slot(
    home: Home, windows: list[Window], chromium_browser: Browser, tmp_path: Path
) -> None:
    """Five questions of 0.2 fit into a slot of 1, whoever asks them."""
    with serving(home.path, 2, tmp_path / "log") as server, ThreadPoolExecutor(1) as beside:
        windows += [Window(chromium_browser, server.url, java_script_enabled=scripts) for scripts in (True, False)]
        for each in windows:
            each.sign_in(home.tokens["ada"])
        asking = beside.submit(commands, server.url, home.tokens["ada"])
        granted, going = 0, list(windows)
        expect_one_answer(home)
        while going:
            for each in list(going):
                if pay(each.page, home):
                    granted += 1
                else:
                    going.remove(each)
        told = asking.result(60)
        assert sum(told) + granted == 5
        assert sum(told) > 0 < granted
        for each in windows:
            each.page.goto("/analyst")
            expect(each.page.get_by_text("ε (epsilon): 0 of 1 left")).to_be_visible()
        with oc.Client(server.url, home.tokens["ada"]) as client:
            assert "ε 0 of 1 left" in str(client.open("survey").remaining())
    total, states = spent(home)
    assert total == 1
    assert len(states) == 5
    with home.ledger() as ledger:
        assert ledger.verify().findings == ()


def expect_one_answer(home: Home) -> None:
    """Wait until the first command has paid: a process takes longer to start than a browser to click."""
    until = time.monotonic() + 60
    while not spent(home)[0]:
        assert time.monotonic() < until, "the command asked nothing"
        time.sleep(0.005)


def until_reserved(home: Home) -> None:
    """Wait until something is debited and not answered."""
    until = time.monotonic() + 30
    with home.ledger() as ledger:
        while not list(ledger.waiting()):
            assert time.monotonic() < until, "nothing was debited"
            time.sleep(0.005)


def free_port() -> int:
    with socket.socket() as listening:
        listening.bind(("127.0.0.1", 0))
        return int(listening.getsockname()[1])


def until_answered(page: Page, scripts: bool) -> None:
    """With scripts the page shows it by itself; without, somebody loads it again."""
    answer = page.get_by_role("heading", name="Answer", exact=True)
    until = time.monotonic() + 120
    while not scripts and not answer.count():
        assert time.monotonic() < until, "there is no answer"
        expect(page.get_by_role("heading", name="Paid, and not answered yet")).to_be_visible()
        page.reload()
    expect(answer).to_be_visible(timeout=120_000)


@pytest.mark.parametrize("scripts", [True, False])
def test_killed_between_click_and_answer(
    home: Home, windows: list[Window], chromium_browser: Browser, tmp_path: Path, scripts: bool
) -> None:
    """Paid once, and shown after a restart on the same home and a reload."""
    port = free_port()
    server = Server(home.path, 1, tmp_path / "log", port)
    try:
        windows.append(Window(chromium_browser, server.url, java_script_enabled=scripts))
        page = windows[0].page
        windows[0].sign_in(home.tokens["ada"])
        page.goto(f"/analyst/seats/{home.seat}/ask?{SLOW}")
        confirmation = page.url
        page.get_by_role("button", name="Pay and ask").click(no_wait_after=True)
        until_reserved(home)
    finally:
        server.kill()
    assert spent(home) == (Fraction(1, 2), [RequestState.RESERVED])
    with serving(home.path, 1, tmp_path / "log", port):
        page.reload()
        expect(page.get_by_text("ε 0.5 of 1 left").first).to_be_visible()
        until_answered(page, scripts)
        expect(page.get_by_text("numbers are shown")).to_be_visible()
        page.goto(confirmation)
        expect(page.get_by_role("heading", name="Answer", exact=True)).to_be_visible()
    total, states = spent(home)
    assert total == Fraction(1, 2)
    assert len(states) == 1
    assert states[0] != RequestState.RESERVED


def test_a_question_is_stopped_and_stays_paid(
    home: Home, windows: list[Window], chromium_browser: Browser, tmp_path: Path
) -> None:
    """From another window, while it runs."""
    server = Server(home.path, 1, tmp_path / "log")
    try:
        windows += [Window(chromium_browser, server.url) for _ in range(2)]
        for each in windows:
            each.sign_in(home.tokens["ada"])
        asks, stops = (each.page for each in windows)
        asks.goto(f"/analyst/seats/{home.seat}/ask?kind=contingency&columns=place&columns=time&epsilon=0.5")
        asks.get_by_role("button", name="Pay and ask").click(no_wait_after=True)
        until_reserved(home)
        stops.goto(f"/analyst/seats/{home.seat}/transcript")
        stops.get_by_role("row", name="paid, running").get_by_role("link").first.click()
        stops.get_by_role("button", name="Stop it").click()
        expect(asks.get_by_role("heading", name="Paid, and not answered yet")).to_be_visible()
        expect(asks.get_by_text("What was paid stays paid.")).to_be_visible()
        assert spent(home) == (Fraction(1, 2), [RequestState.RESERVED])
    finally:
        server.kill()
