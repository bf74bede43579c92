"""What a process that answers can do: each job takes and gives plain JSON, and is done within one ledger.

`JOBS[name](ledger, settings, **arguments)` gives a result or raises; `perform` gives a result or says what went wrong,
in words that hold no value of the data.  A seat is {"account", "slot", "snapshot"}: names in the ledger, and the folder
of a snapshot.  Looking at a seat takes nothing: a slot is taken by the first question that is asked in it.
"""

from __future__ import annotations

import inspect
import json
import tempfile
from collections.abc import Callable, Iterator, Mapping, Sequence
from itertools import islice
from pathlib import Path
from typing import Any

from optcomp.center.bounds import MOST_FREE_NUMBERS, check_mechanism, check_statistic, check_together
from optcomp.center.desk import LOG, Place, session_of, slot_of, table_of
from optcomp.center.dry_runs import dry_run as invented_answer
from optcomp.center.failures import failure, left_document
from optcomp.center.kinds import kind_of
from optcomp.center.opened import declared_in
from optcomp.center.planning_jobs import PLANNING_JOBS
from optcomp.center.previews import preview as previewed
from optcomp.center.previews import whole_cost
from optcomp.center.reasons import certified, reasons
from optcomp.center.records import ANSWERED, line_of, paid_of
from optcomp.center.release_jobs import RELEASE_JOBS
from optcomp.center.standing import mechanisms, preview_mechanism
from optcomp.errors import InvalidInput, OptcompError
from optcomp.interactive import (
    Request,
    in_words,
    question_offers,
    read_answer,
    read_mechanism,
)
from optcomp.ledger import (
    DurableRun,
    DurableSession,
    HistoryEntry,
    Ledger,
    RequestState,
    RequestView,
    Slot,
    Stored,
    snapshot_name,
)
from optcomp.numerics import Number, whole
from optcomp.statistics import Declared, Entries, read_declaration, read_question, read_statistic

Document = dict[str, Any]
"""Plain JSON."""
Job = Callable[..., Document]
"""Takes a ledger, settings and the arguments of the job."""

_COUNTERS = ("positives_left", "corrections_left")
"""What mechanisms tell about themselves beside their answers."""
_STEPS = 4096
"""Weights of multiplicative weights are whole numbers of such parts."""
_MOST_LINES = 1000
"""Lines of a transcript that are told at once."""


def ask(
    ledger: Ledger,
    settings: Place,
    *,
    seat: Mapping[str, str],
    question: Mapping[str, Any],
    key: str | None = None,
    repeat: int = 0,
) -> Document:
    """Answer a question: debited before it runs, and once for each key."""
    asked = read_question(question)
    form = {"question": asked.document(), "repeat": repeat}
    with session_of(ledger, settings, seat, key, form) as session:
        check_statistic(asked.statistic, session.table)
        return _told(session, session.ask_stored(asked, key=key, repeat=repeat))


def open_mechanism(
    ledger: Ledger,
    settings: Place,
    *,
    seat: Mapping[str, str],
    mechanism: Mapping[str, Any],
    key: str | None = None,
    repeat: int = 0,
) -> Document:
    """Pay for an interactive mechanism and start it."""
    spec = read_mechanism(mechanism)
    form = {"mechanism": spec.document(), "repeat": repeat}
    with session_of(ledger, settings, seat, key, form) as session:
        check_mechanism(spec, session.table)
        run = session.open(spec, key=key, repeat=repeat)
        return {"mechanism": run.request, "document": spec.document(), **_paid_for(session, run.request)}


def ask_mechanism(
    ledger: Ledger,
    settings: Place,
    *,
    seat: Mapping[str, str],
    mechanism: int,
    asked: Mapping[str, Any],
    key: str | None = None,
    repeat: int = 0,
) -> Document:
    """Ask a mechanism that is open; it was paid for when it was opened."""
    with session_of(ledger, settings, seat, key) as session:
        run = session.run(mechanism)
        stored = run.ask_stored(**_arguments(run, asked), key=key, repeat=repeat)
        left = {name: getattr(run, name) for name in _COUNTERS if hasattr(run, name)}
        told = {"answer": json.loads(stored.answer), "mechanism": run.request, "left": left}
        return told | _paid_for(session, stored.id)


