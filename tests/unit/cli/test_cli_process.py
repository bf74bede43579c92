"""The installed executable as a process of its own; then streams, encodings and completion in this process."""

from __future__ import annotations

import errno
import json
import os
import signal
import subprocess
import sys
import threading
import time
from contextlib import suppress
from pathlib import Path
from typing import TextIO

import pytest

from optcomp.cli import progress
from optcomp.cli.main import app
from tests.unit.cli.in_process import invoke

EXAMPLES = Path(__file__).parents[3] / "examples"
EXECUTABLE = str(Path(sys.executable).with_name("optcomp"))
PATIENCE = 120  # seconds after which a process that does not end is an error
FULL = Path("/dev/full")

needs_full_device = pytest.mark.skipif(not FULL.exists(), reason="needs a device that is always full")


# Five commands through the executable: entry point, standard input, exit codes, pipes and interrupts.


def test_standard_input_and_a_plot_without_a_display(tmp_path: Path) -> None:
    path = tmp_path / "out.png"
    done = subprocess.run(
        [EXECUTABLE, "compare", "--from", "-", "--delta", "1e-6", "--json", "--plot", str(path)],
        input="epsilon,count\n0.1,30\n",
        capture_output=True,
        encoding="utf-8",
        timeout=PATIENCE,
        check=False,
        env={**os.environ, "PYTHONIOENCODING": "utf-8", "DISPLAY": "", "MPLBACKEND": "TkAgg"},
    )
    assert (done.returncode, done.stderr) == (0, "")
    assert json.loads(done.stdout)["count"] == 30
    assert path.read_bytes().startswith(b"\x89PNG")


def test_bad_input_is_one_line_and_two() -> None:
    done = subprocess.run(
        [EXECUTABLE, "compose", "0.1y50", "--delta", "1e-6"],
        capture_output=True,
        encoding="utf-8",
        timeout=PATIENCE,
        check=False,
    )
    assert (done.returncode, done.stdout) == (2, "")
    assert done.stderr == ("optcomp: item '0.1y50': epsilon: must be a number such as 0.1, 1e-9 or 1/3, got '0.1y50'\n")


def test_closed_pipe_is_silent() -> None:
    with subprocess.Popen([EXECUTABLE, "theorems"], stdout=subprocess.PIPE, stderr=subprocess.PIPE) as running:
        assert running.stdout is not None
        running.stdout.close()
        assert running.communicate(timeout=PATIENCE)[1] == b""
    assert running.returncode == 1


@needs_full_device
def test_full_device_is_one_line() -> None:
    with FULL.open("wb") as full:
        done = subprocess.run(
            [EXECUTABLE, "theorems"], stdout=full, stderr=subprocess.PIPE, timeout=PATIENCE, check=False
        )
    assert done.returncode == 2
    assert done.stderr == b"optcomp: the output cannot be written: No space left on device\n"


@pytest.mark.skipif(os.name != "posix", reason="needs a named pipe")
def test_an_interrupt_ends_a_command_without_a_traceback(tmp_path: Path) -> None:
    """The command waits for a named pipe: once somebody can write to it, the command is reading."""
    pipe = tmp_path / "mechanisms.csv"
    os.mkfifo(pipe)
    # a shell may start its background jobs, such as this test run, without a handler of this signal
    listening = (
        "import os, signal, sys; signal.signal(signal.SIGINT, signal.SIG_DFL); os.execv(sys.argv[1], sys.argv[1:])"
    )
    call = [sys.executable, "-c", listening, EXECUTABLE, "compose", "--from", str(pipe), "--delta", "1e-6"]
    with subprocess.Popen(call, stdout=subprocess.PIPE, stderr=subprocess.PIPE) as running:
        try:
            writing = _opened(pipe, running)
            try:
                running.send_signal(signal.SIGINT)
                printed, complaint = running.communicate(timeout=PATIENCE)
            finally:
                os.close(writing)
        finally:
            running.kill()
    assert (running.returncode, printed, complaint.strip()) == (130, b"", b"")


def _opened(pipe: Path, reader: subprocess.Popen[bytes]) -> int:
    """Open a named pipe for writing, as soon as this process reads from it."""
    until = time.monotonic() + PATIENCE
    while True:
        try:
            return os.open(pipe, os.O_WRONLY | os.O_NONBLOCK)
        except OSError as error:
            if error.errno != errno.ENXIO:  # nobody reads yet
                raise
        assert reader.poll() is None, "the command ended before it read"
        assert time.monotonic() < until, "the command did not read"
        time.sleep(0.01)


# The same in this process.


def ended(words: list[str], stdout: TextIO | None, monkeypatch: pytest.MonkeyPatch) -> object:
    """Return the exit code of a command that writes to this stream."""
    monkeypatch.setattr(sys, "stdout", stdout)
    with pytest.raises(SystemExit) as end:
        app(words, prog_name="optcomp")
    if stdout is not None:
        with suppress(OSError):  # what is left in its buffer cannot be written either
            stdout.close()
    return end.value.code


