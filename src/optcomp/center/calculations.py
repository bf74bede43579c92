"""What the public calculator computes: mechanisms as text in, proved totals out, as plain JSON.

No data, no ledger, no budget: all that comes in is what a visitor typed.  It runs in processes of its own
(`calculators`), which are killed when they take too long.  Numbers leave as decimals, rounded in the direction in which
they stay true, and as floats for pictures.
"""

from __future__ import annotations

import math
import time
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from functools import partial
from typing import Any

from optcomp.composition import compare, compose, excess, omitted, proves, published, shown_down, shown_up
from optcomp.errors import InvalidInput, OptcompError, shown
from optcomp.reading import (
    Argument,
    Call,
    Complaint,
    Format,
    MechanismCounts,
    MechanismText,
    blank,
    entries_of,
    entry_from,
    items_in,
    plain,
    sniff,
    tally,
    written,
)
from optcomp.theorems import Bound, Parameters, theorem

Document = dict[str, Any]
_DIGITS = 7
"""Significant digits in a comparison; the answer itself has more."""
_LISTED = 100
"""Kinds of mechanisms that are written out."""
_QUOTED = 60
"""Letters of an item that an error repeats."""
_WIDE = 1e-6
"""A bracket relatively wider than this is worth a word."""
_WIDTH_NOTE = "relative width"
"""How the library's notes on the width begin."""
ROWS: dict[str, tuple[str, tuple[str, ...]]] = {
    "pair": ("", ("epsilon", "delta")),
    "laplace": ("laplace", ("scale", "sensitivity")),
    "gaussian": ("gaussian", ("sigma", "sensitivity")),
    "sampled-gaussian": ("gaussian", ("sigma", "rate")),
    "sampled-laplace": ("laplace", ("scale", "rate")),
    "discrete-laplace": ("discrete_laplace", ("scale", "sensitivity")),
    "discrete-gaussian": ("discrete_gaussian", ("sigma", "sensitivity")),
    "rr": ("rr", ("eps", "answers")),
    "exponential": ("exponential", ("epsilon",)),
    "sparse-vector": ("sparse_vector", ("threshold_epsilon", "queries_epsilon")),
    "name-and-shame": ("name_and_shame", ("delta",)),
    "zcdp": ("zcdp", ("rho",)),
    "approx-zcdp": ("approx_zcdp", ("rho", "delta")),
    "tcdp": ("tcdp", ("rho", "omega")),
    "gdp": ("gdp", ("mu",)),
    "rdp": ("rdp", ("order", "epsilon")),
}
"""Kinds of a row in the table: the name of the mechanism, and the parameters of the first and the second cell."""
_PHRASES = (
    ("; a smaller rtol= allows more work", "; the command optcomp compose --rtol allows more"),
    ("use a filter of optcomp.interactive", "use a filter, as sessions and slots do"),
    ("bound: is about", "The answer is about"),
)
"""Words of the library that mean something to programs, and what they are on a page."""


_NAMES = {"epsilon": "ε", "delta": "δ"}
"""What arguments of the library are called on a page."""


class Wrong(OptcompError):
    """Something that a visitor gave cannot be used: which field it is about, and why."""

    def __init__(self, argument: str, words: str) -> None:
        self.argument, self.words = argument, words
        super().__init__(words)


@dataclass(frozen=True)
class Asked:
    """Mechanisms, and what is asked about them."""

    counts: MechanismCounts
    quantity: str
    at: str
    parameters: Parameters

    def bound(
        self,
        counts: MechanismCounts | None = None,
        at: str | None = None,
        method: str = "auto",
        rtol: float | None = None,
    ) -> Bound:
        """The library's answer, also about other mechanisms, at another place, or less narrow."""
        given = self.at if at is None else at
        eps, delta = (None, given) if self.quantity == "epsilon" else (given, None)
        about = self.counts if counts is None else counts
        return compose(about, epsilon=eps, delta=delta, method=method, rtol=rtol, parameters=self.parameters)

    def turned(self, at: str) -> Asked:
        """The other way round: δ for ε."""
        return Asked(self.counts, "delta" if self.quantity == "epsilon" else "epsilon", at, self.parameters)


