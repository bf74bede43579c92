"""An expensive test without a marker fails, and so does a run that leaves a process or a folder behind."""

from __future__ import annotations

import os
import subprocess
import sys
import tempfile
from pathlib import Path

import pytest

from tests import leftovers

ROOT = Path(__file__).parents[1]
EXAMPLES = """
import subprocess, sys, time, pytest

BURN = "import time\\nwhile time.process_time() < .5: pass"

def burn():
    end = time.process_time() + 0.5
    while time.process_time() < end:
        pass

def test_cheap(): pass
def test_expensive(): burn()
def test_expensive_child(): subprocess.run([sys.executable, "-S", "-c", BURN])
@pytest.mark.slow
def test_marked(): burn()
@pytest.mark.smoke("example")
def test_example(): burn()
@pytest.mark.slow_cases("big")
@pytest.mark.parametrize("size", ["small", "big", "bigger"])
@pytest.mark.parametrize("kind", ["a", "b"])
def test_cases(kind, size): size == "big" and burn()
"""
LEAVES = """
import subprocess, sys, tempfile

def test_leaves_something():
    tempfile.mkdtemp(prefix="forgotten-")
    subprocess.Popen([sys.executable, "-S", "-c", "import time; time.sleep(600)"])
"""
TRACKED = """
from multiprocessing import shared_memory

def test_uses_shared_memory():
    memory = shared_memory.SharedMemory(create=True, size=1)
    memory.close()
    memory.unlink()
"""
CONFTEST = (
    "pytest_plugins = ['tests.tiers', 'tests.leftovers']\nfrom tests import leftovers\nleftovers.PATIENCE = 0.1\n"
)


def run(folder: Path, text: str, *options: str) -> tuple[int, str]:
    """Run a file of tests under the two plugins; return the exit code and what was printed."""
    (folder / "test_file.py").write_text(text)
    (folder / "conftest.py").write_text(CONFTEST)
    (folder / "pytest.ini").write_text(
        f"[pytest]\npythonpath = {ROOT}\nprocessor_limit = 0.05\nmarkers =\n  slow\n  slow_cases\n  smoke\n"
    )
    command = [sys.executable, "-m", "pytest", "-rA", "-p", "no:cacheprovider", *options, str(folder)]
    environment = {**os.environ, "TMPDIR": str(folder)}
    environment.pop("PYTEST_XDIST_WORKER", None)
    done = subprocess.run(
        command, cwd=folder, env=environment, capture_output=True, text=True, timeout=300, check=False
    )
    return done.returncode, done.stdout


@pytest.mark.slow
def test_what_is_expensive_and_not_marked_fails(tmp_path: Path) -> None:
    code, printed = run(tmp_path, EXAMPLES, "--times", "-n0")
    assert code == 1
    failed = {line.split()[1].partition("::")[2] for line in printed.splitlines() if line.startswith("FAILED ")}
    assert failed == {"test_expensive", "test_expensive_child"}
    assert "an unmarked test may use 0.05 s" in printed
    assert "time per folder" in printed
    listed = printed.partition("above the limit of processor time")[2].partition("time per folder")[0]
    assert {line.partition("::")[2] for line in listed.splitlines() if "::" in line} == failed


@pytest.mark.slow
def test_the_fast_tier_has_everything_that_is_not_slow(tmp_path: Path) -> None:
    code, printed = run(tmp_path, EXAMPLES, "-m", "not slow", "--collect-only", "-q", "-n0")
    assert code == 0
    chosen = {line.partition("::")[2] for line in printed.splitlines() if "::" in line}
    cases = {f"test_cases[{kind}-{size}]" for kind in "ab" for size in ("small", "bigger")}
    assert chosen == {"test_cheap", "test_expensive", "test_expensive_child", "test_example", *cases}


@pytest.mark.slow
@pytest.mark.parametrize("workers", ["0", "2"])
def test_what_is_left_behind_makes_a_run_fail(workers: str, tmp_path: Path) -> None:
    code, printed = run(tmp_path, LEAVES, "-n", workers)
    assert code == 1
    left = printed.partition("left behind by the tests")[2]
    assert "time.sleep(600)" in left
    assert ("forgotten-" in left) == (workers != "0")  # without workers, pytest's own process still uses its folders
    assert "PASSED test_file.py::test_leaves_something" in printed


@pytest.mark.slow
@pytest.mark.parametrize("workers", ["0", "2"])
def test_a_helper_that_ends_with_the_run_is_not_left_behind(workers: str, tmp_path: Path) -> None:
    code, printed = run(tmp_path, TRACKED, "-n", workers)
    assert code == 0, printed


def test_processes_of_a_run_are_found(tmp_path: Path) -> None:
    environment = {**os.environ, "TMPDIR": str(tmp_path)}
    with subprocess.Popen(["sleep", "600"], env=environment) as process:
        try:
            assert process.pid in leftovers.processes(tmp_path)
        finally:
            process.kill()
    assert leftovers.processes(tmp_path) == {}


def test_child_interpreters_get_a_plain_environment() -> None:
    assert not {"PYTEST_ADDOPTS", "PYTHONPATH", "COVERAGE_PROCESS_START"} & set(os.environ)
    assert Path(tempfile.gettempdir()).name.startswith("optcomp-run-")
