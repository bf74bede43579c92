"""The noise, the batch or the number of steps that just meets a target: found by `calibrate`, and proved again."""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass
from decimal import ROUND_CEILING, Context, Decimal
from fractions import Fraction

from optcomp.composition import Calibrated, Items, calibrate
from optcomp.errors import InvalidInput
from optcomp.numerics import Number, exact
from optcomp.theorems import Bound
from optcomp.training.runs import TrainingRun
from optcomp.training.totals import total_of

DIGITS = 5
"""Significant digits of a noise that was found, rounded up."""


@dataclass(frozen=True)
class Found:
    """The number that meets a target, the run with it, and the bracket that proves it."""

    name: str
    value: Fraction
    run: TrainingRun
    bound: Bound


def found_noise(make: Callable[[Number], TrainingRun], epsilon: Number, delta: Number) -> Found:
    """The least σ, rounded up to some digits: more noise is never worse."""
    number = _sought(make, epsilon, delta, whole=False)
    context = Context(prec=DIGITS, rounding=ROUND_CEILING)
    shown, found = context.plus(Decimal(float(number))), None
    while found is None or found.bound.upper > exact(epsilon, "epsilon"):
        shown = shown if found is None else context.next_plus(shown)
        found = _proved("sigma", Fraction(shown), make(Fraction(shown)), delta)
    return found


def found_whole(
    name: str, make: Callable[[Number], TrainingRun], epsilon: Number, delta: Number, most: int | None = None
) -> Found:
    """The most steps, or the largest batch."""
    if most is not None:
        run = make(most)
        bound = total_of(run, delta=delta).bound
        if bound.upper <= exact(epsilon, "epsilon"):
            return Found(name, Fraction(most), run, bound)
    number = _sought(make, epsilon, delta, whole=True, high=most)
    return _proved(name, Fraction(int(number)), make(int(number)), delta)


def _sought(
    make: Callable[[Number], TrainingRun], epsilon: Number, delta: Number, *, whole: bool, high: int | None = None
) -> Calibrated:
    def build(number: float) -> Items:
        run = make(int(number) if whole else number)
        if not run.direct:
            raise InvalidInput("group", run.group, "must be 1 where a number is sought for sampled batches")
        return run.counts()

    return calibrate(build, epsilon=epsilon, delta=delta, whole=whole, high=high, low=1 if high else None, rtol=1e-4)


def _proved(name: str, value: Fraction, run: TrainingRun, delta: Number) -> Found:
    bound = total_of(run, delta=delta).bound
    assert math.isfinite(bound.upper)
    return Found(name, value, run, bound)
