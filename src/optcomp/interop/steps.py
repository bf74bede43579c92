"""Steps of training as frameworks count them, and their total: cheap to ask again and again, from any thread."""

from __future__ import annotations

import math
import threading
from collections.abc import Iterable, Mapping
from fractions import Fraction
from functools import lru_cache
from typing import Any, NamedTuple, cast

from optcomp.composition import MOST_COPIES, Composer
from optcomp.errors import InvalidInput, PrecisionNotReached
from optcomp.guarantees import Gaussian, PoissonSubsampled, WithoutReplacement, checked_delta, checked_epsilon
from optcomp.instances import Mixture
from optcomp.numerics import Exact, exact, whole
from optcomp.theorems import Bound

Step = tuple[float, float, int]
"""Noise over the clip norm, the rate of Poisson samples, and how many such steps."""
Mechanism = Gaussian | PoissonSubsampled | WithoutReplacement
"""What a step is counted as."""
RTOL = 1e-5
"""By how much of itself the ε of samples may be above the truth: after each of the first steps, a narrower one would
take a second or two."""
_MOST_KEPT = 4
"""Values of δ whose last ε is remembered."""
_LEAST_RATE = 1e-7
"""Rates below are counted as this one, which costs more: the laws of samples begin here."""


class DrawnStep(NamedTuple):
    """Noise over the clip norm, how many different ones take part out of how many, and how many such steps.

    Neighbours differ by one that is replaced: a sum of clipped vectors then moves by up to twice the clip norm.
    """

    noise: float
    batch: int
    population: int
    times: int


class StepTotals:
    """Totals of lists of steps, each mostly a little longer than the one before."""

    def __init__(self) -> None:
        self._lock = threading.RLock()
        self._composer, self._told = Composer(), dict[Mechanism, int]()
        self._rising = Rising()

    def epsilon(self, steps: Iterable[Step | DrawnStep], delta: float) -> float:
        """At least the ε of all steps at this δ; infinite if one adds no noise."""
        counts, delta_exact = mechanisms(steps), checked_delta(delta)
        if counts is None:
            return math.inf
        if not counts:
            return 0.0
        with self._lock:
            return self._rising.told(counts, delta_exact, spent(self._at(counts), delta_exact))

    def delta(self, steps: Iterable[Step | DrawnStep], epsilon: float) -> float:
        """At least the δ of all steps at this ε."""
        counts, eps = mechanisms(steps), checked_epsilon(epsilon)
        if counts is None:
            return 1.0
        with self._lock:
            return float(self._at(counts).total(epsilon=eps).upper) if counts else 0.0

    def bound(self, steps: Iterable[Step | DrawnStep], delta: float) -> Bound:
        """Both sides, with the theorem; what a certificate is made of."""
        counts = mechanisms(steps)
        if not counts:
            raise InvalidInput("steps", counts, "must be at least one, each with noise")
        with self._lock:
            return self._at(counts).total(delta=checked_delta(delta))

    def _at(self, counts: dict[Mechanism, int]) -> Composer:
        """The composer that is kept, with just these mechanisms: threads may ask out of order, and runs start anew."""
        for value, count in self._told.items():
            less = count - counts.get(value, 0)
            if less > 0:
                self._composer.remove(value, less)
        for value, count in counts.items():
            more = count - self._told.get(value, 0)
            if more > 0:
                self._composer.add(value, more)
        self._told = counts
        return self._composer


class Rising:
    """The last ε at each δ, so that more steps are never told to cost less, nor fewer to cost more.

    Either number is an upper side of the smaller list, and at most `RTOL` above the larger one's.
    """

    def __init__(self) -> None:
        self._last: dict[Exact, tuple[Mapping[Any, int], float]] = {}

    def told(self, counts: Mapping[Any, int], delta: Exact, epsilon: float) -> float:
        """What to tell: the ε of just so many of each mechanism, or the last one where that stands against it."""
        before, last = self._last.pop(delta, ({}, 0.0))
        if last > epsilon:
            # a last one that is farther above was wider than usual: that is no reason to widen this one
            grown = last <= epsilon * (1 + RTOL) and all(counts.get(value, 0) >= n for value, n in before.items())
            epsilon = last if grown else epsilon
        elif all(before.get(value, 0) >= n for value, n in counts.items()):
            epsilon = last
        self._last[delta] = counts, epsilon
        while len(self._last) > _MOST_KEPT:
            del self._last[next(iter(self._last))]
        return epsilon


def spent(composer: Composer, delta: Exact) -> float:
    """At least the ε of all that is there, quick to ask after every step: where people are sampled, `RTOL` wide."""
    ahead = composer.upper_ahead(delta, RTOL)
    if ahead is not None:
        return ahead
    parts = composer.parts
    sampled = isinstance(parts, Mixture) and any(isinstance(value, PoissonSubsampled) for value, _ in parts.losses)
    if not sampled:
        return float(composer.total(delta=delta).upper)
    try:
        return float(composer.total(delta=delta, rtol=RTOL).upper)
    except PrecisionNotReached as wider:  # it is true all the same
        return float(cast(Bound, wider.bound).upper)


def mechanisms(steps: Iterable[Step | DrawnStep]) -> dict[Mechanism, int] | None:
    """The mechanisms of steps, counted; None if some step adds no noise."""
    counts: dict[Mechanism, int] = {}
    for step in steps:
        times = step[-1]
        count = whole(int(times) if times == int(times) else times, "steps", 0, MOST_COPIES)
        value = _drawn(step) if isinstance(step, DrawnStep) else _sampled(step[0], step[1])
        if value is None or not count:
            continue
        if isinstance(value, bool):
            return None
        counts[value] = counts.get(value, 0) + count
    return counts


def _drawn(step: DrawnStep) -> WithoutReplacement | bool:
    """False where nothing is hidden."""
    sigma = exact(step.noise, "noise_multiplier")
    return WithoutReplacement(Gaussian(sigma, 2), step.batch, step.population) if sigma else False


def _sampled(noise: float, rate: float) -> Gaussian | PoissonSubsampled | bool | None:
    return _known(noise, rate) if type(noise) is type(rate) is float else _mechanism(noise, rate)


@lru_cache(maxsize=64)
def _known(noise: float, rate: float) -> Gaussian | PoissonSubsampled | bool | None:
    """The same, remembered: a run asks about one mechanism a thousand times."""
    return _mechanism(noise, rate)


def _mechanism(noise: float, rate: float) -> Gaussian | PoissonSubsampled | bool | None:
    """None where nobody takes part; False where nothing is hidden."""
    sigma, share = exact(noise, "noise_multiplier"), Fraction(exact(rate, "sample_rate"))
    if not 0 <= share <= 1:
        raise InvalidInput("sample_rate", rate, "must be at least 0 and at most 1")
    if not share:
        return None
    if not sigma:
        return False
    return Gaussian(sigma) if share == 1 else PoissonSubsampled(Gaussian(sigma), max(share, Fraction(_LEAST_RATE)))
