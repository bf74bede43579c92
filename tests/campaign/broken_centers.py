"""Centres that are broken on purpose: an answer that was paid for once is drawn more than once."""

from __future__ import annotations

from functools import lru_cache
from typing import Any

from optcomp.center.service import Service
from optcomp.interactive import answer as drawn
from optcomp.interactive.audit.tables import Remembered
from optcomp.statistics import Table, read_question
from tests.campaign.asgi_center import Broken


def redrawn(service: Service) -> None:
    """A request that is tried again is not looked up, but drawn anew."""
    known: dict[tuple[str, str, str], dict[str, Any]] = {}
    honest = service.call

    async def call(job: str, **arguments: Any) -> dict[str, Any]:
        if job != "ask":
            return await honest(job, **arguments)
        seat = arguments["seat"]
        request = seat["account"], seat["slot"], str(arguments["key"])
        if request in known:
            return known[request] | _drawn(arguments)
        known[request] = await honest(job, **arguments)
        return known[request]

    service.call = call  # type: ignore[method-assign]


def unpaid(service: Service) -> None:
    """Fresh noise is not debited: one slot answers the same question as often as it is asked."""
    honest = service.call

    async def call(job: str, **arguments: Any) -> dict[str, Any]:
        if job == "ask" and arguments["repeat"]:
            return {"request": None, "receipt": None} | _drawn(arguments)
        return await honest(job, **arguments)

    service.call = call  # type: ignore[method-assign]


def _drawn(arguments: dict[str, Any]) -> dict[str, Any]:
    """An answer for which nobody pays."""
    question = read_question(arguments["question"])
    found = drawn(question, _opened(arguments["seat"]["snapshot"]))  # no session takes a table of the ledger
    return {"answer": found.document(), "value": found.value}


@lru_cache(maxsize=1)
def _opened(path: str) -> Table:
    """The table that was asked last: to open one takes longer than to ask it."""
    return Remembered.open(path)


BROKEN: dict[str, Broken] = {"redrawn": redrawn, "unpaid": unpaid}
"""By name."""
