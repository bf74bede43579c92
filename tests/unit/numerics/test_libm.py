"""The assumption behind every float bound: elementary functions are within a few units of round-off.

`ASSUMED` is the table of docs/engine.md, section 7, and holds every function of numpy and of the mathematical library
that a claim rests on.  Each is compared with ball arithmetic where the engine uses it.
"""

from __future__ import annotations

import ast
import math
import re
from collections.abc import Callable, Sequence
from fractions import Fraction
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt
import pytest
from flint import acb, arb

from optcomp.numerics.blocked import LIBM, Floats, U
from tests.oracles.truth import working

ROOT = Path(__file__).parents[3]
COUNT = 10_000

ASSUMED: dict[str, int] = {
    **dict.fromkeys(("numpy.exp", "numpy.expm1", "numpy.log", "numpy.log1p"), 8),
    **dict.fromkeys(("numpy.sin", "numpy.cos", "numpy.arctan", "numpy.arctan2", "numpy.hypot"), 8),
    **dict.fromkeys(("numpy.sinh", "numpy.cosh", "numpy.tanh", "numpy.power"), 8),
    **dict.fromkeys(("math.exp", "math.expm1", "math.log", "math.log1p", "math.pow", "math.tan"), 8),
    **dict.fromkeys(("complex exp", "complex quotient", "complex modulus"), 8),
    "complex product": 3,
    **dict.fromkeys(("numpy.sqrt", "math.sqrt", "math.fsum"), 1),
    **dict.fromkeys(("numpy.rint", "numpy.fmod", "numpy.frexp", "numpy.ldexp"), 0),
    **dict.fromkeys(("math.remainder", "math.frexp", "math.ldexp"), 0),
}
"""Name, and the error in units of u = 2^-53: relative to the value, for complex numbers to its modulus."""

GUESSES = {
    *("numpy.logaddexp", "numpy.log2", "numpy.exp2", "numpy.geomspace"),
    *("math.log2", "math.hypot", "math.erfc"),
}
"""Decide where to look or what to spend, and nothing else."""

ELEMENTARY = {name.partition(".")[2] for name in ASSUMED if "." in name} | {
    *("exp2", "log2", "log10", "logaddexp", "logaddexp2", "geomspace", "logspace", "sinc", "cbrt", "float_power"),
    *("arcsin", "arccos", "arctan", "asin", "acos", "atan", "atan2", "arcsinh", "arctanh", "asinh", "acosh", "atanh"),
    *("erf", "erfc", "gamma", "lgamma", "angle", "hypot", "tan", "dist", "mod", "remainder"),
}

Draw = Callable[[np.random.Generator], Sequence[Floats]]


def uniform(low: float, high: float) -> Draw:
    return lambda rng: [rng.uniform(low, high, COUNT)]


def logarithmic(low: float, high: float, sign: float = 1.0) -> Draw:
    return lambda rng: [sign * 10 ** rng.uniform(low, high, COUNT)]


def ratios(rng: np.random.Generator) -> Sequence[Floats]:
    return [rng.integers(1, 10**9, COUNT) / rng.integers(1, 10**9, COUNT)]


def plane(low: float, high: float) -> Draw:
    """Two numbers of any size in a range, the first of either sign."""
    return lambda rng: [
        rng.choice([-1.0, 1.0], COUNT) * 10 ** rng.uniform(low, high, COUNT),
        10 ** rng.uniform(low, high, COUNT),
    ]


def square(rng: np.random.Generator) -> Sequence[Floats]:
    return [10 ** rng.uniform(-150, 150, COUNT), np.full(COUNT, 2.0)]


def ellipses(rng: np.random.Generator) -> Sequence[Floats]:
    """ρ^{1-N}, as in the error of Chebyshev interpolation."""
    return [10 ** rng.uniform(0.02, 6.5, COUNT), 1.0 - rng.integers(6, 41, COUNT).astype(np.float64)]


