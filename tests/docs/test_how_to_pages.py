"""The pages for single tasks are true: their commands run, and print what is shown."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.page_scripts import ROOT, check_page

PAGES = sorted((ROOT / "docs" / "how-to").glob("*.md"))
LONGEST = 90
"""Lines: a task fits two screens."""


def _text(page: Path) -> str:
    return page.read_text(encoding="utf8")


@pytest.mark.parametrize("page", [page for page in PAGES if "```bash\n" in _text(page)], ids=lambda page: page.stem)
@pytest.mark.slow_cases("keep-one-budget", "open-a-centre")  # several programs; a server
def test_commands_print_what_is_shown(page: Path, tmp_path: Path) -> None:
    assert check_page(page, tmp_path) > 0


def test_tasks_are_short_and_named_as_such() -> None:
    """Every page whose title, length or text is not what it should be."""
    assert len(PAGES) >= 10
    assert [page.stem for page in PAGES if not _text(page).startswith("# How to ")] == []
    assert [page.stem for page in PAGES if len(_text(page).splitlines()) > LONGEST] == []
    assert [page.stem for page in PAGES if "TODO" in _text(page)] == []
