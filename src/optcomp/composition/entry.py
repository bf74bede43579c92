"""`compose` and `compare`: which theorems apply, which is best.

Every answer is a `Bound`.  `auto` is the best sound method: a closed form or a short list of atoms where that is cheap,
otherwise the certified engine, and it says which in `theorem`, `method` and `notes`.
"""

from __future__ import annotations

from collections.abc import Callable
from contextlib import suppress
from dataclasses import dataclass, replace

from optcomp.composition import mixed
from optcomp.composition.reading import Items, read_any
from optcomp.composition.widths import is_narrow, with_width_note
from optcomp.errors import HypothesisNotMet, InvalidInput, NotAffordable, PrecisionNotReached
from optcomp.guarantees.approximate import checked_delta, checked_epsilon
from optcomp.instances.mixture import Mixture
from optcomp.instances.parts import Parts
from optcomp.numerics.contour.anchor import Anchor
from optcomp.numerics.exact import Exact, Number, exact, whole
from optcomp.theorems import (
    cks20,
    dkmmn06,
    drv10,
    kov15_3_5,
    mv18_1_5,
    mv18_1_7,
    opt,
    smith25_1_1,
    zdw22,
)
from optcomp.theorems.bound import Bound, Quantity
from optcomp.theorems.opt import Effort
from optcomp.theorems.register import Parameters, theorem


@dataclass(frozen=True)
class Question:
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

    def answer(self, parts: Parts, question: Question) -> Bound:
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
_CERTIFIED = _Method("certified", opt.ID, opt.epsilon_at, opt.delta_at)
_RENYI = _Method(
    "renyi",
    cks20.ID,
    lambda parts, delta: cks20.epsilon_at(Mixture(parts), delta),
    lambda parts, epsilon: cks20.delta_at(Mixture(parts), epsilon),
)
_NAMED = {method.name: method for method in (*_CLOSED, _EXACT, _MURTAGH_VADHAN, _CERTIFIED, _RENYI)}

METHODS = ("auto", *_NAMED)
_TWO_SIDED = ("auto", "certified", "exact")
"""These aim at the default width.  The others are asked for by name, to be compared, and are as wide as they are."""
_LOWER_SIDE = "lower side:"
_FEW_ATOMS = 300_000  # listed in about a tenth of a second
_MIXED_WORK = 5e8
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
    question = question_of(delta, epsilon)
    _check_options(method, eta, bits, parameters)
    wanted = None if rtol is None else checked_rtol(rtol)
    read = read_any(parts)
    if isinstance(read, Mixture):
        bound = _mixed(method, read, question, parameters, eta, bits, wanted)
    elif bits is not None:
        _require("MV18-1.5", read, parameters)
        bound = mv18_1_5.to_bits(question.quantity, read, question.given, whole(bits, "bits", 1, MOST_BITS))
    elif method == "auto":
        bound = _auto(read, question, parameters, wanted)
    else:
        bound = _by_name(method, read, question, parameters, eta, wanted)
    bound = replace(bound, about=read)
    if method in _TWO_SIDED:
        bound = _noted(bound, parameters, read, wanted)
    if wanted is not None and not bound.width <= wanted:
        raise PrecisionNotReached(bound, wanted, bound.width)
    return bound


def _noted(
    bound: Bound, parameters: Parameters, read: Parts | Mixture | None = None, rtol: float | None = None
) -> Bound:
    """The same, with a word on its width where it has two sides."""
    if parameters == "adaptive":
        return bound
    return with_width_note(bound, rtol, isinstance(read, Mixture) and bool(read.bounded))


def compare(
    parts: Items, *, delta: Number | None = None, epsilon: Number | None = None, parameters: Parameters = "fixed"
) -> list[Bound]:
    """Every theorem that applies, best (smallest upper side) first."""
    question = question_of(delta, epsilon)
    _check_options("auto", None, None, parameters)
    read = read_any(parts)
    if isinstance(read, Mixture):
        return _compare_mixed(read, question, parameters)
    bounds = [_noted(_auto(read, question, parameters), parameters)]
    for method in (*_CLOSED, _MURTAGH_VADHAN, _RENYI):
        if method is _MURTAGH_VADHAN and not mv18_1_7.quick(read):
            continue
        try:
            bound = _by_name(method.name, read, question, parameters)
        except (HypothesisNotMet, NotAffordable):
            continue
        if (bound.theorem, bound.method) not in {(known.theorem, known.method) for known in bounds}:
            bounds.append(bound)
    return sorted(bounds, key=lambda bound: bound.upper)


def question_of(delta: Number | None, epsilon: Number | None) -> Question:
    """Exactly one of the two, checked."""
    if (delta is None) == (epsilon is None):
        raise InvalidInput("delta, epsilon", (delta, epsilon), "give exactly one of the two")
    if delta is not None:
        return Question("epsilon", checked_delta(delta))
    return Question("delta", checked_epsilon(epsilon))


def checked_rtol(rtol: object) -> float:
    """A demanded relative width, not negative."""
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


def _by_name(
    name: str,
    parts: Parts,
    question: Question,
    parameters: Parameters,
    eta: Number | None = None,
    rtol: float | None = None,
) -> Bound:
    method = _NAMED[name]
    _require(method.theorem, parts, parameters)
    if method is _CERTIFIED:
        return _certified(parts, question, rtol)
    if method is _MURTAGH_VADHAN:
        ask = mv18_1_7.epsilon_at if question.quantity == "epsilon" else mv18_1_7.delta_at
        return ask(parts, question.given, eta)
    bound = method.answer(parts, question)
    return bound if method is _EXACT else _with_lower(bound, parts, question)


