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
    "sin of reduced angles": (np.sin, lambda x: x.sin(), uniform(-1.6, 1.6)),
    "sin of small angles": (np.sin, lambda x: x.sin(), logarithmic(-300, 0)),
    "cos of reduced angles": (np.cos, lambda x: x.cos(), uniform(-1.57, 1.57)),
    "sinh": (np.sinh, lambda x: x.sinh(), uniform(-1, 1)),
    "sinh of small numbers": (np.sinh, lambda x: x.sinh(), logarithmic(-300, 0)),
    "cosh": (np.cosh, lambda x: x.cosh(), uniform(0, 1)),
    "expm1": (np.expm1, lambda x: x.expm1(), logarithmic(-300, 1)),
    "expm1 of negatives": (np.expm1, lambda x: x.expm1(), lambda rng: -(10 ** rng.uniform(-300, 2.5, COUNT))),
    "exp of negatives": (np.exp, lambda x: x.exp(), lambda rng: -(10 ** rng.uniform(-18, 2.8, COUNT))),
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


@pytest.mark.parametrize("largest", [10.0, 1e4, 1e7, 1e10])
@pytest.mark.parametrize("contiguous", [True, False])
def test_angles_that_are_not_reduced(largest: float, contiguous: bool) -> None:
    """Absolutely, which is what a sum over nodes needs; strided arrays may take another route through numpy."""
    values = np.random.default_rng(29).uniform(-largest, largest, 2 * COUNT)
    values = values[:COUNT] if contiguous else values[::2]
    sine, cosine = np.sin(values), np.cos(values)
    with working(160):
        for x, s, c in zip(values.tolist(), sine.tolist(), cosine.tolist(), strict=True):
            assert abs(arb(s) - arb(x).sin()) <= LIBM * U
            assert abs(arb(c) - arb(x).cos()) <= LIBM * U


def test_arctan2_and_hypot() -> None:
    rng = np.random.default_rng(31)
    y = rng.choice([-1, 1], COUNT) * 10 ** rng.uniform(-30, 0, COUNT)
    x = 10 ** rng.uniform(-30, 0, COUNT)
    angles, sizes = np.arctan2(y, x), np.hypot(y, x)
    with working(160):
        for b, a, angle, size in zip(y.tolist(), x.tolist(), angles.tolist(), sizes.tolist(), strict=True):
            truth = arb.atan2(arb(b), arb(a))
            assert abs(arb(angle) - truth) <= LIBM * U * abs(truth)
            length = (arb(b) ** 2 + arb(a) ** 2).sqrt()
            assert abs(arb(size) - length) <= LIBM * U * length


def test_scalar_functions_too() -> None:
    rng = np.random.default_rng(7)
    with working(120):
        for x in rng.uniform(-700, 0, 5000).tolist():
            assert abs(arb(math.exp(x)) - arb(x).exp()) <= LIBM * U * arb(x).exp()
        for x in (-(10 ** rng.uniform(-300, 2.8, 5000))).tolist():
            assert abs(arb(math.expm1(x)) - arb(x).expm1()) <= LIBM * U * abs(arb(x).expm1())
            assert abs(arb(math.log(-x)) - arb(-x).log()) <= LIBM * U * abs(arb(-x).log())
