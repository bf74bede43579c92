"""Items of the command line: `0.1`, `0.1x50`, `0.2,1e-9x50`, `1/3x2`.

item = ε [ "," δ ] [ "x" count ], where X and × are as good as x
"""

from __future__ import annotations

import re
from pathlib import Path

from optcomp.cli.failures import Refused
from optcomp.cli.formats import SUFFIXES
from optcomp.cli.mechanisms import Entry

SHAPE = "write ε or ε,δ, then xN for N of them, as in 0.1x50 or 0.2,1e-9x50"

_USUAL = re.compile(r"[\d.,/+\-eExX× ]*")
_TIMES = re.compile(r"[xX×]")
_DECIMAL_COMMA = re.compile(r"([+-]?\d+),(?!0$|0,)(\d+)(,.*)?")  # 1,0 may well be ε = 1, δ = 0


def entry_of(item: str) -> Entry:
    """Take one item of the command line apart; what its numbers mean is checked later."""
    where = f"item {item!r}"
    _refuse_slips(item, where)
    pair, *rest = _TIMES.split(item, maxsplit=1)
    count = "".join(rest).strip()
    if rest and not count:
        raise Refused(f"{where}: the count after 'x' is missing; {SHAPE}")
    eps, comma, delta = pair.partition(",")
    slip = _DECIMAL_COMMA.fullmatch(pair.strip())
    if slip:
        times = f"x{count}" if count else ""
        raise Refused(f"{where}: {SHAPE} (decimal comma? write {slip[1]}.{slip[2]}{slip[3] or ''}{times})")
    if not eps.strip() or (comma and not delta.strip()) or "," in delta:
        raise Refused(f"{where}: {SHAPE}")
    return Entry(where, eps.strip(), delta.strip(), count)


def _refuse_slips(item: str, where: str) -> None:
    """Hints for what is not an item at all: the name of a file, a star for times."""
    if not _USUAL.fullmatch(item) and _names_a_file(item):
        raise Refused(f"{where}: did you mean --from {item}?")
    star = re.fullmatch(r"([^*]+)\*+([^*]+)", item)
    if star:
        raise Refused(f"{where}: use x for copies, as in {star[1].strip()}x{star[2].strip()}")


def _names_a_file(item: str) -> bool:
    try:
        return Path(item).suffix.lower() in SUFFIXES or Path(item).is_file()
    except (OSError, ValueError):
        return False
