r"""The chain of a ledger: every entry is hashed together with the head before it, so that no change goes unnoticed.

    head_0 = sha256("optcomp-ledger\n" + ledger id)
    head_n = sha256(head_{n-1} + "\n" + canonical JSON of [sequence, at, kind, account, body])

Heads are written in hex.  The body is itself canonical JSON and enters the list as a string.  It holds no answer: an
answer enters as a commitment, sha256(salt + "\n" + answer), whose salt of 32 random bytes is kept beside the answer.
Whoever knows both can check the commitment; whoever knows the chain alone learns nothing about the answer.

These formulas may never change: receipts that people hold were made with them.
"""

from __future__ import annotations

import json
import re
import secrets
from collections.abc import Iterable, Iterator, Mapping
from contextlib import suppress
from dataclasses import dataclass
from hashlib import sha256
from json.encoder import encode_basestring_ascii as _quoted
from typing import NewType

from optcomp.errors import InvalidInput, OptcompError

_BEGINNING = "optcomp-ledger\n"
"""Stands before the ledger's id in the first head, so that the hash of a bare id is no head."""

_SALT_BYTES = 32
"""As many as the hash has: guessing a salt is as hard as inverting the hash."""

_SALT = re.compile(rf"[0-9a-f]{{{2 * _SALT_BYTES}}}")
"""Of one length only: with salts of several lengths one commitment could be opened to two texts."""

_TOO_LONG = 10**4300
"""The least whole number that Python does not write unless it is told to."""

_ENCODER = json.JSONEncoder(sort_keys=True, separators=(",", ":"), ensure_ascii=True, allow_nan=False)


@dataclass(frozen=True, slots=True)
class Entry:
    """One entry of the chain; `account` is the account's number, and `body` is canonical JSON."""

    sequence: int
    at: str
    kind: str
    account: int | None
    body: str


class Broken(OptcompError):
    """The chain does not hold from this entry on; entries before it are as they were written."""

    def __init__(self, sequence: int, reason: str) -> None:
        self.sequence, self.reason = sequence, reason
        super().__init__(f"entry {sequence}: {reason}")


Canonical = NewType("Canonical", str)
"""A text that `canonical` wrote."""


def canonical(value: object) -> Canonical:
    """The one JSON text of a value: keys sorted, no spaces, ASCII only.

    Amounts are whole numbers or exact texts.  A float is refused, and so is everything else that JSON would have to
    turn into another type.  The error shows where it stands and of what type it is, and not its value.
    """
    if not _is_plain(value):
        _check(value, "value")
    return Canonical(_ENCODER.encode(value))


def _is_plain(value: object) -> bool:
    """Whether it is made of plain types alone, which have exact JSON: asked first, for it is quick."""
    kind = type(value)
    if kind is str or value is None or kind is bool:
        return True
    if isinstance(value, dict) and kind is dict:
        return all(type(key) is str and (type(inner) is str or _is_plain(inner)) for key, inner in value.items())
    if isinstance(value, list | tuple) and kind in (list, tuple):
        return all(map(_is_plain, value))
    return isinstance(value, int) and kind is int and -_TOO_LONG < value < _TOO_LONG


def _check(value: object, place: str) -> None:
    """Refuse what has no exact JSON."""
    if value is None or isinstance(value, str | bool):
        return
    if isinstance(value, dict):
        _check_mapping(value, place)
    elif isinstance(value, int):
        if abs(value) >= _TOO_LONG:
            raise InvalidInput(place, "int", "must have 4300 digits or fewer")
    elif isinstance(value, list | tuple):
        for position, inner in enumerate(value):
            _check(inner, f"{place}[{position}]")
    else:
        problem = "must be a text, a whole number, true, false, null, a list or a mapping"
        raise InvalidInput(place, type(value).__name__, problem)


