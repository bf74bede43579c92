"""Runs the bash blocks of a page as one program, and compares what it prints with what the page shows."""

from __future__ import annotations

import os
import re
import socket
import subprocess
import sys
from pathlib import Path

ROOT = Path(__file__).parents[1]
BLOCK = re.compile(r"^```(\w+)\n(.*?)^```$", re.MULTILINE | re.DOTALL)
MARK = "@@@ the end of a block @@@"


def check_page(page: Path, place: Path) -> int:
    """Run a page in a folder; how many blocks it has."""
    script, shown = script_of(page.read_text(encoding="utf8"))
    (place / "examples").symlink_to(ROOT / "examples")
    path = f"{Path(sys.executable).parent}{os.pathsep}{os.environ['PATH']}"
    environment = {**os.environ, "PATH": path, "COLUMNS": "100", "NO_COLOR": "1"}
    call = ["bash", "-c", script.replace("8000", str(free_port()))]
    run = subprocess.run(call, cwd=place, env=environment, capture_output=True, text=True, timeout=400)
    assert run.returncode == 0, run.stderr
    printed = run.stdout.split(MARK)[:-1]
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


def matches(shown: str, printed: str) -> bool:
    """Line by line; … in what is shown stands for anything within a line."""
    wanted, found = ([line.rstrip() for line in text.strip().splitlines()] for text in (shown, printed))
    patterns = [".*".join(map(re.escape, line.split("…"))) for line in wanted]
    return len(wanted) == len(found) and all(map(re.fullmatch, patterns, found))


def free_port() -> int:
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        return int(probe.getsockname()[1])
