r"""Rényi divergences of interleaved systems add up (Lyu22-2), Rényi duality, and the monitor of the remaining budget.

Divergences are handled through their moment Σ P^α Q^{1−α} = exp((α − 1) D_α(P ‖ Q)), which is a fraction for whole α.

**Sums.**  Let V_i(h) be the largest moment over all continuations of system i after its history h
(`transcripts.worst_renyi`).  The moment of a joint transcript is the product of the systems' moments, and

    V(h_1, …, h_k) = max over (i, x) of Σ_y V(…, h_i·(x, y), …) = ∏_i V_i(h_i)

by induction from complete histories backwards: with ∏_{j≠i} V_j(h_j) as a common factor, the maximum over x of the sum
over y is V_i(h_i), whichever i is asked.  So the worst moments multiply and the worst divergences add up *exactly*, for
every order α at once and in either direction by itself; nobody gains or loses by interleaving.  Lyu's Theorem 2 is
this with the larger direction taken for each system.

**Duality** (Lyu, Lemma 4).  With β = α/(α − 1), D_α(P ‖ Q) ≤ B if and only if for all h ≥ 0

    E_P h ≤ e^{B(α−1)/α} (E_Q h^β)^{1/β}.

At B = D_α(P ‖ Q) there is equality for h = (P/Q)^{α−1}.  Every h is g^{α−1} for some g ≥ 0; raised to the power α the
inequality reads (Σ P g^{α−1})^α ≤ (Σ P^α Q^{1−α}) (Σ Q g^α)^{α−1}, a statement about fractions when α is whole.

**Monitor** (Lyu, Lemma 5).  After the first response y_1 of two, let ℓ_1(y_1) = exp D_α of what is left.  Then
P_1 ℓ_1^{1/β} is β-dominated by e^B Q_1: in moments, Σ P_1^α Q_1^{1−α} ℓ_1^{α−1} ≤ e^{B(α−1)}.  The left side *is* the
moment of the pair, so at B = D_α(P ‖ Q) nothing is lost: what was spent and what is left multiply to the whole.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from fractions import Fraction
from typing import Any

from flint import arb

from optcomp.errors import InvalidInput
from optcomp.numerics import ball, precision
from optcomp.proofs.distributions import Real
from optcomp.proofs.systems import History, Pair, Response
from optcomp.proofs.transcripts import renyi_moment, renyi_score, worst_renyi

Measure = Mapping[Response, Real]
Joint = Mapping[tuple[Response, Response], Real]


def divergence_of(moment: Real, alpha: Real) -> float:
    """D_α = log(moment)/(α − 1), as a float."""
    return math.log(moment) / float(alpha - 1) if moment < math.inf else math.inf


def worst_divergence(pairs: Sequence[Pair], alpha: Real) -> float:
    """The least ε for which the composed systems are (α, ε)-Rényi close: the worst adversary, both directions."""
    swapped = [pair.swapped() for pair in pairs]
    return max(divergence_of(worst_renyi(side, alpha).value, alpha) for side in (pairs, swapped))


# --- duality ------------------------------------------------------------------------------------------------------


def dual_maximiser(first: Measure, second: Measure, alpha: Real) -> dict[Response, Real]:
    """h = (P/Q)^{α−1}, for which Lemma 4 holds with equality; Q must be positive where P is."""
    _check_supports(first, second)
    ratios = {y: (first.get(y, Fraction(0)) / q if q else Fraction(0)) for y, q in second.items()}
    return {y: ratio ** (alpha - 1) for y, ratio in ratios.items()}


def duality_sides(first: Measure, second: Measure, alpha: int, root: Measure) -> tuple[Real, Real]:
    """Both sides of Lemma 4 at B = D_α and h = root^{α−1}, raised to the power α: exact fractions, left ≤ right."""
    if isinstance(alpha, bool) or not isinstance(alpha, int) or alpha < 2:
        raise InvalidInput("alpha", alpha, "must be a whole number, at least 2, for exact sides")
    _check_supports(first, second)
    left = sum((p * root[y] ** (alpha - 1) for y, p in first.items()), start=Fraction(0))
    norm = sum((q * root[y] ** alpha for y, q in second.items()), start=Fraction(0))
    return left**alpha, renyi_moment(first, second, alpha) * norm ** (alpha - 1)


def duality_balls(first: Measure, second: Measure, alpha: Real, h: Measure, bits: int = 128) -> tuple[Any, Any]:
    """Both sides of Lemma 4 at B = D_α for any real α > 1 and any h ≥ 0, as balls that contain them."""
    _check_supports(first, second)
    with precision(bits):
        order = ball(alpha)
        left = sum((ball(p) * ball(h[y]) for y, p in first.items()), start=arb(0))
        terms = [_power(ball(p), order) * _power(ball(second[y]), 1 - order) for y, p in first.items() if p]
        norm = sum((ball(q) * _power(ball(h[y]), order / (order - 1)) for y, q in second.items()), start=arb(0))
        right = _power(sum(terms, start=arb(0)), 1 / order) * _power(norm, 1 - 1 / order)
        return left, right


# --- the monitor --------------------------------------------------------------------------------------------------


def monitor(first: Joint, second: Joint, alpha: Real) -> dict[Response, Real]:
    """ℓ_1(y_1)^{α−1} of Lemma 5: the moment of the second response's laws given the first response.

    A first response that has probability 0 under P spends nothing whatever follows and is left out; supports need not
    be full.
    """
    heads, others = marginal(first), marginal(second)
    left: dict[Response, Real] = {}
    for head, mass in heads.items():
        if mass:
            p = {y: joint / mass for y, joint in _after(first, head).items()}
            q = {y: joint / others[head] for y, joint in _after(second, head).items()} if others.get(head) else {}
            left[head] = renyi_moment(p, q, alpha)
    return left


def monitored_moment(first: Joint, second: Joint, alpha: Real) -> Real:
    """Σ P_1^α Q_1^{1−α} ℓ_1^{α−1}: what was spent, times what is left."""
    score, left = renyi_score(alpha), monitor(first, second, alpha)
    heads, others = marginal(first), marginal(second)
    terms = (score(heads[y], others.get(y, Fraction(0))) * value for y, value in left.items())
    return sum(terms, start=Fraction(0))


def budget_monitor(pair: Pair, alpha: Real) -> dict[History, Real]:
    """ℓ(h)^{α−1} at every history: the largest moment that any adversary can still get out of the systems after it.

    This is (7) of Lyu's proof at every history.  It is 1 when the systems have halted, and infinite where something
    that only M⁰ can say may still be said.
    """
    left: dict[History, Real] = {}
    score, table = renyi_score(alpha), pair.zero.table
    for history in reversed(list(pair.zero.flow)):  # longest histories first
        values = [
            sum(
                (score(p, pair.one.table[history][x][y]) * left[(*history, (x, y))] for y, p in law.items() if p),
                start=Fraction(0),
            )
            for x, law in table.get(history, {}).items()
        ]
        left[history] = max(values, default=Fraction(1))
    return left


def marginal(joint: Joint) -> dict[Response, Real]:
    """The law of the first of two responses."""
    heads: dict[Response, Real] = {}
    for (head, _), mass in joint.items():
        heads[head] = heads.get(head, Fraction(0)) + mass
    return heads


# --- small parts --------------------------------------------------------------------------------------------------


def _after(joint: Joint, head: Response) -> dict[Response, Real]:
    return {tail: mass for (own, tail), mass in joint.items() if own == head}


def _check_supports(first: Measure, second: Measure) -> None:
    outside = [y for y, p in first.items() if p and not second.get(y)]
    if outside:
        raise InvalidInput("second", outside, "must be positive where the first law is: D_α is infinite")


def _power(base: Any, exponent: Any) -> Any:
    """base^exponent for base ≥ 0; Arb's own power of an exact 0 is not defined."""
    return arb(0) if base == 0 else (base.log() * exponent).exp()
