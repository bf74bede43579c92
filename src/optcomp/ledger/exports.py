r"""Signed exports: what an auditor needs to derive every total again, and no answer.

An export is a text file of JSON lines, written and read one by one, so that its length does not matter:

    {"format": "optcomp-ledger-export", "version": 1, "ledger", "public_key", "sequence", "head"}
    {"entry": [sequence, at, kind, account, body, head]}                                   one for each entry
    {"entry": ..., "request": [id, holder, key, mechanism, kind, what, form], "about": text}  where it creates these
    {"sha256", "signature"}

`sha256` is that of all lines before the last one, as bytes, with their line breaks; the signature is made by the
ledger's Ed25519 key of the text "optcomp-ledger-export\n" followed by this sha256 in hex.

Not in it: answers, salts, encrypted states, digests of snapshots, and who is at work.  Answers are in it as commitments
only: whoever holds a receipt, the answer and its salt can show that this was the answer, and nobody else learns it.
"""

from __future__ import annotations

import json
import os
import time
from collections.abc import Iterable, Iterator, Mapping
from contextlib import suppress
from dataclasses import dataclass
from hashlib import sha256
from pathlib import Path
from typing import Any

from sqlalchemy import select

from optcomp.errors import InvalidInput
from optcomp.ledger.books import Books
from optcomp.ledger.chain import Broken, Entry, canonical, first_head, follow
from optcomp.ledger.database import WholeReading
from optcomp.ledger.derivation import CREATING, HOLDING, Asked, Derivation
from optcomp.ledger.keys import Keys, verify_signature
from optcomp.ledger.receipts import Receipt
from optcomp.ledger.schema import ENTRIES, FACTS, HOLDERS, REQUESTS
from optcomp.ledger.verification import Sought, Verification, concluded

FORMAT = "optcomp-ledger-export"
"""Says what the file is, and stands before what is signed."""
_VERSION = 1
"""Of the format."""
_ENTRY = ("sequence", "at", "kind", "account", "body", "head")
"""What an export has of an entry."""
_REQUEST = Asked._fields
"""What an export has of a request."""
_LONGEST = 1 << 26
"""Bytes of a line: a batch of a hundred thousand slots has fewer."""


@dataclass(frozen=True)
class Export:
    """An export that was written."""

    path: str
    ledger: str
    public_key: str
    """With which the signature is verified: publish it where auditors find it."""
    sequence: int
    head: str
    sha256: str
    signature: str

    def document(self) -> dict[str, Any]:
        """Ready for JSON."""
        return dict(vars(self))


def export(books: Books, path: str | Path) -> Export:
    """Write an export into a new file."""
    keys = books.keys
    if keys is None:
        problem = "an export is signed, and the ledger is open without the keys in its private folder"
        raise InvalidInput("private", None if books.private is None else str(books.private), problem)
    target = Path(path)
    try:
        file = open(target, "xb")  # noqa: SIM115 (closed below, and unlinked if it is not finished)
    except FileExistsError:
        raise InvalidInput("path", str(target), "exists already; it is not overwritten") from None
    except OSError as error:
        raise InvalidInput("path", str(target), f"cannot be written ({error.strerror})") from None
    try:
        with file, books.database.read_whole() as reading:
            return _written(reading, keys, file, str(target))
    except BaseException:
        with suppress(OSError):
            target.unlink()
        raise


def _written(reading: WholeReading, keys: Keys, file: Any, path: str) -> Export:
    facts, running = reading.connection.execute(select(FACTS)).one(), sha256()
    about = {"ledger": facts.ledger, "sequence": facts.sequence, "head": facts.head, "public_key": keys.public_key}
    for line in _lines(reading, about):
        text = (canonical(line) + "\n").encode("ascii")
        running.update(text)
        file.write(text)
    signed = running.hexdigest()
    signature = keys.sign(f"{FORMAT}\n{signed}")
    file.write((canonical({"sha256": signed, "signature": signature}) + "\n").encode("ascii"))
    file.flush()
    os.fsync(file.fileno())
    return Export(path=path, sha256=signed, signature=signature, **about)


def _lines(reading: WholeReading, about: Mapping[str, Any]) -> Iterator[dict[str, Any]]:
    yield {"format": FORMAT, "version": _VERSION, **about}
    columns = [REQUESTS.c[name] for name in _REQUEST]
    requests = reading.rows(select(*columns).order_by(REQUESTS.c.id))
    abouts = reading.rows(select(HOLDERS.c.about).order_by(HOLDERS.c.id))
    entries = select(*(ENTRIES.c[name] for name in _ENTRY)).order_by(ENTRIES.c.sequence)
    for row in reading.rows(entries):
        line: dict[str, Any] = {"entry": list(row)}
        if row.kind in CREATING:
            line["request"] = _listed(next(requests, None))
        if row.kind in HOLDING:
            found = next(abouts, None)
            line["about"] = None if found is None else found.about
        yield line


