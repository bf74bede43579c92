"""Mechanisms of each kind, a table for them, and real noise that a second run meets again."""

from __future__ import annotations

import json
from collections.abc import Callable, Sequence
from decimal import Decimal
from random import Random
from typing import Any

import numpy as np
import pyarrow
import pytest

from optcomp.interactive import (
    GaussianSparseVector,
    GuessAndCheck,
    Mechanism,
    PrivateMultiplicativeWeights,
    SparseVector,
)
from optcomp.interactive import guess_and_check as checking
from optcomp.interactive import multiplicative_weights as weighing
from optcomp.interactive import sparse_vector as comparing
from optcomp.statistics import Categories, Count, Integers, Table
from optcomp.statistics.noise import with_gaussian, with_laplace

COLUMNS = {"age": Integers(0, 20), "region": Categories(["north", "south"])}


def table(ages: Sequence[int]) -> Table:
    regions = [["north", "south", "west"][age % 3] for age in ages]
    return Table(pyarrow.table({"age": pyarrow.array(ages, pyarrow.int64()), "region": regions}), COLUMNS)


TABLE = table([age % 21 for age in range(300)])
OTHER = table([7] * 5)

WEIGHTS = {"tolerance": 4, "epsilon": "0.9", "corrections": 6}
EDGES = {"age": (0, "6.5", 13.0, 20)}
MECHANISMS: dict[str, Mechanism] = {
    "sparse": SparseVector(10, epsilon="0.1", positives=5),
    "monotone": SparseVector("10.25", epsilon=0.1, positives=2, sensitivity=3, monotone=True, share="1/7"),
    "refreshed": SparseVector(-4, epsilon=Decimal("2.5"), positives=4, refresh=True),
    "gaussian": GaussianSparseVector(5, sigma_threshold=7.3, sigma_questions=np.pi, questions=30, positives=9),
    "checked": GuessAndCheck("7.5", epsilon="0.3", corrections=5, sensitivity=20, check_share="2/3", delta=1e-7),
    "weights": PrivateMultiplicativeWeights(["region"], **WEIGHTS),  # type: ignore[arg-type]
    "bins": PrivateMultiplicativeWeights(["region", "age"], edges=EDGES, where="age > 0", **WEIGHTS),  # type: ignore[arg-type]
}
"""Each kind, in several ways."""
QUIET: dict[str, Mechanism] = {
    "quiet sparse": SparseVector(100, epsilon=10**5, positives=3),
    "quiet refreshed": SparseVector(100, epsilon=10**5, positives=3, refresh=True),
    "quiet gaussian": GaussianSparseVector(100, sigma_threshold=0.1, sigma_questions=0.1, questions=30, positives=3),
    "quiet checked": GuessAndCheck(50, epsilon=10**5, corrections=3),
    "quiet weights": PrivateMultiplicativeWeights(["region", "age"], tolerance=5, epsilon=10**8, corrections=2),
}
"""With so little noise that every question far from the threshold is answered rightly, and all of them close.

Laplace noise has a scale of 1/1000, Gaussian noise a sigma of 1/10: a draw is not 0 with a probability below 1e-21.
"""
ALL_MECHANISMS = MECHANISMS | QUIET


def through_json(value: Any) -> Any:
    return json.loads(json.dumps(value, allow_nan=False))


def asked(mechanism: Mechanism, rng: Random) -> tuple[Any, ...]:
    """A question for its run."""
    if isinstance(mechanism, PrivateMultiplicativeWeights):
        return (lambda label: (len(str(label)) * rng.random()) % 1,) if rng.random() < 0.7 else ("region != 'north'",)
    statistic = Count(f"age > {rng.randrange(20)}")
    return (statistic, rng.randrange(300)) if isinstance(mechanism, GuessAndCheck) else (statistic,)


Draw = Callable[[Sequence[int], float], list[int]]


class RepeatedNoise:
    """Real noise, drawn and recorded in a first run, and added to the values of another run once more.

    Whoever draws more noise than the first run, or noise of another kind or scale, fails.
    """

    def __init__(self, monkeypatch: pytest.MonkeyPatch) -> None:
        self._recorded: list[tuple[str, float, list[int]]] = []
        self._left: list[tuple[str, float, list[int]]] | None = None
        for module in (comparing, checking, weighing):
            monkeypatch.setattr(module, "with_laplace", self._drawing(with_laplace))
        monkeypatch.setattr(comparing, "with_gaussian", self._drawing(with_gaussian))

    def _drawing(self, draw: Draw) -> Draw:
        def noisy(values: Sequence[int], scale: float) -> list[int]:
            if self._left is None:
                found = draw(values, scale)
                noise = [after - before for after, before in zip(found, values, strict=True)]
                self._recorded.append((draw.__name__, scale, noise))
                return found
            assert self._left, "more noise is drawn than in the first run"
            *kind, noise = self._left.pop(0)
            assert kind == [draw.__name__, scale], "other noise is drawn than in the first run"
            return [value + each for value, each in zip(values, noise, strict=True)]

        return noisy

    def again(self) -> None:
        """From now on the same noise comes again."""
        self._left = list(self._recorded)

    def all_drawn(self) -> bool:
        """Whether the other run has drawn as much as the first."""
        return self._left == []