def commit(
    ledger: Ledger,
    settings: Place,
    *,
    seat: Mapping[str, str],
    questions: Sequence[Mapping[str, Any]],
    delta: Number = 0,
    key: str | None = None,
) -> Document:
    """Declare a batch of questions whole before its first answer, at the price of its optimal composition."""
    if not isinstance(questions, list):
        raise InvalidInput("questions", type(questions).__name__, "must be a list of questions")
    asked = [read_question(each) for each in questions]
    with session_of(ledger, settings, seat, key) as session:
        check_together((each.statistic for each in asked), session.table, "questions")
        plan = session.commit(asked, delta=delta, key=key)
        told = {"plan": plan.request, "questions": len(asked), "bound": plan.bound.as_dict()}
        return told | _paid_for(session, plan.request)


def planned(ledger: Ledger, settings: Place, *, seat: Mapping[str, str], plan: int, index: int) -> Document:
    """The answer to a question of a plan, which was paid for when it was committed."""
    with session_of(ledger, settings, seat, None, {"committed": plan, "index": index}) as session:
        stored = session.plan(plan).answer_stored(index)
        return {"plan": plan, "index": index} | _told(session, stored)


def remaining(
    ledger: Ledger, settings: Place, *, seat: Mapping[str, str], like: Mapping[str, Any] | None = None
) -> Document:
    """What is left in a slot; with a question, how many more like it fit."""
    slot = slot_of(ledger, seat)
    left = left_document(slot.remaining()) or {}
    counted = None if like is None else slot.remaining(_alike(like, declared_in(seat["snapshot"])))
    more = {} if counted is None else {"count": counted.count, "like": in_words(counted.like)}
    whole = {"epsilon": str(slot.epsilon), "delta": str(slot.delta)}
    state = {"state": str(slot.state), "slot": slot.name, "whole": whole, "budget": slot.budget.document()}
    return {**left, **more, **state}


def preview(
    ledger: Ledger,
    settings: Place,
    *,
    seat: Mapping[str, str],
    question: Mapping[str, Any],
    confidence: float = 0.95,
) -> Document:
    """What a question would cost here, and how far off its answer would be; no table is opened."""
    return previewed(declared_in(seat["snapshot"]), question, remaining(ledger, settings, seat=seat), confidence)


def transcript(
    ledger: Ledger,
    settings: Place,
    *,
    seat: Mapping[str, str],
    after: int = 0,
    most: int = _MOST_LINES,
    newest: bool = False,
    key: str | None = None,
) -> Document:
    """What was asked in a slot, with the answers that were given; `after` is the last request that is known.

    With `newest` the last requests and not the first ones; with a `key` the request under it alone.
    """
    slot = slot_of(ledger, seat)
    if key is not None:
        view = slot.request_under(key)
        return {"requests": [] if view is None else [line_of(view)], "more": False}
    found = slot.requests(after=after, most=whole(most, "most", 1, _MOST_LINES), newest=newest)
    return {"requests": [line_of(view) for view in found], "more": len(found) == most}


def why(ledger: Ledger, settings: Place, *, seat: Mapping[str, str], request: int) -> Document:
    """Why the answer to a request is private: theorems, slot, certificate of the batch, receipt."""
    slot = slot_of(ledger, seat)
    account, declared = ledger.account(seat["account"]), declared_in(seat["snapshot"])
    return reasons(ledger, account, slot, slot.request(request), declared)


def free(
    ledger: Ledger,
    settings: Place,
    *,
    seats: Sequence[Mapping[str, Any]],
    snapshot: str | None = None,
    question: Mapping[str, Any] | None = None,
) -> Document:
    """Stored answers that may be told again for nothing: each seat names the `requests` that were shared.

    Only answers to questions are among them, and none of mechanisms; with a `snapshot`, only those about it; with a
    `question`, only those to an equal one: the same statistic, noise and budget.
    """
    wanted = None if question is None else read_question(question).document()
    about = None if snapshot is None else snapshot_name(table_of(settings, snapshot))
    shared = ((slot_of(ledger, seat), number) for seat in seats for number in seat["requests"])
    found = [
        line_of(view)
        for slot, view in ((slot, slot.request(number)) for slot, number in shared)
        if view.kind in ("question", "planned") and view.state in ANSWERED
        if wanted is None or view.form["question"] == wanted
        if snapshot is None or _snapshot(slot, view) == about
    ]
    return {"answers": [{name: line[name] for name in ("what", "form", "answer", "receipt")} for line in found]}


