"""Why an answer is private: the theorems that prove it, one upon the other, and where it was entered.

The noise gives the answer its guarantee; the filter of the slot keeps all answers of a slot within its (ε, δ); the
slots of a batch, however they are interleaved and whoever puts answers together, come to what was certified when the
batch was cut; and the account admits batches while they fit.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from optcomp.center.records import in_all, paid_of
from optcomp.composition import compose
from optcomp.interactive import in_words, read_mechanism
from optcomp.ledger import Account, Batch, Ledger, RequestView, Slot
from optcomp.statistics import Declared, read_question
from optcomp.theorems import theorem

_CERTIFICATES: dict[tuple[str, int], dict[str, Any]] = {}
"""What batches come to, by ledger and number: a batch never changes, and to prove it takes time."""
_MOST = 64
"""Certificates that are kept."""


def reasons(ledger: Ledger, account: Account, slot: Slot, view: RequestView, declared: Declared) -> dict[str, Any]:
    """Theorems with their statements, the slot, the certificate of its batch, the receipt and the head."""
    batch, budget = slot.batch(), slot.budget
    used = {**_of_request(slot, view, declared), "the slot": budget.theorem, "answers in any order": "HSTVVXZ23"}
    if batch is not None:
        used |= {"the batch": batch.theorem, "slots in any order": "Lyu22-1"}
    used["the account"] = account.budget.theorem
    share = {"name": slot.name, "epsilon": str(slot.epsilon), "delta": str(slot.delta), "state": str(slot.state)}
    return {
        "request": view.id,
        "what": view.what,
        "paid": paid_of(view),
        "theorems": [_theorem(role, name) for role, name in used.items()],
        "slot": share | {"words": in_words(slot.guarantee), "left": str(slot.remaining())},
        "batch": None if batch is None else certified(ledger, batch),
        "account": {"name": account.name, "total": in_words(account.budget.total), "state": str(account.state)},
        "receipt": view.receipt.document(),
        "head": ledger.head.document(),
        "words": _words(slot, batch, view),
    }


def _of_request(slot: Slot, view: RequestView, declared: Declared) -> dict[str, str]:
    """What proves the guarantee of the request by itself."""
    form = view.form
    if view.kind in ("question", "planned"):
        noise = {"the noise": read_question(form["question"]).noise.theorem}
        return noise | (_of_plan(slot, form, declared) if view.kind == "planned" else {})
    if view.kind == "plan":
        return {"the plan": _composition(view, declared)}
    document = form["mechanism"] if view.kind == "mechanism" else slot.request(form["mechanism"]).form["mechanism"]
    return {"the mechanism": read_mechanism(document).theorem}


def _of_plan(slot: Slot, form: Mapping[str, Any], declared: Declared) -> dict[str, str]:
    return _of_request(slot, slot.request(form["committed"]), declared)


def _composition(view: RequestView, declared: Declared) -> str:
    """By what the questions of a plan come to what was paid for it."""
    questions = [read_question(each) for each in view.form["plan"]]
    costs = [cost for question in questions for cost in question.costs(declared)]
    return compose(costs, delta=view.form["delta"]).theorem


def _theorem(role: str, name: str) -> dict[str, str]:
    found = theorem(name)
    told = {"id": found.id, "name": found.name, "statement": found.statement, "hypotheses": found.hypotheses}
    return {"about": role, **told, "source": found.source}


def certified(ledger: Ledger, batch: Batch) -> dict[str, Any]:
    """What a batch comes to, proved again, with the certificate that another program can check."""
    key = ledger.id, batch.id
    if key not in _CERTIFICATES:
        if len(_CERTIFICATES) >= _MOST:
            _CERTIFICATES.clear()
        _CERTIFICATES[key] = _proved(batch)
    return _CERTIFICATES[key]


def _proved(batch: Batch) -> dict[str, Any]:
    """What the slots come to, proved again."""
    bound = batch.bound()
    whole: Mapping[str, str] = {"epsilon": str(batch.whole.epsilon), "delta": str(batch.whole.delta)}
    about = {"name": batch.name, "slots": len(batch.shares), "total": dict(whole), "words": in_words(batch.whole)}
    return about | {"bound": bound.as_dict(), "certificate": bound.certificate(), "receipt": batch.receipt.document()}


def _words(slot: Slot, batch: Batch | None, view: RequestView) -> str:
    own = in_all(view.paid) or "nothing of its own: another request paid for it"
    lines = [f"{view.what} cost {own}.", f"All that slot {slot.name!r} tells is within {in_words(slot.guarantee)}."]
    if batch is not None:
        all_slots = f"All {len(batch.shares)} slots of batch {batch.name!r} together, whoever shares their answers,"
        lines.append(f"{all_slots} are within {in_words(batch.whole)}, by {batch.theorem} and Lyu22-1.")
    return " ".join(lines)
