r"""Two ways to write F(y) as an integral along Re s = c, and their trapezoid rules.

Smoothed.  Add an independent V ~ N(w²/2, w²) to L: M_w(s) = M(s) e^{w²(s²+s)/2}.  For c > 0 (between -1 and 0 the first
integral is F_w - 1)

    F_w(y) = (1/2πi) ∫ e^{-sy} M_w(s)/(s(s+1)) ds,       p_w(y) = (1/2πi) ∫ e^{-sy} M_w(s) ds   (density of L+V),
    F_w(y) - w² e^{w²/8} p_w(y)  <=  F(y)  <=  F_w(y).

The upper side holds because forgetting V is post-processing.  For the lower one, ∂F_τ/∂τ = p_τ/2 in the variance τ, and
the N(τ/2, τ) density is at most (w/√τ) e^{w²/8} times the N(w²/2, w²) density for τ <= w²; ½∫_0^{w²} w/√τ dτ = w².
Nodes with θ > T add at most e^{-w²T²/2}/(π w² T³) for F_w and e^{-w²T²/2}/(π w² T) for p_w, in units of M_w(c) e^{-cy}.

Periodic.  If L lives on a lattice of span h, with r = (Σε - y) mod h,  F is exactly a Fourier sum over one period:

    F(y) = (h/2πi) ∫_{|θ| <= π/h} e^{-sy} M(s) k_r(s) ds,
    k_r(s) = e^{-sr}/(1 - e^{-sh}) - e^{-(s+1)r}/(1 - e^{-(s+1)h}),

again F - 1 for -1 < c < 0.  k_r is a series in e^{-sh} (or e^{sh}) whose terms all have one sign on the real axis, so
|k_r(c+iθ)| <= |k_r(c)|.

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

from optcomp.checker.balls import ball


class Pair(NamedTuple):
    """What belongs to F and what belongs to the density; the latter is zero without smoothing."""

    excess: arb
    density: arb

    def more(self, other: Pair, share: arb) -> Pair:
        """The sum with a share of another pair."""
        return Pair(self.excess + other.excess * share, self.density + other.density * share)


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

    def limit(self, theta: float) -> float:
        """How small |φ| has to be for a node to be left out, as a rule of thumb."""

    def ceiling(self, theta: arb, nodes: int) -> Pair:
        """The most that this many nodes at or above θ can add if |φ| <= 1."""

    def values(self, theta: arb) -> list[tuple[acb, acb]]:
        """For each y, what a node's φ is to be multiplied with before the real part is taken."""

    def remainder(self) -> Pair:
        """The most that all nodes after the last can add."""

    def tilt(self, c: arb) -> arb:
        """log of the smoothing's own moment, E e^{cV}."""


@dataclass(frozen=True)
class Smoothed:
    """The smoothed integral."""

    c: arb
    ys: tuple[arb, ...]
    width: float
    step: arb
    last: int
    tolerance: float
    spread: float
    """Logarithm of the range of θ: the tolerance is shared out evenly over log θ."""

    def limit(self, theta: float) -> float:
        """Nodes at θ weigh about e^{-w²θ²/2} (1/θ² + w²)."""
        square = (self.width * theta) ** 2
        return 3 * self.tolerance * theta / (self.spread * (1 + square)) * math.exp(min(square / 2, 600.0))

    def ceiling(self, theta: arb, nodes: int) -> Pair:
        """|s(s+1)| >= θ²."""
        share = (-((self.width * theta) ** 2) / 2).exp() * self.step / arb.pi() * nodes
        return Pair(share / theta**2, share)

    def values(self, theta: arb) -> list[tuple[acb, acb]]:
        """The Gaussian factor, the phase and 1/(s(s+1))."""
        size = (self._decay * theta * theta).exp() * self._share
        if theta == 0:
            size /= 2
        s = acb(self.c, theta)
        kernel = size / (s * (s + 1))
        pairs = []
        for place in self._places:
            sine, cosine = (theta * place).sin_cos()
            wave = acb(cosine, sine)
            pairs.append((wave * kernel, wave * size))
        return pairs

    @cached_property
    def _share(self) -> arb:
        return self.step / arb.pi()

    @cached_property
    def _decay(self) -> arb:
        return -(arb(self.width) ** 2) / 2

    @cached_property
    def _places(self) -> list[arb]:
        return [arb(self.width) ** 2 * (self.c + 0.5) - y for y in self.ys]

    def remainder(self) -> Pair:
        """Integrals over θ > T bound the sums, because the bounds on the terms decrease."""
        end, square = self.step * self.last, arb(self.width) ** 2
        rest = (-square * end**2 / 2).exp() / (arb.pi() * square * end)
        return Pair(rest / end**2, rest)

    def tilt(self, c: arb) -> arb:
        """w²(c²+c)/2."""
        return arb(self.width) ** 2 * c * (c + 1) / 2

    @property
    def loss(self) -> arb:
        """w² e^{w²/8}."""
        return arb(self.width) ** 2 * (arb(self.width) ** 2 / 8).exp()


@dataclass(frozen=True)
class Periodic:
    """The Fourier sum of a lattice of this span, with an odd number of nodes."""

    c: arb
    ys: tuple[Fraction, ...]
    span: Fraction
    total: Fraction
    nodes: int
    tolerance: float

    @property
    def step(self) -> arb:
        """2π/(hN)."""
        return 2 * arb.pi() / (ball(self.span) * self.nodes)

    @property
    def last(self) -> int:
        """Half the nodes; the others are their mirror images."""
        return self.nodes // 2

    def limit(self, theta: float) -> float:
        """All nodes weigh the same; φ is small at most of them, so those nearer to zero may use up more."""
        return self.tolerance / (4 + theta * float(self.span) * self.nodes / 6)

    def ceiling(self, theta: arb, nodes: int) -> Pair:
        """|k_r| is largest on the real axis; r = 0 for c > 0 and r = h below are the worst."""
        return Pair(self._worst() * 2 * nodes / self.nodes, arb(0))

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

    def remainder(self) -> Pair:
        """The rule is finite."""
        return Pair(arb(0), arb(0))

    def tilt(self, c: arb) -> arb:
        """Nothing is smoothed."""
        return arb(0)
