"""Where a process keeps what it works with: the snapshots and sessions that it has open, by seat.

A seat is {"account", "slot", "snapshot"}.  A session is kept as long as nothing goes wrong in it: to open one takes as
long as to ask.  What is kept can be thrown away at any time, for budgets are in the ledger.
"""

from __future__ import annotations

import logging
from collections import OrderedDict
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path
from typing import Any, Protocol
from weakref import WeakKeyDictionary

from optcomp.center.failures import CannotAnswer
from optcomp.center.opened import Opened
from optcomp.errors import BudgetExceeded, MechanismFailed, OptcompError
from optcomp.ledger import DurableSession, Ledger, LedgerCopied, RequestState, Slot
from optcomp.statistics import Table

LOG = logging.getLogger("optcomp.center")
"""Says what went wrong by its kind, never by its text, which may hold values."""
_OPENED = Opened()
"""The snapshots that this process has open; a process does one job at a time."""
_SESSIONS: WeakKeyDictionary[Ledger, OrderedDict[tuple[str, str], DurableSession]] = WeakKeyDictionary()
"""The sessions that this process has open, by account and slot, the one that was asked last at the end."""
_MOST_SESSIONS = 1024
"""Sessions that are kept: some kilobytes each."""
_PART_OF_ENGINE = 2
"""An engine may take this part of the memory of its process and writes to disk beyond it; the rest is for answers."""


class Place(Protocol):
    """What a job needs to know of the settings."""

    @property
    def home(self) -> Path:
        """The folder of the centre."""

    @property
    def databases(self) -> tuple[str, ...]:
        """Addresses of databases that keep rows."""


def slot_of(ledger: Ledger, seat: Mapping[str, Any]) -> Slot:
    """The slot of a seat; to look at it takes nothing."""
    return ledger.account(seat["account"]).slot(seat["slot"])


def table_of(settings: Place, snapshot: str) -> Table:
    """A snapshot, opened."""
    memory = getattr(settings, "memory", 0) // _PART_OF_ENGINE
    return _OPENED.table(snapshot, tuple(getattr(settings, "databases", ())), memory=f"{memory}MB" if memory else None)


@contextmanager
def session_of(
    ledger: Ledger, settings: Place, seat: Mapping[str, str], key: str | None, form: Mapping[str, Any] | None = None
) -> Iterator[DurableSession]:
    """The session of a seat, for a request with this key or form; it is kept unless something goes wrong in it."""
    session = _opened_session(ledger, settings, seat)
    if session is None:  # out here, so that no __context__ leads to the error
        raise _refused(ledger, seat, key, form)
    try:
        yield session
    except BudgetExceeded:
        _drop(ledger, seat)  # a session notes its refusals, and they would add up
        raise
    except MechanismFailed:
        _drop(ledger, seat)
        _OPENED.forget(seat["snapshot"])
        raise


def _opened_session(ledger: Ledger, settings: Place, seat: Mapping[str, str]) -> DurableSession | None:
    """None if it does not open: why is for the owner."""
    kept = _SESSIONS.setdefault(ledger, OrderedDict())
    names = seat["account"], seat["slot"]
    try:
        table = table_of(settings, seat["snapshot"])
        found = kept.get(names)
        if found is None or found.table is not table:
            found = kept[names] = slot_of(ledger, seat).session(table)
    except LedgerCopied:
        raise
    except Exception as error:
        version = "/".join(Path(seat["snapshot"]).parts[-2:])  # a slot would name its analyst
        LOG.error("snapshot %s does not open (%s)", version, type(error).__name__)
        return None
    kept.move_to_end(names)
    if len(kept) > _MOST_SESSIONS:
        kept.popitem(last=False)[1].close()
    return found


def _refused(ledger: Ledger, seat: Mapping[str, str], key: str | None, form: Mapping[str, Any] | None) -> OptcompError:
    """What is told if a table does not open: something else where the request was paid for before."""
    for view in slot_of(ledger, seat).requests():
        same = view.key == key if key is not None else form is not None and form.items() <= view.form.items()
        if same and view.state == RequestState.RESERVED:
            return MechanismFailed(view.what, "CannotAnswer")
    return CannotAnswer()


def _drop(ledger: Ledger, seat: Mapping[str, str]) -> None:
    found = _SESSIONS.get(ledger, OrderedDict()).pop((seat["account"], seat["slot"]), None)
    if found is not None:
        found.close()
