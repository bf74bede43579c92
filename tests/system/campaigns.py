"""Campaigns in an interpreter of their own: workers are forked from it, and it must have no threads."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]


def campaign(name: str, *arguments: str) -> tuple[int, str]:
    """The exit code and everything that was printed."""
    command = [sys.executable, "-m", f"tests.campaign.{name}", *arguments]
    ended = subprocess.run(command, cwd=ROOT, capture_output=True, text=True, timeout=600, check=False)
    return ended.returncode, ended.stdout + ended.stderr
