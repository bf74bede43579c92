"""Runs the bash blocks of a page as one program, and compares what it prints with what the page shows.

Bash is real.  `optcomp` is a short script that asks this process to run the command, so that a page does not start an
interpreter, and import everything again, for each of its lines.  Only `optcomp serve` is the installed executable.
"""

from __future__ import annotations

import json
import os
import re
import signal
import socket
import subprocess
import sys
import time
from collections.abc import Iterator
from contextlib import chdir, contextmanager, suppress
from pathlib import Path
from tempfile import TemporaryDirectory, TemporaryFile

from tests.unit.cli.in_process import invoke

ROOT = Path(__file__).parents[1]
BLOCK = re.compile(r"^```(\w+)\n(.*?)^```$", re.MULTILINE | re.DOTALL)
MARK = "@@@ the end of a block @@@"
PATIENCE = 400.0  # seconds after which a page that does not end is an error
_PLAIN = {"COLUMNS": "100", "NO_COLOR": "1"}
_STARTED = re.compile(r"^until \[ -s (\w+) \]; do sleep [\d.]+; done$", re.MULTILINE)
"""Where a page waits for its server, which writes its address to a file."""

_COMMAND = """#!{python} -IS
import json, os, socket, sys
if sys.argv[1:2] == ["serve"]:
    os.execv({executable!r}, [{executable!r}, *sys.argv[1:]])
with socket.socket(socket.AF_UNIX) as line:
    line.connect({address!r})
    text = sys.stdin.read() if "-" in sys.argv else ""
    line.sendall(json.dumps([sys.argv[1:], text, os.getcwd(), dict(os.environ)]).encode() + b"\\n")
    code, printed, complaint = json.loads(b"".join(iter(lambda: line.recv(65536), b"")))
sys.stdout.buffer.write(printed.encode())
sys.stdout.flush()
sys.stderr.buffer.write(complaint.encode())
sys.exit(code)
"""
"""`optcomp` of a page: what it was given goes to the test's process, and what comes back is printed."""


def check_page(page: Path, place: Path) -> int:
    """Run a page in a folder; return how many blocks it has."""
    script, shown = script_of(page.read_text(encoding="utf8"))
    (place / "examples").symlink_to(ROOT / "examples")
    printed = run_script(with_any_port(script), place).split(MARK)[:-1]
    assert len(printed) == len(shown)
    for wanted, found in zip(shown, printed, strict=True):
        assert matches(wanted, found) or not wanted, f"shown:\n{wanted}\nprinted:\n{found}"
    return len(shown)


def script_of(page: str) -> tuple[str, list[str]]:
    """All bash blocks of a page as one program, and what is shown below each."""
    blocks = BLOCK.findall(page)
    parts, shown = [], []
    for (kind, text), (next_kind, output) in zip(blocks, [*blocks[1:], ("", "")], strict=True):
        if kind == "bash":
            parts.append(f"{text}\necho\necho '{MARK}'\n")
            shown.append(output if next_kind == "text" else "")
    return "set -eu\n" + "".join(parts), shown


def with_any_port(script: str) -> str:
    """The script with servers on ports that they choose themselves, read off the address that they write."""
    script = script.replace("--port 8000", "--port 0").replace("localhost:8000", "localhost:$port_of_server")
    found = r"port_of_server=$(sed -nE 's|.*https?://127\.0\.0\.1:([0-9]+).*|\1|p' {})"
    return _STARTED.sub(lambda waiting: f"{waiting[0]}\n{found.format(waiting[1])}", script)


def matches(shown: str, printed: str) -> bool:
    """Line by line; … in what is shown stands for anything within a line."""
    wanted, found = ([line.rstrip() for line in text.strip().splitlines()] for text in (shown, printed))
    patterns = [".*".join(map(re.escape, line.split("…"))) for line in wanted]
    return len(wanted) == len(found) and all(map(re.fullmatch, patterns, found))


def run_script(script: str, place: Path) -> str:
    """Run a program of bash in a folder, and the commands of optcomp in it here; return what it prints."""
    with (
        TemporaryDirectory() as tools,
        _listener(Path(tools)) as listener,
        TemporaryFile("w+", encoding="utf8") as printed,
        TemporaryFile("w+", encoding="utf8") as complaints,
    ):
        path = os.pathsep.join([tools, str(Path(sys.executable).parent), os.environ["PATH"]])
        running = subprocess.Popen(
            ["bash", "-c", script],
            cwd=place,
            env={**os.environ, **_PLAIN, "PATH": path},
            stdin=subprocess.DEVNULL,
            stdout=printed,
            stderr=complaints,
            start_new_session=True,
        )
        try:
            _run_commands(listener, running)
        finally:
            with suppress(ProcessLookupError):
                os.killpg(running.pid, signal.SIGKILL)  # with a server that the page has started and not ended
            running.wait()
        for stream in (printed, complaints):
            stream.seek(0)
        output = printed.read()
        assert running.returncode == 0, f"printed:\n{output}\ncomplaints:\n{complaints.read()}"
    return output


@contextmanager
def _listener(tools: Path) -> Iterator[socket.socket]:
    """A socket for the script `optcomp` in this folder."""
    address, script = tools / "socket", tools / "optcomp"
    executable = Path(sys.executable).with_name("optcomp")
    text = _COMMAND.format(python=sys.executable, executable=str(executable), address=str(address))
    script.write_text(text, encoding="utf8")
    script.chmod(0o700)
    with socket.socket(socket.AF_UNIX) as listener:
        listener.bind(str(address))
        listener.listen()
        listener.settimeout(0.05)
        yield listener


def _run_commands(listener: socket.socket, running: subprocess.Popen[bytes]) -> None:
    """Run commands that come by this socket, until a process has ended."""
    until = time.monotonic() + PATIENCE
    while running.poll() is None:
        assert time.monotonic() < until, f"the script did not end within {PATIENCE:g} seconds"
        with suppress(TimeoutError):
            caller, _ = listener.accept()
            with caller:
                caller.settimeout(PATIENCE)
                _run_command(caller)


def _run_command(caller: socket.socket) -> None:
    """Run one command in the folder and with the environment of its caller; send its exit code and what it prints."""
    with caller.makefile("r", encoding="utf8") as received:
        words, text, folder, given = json.loads(received.readline())
    with chdir(folder):
        done = invoke(words, text, env={**dict.fromkeys(os.environ), **given})
    caller.sendall(json.dumps([done.exit_code, done.stdout, done.stderr]).encode())
