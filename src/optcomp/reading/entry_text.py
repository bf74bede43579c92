"""One kind of mechanism as text, on the command line or in a file: `0.1`, `0.2,1e-9x50`, `gaussian(sigma=4)x100`.

text = ( ε [ "," δ ] | expression ) [ "x" count ], where X and × are as good as x
"""

from __future__ import annotations

import re

from optcomp.reading.complaints import Complaint
from optcomp.reading.entries import MechanismText
from optcomp.reading.expressions import Malformed, is_expression, parse
from optcomp.reading.mechanism_syntax import word_slip

SHAPE = "write ε or ε,δ, then xN for N of them, as in 0.1x50 or 0.2,1e-9x50"
"""What is said about any text that is neither a pair nor a mechanism."""

_TIMES = re.compile(r"[xX×]")
_DECIMAL_COMMA = re.compile(r"([+-]?\d+),(?!0$|0,)(\d+)(,.*)?")  # 1,0 may well be ε = 1, δ = 0


def entry_from(text: str, where: str) -> MechanismText:
    """Take a text apart; what its numbers mean is checked later."""
    if is_expression(text):
        return _expression(text, where)
    slip = word_slip(text)
    if slip:
        raise Complaint(f"{where}: {slip}")
    return _pair(text, where)


def _expression(text: str, where: str) -> MechanismText:
    try:
        call, count = parse(text)
    except Malformed as error:
        raise Complaint(f"{where}: {error}") from None
    return MechanismText(where, count=count, call=call)


def _pair(text: str, where: str) -> MechanismText:
    pair, *rest = _TIMES.split(text, maxsplit=1)
    count = "".join(rest).strip()
    if rest and not count:
        raise Complaint(f"{where}: the count after 'x' is missing; {SHAPE}")
    eps, comma, delta = pair.partition(",")
    slip = _DECIMAL_COMMA.fullmatch(pair.strip())
    if slip:
        times = f"x{count}" if count else ""
        raise Complaint(f"{where}: {SHAPE} (decimal comma? write {slip[1]}.{slip[2]}{slip[3] or ''}{times})")
    if not eps.strip() or (comma and not delta.strip()) or "," in delta:
        raise Complaint(f"{where}: {SHAPE}")
    return MechanismText(where, eps.strip(), delta.strip(), count)
