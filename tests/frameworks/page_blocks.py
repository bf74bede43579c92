"""Runs the blocks of the page on training that belong to one framework, and compares what they print."""

from __future__ import annotations

import contextlib
import io
import re
from pathlib import Path

PAGE = Path(__file__).parents[2] / "docs" / "training.md"
_BLOCK = re.compile(r"^```python ([\w-]+)\n(.*?)^```\n\n```text\n(.*?)^```$", re.MULTILINE | re.DOTALL)


def blocks_of(framework: str) -> list[tuple[str, str]]:
    """Every block of a framework with what is shown below it."""
    return [(code, shown) for name, code, shown in _BLOCK.findall(PAGE.read_text(encoding="utf8")) if name == framework]


def printed_by(code: str) -> str:
    """What a block prints, as a program of its own."""
    printed = io.StringIO()
    with contextlib.redirect_stdout(printed):
        exec(compile(code, PAGE.name, "exec"), {"__name__": "__main__"})
    return printed.getvalue()


def check_page(framework: str) -> int:
    """Run all blocks of a framework; how many there are."""
    blocks = blocks_of(framework)
    for code, shown in blocks:
        assert printed_by(code) == shown
    return len(blocks)
