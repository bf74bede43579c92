"""The lists of ε that the engine is asked about, each from a fixed seed."""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Callable
from functools import lru_cache

import numpy as np
import numpy.typing as npt

from bench.instances import COARSE, SEED, Check, Instance, power

Coins = tuple[tuple[float, int], ...]
_MOST_HALVES = 44

SMALL, WIDE, LOGARITHMIC = "U(.001, .1)", "U(.1, 2)", "log-uniform(1e-4, 2)"
TYPES, HUGE, MULTIPLES = "five types × 10^6", "tiny and one of ε = 5", "multiples of .001"
NEARLY, CLOSE = ".05 ± 1e-9", ".05 (1 ± 1e-6)"


def _random() -> np.random.Generator:
    return np.random.default_rng(SEED)


_DRAWN: dict[str, Callable[[int], npt.NDArray[np.float64]]] = {
    SMALL: lambda k: _random().uniform(0.001, 0.1, k),
    WIDE: lambda k: _random().uniform(0.1, 2.0, k),
    LOGARITHMIC: lambda k: np.exp(_random().uniform(math.log(1e-4), math.log(2.0), k)),
    HUGE: lambda k: np.append(_random().uniform(1e-4, 1e-3, k - 1), 5.0),
    NEARLY: lambda k: 0.05 + 1e-9 * _random().uniform(-1, 1, k),
    CLOSE: lambda k: 0.05 * (1 + 1e-6 * _random().uniform(-1, 1, k)),
    MULTIPLES: lambda k: 0.001 * _random().integers(1, 101, k).astype(np.float64),
}


@lru_cache(maxsize=32)
def coins(name: str, k: int) -> Coins:
    """A list by its name and length."""
    if name == TYPES:
        return tuple((float(eps), k // 5) for eps in _random().uniform(0.01, 0.1, 5))
    return tuple(Counter(_DRAWN[name](k).tolist()).items())


def instance(name: str, k: int, delta: float) -> Instance:
    """A question about a list."""
    check: Check = "halves" if k <= _MOST_HALVES else "contour"
    return Instance(f"{name}, k = {power(k)}", coins(name, k), delta, COARSE, check)
