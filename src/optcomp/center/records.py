"""Requests of the ledger as analysts read them: what was asked, what it cost, how it ended, and its answer."""

from __future__ import annotations

import json
from collections.abc import Sequence
from typing import Any

from optcomp.interactive import Request, added_up, in_words, request_document
from optcomp.ledger import RequestState, RequestView

ANSWERED = (RequestState.ANSWERED, RequestState.DELIVERED)
"""States with an answer."""
_OUTCOMES = {RequestState.RESERVED: "paid", RequestState.FAILED: "failed"} | dict.fromkeys(ANSWERED, "answered")
"""How transcripts name the states of requests."""


def line_of(view: RequestView) -> dict[str, Any]:
    """A line of a transcript."""
    told = {"request": view.id, "kind": view.kind, "key": view.key, "what": view.what, "paid": paid_of(view)}
    form = {name: value for name, value in view.form.items() if name != "snapshot"}
    answer = json.loads(view.answer) if view.answer else None
    told |= {"form": form, "outcome": _OUTCOMES[view.state], "running": view.running, "answer": answer}
    return told | {"receipt": view.receipt.document()}


def paid_of(view: RequestView) -> dict[str, Any]:
    """What was debited for a request."""
    words = in_all(view.paid) or "nothing more"
    return {"words": words, "exact": [request_document(each) for each in view.paid]}


def in_all(paid: Sequence[Request]) -> str:
    """What several guarantees come to in a slot, which adds them up; one by one where it cannot."""
    found = added_up(paid) if paid else None
    return " and ".join(map(in_words, paid)) if found is None else in_words(found)
