"""Every error term of sums with some round in the middle: left out, some claim is false; left in, none is.

Parts of a law are a few points, so that the transform is known in balls.  What a law says of itself may be off by as
much as it admits, in the direction that hurts most.
"""

from __future__ import annotations

import cmath
import math
from collections.abc import Sequence
from dataclasses import dataclass, replace
from types import ModuleType

import numpy as np
import pytest
from flint import acb, arb

from optcomp.numerics.blocked import Floats
from optcomp.numerics.contour import SomeMiddle
from optcomp.numerics.contour import some_middle as module
from optcomp.numerics.laws.law import Summand, Waves
from tests.mutants import put_mutant
from tests.oracles.truth import working

BITS = 300
TILT = 0.5
LOG1P, VALUES, MOST = "_log1p_ratio", "values", "_log_most"


@dataclass(eq=False)
class Points(Summand):
    """Places and masses; φ is told as if its log were larger by `off`, and K as if it were larger by `mean_off`."""

    atoms: Sequence[tuple[float, float]]
    off: complex = 0.0
    mean_off: float = 0.0
    as_angle: bool = False
    """Whether the place of a single point is told as an angle, not as a centre."""
    unknown: bool = False

    def moment(self, c: float, theta: float) -> acb:
        """E e^{(c+iθ)L}."""
        return sum((arb(mass) * (acb(c, theta) * arb(place)).exp() for place, mass in self.atoms), acb(0))

    def log_mean(self, c: float) -> arb:
        truth = self.moment(c, 0.0).real.log()
        return truth + arb(self.mean_off, 1.0001 * abs(self.mean_off)) if self.mean_off else truth

    def log_mean_guess(self, c: Floats) -> Floats:
        return np.array([float(self.log_mean(tilt).mid()) for tilt in c.tolist()])

    def waves(self, c: float, theta: Floats) -> Waves:
        if len(self.atoms) == 1:  # then nothing is rounded
            place = self.atoms[0][0]
            size = 0 * theta
            angle = place * theta if self.as_angle else 0 * theta
            centre, slack = (0.0 if self.as_angle else place), 0.0
        else:
            with working(BITS):
                logs = [(self.moment(c, at) / self.moment(c, 0.0)).log() for at in theta.tolist()]
            size, angle = (np.array([float(getattr(log, part)) for log in logs]) for part in ("real", "imag"))
            centre, slack = 0.0, 1e-14
        error = np.full_like(theta, math.inf if self.unknown else abs(self.off) + slack)
        return Waves(centre, size + self.off.real, angle + self.off.imag, error, np.minimum(size + 1e-14, 0.0))

    def slope(self, c: float) -> float:
        return max(abs(place) for place, _ in self.atoms)

    def cost(self, c: float, theta: float, count: int) -> float:
        return 1.0


POINT = Points([(0.0, 1.0)])


@dataclass(frozen=True)
class Case:
    """Rounds of none or middle, each kind so many times, at a θ."""

    kinds: tuple[tuple[Points, Points, int], ...]
    theta: float

    def source(self) -> SomeMiddle:
        laws = [(none, count) for none, _, count in self.kinds]
        return SomeMiddle(laws, math.inf, [middle for _, middle, _ in self.kinds])

    def phi(self) -> acb:
        """M(c + iθ)/M(c) by powers."""
        return self._transform(self.theta) / self._transform(0.0)

    def _transform(self, theta: float) -> acb:
        both, none = acb(1), acb(1)
        for law, middle, count in self.kinds:
            here = law.moment(TILT, theta)
            both, none = both * (here + middle.moment(TILT, theta)) ** count, none * here**count
        return both - none

    def held(self) -> bool:
        """Whether the value is off by no more than is claimed."""
        with np.errstate(all="ignore"):
            real, imag, error = (float(column[0]) for column in self.source().values(TILT, np.array([self.theta])))
        with working(BITS):
            away = self.phi() - acb(real, imag)
            worst = abs(away.real).max(abs(away.imag))
            assert worst <= error or worst > error  # decided
            return bool(worst <= error)


def point(mass: float, off: complex = 0.0, mean_off: float = 0.0, place: float = 0.0) -> Points:
    return Points([(place, mass)], off, mean_off)


