"""The installed command as a process of its own: streams, exit codes, pipes, start-up."""

from __future__ import annotations

import json
import os
import subprocess
import sys
import time
from pathlib import Path

import pytest

from optcomp.cli import progress

EXAMPLES = Path(__file__).parents[3] / "examples"
COMMAND = [sys.executable, "-c", "from optcomp.cli.main import run; run()"]


def process(*args: str, text: str = "", **env: str) -> subprocess.CompletedProcess[str]:
    kept = {name: value for name, value in os.environ.items() if name not in ("FORCE_COLOR", "GITHUB_ACTIONS")}
    return subprocess.run(
        [*COMMAND, *args],
        input=text,
        capture_output=True,
        encoding="utf-8",
        timeout=120,
        check=False,
        env=kept | {"PYTHONIOENCODING": "utf-8"} | env,
    )


def test_compose_from_standard_input() -> None:
    done = process("compose", "--from", "-", "--delta", "1e-6", "--json", text="epsilon,count\n0.1,50\n")
    assert (done.returncode, done.stderr) == (0, "")
    assert json.loads(done.stdout)["count"] == 50


def test_example_release() -> None:
    done = process("compose", "--from", str(EXAMPLES / "release.csv"), "--delta", "1e-6")
    assert (done.returncode, done.stderr) == (0, "")
    assert "152" in done.stdout
    assert "\x1b" not in done.stdout


def test_bad_input_is_one_line_and_two() -> None:
    done = process("compose", "0.1y50", "--delta", "1e-6")
    assert (done.returncode, done.stdout) == (2, "")
    assert done.stderr == ("optcomp: item '0.1y50': epsilon: must be a number such as 0.1, 1e-9 or 1/3, got '0.1y50'\n")


def test_plot_without_a_display(tmp_path: Path) -> None:
    path = tmp_path / "out.png"
    done = process("compare", "0.1x30", "--delta", "1e-6", "--plot", str(path), DISPLAY="", MPLBACKEND="TkAgg")
    assert (done.returncode, done.stderr) == (0, "")
    assert path.read_bytes().startswith(b"\x89PNG")


def test_narrow_encoding() -> None:
    done = process("theorems", "MV18-1.5", "--json", PYTHONIOENCODING="ascii")
    assert (done.returncode, done.stderr) == (0, "")
    assert "ε" in json.loads(done.stdout)["statement"]
    assert process("theorems", PYTHONIOENCODING="ascii").returncode == 0


def test_narrow_encoding_spells_greek_letters() -> None:
    done = process("compose", "0.1x5", "--delta", "1e-6", PYTHONIOENCODING="ascii")
    assert "| total epsilon     | " in done.stdout
    assert "\\u03b5" not in done.stdout
    assert len({len(line) for line in done.stdout.splitlines()}) == 1
    assert "write epsilon or epsilon,delta" in process("compose", "x", "--delta", "0", PYTHONIOENCODING="ascii").stderr


@pytest.mark.skipif(not Path("/dev/full").exists(), reason="needs a device that is always full")
@pytest.mark.parametrize("args", [["theorems"], ["theorems", "--json"], ["--help"]])
def test_full_device_is_one_line(args: list[str]) -> None:
    with Path("/dev/full").open("wb") as full:
        done = subprocess.run([*COMMAND, *args], stdout=full, stderr=subprocess.PIPE, timeout=120, check=False)
    assert done.returncode == 2
    assert done.stderr == b"optcomp: the output cannot be written: No space left on device\n"


@pytest.mark.skipif(os.name != "posix", reason="closes a file descriptor")
def test_closed_output_is_one_line() -> None:
    call = [sys.executable, "-c", "import os, sys; os.close(1); os.execv(sys.executable, sys.argv[1:])"]
    done = subprocess.run([*call, *COMMAND, "theorems"], stderr=subprocess.PIPE, timeout=120, check=False)
    assert (done.returncode, done.stderr) == (2, b"optcomp: the output is closed\n")


def test_closed_pipe_is_silent() -> None:
    for args in (["theorems"], ["theorems", "--json"]):
        with subprocess.Popen([*COMMAND, *args], stdout=subprocess.PIPE, stderr=subprocess.PIPE) as done:
            assert done.stdout is not None
            assert done.stderr is not None
            done.stdout.close()
            assert done.stderr.read() == b""


def test_completion_script() -> None:
    done = process(text="", _OPTCOMP_COMPLETE="complete_bash", COMP_WORDS="optcomp compose --meth", COMP_CWORD="2")
    assert done.stdout.split() == ["--method"]


def test_completion_shows_whole_help_texts() -> None:
    done = process(text="", _OPTCOMP_COMPLETE="complete_zsh", _TYPER_COMPLETE_ARGS="optcomp compose --method")
    assert "murtagh-vadhan" in done.stdout
    assert "{" not in done.stdout


@pytest.mark.parametrize(
    "args",
    [
        ["compare", "0.1x5", "--delta", "1e-6", "--plot", "out.png"],
        ["show", "0.1x5", "--plot", "out.svg"],
        ["figures", "out", "--only", "counts"],
    ],
    ids=lambda args: str(args[0]),
)
def test_a_missing_extra_is_one_line(args: list[str], tmp_path: Path) -> None:
    """And nothing is written, nor computed."""
    without = "import sys; sys.modules['matplotlib'] = None; from optcomp.cli.main import run; run()"
    call = [sys.executable, "-c", without, *args]
    done = subprocess.run(call, capture_output=True, text=True, timeout=120, check=False, cwd=tmp_path)
    assert (done.returncode, done.stdout) == (2, "")
    assert done.stderr == "optcomp: matplotlib is missing: install optcomp[plots]\n"
    assert list(tmp_path.iterdir()) == []


def test_progress_only_on_a_terminal(monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> None:
    monkeypatch.setattr(progress, "PATIENCE", 0.01)
    with progress.working("composing") as tell:
        tell("half", 0.5)
        time.sleep(0.05)
    assert capsys.readouterr() == ("", "")


def test_progress_on_a_terminal(monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> None:
    monkeypatch.setenv("TTY_COMPATIBLE", "1")
    monkeypatch.setattr(progress, "PATIENCE", 0.01)
    with progress.working("composing") as tell:
        tell("half a table", 0.5)
        time.sleep(0.3)
    shown = capsys.readouterr()
    assert shown.out == ""
    assert "half a table" in shown.err
    assert "50%" in shown.err


def test_quick_work_shows_no_bar(monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> None:
    monkeypatch.setenv("TTY_COMPATIBLE", "1")
    with progress.working("composing", follow=False):
        pass
    assert "composing" not in capsys.readouterr().err