def _listed(row: Any) -> list[Any] | None:
    return None if row is None else list(row)


def verify_export(
    path: str | Path, public_key: str | None = None, *, receipts: Iterable[Receipt | Mapping[str, Any]] = ()
) -> Verification:
    """What an auditor runs, without the ledger: signature, chain, and all totals with their theorems.

    `public_key` is the one that the owner published.  Without it the signature shows only that the file is whole.
    """
    started = time.monotonic()
    try:
        with open(path, "rb") as file:
            return _Reading(file, str(path), public_key).run(receipts, started)
    except OSError as error:
        raise InvalidInput("export", str(path), f"cannot be read ({error.strerror})") from None


class _Reading:
    """One export as it is read."""

    def __init__(self, file: Any, name: str, public_key: str | None) -> None:
        self._file, self._given = file, public_key
        self._running, self._last = sha256(), b""
        self._derivation = Derivation()
        self._wrong = self._derivation.findings.add
        self._more: dict[str, Any] = {}
        self._lines = self._all_lines()
        self._header = self._first(name)

    def _all_lines(self) -> Iterator[Any]:
        """All lines but the last, which is not among those that are signed."""
        while line := self._file.readline(_LONGEST):
            if self._last:
                self._running.update(self._last)
                yield _parsed(self._last)
            self._last = line

    def _first(self, name: str) -> dict[str, Any]:
        found = next(self._lines, None)
        texts = ("ledger", "public_key", "head")
        if not isinstance(found, dict) or found.get("format") != FORMAT:
            raise InvalidInput("export", name, "is not an export of a ledger")
        if found.get("version") != _VERSION or not all(isinstance(found.get(each), str) for each in texts):
            raise InvalidInput("export", name, "is not an export of a version that this program knows")
        return found

    def run(self, receipts: Iterable[Receipt | Mapping[str, Any]], started: float) -> Verification:
        header, entries = self._header, 0
        sought = Sought(receipts, header["ledger"], self._derivation)
        head = self._next = first_head(header["ledger"])
        try:
            for entry in follow(self._rows(), head, end=(header.get("sequence"), header["head"])):  # type: ignore[arg-type]
                entries, head = entries + 1, self._next
                self._take(entry, sought)
        except Broken as broken:
            self._wrong(f"the chain is broken at {broken}; what follows was not looked at")
        else:
            self._derivation.finish()
        for _ in self._lines:  # what is left of a broken one is signed too
            pass
        self._check_signature()
        sought.finish()
        return concluded(self._derivation, header["ledger"], entries, head, sought.count, started)

    def _rows(self) -> Iterator[tuple[Entry, str]]:
        for number, line in enumerate(self._lines, 1):
            found = line.get("entry") if isinstance(line, dict) else None
            if not isinstance(found, list) or len(found) != len(_ENTRY):
                raise Broken(number, "its line cannot be read")
            self._more, self._next = line, found[-1]
            yield Entry(*found[:-1]), found[-1]

    def _take(self, entry: Entry, sought: Sought) -> None:
        asked, about = self._more.get("request"), self._more.get("about")
        row = Asked(*asked) if isinstance(asked, list) and len(asked) == len(_REQUEST) else None
        try:
            body = json.loads(entry.body)
        except ValueError:
            self._wrong(f"entry {entry.sequence}: its body is not JSON")
            return
        self._derivation.take(entry, body, row, about)
        sought.look(entry, body, self._next)

    def _check_signature(self) -> None:
        end, key = _parsed(self._last), self._header["public_key"]
        found = self._running.hexdigest()
        if not isinstance(end, dict) or end.get("sha256") != found:
            self._wrong("the export was changed after it was signed, or is not whole")
        elif not verify_signature(key, f"{FORMAT}\n{found}", str(end.get("signature"))):
            self._wrong("the signature is not that of the key which the export names")
        if self._given is not None and self._given != key:
            self._wrong("the export is signed by another key than the one that was given")
        if self._derivation.ledger is not None and self._derivation.public_key != key:
            self._wrong("the key that the export names is not the one in its chain")


def _parsed(line: bytes) -> Any:
    try:
        return json.loads(line)
    except (ValueError, RecursionError):
        return None