REAL: dict[str, tuple[Callable[..., arb], list[Draw]]] = {
    "exp": (lambda x: x.exp(), [uniform(-700, 700), uniform(-1, 1), logarithmic(-18, 2.8, -1.0)]),
    "expm1": (lambda x: x.expm1(), [logarithmic(-300, 2.7), logarithmic(-300, 2.5, -1.0)]),
    "log": (lambda x: x.log(), [logarithmic(-300, 300), uniform(0.9, 1.1), ratios]),
    "log1p": (lambda x: x.log1p(), [logarithmic(-300, 300), logarithmic(-300, -1e-9, -1.0)]),
    "sin": (lambda x: x.sin(), [uniform(-1.6, 1.6), logarithmic(-300, 0)]),
    "cos": (lambda x: x.cos(), [uniform(-1.57, 1.57)]),
    "sinh": (lambda x: x.sinh(), [uniform(-1, 1), logarithmic(-300, 0)]),
    "cosh": (lambda x: x.cosh(), [uniform(0, 1)]),
    "tanh": (lambda x: x.tanh(), [logarithmic(-300, 3), uniform(0, 20)]),
    "tan": (lambda x: x.tan(), [uniform(0, 1.3)]),
    "sqrt": (lambda x: x.sqrt(), [logarithmic(-300, 300)]),
    "arctan": (lambda x: x.atan(), [lambda rng: [np.ones(COUNT)]]),
    "arctan2": (arb.atan2, [plane(-30, 0), plane(-1, 1)]),
    "hypot": (lambda y, x: (y**2 + x**2).sqrt(), [plane(-30, 15), plane(-1, 1)]),
    "power": (lambda x, y: x**y, [ellipses]),
    "pow": (lambda x, y: x**y, [square, ellipses]),
}
"""For each function of real numbers the same in balls, and numbers from the ranges in which it is used."""

REAL_NAMES = [name for name in ASSUMED if name.partition(".")[2] in REAL]


def computed(name: str, arguments: Sequence[Floats]) -> list[float]:
    """By numpy on arrays, by the mathematical library one by one; `x**y` of floats is its pow."""
    library, _, function = name.partition(".")
    if library == "numpy":
        found: list[float] = getattr(np, function)(*arguments).tolist()
        return found
    columns = zip(*(column.tolist() for column in arguments), strict=True)
    return [x**y for x, y in columns] if function == "pow" else [getattr(math, function)(*each) for each in columns]


@pytest.mark.parametrize("name", REAL_NAMES)
def test_real_functions(name: str) -> None:
    exact, draws = REAL[name.partition(".")[2]]
    rng = np.random.default_rng(53)
    for draw in draws:
        arguments = draw(rng)
        values = computed(name, arguments)
        with working(160):
            columns = zip(*(column.tolist() for column in arguments), strict=True)
            for each, value in zip(columns, values, strict=True):
                truth = exact(*map(arb, each))
                assert abs(arb(value) - truth) <= ASSUMED[name] * U * abs(truth), (each, value)


def test_a_composite() -> None:
    values = np.random.default_rng(53).uniform(0, 700, COUNT)
    with working(120):
        for x, y in zip(values.tolist(), np.log1p(np.exp(-values)).tolist(), strict=True):
            assert abs(arb(y) - (-arb(x)).exp().log1p()) <= (2 * LIBM + 2) * U * (-arb(x)).exp().log1p()


@pytest.mark.parametrize("largest", [10.0, 1e4, 1e7, 1e10])
@pytest.mark.parametrize("contiguous", [True, False])
def test_angles_that_are_not_reduced(largest: float, contiguous: bool) -> None:
    """Absolutely, which is what a sum over nodes needs; strided arrays may take another route through numpy."""
    values = np.random.default_rng(29).uniform(-largest, largest, 2 * COUNT)
    values = values[:COUNT] if contiguous else values[::2]
    sine, cosine, turn = np.sin(values), np.cos(values), np.exp(1j * values)
    with working(160):
        for x, s, c, e in zip(values.tolist(), sine.tolist(), cosine.tolist(), turn.tolist(), strict=True):
            assert abs(arb(s) - arb(x).sin()) <= ASSUMED["numpy.sin"] * U
            assert abs(arb(c) - arb(x).cos()) <= ASSUMED["numpy.cos"] * U
            assert abs(acb(e.real, e.imag) - acb(0, arb(x)).exp()) <= ASSUMED["complex exp"] * U


def complexes(rng: np.random.Generator) -> npt.NDArray[np.complex128]:
    """Points s = c + iθ of a contour, tilts and frequencies of any size and of either sign."""
    tilt = rng.choice([-1.0, 1.0], COUNT) * 10 ** rng.uniform(-7, 6, COUNT)
    return np.asarray(tilt + 1j * rng.choice([-1.0, 1.0], COUNT) * 10 ** rng.uniform(-7, 12, COUNT))


