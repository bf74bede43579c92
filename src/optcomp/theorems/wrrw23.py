r"""WRRW23, fully adaptive composition: the filter at the rate of advanced composition, and the odometer.

**The filter** admits while √(2LS) + S/2 <= ε, with S = Σε_i² and L = ln(1/δ').  The left side grows with S, so this
is S <= S* = (√(2L + 2ε) - √(2L))², the square of the positive root of x²/2 + √(2L)·x = ε.  S* is irrational; rounded
down once, it leaves nothing but comparisons of rationals.

**The odometer.**  A mechanism that, given the past, is ρ-zCDP has E e^{λℓ} <= e^{λ(λ+1)ρ} for its loss ℓ and every
λ >= 0, so E e^{λ(ℓ-ρ)} <= e^{λ²ρ}: exp(λM_n - λ²V_n/2) is a supermartingale, M = Σ(ℓ_i - ρ_i), V = 2Σρ_i.  So is its
mean over a half-normal λ >= 0 of density 2√(γ/2π)·e^{-γλ²/2}, which is

    2 √(γ/(V+γ)) · e^{s²/2} Φ(s),    s = M/√(V+γ),

and by Ville's inequality it ever reaches 1/δ' with probability at most δ'.  It grows with s; so M_n stays below
s*·√(V_n+γ) for all n at once, where e^{s*²/2} = K/(2Φ(s*)), K = √(1 + V/γ)/δ'.  As 2Φ(s*) <= 2, s* is at least
t = √(2 ln(K/2)) (0 if K < 2), hence at most √(2 ln(K/(2Φ(t)))).  The register states the slightly larger bound with
2Φ(t) replaced by 1.
"""

from __future__ import annotations

from fractions import Fraction

from flint import arb

from optcomp.numerics.balls import DEEP_BITS, QUICK_BITS, ball, float_down, float_up, precision
from optcomp.numerics.exact import Exact

ID = "WRRW23"


def square_cap(epsilon: Exact, delta: Exact) -> Fraction:
    r"""S*, rounded down: what \sum ε_i² may come to for (ε, δ')."""
    with precision(DEEP_BITS):
        eps, twice = ball(epsilon), -2 * ball(delta).log()
        root = 2 * eps / ((twice + 2 * eps).sqrt() + twice.sqrt())
        return Fraction(max(float_down(root * root), 0.0))


def odometer_epsilon(rho: Exact, gamma: Exact, delta: Exact) -> float:
    r"""What the loss exceeds at no moment but with probability δ', when \sum ρ_i is ρ now; rounded up."""
    with precision(DEEP_BITS):
        width = 2 * ball(rho) + ball(gamma)
        reach = (width / ball(gamma)).sqrt() / ball(delta)
        return float_up(ball(rho) + width.sqrt() * _height(reach))


def _height(reach: arb) -> arb:
    """At least s*, the place where e^{s²/2}·2Φ(s) reaches K."""
    least = (2 * (reach / 2).max(arb(1)).log()).max(arb(0)).sqrt()
    twice_phi = (-least / arb(2).sqrt()).erfc()
    return (2 * (reach / twice_phi).max(arb(1)).log()).max(arb(0)).sqrt()


def mixing(variance: Exact, delta: Exact) -> Fraction:
    """About the γ with the least bound where V is this; a short number, and every γ > 0 is sound."""
    with precision(QUICK_BITS):
        twice = -2 * ball(delta).log()
        best = ball(variance) / (twice + (1 + twice).log())
        return Fraction(f"{float(best.mid()):.3g}")
