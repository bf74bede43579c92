"""The sum of independent losses in one direction: its laws with their copies, and Gaussian noise."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property

from flint import arb

from optcomp.checker.balls import Exact, Group, Noise, ball, exact_sum
from optcomp.checker.claimed import ADD_REMOVE, WAYS, Listed
from optcomp.checker.effort import looked
from optcomp.checker.laws import Atomic, DiscreteGaussian, Finite, Law, response


@dataclass(frozen=True)
class Total:
    """Laws with their copies; the Gaussian noise stands apart, because it adds up to one normal law."""

    laws: tuple[tuple[Law, int], ...]
    gaussians: tuple[Noise, ...] = ()
    dominates: bool = True
    """Whether nothing costs more; with several such sums, than the largest of them."""
    attained: bool = True
    """Whether two neighbouring tables have it."""

    def variance(self) -> arb:
        """v = Σμ² at the working precision."""
        return sum((copies * ball(mu) ** 2 for mu, copies in looked(self.gaussians)), arb(0))

    def log_moment(self, c: arb) -> arb:
        """log E e^{cL} without the Gaussian noise."""
        return sum((law.log_moment(c) * copies for law, copies in looked(self.laws)), arb(0))

    @cached_property
    def top(self) -> tuple[Exact, Exact]:
        """What the largest loss lies between, or infinity."""
        tops = [law.top() for law, _ in looked(self.laws)]
        if self.gaussians or any(math.inf in ends for ends in tops):
            return math.inf, math.inf
        counted = [(ends, copies) for ends, (_, copies) in zip(tops, self.laws, strict=True)]
        low, high = (exact_sum((ends[side], copies) for ends, copies in counted) for side in (0, 1))
        return low, high

    @cached_property
    def atomic(self) -> list[tuple[Atomic, int]]:
        """Those of the laws that have equidistant atoms."""
        return [(law, copies) for law, copies in self.laws if isinstance(law, Finite | DiscreteGaussian)]

    @cached_property
    def smooth(self) -> list[tuple[Law, int]]:
        """The others."""
        return [(law, copies) for law, copies in self.laws if not isinstance(law, Finite | DiscreteGaussian)]


def totals_of(groups: Sequence[Group], gaussians: Sequence[Noise], laws: Sequence[Listed]) -> list[Total]:
    """The sum for each direction, or one if they are the same; an (ε, δ) pair is a randomized response that leaks.

    Where some law only dominates, one sum that dominates and two that are attained.  Leaks are no part of it.
    """
    sizes: dict[Exact, int] = {}
    for eps, _, copies in groups:
        if eps:
            sizes[eps] = sizes.get(eps, 0) + copies
    coins: list[tuple[Law, int]] = [(response(eps, 2), copies) for eps, copies in sizes.items()]

    def total(counted: list[tuple[Law, int]], dominates: bool = True, attained: bool = True) -> Total:
        return Total((*counted, *coins), tuple(gaussians), dominates, attained)

    if any(law.loose for law in laws):
        return [
            total([(law.law(WAYS[0]), law.copies) for law in laws], attained=False),
            *(total([(law.attained(way), law.copies) for law in laws], dominates=False) for way in WAYS),
        ]
    ways = WAYS if any(law.neighbours == ADD_REMOVE for law in laws) else WAYS[:1]
    return [total([(law.law(way), law.copies) for law in laws]) for way in ways]
