"""Both ends of a claim about a sum of laws: an upper end must hold in every direction, a lower end in one of them."""

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
        self._ends, self._tell = ends, tell
        self._steps = [Steps(total, _gap(ends), effort) for total in totals]
        self._judged = [[replace(end) for end in ends] for _ in totals]

    def decide(self) -> None:
        for number, steps in enumerate(self._steps):
            self._learn(number, "Chernoff's bound", steps.quick)
        self._conclude()
        order = sorted(range(len(self._steps)), key=self._size, reverse=True)
        for number in order:
            for how, step in self._steps[number].all():
                if not self._open(number):
                    break
                self._tell("verifying", 0.5)
                self._learn(number, how, step)
                self._conclude()

    def _size(self, number: int) -> float:
        """About log F: the direction in which it is larger comes first."""
        return self._steps[number].sketch.log_excess(float(self._ends[0].y))

    def _open(self, number: int) -> list[End]:
        """What is not known yet of a direction, and is still asked for."""
        return [
            mine
            for mine, end in zip(self._judged[number], self._ends, strict=True)
            if mine.holds is None and end.holds is None
        ]

    def _learn(self, number: int, how: str, step: Step) -> None:
        pending = self._open(number)
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
        """What the directions together say about each end."""
        for place, end in enumerate(self._ends):
            judged = [mine[place] for mine in self._judged]
            enough, all_of = (False, True) if end.side == "upper" else (True, False)
            decisive = next((mine for mine in judged if mine.holds is enough), None)
            if decisive is not None:
                end.holds, end.how = enough, decisive.how
            elif all(mine.holds is all_of for mine in judged):
                end.holds, end.how = all_of, judged[0].how


def _gap(ends: Sequence[End]) -> Gap:
    """How far the ends are from each other; a guess of what a proof has to resolve."""
    if len(ends) < 2:
        return Gap(0.0, 0.0)
    first, second = ends
    return Gap(abs(float(second.y - first.y)), near(abs(second.t - first.t) / second.t))
