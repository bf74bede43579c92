"""Planning needs no data, so it needs nothing that reads data, adds noise or draws."""

from __future__ import annotations

import json
import subprocess
import sys

from tests.plans import every_kind

HEAVY = ("ibis", "opendp", "duckdb", "pandas", "pyarrow", "matplotlib", "sqlglot")
TELL = f"import json, sys; print(json.dumps([name for name in {HEAVY} if name in sys.modules]))"


def loaded(*steps: str) -> list[list[str]]:
    """Which of them a fresh process has loaded after each of these steps."""
    program = "\n".join(f"{step}\n{TELL}" for step in steps)
    done = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, check=True)
    return [json.loads(line) for line in done.stdout.splitlines()]


def test_the_planner_loads_nothing_heavy() -> None:
    """One package after another: what one of them loaded would still be there after the last."""
    packages = ("planner", "statistics", "interactive", "interactive.audit")
    assert loaded(*(f"import optcomp.{package}" for package in packages)) == [[], [], [], []]


def test_working_a_plan_out_loads_nothing_heavy() -> None:
    """With conditions, and with the schema."""
    schema = "from optcomp.planner.plan_schema import schema; schema()"
    run = f"from optcomp.planner import make_plan, read; assert make_plan(read({every_kind()!r})).lines"
    assert loaded(schema, run) == [[], []]


def test_that_they_are_loaded_would_be_seen() -> None:
    assert loaded("import optcomp.planner", "import pyarrow") == [[], ["pyarrow"]]
