"""Items of the command line, with hints where a word is not one."""

from __future__ import annotations

import re
from pathlib import Path

from optcomp.cli.failures import Complaint
from optcomp.reading import SUFFIXES, MechanismText, entry_from, is_expression

_USUAL = re.compile(r"[\d.,/+\-eExX× ]*")


def entry_of(item: str) -> MechanismText:
    """Take one item of the command line apart."""
    where = f"item {item!r}"
    _refuse_slips(item, where)
    return entry_from(item, where)


def _refuse_slips(item: str, where: str) -> None:
    """Hints for what is not an item at all: the name of a file, a star for times."""
    if not is_expression(item) and not _USUAL.fullmatch(item) and _names_a_file(item):
        raise Complaint(f"{where}: did you mean --from {item}?")
    star = re.fullmatch(r"([^*]+)\*+([^*]+)", item)
    if star:
        raise Complaint(f"{where}: use x for copies, as in {star[1].strip()}x{star[2].strip()}")


def _names_a_file(item: str) -> bool:
    try:
        return Path(item).suffix.lower() in SUFFIXES or Path(item).is_file()
    except (OSError, ValueError):
        return False
