"""What a client can do with a centre, as exchanges: the one place that knows paths and bodies."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, replace
from fractions import Fraction
from typing import Any
from urllib.parse import quote

from optcomp.client.exchange import Call, Flow, exchange, key_of
from optcomp.client.failures import NotServed
from optcomp.errors import InvalidInput
from optcomp.interactive import (
    Answer,
    Entry,
    Mechanism,
    Remaining,
    read_answer,
    read_mechanism,
    read_request_document,
)
from optcomp.numerics import Number
from optcomp.statistics import Declared, Question, number_text, read_declaration

_API = "/api/v1"
"""Where the centre's interface begins."""


@dataclass(frozen=True)
class SeatPlace:
    """A seat, the table it is about, and where its requests go."""

    id: int
    slot: str
    dataset: str
    declared: Declared
    retries: int

    @property
    def path(self) -> str:
        """Where its requests go."""
        return f"{_API}/seats/{self.id}"


def datasets(retries: int) -> Flow[list[str]]:
    """The names of the datasets that one may ask."""
    found = yield from exchange(Call("GET", f"{_API}/datasets"), retries)
    return [str(each["name"]) for each in found["datasets"]]


def free_answers(dataset: str, retries: int) -> Flow[list[Answer]]:
    """Answers that others shared."""
    declared = yield from _declared(dataset, retries)
    found = yield from exchange(Call("GET", f"{_API}/datasets/{quote(dataset, safe='')}/free"), retries)
    return [_answer(each, declared) for each in found["answers"]]


def opened(dataset: str, slot: str | None, retries: int) -> Flow[SeatPlace]:
    """The seat at a dataset; its slot must be named if there are several."""
    found = yield from exchange(Call("GET", f"{_API}/seats"), retries)
    mine = [each for each in found["seats"] if each["dataset"] == dataset and slot in (None, each["slot"])]
    if not mine:
        raise NotServed("not_found", 404, f"you have no such seat at {dataset!r}")
    if len(mine) > 1:
        raise InvalidInput("slot", slot, f"must be one of {', '.join(each['slot'] for each in mine)}")
    declared = yield from _declared(dataset, retries)
    return SeatPlace(int(mine[0]["id"]), str(mine[0]["slot"]), dataset, declared, retries)


def ask(
    seat: SeatPlace, question: Question, key: str | None = None, repeat: int = 0, share: bool = False
) -> Flow[Answer]:
    """An answer, paid once however often it is asked for."""
    form = {"question": question.document(), "repeat": repeat}
    body = {**form, "key": _key("question", form, key), "share": share}
    found = yield from exchange(Call("POST", f"{seat.path}/questions", body), seat.retries)
    return _answer(found, seat.declared)


def remaining(seat: SeatPlace, like: Question | None) -> Flow[Remaining]:
    """What is left; how many more such questions fit."""
    found = yield from exchange(Call("GET", seat.path), seat.retries)
    left = found["left"]
    amounts = {name: (Fraction(each["left"]), Fraction(each["whole"])) for name, each in left["amounts"].items()}
    if like is None:
        return Remaining(amounts, largest=None if left["largest"] is None else Fraction(left["largest"]))
    told = yield from preview(seat, like, 0.95)
    return Remaining(amounts, like=like.costs(seat.declared)[0], count=told["more"])


def transcript(seat: SeatPlace) -> Flow[tuple[Entry, ...]]:
    """Everything that was asked, with its outcome; read in pieces."""
    lines: list[dict[str, Any]] = []
    more = True
    while more:
        after = lines[-1]["request"] if lines else 0
        found = yield from exchange(Call("GET", f"{seat.path}/transcript?after={after}"), seat.retries)
        lines += found["requests"]
        more = found["more"] and bool(found["requests"])
    return tuple(_entry(number, line) for number, line in enumerate(lines))


def _entry(number: int, line: dict[str, Any]) -> Entry:
    costs = tuple(read_request_document(each) for each in line["paid"]["exact"])
    return Entry(number, line["what"], costs, line["outcome"], f"request {line['request']}")


def preview(seat: SeatPlace, question: Question, confidence: float) -> Flow[dict[str, Any]]:
    """What a question would cost, how far off it may be, how many more would fit; nothing is spent."""
    body = {"question": question.document(), "confidence": confidence}
    found: dict[str, Any] = yield from exchange(Call("POST", f"{seat.path}/preview", body), seat.retries)
    return found