def turned(
    ratio: float, turn: float, count: int, none: Points, middle: Points = POINT, theta: float = 16.0, spins: int = 0
) -> Case:
    """The middle has so much of none at the tilt, and is turned by so much against it, and so often all around."""
    (start, mass), place = none.atoms[0], none.atoms[0][0] + (turn + 2 * math.pi * spins) / theta
    atom = place, mass * ratio * math.exp(TILT * (start - place))
    return Case(((none, replace(middle, atoms=[atom]), count),), theta)


def coming_back(none: Points, middle: Points = POINT, theta: float = 16.0, spins: int = 0) -> Case:
    """(1 + w)^n is about 1 for w = r φ_m/φ_b, but w is not small: all that is relative to φ is next to nothing."""
    angle = 2 * math.pi / 20
    return turned(2 * math.sin(angle / 2), math.pi / 2 + angle / 2, 20, none, middle, theta, spins)


def near_zero(none: Points, middle: Points, theta: float) -> Case:
    """The same with the middle next to 0, and none far from there; its place has more digits than the other one."""
    case = coming_back(none, middle, theta, spins=-1 - int(none.atoms[0][0] * theta / (2 * math.pi)))
    ((_, made, count),) = case.kinds
    ((place, mass),) = made.atoms
    return Case(((none, replace(made, atoms=[(place * (1 + 1e-9), mass)]), count),), theta)


def cancelling() -> Case:
    """Two kinds of rounds whose logs add up to next to nothing, although each of them is large."""
    first = 0.3 * cmath.exp(0.1j)
    second = 1 / (1 + first) - 1
    kinds = (turned(abs(w), cmath.phase(w), 20, NONE).kinds[0] for w in (first, second))
    return Case(tuple(kinds), 16.0)


def halved(of: float, mass: float, mean_off: float = 0.0) -> Points:
    """Two points with φ = `of` at θ = 16."""
    place = math.pi / 16
    far = mass * (1 - of) / 2 * math.exp(-TILT * place)
    return Points([(0.0, mass * (1 + of) / 2), (place, far)], 0.0, mean_off)


NONE = point(0.5)
FAR = 1.1e9
"""A θ at which phases are rounded by hundreds of millions of u."""
SHORT = 2.0**30
"""One at which a place times θ is not rounded."""
ANGLE = replace(POINT, as_angle=True)
UNKNOWN = replace(POINT, unknown=True)
RARE = (NONE, Points([(0.0, 1e-9)], 0.0, -0.5, unknown=True), 1)
"""Rounds of which little is known: not how many are in the middle, nor their φ."""

Term = tuple[str, str, str, str, Case]
"""A name, a function, what it says of a term, what it says without it, and where that matters."""
TERMS: list[Term] = [
    ("middle", LOG1P, "middle.error + none.error", "none.error", turned(0.1, 1, 1, NONE, point(1, -0.2))),
    ("none", LOG1P, "middle.error + none.error", "middle.error", coming_back(point(0.5, 1e-3))),
    ("ratio", LOG1P, "none.error + slack", "none.error", coming_back(NONE, point(1, 0, 1e-7))),
    ("phase", LOG1P, "40 + 8 * turns", "40", turned(0.1, 1, 1, NONE, theta=FAR, spins=10**8)),
    ("centre of middle", LOG1P, "abs(middle.centre) + ", "", turned(0.1, 1, 1, NONE, theta=FAR, spins=10**8)),
    ("centre of none", LOG1P, " + abs(none.centre)", "", near_zero(point(0.5, place=0.1), POINT, FAR)),
    (
        "angle of middle",
        LOG1P,
        "+ np.abs(middle.angle)",
        "",
        turned(0.1, 1, 1, Points([(0.3 / SHORT, 0.5)], as_angle=True), ANGLE, theta=SHORT, spins=10**8),
    ),
    ("angle of none", LOG1P, "+ np.abs(none.angle)", "", near_zero(Points([(0.1, 0.5)], as_angle=True), ANGLE, SHORT)),
    (
        "log",
        LOG1P,
        "error / (1 - np.minimum(size + error, 0.5))",
        "error",
        turned(0.3, math.pi, 1, NONE, point(1, -1e-3)),
    ),
    ("unknown middle", LOG1P, "0.0)), unknown)", "0.0)), 0 * unknown)", turned(0.1, 1, 1, NONE, UNKNOWN)),
    ("unknown ratio", LOG1P, " * (1 + slack)", "", Case((*coming_back(NONE).kinds, RARE), 16.0)),
    ("whole", VALUES, " + 2 * known.whole_error", "", turned(0.313, math.pi, 20, NONE, point(1, 0, 1e-7))),
    ("product", VALUES, "np.expm1(error) + 60 * U", "60 * U", turned(1e-3, 1, 1000, point(0.5, -1e-5))),
    ("exponent", VALUES, "grown * np.expm1(x_error) + rounded", "rounded", turned(0.1, 1, 1, NONE, point(1, -0.2))),
    ("growth", VALUES, "grown * np.expm1(x_error)", "np.expm1(x_error)", turned(0.3, 0.1, 20, NONE, point(1, -1e-2))),
    ("both", VALUES, "inner * (1 + outer)", "inner", turned(1e-4, 0, 100, point(0.5, -4e-3), point(1, -0.4))),
    ("nothing known", VALUES, "np.exp(most)", "0 * most", turned(0.1, 1, 1, replace(NONE, unknown=True))),
    ("range", VALUES, "inside & (error", "(error", Case(((halved(1 / 3, 1), point(0.16), 600),), 16.0)),
    ("ratio in sizes", MOST, " + math.log1p(error)", "", Case(((halved(0.05, 1), point(0.05, 0, -1e-2), 20),), 16.0)),
    (
        "whole in sizes",
        MOST,
        " + math.log1p(-known.whole_error)",
        "",
        Case(((NONE, halved(0.1, 0.1, 1e-2), 20),), 16.0),
    ),
]


