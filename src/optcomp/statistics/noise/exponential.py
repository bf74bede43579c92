"""The exponential mechanism: of scores, a place i is chosen with probability proportional to e^{score_i/s}.

The loss ranges over an interval of length 2Δ/s = ε; ρ is ε²/8 (CR21).
"""

from __future__ import annotations

from collections.abc import Callable, Hashable, Sequence
from fractions import Fraction
from typing import Any

from optcomp.guarantees import Exponential
from optcomp.numerics import SUM_BITS, Number, ball, float_up, precision
from optcomp.statistics.noise.currency import Allowance, AnswerCost
from optcomp.statistics.noise.drawing import drawn
from optcomp.statistics.noise.kind import PaidInEpsilon, Results
from optcomp.statistics.noise.scales import laplace_scale
from optcomp.statistics.part import Part

MT07 = "McSherry, Talwar, Mechanism design via differential privacy, 2007"
"""Where it comes from."""


class ExponentialChoice(PaidInEpsilon):
    """A choice by scores."""

    __slots__ = ()
    name, title, theorem = "exponential", "choice noise", "CR21"
    source = MT07
    chooses = True
    rho_of_one = Fraction(1, 8)

    def check(self, *, epsilon: Number | None, delta: Number | None, rho: Number | None) -> None:
        """There must be no δ."""
        self._no_delta(delta)

    def costs(self, parts: Sequence[Part], allowance: Allowance) -> tuple[AnswerCost, ...]:
        """A loss that ranges over an interval, for each part."""
        return tuple(Exponential(_epsilon(allowance, part.share)) for part in parts)

    def scale(self, part: Part, allowance: Allowance) -> float:
        """The least float at or above 2Δ/ε."""
        return laplace_scale(2 * part.l1, _epsilon(allowance, part.share), allowance.asked)

    def unit_scale(self, part: Part) -> float:
        """2Δ over the share."""
        return float(2 * part.l1 / part.share)

    def measurement(self, dp: Any, integers: Any, scale: float) -> Callable[[list[int]], Any]:
        """OpenDP's largest score with Gumbel noise."""
        by_rho = dp.zero_concentrated_divergence()
        made: Callable[[list[int]], Any] = dp.m.make_noisy_max(integers, dp.linf_distance(T="i64"), by_rho, scale=scale)
        return made

    def draw(self, values: Sequence[int], scale: float) -> list[int]:
        """The place that was chosen."""
        return [int(drawn(self.title, self.measurement, scale, values))]

    def tell(self, values: Sequence[int], scale: float, cells: int) -> list[int]:
        """One choice for each cell, among its own scores."""
        width = len(values) // cells
        return [self.draw(values[place * width : (place + 1) * width], scale)[0] for place in range(cells)]

    def feature(self, noisy: Sequence[Sequence[int]], results: Results, scales: Sequence[float]) -> Hashable:
        """For each part by how much the scores of the chosen places grow from the first table to the second."""
        return tuple(
            sum(_growth(place, index, len(first) // len(chosen), first, second) for place, index in enumerate(chosen))
            for chosen, first, second in zip(noisy, *results, strict=True)
        )


def _growth(place: int, index: int, width: int, first: Sequence[int], second: Sequence[int]) -> int:
    """Of the score that was chosen in one cell."""
    return second[place * width + index] - first[place * width + index]


def _epsilon(allowance: Allowance, share: Fraction) -> Fraction:
    """Its share of ε; or the ε whose ε²/8 is its share of ρ (CR21)."""
    if allowance.epsilon is not None:
        return Fraction(allowance.epsilon) * share
    with precision(SUM_BITS):
        return 1 / Fraction(float_up(1 / (8 * ball(allowance.whole_rho * share)).sqrt()))


EXPONENTIAL = ExponentialChoice()
"""Once is enough: it holds nothing."""
