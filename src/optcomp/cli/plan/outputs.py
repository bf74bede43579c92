"""The files that `plan` writes: checked before the work, written after it."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Any

from optcomp.cli.drawing import check_plots
from optcomp.cli.failures import Complaint
from optcomp.cli.writing.printing import say

REPORTS = {"--html": ".html", "--pdf-ready": ".print.html"}
"""Options for reports, and how a report beside another file ends."""

BESIDES = {**REPORTS, "--csv": ".csv"}
"""Options whose file may be left out, and how a file beside another one ends."""

BESIDE = "(beside FILE)"
"""Stands for the name that was left out; no file is called so."""


def placed(report: Path | None, beside: Path, option: str) -> Path | None:
    """Where a report or a table goes: as told, or beside another file and named after it."""
    return beside.with_suffix(BESIDES[option]) if report == Path(BESIDE) else report


def check_outputs(given: Mapping[str, Path | None]) -> None:
    """Refuse a file that could not be made or written, before the work and not after it."""
    for option, path in given.items():
        if path is not None and not path.parent.is_dir():
            raise Complaint(f"{option}: {str(path.parent)!r} is not a directory")
        if path is not None and path.is_dir():
            raise Complaint(f"{option}: {path}: Is a directory")
    if any(given.get(option) is not None for option in REPORTS):
        check_plots()


def check_apart(given: Mapping[str, Path | None]) -> None:
    """No output may fall on another one, or on the data."""
    seen: dict[Path, str] = {}
    for option, path in given.items():
        if path is None:
            continue
        place = path.resolve()
        if place in seen:
            raise Complaint(f"{option}: is the same file as {seen[place]}, {path}")
        seen[place] = option


def write_reports(facts: Any, growth: Any, view: Any, html: Path | None, paper: Path | None) -> None:
    """Write the reports that were asked for."""
    from optcomp.release import page

    for path, option, printing in ((html, "--html", False), (paper, "--pdf-ready", True)):
        if path is not None:
            write(path, page(facts, growth, view, printing=printing), option)


def say_reports(html: Path | None, paper: Path | None) -> None:
    """Say where they are."""
    for path in (html, paper):
        if path is not None:
            say(f"The report is in {path}")


def write(path: Path, text: str, option: str) -> None:
    """Write a file whole, or leave what was there."""
    from optcomp.release import replace_file

    try:
        replace_file(path, text)
    except OSError as error:
        raise Complaint(f"{option}: {path}: {error.strerror or error}") from None
