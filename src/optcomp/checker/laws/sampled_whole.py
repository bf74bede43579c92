r"""Discrete Gaussian noise about a random sample: one person removed or added, or one record replaced by another one.

What is said of `WholeRule` holds with α = γ and β = 0 where a person is removed or added, γ as for all samples.
Where a record is replaced the two records pull to opposite sides (REPLACE): P has the masses w_x A(x)/W, Q the masses
w_x A(-x)/W, so L = log A(x)/A(-x) and M(s) = Σ w_x A(x)^{s+1} A(-x)^{-s}/W.
The atoms lie on no lattice and never fade: |φ| <= 1 is all that is known beyond the last node.
"""

from __future__ import annotations

import math
from abc import ABC, abstractmethod
from dataclasses import dataclass
from fractions import Fraction
from functools import cached_property

from flint import acb, arb

from optcomp.checker.balls import Exact, ball, spread
from optcomp.checker.effort import looked
from optcomp.checker.laws.law import Cloud, Spots
from optcomp.checker.laws.sampled import Way, largest, power
from optcomp.checker.laws.waves import waves
from optcomp.checker.laws.whole_rule import Powers, WholeRule


class _OnNumbers(ABC):
    """What both laws have in common: sums over the listed atoms, with a bound on the rest."""

    @abstractmethod
    def spots(self, c: arb) -> Spots:
        """The atoms that count at this tilt, at the working precision."""

    def log_moment(self, x: arb) -> arb:
        """log M(x)."""
        found = self.spots(x)
        return (sum(found.weights, arb(0)) + arb(0).union(found.rest)).log()

    def waves(self, c: arb, step: arb, last: int) -> list[acb]:
        """Sums over the listed atoms; the others add at most their weight."""
        found = self.spots(c)
        total = sum(found.weights, arb(0))
        sums = waves([weight / total for weight in found.weights], [loss * step for loss in found.losses], last)
        share, scale = spread(found.rest / total), 1 / (1 + arb(0).union(found.rest / total))
        return [acb(1), *((value + acb(share, share)) * scale for value in sums[1:])]

    def fade(self, c: arb, theta: arb) -> arb:
        """Atoms do not fade."""
        return arb(1)

    def fade_guess(self, c: float, theta: float) -> float:
        """1."""
        return 1.0

    def excess(self, y: Fraction) -> arb:
        """Σ(P - e^y Q)₊, number by number; what is beyond the list adds at most its mass under P."""
        found, place, total = self.spots(arb(0)), ball(y), arb(0)
        for weight, loss in looked(zip(found.weights, found.losses, strict=True)):
            if not loss < place:  # of an atom at y itself the term is next to nothing, of either sign
                total -= weight * (place - loss).expm1()
        return total + arb(0).union(found.rest)


@dataclass(frozen=True)
class SampledWhole(_OnNumbers):
    """Discrete Gaussian noise about a sample of this rate, of which one person is removed or added."""

    sigma: Exact
    shift: int
    rate: Exact
    way: Way

    @cached_property
    def _rule(self) -> WholeRule:
        return WholeRule(self.sigma, self.shift, self.rate, mirrored=False)

    def top(self) -> tuple[Exact, Exact]:
        """-log(1-q) where a person is added, infinity where one is removed."""
        return largest(self.way, self.rate)

    def cloud(self) -> Cloud:
        """Some of the atoms."""
        numbers, logs = self._rule.sketch()
        rises = self._rule.log_rise(numbers)
        return Cloud(rises, logs + rises) if self.way == "removed" else Cloud(-rises, logs)

    def spots(self, c: arb) -> Spots:
        """The listed numbers."""
        found = self._rule.terms((power(self.way, c), arb(0)))
        losses = found.logs if self.way == "removed" else [-log for log in found.logs]
        return Spots(found.weights, losses, found.rest)


@dataclass(frozen=True)
class ReplacedWhole(_OnNumbers):
    """Discrete Gaussian noise about a sample of this rate, where a record is replaced by another one."""

    sigma: Exact
    shift: int
    rate: Exact

    @cached_property
    def _rule(self) -> WholeRule:
        return WholeRule(self.sigma, self.shift, self.rate, mirrored=True)

    def top(self) -> tuple[Exact, Exact]:
        """There is none."""
        return math.inf, math.inf

    def cloud(self) -> Cloud:
        """Some of the atoms."""
        numbers, logs = self._rule.sketch()
        rises = self._rule.log_rise(numbers)
        return Cloud(rises - rises[::-1], logs + rises)

    def spots(self, c: arb) -> Spots:
        """The listed numbers."""
        powers: Powers = (c + 1, -c)
        found = self._rule.terms(powers)
        losses = [one - other for one, other in zip(found.logs, found.others, strict=True)]
        return Spots(found.weights, losses, found.rest)
