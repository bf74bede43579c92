r"""What a law is: a finite random variable L with all exponential moments E e^{cL}, c >= -1.

For the contour integral a summand gives K(c) = log E e^{cL} as a ball, φ(θ) = E e^{(c+iθ)L}/E e^{cL} at many θ with a
bound on the error, and a bound on |φ| from some θ on.  For people a law also gives its mean, variance, tail and excess.
"""

from __future__ import annotations

import math
from abc import ABC, abstractmethod
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from flint import arb

from optcomp.numerics.blocked import Floats, U

_GUESS_STEP = 0.03  # of the tilt, for derivatives as differences: good enough to choose by


@dataclass(frozen=True, eq=False)
class Waves:
    """φ(θ) = e^{iθ·centre} exp(log_size + i·angle), each within `error`; and |φ| <= e^log_most in any case."""

    centre: float
    log_size: Floats
    angle: Floats
    error: Floats
    log_most: Floats


class Summand(ABC):
    """A finite random variable, as far as sums of independent ones need to know it."""

    most: float = math.inf
    """At least its largest value."""
    log_top: float = -math.inf
    """At most log P(L = its largest value)."""
    whole: bool = True
    """Whether its probabilities add up to 1."""
    most_tilt: float = math.inf
    """Beyond this tilt the law is too costly to look at."""

    returns: bool = False
    """Whether |φ| comes back near 1 again and again: a law on many values that are not on a lattice."""

    @abstractmethod
    def log_mean(self, c: float) -> arb:
        """log E e^{cL} as a ball, at the working precision."""

    @abstractmethod
    def log_mean_guess(self, c: Floats) -> Floats:
        """The same for several c, about: for choosing parameters, never for claims."""

    def cumulants(self, c: Floats) -> tuple[Floats, Floats, Floats]:
        """About log E e^{cL} and its first two derivatives, for several c."""
        step = np.maximum(_GUESS_STEP, _GUESS_STEP * np.abs(c))
        low, here, high = (self.log_mean_guess(place) for place in (c - step, c, c + step))
        return here, (high - low) / (2 * step), np.maximum((high - 2 * here + low) / step**2, 0.0)

    @abstractmethod
    def waves(self, c: float, theta: Floats) -> Waves:
        """φ at ascending places θ >= 0."""

    def fade(self, c: float, theta: float) -> float:
        """At least |φ(θ')| for every θ' >= θ > 0."""
        return 1.0

    @abstractmethod
    def slope(self, c: float) -> float:
        """At least |d/dθ (φ(θ) e^{-iθx})| for some x and every θ: a mean distance from x under the tilted law."""

    def log_most_near(self, c: float, theta: float, radius: float) -> float:
        """At least log|φ| within `radius` of θ."""
        most = math.exp(float(self.waves(c, np.array([theta])).log_most[0])) + radius * self.slope(c)
        return math.log(most) + 1e-12 if most < 1 else 0.0

    def log_most_ranges(self, c: float, theta: Floats, radius: float) -> Floats:
        """At least log|φ| within `radius` of each of many θ."""
        most = np.exp(self.waves(c, theta).log_most) + radius * self.slope(c)
        return np.asarray(np.where(most < 1, np.log(np.minimum(most, 1.0)) + 1e-12, 0.0))

    @abstractmethod
    def cost(self, c: float, theta: float, count: int) -> float:
        """About how many nanoseconds a value at θ takes, one of so many at once."""


class Law(Summand):
    """One finite random variable that people can look at."""

    @abstractmethod
    def mean(self) -> arb:
        """E L."""

    @abstractmethod
    def variance(self) -> arb:
        """E (L - E L)²."""

    @abstractmethod
    def tail(self, y: float | arb) -> arb:
        """P(L > y)."""

    @abstractmethod
    def excess(self, y: float | arb) -> arb:
        """E (1 - e^{y-L})_+."""

    def sides(self, y: float | arb) -> tuple[arb, arb]:
        """P(L > y) under the law itself and under the other one, at the working precision."""
        own = self.tail(y)
        return own, (own - self.excess(y)) * (-arb(y)).exp()

    def excess_over(self, y: float | arb, t: arb) -> arb:
        """excess(y) - t."""
        return self.excess(y) - t


def log_mean_by_points(log_weight: Floats, place: Floats, c: Floats) -> Floats:
    """About log(sum w e^{cl}/sum w) for several c, to many digits also where it is tiny; points in the last axis."""
    with np.errstate(all="ignore"):
        grown = c[:, np.newaxis] * place
        whole = np.logaddexp.reduce(log_weight, axis=-1)
        large = np.logaddexp.reduce(log_weight + grown, axis=-1) - whole
        share = np.exp(log_weight - (whole if log_weight.ndim == 1 else whole[:, np.newaxis]))
        small = np.log1p((share * np.expm1(np.clip(grown, -700, 700))).sum(axis=-1))
    return np.asarray(np.where(np.abs(large) < 0.1, small, large))


def waves_of(centre: float, real: Floats, imag: Floats, error: Floats) -> Waves:
    """From φ e^{-iθ·centre} - 1 = real + i·imag within an absolute error."""
    size2 = real * (2 + real) + imag * imag  # |φ|² - 1
    size = np.hypot(1 + real, imag)
    log_size = np.where(np.abs(size2) < 0.5, 0.5 * np.log1p(np.maximum(size2, -0.5)), np.log(np.maximum(size, 1e-300)))
    angle = np.arctan2(imag, 1 + real)
    small = 1.0001 * (error + 8 * U * (np.abs(real) + np.abs(imag)))
    loose = np.where(size > 3 * small, 1.01 * small / np.maximum(size - small, 1e-300), math.inf)
    loose += 16 * U * (np.abs(log_size) + np.abs(angle))
    return Waves(centre, log_size, angle, loose, np.log(np.minimum(size + small + 4 * U, 1.0)))


def joined(parts: Sequence[Waves], theta: Floats) -> Waves:
    """One after another, about the first centre."""
    if len(parts) == 1:
        return parts[0]
    centre = parts[0].centre
    sizes = [part.angle.size for part in parts]
    moved = np.repeat([part.centre - centre for part in parts], sizes) * theta
    log_size, angle, error, log_most = (
        np.concatenate([getattr(part, name) for part in parts]) for name in ("log_size", "angle", "error", "log_most")
    )
    return Waves(centre, log_size, angle + moved, error + 8 * U * (np.abs(moved) + theta * abs(centre)), log_most)
