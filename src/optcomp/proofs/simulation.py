"""Every pair that is hard to tell apart is a leaky randomized response in disguise, and here is the disguise.

Leaky randomized response has four outcomes: 0 says "I am U" and 3 says "I am V"; 1 and 2 are the two answers of
randomized response, 1 the more likely one under U, 2 under V.  If X and Y are (ε, δ)-indistinguishable there is a
randomized map T, made here explicitly, with T(U) ~ X and T(V) ~ Y  (KOV15-simulation, MV18-3.2).  So whoever sees what
an (ε, δ)-private algorithm answers on one of two data sets learns no more than whoever sees U or V.
"""

from __future__ import annotations

from fractions import Fraction

from optcomp.proofs.distributions import A, Finite, Kernel, Real, positive_part, total
from optcomp.proofs.indistinguishability import delta_of, indistinguishable, odds_of


def leaky(odds: Real, delta: Real = Fraction(0)) -> tuple[Finite[int], Finite[int]]:
    """The worst (ε, δ)-private answer there is: randomized response that says the truth outright with probability δ.

    U = (δ, (1−δ)e^ε/(1+e^ε), (1−δ)/(1+e^ε), 0) on the outcomes 0, 1, 2, 3, and V is U read backwards  (MV18-3.1).
    """
    odds, delta = odds_of(odds), delta_of(delta)
    likely, unlikely = (1 - delta) * (odds / (1 + odds)), (1 - delta) / (1 + odds)
    u = (delta, likely, unlikely, Fraction(0))
    return Finite(dict(enumerate(u))), Finite(dict(enumerate(reversed(u))))


def simulate(x: Finite[A], y: Finite[A], odds: Real, delta: Real = Fraction(0)) -> Kernel[int, A]:
    """The randomized map T that turns leaky randomized response into X and Y: T(U) ~ X and T(V) ~ Y.

    With the events E, F of `Comparison.events` and a = X|E, b = Y|F:  T(0) = X|not E, T(3) = Y|not F, and
    T(1) = a + (a−b)/(e^ε−1), T(2) = b − (a−b)/(e^ε−1); at ε = 0 both are a = b.  Rows that U and V never ask for (0 and
    3 at δ = 0) are X and Y.  Refuses, with the least δ that would do, if X and Y are not (ε, δ)-indistinguishable.
    """
    e, f = indistinguishable(x, y).events(odds, delta)
    a, b = e.inside, f.inside
    step = _step(a, b, odds)
    first, second = {z: a[z] + step[z] for z in step}, {z: b[z] - step[z] for z in step}
    return Kernel({0: e.outside or x, 1: Finite(first), 2: Finite(second), 3: f.outside or y})


def _step(a: Finite[A], b: Finite[A], odds: Real) -> dict[A, Real]:
    """(a−b)/(e^ε−1), which lies between −a and b and sums to zero; roundings are kept from breaking either."""
    outcomes = dict.fromkeys(a.support + b.support)
    if odds == 1:
        return dict.fromkeys(outcomes, Fraction(0))
    step = {z: min(b[z], max(-a[z], (a[z] - b[z]) / (odds - 1))) for z in outcomes}
    up, down = total(positive_part(d) for d in step.values()), total(positive_part(-d) for d in step.values())
    least = min(up, down)
    return {z: d * (least / (up if d > 0 else down)) if d and least else Fraction(0) for z, d in step.items()}
