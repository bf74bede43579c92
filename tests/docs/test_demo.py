"""The demonstration that `make demo` runs."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

ROOT = Path(__file__).parents[2]


def test_demo_prints_the_total_and_its_theorem() -> None:
    run = subprocess.run(
        [sys.executable, "examples/demo.py"], cwd=ROOT, capture_output=True, text=True, check=True, timeout=120
    )
    assert "MV18-1.5" in run.stdout
    assert "optimal" in run.stdout
    assert run.stderr == ""


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
