r"""Murtagh–Vadhan as published (their Theorem 1.7), in plain numpy: the baseline for our own implementation.

    β = η/(k(1 + mean ε) + 1),  ε_0 = ln(1 + β),  a_i = ⌈ε_i(1/β + 1)⌉,  least a* with OptComp(a ε_0, δ) <= a* ε_0

by a knapsack table over Σ_{i in T} a_i <= B (Lemma 5.1) with weights e^{-ε'_i} and e^{ε'_i} (Lemma 5.2) and a binary
search over a*.  Two liberties, both in its favour: weights are divided by 1 + w_i, so that floats can hold them, and
the two tables are made once for the largest B and not anew at every step of the search.
"""

from __future__ import annotations

import math

import numpy as np
import numpy.typing as npt

from bench.answers import Answer, Contender
from bench.instances import Instance

Floats = npt.NDArray[np.float64]


def murtagh_vadhan(eps: Floats, delta: float, eta: float) -> float:
    """OptComp(δ) <= the answer <= OptComp(e^{-η/2} δ) + η, up to float arithmetic."""
    beta = eta / (eps.size * (1 + eps.mean()) + 1)
    unit = math.log1p(beta)
    sizes = np.ceil(eps * (1 / beta + 1)).astype(np.int64)
    total = int(sizes.sum())
    falling = _knapsack(sizes, np.exp(-unit * sizes), total // 2)
    rising = _knapsack(sizes, np.exp(unit * sizes), total // 2)
    low, high = -1, total
    while high - low > 1:
        middle = (low + high) // 2
        room = (total - middle) // 2
        if falling[room] - math.exp(middle * unit) * rising[room] <= delta:
            high = middle
        else:
            low = middle
    return high * unit


def _knapsack(sizes: npt.NDArray[np.int64], weights: Floats, room: int) -> Floats:
    """F(k, s) for every s <= room: the weight of all sets of total size at most s, over the weight of all sets."""
    table = np.ones(room + 1)
    for size, weight in zip(sizes.tolist(), weights.tolist(), strict=True):
        rest = table * (1 / (1 + weight))
        rest[size:] += table[: max(room + 1 - size, 0)] * (weight / (1 + weight))
        table = rest
    return table


def _ask(instance: Instance) -> Answer:
    assert instance.eta is not None
    eps = np.repeat([eps for eps, _ in instance.coins], [count for _, count in instance.coins])
    return Answer(murtagh_vadhan(eps, instance.delta, instance.eta))


PUBLISHED = Contender("as published, numpy", _ask)
