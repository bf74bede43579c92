r"""Two ways to write F(y) as an integral along Re s = c, and their trapezoid rules.

Smoothed.  The loss is L = C + N(v/2, v): coins with M(s) = E e^{sC}, and the Gaussian mechanisms, v = 0 without them.
Add an independent V ~ N(w²/2, w²), w >= 0: the two normal parts together have variance u = v + w², and L + V has the
moments M_u(s) = M(s) e^{u(s²+s)/2}.  For u > 0 and c > 0 (between -1 and 0 the first integral is F_u - 1)

    F_u(y) = (1/2πi) ∫ e^{-sy} M_u(s)/(s(s+1)) ds,       p_u(y) = (1/2πi) ∫ e^{-sy} M_u(s) ds   (density of L+V),
    F_u(y) - w² e^{w²/8} p_u(y)  <=  F(y)  <=  F_u(y).

Only w² is smoothing; v belongs to the law itself, and with w = 0 the integral is F.  The upper side holds because
forgetting V is post-processing.  For the lower one let L_τ = L + N(τ/2, τ), F_τ and p_τ its excess and density for
0 < τ <= w²: ∂F_τ/∂τ = p_τ/2, and F_τ tends to F as τ tends to 0.  The N(τ/2, τ) density at x is
(w/√τ) e^{(w²-τ)/8} e^{-x²(1/τ-1/w²)/2} times the N(w²/2, w²) density, so at most (w/√τ) e^{w²/8} times; averaged over
x = y - L, whatever the law of L is, p_τ <= (w/√τ) e^{w²/8} p_u; and ½∫_0^{w²} w/√τ dτ = w².
Nodes with θ > T add at most e^{-uT²/2}/(π u T³) for F_u and e^{-uT²/2}/(π u T) for p_u, in units of M_u(c) e^{-cy}.

Periodic.  If L lives on a lattice of span h, with r = (Σε - y) mod h,  F is exactly a Fourier sum over one period:

    F(y) = (h/2πi) ∫_{|θ| <= π/h} e^{-sy} M(s) k_r(s) ds,
    k_r(s) = e^{-sr}/(1 - e^{-sh}) - e^{-(s+1)r}/(1 - e^{-(s+1)h}),

again F - 1 for -1 < c < 0.  k_r is a series in e^{-sh} (or e^{sh}) whose terms all have one sign on the real axis, so
|k_r(c+iθ)| <= |k_r(c)|.  And with m = max(1, e^{-ch}), for 0 <= r < h and θ <= π/h,

    |k_r(c+iθ)|  <=  m² (π²/4) e^{(c+½)h} / (hθ²):

over the common denominator (1 - e^{-sh})(1 - e^{-(s+1)h}), k_r is e^{-sr} ((1 - e^{-r}) + e^{-sh}(e^{-r} - e^{-h})),
which is at most m · m(1 - e^{-h}) <= m²h; and |1 - e^{-sh}| >= 2 e^{-ch/2} sin(θh/2) >= 2 e^{-ch/2} θh/π.

Any y enters only through the phase and k_r, so that one pass over the nodes serves several y.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from fractions import Fraction
from functools import cached_property
from typing import NamedTuple, Protocol

from flint import acb, arb

from optcomp.checker.balls import ball, near


class WithDensity(NamedTuple):
    """What belongs to F and what belongs to the density; the latter is zero without smoothing."""

    excess: arb
    density: arb

    def more(self, other: WithDensity, share: arb) -> WithDensity:
        """The sum with a share of another pair."""
        return WithDensity(self.excess + other.excess * share, self.density + other.density * share)


class Kernel(Protocol):
    """A trapezoid rule; all its values are in units of M(c) e^{-cy}."""

    @property
    def ys(self) -> Sequence[object]:
        """Where F is asked for."""

    @property
    def step(self) -> arb:
        """Δ."""

    @property
    def last(self) -> int:
        """The number of the last node."""

    @property
    def tolerance(self) -> float:
        """How much may be neglected in all, as a rule of thumb."""

    @property
    def loss(self) -> arb:
        """How much of the density belongs to what is proved: w² e^{w²/8}, or zero."""

    def limit(self, theta: float) -> float:
        """How small |φ| has to be for a node to be left out, as a rule of thumb."""

    def ceiling(self, theta: arb, nodes: int) -> WithDensity:
        """The most that this many nodes at or above θ can add if |φ| <= 1."""

    def stretch(self, theta: arb, nodes: int) -> WithDensity:
        """The most that this many nodes side by side, the first at θ, can add if |φ| <= 1."""

    def values(self, theta: arb) -> list[tuple[acb, acb]]:
        """For each y, what a node's φ is to be multiplied with before the real part is taken."""

    def remainder(self) -> WithDensity:
        """The most that all nodes after the last can add."""

    def tilt(self, c: arb) -> arb:
        """log of the normal parts' own moment."""


