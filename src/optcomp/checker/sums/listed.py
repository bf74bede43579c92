r"""Few atoms beside one law with a closed form: every sum of atoms with what is left of y.

L = C + R with C a sum of atomic losses of few values, and R one smooth loss, the Gaussian noise, or nothing:

    F(y) = Σ_a P(C = a) h(y - a),        h(z) = E(1 - e^{z-R})_+,

where h(z) = (1 - e^z)_+ for R = 0.  Values are exact fractions, so equal ones are recognised.  A single discrete
Gaussian loss is such an R too.
"""

from __future__ import annotations

from collections.abc import Callable
from fractions import Fraction

from flint import arb, arb_poly

from optcomp.checker.balls import ball
from optcomp.checker.closed import normal_excess
from optcomp.checker.effort import looked
from optcomp.checker.instance import Range
from optcomp.checker.laws import Finite
from optcomp.checker.sums.total import Total

_MOST = 6000
"""Values of the sum of atoms."""


def few_values(total: Total) -> bool:
    """Whether there is at most one loss that is not made of few atoms, and few values of the others."""
    finite = [(law, copies) for law, copies in total.laws if isinstance(law, Finite)]
    others = sum(copies for _, copies in total.laws) - sum(copies for _, copies in finite)
    if others + bool(total.gaussians) > 1:
        return False
    values = 1
    for law, copies in finite:
        values *= (law.atoms - 1) * copies + 1
        if values > _MOST:
            return False
    return True


class Listed:
    """The values of the atomic losses with their probabilities, at the working precision."""

    def __init__(self, total: Total) -> None:
        self._rest = _rest(total)
        self.values: dict[Fraction, arb] = {Fraction(0): arb(1)}
        for law, copies in total.laws:
            if isinstance(law, Finite):
                self._add(law, copies)

    def _add(self, law: Finite, copies: int) -> None:
        grown: dict[Fraction, arb] = {}
        start, shares = law.first * copies, powers(law, copies)
        for value, mass in looked(self.values.items()):
            for number, share in enumerate(shares):
                place, part = value + start + number * law.span, mass * share
                grown[place] = grown[place] + part if place in grown else part
        self.values = grown

    def excess(self, y: Fraction) -> Range:
        """F(y)."""
        total = arb(0)
        for value, mass in looked(self.values.items()):
            total += mass * self._rest(y - value)
        return Range(total, total)


def powers(law: Finite, copies: int) -> list[arb]:
    """The probabilities of all values of the sum of so many losses: the coefficients of a polynomial's power."""
    polynomial = arb_poly(law.masses()) ** copies
    found = polynomial.coeffs()
    return [*found, *[arb(0)] * ((law.atoms - 1) * copies + 1 - len(found))]


def _rest(total: Total) -> Callable[[Fraction], arb]:
    """h."""
    for law, _ in total.laws:
        if not isinstance(law, Finite):
            return law.excess
    if total.gaussians:
        mu = total.variance().sqrt()
        return lambda z: normal_excess(mu, ball(z))
    return lambda z: -ball(z).expm1() if z < 0 else arb(0)
