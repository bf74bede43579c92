r"""The loss towards a mixture of normals, counted only where x <= an end: E[e^{sL}; x <= end], a part of the law.

A rare large x dominates E e^{cL} from some c on, although it hardly matters to the excess.  Without it the tilt can be
what the excess asks for.  What is left out has the probabilities `beyond`.
"""

from __future__ import annotations

import math

from flint import arb

from optcomp.numerics.balls import ball
from optcomp.numerics.laws.gaussian import normal_tail
from optcomp.numerics.laws.mixed_normal import MixedNormalLaw


class CutNormalLaw(MixedNormalLaw):
    """The part of a loss towards the mixture with x <= end: its probabilities add up to less than 1."""

    whole = False

    def __init__(self, law: MixedNormalLaw, end: float) -> None:
        super().__init__(law.mu, law.q, "towards")
        self.end = end
        self.most_tilt = math.inf

    def beyond(self) -> tuple[arb, arb]:
        """P(x > end) under the mixture and under the plain normal."""
        mu, q = ball(self.mu), ball(self.q)
        plain, shifted = normal_tail(arb(self.end)), normal_tail(arb(self.end) - mu)
        return (1 - q) * plain + q * shifted, plain

    def loss_of_cut(self, c: float) -> float:
        """What the end costs at a tilt, in terms of what φ misses: everything, where doubles have nothing left of φ."""
        return self.rule(c, 1.0).missed if self.shape(c).least > 0 else math.inf

    def sides(self, y: float | arb) -> tuple[arb, arb]:
        raise ArithmeticError("a part of a law has no tail of its own")

    def _moment(self, order: int) -> arb:
        raise ArithmeticError("a part of a law has no moments of its own")
