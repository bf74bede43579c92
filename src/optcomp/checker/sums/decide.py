"""Both ends of a claim about a sum of laws.

An upper end must hold for every sum that dominates, a lower end for one that two tables have.  Mostly the two
directions are both.  Where a law only dominates they are different sums, and a claim between them stays open.
"""

from __future__ import annotations

from collections.abc import Sequence
from contextlib import suppress
from dataclasses import replace
from fractions import Fraction

import numpy as np

from optcomp.checker.balls import LEAST_BITS, near, working
from optcomp.checker.instance import Tell
from optcomp.checker.laws import TooMuch
from optcomp.checker.prove import End
from optcomp.checker.sums.steps import Gap, Step, Steps
from optcomp.checker.sums.total import Total


def decide_directions(totals: Sequence[Total], ends: Sequence[End], effort: float, tell: Tell) -> None:
    """Decide those of the ends that are open, if it can be done."""
    pending = [end for end in ends if end.holds is None]
    if not pending:
        return
    with np.errstate(all="ignore"), suppress(ArithmeticError, ValueError):  # guesses beyond floats: ends stay open
        _Directions(totals, pending, effort, tell).decide()


class _Directions:
    """Each end once for each direction."""

    def __init__(self, totals: Sequence[Total], ends: Sequence[End], effort: float, tell: Tell) -> None:
        self._totals, self._ends, self._tell = totals, ends, tell
        apart = not all(total.dominates and total.attained for total in totals)
        self._steps = [Steps(total, Gap(0.0, 0.0) if apart else _gap(ends), effort) for total in totals]
        self._judged = [[replace(end) for end in ends] for _ in totals]

    def decide(self) -> None:
        for refuting in (False, True):
            for number, steps in enumerate(self._steps):
                self._learn(number, "Chernoff's bound", steps.quick, refuting)
        self._conclude()
        order = sorted(range(len(self._steps)), key=self._size, reverse=True)
        for refuting in (False, True):
            for number in order:
                if not self._open(number, refuting):
                    continue
                for how, step in self._steps[number].all(float(self._ends[0].y)):
                    if not self._open(number, refuting):
                        break
                    self._tell("verifying", 0.5)
                    self._learn(number, how, step, refuting)
                    self._conclude()

    def _size(self, number: int) -> float:
        """About log F: the direction in which it is larger comes first."""
        return self._steps[number].sketch.log_excess(float(self._ends[0].y))

    def _open(self, number: int, refuting: bool) -> list[End]:
        """What is not known yet of a sum, and is still asked for: ends that it may prove, or the others."""
        total = self._totals[number]
        return [
            mine
            for mine, end in zip(self._judged[number], self._ends, strict=True)
            if mine.holds is None
            and end.holds is None
            and refuting is not (total.dominates if end.side == "upper" else total.attained)
        ]

    def _learn(self, number: int, how: str, step: Step, refuting: bool) -> None:
        pending = self._open(number, refuting)
        if not pending:
            return
        ys: list[Fraction] = sorted({end.y for end in pending})
        with suppress(TooMuch):
            found = step(ys)
            with working(2 * LEAST_BITS):
                for end in pending:
                    if end.y in found:
                        end.learn(found[end.y], how)

    def _conclude(self) -> None:
        """What the sums together say about each end: one that is attained, or all that dominate."""
        for place, end in enumerate(self._ends):
            judged = [(total, mine[place]) for total, mine in zip(self._totals, self._judged, strict=True)]
            enough, all_of = (False, True) if end.side == "upper" else (True, False)
            attained = [mine for total, mine in judged if total.attained and mine.holds is enough]
            dominating = [mine for total, mine in judged if total.dominates]
            if attained:
                end.holds, end.how = enough, attained[0].how
            elif all(mine.holds is all_of for mine in dominating):
                end.holds, end.how = all_of, dominating[0].how


def _gap(ends: Sequence[End]) -> Gap:
    """How far the ends are from each other; a guess of what a proof has to resolve."""
    if len(ends) < 2:
        return Gap(0.0, 0.0)
    first, second = ends
    return Gap(abs(float(second.y - first.y)), near(abs(second.t - first.t) / second.t))