@pytest.mark.parametrize("term", TERMS, ids=[name for name, *_ in TERMS])
def test_values(term: Term, monkeypatch: pytest.MonkeyPatch) -> None:
    """The value is within its error with the term, and not without it."""
    _, name, text, without, case = term
    assert case.held()
    owner: type | ModuleType = module if name == LOG1P else SomeMiddle
    put_mutant(monkeypatch, owner, name, (text, without))
    assert not case.held()


ROUNDED = {
    "parts": (LOG1P, " + U * (40 + 8 * turns)", ""),
    "log1p": (LOG1P, " + 120 * U * size", ""),
    "expm1": (VALUES, " + rounded)", ")"),
    "product": (VALUES, " + 60 * U + ", " + "),
}
"""Round-off of four steps, counted so generously that the first two cover each other, and so do the last two."""
FAINT = [turned(ratio, turn, count, NONE) for ratio, count in ((0.4, 50), (0.05, 1000)) for turn in (2, 2.5, 3, 4)]
EXACT = [*FAINT, cancelling()]
"""Laws without any error.  In the first ones e^X is next to nothing, in the last X is."""


@pytest.mark.parametrize("left_out", [("parts", "log1p"), ("expm1", "product")])
def test_round_off(left_out: tuple[str, str], monkeypatch: pytest.MonkeyPatch) -> None:
    """What is left is the arithmetic here: of steps that cover each other, one must be counted."""
    assert all(case.held() for case in EXACT)
    name = ROUNDED[left_out[0]][0]
    owner: type | ModuleType = module if name == LOG1P else SomeMiddle
    put_mutant(monkeypatch, owner, name, *(ROUNDED[step][1:] for step in left_out))
    assert not all(case.held() for case in EXACT)


def test_bounds_on_sizes_have_slack(monkeypatch: pytest.MonkeyPatch) -> None:
    """At θ = 0 the bound is |φ| = 1 itself: rounded down it is false."""
    cases = [turned(10.0**-power, 0.0, count, NONE) for power in (1, 10, 50, 100) for count in (1, 3, 20)]
    assert all(case.source()._joined(TILT, [0.0], [0.0]) == 0 for case in cases)
    monkeypatch.setattr(module, "_SLACK", 0.0)
    assert any(case.source()._joined(TILT, [0.0], [0.0]) < 0 for case in cases)


def test_the_error_of_the_mean(monkeypatch: pytest.MonkeyPatch) -> None:
    """K as a float is hardly ever K."""
    case = turned(0.3, 1.0, 20, NONE)
    with working(BITS):
        truth = case._transform(0.0).real.log()

    def held() -> bool:
        value, error = case.source()._mean(TILT)
        with working(BITS):
            return bool(abs(truth - arb(value)) <= error)

    assert held()
    put_mutant(monkeypatch, SomeMiddle, "_mean", ("return value, float_up(abs(whole - value))", "return value, 0.0"))
    assert not held()
