"""Two roundings that others hide from whole answers: of a kernel and of the whole mass, each by itself and in use."""

from __future__ import annotations

import math
from dataclasses import dataclass, fields
from fractions import Fraction
from random import Random

import numpy as np
import pytest
from flint import acb, arb

from optcomp.numerics.blocked import U
from optcomp.numerics.grids import grid_curve
from optcomp.numerics.grids.grid_curve import PARTS, GridCurve, Kernel
from optcomp.numerics.grids.grid_law import GridLaw
from optcomp.numerics.grids.grid_sum import log_masses
from tests.oracles.truth import real, working


def law_of(rng: Random, size: int) -> GridLaw:
    """Masses that add up to a half or so, so that their log is not next to nothing."""
    masses = np.array([rng.uniform(0.5, 1.0) for _ in range(size)])
    return GridLaw(Fraction(0), masses / masses.sum() * rng.uniform(0.3, 0.9), 0.0, None)


def curve_of(law: GridLaw, copies: int) -> GridCurve:
    others = [log_masses([(law, copies)], 0.25, c) for c in (0.3, 0.1)]
    return GridCurve([(law, copies)], Kernel.of(0.25, 0.2, 256, parts=PARTS, long=False), others)


def test_the_error_of_the_whole_mass() -> None:
    """At least what the log of the mass is off, in balls; and some masses need a four hundredth of it."""
    rng, worst = Random("mass"), 0.0
    for _ in range(60):
        law, copies = law_of(rng, rng.choice([3, 40, 700])), rng.choice([1, 50, 10**4])
        curve = curve_of(law, copies)
        with working(300):
            truth = copies * sum((arb(float(mass)) for mass in law.masses), arb(0)).log()
            off = float(abs(arb(curve.log_mass) - truth))
        assert off <= curve.mass_error
        worst = max(worst, off / curve.mass_error)
    assert worst > 1 / 400


@pytest.mark.parametrize("error", [0.0, 1e-3])
def test_the_error_of_the_whole_mass_is_used(error: float) -> None:
    """Far below all places F is the whole mass: its error is that of F, on both sides."""
    law = law_of(Random("used"), 40)
    curve = curve_of(law, 5)
    curve.mass_error = error
    low, high = curve.sides(-50.0)
    with working(300):
        truth = float((5 * sum((arb(float(mass)) for mass in law.masses), arb(0)).log()).mid())
    assert low <= truth - 0.99 * error
    assert high >= truth + 0.99 * error
    assert high - low < 2.1 * error + 1e-10


def test_no_part_of_the_error_of_a_kernel_is_idle() -> None:
    """In balls: without its constant, or without what exponents add, some value is farther off than is counted."""
    rng, without = Random("kernel parts"), 0
    for _ in range(12):
        h, size, parts = math.exp(rng.uniform(-12, -4)), 1 << rng.randint(5, 8), rng.randint(1, PARTS)
        kernel = Kernel.of(h, math.exp(rng.uniform(-4, 2)), size, parts=parts, long=False)
        with working(600):
            for n in rng.sample(range(size // 2 + 1), 6):
                off = _off(kernel, n)
                assert off <= kernel.roundings * U
                without += off > (kernel.roundings - grid_curve._ROUNDINGS) * U
    assert without > 10


def _off(kernel: Kernel, n: int) -> float:
    """How far a value is off, over the sizes of its terms."""
    ratio = (acb(0, 2 * n) * arb.pi() / kernel.size - real(Fraction(kernel.tilt) * Fraction(kernel.h))).exp()
    truth, power = acb(0), acb(1)
    for j in range(kernel.length):
        truth += power * -(-real(Fraction(kernel.h) * j)).expm1()
        power *= ratio
    value = kernel.values[n]
    return float(abs(acb(float(value.real), float(value.imag)) - truth)) / float(kernel.sizes[n])


@dataclass(frozen=True, eq=False)
class Rough(Kernel):
    """A kernel that says that it is off by much more."""

    @property
    def roundings(self) -> float:
        return 1e9


def test_the_error_of_a_kernel_is_used() -> None:
    """The claimed error grows by so many units of φ times the kernel, averaged over the nodes."""
    law = law_of(Random("rough"), 8)
    kernel = Kernel.of(0.25, 0.2, 256, parts=PARTS, long=False)
    rough = Rough(**{field.name: getattr(kernel, field.name) for field in fields(Kernel)})
    plain, other = (GridCurve([(law, 3)], each, []) for each in (kernel, rough))
    tilted = law.masses * np.exp(0.2 * 0.25 * np.arange(8))
    sizes = np.abs(np.fft.rfft(tilted / tilted.sum(), 256)) ** 3 * kernel.sizes
    least = 2 * float(sizes.sum()) / 256 * (1e9 - kernel.roundings) * U
    assert other.error - plain.error >= 0.99 * least
    assert other.error - plain.error <= 2 * least
    assert plain.error >= 2 * float(sizes.sum()) / 256 * kernel.roundings * U
