"""Questions as a user asks them: `compose` with its default settings, with `bits`, and by a named method."""

from __future__ import annotations

import math
from collections.abc import Mapping
from fractions import Fraction

from optcomp import Bound, NotAffordable, compare, compose
from tests.campaign.judge import Outcome, excused
from tests.campaign.lists import Generator, generator
from tests.campaign.questions import Question, counts, plain_delta, question
from tests.oracles.truth import Rational, Truth, rational_ends, real, working

Given = Mapping[str, Rational]
MOST_MECHANISMS = 12
_LISTS = ("wide", "wide", "wide", "thousand", "few", "lumpy", "ratio")
_SHORT = ("wide", "wide", "wide", "few", "near", "lumpy", "dominated")


def both_ways(outcome: Outcome, kind: str) -> None:
    """ε at δ and δ at ε: true, narrow, quick, and proved again by the checker."""
    asked = question(kind, outcome.seed)
    for given in _givens(asked):
        _default(outcome, asked, given)


def _givens(asked: Question) -> tuple[dict[str, Rational], dict[str, Rational]]:
    return {"delta": asked.delta}, {"epsilon": asked.epsilon}


def _default(outcome: Outcome, asked: Question, given: dict[str, Rational]) -> None:
    what = f"compose({told(asked)}, {_given(given)})"
    bound = outcome.answer(what, lambda: compose(counts(asked), **given))  # type: ignore[arg-type]
    if bound is None:
        return
    outcome.narrow(what, bound)
    if asked.truth is not None:
        outcome.true(what, bound, asked.truth)
    outcome.proved(what, bound)


def told(asked: Question) -> str:
    """The mechanisms, as far as they fit on a line."""
    parts = counts(asked)
    if len(parts) > MOST_MECHANISMS:
        return f"{sum(parts.values())} mechanisms of {len(parts)} kinds"
    items = ", ".join(f"({_number(eps)}, {_number(delta)}): {copies}" for (eps, delta), copies in parts.items())
    return "{" + items + "}"


def _number(value: Rational) -> str:
    return repr(value) if isinstance(value, float) else f"Fraction('{value}')"


def _given(given: Given) -> str:
    return ", ".join(f"{name}={_number(value)}" for name, value in given.items())


def to_bits(outcome: Outcome, kind: str) -> None:
    """60 to 200 bits: exact ends around the truth, that near to each other, and a certificate of their own."""
    rng = generator(kind, outcome.seed)
    asked = question(str(rng.choice(_LISTS)), outcome.seed)
    bits = int(rng.integers(60, 201))
    for given in _givens(asked):
        what = f"compose({told(asked)}, {_given(given)}, bits={bits})"
        bound = outcome.answer(what, lambda g=given: compose(counts(asked), bits=bits, **g))  # type: ignore[misc]
        if bound is None:
            continue
        _exact_ends(outcome, what, bound, bits)
        assert asked.truth is not None
        outcome.true(what, bound, asked.truth)
        outcome.proved(what, bound)


def _exact_ends(outcome: Outcome, what: str, bound: Bound, bits: int) -> None:
    ends = bound.enclosure
    if ends is None:
        if math.isfinite(bound.upper):
            outcome.found("useless", f"{what}: no exact ends, {bound}")
        return
    if (ends[1] - ends[0]) * 2**bits > 1:
        outcome.found("useless", f"{what}: ends {float(ends[1] - ends[0]):.2g} apart, {bound}")
    if not (bound.lower <= ends[0] and ends[1] <= bound.upper):
        outcome.found("violation", f"{what}: exact ends outside the floats, {bound}")


def promise(outcome: Outcome, kind: str) -> None:
    """MV18-1.7: OptComp(δ) <= upper <= OptComp(e^{-η/2} δ) + η, whatever the list; and δ at ε is true."""
    rng = generator(kind, outcome.seed)
    asked = question(str(rng.choice(_SHORT)), outcome.seed)
    eta = float(rng.choice([0.5, 0.1, 0.01, 0.003]))
    for given in _givens(asked):
        what = f"compose({told(asked)}, {_given(given)}, method='murtagh-vadhan', eta={eta})"
        bound = outcome.answer(what, lambda g=given: _rounded(asked, g, eta), refusable=(NotAffordable,))  # type: ignore[misc]
        if bound is None:
            continue
        assert asked.truth is not None
        outcome.narrow(what, bound)
        outcome.true(what, bound, asked.truth)
        if bound.quantity == "epsilon" and not kept(asked.truth, bound, eta):
            outcome.found("violation", f"{what}: promise of MV18-1.7 broken, {bound}")


def _rounded(asked: Question, given: dict[str, Rational], eta: float) -> Bound:
    return compose(counts(asked), method="murtagh-vadhan", eta=eta, **given)  # type: ignore[arg-type]


def kept(truth: Truth, bound: Bound, eta: float) -> bool:
    """Whether upper - η is at most the optimal ε at e^{-η/2} δ, that δ rounded down."""
    with working(256):
        smaller = rational_ends((-real(eta) / 2).exp() * real(bound.given))[0]
    if not truth.feasible(smaller):
        return True
    return math.isfinite(bound.upper) and truth.at_least(Fraction(bound.upper) - Fraction(eta), smaller)


def order(outcome: Outcome, kind: str) -> None:
    """More δ never costs more ε, and no theorem beats the optimal one."""
    rng = generator(kind, outcome.seed)
    asked = question("wide", outcome.seed)
    bounds = [
        outcome.answer(f"compose({told(asked)}, delta={delta!r})", lambda d=delta: compose(counts(asked), delta=d))  # type: ignore[misc]
        for delta in _two_deltas(rng)
    ]
    if bounds[0] is not None and bounds[1] is not None:
        _not_above(outcome, f"{told(asked)}: ε at the larger δ", bounds[1], bounds[0])
    given = _givens(asked)[int(rng.integers(2))]
    what = f"compare({told(asked)}, {_given(given)})"
    ranked = outcome.answer(what, lambda: compare(counts(asked), **given))  # type: ignore[arg-type]
    if ranked is not None:
        best = max(ranked, key=lambda bound: bound.lower)
        _not_above(outcome, f"{what}: the optimal one", best, ranked[0])


def _two_deltas(rng: Generator) -> tuple[float, float]:
    """Near to each other or not, the smaller first."""
    delta = plain_delta(rng)
    other = delta * (1 + 10 ** -float(rng.uniform(1, 12))) if rng.random() < 0.5 else plain_delta(rng)
    return min(delta, other), max(delta, other)


def _not_above(outcome: Outcome, what: str, low: Bound, high: Bound) -> None:
    """One upper side is at most another, up to the width allowed."""
    if low.upper > high.upper * (1 + outcome.limits.width) and not excused(low):
        outcome.found("useless", f"{what} is {low}, above {high}")
