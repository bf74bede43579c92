"""The demonstration that `make demo` runs."""

from __future__ import annotations

import runpy
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

from optcomp.interactive import quotas

ROOT = Path(__file__).parents[2]
EXAMPLES = ROOT / "examples"


@pytest.mark.slow
def test_demo_asks_a_real_server_and_has_it_audited() -> None:
    run = subprocess.run(
        [sys.executable, "examples/demo.py"], cwd=ROOT, capture_output=True, text=True, check=True, timeout=240
    )
    assert run.stderr == ""
    assert "asked again: the same answer, ε 0.4 of 0.5 left" in run.stdout
    assert "REFUSED" in run.stdout
    assert "slots in any order: Lyu22-1" in run.stdout
    assert "entries of the ledger: all of it is true" in run.stdout
    assert "that is the optimal total, proved by MV18-1.5" in run.stdout


@pytest.fixture
def examples(monkeypatch: pytest.MonkeyPatch) -> Iterator[Path]:
    """The folder of the scripts, for running them in this process as a new one would."""
    monkeypatch.syspath_prepend(str(EXAMPLES))
    monkeypatch.setattr(quotas, "RECORD", quotas.Record())
    yield EXAMPLES
    sys.modules.pop("people", None)  # a script beside them


def test_demo_lets_three_analysts_interleave_until_one_is_refused(
    examples: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    runpy.run_path(str(examples / "analysts.py"), run_name="__main__")
    printed = capsys.readouterr()
    assert "REFUSED mean of satisfaction at ε = 0.2" in printed.out
    assert "(1.799997, 1e-6)-differentially private" in printed.out
    assert "Lyu22-1" in printed.out
    assert printed.err == ""


def test_demo_plans_and_releases_once(examples: Path, capsys: pytest.CaptureFixture[str]) -> None:
    runpy.run_path(str(examples / "planned.py"), run_name="__main__")
    printed = capsys.readouterr().out
    assert "times smaller than with the same noise and sums of ρ" in printed
    assert printed.endswith("Asked again: the same release, nothing spent.\n")
