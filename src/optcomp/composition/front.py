"""`compose` and `compare`: which theorems apply, which is best.

Every answer is a `Bound`.  `auto` is the best sound method: the exact value wherever it is affordable, otherwise the
Murtagh–Vadhan bracket (or a closed form where that is tighter), and it says which in `method` and `notes`.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace

from optcomp.composition.reading import Items, read_parts
from optcomp.errors import HypothesisNotMet, InvalidInput, NotAffordable, PrecisionNotReached
from optcomp.guarantees.approximate import checked_delta, checked_epsilon
from optcomp.numerics.exact import Exact, Number, exact, whole
from optcomp.theorems import (
    dkmmn06,
    drv10,
    kov15_3_5,
    mv18_1_5,
    mv18_1_7,
    smith25_1_1,
)
from optcomp.theorems.bound import Bound, Quantity
from optcomp.theorems.parts import Parts
from optcomp.theorems.register import Parameters, theorem


@dataclass(frozen=True)
class _Question:
    """One of ε and δ is given, the other is asked for."""

    quantity: Quantity
    given: Exact


@dataclass(frozen=True)
class _Method:
    """A way to answer, in both directions."""

    name: str
    theorem: str
    epsilon_at: Callable[[Parts, Exact], Bound]
    delta_at: Callable[[Parts, Exact], Bound]

    def answer(self, parts: Parts, question: _Question) -> Bound:
        ask = self.epsilon_at if question.quantity == "epsilon" else self.delta_at
        return ask(parts, question.given)


_CLOSED = (
    _Method("basic", "DKMMN06", dkmmn06.epsilon_at, dkmmn06.delta_at),
    _Method("advanced", "DRV10", drv10.epsilon_at, drv10.delta_at),
    _Method("strong", "Smith25-1.1", smith25_1_1.epsilon_at, smith25_1_1.delta_at),
    _Method("kov", "KOV15-3.5", kov15_3_5.epsilon_at, kov15_3_5.delta_at),
)
_EXACT = _Method("exact", "MV18-1.5", mv18_1_5.epsilon_at, mv18_1_5.delta_at)
_MURTAGH_VADHAN = _Method("murtagh-vadhan", "MV18-1.7", mv18_1_7.epsilon_at, mv18_1_7.delta_at)
_NAMED = {method.name: method for method in (*_CLOSED, _EXACT, _MURTAGH_VADHAN)}

METHODS = ("auto", *_NAMED)
_LOWER_SIDE = "lower side:"
_FEW_ATOMS = 300_000  # listed in about a tenth of a second
_FINE = 1e-10
MOST_BITS = 100_000


def compose(
    parts: Items,
    *,
    delta: Number | None = None,
    epsilon: Number | None = None,
    method: str = "auto",
    rtol: float | None = None,
    eta: Number | None = None,
    bits: int | None = None,
    parameters: Parameters = "fixed",
) -> Bound:
    """How much privacy the mechanisms cost together: the optimal ε at a total `delta`, or δ at a total `epsilon`.

    `parts` is a list of guarantees, plain ε or (ε, δ) pairs, a mapping from those to counts, or an array.
    `rtol` demands a relative width and raises `PrecisionNotReached` rather than return a wider bracket.
    `eta` is the accuracy of method "murtagh-vadhan"; `bits` asks for the exact answer to that many bits.
    `parameters="adaptive"` says that ε_i were chosen after seeing answers, which optimal composition does not cover.
    """
    question = _question(delta, epsilon)
    _check_options(method, eta, bits, parameters)
    wanted = None if rtol is None else _checked_rtol(rtol)
    read = read_parts(parts)
    if bits is not None:
        _require("MV18-1.5", read, parameters)
        bound = mv18_1_5.to_bits(question.quantity, read, question.given, whole(bits, "bits", 1, MOST_BITS))
    elif method == "auto":
        bound = _auto(read, question, parameters, wanted)
    else:
        bound = _by_name(method, read, question, parameters, eta)
    if wanted is not None and not bound.width <= wanted:
        raise PrecisionNotReached(bound, wanted, bound.width)
    return bound


def compare(
    parts: Items, *, delta: Number | None = None, epsilon: Number | None = None, parameters: Parameters = "fixed"
) -> list[Bound]:
    """Every theorem that applies, best (smallest upper side) first."""
    question = _question(delta, epsilon)
    _check_options("auto", None, None, parameters)
    read = read_parts(parts)
    bounds = [_auto(read, question, parameters)]
    for method in (*_CLOSED, _MURTAGH_VADHAN):
        if method is _MURTAGH_VADHAN and not mv18_1_7.quick(read):
            continue
        try:
            bound = _by_name(method.name, read, question, parameters, None)
        except (HypothesisNotMet, NotAffordable):
            continue
        if (bound.theorem, bound.method) not in {(known.theorem, known.method) for known in bounds}:
            bounds.append(bound)
    return sorted(bounds, key=lambda bound: bound.upper)


def _question(delta: Number | None, epsilon: Number | None) -> _Question:
    if (delta is None) == (epsilon is None):
        raise InvalidInput("delta, epsilon", (delta, epsilon), "give exactly one of the two")
    if delta is not None:
        return _Question("epsilon", checked_delta(delta))
    return _Question("delta", checked_epsilon(epsilon))


def _checked_rtol(rtol: object) -> float:
    value = exact(rtol, "rtol")
    if value < 0:
        raise InvalidInput("rtol", rtol, "must not be negative")
    return float(value)


def _check_options(method: str, eta: object, bits: object, parameters: object) -> None:
    if method not in METHODS:
        raise InvalidInput("method", method, f"must be one of {', '.join(METHODS)}")
    if parameters not in ("fixed", "adaptive"):
        raise InvalidInput("parameters", parameters, "must be 'fixed' or 'adaptive'")
    if eta is not None and method != "murtagh-vadhan":
        raise InvalidInput("eta", eta, f"belongs to method 'murtagh-vadhan', not to {method!r}")
    if bits is not None and method not in ("auto", "exact"):
        raise InvalidInput("bits", bits, f"belongs to method 'exact', not to {method!r}")


def _require(id: str, parts: Parts, parameters: Parameters) -> None:
    theorem(id).require(parameters=parameters, all_equal=parts.all_equal)


def _by_name(name: str, parts: Parts, question: _Question, parameters: Parameters, eta: Number | None) -> Bound:
    method = _NAMED[name]
    _require(method.theorem, parts, parameters)
    if method is _MURTAGH_VADHAN:
        ask = mv18_1_7.epsilon_at if question.quantity == "epsilon" else mv18_1_7.delta_at
        return ask(parts, question.given, eta)
    bound = method.answer(parts, question)
    return bound if method is _EXACT else _with_lower(bound, parts, question)


def _with_lower(bound: Bound, parts: Parts, question: _Question) -> Bound:
    """The same with a lower side at least that of the largest group of equal ε alone, beside all the leaks."""
    counts: dict[tuple[Exact, Exact], int] = {(0.0, delta): count for delta, count in parts.leaks}
    if parts.coins:
        eps, count = max(parts.coins, key=lambda coin: float(coin[0]) ** 2 * coin[1])
        counts[eps, 0.0] = count
    try:
        lower = _EXACT.answer(Parts.of(counts), question).lower
    except NotAffordable:  # whether any ε works is undecided
        return bound
    if lower <= bound.lower:
        return bound
    notes = tuple(note for note in bound.notes if not note.startswith(_LOWER_SIDE))
    return replace(bound, lower=lower, notes=(*notes, f"{_LOWER_SIDE} the largest group of equal ε alone"))


def _auto(parts: Parts, question: _Question, parameters: Parameters, rtol: float | None = None) -> Bound:
    if parameters == "adaptive":
        return _by_name("basic", parts, question, parameters, None)
    try:
        return _exactly(parts, question, rtol)
    except NotAffordable:
        return _bracket(parts, question, rtol)


def _exactly(parts: Parts, question: _Question, rtol: float | None) -> Bound:
    """The optimum; where listing atoms would take long, a lattice that fits the ε_i if it is as good for practice."""
    exact_at = mv18_1_5.epsilon_at if question.quantity == "epsilon" else mv18_1_5.delta_at
    try:
        return exact_at(parts, question.given, _FEW_ATOMS)
    except NotAffordable:
        bound = _fitting_lattice(parts, question)
        if bound is not None and bound.width <= min(_FINE, rtol or _FINE):
            return bound
    return exact_at(parts, question.given)


def _fitting_lattice(parts: Parts, question: _Question) -> Bound | None:
    """The bracket on a lattice that every ε_i lies on, if there is one and its table is small."""
    if mv18_1_7.shared_unit(parts, mv18_1_7.QUICK_WORK) is None:
        return None
    try:
        return _lattice(parts, question, None)
    except ArithmeticError:  # parameters too far apart for one table
        return None


def _bracket(parts: Parts, question: _Question, rtol: float | None) -> Bound:
    """Murtagh–Vadhan within a few seconds, or as fine as a demanded width needs if that is affordable.

    The upper side is the closed form's where that is smaller.
    """
    closed = min((method.answer(parts, question) for method in _CLOSED if method.name in ("basic", "kov")), key=_upper)
    try:
        bound = _lattice(parts, question, rtol)
    except ArithmeticError:  # parameters too far apart for one table
        bound = closed
    if closed.upper < bound.upper:
        notes = (*closed.notes, f"{_LOWER_SIDE} MV18-1.7, ε_i rounded down")
        bound = replace(closed, lower=bound.lower, notes=notes)
    return _with_lower(bound, parts, question)


def _lattice(parts: Parts, question: _Question, rtol: float | None) -> Bound:
    unit, note = mv18_1_7.quick_unit(parts)
    lattice = mv18_1_7.epsilon_on if question.quantity == "epsilon" else mv18_1_7.delta_on
    bound = lattice(parts, question.given, unit, note)
    if rtol is not None and bound.width > rtol > 0:
        finer = 0.7 * unit * rtol / bound.width
        if mv18_1_7.table_cost(*parts.sizes, finer) <= mv18_1_7.MOST_WORK:
            return lattice(parts, question.given, finer)
    return bound


def _upper(bound: Bound) -> float:
    return bound.upper