def dry_run(seat: SeatPlace, question: Question, rows: int) -> Flow[Answer]:
    """The answer to a question about invented data; nothing is spent."""
    path = f"{_API}/datasets/{quote(seat.dataset, safe='')}/dry-run"
    found = yield from exchange(Call("POST", path, {"question": question.document(), "rows": rows}), seat.retries)
    return replace(_answer(found, seat.declared), invented=True)


def why(seat: SeatPlace, request: int) -> Flow[dict[str, Any]]:
    """Why an answer is private: theorems, slot, certificate, receipt."""
    found: dict[str, Any] = yield from exchange(Call("GET", f"{seat.path}/requests/{request}/why"), seat.retries)
    return found


def wish(seat: SeatPlace, words: str) -> Flow[dict[str, Any]]:
    """Ask the owner for more."""
    found: dict[str, Any] = yield from exchange(Call("POST", f"{seat.path}/wishes", {"words": words}, False), 0)
    return found


def cancel(seat: SeatPlace, key: str) -> Flow[dict[str, Any]]:
    """Stop a request; what it cost stays spent."""
    found: dict[str, Any] = yield from exchange(Call("POST", f"{seat.path}/cancel", {"key": key}), seat.retries)
    return found


def open_mechanism(seat: SeatPlace, mechanism: Mechanism, key: str | None, repeat: int) -> Flow[tuple[int, Mechanism]]:
    """Pay for an interactive mechanism; its number."""
    spec = read_mechanism(mechanism.document())
    form = {"mechanism": spec.document(), "repeat": repeat}
    body = {**form, "key": _key("mechanism", form, key)}
    found = yield from exchange(Call("POST", f"{seat.path}/mechanisms", body), seat.retries)
    return int(found["mechanism"]), spec


def ask_mechanism(seat: SeatPlace, number: int, spec: Mechanism, asked: Any, key: str | None, repeat: int) -> Flow[Any]:
    """An answer of a mechanism."""
    form = {"ask": asked, "repeat": repeat}
    body = {**form, "key": _key("ask", {**form, "mechanism": number}, key)}
    found = yield from exchange(Call("POST", f"{seat.path}/mechanisms/{number}/questions", body), seat.retries)
    return spec.read_told(found["answer"])


def commit(seat: SeatPlace, questions: Iterable[Question], delta: Number, key: str | None) -> Flow[tuple[int, int]]:
    """Declare questions before the first answer; number of the plan, and how many questions it has."""
    asked = [question.document() for question in questions]
    form = {"questions": asked, "delta": number_text(delta, "delta")}
    body = {**form, "key": _key("plan", form, key)}
    found = yield from exchange(Call("POST", f"{seat.path}/plans", body), seat.retries)
    return int(found["plan"]), len(asked)


def planned(seat: SeatPlace, plan: int, index: int) -> Flow[Answer]:
    """The answer to a question of a plan."""
    found = yield from exchange(Call("POST", f"{seat.path}/plans/{plan}/answers", {"index": index}), seat.retries)
    return _answer(found, seat.declared)


def explained(seat: SeatPlace) -> Flow[str]:
    """What a seat asked and what is left, in words."""
    left = yield from remaining(seat, None)
    entries = yield from transcript(seat)
    lines = [
        f"{seat.slot} asks about {seat.dataset}; neighbours differ in one person ({seat.declared.neighbours}).",
        "All slots of its batch together are private by Lyu22-1, whatever is asked in them; `why` has the certificate.",
        f"Left: {left}",
        "",
    ]
    lines += [f"{each.number + 1:4}. {each.outcome:9} {each.what} ({each.note})" for each in entries]
    return "\n".join(lines)


def _declared(dataset: str, retries: int) -> Flow[Declared]:
    found = yield from exchange(Call("GET", f"{_API}/datasets/{quote(dataset, safe='')}"), retries)
    return read_declaration(found["declaration"])


def _answer(found: dict[str, Any], declared: Declared) -> Answer:
    return replace(read_answer(found["answer"], declared), receipt=found.get("receipt"))


def _key(kind: str, form: dict[str, Any], key: str | None) -> str:
    """A seat asks one version of its data set, so none is part of the key: a renewal makes nobody pay twice."""
    return key_of(kind, form) if key is None else key
