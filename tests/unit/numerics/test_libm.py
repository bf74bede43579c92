"""The assumption behind every float bound: numpy's elementary functions are within LIBM units of round-off."""

from __future__ import annotations

import math
from collections.abc import Callable

import numpy as np
import numpy.typing as npt
import pytest
from flint import arb

from optcomp.numerics.blocked import LIBM, U
from tests.oracles.truth import working

Floats = npt.NDArray[np.float64]
COUNT = 20_000


def uniform(low: float, high: float) -> Callable[[np.random.Generator], Floats]:
    return lambda rng: rng.uniform(low, high, COUNT)


def logarithmic(low: float, high: float) -> Callable[[np.random.Generator], Floats]:
    return lambda rng: 10 ** rng.uniform(low, high, COUNT)


CASES: dict[str, tuple[Callable[[Floats], Floats], Callable[[arb], arb], Callable[[np.random.Generator], Floats]]] = {
    "exp": (np.exp, lambda x: x.exp(), uniform(-700, 700)),
    "exp near zero": (np.exp, lambda x: x.exp(), uniform(-1, 1)),
    "log": (np.log, lambda x: x.log(), logarithmic(-300, 300)),
    "log near one": (np.log, lambda x: x.log(), uniform(0.9, 1.1)),
    "log of ratios": (
        np.log,
        lambda x: x.log(),
        lambda rng: rng.integers(1, 10**9, COUNT) / rng.integers(1, 10**9, COUNT),
    ),
    "log1p": (np.log1p, lambda x: x.log1p(), logarithmic(-300, 3)),
    "log1p of negatives": (np.log1p, lambda x: x.log1p(), lambda rng: -(10 ** rng.uniform(-300, -1e-9, COUNT))),
    "log1p of exp": (
        lambda x: np.log1p(np.exp(-x)),
        lambda x: (-x).exp().log1p(),
        uniform(0, 700),
    ),
    "tanh": (np.tanh, lambda x: x.tanh(), logarithmic(-300, 3)),
    "tanh in the middle": (np.tanh, lambda x: x.tanh(), uniform(0, 20)),
}


@pytest.mark.parametrize("name", list(CASES))
def test_within_libm_units(name: str) -> None:
    fast, exact, draw = CASES[name]
    values = draw(np.random.default_rng(53))
    allowed = U * (2 * LIBM + 2 if name == "log1p of exp" else LIBM)
    results = fast(values)
    with working(120):
        wrong = [
            x
            for x, y in zip(values.tolist(), results.tolist(), strict=True)
            if not abs(arb(y) - exact(arb(x))) <= allowed * abs(exact(arb(x)))
        ]
    assert not wrong, wrong[:5]


def test_scalar_functions_too() -> None:
    rng = np.random.default_rng(7)
    with working(120):
        for x in rng.uniform(-700, 0, 5000).tolist():
            assert abs(arb(math.exp(x)) - arb(x).exp()) <= LIBM * U * arb(x).exp()