def certificate(ledger: Ledger, settings: Place, *, account: str, slot: str) -> Document:
    """What the batch of a slot comes to, proved again, with its certificate."""
    batch = ledger.account(account).slot(slot).batch()
    if batch is None:
        raise InvalidInput("slot", slot, "was cut in no batch")
    return certified(ledger, batch)


def verify(ledger: Ledger, settings: Place, *, receipts: Sequence[Mapping[str, Any]] = ()) -> Document:
    """Derive every total again from the chain."""
    return ledger.verify(receipts=receipts).document()


def export(ledger: Ledger, settings: Place) -> Document:
    """A signed export as text, for auditors: all entries and questions, and no answer."""
    with tempfile.TemporaryDirectory(prefix="optcomp-export-") as folder:
        path = Path(folder) / "ledger.jsonl"
        made = ledger.export(path).document()
        made.pop("path")
        return {**made, "text": path.read_text(encoding="utf8")}


def history(
    ledger: Ledger,
    settings: Place,
    *,
    after: int = 0,
    most: int = _MOST_LINES,
    accounts: Sequence[str] | None = None,
) -> Document:
    """Entries of the chain after one of this number, in words: no answer; of some accounts alone, if they are named."""
    after, most = whole(after, "after", 0, 2**62), whole(most, "most", 1, _MOST_LINES)
    if accounts is None:
        found = ledger.history(after=after, most=most)
        return {"entries": [each.document() for each in found], "last": ledger.head.sequence}
    seen = list(islice(_entries_of(ledger, accounts, after), most + 1))
    return {"entries": [each.document() for each in seen[:most]], "last": seen[-1].sequence if seen else after}


def _entries_of(ledger: Ledger, accounts: Sequence[str], after: int) -> Iterator[HistoryEntry]:
    while page := ledger.history(after=after, most=_MOST_LINES):
        yield from (each for each in page if each.account in accounts)
        after = page[-1].sequence


def accounts(ledger: Ledger, settings: Place) -> Document:
    """All accounts as they stand."""
    head = ledger.head.document()
    return {"ledger": ledger.id, "head": head, "accounts": [view.document() for view in ledger.overview()]}


def dry_run(
    ledger: Ledger,
    settings: Place,
    *,
    declaration: Mapping[str, Any],
    question: Mapping[str, Any],
    rows: int = 1000,
    seed: int = 0,
) -> Document:
    """Answer a question about invented rows; no snapshot is opened, and nothing is spent."""
    declared, asked = read_declaration(declaration), read_question(question)
    check_statistic(asked.statistic, declared, MOST_FREE_NUMBERS)
    found = invented_answer(declared, asked, rows=rows, seed=seed)
    answer = {"answer": found.document(), "value": plain(found.value), "rows": rows, "seed": seed}
    return {"dry_run": True, **answer, "receipt": None}


def ping(ledger: Ledger, settings: Place) -> Document:
    """How far the ledger has come: whoever asks learns that this process works, and reaches the ledger."""
    return {"sequence": ledger.head.sequence}


def finish_waiting(ledger: Ledger, settings: Place, *, seats: Sequence[Mapping[str, str]]) -> Document:
    """Run what was paid for in these slots and has no answer, because the process that ran it is gone."""
    done: dict[str, list[int]] = {"finished": [], "left": []}
    for seat in seats:
        waiting = [view for view in slot_of(ledger, seat).requests() if view.state == RequestState.RESERVED]
        for view in waiting:
            if not view.running:
                done["finished" if _finished(ledger, settings, seat, view) else "left"].append(view.id)
    return dict(done)


JOBS: dict[str, Job] = {
    job.__name__: job
    for job in (
        ask,
        open_mechanism,
        ask_mechanism,
        commit,
        planned,
        remaining,
        preview,
        transcript,
        mechanisms,
        preview_mechanism,
        why,
        free,
        certificate,
        verify,
        history,
        export,
        accounts,
        dry_run,
        ping,
        finish_waiting,
        *PLANNING_JOBS,
        *RELEASE_JOBS,
    )
}
"""By name."""


