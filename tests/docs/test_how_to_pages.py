"""The pages for single tasks are true: their commands run, and print what is shown."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.page_scripts import BLOCK, ROOT, check_page

PAGES = sorted((ROOT / "docs" / "how-to").glob("*.md"))
LONGEST = 90
"""Lines: a task fits two screens."""


def _kinds(page: Path) -> list[str]:
    return [kind for kind, _ in BLOCK.findall(page.read_text(encoding="utf8"))]


@pytest.mark.parametrize("page", [page for page in PAGES if "bash" in _kinds(page)], ids=lambda page: page.stem)
def test_commands_print_what_is_shown(page: Path, tmp_path: Path) -> None:
    assert check_page(page, tmp_path) > 0


@pytest.mark.parametrize("page", PAGES, ids=lambda page: page.stem)
def test_a_task_is_short_and_named_as_one(page: Path) -> None:
    lines = page.read_text(encoding="utf8").splitlines()
    assert lines[0].startswith("# How to ")
    assert len(lines) <= LONGEST
    assert "TODO" not in "\n".join(lines)