@dataclass(frozen=True)
class Smoothed:
    """The integral with normal parts of this variance u, of which w² is smoothing."""

    c: arb
    ys: tuple[arb, ...]
    variance: arb
    smoothing: float
    """w, or 0."""
    step: arb
    last: int
    tolerance: float
    spread: float
    """Logarithm of the range of θ: the tolerance is shared out evenly over log θ."""

    def limit(self, theta: float) -> float:
        """Nodes at θ weigh about e^{-uθ²/2} (1/θ² + w²)."""
        square = self._guess * theta**2
        return 3 * self.tolerance * theta / (self.spread * (1 + square)) * math.exp(min(square / 2, 600.0))

    def ceiling(self, theta: arb, nodes: int) -> WithDensity:
        """|s(s+1)| >= θ²."""
        share = (self.decay * theta**2).exp() * self.step / arb.pi() * nodes
        return WithDensity(share / theta**2, share)

    def stretch(self, theta: arb, nodes: int) -> WithDensity:
        """The most that this many nodes side by side, the first at θ, can add if |φ| <= 1.

        After the first term the sum of 1/θ² is at most an integral.
        """
        share, end = (self.decay * theta**2).exp() / arb.pi(), theta + self.step * (nodes - 1)
        return WithDensity(share * (self.step / theta**2 + 1 / theta - 1 / end), share * self.step * nodes)

    def values(self, theta: arb) -> list[tuple[acb, acb]]:
        """The Gaussian factor, the phase and 1/(s(s+1))."""
        size = (self.decay * theta * theta).exp() * self.share
        if theta == 0:
            size /= 2
        s = acb(self.c, theta)
        kernel = size / (s * (s + 1))
        pairs = []
        for place in self.places:
            sine, cosine = (theta * place).sin_cos()
            wave = acb(cosine, sine)
            pairs.append((wave * kernel, wave * size))
        return pairs

    @cached_property
    def share(self) -> arb:
        """What every node is multiplied with: Δ/π."""
        return self.step / arb.pi()

    @cached_property
    def _guess(self) -> float:
        return near(self.variance)

    @cached_property
    def decay(self) -> arb:
        """-u/2."""
        return -self.variance / 2

    @cached_property
    def places(self) -> list[arb]:
        """p for each y: the phase is θp."""
        return [self.variance * (self.c + 0.5) - y for y in self.ys]

    def remainder(self) -> WithDensity:
        """Integrals over θ > T bound the sums, because the bounds on the terms decrease."""
        end = self.step * self.last
        rest = (self.decay * end**2).exp() / (arb.pi() * self.variance * end)
        return WithDensity(rest / end**2, rest)

    def tilt(self, c: arb) -> arb:
        """u(c²+c)/2."""
        return self.variance * c * (c + 1) / 2

    @property
    def loss(self) -> arb:
        """w² e^{w²/8}."""
        square = arb(self.smoothing) ** 2
        return square * (square / 8).exp()


@dataclass(frozen=True)
class Periodic:
    """The Fourier sum of a lattice of this span, with an odd number of nodes."""

    c: arb
    ys: tuple[Fraction, ...]
    span: Fraction
    total: Fraction
    nodes: int
    tolerance: float
    spread: float
    """Logarithm of the range of θ, as above."""

    @cached_property
    def step(self) -> arb:
        """2π/(hN)."""
        return 2 * arb.pi() / (ball(self.span) * self.nodes)

    @property
    def last(self) -> int:
        """Half the nodes; the others are their mirror images."""
        return self.nodes // 2

    def limit(self, theta: float) -> float:
        """Nodes at θ weigh about 1/θ²."""
        return min(self.tolerance * theta / self.spread, 1.0)

    def ceiling(self, theta: arb, nodes: int) -> WithDensity:
        """|k_r| is largest on the real axis; r = 0 for c > 0 and r = h below are the worst.  Or as 1/θ² allows."""
        return WithDensity((self._worst * 2 / self.nodes).min(self._bend / theta**2) * nodes, arb(0))

    def stretch(self, theta: arb, nodes: int) -> WithDensity:
        """As for the smoothed integral."""
        end = theta + self.step * (nodes - 1)
        most = self._bend * (1 / theta**2 + (1 / theta - 1 / end) / self.step)
        return WithDensity((self._worst * 2 * nodes / self.nodes).min(most), arb(0))

    @cached_property
    def _bend(self) -> arb:
        """2/N times what |k_r| θ² is at most."""
        h = ball(self.span)
        most = (-self.c * h).exp().max(arb(1)) ** 2
        return most * arb.pi() ** 2 / (2 * h * self.nodes) * ((self.c + 0.5) * h).exp()

    @cached_property
    def _worst(self) -> arb:
        """sup over r of |k_r(c)|."""
        h = ball(self.span)
        if self.c > 0:
            return 1 / (1 - (-self.c * h).exp())
        return 1 / (1 - (-(self.c + 1) * h).exp()) + 1 / (1 - (self.c * h).exp())

    def values(self, theta: arb) -> list[tuple[acb, acb]]:
        """e^{-iθy} k_r(s)."""
        s, h = acb(self.c, theta), ball(self.span)
        share = arb(1 if theta == 0 else 2) / self.nodes
        first, second = share / (1 - (-s * h).exp()), share / (1 - (-(s + 1) * h).exp())
        pairs = []
        for y, r in self._places:
            near = (-s * r).exp()
            sine, cosine = (-theta * y).sin_cos()
            pairs.append((acb(cosine, sine) * near * (first - second * (-r).exp()), acb(0)))
        return pairs

    @cached_property
    def _places(self) -> list[tuple[arb, arb]]:
        return [(ball(y), ball((self.total - y) % self.span)) for y in self.ys]

    @property
    def loss(self) -> arb:
        """Nothing is smoothed."""
        return arb(0)

    def remainder(self) -> WithDensity:
        """The rule is finite."""
        return WithDensity(arb(0), arb(0))

    def tilt(self, c: arb) -> arb:
        """There are none."""
        return arb(0)
