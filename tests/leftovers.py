"""What a run of the suite leaves behind: nothing (a pytest plugin).

All temporary files of a run are below one folder, which `TMPDIR` names for every process that the run starts.  A
process that still has this `TMPDIR` at the end, or a folder that is still there, makes the run fail.
"""

from __future__ import annotations

import os
import shutil
import signal
import sys
import tempfile
import time
from collections.abc import Iterator
from contextlib import suppress
from pathlib import Path

import pytest

from tests import servers

PATIENCE = 30.0  # seconds that processes have to end after the last test; some end with the pipe to their parent
_KNOWN = ("pytest-of-", "pymp-", ".lockfile")
"""Folders of pytest, of multiprocessing in the process that is just ending, and the lock file of PostgreSQL's wheel."""
_TRACKER = "multiprocessing.resource_tracker"
"""A helper that multiprocessing starts once; it ends with this process."""
_REMOVED = ("PYTEST_ADDOPTS", "PYTHONPATH", "PYTHONDONTWRITEBYTECODE", "COVERAGE_PROCESS_START")
_COLOURS = ("FORCE_COLOR", "PY_COLORS", "GITHUB_ACTIONS")
"""Variables that make a command print colours where a test compares its output."""


@pytest.hookimpl(tryfirst=True)  # before anything makes a temporary file
def pytest_configure() -> None:
    """Give this run a temporary folder of its own, and its child interpreters a plain environment."""
    for name in [name for name in os.environ if name in (*_REMOVED, *_COLOURS) or name.startswith("COV_CORE_")]:
        del os.environ[name]
    sys.dont_write_bytecode = False  # hundreds of tests start an interpreter, which reads what others have compiled
    if "PYTEST_XDIST_WORKER" not in os.environ:
        folder = tempfile.mkdtemp(prefix="optcomp-run-")
        os.chmod(folder, 0o711)  # PostgreSQL runs as another user and must reach its data below it
        os.environ["TMPDIR"] = tempfile.tempdir = folder


@pytest.hookimpl(trylast=True)  # after the workers have ended
def pytest_sessionfinish(session: pytest.Session, exitstatus: int) -> None:
    servers.stop_all()
    if hasattr(session.config, "workerinput"):
        return
    run = Path(os.environ["TMPDIR"])
    alone = not session.config.getoption("numprocesses", None)  # this process still uses its own folders
    found = [*_processes_left(run), *(() if alone else _folders_left(run))]
    if found:
        reporter = session.config.pluginmanager.get_plugin("terminalreporter")
        if reporter is not None:
            reporter.section("left behind by the tests", red=True)
            reporter.write("".join(f"{line}\n" for line in found))
        session.exitstatus = pytest.ExitCode.TESTS_FAILED
    if not found and exitstatus in (pytest.ExitCode.OK, pytest.ExitCode.NO_TESTS_COLLECTED):
        shutil.rmtree(run, ignore_errors=True)  # kept for a look when something has failed


def _processes_left(run: Path) -> Iterator[str]:
    """Describe each process that does not end, and end it."""
    until = time.monotonic() + PATIENCE
    while processes(run) and time.monotonic() < until:
        time.sleep(0.1)
    for process, command in processes(run).items():
        yield f"process {process}: {command}"
        with suppress(ProcessLookupError):
            os.kill(process, signal.SIGKILL)


def processes(run: Path) -> dict[int, str]:
    """Return the commands of the processes that were started by this run, but for this one's tracker; Linux only."""
    variable, found = f"TMPDIR={run}".encode(), {}
    for folder in Path("/proc").glob("[0-9]*"):
        with suppress(OSError):
            mine = int(folder.name) == os.getpid()
            if not mine and variable in (folder / "environ").read_bytes().split(b"\0"):
                command = (folder / "cmdline").read_bytes().replace(b"\0", b" ").decode(errors="replace")
                if _TRACKER not in command or _parent(folder) != os.getpid():
                    found[int(folder.name)] = command
    return found


def _parent(process: Path) -> int:
    return int((process / "stat").read_text().rpartition(")")[2].split()[1])


def _folders_left(run: Path) -> Iterator[str]:
    from optcomp.statistics import remove_abandoned_folders  # here: only the end of a run needs it

    remove_abandoned_folders()  # as the next process does with the folders of those that a test has killed
    for path in sorted(run.iterdir()):
        if not path.name.startswith(_KNOWN):
            yield f"temporary file or folder {path}"
