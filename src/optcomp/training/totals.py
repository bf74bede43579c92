"""What a training run costs: a bracket and its theorem, for one example or for groups, and over the steps."""

from __future__ import annotations

import math
from collections.abc import Iterator
from dataclasses import dataclass, replace
from fractions import Fraction

from optcomp.composition import Composer, compose
from optcomp.errors import InvalidInput
from optcomp.guarantees import checked_delta, checked_epsilon
from optcomp.numerics import Number, float_above
from optcomp.theorems import Bound, group
from optcomp.training.runs import TrainingRun

_ROUNDS = 14
"""Halvings of an interval: ε of a group is found to one part in some thousands, from above."""
_MOST = 1e6
"""An ε beyond this says nothing."""


@dataclass(frozen=True)
class Total:
    """What a run costs; `single` is the bracket about one example added or removed from which it follows."""

    bound: Bound
    single: Bound


def total_of(run: TrainingRun, *, delta: Number | None = None, epsilon: Number | None = None) -> Total:
    """ε at a total δ, or δ at a total ε."""
    if (delta is None) == (epsilon is None):
        raise InvalidInput("delta", delta, "exactly one of delta and epsilon must be given")
    counts = run.counts()
    if run.direct:
        bound = compose(counts, delta=delta, epsilon=epsilon)
        return Total(bound if run.batches.attained else replace(bound, lower=0.0), bound)
    composer = Composer(counts)
    if epsilon is not None:
        return _group_delta(composer, Fraction(checked_epsilon(epsilon)), run.group)
    return _group_epsilon(composer, Fraction(checked_delta(delta if delta is not None else 0)), run.group)


def _group_delta(composer: Composer, eps: Fraction, size: int) -> Total:
    single = composer.total(epsilon=eps / size)
    upper = min(1.0, float_above(group.delta_of_group(eps / size, Fraction(single.upper), size)))
    lower = composer.total(epsilon=eps).lower
    return Total(_grouped(replace(single, given=eps), lower, upper, single, size), single)


def _group_epsilon(composer: Composer, delta: Fraction, size: int) -> Total:
    """k times the least ε found for which δ(ε)(1 + e^ε + ... + e^{(k-1)ε}) is within δ."""
    least = composer.total(delta=delta)
    low, high = least.lower, max(least.upper, 1e-6)
    while (single := _fits(composer, high, delta, size)) is None:
        low, high = high, 2 * high
        if high > _MOST:
            return Total(_grouped(least, least.lower, math.inf, least, size), least)
    for _ in range(_ROUNDS):
        middle = 0.5 * (low + high)
        found = _fits(composer, middle, delta, size)
        low, high, single = (low, middle, found) if found is not None else (middle, high, single)
    return Total(_grouped(least, least.lower, float_above(size * Fraction(high)), single, size), single)


def _fits(composer: Composer, eps: float, delta: Fraction, size: int) -> Bound | None:
    """The bracket of δ at this ε, if groups are then within the δ that is given."""
    single = composer.total(epsilon=eps)
    return single if group.delta_of_group(eps, Fraction(single.upper), size) <= delta else None


def _grouped(asked: Bound, lower: float, upper: float, single: Bound, size: int) -> Bound:
    """A bracket by GROUP; one example alone already costs the lower side.  No certificate states it as a whole."""
    method = f"{single.method}, then {size} steps apart"
    ends = {"lower": min(lower, upper), "upper": upper}
    return replace(asked, **ends, theorem=group.ID, method=method, choices={}, about=None)  # type: ignore[arg-type]


@dataclass(frozen=True)
class Point:
    """A run after some of its steps."""

    steps: int
    bound: Bound


def over_steps(
    run: TrainingRun, points: int, *, delta: Number | None = None, epsilon: Number | None = None
) -> Iterator[Point]:
    """What the run has cost after some of its steps, evenly spaced, the last one included."""
    composer, before = Composer(), dict[object, int]()
    steps = sorted({math.ceil(Fraction(point, points) * run.steps) for point in range(1, points + 1)})
    for step in steps:
        share = Fraction(step, run.steps)
        if not run.direct:
            yield Point(step, total_of(first_steps(run, step), delta=delta, epsilon=epsilon).bound)
            continue
        for item, count in run.counts(share).items():
            if count > before.get(item, 0):
                composer.add(item, count - before.get(item, 0))
                before[item] = count
        bound = composer.total(delta=delta, epsilon=epsilon)
        yield Point(step, bound if run.batches.attained else replace(bound, lower=0.0))


def first_steps(run: TrainingRun, steps: int) -> TrainingRun:
    """The first so many steps of a run."""
    phases, left = [], steps
    for phase in run.phases:
        taken = min(left, phase.schedule.steps)
        left -= taken
        if taken:
            phases.append(replace(phase, schedule=replace(phase.schedule, steps=taken)))
    return replace(run, phases=tuple(phases))
