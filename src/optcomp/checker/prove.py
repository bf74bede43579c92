"""Both ends of a claim as inequalities about F, decided step by step."""

from __future__ import annotations

import math
from collections.abc import Sequence
from contextlib import suppress
from dataclasses import dataclass
from fractions import Fraction
from functools import partial
from typing import Literal

import numpy as np
from flint import arb

from optcomp.checker.balls import log_near, working
from optcomp.checker.choices import contour, log_density, log_unit
from optcomp.checker.contour import Exhausted
from optcomp.checker.guess import Sketch
from optcomp.checker.instance import Instance, Range, Tell
from optcomp.checker.steps import Steps

_FAR = 0.999
"""Ends whose ratio is below this are far from each other."""


@dataclass
class End:
    """One end of a claim: F(y) <= t if it is an upper end, F(y) >= t if it is a lower one; `holds` once decided."""

    side: Literal["lower", "upper"]
    y: Fraction
    t: arb
    holds: bool | None = None
    how: str = ""

    def learn(self, found: Range, how: str) -> None:
        """Decide, if what F(y) lies between allows it."""
        if self.side == "upper":
            true, false = found.high <= self.t, found.low > self.t
        else:
            true, false = found.low >= self.t, found.high < self.t
        if true or false:
            self.holds, self.how = bool(true), how

    def nearness(self, found: Range) -> float:
        """How near t is to the middle of what F(y) lies between, as a share of half its width: what is left to win."""
        half = (found.high - found.low) / 2
        return float((abs(found.low + half - self.t) / half).mid()) if half > 0 else 1.0


def decide(instance: Instance, ends: Sequence[End], bits: int, effort: float, tell: Tell) -> None:
    """Try the steps until no end is open, or there are no more steps."""
    with np.errstate(all="ignore"), suppress(ArithmeticError, ValueError):  # guesses beyond floats: ends stay open
        _decide(instance, [end for end in ends if end.holds is None], bits, Steps(instance, bits, effort, tell))


def _decide(instance: Instance, pending: list[End], bits: int, steps: Steps) -> None:
    if not pending:
        return
    for how, step in steps.all(pending[0].y, partial(_width, instance, tuple(pending))):
        try:
            found = step(sorted({end.y for end in pending}))
        except Exhausted:
            steps.exhausted = True
            continue
        with working(bits + 64):
            for end in pending:
                if end.y in found:
                    end.learn(found[end.y], how)
        pending = [end for end in pending if end.holds is None]
        if not pending:
            return
        steps.nearness = min((end.nearness(found[end.y]) for end in pending if end.y in found), default=1.0)


def _width(instance: Instance, ends: Sequence[End]) -> float:
    """The smoothing that a claim of this width calls for: w² p is about the drop of F from end to end; 0 if unknown.

    Ends far from each other say nothing about how far each of them is from the truth.
    """
    if len(ends) < 2:
        return 0.0
    sketch, (first, second) = Sketch.of(instance), ends
    if (first.y == second.y and first.t < second.t * _FAR) or first.y < second.y * Fraction(_FAR):
        return 0.0
    y = float(first.y)
    c = contour(sketch, y)
    if first.y != second.y:
        return math.sqrt(abs(float(second.y - first.y)) / (1 + c))
    log_gap = log_near(abs(second.t - first.t)) - log_unit(sketch, c, y) - log_density(sketch, c)
    return math.exp(max(min(log_gap / 2, 10.0), -300.0))