@needs_full_device
@pytest.mark.parametrize("words", [["theorems"], ["theorems", "--json"], ["--help"]])
def test_output_that_cannot_be_written_is_one_line(
    words: list[str], monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    assert ended(words, FULL.open("w", encoding="utf8"), monkeypatch) == 2
    assert capsys.readouterr().err == "optcomp: the output cannot be written: No space left on device\n"


@pytest.mark.parametrize("words", [["theorems"], ["theorems", "--json"], ["--help"]])
def test_output_that_nobody_reads_is_silent(
    words: list[str], monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    reading, writing = os.pipe()
    os.close(reading)
    assert ended(words, open(writing, "w", encoding="utf8"), monkeypatch) == 1  # noqa: SIM115 - `ended` closes it
    assert capsys.readouterr().err == ""


def test_closed_output_is_one_line(monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> None:
    """Python has None in the place of a stream that is closed when it starts."""
    assert ended(["theorems"], None, monkeypatch) == 2
    assert capsys.readouterr().err == "optcomp: the output is closed\n"


def test_example_release() -> None:
    done = invoke(["compose", "--from", str(EXAMPLES / "release.csv"), "--delta", "1e-6"])
    assert (done.exit_code, done.stderr) == (0, "")
    assert "152" in done.stdout
    assert "\x1b" not in done.stdout


def test_narrow_encoding() -> None:
    done = invoke("theorems MV18-1.5 --json", charset="ascii")
    assert (done.exit_code, done.stderr) == (0, "")
    assert "ε" in json.loads(done.stdout)["statement"]
    assert invoke("theorems", charset="ascii").exit_code == 0


def test_narrow_encoding_spells_greek_letters() -> None:
    done = invoke("compose 0.1x5 --delta 1e-6", charset="ascii")
    assert "| total epsilon     | " in done.stdout
    assert "\\u03b5" not in done.stdout
    assert len({len(line) for line in done.stdout.splitlines()}) == 1
    assert "write epsilon or epsilon,delta" in invoke("compose x --delta 0", charset="ascii").stderr


def test_completion_script() -> None:
    asked = {"_OPTCOMP_COMPLETE": "complete_bash", "COMP_WORDS": "optcomp compose --meth", "COMP_CWORD": "2"}
    assert invoke([], env=asked).stdout.split() == ["--method"]


def test_completion_shows_whole_help_texts() -> None:
    asked = {"_OPTCOMP_COMPLETE": "complete_zsh", "_TYPER_COMPLETE_ARGS": "optcomp compose --method"}
    done = invoke([], env=asked)
    assert "murtagh-vadhan" in done.stdout
    assert "{" not in done.stdout


@pytest.mark.parametrize(
    "command",
    ["compare 0.1x5 --delta 1e-6 --plot out.png", "show 0.1x5 --plot out.svg", "figures out --only counts"],
    ids=lambda command: str(command).split()[0],
)
def test_a_missing_extra_is_one_line(command: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """And nothing is written, nor computed."""
    monkeypatch.chdir(tmp_path)
    monkeypatch.setitem(sys.modules, "matplotlib", None)
    done = invoke(command)
    assert (done.exit_code, done.stdout) == (2, "")
    assert done.stderr == "optcomp: matplotlib is missing: install optcomp[plots]\n"
    assert list(tmp_path.iterdir()) == []


# The bar appears when a timer ends: tests wait for the timer, and not for some time.


def timers() -> set[threading.Timer]:
    return {thread for thread in threading.enumerate() if isinstance(thread, threading.Timer)}


def test_progress_only_on_a_terminal(monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> None:
    monkeypatch.setattr(progress, "PATIENCE", 0.01)
    before = timers()
    with progress.working("composing") as tell:
        tell("half", 0.5)
        assert timers() <= before  # none that would show a bar later
    assert capsys.readouterr() == ("", "")


def test_progress_on_a_terminal(monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> None:
    monkeypatch.setenv("TTY_COMPATIBLE", "1")
    monkeypatch.setattr(progress, "PATIENCE", 0.01)
    before = timers()
    with progress.working("composing") as tell:
        tell("half a table", 0.5)
        for timer in timers() - before:
            timer.join(PATIENCE)
            assert not timer.is_alive(), "the bar did not appear"
    shown = capsys.readouterr()
    assert shown.out == ""
    assert "half a table" in shown.err
    assert "50%" in shown.err


def test_quick_work_shows_no_bar(monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> None:
    monkeypatch.setenv("TTY_COMPATIBLE", "1")
    monkeypatch.setattr(progress, "PATIENCE", 3600)  # on a busy machine nothing else is quick for certain
    before = timers()
    with progress.working("composing", follow=False):
        (timer,) = timers() - before
    assert not timer.is_alive()
    assert "composing" not in capsys.readouterr().err
