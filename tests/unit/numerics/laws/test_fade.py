"""How fast |φ| of subsampled Gaussian noise falls: never claimed too fast, and claimed about as fast as it does."""

from __future__ import annotations

import math
from functools import cache
from random import Random
from typing import Any

import numpy as np
import numpy.typing as npt
import pytest
from flint import acb, arb

from optcomp.numerics.blocked import Floats
from optcomp.numerics.laws.mixed_fade import Fade
from optcomp.numerics.laws.mixed_normal import Direction, MixedNormalLaw
from optcomp.numerics.laws.mixed_shape import Shape
from tests.oracles.truth import working

Setting = tuple[float, float, Direction, float]
"""μ, q, direction and tilt."""
SETTINGS: list[Setting] = [
    (2.0, 1e-6, "towards", 3.0),
    (2.0, 1e-6, "away", 40.0),
    (1.25, 1e-4, "towards", 6.0),
    (0.25, 1 / 3000, "towards", 100.0),
    (0.1, 0.1, "away", 1000.0),
    (0.1, 0.1, "towards", 150.0),
    (0.1, 0.999999, "towards", 1.0),
    (1.0, 0.5, "towards", 2.0),
    (1.0, 0.5, "away", 4.0),
    (5.0, 0.2, "towards", 0.25),
]


@cache
def points(setting: Setting, inverse: int) -> list[tuple[arb, arb]]:
    """log A and e^{-x²/2} A^γ at the multiples of a step: the trapezoid rule converges faster than any power of it."""
    mu, q, way, c = setting
    power = c + 1 if way == "towards" else -c
    low, high = -14 - math.sqrt(2 * max(-power, 0) * -math.log1p(-q)), 14 + max(power, 0) * mu
    found = []
    for j in range(math.floor(low * inverse), math.ceil(high * inverse)):
        x = arb(j) / inverse
        loss = (1 + arb(q) * (arb(mu) * x - arb(mu) ** 2 / 2).expm1()).log()
        found.append((loss, (power * loss - x * x / 2).exp()))
    return found


@cache
def lost(setting: Setting, theta: float) -> float:
    """1 - |φ(θ)| from first principles, by two rules that must agree to three digits."""
    with working(160):
        gaps = []
        for inverse in (64, 90):
            rule = points(setting, inverse)
            total = sum((weight * acb(0, theta * loss).exp() for loss, weight in rule), acb(0))
            gaps.append(1 - abs(total) / sum((weight for _, weight in rule), arb(0)))
        assert abs(gaps[0] / gaps[1] - 1) < 1e-3, "too coarse to tell"
        return 1.001 * float(gaps[0].mid())


def shape_of(setting: Setting) -> Shape:
    mu, q, way, c = setting
    return MixedNormalLaw(mu, q, way).shape(c)


def scale_of(setting: Setting) -> float:
    """About the θ at which the phase turns once over the law."""
    shape = shape_of(setting)
    weight = np.append(shape.masses, 0.0)
    mean = float((weight * shape.log_a).sum() / weight.sum())
    return 1 / math.sqrt(float((weight * (shape.log_a - mean) ** 2).sum() / weight.sum()))


@pytest.mark.parametrize("setting", SETTINGS)
def test_no_later_place_is_above_the_bound(setting: Setting) -> None:
    rng, fade, scale = Random(str(setting)), Fade(shape_of(setting)), scale_of(setting)
    for _ in range(6):
        theta = scale * 10 ** rng.uniform(-3, 0.7)
        claim = 1 - fade.bound(theta)
        for later in (theta, theta * (1 + rng.random()), theta * (1 + 4 * rng.random())):
            assert claim <= lost(setting, later), (theta, later)


@pytest.mark.parametrize("setting", SETTINGS)
def test_most_of_the_fall_is_claimed(setting: Setting) -> None:
    """Much of log|φ| where the phase begins to turn: for T rounds this is T times as much."""
    fade, scale = Fade(shape_of(setting)), scale_of(setting)
    for theta in (0.02 * scale, 0.3 * scale):
        assert math.log(fade.bound(theta)) <= 0.4 * math.log1p(-lost(setting, theta))


@pytest.mark.parametrize("setting", [SETTINGS[4], SETTINGS[5], SETTINGS[6]])
def test_nearly_all_is_claimed_where_the_best_line_is_known(setting: Setting) -> None:
    """A phase that turns evenly, alone or with A^γ of a steep γ, positive or negative."""
    theta = 0.1 * scale_of(setting)
    assert math.log(Fade(shape_of(setting)).bound(theta)) <= 0.93 * math.log1p(-lost(setting, theta))


def lines(shape: Shape, seed: int) -> list[Floats]:
    """Some lines that no one would choose."""
    rng, x = Random(seed), shape.edges
    top = 0.6 * math.pi / shape.mu
    waves = [np.abs(np.sin(rng.uniform(0.1, 6) * x + rng.uniform(0, 6))) for _ in range(3)]
    ramp = np.minimum(1.0, np.minimum(x - x[0], x[-1] - x))
    return [ramp * min(1.0, top), *(ramp * min(2.0, top) * wave * rng.random() for wave in waves)]


def size_on(shape: Shape, theta: float, a: Floats) -> float:
    """The integral of the size of the integrand on a line, relative to that on the real one, in floats."""
    x, z = shape.edges, shape.edges + 1j * a
    inner = [(np.diff(x) * t, z[:-1] + t * np.diff(z)) for t in (0.1, 0.3, 0.5, 0.7, 0.9)]
    total = sum(
        (_size(shape, theta, place) * np.abs(np.diff(z))).sum()
        / (_size(shape, 0.0, x[:-1] + 0j + step) * np.diff(x)).sum()
        for step, place in inner
    )
    return float(total) / len(inner)


def _size(shape: Shape, theta: float, z: npt.NDArray[Any]) -> Floats:
    ratio = 1 - shape.q + shape.q * np.exp(shape.mu * z - 0.5 * shape.mu**2)
    logs = shape.power * np.log(np.abs(ratio)) - theta * np.angle(ratio)
    return np.asarray(np.exp(logs + (-0.5 * z * z).real - shape.top))


@pytest.mark.parametrize("setting", SETTINGS)
def test_every_line_gives_a_bound(setting: Setting) -> None:
    """No less than the integral of the size, which is no less than that of the integrand."""
    shape, scale = shape_of(setting), scale_of(setting)
    fade = Fade(shape)
    for theta in (0.5 * scale, 2 * scale):
        for a in lines(shape, 7):
            claim, whole = fade._lost(theta, a), size_on(shape, theta, a)
            assert claim <= lost(setting, theta)
            assert claim <= 1 - whole * (1 - 1e-6)


def test_a_law_fades_by_the_better_bound() -> None:
    """Far out the bound by parts is better, in the bulk of many rounds the lifted line."""
    law = MixedNormalLaw(1.0, 0.01, "towards")
    fade = Fade(law.shape(8.0))
    assert law.fade(8.0, 10.0) == fade.bound(10.0) < 0.985
    assert law.fade(8.0, 1e5) < 0.2 * fade.bound(1e5)
