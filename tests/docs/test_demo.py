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