def asked_of(given: Mapping[str, Any]) -> Asked:
    """What a visitor asks, read; `Wrong` says which field cannot be."""
    counts: MechanismCounts = {}
    for field, entries in _sources(given):
        with _about(field):
            for item, count in tally(entries).items():
                counts[item] = counts.get(item, 0) + count
    quantity, at = str(given["sought"]), str(given["at"]).strip()
    if quantity not in ("epsilon", "delta"):
        raise Wrong("sought", "choose ε or δ")
    with _about("at"):
        plain(at, "δ" if quantity == "epsilon" else "ε")
    return Asked(counts, quantity, at, "adaptive" if given.get("adaptive") else "fixed")


def _sources(given: Mapping[str, Any]) -> Iterator[tuple[str, Iterator[MechanismText]]]:
    """Every place where mechanisms may stand, by the name of its field."""
    yield "mechanisms", (entry_from(item, _quoted(item)) for item in items_in(str(given.get("mechanisms", ""))))
    for number, row in enumerate(given.get("rows", ()), start=1):
        if any(str(row.get(name, "")).strip() for name in ("first", "second", "count")):
            yield f"row-{number}", iter([_entry_of_row(row, f"row {number}")])
    training = given.get("training") or {}
    if any(str(value).strip() for value in training.values()):
        yield "training", iter([_entry_of_training(training)])


def _entry_of_row(row: Mapping[str, str], where: str) -> MechanismText:
    first, second, count = (str(row.get(name, "")).strip() for name in ("first", "second", "count"))
    kind = str(row.get("kind", ""))
    if kind not in ROWS:
        raise Wrong(where.replace(" ", "-"), f"{where}: there is no such kind of mechanism")
    name, parameters = ROWS[kind]
    if kind == "pair":
        return MechanismText(where, first, second, count)
    cells = tuple(Argument(each, value) for each, value in zip(parameters, (first, second), strict=False) if value)
    if kind.startswith("sampled-"):
        inner = Argument("mechanism", Call(name, tuple(cell for cell in cells if cell.name != "rate")))
        return MechanismText(
            where, count=count, call=Call("subsampled", (inner, *(c for c in cells if c.name == "rate")))
        )
    return MechanismText(where, count=count, call=Call(name, cells))


def _entry_of_training(training: Mapping[str, str]) -> MechanismText:
    rate, noise, steps = (str(training.get(name, "")).strip() for name in ("rate", "noise", "steps"))
    for name, value in (("sampling rate", rate), ("noise multiplier", noise), ("number of steps", steps)):
        if not value:
            raise Wrong("training", f"the {name} is missing")
    inner = Argument("mechanism", Call("gaussian", (Argument("sigma", noise),)))
    return MechanismText("training", count=steps, call=Call("subsampled", (inner, Argument("rate", rate))))


def _quoted(item: str) -> str:
    return f"“{item if len(item) <= _QUOTED else item[:_QUOTED] + '…'}”"


@contextmanager
def _about(field: str) -> Iterator[None]:
    """Whatever cannot be read here is wrong with this field."""
    try:
        yield
    except Complaint as error:
        raise Wrong(field, str(error)) from None
    except InvalidInput as error:
        name = _NAMES.get(error.argument, error.argument)
        raise Wrong(field, f"{name} {error.problem}, got {shown(error.value)}") from None


def read_file(text: str, ending: str) -> Document:
    """The mechanisms of a file, as the text that stands for them, and how many there are."""
    endings = {"csv": Format.CSV, "json": Format.JSON, "yaml": Format.YAML, "yml": Format.YAML}
    with _about("file"):
        if blank(text):
            raise Complaint("the file holds no mechanisms")
        counts = tally(entries_of(text, endings.get(ending) or sniff(text), "the file"))
    kinds = [f"{written(item)}x{count}" if count != 1 else written(item) for item, count in counts.items()]
    return {"mechanisms": "\n".join(kinds), "count": sum(counts.values())}


