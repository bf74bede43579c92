"""The page on training: the table of published runs is what the benchmark prints now, and names what exists."""

from __future__ import annotations

import re
from pathlib import Path

from bench.training.claims import CLAIM_HEADER, CLAIMS, REPORTS, claim_rows, table
from optcomp.training import ALGORITHMS, BATCHES, NEIGHBOURS
from tests.frameworks.page_blocks import blocks_of

ROOT = Path(__file__).parents[2]
PAGE = (ROOT / "docs" / "training.md").read_text(encoding="utf8")


def _between(name: str) -> str:
    return PAGE.partition(f"<!-- {name} -->\n")[2].partition(f"\n<!-- end of {name} -->")[0]


def test_published_runs_are_certified_as_shown() -> None:
    """Run `python -m bench.training.claims --write` when this fails."""
    assert len(CLAIMS) >= 20
    assert _between("claims") == table(CLAIM_HEADER, claim_rows())


def test_every_report_is_shown() -> None:
    rows = _between("reports").splitlines()[2:]
    assert [row.split(" | ")[0].removeprefix("| ") for row in rows] == [report.where for report in REPORTS]


def test_targets_and_kinds_are_real() -> None:
    makefile = (ROOT / "Makefile").read_text(encoding="utf8")
    for target in re.findall(r"`make ([\w-]+)`", PAGE):
        assert f"\n{target}:" in makefile
    known = {kind.name for kind in BATCHES} | {kind.name for kind in NEIGHBOURS} | {kind.name for kind in ALGORITHMS}
    assert set(re.findall(r"--(?:batches|neighbours|algorithm) ([\w-]+)", PAGE)) <= known


def test_every_framework_has_blocks_and_they_are_what_its_checks_run() -> None:
    """Each is run by `make test-…`, where the framework is; here it is only read."""
    for framework in ("opacus", "jax-privacy", "flower"):
        blocks = blocks_of(framework)
        checks = (ROOT / "tests" / "frameworks" / f"{framework.replace('-', '_')}_checks.py").read_text(encoding="utf8")
        assert f'assert check_page("{framework}") == {len(blocks)}\n' in checks
        assert f"\ntest-{framework}:" in (ROOT / "Makefile").read_text(encoding="utf8")
        for code, shown in blocks:
            compile(code, "training.md", "exec")
            assert "optcomp.interop" in code
            assert shown
    assert len(re.findall(r"^```python [\w-]+$", PAGE, re.MULTILINE)) == 4
    assert not re.findall(r"^    (?:from|import) ", PAGE, re.MULTILINE)