def _mixed(
    method: str,
    mixture: Mixture,
    question: Question,
    parameters: Parameters,
    eta: Number | None,
    bits: int | None,
    rtol: float | None,
) -> Bound:
    """Mechanisms and notions beside pairs, or instead of them."""
    quantity, given = question.quantity, question.given
    effort = Effort(work=_MIXED_WORK) if rtol is None else Effort.of(rtol)
    if method == "auto" and parameters == "adaptive":
        method = "basic"
    if method in ("auto", "certified", "renyi"):
        theorem(cks20.ID if method == "renyi" else zdw22.ID).require(parameters=parameters, all_equal=False)
    if bits is not None or method == "exact":
        raise HypothesisNotMet("MV18-1.5", "it needs (ε, δ) guarantees only; leave 'exact' and bits to those")
    if method == "auto":
        return mixed.best(mixture, quantity, given, effort)
    if method == "certified":
        return mixed.certified(mixture, quantity, given, effort)
    if method == "renyi":
        return mixed.by_renyi(mixture, quantity, given)
    advice = mixed.ADAPTIVE if parameters == "adaptive" else mixed.FIXED
    pairs = mixed.pairs_of(mixture, _NAMED[method].theorem, advice)
    found = _by_name(method, pairs, question, parameters, eta, rtol)
    return replace(found, lower=0.0, notes=(mixed.BY_PAIRS,))


def _compare_mixed(mixture: Mixture, question: Question, parameters: Parameters) -> list[Bound]:
    """Every way that applies; among them converting each mechanism to (ε, δ) first."""
    bounds = [_noted(_mixed("auto", mixture, question, parameters, None, None, None), parameters, mixture)]
    if parameters == "fixed":
        first = mixed.converted_first(mixture, question.quantity, question.given)
        bounds += [] if first is None else [first]
    for name in ("certified", "renyi", *(method.name for method in _CLOSED)):
        try:
            bound = _mixed(name, mixture, question, parameters, None, None, None)
        except (HypothesisNotMet, NotAffordable):
            continue
        if (bound.theorem, bound.method) not in {(known.theorem, known.method) for known in bounds}:
            bounds.append(bound)
    lower = bounds[0].lower  # all are about the same mechanisms
    return sorted((replace(bound, lower=min(lower, bound.upper)) for bound in bounds), key=lambda bound: bound.upper)


def _with_lower(bound: Bound, parts: Parts, question: Question) -> Bound:
    """The same with a lower side at least that of the largest group of equal ε alone, beside all the leaks."""
    counts: dict[tuple[Exact, Exact], int] = {(0.0, delta): count for delta, count in parts.leaks}
    if parts.kinds:
        eps, count = parts.heaviest
        counts[eps, 0.0] = count
    try:
        lower = _EXACT.answer(Parts.of(counts), question).lower
    except NotAffordable:  # whether any ε works is undecided
        return bound
    if lower <= bound.lower:
        return bound
    notes = tuple(note for note in bound.notes if not note.startswith(_LOWER_SIDE))
    return replace(bound, lower=lower, notes=(*notes, f"{_LOWER_SIDE} the largest group of equal ε alone"))


def _auto(parts: Parts, question: Question, parameters: Parameters, rtol: float | None = None) -> Bound:
    if parameters == "adaptive":
        return _by_name("basic", parts, question, parameters)
    return optimum(parts, question, rtol)[0]


def _certified(parts: Parts, question: Question, rtol: float | None) -> Bound:
    return opt.answer(question.quantity, parts, question.given, rtol)[0]


def optimum(parts: Parts, question: Question, rtol: float | None) -> tuple[Bound, Anchor | None]:
    """The cheapest of: a closed form, a list of few atoms, the engine at a glance, a table on a lattice, the engine
    with all its patience, a long list of atoms; the first that is narrow enough, else the narrowest.
    """
    effort = Effort.of(rtol)

    def enough(bound: Bound) -> bool:
        return is_narrow(bound) if rtol is None else bound.width <= rtol

    bound, anchor = _engine(parts, question, replace(effort, work=opt.FIRST_WORK))
    if anchor is None or enough(bound):
        return bound, anchor
    fitting = _fitting_lattice(parts, question)
    if fitting is not None and enough(fitting):
        return fitting, None
    bound, anchor = _engine(parts, question, effort)
    others = [bound] if fitting is None else [bound, fitting]
    exact_at = mv18_1_5.epsilon_at if question.quantity == "epsilon" else mv18_1_5.delta_at
    if not enough(bound):
        with suppress(NotAffordable):
            others.append(exact_at(parts, question.given))
    best = min(others, key=lambda other: other.width)
    return best, anchor if best is bound else None


def _engine(parts: Parts, question: Question, effort: Effort) -> tuple[Bound, Anchor | None]:
    return opt.answer(question.quantity, parts, question.given, None, _FEW_ATOMS, effort)


def _fitting_lattice(parts: Parts, question: Question) -> Bound | None:
    """The bracket on a lattice that every ε_i lies on, if there is one and its table is small."""
    if mv18_1_7.shared_unit(parts, mv18_1_7.QUICK_WORK) is None:
        return None
    try:
        return _lattice(parts, question)
    except ArithmeticError:  # parameters too far apart for one table
        return None


def _lattice(parts: Parts, question: Question) -> Bound:
    unit, note = mv18_1_7.quick_unit(parts)
    lattice = mv18_1_7.epsilon_on if question.quantity == "epsilon" else mv18_1_7.delta_on
    return lattice(parts, question.given, unit, note)
