"""The mechanisms that can be audited by name: those optcomp ships, and six broken ones that must be caught."""

from __future__ import annotations

import difflib

from optcomp.errors import InvalidInput
from optcomp.interactive.audit.auditable import Auditable
from optcomp.interactive.audit.broken import BROKEN
from optcomp.interactive.audit.shipped import shipped


def known_mechanisms(*, private: bool | None = None) -> tuple[str, ...]:
    """Names for `audit`: of all mechanisms, or only of those believed private, or only of the broken ones."""
    if private is None:
        return tuple(shipped() | BROKEN)
    return tuple(shipped() if private else BROKEN)


def mechanism(name: str) -> Auditable:
    """The mechanism of this name, ready to be audited."""
    known = shipped() | BROKEN
    if name not in known:
        close = difflib.get_close_matches(name, known, 1)
        hint = f"did you mean {close[0]}?" if close else "known_mechanisms() names all"
        raise InvalidInput("mechanism", name, f"is unknown ({hint})")
    return known[name]()
