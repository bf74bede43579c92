r"""How much noise d counts need within a total (ε, δ), by five analyses of the same question.

One person changes each of d counts by at most 1.  Noise of one scale is added to every count:

    Laplace, ℓ1      scale d/ε: the counts as one query of ℓ1 sensitivity d
    Gaussian, ℓ2     the least σ whose exact curve passes below (ε, δ), sensitivity √d in ℓ2 (DRS22)
    Laplace, strong  d mechanisms of ε₀ = 1/scale by strong composition (Smith25-1.1)
    Laplace, optimal the same by optimal composition of their ε₀ (MV18-1.5)
    Laplace, loss    the same by the privacy loss of Laplace noise itself (ZDW22): the least scale there is

Every noise is certified to be within the budget, and all but the first are within `RTOL` of the least that is.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass
from fractions import Fraction
from typing import Literal

from optcomp.composition import Items, calibrate, compose
from optcomp.errors import InvalidInput
from optcomp.guarantees import Gaussian, Laplace, PureDP, checked_delta, checked_epsilon
from optcomp.numerics import Exact, Number, whole

Way = Literal["laplace-l1", "gaussian-l2", "laplace-strong", "laplace-optimal", "laplace-loss"]

WAYS: dict[Way, str] = {
    "laplace-l1": "Laplace, ℓ1",
    "gaussian-l2": "Gaussian, ℓ2",
    "laplace-strong": "Laplace, strong",
    "laplace-optimal": "Laplace, optimal",
    "laplace-loss": "Laplace, loss",
}
"""The five ways, each with the name that people read; the simplest first."""

SIZES = (1, 2, 5, 10, 20, 50, 100, 200, 500, 1000)
"""Numbers of counts, about evenly on a logarithmic scale."""
RTOL = 1e-4
"""How far, relatively, a noise may be above the least that is within the budget."""

CLOSE = 1e-3
"""Noises relatively closer than this count as equal."""

_FINE = 1e-6  # where that costs nothing
_POWER = 0.9  # the noise is looked for between the share of ε and this power of it
_MOST = 10**9  # counts, so that every one is a float


@dataclass(frozen=True)
class CountNoise:
    """The noise that d counts need, in each way: a Laplace scale or a Gaussian σ."""

    queries: int
    scales: dict[Way, float]

    def deviation(self, way: Way) -> float:
        """The standard deviation of the noise on one count, rounded up: σ, or √2 times the scale."""
        scale = self.scales[way]
        return scale if way == "gaussian-l2" else math.nextafter(math.sqrt(2) * scale * (1 + 2.0**-52), math.inf)

    @property
    def least(self) -> Way:
        """The simplest way whose noise is within a thousandth of the least."""
        least = min(map(self.deviation, self.scales))
        return next(way for way in WAYS if self.deviation(way) <= (1 + CLOSE) * least)


def count_noise(queries: int, *, epsilon: Number = 1.0, delta: Number = 1e-6) -> CountNoise:
    """The noise that this many counts need within a total (epsilon, delta)."""
    d = whole(queries, "queries", 1, _MOST)
    budget = _budget(epsilon, delta)
    simple = _ratio_up(d, budget[0])
    optimal = _scale(lambda scale: {PureDP(Laplace(scale).pure): d}, budget)
    return CountNoise(
        d,
        {
            "laplace-l1": simple,
            "gaussian-l2": _scale(lambda sigma: {Gaussian(sigma): d}, budget),
            "laplace-strong": _scale(lambda scale: {PureDP(Laplace(scale).pure): d}, budget, method="strong"),
            "laplace-optimal": optimal,
            "laplace-loss": _scale_below(min(simple, optimal), lambda scale: {Laplace(scale): d}, budget),
        },
    )


def compare_counts(
    sizes: Iterable[int] = SIZES, *, epsilon: Number = 1.0, delta: Number = 1e-6
) -> Iterator[CountNoise]:
    """The noise for each number of counts, one after the other: it takes seconds."""
    return (count_noise(d, epsilon=epsilon, delta=delta) for d in sizes)


_Total = tuple[Exact, Exact]
_Build = Callable[[float], Items]


def _budget(epsilon: Number, delta: Number) -> _Total:
    eps, d = checked_epsilon(epsilon), checked_delta(delta)
    for name, value, given in (("epsilon", eps, epsilon), ("delta", d, delta)):
        if not value:
            raise InvalidInput(name, given, "must be positive")
    return eps, d


def _ratio_up(d: int, eps: Exact) -> float:
    """d/ε as a float that is not below it."""
    ratio = Fraction(d) / Fraction(eps)
    near = float(ratio)
    return near if near >= ratio else math.nextafter(near, math.inf)


def _scale(build: _Build, budget: _Total, method: str = "auto") -> float:
    """The least noise within the budget."""
    return float(calibrate(build, epsilon=budget[0], delta=budget[1], rtol=_FINE, method=method))


def _scale_below(known: float, build: _Build, budget: _Total) -> float:
    """The least noise within the budget when one is known that is: usually a little above the least.

    ε falls a little faster than the noise grows, so what is left of the budget says where to look first.
    """
    eps, delta = budget
    share = compose(build(known), delta=delta).upper / float(eps)
    near = (1 - RTOL) * share * known, min(share**_POWER * known, known)
    try:
        return float(calibrate(build, epsilon=eps, delta=delta, low=near[0], high=near[1], rtol=RTOL))
    except InvalidInput:  # not there
        return float(calibrate(build, epsilon=eps, delta=delta, high=known, rtol=RTOL))
