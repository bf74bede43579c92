"""What auditors see: the ledger's chain and the centre's log in one order, and theorems by their names."""

from __future__ import annotations

from collections import deque
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from fastapi import Request
from starlette.concurrency import run_in_threadpool

from optcomp.center import (
    Change,
    api_audit,
    person_of,
    service_of,
)
from optcomp.pages.office_view import facts
from optcomp.theorems import theorem

PAGE = 50
"""Lines of one page."""


@dataclass(frozen=True)
class Event:
    """One line: an entry of the ledger, or of the centre's log."""

    at: float
    entry: int | None
    """Its number in the chain."""
    change: int | None
    """Its number in the log."""
    kind: str
    what: str
    who: str
    paid: str
    second: str | None
    facts: tuple[tuple[str, str], ...]


@dataclass(frozen=True)
class EventPage:
    """Some lines, and where the next ones begin."""

    events: tuple[Event, ...]
    entries: int
    changes: int
    more: bool


async def events(request: Request, entries: int, changes: int) -> EventPage:
    """The lines after an entry and a change, the oldest first."""
    told = await api_audit.history(request, entries)
    log = await run_in_threadpool(_changes, request, changes)
    found = _merged(told.entries, log)
    shown = found[:PAGE]
    last_entry = max((each.entry for each in shown if each.entry is not None), default=entries)
    last_change = max((each.change for each in shown if each.change is not None), default=changes)
    return EventPage(tuple(shown), last_entry, last_change, len(found) > PAGE)


async def newest(request: Request) -> tuple[int, int]:
    """Where the last page begins: after which entry and which change."""
    service = service_of(request)
    last_change = await run_in_threadpool(service.changes.last)
    last_entry = (await run_in_threadpool(lambda: service.ledger.head)).sequence
    after_entry, after_change = max(0, last_entry - PAGE), max(0, last_change - PAGE)
    told = await api_audit.history(request, after_entry)
    log = await run_in_threadpool(_changes, request, after_change)
    shown = _merged(told.entries, log)[-PAGE:]
    first_entry = min((each.entry for each in shown if each.entry is not None), default=last_entry + 1)
    first_change = min((each.change for each in shown if each.change is not None), default=last_change + 1)
    return first_entry - 1, first_change - 1


def _changes(request: Request, after: int) -> list[Change]:
    return service_of(request).changes.all(after=after, most=PAGE + 1, viewer=person_of(request))


def _merged(entries: Sequence[Mapping[str, Any]], changes: Sequence[Change]) -> list[Event]:
    """By time, each in its own order; the ledger knows whole seconds, and comes first in each."""
    left, right = deque(map(_of_entry, entries)), deque(map(_of_change, changes))
    found: list[Event] = []
    while left or right:
        ledger_first = left and (not right or int(left[0].at) <= int(right[0].at))
        found.append(left.popleft() if ledger_first else right.popleft())
    return found


def _of_entry(told: Mapping[str, Any]) -> Event:
    who = told["holder"] or told["account"] or ""
    return Event(told["at"], told["sequence"], None, told["kind"], told["what"], who, told["paid"], None, ())


def _of_change(change: Change) -> Event:
    return Event(
        change.at, None, change.id, "", change.what, change.who, "", change.second, tuple(facts(change.detail))
    )


def theorems(names: Iterable[str]) -> list[dict[str, str]]:
    """Theorems with their names, statements and sources."""
    found = [theorem(name) for name in names]
    return [{"id": each.id, "name": each.name, "statement": each.statement, "source": each.source} for each in found]


def log_rows(changes: Iterable[Change]) -> list[list[object]]:
    """The log as a table."""
    heading: list[object] = ["number", "time", "who", "what", "confirmed by", "detail"]
    rows: list[list[object]] = [
        [each.id, each.at, each.who, each.what, each.second, "; ".join(f"{a}: {b}" for a, b in facts(each.detail))]
        for each in changes
    ]
    return [heading, *rows]
