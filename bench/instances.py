"""The questions: which mechanisms are composed, and at which total δ."""

from __future__ import annotations

import math
from dataclasses import dataclass
from functools import cached_property
from typing import Literal

import numpy as np
import numpy.typing as npt

SEED = 7
DELTAS = (1e-6, 1e-9, 1e-20, 1e-300)
COARSE = 1e-4
"""The grid that dp-accounting takes when told nothing."""

Check = Literal["binomial", "lattice", "halves", "contour"]


@dataclass(frozen=True)
class Instance:
    """Find the least ε at `delta` for pure mechanisms, given as pairs (ε_i, how many)."""

    group: str
    coins: tuple[tuple[float, int], ...]
    delta: float
    grid: float
    """The spacing of privacy losses that suits these ε_i best; divides all of them where that is possible."""
    check: Check
    """Which independent reference in `bench.references` applies."""
    eta: float | None = None
    """Accuracy asked of Murtagh–Vadhan, in its own table."""

    @property
    def count(self) -> int:
        return sum(count for _, count in self.coins)

    @cached_property
    def items(self) -> npt.NDArray[np.float64] | dict[float, int]:
        """As a user of optcomp would have them: an array, or a mapping to counts where there are any."""
        if all(count == 1 for _, count in self.coins):
            return np.array([eps for eps, _ in self.coins])
        return dict(self.coins)

    @property
    def homogeneous(self) -> bool:
        return len(self.coins) == 1

    @property
    def total(self) -> float:
        """What basic composition says."""
        return math.fsum(eps * count for eps, count in self.coins)

    @property
    def squares(self) -> float:
        return math.fsum(eps * eps * count for eps, count in self.coins)


def homogeneous(quick: bool) -> list[Instance]:
    """k times the same ε, from a hundred to a thousand million."""
    sizes = [(100, 0.01), (1000, 0.01), (10**6, 0.01), (10**9, 0.01), (10**9, 0.001)]
    deltas = (1e-9, 1e-20) if quick else DELTAS
    return [
        Instance(f"k = {power(k)}, ε = {eps:g} each", ((eps, k),), delta, eps, "binomial")
        for k, eps in (sizes[:2] if quick else sizes)
        for delta in deltas
    ]


def heterogeneous(quick: bool) -> list[Instance]:
    """Different ε_i where the exact answer can be had."""
    ladder = tuple((step / 1000, 1) for step in range(10, 110))
    types = tuple((eps, 200) for eps in (0.013, 0.029, 0.047, 0.071, 0.097))
    made = [
        *_each("100 mechanisms, ε = .010, .011, …, .109", ladder, (1e-6, 1e-10, 1e-14, 1e-20), 1e-3, "lattice"),
        *_each("30 different ε ~ U(.001, .1)", drawn(30, 0.001, 0.1), (1e-6, 1e-9), COARSE, "halves"),
        *_each("44 different ε ~ U(.1, 2)", drawn(44, 0.1, 2.0), (1e-3,), COARSE, "halves"),
        *_each("5 types × 200, ε = .013, .029, .047, .071, .097", types, (1e-9,), 1e-3, "lattice"),
        *_each("5 types × 200, ε ~ U(.01, .1)", drawn(5, 0.01, 0.1, 200), (1e-9,), COARSE, "halves"),
    ]
    return [instance for instance in made if instance.count == 30] if quick else made


def murtagh_vadhan(quick: bool) -> list[Instance]:
    """All ε_i different, too many for the exact answer."""
    return [
        Instance(f"k = {k} different ε ~ U(.001, .1)", drawn(k, 0.001, 0.1), 1e-9, COARSE, "contour", eta)
        for k in ((100,) if quick else (100, 1000))
        for eta in (0.1, 0.01)
    ]


def drawn(k: int, low: float, high: float, count: int = 1) -> tuple[tuple[float, int], ...]:
    """k uniform values from a fixed seed."""
    return tuple((float(eps), count) for eps in np.random.default_rng(SEED).uniform(low, high, k))


def power(k: int) -> str:
    """1000000 as people write it."""
    exponent = len(str(k)) - 1
    return f"10^{exponent}" if exponent > 3 and k == 10**exponent else str(k)


def _each(
    group: str, coins: tuple[tuple[float, int], ...], deltas: tuple[float, ...], grid: float, check: Check
) -> list[Instance]:
    return [Instance(group, coins, delta, grid, check) for delta in deltas]