def test_complex_arithmetic() -> None:
    rng = np.random.default_rng(31)
    one, other, unit = complexes(rng), complexes(rng), np.exp(1j * rng.uniform(-9, 9, COUNT))
    with working(160):
        for a, b, e, found in zip(one, other, unit, one * other, strict=True):
            _close("complex product", found, _ball(a) * _ball(b))
            _close("complex product", a * e, _ball(a) * _ball(e))
        for a, b, inverse, found in zip(one, other, 1 / one, one / other, strict=True):
            _close("complex quotient", inverse, 1 / _ball(a))
            _close("complex quotient", found, _ball(a) / _ball(b))
        for a, found in zip(one, np.abs(one), strict=True):
            assert abs(arb(float(found)) - abs(_ball(a))) <= ASSUMED["complex modulus"] * U * abs(_ball(a))


def _ball(value: Any) -> acb:
    return acb(float(value.real), float(value.imag))


def _close(name: str, found: Any, truth: acb) -> None:
    assert abs(_ball(found) - truth) <= ASSUMED[name] * U * abs(truth), (name, found)


def test_sums_rounded_once() -> None:
    rng = np.random.default_rng(3)
    for size in (3, 100, 3000):
        values = (rng.choice([-1.0, 1.0], size) * 10 ** rng.uniform(-20, 20, size)).tolist()
        truth = sum(map(Fraction, values), Fraction(0))
        assert abs(Fraction(math.fsum(values)) - truth) <= ASSUMED["math.fsum"] * Fraction(U) * abs(truth)


def test_exact_functions() -> None:
    rng = np.random.default_rng(5)
    values, pace = rng.uniform(-1e9, 1e9, COUNT), 2 * math.pi * 0.7
    rest = np.fmod(values, 1.0)
    for x, whole, part in zip(values.tolist(), np.rint(values).tolist(), rest.tolist(), strict=True):
        assert whole == round(Fraction(x))
        assert Fraction(part) == Fraction(x) - math.trunc(x)
        turned = Fraction(math.remainder(x, pace))
        assert (Fraction(x) - turned) / Fraction(pace) == round(Fraction(x) / Fraction(pace))
        mantissa, exponent = math.frexp(x)
        assert Fraction(mantissa) * Fraction(2) ** exponent == Fraction(x) == Fraction(math.ldexp(mantissa, exponent))
    mantissas, exponents = np.frexp(values)
    assert np.array_equal(np.ldexp(mantissas, exponents), values)
    assert ((np.abs(mantissas) >= 0.5) & (np.abs(mantissas) < 1)).all()


def test_every_assumed_function_is_tested() -> None:
    elsewhere = {name for name in ASSUMED if name.startswith("complex") or not ASSUMED[name]} | {"math.fsum"}
    assert {*REAL_NAMES, *elsewhere} == set(ASSUMED)
    assert max(ASSUMED.values()) == LIBM


def test_the_page_lists_the_same() -> None:
    text = (ROOT / "docs" / "engine.md").read_text(encoding="utf-8")
    section = text.split("## 7.")[1].split("\n## ")[0]
    listed: dict[str, int] = {}
    for names, error in re.findall(r"^\| (.+) \| (\d+)u?\b.* \|$", section, re.MULTILINE):
        listed |= dict.fromkeys(re.findall(r"`([^`]+)`", names), int(error))
    assert listed == ASSUMED


def used(path: Path) -> set[str]:
    """The elementary functions that a module names, as numpy.f or math.f."""
    libraries = {"np": "numpy", "math": "math"}
    return {
        f"{libraries[node.value.id]}.{node.attr}"
        for node in ast.walk(ast.parse(path.read_text(encoding="utf-8")))
        if isinstance(node, ast.Attribute) and isinstance(node.value, ast.Name)
        if node.value.id in libraries and node.attr in ELEMENTARY
    }


def test_no_other_function_is_used() -> None:
    """Whatever the engine calls is assumed here, or is known to serve guesses only; and nothing is listed in vain."""
    rooms = [ROOT / "src" / "optcomp" / room for room in ("numerics", "instances")]
    found = set[str]().union(*(used(path) for room in rooms for path in room.rglob("*.py")))
    assert found <= set(ASSUMED) | GUESSES
    called = {name for name in ASSUMED if not name.startswith("complex")} - {"numpy.power", "math.pow"}
    assert called | GUESSES <= found
