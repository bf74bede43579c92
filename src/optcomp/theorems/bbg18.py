r"""BBG18, secrecy of the sample: a mechanism on a simple random sample, seen as one about the whole population.

Neighbours exchange one person.  If n of N people are drawn without replacement and the drawing stays secret, an
(ε, δ)-DP mechanism on the sample is (log(1 + γ(e^ε - 1)), γδ)-DP for the population, γ = n/N.  Solved for the inside:

    ε = log(1 + (e^{ε'} - 1)/γ),      δ = δ'/γ
"""

from __future__ import annotations

from fractions import Fraction

from optcomp.errors import HypothesisNotMet
from optcomp.guarantees import ApproxDP
from optcomp.numerics import SUM_BITS, ball, float_down, float_up, precision

ID = "BBG18"


def inside(budget: ApproxDP, rows: int, population: int) -> ApproxDP:
    """What may be spent on the sample, rounded down."""
    share = _share(rows, population)
    if share == 1:
        return budget
    delta = Fraction(budget.delta) / share
    if not delta < 1:
        raise HypothesisNotMet(
            ID, f"δ = {float(budget.delta):g} for the population would be a δ of 1 or more for the sample"
        )
    with precision(SUM_BITS):
        eps = (ball(budget.epsilon).expm1() / ball(share)).log1p()
        return ApproxDP(Fraction(float_down(eps)), delta)


def outside(guarantee: ApproxDP, rows: int, population: int) -> ApproxDP:
    """What a guarantee on the sample is for the population, rounded up."""
    share = _share(rows, population)
    if share == 1:
        return guarantee
    with precision(SUM_BITS):
        eps = (ball(guarantee.epsilon).expm1() * ball(share)).log1p()
        return ApproxDP(Fraction(float_up(eps)), Fraction(guarantee.delta) * share)


def _share(rows: int, population: int) -> Fraction:
    if not 1 <= rows <= population:
        raise HypothesisNotMet(ID, f"{rows} rows cannot be a sample of {population} people")
    return Fraction(rows, population)