def _check_mapping(value: Mapping[object, object], place: str) -> None:
    for key, inner in value.items():
        if not isinstance(key, str):
            raise InvalidInput(place, type(key).__name__, "must have texts as keys")
        if not isinstance(inner, str):  # most are
            _check(inner, f"{place}.{key}")


def first_head(ledger_id: str) -> str:
    """The head of a ledger without entries."""
    return sha256(f"{_BEGINNING}{ledger_id}".encode()).hexdigest()


def next_head(head: str, sequence: int, at: str, kind: str, account: int | None, body_text: str) -> str:
    """The head after one more entry; `body_text` is canonical JSON."""
    number = "null" if account is None else f"{account:d}"
    text = f"{head}\n[{sequence:d},{_quoted(at)},{_quoted(kind)},{number},{_quoted(body_text)}]"
    return sha256(text.encode()).hexdigest()


def digest(text: str) -> str:
    """SHA-256 of a text that is no secret, in hex."""
    return sha256(text.encode()).hexdigest()


def new_salt() -> str:
    """A fresh salt for one commitment: 32 random bytes in hex."""
    return secrets.token_hex(_SALT_BYTES)


def commitment(salt: str, text: str) -> str:
    """What is shown of a text now, so that the text cannot be replaced by another one later."""
    if not _SALT.fullmatch(salt):
        raise InvalidInput("salt", f"{len(salt)} characters", f"must be {_SALT_BYTES} bytes in hex, small letters")
    try:
        whole = f"{salt}\n{text}".encode()
    except UnicodeEncodeError:
        raise InvalidInput("text", "half of a surrogate pair", "must be a text that UTF-8 can write") from None
    return sha256(whole).hexdigest()


def follow(
    rows: Iterable[tuple[Entry, str]], head: str, *, after: int = 0, end: tuple[int, str] | None = None
) -> Iterator[Entry]:
    """Go along the chain: each entry whose head fits is yielded, and the first that does not fit raises `Broken`.

    A row is an entry and the head stored with it.  `head` is the head after entry `after`, which the caller trusts:
    for the whole chain, `first_head(ledger_id)`.  `end` is the last sequence and head that somebody knows, say the
    database or a receipt: a chain that ends elsewhere is broken too.  Rows are read one by one and never held.
    """
    rows = iter(rows)
    sequence = after
    for entry, stored in rows:
        sequence += 1
        if entry.sequence != sequence:
            raise _misplaced(sequence, entry.sequence)
        derived = _derived(head, entry)
        if derived != stored:
            raise Broken(sequence, _why(derived, stored, rows))
        head = derived
        yield entry
    if end is not None and end != (sequence, head):
        raise _ended(sequence, end)


def _derived(head: str, entry: Entry) -> str:
    try:
        return next_head(head, entry.sequence, entry.at, entry.kind, entry.account, entry.body)
    except (TypeError, ValueError):  # databases may hold another type than was declared
        raise Broken(entry.sequence, "it holds a value of another type than was written") from None


def _misplaced(expected: int, found: object) -> Broken:
    if isinstance(found, int) and found > expected:
        missing = f"entries {expected} to {found - 1} are" if found > expected + 1 else "it is"
        return Broken(expected, f"{missing} missing")
    return Broken(expected, "another entry stands in its place")


def _why(derived: str, stored: str, rest: Iterator[tuple[Entry, str]]) -> str:
    """The entry after the break tells which of the two was changed: it was hashed with the true head."""
    for entry, head in rest:
        with suppress(Broken):
            if head == _derived(stored, entry):
                return "it was changed, or one before it was taken away"
            if head == _derived(derived, entry):
                return "its head was changed"
        break
    return "it does not fit its head"


def _ended(sequence: int, end: tuple[int, str]) -> Broken:
    known = end[0]
    if sequence < known:
        return _misplaced(sequence + 1, known + 1)
    if sequence > known:
        return Broken(known + 1, f"the chain should end at entry {known}")
    return Broken(sequence, "the chain ends in another head")
