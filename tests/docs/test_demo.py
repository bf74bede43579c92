"""The demonstration that `make demo` runs."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

ROOT = Path(__file__).parents[2]


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


def test_demo_lets_three_analysts_interleave_until_one_is_refused() -> None:
    run = subprocess.run(
        [sys.executable, "examples/analysts.py"], cwd=ROOT, capture_output=True, text=True, check=True, timeout=120
    )
    assert "REFUSED mean of satisfaction at ε = 0.2" in run.stdout
    assert "(1.799997, 1e-6)-differentially private" in run.stdout
    assert "Lyu22-1" in run.stdout
    assert run.stderr == ""


def test_demo_plans_and_releases_once() -> None:
    run = subprocess.run(
        [sys.executable, "examples/planned.py"], cwd=ROOT, capture_output=True, text=True, check=True, timeout=120
    )
    assert "times smaller than with the same noise and sums of ρ" in run.stdout
    assert run.stdout.endswith("Asked again: the same release, nothing spent.\n")
