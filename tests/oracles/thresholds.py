"""Comparisons with noise by enumeration: the exact chance of every course that a running mechanism can take, as a ball.

The mechanism's own code runs.  Its noise is replaced by symbols: a comparison of two of them comes out as scripted, and
is written down.  What was written down is an event about independent discrete noise, whose chance is summed up here
over all values of the threshold's noise; what lies outside the sum is in the radius of the ball.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from contextlib import suppress
from dataclasses import dataclass, field
from functools import cache
from itertools import product
from math import ceil, prod
from typing import Any, Literal, cast
from unittest.mock import patch

from flint import arb

from optcomp import MechanismClosed
from optcomp.interactive import GaussianSparseVector, SparseVector, guess_and_check, sparse_vector
from optcomp.statistics import Table
from tests.oracles.truth import real, working

BITS = 160
NO_TABLE = cast(Table, None)
"""For mechanisms that are given integers."""
Answers = tuple[bool, ...]
Questions = Callable[[Answers], int]
"""The next question, from the answers so far."""


@dataclass(frozen=True)
class Noise:
    """Discrete noise of a kind and scale; chances are cached, and have `BITS` bits whatever precision is set."""

    kind: Literal["laplace", "gaussian"]
    scale: float

    @property
    def reach(self) -> int:
        """Beyond this there is less than 2^-140 of it, and of Gaussian noise much less: what matters may be rare."""
        return ceil(self.scale * (98 if self.kind == "laplace" else 40)) + 8

    def at(self, x: int) -> arb:
        """P(X = x)."""
        return _weights(self)[abs(x)]

    def above(self, t: int) -> arb:
        """P(X >= t)."""
        with working(BITS):
            if t <= 0:
                return 1 - self.above(1 - t)
            if self.kind == "laplace":
                r = (-1 / real(self.scale)).exp()
                return r**t / (1 + r)
            return _tails(self)[t] if t <= self.reach else arb(0).union(_tails(self)[-1])


@cache
def _weights(noise: Noise) -> list[arb]:
    """P(X = 0), P(X = 1), ..."""
    with working(BITS):
        if noise.kind == "laplace":
            r = (-1 / real(noise.scale)).exp()
            return [(1 - r) / (1 + r) * r**x for x in range(noise.reach + 1)]
        raw = [(-real(x * x) / (2 * real(noise.scale) ** 2)).exp() for x in range(noise.reach + 1)]
        whole = raw[0] + 2 * (sum(raw[1:], arb(0)) + _after(raw[-1]))
        return [each / whole for each in raw]


@cache
def _tails(noise: Noise) -> list[arb]:
    """P(X >= 0), P(X >= 1), ... of Gaussian noise."""
    with working(BITS):
        running, found = _after(_weights(noise)[-1]), []
        for weight in reversed(_weights(noise)):
            running += weight
            found.append(running)
        return found[::-1]


def _after(last: arb) -> arb:
    """What follows a term far out: here terms fall by more than half from one to the next."""
    return arb(0).union(last)


@dataclass(eq=False)
class Symbol:
    """A value with noise of its own."""

    script: Script
    value: int
    noise: Noise

    def __lt__(self, other: Symbol | int) -> bool:
        below = not next(self.script.outcomes)
        self.script.compared.append((self, other, below))
        return below


@dataclass
class Script:
    """Says how comparisons come out, and remembers them."""

    outcomes: Iterator[bool]
    compared: list[tuple[Symbol, Symbol | int, bool]] = field(default_factory=list)
    told: list[Symbol] = field(default_factory=list)
    """Values that were released with noise."""

    def laplace(self, values: Sequence[int], scale: float) -> list[Symbol]:
        return [Symbol(self, value, Noise("laplace", scale)) for value in values]

    def gaussian(self, values: Sequence[int], sigma: float) -> list[Symbol]:
        return [Symbol(self, value, Noise("gaussian", sigma)) for value in values]

    def tell(self, values: Sequence[int], scale: float) -> list[Symbol]:
        self.told += self.laplace(values, scale)
        return self.told[-len(values) :]

    def rounds(self) -> list[arb]:
        """The chance of what happened with each threshold."""
        assert len({id(question) for question, _, _ in self.compared}) == len(self.compared)  # never the same noise
        thresholds = {id(threshold): threshold for _, threshold, _ in self.compared}
        with working(BITS):
            return [
                _together(threshold, [(q, below) for q, other, below in self.compared if id(other) == place])
                for place, threshold in thresholds.items()
            ]

    def chance(self) -> arb:
        """The chance of all comparisons."""
        with working(BITS):
            return prod(self.rounds(), start=arb(1))


def _together(threshold: Symbol | int, events: Sequence[tuple[Symbol, bool]]) -> arb:
    """P(every comparison with this threshold comes out so)."""
    value, noise = (threshold, None) if isinstance(threshold, int) else (threshold.value, threshold.noise)
    gaps = ((question.noise.kind, question.noise.scale, below, value - question.value) for question, below in events)
    return _chance(noise, tuple(sorted(gaps)))


Gap = tuple[Literal["laplace", "gaussian"], float, bool, int]
"""The noise of a question, whether it is below the threshold, and the threshold minus the question, without noise."""


@cache
def _chance(noise: Noise | None, gaps: tuple[Gap, ...]) -> arb:
    """The same with noise on the threshold, or without; many courses have rounds in common."""
    sides = [(_sides(Noise(kind, scale), below), gap) for kind, scale, below, gap in gaps]
    with working(BITS):
        if noise is None:
            return prod((chances[gap] for chances, gap in sides), start=arb(1))
        weights, found = _weights(noise), arb(0)
        for z in range(-noise.reach, noise.reach + 1):
            term = weights[abs(z)]
            for chances, gap in sides:
                term = term * chances[gap + z]
            found += term
        return found + arb(0).union(2 * noise.above(noise.reach + 1))


class Sides(dict[int, arb]):
    """t to P(X < t), which is P(X >= 1 - t), or to P(X >= t); each computed once."""

    def __init__(self, noise: Noise, below: bool) -> None:
        super().__init__()
        self.noise, self.below = noise, below

    def __missing__(self, t: int) -> arb:
        self[t] = self.noise.above(1 - t if self.below else t)
        return self[t]


_sides = cache(Sides)


def courses(run: Callable[[], Answers], most: int) -> dict[Answers, Script]:
    """Every course of a mechanism that makes at most so many comparisons: its answers, and what happened."""
    found = {}
    for outcomes in product((False, True), repeat=most):
        script = Script(iter(outcomes))
        noise = patch.multiple(sparse_vector, with_laplace=script.laplace, with_gaussian=script.gaussian)
        with noise, patch.object(guess_and_check, "with_laplace", script.tell):
            found[run()] = script
    return found


def sparse_courses(
    spec: SparseVector | GaussianSparseVector, questions: Questions | Sequence[int], most: int
) -> dict[Answers, Script]:
    """Every course of a sparse vector that is asked so many questions, or until it is closed."""

    def run() -> Answers:
        running, answers = spec.start(NO_TABLE), Answers()
        with suppress(MechanismClosed):
            while len(answers) < most:
                value = questions(answers) if callable(questions) else questions[len(answers)]
                answers += (running.above(value),)
        return answers

    return courses(run, most)


def losses(one: dict[Answers, Script], two: dict[Answers, Script]) -> dict[Answers, arb]:
    """log P/P' of every course, for two neighbouring sets of questions."""
    assert set(one) == set(two)
    with working(BITS):
        return {answers: (one[answers].chance() / two[answers].chance()).log() for answers in one}


def worst_loss(spec: SparseVector | GaussianSparseVector, one: Any, two: Any, most: int) -> arb:
    """The greatest |log P/P'| over all courses."""
    found = losses(sparse_courses(spec, one, most), sparse_courses(spec, two, most)).values()
    with working(BITS):
        return max((abs(loss) for loss in found), key=lambda loss: float(loss.upper()))
