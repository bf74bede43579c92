"""Planning needs no data, so it needs nothing that reads data, adds noise or draws."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path

import optcomp
from tests.plans import every_kind

HEAVY = ("ibis", "opendp", "duckdb", "pandas", "pyarrow", "matplotlib", "sqlglot")
SCRIPT = """
import json, sys
import {module}
{run}
print(json.dumps([name for name in {heavy} if name in sys.modules]))
"""


def loaded(module: str, run: str = "") -> list[str]:
    """Which of them a fresh process has loaded after an import and some work."""
    source = SCRIPT.format(module=module, run=run, heavy=HEAVY)
    paths = os.pathsep.join([str(Path(optcomp.__file__).parents[1]), os.environ.get("PYTHONPATH", "")])
    done = subprocess.run(
        [sys.executable, "-c", source],
        capture_output=True,
        text=True,
        check=True,
        env=os.environ | {"PYTHONPATH": paths},
    )
    found: list[str] = json.loads(done.stdout.splitlines()[-1])
    return found


def test_the_planner_loads_nothing_heavy() -> None:
    assert loaded("optcomp.planner") == []
    assert loaded("optcomp.statistics") == []
    assert loaded("optcomp.interactive") == []
    assert loaded("optcomp.interactive.audit") == []


def test_working_a_plan_out_loads_nothing_heavy() -> None:
    """With conditions, and with the schema."""
    run = f"from optcomp.planner.schema import schema; schema(); plan = {every_kind()!r}; "
    run += "from optcomp.planner import make_plan, read; assert make_plan(read(plan)).lines"
    assert loaded("optcomp.planner", run) == []


def test_that_they_are_loaded_would_be_seen() -> None:
    assert loaded("optcomp.planner", "import pyarrow") == ["pyarrow"]
