"""Items of the command line: `0.1`, `0.1x50`, `0.2,1e-9x50`, `1/3x2`.

item = ε [ "," δ ] [ "x" count ]
"""

from __future__ import annotations

from optcomp.cli.failures import Refused
from optcomp.cli.mechanisms import Entry

SHAPE = "write ε or ε,δ, then xN for N of them, as in 0.1x50 or 0.2,1e-9x50"


def entry_of(item: str) -> Entry:
    """Take one item of the command line apart; what its numbers mean is checked later."""
    where = f"item {item!r}"
    pair, times, count = item.partition("x")
    if times and not count.strip():
        raise Refused(f"{where}: the count after 'x' is missing; {SHAPE}")
    eps, comma, delta = pair.partition(",")
    if not eps.strip() or (comma and not delta.strip()) or "," in delta:
        raise Refused(f"{where}: {SHAPE}")
    return Entry(where, eps.strip(), delta.strip(), count.strip())
