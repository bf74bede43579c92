"""The anchor: a small file beside a ledger, by which copies and files that went back in time are noticed.

A database that was copied, or restored from a backup, looks as good as the one it was made from.  The anchor is not
inside it: it says which file the ledger is, and how far its chain had come.  It is written after each commit and before
anything is revealed, so it never knows more than the database, unless the database went back.  It may know less: after
a power loss, or a kill between commit and write.  Then its head must be the chain's own head at that entry.

The file has two slots of one disk sector each.  A record carries its checksum and its turn; it is written over the
older slot, and the valid record of the highest turn counts.  So a write that stops half way leaves the one before it.
Writers take turns by a lock on the file (POSIX systems only), and no write lowers what the anchor knows.
"""

from __future__ import annotations

import json
import os
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from hashlib import sha256
from json.encoder import encode_basestring_ascii as _quoted
from operator import itemgetter
from pathlib import Path
from typing import NamedTuple
from weakref import WeakSet

from optcomp.errors import InvalidInput

_SLOT = 512
"""Bytes of a record: one sector of a disk, which is written whole or not at all when the power fails."""

_SLOTS = 2
"""One for the record that counts, one for the next."""

_NOTHING: tuple[int, Seen | None] = (0, None)
"""Turn and contents of a slot without a record."""

_DIGEST = 64
"""Characters of a SHA-256 in hex, with which a record begins."""


@dataclass(frozen=True, slots=True)
class Seen:
    """What an anchor knows: the ledger's id and incarnation, the last entry with its head, and the database's file."""

    ledger: str
    incarnation: int
    sequence: int
    head: str
    file: str

    def allows(self, later: Seen) -> bool:
        """Whether a record may follow this one: a later incarnation, or a later entry of the same file."""
        if later.ledger != self.ledger or later.incarnation < self.incarnation:
            return False
        return later.incarnation > self.incarnation or (later.file == self.file and later.sequence > self.sequence)


_LIVING: WeakSet[Anchor] = WeakSet()
"""Anchors of this process, for a fork: a child that keeps its parent's file open would keep the parent's lock alive."""


class Anchor:
    """The anchor at a path.  It may be written by several processes and threads, and across a fork."""

    def __init__(self, path: str | os.PathLike[str]) -> None:
        self.path = Path(path)
        self._forget()
        _LIVING.add(self)

    def __repr__(self) -> str:
        return f"Anchor({str(self.path)!r})"

    def __reduce__(self) -> tuple[type[Anchor], tuple[Path]]:
        return Anchor, (self.path,)

    def read(self) -> Seen | None:
        """What the anchor knows; None if there is no file, or no valid record in it.

        Readers wait for nobody: whoever writes, writes over the older of two records.  Only if neither was whole, two
        writes later, is it read again in turn.
        """
        try:
            with self._opened(create=False):
                self._look()
                if self._seen is None:
                    with self._turns(exclusive=False):
                        self._look()
                return self._seen
        except FileNotFoundError:
            return None
        except OSError as error:
            raise self._failed("read", error) from None

    def write(self, seen: Seen) -> bool:
        """Let the anchor know a later entry; whether it was written.

        An anchor that knows this entry or a later one stays as it is, and so does one of another ledger, of a later
        incarnation, or of another file.  A later incarnation may begin at any entry.
        """
        return self._put(seen, always=False)

    def replace(self, seen: Seen) -> None:
        """Let the anchor know this and nothing else, whatever it knew: for the owner, who adopts a copy."""
        self._put(seen, always=True)

    def close(self) -> None:
        """Close the file; the next call opens it again."""
        with self._threads:
            self._release()

    def __del__(self) -> None:
        if getattr(self, "_process", None) == os.getpid():
            self._release()

    def _forget(self) -> None:
        """As nothing was opened yet."""
        self._process, self._handle, self._threads = os.getpid(), -1, threading.Lock()
        self._raw: bytes | None = None  # the file as it was read last, and what it says
        self._slots = [_NOTHING] * _SLOTS
        self._turn, self._seen = _NOTHING

    def _put(self, seen: Seen, *, always: bool) -> bool:
        try:
            with self._opened(create=True), self._turns(exclusive=True):
                self._look()
                if self._seen is not None and not (always or self._seen.allows(seen)):
                    return False
                new = not self._raw
                self._store(seen)
                if new:
                    self._settle()
                return True
        except OSError as error:
            self.close()
            raise self._failed("written", error) from None

    def _look(self) -> None:
        """Read both slots; one is parsed only if another process wrote it meanwhile."""
        raw = os.pread(self._handle, _SLOTS * _SLOT, 0)
        if raw == self._raw:
            return
        for place in range(_SLOTS):
            piece = slice(place * _SLOT, (place + 1) * _SLOT)
            if self._raw is None or raw[piece] != self._raw[piece]:
                self._slots[place] = _parsed(raw[piece])
        self._raw = raw
        self._turn, self._seen = max(self._slots, key=itemgetter(0))

    def _store(self, seen: Seen) -> None:
        """Write over the older slot."""
        turn = self._turn + 1
        record, place = _record(turn, seen), turn % _SLOTS
        raw, self._raw = (self._raw or b"").ljust(_SLOTS * _SLOT, b"\0"), None  # forgotten if the write fails
        if os.pwrite(self._handle, record, place * _SLOT) != _SLOT:
            raise OSError("the disk took half of it")
        self._raw = raw[: place * _SLOT] + record + raw[(place + 1) * _SLOT :]
        self._turn, self._seen = self._slots[place] = turn, seen

    def _settle(self) -> None:
        """A new anchor is brought to the disk once, so that a power loss leaves an old record and not an empty file."""
        os.ftruncate(self._handle, _SLOTS * _SLOT)
        os.fsync(self._handle)
        with suppress(OSError):  # not every system can do that for a folder
            folder = os.open(self.path.parent, os.O_RDONLY)
            try:
                os.fsync(folder)
            finally:
                os.close(folder)

    @contextmanager
    def _opened(self, *, create: bool) -> Iterator[None]:
        """Alone among threads, with the file open."""
        if self._process != os.getpid():  # forked by another library: the locks are the parent's
            self._forget()
        with self._threads:
            self._open(create)
            yield

    @contextmanager
    def _turns(self, *, exclusive: bool) -> Iterator[None]:
        """Alone among processes too."""
        import fcntl  # here, so that other systems can import the room

        handle = self._handle
        fcntl.flock(handle, fcntl.LOCK_EX if exclusive else fcntl.LOCK_SH)
        try:
            yield
        finally:
            fcntl.flock(handle, fcntl.LOCK_UN)

    def _open(self, create: bool) -> None:
        if self._handle >= 0 and os.fstat(self._handle).st_nlink == 0:  # somebody put another file in its place
            self._release()
        if self._handle >= 0:
            return
        try:
            self._handle = os.open(self.path, os.O_RDWR | (os.O_CREAT if create else 0), 0o600)
        except OSError:
            if create:
                raise
            self._handle = os.open(self.path, os.O_RDONLY)

    def _release(self) -> None:
        handle, self._handle, self._raw = self._handle, -1, None
        if handle >= 0:
            os.close(handle)

    def _failed(self, verb: str, error: OSError) -> InvalidInput:
        return InvalidInput("anchor", str(self.path), f"cannot be {verb} ({error.strerror or error})")


