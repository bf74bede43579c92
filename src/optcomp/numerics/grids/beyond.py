r"""What the rests of the laws add: the event that some loss lies beyond its grid.

With p and p' the masses of that event under the two laws, P = 1 - \prod(1-p_i)^{n_i} and Q likewise with p',

    P - e^y Q <= E[(1 - e^{y-L})_+; some beyond] <= P,

and the left side is the value itself if a loss beyond its grid lifts every sum above y.
"""

from __future__ import annotations

from fractions import Fraction
from functools import cached_property

from flint import arb

from optcomp.numerics.balls import DEEP_BITS, ball, float_down, float_up, precision
from optcomp.numerics.grids.grid_sum import Counted


class Beyond:
    """The rests of the laws of a sum."""

    def __init__(self, laws: Counted) -> None:
        self._rests = [(law.rest, copies) for law, copies in laws if law.rest is not None]
        leasts = [(law.least, copies) for law, copies in laws]
        self.sure: Fraction | None = None
        """Up to this y every sum with a loss beyond its grid is larger."""
        if all(least is not None for least, _ in leasts):
            low = sum((copies * least for least, copies in leasts if least is not None), Fraction(0))
            self.sure = min(
                (low - law.least + law.rest.loss for law, _ in laws if law.rest and law.least is not None), default=None
            )
        with precision(DEEP_BITS):
            self._own, self._other = (
                self._some([(rest.own, copies) for rest, copies in self._rests]),
                self._some([(rest.other, copies) for rest, copies in self._rests]),
            )

    @staticmethod
    def _some(masses: list[tuple[arb, int]]) -> arb:
        """The chance that at least one of them happens."""
        return -(sum((copies * (-mass).log1p() for mass, copies in masses), arb(0))).expm1()

    def most(self, y: float) -> float:
        """At least what they add."""
        if not self._rests:
            return 0.0
        if self.sure is None or Fraction(y) > self.sure:
            return self._whole
        with precision(DEEP_BITS):
            return max(float_up(self._own - ball(y).exp() * self._other), 0.0)

    @cached_property
    def _whole(self) -> float:
        """At least the chance that some loss lies beyond."""
        with precision(DEEP_BITS):
            return max(float_up(self._own), 0.0)

    def least(self, y: float) -> float:
        """At most what they add."""
        if not self._rests:
            return 0.0
        with precision(DEEP_BITS):
            return max(float_down(self._own - ball(y).exp() * self._other), 0.0)
