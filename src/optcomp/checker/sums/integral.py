r"""F of a sum of laws by the contour integral, without smoothing where the laws fade, smoothed where they do not.

`contour.py` and `kernels.py` say what is added up and how aliases are bounded: nothing there depends on what L is made
of.  New is the remainder.  If |φ(θ)| <= B at T and everywhere beyond, B the product of the laws' own bounds with their
copies, then because |s(s+1)| >= θ² the nodes beyond T add at most B e^{-uT²/2}/(πT) to F and, where u > 0,
B e^{-uT²/2}/(πuT) to the density, in units of M_u(c) e^{-cy}.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from contextlib import suppress
from dataclasses import dataclass
from fractions import Fraction

from flint import acb, arb

from optcomp.checker.balls import ball, working
from optcomp.checker.contour import Sums, add, aliases, enclosed
from optcomp.checker.effort import left, looked
from optcomp.checker.instance import Range
from optcomp.checker.kernels import Smoothed, WithDensity
from optcomp.checker.laws import TooMuch
from optcomp.checker.sums.plan import Plan, Sketch
from optcomp.checker.sums.swept import suits, swept
from optcomp.checker.sums.total import Total

_SPARE = 24  # bits for what sums and products of a few thousand balls lose
_NODE = 4e-5  # seconds for a node, besides its laws


@dataclass(frozen=True)
class Faded(Smoothed):
    """The integral of laws whose product is at most this beyond the last node."""

    fade: arb

    def remainder(self) -> WithDensity:
        """The bounds above."""
        end = self.step * self.last
        rest = self.fade * (self.decay * end**2).exp() / (arb.pi() * end)
        return WithDensity(rest, rest / self.variance if self.variance > 0 else arb(0))


@dataclass(frozen=True)
class _Place:
    """A contour's tilt with log E e^{cL}."""

    c: arb
    log_moment: arb


def integrated(
    total: Total, sketch: Sketch, ys: Sequence[Fraction], bits: float, width: float, effort: float
) -> dict[Fraction, Range]:
    """F at neighbouring y from one line, to about so many bits, or with smoothing of this width."""
    middle = float(sum(ys) / len(ys))
    plan = sketch.plan(middle, bits, width)
    end = sketch.end(plan, width)
    step = 2 * math.pi / plan.period
    last = int(end / step) + 1
    if not suits(total, last) and _long(total, last, ys, effort):
        raise TooMuch
    with working(_bits(total, plan, end, middle)):
        return _evaluated(total, plan, arb(step), last, ys, width, effort)


def _bits(total: Total, plan: Plan, end: float, y: float) -> int:
    """Enough for what may be neglected, for phases of that many turns, for K(c) and for powers."""
    copies = max((copies for _, copies in total.laws), default=1)
    turns = math.log2(2 + end * (1 + abs(y))) + math.log2(1 + plan.size) + math.log2(copies)
    return int(_SPARE - plan.log_tolerance / math.log(2) + turns)


def _evaluated(
    total: Total, plan: Plan, step: arb, last: int, ys: Sequence[Fraction], width: float, effort: float
) -> dict[Fraction, Range]:
    c, end = arb(plan.c), step * last
    fade = math.prod((law.fade(c, end) ** copies for law, copies in looked(total.laws)), start=arb(1))
    variance = total.variance() + arb(width) ** 2
    tolerance, spread = math.exp(plan.log_tolerance), 1 + math.log(last)
    kernel = Faded(c, tuple(map(ball, ys)), variance, width, step, last, tolerance, spread, fade)
    sums = _summed(total, kernel, c, effort)
    place, found = _Place(c, total.log_moment(c)), {}
    for number, y in enumerate(ys):
        alias = aliases(total, place, kernel, y, (plan.below, plan.above))
        found[y] = enclosed(place, kernel, sums, number, y, alias)
    return found


def _summed(total: Total, kernel: Faded, c: arb, effort: float) -> Sums:
    """By a sweep where nodes are many; where too many would be left, at all nodes."""
    if suits(total, kernel.last):
        with suppress(TooMuch):
            return swept(total, kernel, c, effort)
        if _long(total, kernel.last, kernel.ys, effort):
            raise TooMuch
    return _all_nodes(total, kernel, c)


def _long(total: Total, last: int, ys: Sequence[object], effort: float) -> bool:
    """Whether so many nodes take more than the effort."""
    return last * _NODE * len(ys) * (1 + len(total.laws)) > min(effort, left())


def _all_nodes(total: Total, kernel: Faded, c: arb) -> Sums:
    """The sum over all nodes."""
    values = [acb(1)] * (kernel.last + 1)
    for law, copies in total.laws:
        own = law.waves(c, kernel.step, kernel.last)
        values = [value * wave**copies for value, wave in looked(zip(values, own, strict=True))]
    sums = Sums([arb(0) for _ in kernel.ys], [arb(0) for _ in kernel.ys], kernel.remainder())
    add(sums, kernel, 0, [acb(1), *values[1:]])
    return sums