def _forked() -> None:
    """In the child, right after the fork."""
    for anchor in list(_LIVING):
        anchor._release()
        anchor._forget()


if hasattr(os, "register_at_fork"):
    os.register_at_fork(after_in_child=_forked)


def _record(turn: int, seen: Seen) -> bytes:
    """Checksum, JSON and padding: one slot."""
    names = f'"file":{_quoted(seen.file)},"head":{_quoted(seen.head)}'
    numbers = f'"incarnation":{seen.incarnation:d},"ledger":{_quoted(seen.ledger)},"sequence":{seen.sequence:d}'
    text = f'{{{names},{numbers},"turn":{turn:d}}}'  # canonical JSON
    record = f"{sha256(text.encode()).hexdigest()} {text}".ljust(_SLOT - 1) + "\n"
    if len(record) != _SLOT:
        raise InvalidInput("seen", f"{len(text)} characters", f"must fit in {_SLOT - _DIGEST - 2}")
    return record.encode("ascii")


def _parsed(record: bytes) -> tuple[int, Seen | None]:
    """The turn of a record and what it says; 0 and None if it is not whole."""
    digest, text = record[:_DIGEST], record[_DIGEST + 1 :].rstrip()
    if len(record) != _SLOT or sha256(text).hexdigest().encode() != digest:
        return _NOTHING
    view = json.loads(text)
    return view.pop("turn"), Seen(**view)


def file_identity(path: str | os.PathLike[str]) -> str:
    """Which file this is, as device and inode: a copy of it has another one, a file that was renamed keeps it."""
    found = os.stat(path)
    return f"{found.st_dev}:{found.st_ino}"


class Doubt(NamedTuple):
    """Why a ledger may be a copy, or may have gone back in time."""

    reason: str
    lost: bool = False
    """Whether it is proved that this database had entries which it has no more: then it is one for every server."""


def judge(
    seen: Seen | None,
    ledger: str,
    incarnation: int,
    sequence: int,
    head_at: Callable[[int], str | None],
    file: str,
    name: str = "anchor",
) -> Doubt | None:
    """Return why this ledger is taken for a copy; None if it is the one that the anchor, or the witness, knows.

    `sequence` is the last entry of the database, `head_at` its head after an entry (entry 0: the first head).  An
    anchor that knows less than the database is fine, if the database has the same head at that entry.  That holds for
    an older incarnation too: another server adopted this ledger, and nothing is missing that the anchor knows.
    """
    if seen is None:
        return Doubt("there is no anchor beside it" if name == "anchor" else f"the {name} does not know it")
    if seen.ledger != ledger:
        return Doubt(f"the {name} beside it is that of another ledger")
    if seen.incarnation >= incarnation and seen.file != file:
        return Doubt(f"it is another file than the one that the {name} knows")
    same = seen.incarnation == incarnation
    if seen.incarnation > incarnation:
        return Doubt(
            f"the {name} knows its incarnation {seen.incarnation}, and this is incarnation {incarnation}", True
        )
    if seen.sequence > sequence:
        return Doubt(f"the {name} knows entry {seen.sequence}, and this ledger ends at entry {sequence}", same)
    if head_at(seen.sequence) != seen.head:
        return Doubt(f"the {name} knows another head at entry {seen.sequence}", same)
    return None
