r"""Private multiplicative weights (HR10): many linear questions about one table of counts, few of which cost anything.

The mechanism keeps a synthetic table of counts, uniform at first.  A question is answered from it; guess and check
compares that guess with the data, and only a guess that is off by more than the tolerance is corrected with a noisy
answer, from which the synthetic table learns: x_c grows by the factor e^{w_c (answer - guess)/2n}, n rows in all.
What it learns from has been paid for, so it may learn from it again and again.

Weights are whole multiples of 2^-12 in [0, 1], so a question of weights w is a whole number of 4096ths, and one row
changes it by at most 4096 of them.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from fractions import Fraction
from typing import Any, Self

import numpy as np

from optcomp.composition import compose
from optcomp.errors import InvalidInput
from optcomp.guarantees import ApproxDP, PureDP
from optcomp.interactive.answers import measured
from optcomp.interactive.filters import Request
from optcomp.interactive.guess_and_check import GuessAndCheck
from optcomp.interactive.live import Running
from optcomp.interactive.sparse_vector import comparable
from optcomp.interactive.specs import Mechanism, Tally, stored, stored_whole, told_entries, told_truth
from optcomp.numerics import Exact, Floats, Ints, Number, exact
from optcomp.statistics import Contingency, Declared, Entries, Table, cells_where, kind_of
from optcomp.statistics.noise import laplace_scale, with_laplace
from optcomp.theorems import Bound

STEPS = 4096
"""A row of weight 1 counts so many steps."""
_COUNT_SHARE = Fraction(1, 20)
"""The share of ε that goes to the number of rows, which hardly needs any."""
_SWEEPS, _WORK = 30, 50_000_000
"""How often learned answers are gone through again, and about how many multiplications that may take."""
_MOST_ROWS = 2**63
"""Noisy numbers of rows are integers of 64 bits."""
_ROUNDED = 1e-6
"""What shares may add up to beside 1: a million times what rounding does."""
Weights = Callable[[Any], Number | bool] | Sequence[Number] | Floats | str
"""How much each cell counts in a question: a function of its labels, a number for each, or a condition for 0 and 1."""


@dataclass(frozen=True)
class Estimate:
    """An answer to a linear question, in rows."""

    value: float
    corrected: bool
    """Whether the data were asked, and the synthetic table learned from it."""
    checked: bool = True
    """False once all corrections are made: the synthetic table answers on, unchecked."""


@dataclass(frozen=True, repr=False)
class PrivateMultiplicativeWeights(Mechanism):
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
    kind = "multiplicative weights"

    def __init__(
        self,
        columns: Sequence[str],
        *,
        tolerance: Number,
        epsilon: Number,
        corrections: int,
        edges: Mapping[str, Sequence[Number] | None] | None = None,
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
        object.__setattr__(self, "corrections", self.checker(1).corrections)  # refuses what makes no sense

    @classmethod
    def read(cls, entries: Entries) -> Self:
        """From a document."""
        cells = Entries(entries.take("cells", Mapping), entries.path("cells"))
        columns, edges, where = cells.take("contingency", Sequence), cells.take("edges", Mapping, {}), cells.condition()
        cells.done()
        return cls(
            columns,
            edges=edges,
            where=where,
            tolerance=entries.number("tolerance"),
            epsilon=entries.number("epsilon"),
            corrections=entries.take("corrections", int),
            check_share=entries.number("check_share"),
            delta=entries.number("delta"),
        )

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
        whole = self.sum_of_costs(table)
        return (whole,) if self.delta else self.parts

    def sum_of_costs(self, table: Table | None = None) -> PureDP | ApproxDP:
        """ε, of which each part has its share; with a δ the optimal composition, if that is less."""
        if table is not None:  # refuses what the table does not declare before anything is paid
            self.cells.check(table)
            self.checker(_changed(self.cells, table))
        if not self.delta:
            return PureDP(self.epsilon)
        return ApproxDP(min(Fraction(self.total(self.delta).epsilon), Fraction(self.epsilon)), self.delta)

    def check_size(self, table: Declared, most: int) -> None:
        """Refuse more cells than `most` times corrections: each correction is kept with a weight for each cell."""
        (counts,) = self.cells.parts(table)
        if self.corrections * len(counts.cells) > most:
            fit = max(1, most // len(counts.cells))
            problem = f"must be at most {fit:,} with {len(counts.cells):,} cells: a weight for each is kept"
            raise InvalidInput("corrections", self.corrections, problem)

    def accuracy(self, questions: int, table: Declared, confidence: Number = 0.95) -> float:
        """With this confidence no checked answer is off by this many rows, for weights that are multiples of 2^-12."""
        return self.checker(_changed(self.cells, table)).accuracy(questions, confidence) / STEPS

    def reach(self, table: Declared, questions: int, confidence: Number = 0.95) -> float:
        """The same; one person changes as much as the table declares."""
        return self.accuracy(questions, table, confidence)

    def start(self, table: Table) -> MultiplicativeWeightsRun:
        """Read the table of counts once; the caller has paid."""
        return MultiplicativeWeightsRun(self, table)

    def resume(self, table: Table, state: Mapping[str, Any]) -> MultiplicativeWeightsRun:
        """Go on where a run was; the exact counts are read from the table again."""
        found = stored(state, self, "rows", "check", "shares", "learned")
        return MultiplicativeWeightsRun(self, table, found)

    def labels(self, table: Declared) -> tuple[Any, ...]:
        """What each cell is: a tuple of the values of the columns."""
        found = self.cells.cells(table)
        return found if len(self.cells.columns) > 1 else tuple((label,) for label in found)

    def form(self, table: Declared, weights: Weights) -> dict[str, Any]:
        """The condition; or the weights as whole 4096ths."""
        steps = self.steps(table, weights, self.labels(table))
        return {"where": weights.strip()} if isinstance(weights, str) else {"weights": steps.tolist()}

    def told(self, answer: Estimate) -> dict[str, Any]:
        """Its entries; the JSON of a float is read back as the same float."""
        return {"value": answer.value, "corrected": answer.corrected, "checked": answer.checked}

    def read_told(self, value: object) -> Estimate:
        """From its entries."""
        entries = told_entries(value, "value", "corrected", "checked")
        number = _stored_float(entries["value"], "answer.value")
        return Estimate(number, told_truth(entries["corrected"]), told_truth(entries["checked"]))

    def tally(self, answers: Sequence[Estimate]) -> Tally:
        """Corrections that can still be made; without any the synthetic table answers on, unchecked."""
        return Tally({"corrections_left": self.corrections - sum(answer.corrected for answer in answers)}, False)

    def steps(self, table: Declared, weights: Weights, labels: tuple[Any, ...]) -> Ints:
        """Whole 4096ths of each cell; with up to 2^50 rows their sum fits 64 bits."""
        if isinstance(weights, str):
            return cells_where(self.cells, weights, table).astype(np.int64) * STEPS
        given = [weights(label) for label in labels] if callable(weights) else weights
        try:
            found = np.array(given, dtype=np.float64)  # a copy: nobody can change it after the check
        except (TypeError, ValueError):
            raise InvalidInput("weights", type(weights).__name__, "must be a number for each cell") from None
        if found.shape != (len(labels),):
            raise InvalidInput("weights", found.shape, f"must be {len(labels)} numbers, one for each cell")
        if not bool(np.all((found >= 0) & (found <= 1))):
            raise InvalidInput("weights", weights, "must lie in [0, 1]")
        return np.rint(found * STEPS).astype(np.int64)

    def __str__(self) -> str:
        columns = ", ".join(self.cells.columns)
        return f"multiplicative weights over {columns} at ε = {float(self.epsilon):g}, {self.corrections} corrections"


def _changed(cells: Contingency, table: Declared) -> int:
    """By how many rows one person can change a linear question with weights in [0, 1]."""
    (counts,) = cells.parts(table)
    return counts.l1 // 2 if table.contribution.replace else counts.l1


@dataclass(frozen=True)
class _Learned:
    weights: Floats
    answer: float


class MultiplicativeWeightsRun(Running[PrivateMultiplicativeWeights]):
    """Multiplicative weights at work; safe from any thread."""

    TOLD = ("corrections_left", "labels", "rows", "synthetic")
    labels: tuple[Any, ...]
    """What each cell is: a tuple of the values of the columns."""
    rows: int
    """The noisy number of rows."""

    def __init__(
        self, spec: PrivateMultiplicativeWeights, table: Table, state: Mapping[str, Any] | None = None
    ) -> None:
        super().__init__(spec, table)
        self.labels, changed = spec.labels(table), _changed(spec.cells, table)
        if state is not None:  # before the data are read
            self._go_on(state, changed)
        (counts,) = measured(spec.cells, table)
        self._counts = np.array(counts, dtype=np.int64)
        if state is None:
            scale = laplace_scale(changed, Fraction(spec.epsilon) * _COUNT_SHARE)
            self.rows = max(with_laplace([sum(counts)], scale)[0], 1)
            self._check = spec.checker(changed).start(table)
            self._shares = np.full(len(counts), 1 / len(counts))
            self._learned: list[_Learned] = []

    def _go_on(self, state: Mapping[str, Any], changed: int) -> None:
        self.rows = stored_whole(state, "rows", 1, _MOST_ROWS)
        self._check = self.spec.checker(changed).resume(self.table, state["check"])
        self._shares = _stored_shares(state["shares"], len(self.labels))
        learned = state["learned"]
        if not isinstance(learned, list) or len(learned) > self.spec.corrections - self._check.corrections_left:
            raise InvalidInput("state.learned", kind_of(learned), "must be a list, no longer than the corrections made")
        self._learned = [_stored_answer(entry, len(self.labels), self.rows) for entry in learned]

    def state(self) -> dict[str, Any]:
        """The noisy number of rows, the check, the synthetic table and what it learned from; no exact count."""
        with self._lock:
            learned = [{"weights": _whole_steps(known.weights), "answer": known.answer} for known in self._learned]
            return {
                "mechanism": self.spec.document(),
                "rows": self.rows,
                "check": self._check.state(),
                "shares": self._shares.tolist(),
                "learned": learned,
            }

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
        """The number of rows, weighted: by a weight for each cell, or a function of the cell's values.

        A text such as "region == 'north' and age >= 65" asks for the rows in cells that satisfy this condition; it
        may name the columns of the cells, and must not cut a bin apart.
        """
        return self._estimate(self.spec.steps(self.table, weights, self.labels))

    def ask_form(self, form: object) -> Estimate:
        """The answer to a question in its form."""
        entries = Entries(form, "form")
        if entries.has("where"):
            steps = self.spec.steps(self.table, entries.take("where", str), self.labels)
        else:
            entries.expect("where")
            steps = _stored_steps(entries.take("weights", list), "form.weights", len(self.labels))
        entries.done()
        return self._estimate(steps)

    def _estimate(self, steps: Ints) -> Estimate:
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


def _whole_steps(weights: Floats) -> list[int]:
    """Weights as whole 4096ths, which is what they are."""
    return [int(step) for step in np.rint(weights * STEPS)]


def _stored_steps(steps: object, place: str, cells: int) -> Ints:
    """A whole number of 4096ths for each cell."""
    if not isinstance(steps, list) or len(steps) != cells:
        raise InvalidInput(place, kind_of(steps), f"must be {cells} numbers, one for each cell")
    if not all(type(step) is int and 0 <= step <= STEPS for step in steps):
        raise InvalidInput(place, "another one", f"must be whole numbers from 0 to {STEPS}")
    return np.array(steps, dtype=np.int64)


def _stored_float(value: object, place: str) -> float:
    if type(value) is not float or not math.isfinite(value):
        raise InvalidInput(place, kind_of(value), "must be a float")
    return value


def _stored_shares(shares: object, cells: int) -> Floats:
    """Shares of all cells, none negative, which add up to about 1."""
    if not isinstance(shares, list) or len(shares) != cells:
        raise InvalidInput("state.shares", kind_of(shares), f"must be {cells} numbers, one for each cell")
    found = np.array([_stored_float(share, "state.shares") for share in shares])
    if not (bool(np.all(found >= 0)) and abs(float(found.sum()) - 1) <= _ROUNDED):
        raise InvalidInput("state.shares", "others", "must be shares that add up to 1")
    return found


def _stored_answer(entry: object, cells: int, rows: int) -> _Learned:
    """An answer that was learned from."""
    if not isinstance(entry, Mapping) or set(entry) != {"weights", "answer"}:
        raise InvalidInput("state.learned", kind_of(entry), "must be objects with the entries weights, answer")
    answer = _stored_float(entry["answer"], "state.learned")
    if not 0 <= answer <= rows:
        raise InvalidInput("state.learned", "another answer", "must lie between 0 and the number of rows")
    return _Learned(_stored_steps(entry["weights"], "state.learned", cells) / STEPS, answer)
