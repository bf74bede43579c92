"""Mechanisms of each kind, and a table for them."""

from __future__ import annotations

import json
from collections.abc import Sequence
from decimal import Decimal
from random import Random
from typing import Any

import numpy as np
import pyarrow

from optcomp.interactive import (
    GaussianSparseVector,
    GuessAndCheck,
    Mechanism,
    PrivateMultiplicativeWeights,
    SparseVector,
)
from optcomp.statistics import Categories, Count, Integers, Table

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


def through_json(value: Any) -> Any:
    return json.loads(json.dumps(value, allow_nan=False))


def asked(mechanism: Mechanism, rng: Random) -> tuple[Any, ...]:
    """A question for its run."""
    if isinstance(mechanism, PrivateMultiplicativeWeights):
        return (lambda label: (len(str(label)) * rng.random()) % 1,) if rng.random() < 0.7 else ("region != 'north'",)
    statistic = Count(f"age > {rng.randrange(20)}")
    return (statistic, rng.randrange(300)) if isinstance(mechanism, GuessAndCheck) else (statistic,)
