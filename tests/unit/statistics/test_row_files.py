"""Working folders: private, and gone after their process however it ended."""

from __future__ import annotations

import os
import subprocess
import sys
import tempfile
from pathlib import Path

import pytest

from optcomp.statistics.row_files import WorkingFolder, remove_abandoned_folders

_HOLDS = """
from optcomp.statistics.row_files import WorkingFolder
folder = WorkingFolder()
print(folder.name, flush=True)
input()
"""
"""Makes a working folder and keeps it until a line comes."""
_SKIPS = """
import os
from optcomp.statistics import remove_own_folders
from optcomp.statistics.row_files import WorkingFolder
folders = [WorkingFolder() for _ in range(3)]
assert all(os.path.isdir(folder.name) for folder in folders)
remove_own_folders()
os._exit(0)
"""
"""Ends without exit handlers, as a process of the centre does."""


@pytest.fixture
def temporary(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A temporary directory for this test alone."""
    monkeypatch.setenv("TMPDIR", str(tmp_path))
    monkeypatch.setattr(tempfile, "tempdir", str(tmp_path))
    return tmp_path


def test_a_folder_is_private_and_goes_with_its_object(temporary: Path) -> None:
    folder = WorkingFolder()
    assert Path(folder.name).parent == temporary
    assert os.stat(folder.name).st_mode & 0o777 == 0o700
    remove_abandoned_folders()  # this process holds it
    assert Path(folder.name).is_dir()
    del folder
    assert not list(temporary.iterdir())


def test_folders_of_a_process_that_skips_exit_handlers(temporary: Path) -> None:
    """In a process of its own: others of this one are in use."""
    subprocess.run([sys.executable, "-c", _SKIPS], check=True)
    assert not list(temporary.iterdir())


def test_the_folder_of_a_killed_process_is_removed_by_the_next(temporary: Path) -> None:
    command = [sys.executable, "-c", _HOLDS]
    with subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True) as process:
        assert process.stdout is not None
        held = Path(process.stdout.readline().strip())
        (held / "spilled").write_text("rows")
        first = WorkingFolder()
        assert held.is_dir()  # while its process runs
        process.kill()
        process.wait()
    second = WorkingFolder()
    assert sorted(temporary.iterdir()) == sorted([Path(first.name), Path(second.name)])
