r"""Private multiplicative weights (HR10): many linear questions about one table of counts, few of which cost anything.

The mechanism keeps a synthetic table of counts, uniform at first.  A question is answered from it; guess and check
compares that guess with the data, and only a guess that is off by more than the tolerance is corrected with a noisy
answer, from which the synthetic table learns: x_c grows by the factor e^{w_c (answer - guess)/2n}, n rows in all.
What it learns from has been paid for, so it may learn from it again and again.

Weights are whole multiples of 2^-12 in [0, 1], so a question of weights w is a whole number of 4096ths, and one row
changes it by at most 4096 of them.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from fractions import Fraction
from typing import Any

import numpy as np

from optcomp.composition import compose
from optcomp.errors import InvalidInput, Written
from optcomp.guarantees import ApproxDP, PureDP
from optcomp.interactive.answers import measured
from optcomp.interactive.filters import Request
from optcomp.interactive.guess_and_check import GuessAndCheck
from optcomp.interactive.live import Running
from optcomp.interactive.sparse_vector import comparable
from optcomp.numerics import Exact, Floats, Ints, Number, exact
from optcomp.statistics import Contingency, Table
from optcomp.statistics.noise import laplace_scale, with_laplace
from optcomp.theorems import Bound

STEPS = 4096
"""A row of weight 1 counts so many steps."""
_COUNT_SHARE = Fraction(1, 20)
"""The share of ε that goes to the number of rows, which hardly needs any."""
_SWEEPS, _WORK = 30, 50_000_000
"""How often learned answers are gone through again, and about how many multiplications that may take."""
Weights = Callable[[Any], Number | bool] | Sequence[Number] | Floats
"""How much each cell counts in a question: a function of its labels, or a number for each."""


@dataclass(frozen=True)
class Estimate:
    """An answer to a linear question, in rows."""

    value: float
    corrected: bool
    """Whether the data were asked, and the synthetic table learned from it."""
    checked: bool = True
    """False once all corrections are made: the synthetic table answers on, unchecked."""


@dataclass(frozen=True, repr=False)
class PrivateMultiplicativeWeights(Written):
    """Answers any number of linear questions about the cells of some columns, correcting up to `corrections` guesses.

    `tolerance` is in rows.  A twentieth of ε goes to the number of rows, half of the rest (`check_share`) to checking.
    """

    cells: Contingency
    tolerance: Exact
    epsilon: Exact
    corrections: int
    check_share: Fraction
    delta: Exact
    theorem = "HR10"

    def __init__(
        self,
        columns: Sequence[str],
        *,
        tolerance: Number,
        epsilon: Number,
        corrections: int,
        edges: Mapping[str, Sequence[Number]] | None = None,
        where: str | None = None,
        check_share: Number = "1/2",
        delta: Number = 0,
    ) -> None:
        object.__setattr__(self, "cells", Contingency(tuple(columns), dict(edges or {}), where))
        object.__setattr__(self, "tolerance", comparable(tolerance, "tolerance", STEPS))
        pair = ApproxDP(epsilon, delta)
        object.__setattr__(self, "epsilon", pair.epsilon)
        object.__setattr__(self, "delta", pair.delta)
        object.__setattr__(self, "check_share", Fraction(exact(check_share, "check_share")))
        object.__setattr__(self, "corrections", corrections)
        self.checker(1)  # refuses what makes no sense

    def checker(self, rows: int) -> GuessAndCheck:
        """Guess and check for questions that one person changes by so many rows."""
        return GuessAndCheck(
            Fraction(self.tolerance) * STEPS,
            epsilon=Fraction(self.epsilon) * (1 - _COUNT_SHARE),
            corrections=self.corrections,
            sensitivity=rows * STEPS,
            check_share=self.check_share,
        )

    @property
    def parts(self) -> tuple[PureDP, ...]:
        """The guarantees of the number of rows, of the checks, and of each correction; they add up to ε."""
        return (PureDP(Fraction(self.epsilon) * _COUNT_SHARE), *self.checker(1).parts)

    def total(self, delta: Number) -> Bound:
        """The optimal composition of all parts at δ (Lyu22-1)."""
        return compose(list(self.parts), delta=delta)

    def costs(self, table: Table | None = None) -> tuple[Request, ...]:
        """The parts; with a δ one guarantee for all of them."""
        if table is not None:  # refuses what the table does not declare before anything is paid
            self.cells.check(table)
            self.checker(_changed(self.cells, table))
        if not self.delta:
            return self.parts
        return (ApproxDP(min(Fraction(self.total(self.delta).epsilon), Fraction(self.epsilon)), self.delta),)

    def accuracy(self, questions: int, table: Table, confidence: Number = 0.95) -> float:
        """With this confidence no checked answer is off by this many rows, for weights that are multiples of 2^-12."""
        return self.checker(_changed(self.cells, table)).accuracy(questions, confidence) / STEPS

    def start(self, table: Table) -> MultiplicativeWeightsRun:
        """Read the table of counts once; the caller has paid."""
        return MultiplicativeWeightsRun(self, table)

    def __str__(self) -> str:
        columns = ", ".join(self.cells.columns)
        return f"multiplicative weights over {columns} at ε = {float(self.epsilon):g}, {self.corrections} corrections"


def _changed(cells: Contingency, table: Table) -> int:
    """By how many rows one person can change a linear question with weights in [0, 1]."""
    (counts,) = cells.parts(table)
    return counts.l1 // 2 if table.contribution.replace else counts.l1


@dataclass(frozen=True)
class _Learned:
    weights: Floats
    answer: float


class MultiplicativeWeightsRun(Running[PrivateMultiplicativeWeights]):
    """Multiplicative weights at work; safe from any thread."""

    labels: tuple[Any, ...]
    """What each cell is: a tuple of the values of the columns."""
    rows: int
    """The noisy number of rows."""

    def __init__(self, spec: PrivateMultiplicativeWeights, table: Table) -> None:
        super().__init__(spec, table)
        (counts,) = measured(self.spec.cells, self.table)
        found = self.spec.cells.cells(self.table)
        self.labels = found if len(self.spec.cells.columns) > 1 else tuple((label,) for label in found)
        self._counts = np.array(counts, dtype=np.int64)
        changed = _changed(self.spec.cells, self.table)
        scale = laplace_scale(changed, Fraction(self.spec.epsilon) * _COUNT_SHARE)
        self.rows = max(with_laplace([sum(counts)], scale)[0], 1)
        self._check = self.spec.checker(changed).start(self.table)
        self._shares = np.full(len(counts), 1 / len(counts))
        self._learned: list[_Learned] = []

    @property
    def corrections_left(self) -> int:
        """How many guesses can still be corrected."""
        return self._check.corrections_left

    @property
    def synthetic(self) -> dict[Any, float]:
        """The synthetic table of counts: anything may be computed from it."""
        with self._lock:
            return dict(zip(self.labels, (self._shares * self.rows).tolist(), strict=True))

    def ask(self, weights: Weights) -> Estimate:
        """The number of rows, weighted: by a weight for each cell, or a function of the cell's values."""
        steps = self._steps(weights)
        with self._lock:
            floats = steps / STEPS
            guess = float(floats @ self._shares) * self.rows
            if not self._check.corrections_left:
                return Estimate(guess, corrected=False, checked=False)
            found = self._check.checked(int(steps @ self._counts), round(guess * STEPS))
            if not found.corrected:
                return Estimate(guess, corrected=False)
            answer = max(found.value / STEPS, 0.0)
            self._learned.append(_Learned(floats, min(answer, float(self.rows))))  # what shares of `rows` can come to
            self._learn()
            return Estimate(answer, corrected=True)

    def _learn(self) -> None:
        """Multiplicative updates, over all corrections again and again: they have been paid for."""
        shares = self._shares
        sweeps = max(1, min(_SWEEPS, _WORK // (shares.size * len(self._learned))))
        for _ in range(sweeps):
            for known in self._learned:
                off = known.answer - float(known.weights @ shares) * self.rows
                shares = shares * np.exp(known.weights * (off / (2 * self.rows)))
                shares = shares / shares.sum()
        self._shares = shares

    def _steps(self, weights: Weights) -> Ints:
        """Whole steps of each cell; with up to 2^50 rows their sum fits 64 bits."""
        given = [weights(label) for label in self.labels] if callable(weights) else weights
        try:
            found = np.array(given, dtype=np.float64)  # a copy: nobody can change it after the check
        except (TypeError, ValueError):
            raise InvalidInput("weights", type(weights).__name__, "must be a number for each cell") from None
        if found.shape != (len(self.labels),):
            raise InvalidInput("weights", found.shape, f"must be {len(self.labels)} numbers, one for each cell")
        if not bool(np.all((found >= 0) & (found <= 1))):
            raise InvalidInput("weights", weights, "must lie in [0, 1]")
        return np.rint(found * STEPS).astype(np.int64)
