"""One slot spent from two browsers and the command line at once; a server that is killed between click and answer."""

from __future__ import annotations

import os
import re
import socket
import subprocess
import sys
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import ExitStack, contextmanager
from fractions import Fraction
from pathlib import Path
from threading import Event

import pytest
from playwright.sync_api import Browser, Locator, Page, expect

import optcomp as oc
from optcomp.ledger import RequestState
from tests.system.browser.browsers import Window
from tests.system.served_centers import (
    PATIENCE,
    Home,
    killed_at_the_end,
    make_home,
    no_answer_is_stored,
    serving,
    until,
)

pytestmark = pytest.mark.slow
_ASK = [sys.executable, "-c", "from optcomp.cli.main import run; run()", "ask"]
"""The command `optcomp ask`, wherever it is installed."""


@pytest.fixture
def windows(chromium_browser: Browser) -> Iterator[list[Window]]:
    """Windows that are closed at the end; what a killed server did not answer is no complaint."""
    made: list[Window] = []
    yield made
    with ExitStack() as closing:
        for each in made:
            closing.callback(each.close)


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
    load_until_shown(page, page.locator(".figure, [role=alert]"))
    return page.locator(".figure").count() == 1


def load_until_shown(page: Page, wanted: Locator) -> None:
    """Load the page again as long as it says that what was paid is not answered yet."""
    paid = page.get_by_role("heading", name="Paid, and not answered yet")

    def is_shown() -> bool:
        expect(wanted.or_(paid).first).to_be_visible()
        if wanted.count():
            return True
        page.reload()
        return False

    until(is_shown, "a page with the answer")


def commands(url: str, token: str, go_on: Event) -> list[bool]:
    """`optcomp ask` again and again, each time as a process of its own, until one is refused; which were granted.

    After the first one it waits until a browser was granted one too.
    """
    environment = {**os.environ, "OPTCOMP_SERVER": url, "OPTCOMP_TOKEN": token}
    granted = list[bool]()
    while not granted or granted[-1]:
        question = f"count where age >= {len(granted)}"
        command = [*_ASK, "survey", question, "--epsilon", "0.2"]
        run = subprocess.run(command, env=environment, capture_output=True, text=True, timeout=PATIENCE)
        assert run.returncode == 0 or "costs 0.2 and 0 of 1 is left" in run.stderr, run.stderr
        granted.append(run.returncode == 0)
        assert go_on.wait(PATIENCE), "no browser was granted anything"
    return granted


def test_two_browsers_and_the_command_line_spend_from_one_slot(
    windows: list[Window], chromium_browser: Browser, tmp_path: Path
) -> None:
    """Five questions of 0.2 fit into a slot of 1, whoever asks them."""
    home = make_home(tmp_path)
    with serving(home.path, 2, tmp_path / "log") as server, ThreadPoolExecutor(1) as beside:
        windows += [Window(chromium_browser, server.url, java_script_enabled=scripts) for scripts in (True, False)]
        for each in windows:
            each.sign_in(home.tokens["ada"])
        go_on = Event()
        asking = beside.submit(commands, server.url, home.tokens["ada"], go_on)
        granted, going = 0, list(windows)
        until(lambda: bool(spent(home)[0]), "the first payment of a command")
        while going:
            for each in list(going):
                if pay(each.page, home):
                    granted += 1
                    go_on.set()
                else:
                    going.remove(each)
        told = asking.result(PATIENCE)
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


@contextmanager
def reserved_port() -> Iterator[int]:
    """A port for one server after another: while this socket has it, the system gives it to nobody else."""
    with socket.socket() as bound:
        bound.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)  # as the server does: both may have it
        bound.bind(("127.0.0.1", 0))
        yield int(bound.getsockname()[1])


def test_killed_between_click_and_answer(windows: list[Window], chromium_browser: Browser, tmp_path: Path) -> None:
    """Two windows, with scripts and without, ask the same: paid once, and shown after a restart and a reload."""
    home = make_home(tmp_path)
    with reserved_port() as port:
        _kill_and_restart(home, tmp_path / "log", port, windows, chromium_browser)
    total, states = spent(home)
    assert total == Fraction(1, 2)
    assert len(states) == 1
    assert states[0] != RequestState.RESERVED


def _kill_and_restart(home: Home, log: Path, port: int, windows: list[Window], chromium_browser: Browser) -> None:
    with no_answer_is_stored(home), killed_at_the_end(home.path, 1, log, port) as server:
        windows += [Window(chromium_browser, server.url, java_script_enabled=scripts) for scripts in (True, False)]
        for each in windows:
            each.sign_in(home.tokens["ada"])
        confirmation = f"/analyst/seats/{home.seat}/ask?kind=histogram&column=region&epsilon=0.5"
        for each in windows:
            each.page.goto(confirmation)
            confirmation = each.page.url  # with the key that the first window was given
        for each in windows:
            each.page.get_by_role("button", name="Pay and ask").click(no_wait_after=True)
        home.until_waiting(1)
    assert spent(home) == (Fraction(1, 2), [RequestState.RESERVED])
    with serving(home.path, 1, log, port):
        for each in windows:
            each.page.reload()
            expect(each.page.get_by_text("ε 0.5 of 1 left").first).to_be_visible()
        for each, scripts in zip(windows, (True, False), strict=True):
            answer = each.page.get_by_role("heading", name="Answer", exact=True)
            if not scripts:
                load_until_shown(each.page, answer)
            expect(answer).to_be_visible()  # with scripts the page shows it by itself
            expect(each.page.get_by_role("row", name=re.compile("south"))).to_be_visible()
            each.page.goto(confirmation)
            expect(answer).to_be_visible()


def test_a_question_is_stopped_and_stays_paid(windows: list[Window], chromium_browser: Browser, tmp_path: Path) -> None:
    """From another window, while it runs."""
    home = make_home(tmp_path, readers=1)  # who reads does not wait for the question
    with no_answer_is_stored(home), killed_at_the_end(home.path, 1, tmp_path / "log") as server:
        windows += [Window(chromium_browser, server.url) for _ in range(2)]
        for each in windows:
            each.sign_in(home.tokens["ada"])
        asks, stops = (each.page for each in windows)
        asks.goto(f"/analyst/seats/{home.seat}/ask?kind=count&epsilon=0.5")
        asks.get_by_role("button", name="Pay and ask").click(no_wait_after=True)
        home.until_waiting(1)
        stops.goto(f"/analyst/seats/{home.seat}/transcript")
        stops.get_by_role("row", name="paid, running").get_by_role("link").first.click()
        stops.get_by_role("button", name="Stop it").click()
        expect(asks.get_by_role("heading", name="Paid, and not answered yet")).to_be_visible()
        expect(asks.get_by_text("What was paid stays paid.")).to_be_visible()
        assert spent(home) == (Fraction(1, 2), [RequestState.RESERVED])
