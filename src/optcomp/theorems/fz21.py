r"""FZ21, the Rényi filter: how large a Rényi or zCDP budget an (ε, δ) promise allows, and what a request costs of it.

Divergences of a fixed order α add up even when each mechanism, and its parameter, is chosen after seeing the answers
before it: E_Q (P/Q)^α of the rest is at most e^{(α-1)·(what is left)} whatever has happened, by induction from the
last request back.  So a filter that admits while ΣD_α <= B keeps D_α <= B, and CKS20 turns B into (ε, δ):

    ε = B + log(1 - 1/α) - (log δ + log α)/(α-1),   hence   B(α) = ε - log(1 - 1/α) + (log δ + log α)/(α-1)

With D_α = ρα for every α, the largest ρ that an (ε, δ) promise allows is the maximum of B(α)/α.  Every α proves its
own value; the best one is looked for in floats and evaluated in balls, rounded down.
"""

from __future__ import annotations

import math
from fractions import Fraction
from functools import lru_cache

import numpy as np
from flint import arb

from optcomp.guarantees.notions import ZCDP
from optcomp.instances.mixture import Mixture
from optcomp.instances.parts import Parts
from optcomp.numerics.balls import DEEP_BITS, QUICK_BITS, ball, float_down, float_up, precision
from optcomp.numerics.blocked import Floats
from optcomp.numerics.exact import Exact
from optcomp.theorems import cks20

ID = "FZ21"
_FINE, _ROUNDS = 129, 8
"""Each round looks 64 times closer for the best order, which is then taken to short digits."""
_LEAST_RHO, _MOST_RHO = 1e-12, 1e6
"""The ρ that `ZCDP` takes and that noise can be drawn for."""


def renyi_budget(order: float, epsilon: Exact, delta: Exact) -> Fraction:
    """At most the largest B for which D_α <= B is (ε, δ)-DP by CKS20; not positive if there is none."""
    with precision(DEEP_BITS):
        return Fraction(float_down(_budget(order, epsilon, delta)))


def best_order(epsilon: Exact, delta: Exact) -> float:
    """About the order at which the budget allows the largest ρ: the best one for many small requests."""
    eps, log_delta = float(epsilon), _log(delta)

    def value(x: Floats) -> Floats:
        c = np.exp(x)
        gain: Floats = (eps + np.log1p(1 / c) + (log_delta + np.log1p(c)) / c) / (1 + c)
        return gain

    places = np.linspace(-12.0, max(14.0, math.log(2 - 2 * log_delta) - math.log(min(eps, 1.0)) + 3), 1025)
    for _ in range(_ROUNDS):
        best = int(np.argmax(value(places)))
        places = np.linspace(places[max(best - 1, 0)], places[min(best + 1, places.size - 1)], _FINE)
    return short_order(1 + math.exp(float(places[_FINE // 2])))


def short_order(order: float) -> float:
    """Nearly the same order with few bits, so that α and α - 1 are both floats."""
    mantissa, exponent = math.frexp(order - 1)
    return 1 + max(math.ldexp(round(mantissa * 2**24), exponent - 24), 2.0**-24)


def largest_rho(epsilon: Exact, delta: Exact) -> Fraction:
    """At most the largest ρ for which ρ-zCDP is (ε, δ)-DP: `epsilon_at` of it is within ε.

    Where even that is outside of what ZCDP takes, an end of its range: 0 (nothing fits) or the largest ρ.
    """
    order = best_order(epsilon, delta)
    with precision(DEEP_BITS):
        rho = min(float_down(_budget(order, epsilon, delta) / arb(order)), _MOST_RHO)
    while rho >= _LEAST_RHO:
        if epsilon_at(rho, delta) <= epsilon:
            return Fraction(rho)
        rho *= 1 - 2.0**-46
    return Fraction(0)


def epsilon_at(rho: Exact, delta: Exact) -> float:
    """The ε that ρ-zCDP gives at δ, by CKS20, rounded up."""
    upper = cks20.epsilon_at(Mixture(Parts.of({}), bounded=((ZCDP(rho), 1),)), delta).upper
    order = best_order(upper, delta) if upper else 2.0
    with precision(DEEP_BITS):
        a = arb(order)
        again = ball(rho) * a + (-1 / a).log1p() - (ball(delta).log() + a.log()) / (a - 1)
        return max(min(upper, float_up(again)), 0.0)


@lru_cache(maxsize=4096)
def response_divergence(eps: Exact, order: float) -> Fraction:
    r"""At least D_α of randomized response, the worst of all ε-DP mechanisms; no more than ε and αε²/2.

    D_α = ε + (log(1 + e^{-(2α-1)ε}) - log(1 + e^{-ε}))/(α-1).
    """
    with precision(DEEP_BITS):
        e, a = ball(eps), arb(order)
        exact = e + ((-(2 * a - 1) * e).exp().log1p() - (-e).exp().log1p()) / (a - 1)
        return Fraction(min(float_up(exact), float_up(a * e * e / 2), float_up(e)))


def _budget(order: float, epsilon: Exact, delta: Exact) -> arb:
    a = arb(order)
    return ball(epsilon) - (-1 / a).log1p() + (ball(delta).log() + a.log()) / (a - 1)


def _log(delta: Exact) -> float:
    with precision(QUICK_BITS):
        return float(ball(delta).log().mid())
