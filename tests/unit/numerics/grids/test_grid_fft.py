"""What the grid assumes of numpy's Fourier transforms, measured: errors of every output, over the sum of the inputs."""

from __future__ import annotations

import numpy as np
import numpy.typing as npt
import pytest
from flint import acb, arb

from optcomp.numerics.blocked import U
from optcomp.numerics.grids.grid_sum import FFT, LONG_U
from tests.oracles.truth import working

ROOM = 8.0
"""The assumed constant is at least so many times the largest that was seen."""
KINDS = ("random", "steep", "one", "two", "alternating", "wide", "bell")
Values = npt.NDArray[np.floating]


def inputs(kind: str, size: int, rng: np.random.Generator) -> npt.NDArray[np.float64]:
    """Smooth, rough, with few values, and with values of very different sizes."""
    k = np.arange(size)
    made = {
        "steep": np.exp(-0.3 * k),
        "one": np.where(k == size // 3, 1.0, 0.0),
        "two": np.where((k == 1) | (k == size - 1), 0.1, 0.0),
        "alternating": 0.1 + 0.05 * (-1.0) ** k,
        "wide": np.exp(rng.uniform(-600, 0, size)),
        "bell": np.exp(-0.5 * ((k - 0.5 * size) / (0.05 * size)) ** 2),
        "random": rng.random(size),
    }
    return np.asarray(made[kind], dtype=np.float64)


def _balls(values: npt.NDArray[np.complexfloating] | Values) -> list[acb]:
    """Exactly: a long double is the sum of two floats."""
    found = []
    for value in values:
        parts = []
        for part in (value.real, value.imag):
            high = float(part)
            parts.append(arb(high) + arb(float(part - type(part)(high))))
        found.append(acb(*parts))
    return found


def _worst(found: list[acb], exact: list[acb]) -> float:
    return max(float(abs(one - other)) for one, other in zip(found, exact, strict=True))


@pytest.mark.parametrize(("kind", "unit"), [(np.float64, U), (np.longdouble, LONG_U)])
@pytest.mark.parametrize("bits", range(4, 12))
def test_small_sizes_against_balls(bits: int, kind: type, unit: float) -> None:
    """There and back, each against a transform in balls."""
    size, rng = 1 << bits, np.random.default_rng(bits)
    for name in KINDS if bits < 10 else KINDS[:1]:
        values: Values = inputs(name, size, rng).astype(kind)
        made = np.fft.rfft(values)
        assert made.real.dtype == kind
        with working(200):
            exact = acb.dft(_balls(values))[: size // 2 + 1]
            allowed = unit * bits * float(values.sum())
            assert _worst(_balls(made), exact) <= FFT / ROOM * allowed, name
            half = _balls(made)
            half[0], half[-1] = acb(half[0].real), acb(half[-1].real)
            whole = half + [value.conjugate() for value in half[-2:0:-1]]
            back = acb.dft(whole, inverse=True)
            given = sum(float(abs(value)) for value in whole) / size
            assert _worst(_balls(np.fft.irfft(made, size)), back) <= FFT / ROOM * unit * bits * given, name


@pytest.mark.skipif(LONG_U > U / 100, reason="no long doubles to compare with")
@pytest.mark.parametrize("bits", range(12, 21, 2))
def test_large_sizes_against_long_doubles(bits: int) -> None:
    """Floats only: long doubles are the oracle, 2,000 times as fine."""
    size, rng = 1 << bits, np.random.default_rng(bits)
    for name in KINDS if bits < 18 else ("random", "two", "bell"):
        values = inputs(name, size, rng)
        made, exact = np.fft.rfft(values), np.fft.rfft(values.astype(np.longdouble))
        assert float(np.abs(made - exact).max()) <= FFT / ROOM * U * bits * float(values.sum()), name
        back, exact_back = np.fft.irfft(made, size), np.fft.irfft(made.astype(np.clongdouble), size)
        given = 2 * float(np.abs(made).sum()) / size
        assert float(np.abs(back - exact_back).max()) <= FFT / ROOM * U * bits * given, name


@pytest.mark.skipif(LONG_U > U / 100, reason="no long doubles")
@pytest.mark.parametrize("bits", [14, 18, 20])
def test_large_sizes_of_long_doubles(bits: int) -> None:
    """Some outputs of a few inputs, summed directly in balls; and a sharp spike, all of whose outputs are known."""
    size, rng = 1 << bits, np.random.default_rng(bits)
    at = rng.integers(0, size, 24)
    values = np.zeros(size, dtype=np.longdouble)
    np.add.at(values, at, rng.random(24))
    made = np.fft.rfft(values)
    with working(200):
        places = np.flatnonzero(values)
        known = list(zip(places.tolist(), _balls(values[places]), strict=True))
        for k in (1, size // 8, size // 3, size // 2 - 1):
            exact = sum((value * _turn(j * k, size) for j, value in known), acb(0))
            assert _worst(_balls(made[k : k + 1]), [exact]) <= FFT / ROOM * LONG_U * bits * float(values.sum())


def _turn(number: int, size: int) -> acb:
    angle = arb(2 * (number % size)) / size
    return acb(angle.cos_pi(), -angle.sin_pi())
