"""Puts the documentation into the wheel, so that an installed server shows it; everything else is in pyproject.toml."""

from __future__ import annotations

import importlib.util
from pathlib import Path

from setuptools import setup
from setuptools.command.build_py import build_py

ROOT = Path(__file__).parent
PAGES = ROOT / "src" / "optcomp" / "pages"


class WithManual(build_py):
    """Copies the pages of docs/, and what they show, to where the server looks for them."""

    def run(self) -> None:
        """Build the package; an editable one finds docs/ by itself."""
        super().run()
        if self.editable_mode:
            return
        spec = importlib.util.spec_from_file_location("manual_files", PAGES / "manual_files.py")
        assert spec is not None
        assert spec.loader is not None
        files = importlib.util.module_from_spec(spec)
        spec.loader.exec_module(files)
        files.copy_manual(ROOT, Path(self.build_lib) / "optcomp" / "pages" / files.COPIES)


setup(cmdclass={"build_py": WithManual})