def answer(given: Mapping[str, Any]) -> Document:
    """The certified total, whether there is a certificate of it, and how many seconds it took."""
    asked = asked_of(given)
    begun = time.monotonic()
    with _about("at"):
        bound = asked.bound()
    kinds = [{"mechanism": written(item), "count": count} for item, count in asked.counts.items()]
    return {
        "bound": view(bound, asked),
        "kinds": kinds[:_LISTED],
        "other_kinds": max(0, len(kinds) - _LISTED),
        "certificate": _certified(bound),
        "seconds": time.monotonic() - begun,
    }


def _certified(bound: Bound) -> Document:
    try:
        found = bound.certificate()
    except InvalidInput as error:
        return {"there": False, "reason": worded(f"{error.argument}: {error.problem}")}
    return {"there": True, "reason": "", "digest": isinstance(found.get("mechanisms"), Mapping)}


def certificate(given: Mapping[str, Any]) -> Document:
    """The claim as a document that another program proves again."""
    asked = asked_of(given)
    with _about("at"):
        bound = asked.bound()
    found = _certified(bound)
    if not found["there"]:
        raise Wrong("certificate", found["reason"])
    return {"certificate": bound.certificate()}


def compared(given: Mapping[str, Any]) -> Document:
    """Every theorem's answer, best first, and those that have none, each with the reason."""
    asked = asked_of(given)
    eps, delta = (None, asked.at) if asked.quantity == "epsilon" else (asked.at, None)
    with _about("at"):
        bounds = compare(asked.counts, epsilon=eps, delta=delta, parameters=asked.parameters)
    best = bounds[0].upper
    rows = [view(bound, asked, _DIGITS) | {"excess": excess(bound.upper, best)} for bound in bounds]
    left = omitted(asked.counts, bounds, parameters=asked.parameters)
    return {"rows": rows, "left_out": [each | {"name": theorem(each["theorem"]).name} for each in left]}


def view(bound: Bound, asked: Asked, digits: int = 10) -> Document:
    """An answer for people: its sides as decimals, the theorem in words."""
    record = theorem(bound.theorem)
    return {
        "quantity": bound.quantity,
        "lower": shown_down(bound.lower, digits),
        "upper": published(bound, partial(proves, asked.counts, parameters=asked.parameters), digits),
        "finite": math.isfinite(bound.upper),
        "width": shown_up(bound.width, 2) if math.isfinite(bound.width) else None,
        "why_wide": _why_wide(bound),
        "useless": _useless(bound),
        "theorem": bound.theorem,
        "name": record.name,
        "statement": record.statement,
        "hypotheses": record.hypotheses,
        "source": record.source,
        "optimal": record.optimal,
        "method": bound.method,
        "count": bound.count,
        "notes": [worded(note) for note in bound.notes if not note.startswith(_WIDTH_NOTE)],
    }


def _why_wide(bound: Bound) -> str:
    """Why a bracket is wider than usual; empty for one that is not."""
    if bound.width <= _WIDE:
        return ""
    notes = [worded(note) for note in bound.notes if note.startswith(_WIDTH_NOTE)]
    text = "; ".join(notes) or f"relative width {shown_up(bound.width, 2)}, because its lower side is by another way"
    return text[0].upper() + text[1:]


def _useless(bound: Bound) -> str:
    """A word for an answer that promises nothing; empty for any other."""
    if math.isinf(bound.lower):
        return "none"
    if math.isinf(bound.upper):
        return "unproved"
    return "one" if bound.quantity == "delta" and bound.upper >= 1 else ""


def worded(text: str) -> str:
    """What the library says, in the words of a page."""
    for words, instead in _PHRASES:
        text = text.replace(words, instead)
    return text