def perform(ledger: Ledger, settings: Place, job: str, arguments: Mapping[str, Any]) -> Document:
    """A job's result; if it fails, what is told of that.  MemoryError is for the process, which should end."""
    try:
        if job not in JOBS:
            raise InvalidInput("job", job, f"must be one of {', '.join(JOBS)}")
        _check_arguments(JOBS[job], arguments)
        return JOBS[job](ledger, settings, **arguments)
    except Exception as error:
        if "MemoryError" in (type(error).__name__, getattr(error, "kind", None)):
            raise MemoryError from None
        if not isinstance(error, OptcompError):
            LOG.warning("%s: %s", job, type(error).__name__)  # its text may hold values
        return failure(error, spends=kind_of(job).spends)


def plain(value: Any) -> Any:
    """What was told, ready for JSON: a number, or a list of cells with their numbers."""
    if isinstance(value, Mapping):
        return [[plain(cell), plain(number)] for cell, number in value.items()]
    if isinstance(value, tuple | list):
        return [plain(each) for each in value]
    return value if isinstance(value, str | bool | int | None) else float(value)


def _check_arguments(job: Job, arguments: Mapping[str, Any]) -> None:
    known = {name: each for name, each in inspect.signature(job).parameters.items() if each.kind is each.KEYWORD_ONLY}
    for name in arguments:
        if name not in known:
            raise InvalidInput("arguments", name, f"is not one of {', '.join(known)}")
    for name, parameter in known.items():
        if parameter.default is parameter.empty and name not in arguments:
            raise InvalidInput("arguments", name, "is missing")


def _arguments(run: DurableRun, asked: Mapping[str, Any]) -> dict[str, Any]:
    """What `ask` of a mechanism takes, from the form of a question."""
    entries, wanted = Entries(asked, "ask"), list(inspect.signature(run.spec.form).parameters)[1:]
    found: dict[str, Any] = {}
    if "statistic" in wanted:
        found["statistic"] = read_statistic(entries.take("statistic", Mapping))
    if "guess" in wanted:
        found["guess"] = entries.number("guess")
    if "weights" in wanted:
        found["weights"] = entries.take("where", str) if entries.has("where") else _weights(entries)
    entries.done()
    return found


def _weights(entries: Entries) -> list[float]:
    steps = entries.take("weights", Sequence)
    if any(isinstance(step, bool) or not isinstance(step, int) for step in steps):
        raise InvalidInput("ask.weights", len(steps), f"must be whole numbers of parts of {_STEPS}")
    return [step / _STEPS for step in steps]


def _told(session: DurableSession, stored: Stored) -> Document:
    """An answer to a question, as it is sent on."""
    document = json.loads(stored.answer)
    value = plain(read_answer(document, session.table.declared).value)
    return {"answer": document, "value": value, **_paid_for(session, stored.id)}


def _paid_for(session: DurableSession, request: int) -> Document:
    """What a request cost, its receipt, and what is left."""
    view, left = session.request(request), left_document(session.remaining())
    return {"request": request, "paid": paid_of(view), "receipt": view.receipt.document(), "remaining": left}


def _snapshot(slot: Slot, view: RequestView) -> Any:
    """By what the ledger knows the snapshot that an answer is about; that of a plan, if it was paid with one."""
    return (view if view.kind == "question" else slot.request(view.form["committed"])).form["snapshot"]


def _alike(question: Mapping[str, Any], declared: Declared) -> Request:
    """What one more such question costs a slot."""
    return whole_cost(question_offers(read_question(question), declared))


def _finished(ledger: Ledger, settings: Place, seat: Mapping[str, str], view: RequestView) -> bool:
    """Whether a request that was paid for has an answer now; it is run under its own key."""
    form, key = view.form, view.key
    try:
        with session_of(ledger, settings, seat, key) as session:
            if view.kind == "question":
                session.ask_stored(read_question(form["question"]), key=key, repeat=form["repeat"])
            elif view.kind == "mechanism":
                session.open(read_mechanism(form["mechanism"]), key=key, repeat=form["repeat"])
            elif view.kind == "plan":
                session.commit([read_question(each) for each in form["plan"]], delta=form["delta"], key=key)
            elif view.kind == "planned":
                session.plan(form["committed"]).answer_stored(form["index"])
            else:
                return False
    except Exception as error:
        LOG.warning("request %d stays without an answer (%s)", view.id, type(error).__name__)
        return False
    return True
