"""Kernels without waves beyond T: above and below the kernel of H everywhere, and as close as they are said to be."""

from __future__ import annotations

import math
from collections.abc import Callable

import numpy as np
import pytest
from flint import acb, arb

from optcomp.numerics.contour import band as module
from optcomp.numerics.contour.band import Band
from optcomp.numerics.contour.plan import Contour
from tests.mutants import put_mutant
from tests.oracles.truth import working

TILTS = [12.71875, 0.0078125, -0.3125, -0.5, 2.0**-24, 300.0, -0.9375]
SHAPES = [(1000, 1.875), (3, 2.0), (90_000, 1.875), (2_000_000, 0.5)]


def plan(c: float, nodes: int, step: float) -> Contour:
    return Contour(c > 0, c, 1.0, step, c, c, 0.0, 1e-9, nodes)


def lattice(c: float, top: arb) -> tuple[arb, arb, arb]:
    """η, α and σ."""
    tilt, eta = arb(c), 2 * arb.pi() / top
    alpha = ((tilt + 1) / tilt * (1 - (-tilt * eta).exp()) / (1 - (-(tilt + 1) * eta).exp())).log()
    sigma = tilt / ((tilt * eta).exp() - 1) - (tilt + 1) / (((tilt + 1) * eta).exp() - 1)
    return eta, alpha, sigma


def transforms(c: float, top: arb, theta: arb) -> tuple[acb, acb]:
    """K⁺ without e^{iθβ}, and K⁻, as in the docs."""
    eta, alpha, sigma = lattice(c, top)
    i, s = acb(0, 1), acb(c, theta)

    def plus(s: acb) -> acb:
        return (1 + i * s / top) * eta * (-s * alpha).exp() / (1 - (-s * eta).exp())

    def minus(s: acb) -> acb:
        return (1 + i * s / top) * eta / ((s * eta).exp() - 1)

    upper = (plus(s) - plus(s + 1)) * (-i * theta * (eta / 2 - alpha)).exp()
    return upper, minus(s) - minus(s + 1) + eta * sigma / (i * top)


def worst(c: float, nodes: int, step: float) -> float:
    """The largest error in units of the bound on it."""
    band = Band(plan(c, nodes, step))
    index = sorted({0, 1, 2, nodes // 3, nodes // 2, nodes - 2, nodes - 1} & set(range(nodes)))
    found = band.at(step * np.array(index, dtype=np.float64))
    ratios = []
    with working(400):
        for j, upper, lower, most, error in zip(index, *found, strict=True):
            truth = transforms(c, arb(nodes) * arb(step), arb(j) * arb(step))
            assert abs(truth[0]) <= most * (1 + 1e-9)
            assert abs(truth[1]) <= most * (1 + 1e-9)
            ratios += [
                float(abs(acb(complex(a)) - b)) / float(error) for a, b in zip((upper, lower), truth, strict=True)
            ]
    return max(ratios)


@pytest.mark.parametrize("c", TILTS)
@pytest.mark.parametrize(("nodes", "step"), SHAPES)
def test_kernels_are_within_their_error(c: float, nodes: int, step: float) -> None:
    assert worst(c, nodes, step) <= 1


@pytest.mark.parametrize("c", [0.25, 3.0, 40.0, -0.25, -0.5, -0.8125])
@pytest.mark.parametrize("top", [1.0, 20.0])
def test_one_is_above_and_one_below(c: float, top: float) -> None:
    """The interpolations themselves, of which `band.py` has the transforms, against g at many places."""
    with working(150):
        eta, alpha, sigma = lattice(c, arb(top))
        for v in np.concatenate((np.linspace(-2.1, 2.1, 22), [1e-6, -1e-6, 11.7, -9.3])).tolist():
            place = arb(v) * eta
            g = kernel(c, place)
            upper, lower = (_hermite(c, place, eta, start, slope) for start, slope in ((alpha, None), (arb(0), sigma)))
            assert not upper < g - 1e-15
            assert not lower > g + 1e-15


def kernel(c: float, v: arb) -> arb:
    """e^{-cv}(1 - e^{-v})_+, or the same less e^{-cv} for a negative tilt."""
    if c > 0:
        return (-c * v).exp() - (-(c + 1) * v).exp() if v > 0 else arb(0)
    return -(-(c + 1) * v).exp() if v > 0 else -(-c * v).exp()


def _hermite(c: float, v: arb, eta: arb, start: arb, slope: arb | None) -> arb:
    """The function of type 2π/η that has the values and slopes of g at start + nη; at 0 the given slope."""
    total, sine = arb(0), (arb.pi() * (v - start) / eta).sin() * eta / arb.pi()
    reach = math.ceil(40 / min(abs(c), abs(c + 1)) / float(eta)) + 2
    for n in range(-reach if c < 0 else 0, reach):
        x = start + n * eta
        if slope is not None and n == 0:
            value, rise = (arb(0) if c > 0 else arb(-1)), slope + (0 if c > 0 else c)
        else:
            right = n >= 0
            value = kernel(c, x)
            rise = -c * (-c * x).exp() * (1 if c > 0 else -1) if (c > 0) == right else arb(0)
            if right:
                rise = rise + (c + 1) * (-(c + 1) * x).exp()
        total += value / (v - x) ** 2 + rise / (v - x)
    return total * sine**2


@pytest.mark.parametrize("c", TILTS[:5])
def test_they_leave_little_open(c: float) -> None:
    """K⁺(0) - K⁻(0) is at most π²/2T², and the transforms of what they leave open at most `area`."""
    top = 4096 * 0.25
    band = Band(plan(c, 4096, 0.25))
    with working(300):
        for theta in (0.0, 1.0, 100.0, 600.0, 1023.0):
            upper, lower = transforms(c, arb(top), arb(theta))
            eta, alpha, _ = lattice(c, arb(top))
            s, turn = acb(c, theta), (acb(0, 1) * theta * (eta / 2 - alpha)).exp()
            plain = 1 / (s * (s + 1))
            assert abs(upper * turn - plain) <= band.area * (1 + 1e-12)
            assert abs(lower - plain) <= band.area * (1 + 1e-12)
        upper, lower = transforms(c, arb(top), arb(0))
        assert (upper - lower).real <= math.pi**2 / 2 / top**2 * 1.0001
    assert band.area <= math.pi**2 / 3 / top**2 * 1.0001


def _less_rounding(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(module, "_ROUNDING", 1e-3 * module._ROUNDING)


def _straight_only(monkeypatch: pytest.MonkeyPatch) -> None:
    put_mutant(monkeypatch, Band, "at", ("upper.imag -= (self._more * s0) * cosine", "pass"))


def _no_constant(monkeypatch: pytest.MonkeyPatch) -> None:
    put_mutant(monkeypatch, Band, "at", ("lower.imag += self._turned", "pass"))


@pytest.mark.parametrize("change", [_less_rounding, _straight_only, _no_constant])
def test_a_term_left_out_is_seen(change: Callable[[pytest.MonkeyPatch], None], monkeypatch: pytest.MonkeyPatch) -> None:
    change(monkeypatch)
    assert worst(12.71875, 1000, 1.875) > 1
