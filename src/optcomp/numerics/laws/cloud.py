r"""Many weighted points in place of a law: E e^{(c+iθ)L}/E e^{cL} = sum w_j e^{iθl_j}/sum w_j, up to a known error.

The sum is taken as 1 + sum w_j (e^{iθ(l_j - m)} - 1)/sum w_j with m about the mean: every error is then proportional to
|e^{iθ(l_j-m)} - 1|, which is small where φ is raised to a high power.
"""

from __future__ import annotations

import math
from abc import abstractmethod
from collections.abc import Callable
from dataclasses import dataclass
from functools import cached_property

import numpy as np
import numpy.typing as npt
from flint import arb

from optcomp.numerics.balls import SUM_BITS, float_up, precision
from optcomp.numerics.blocked import CACHED, Floats, U, fold_error, folded_sum
from optcomp.numerics.laws.law import Law, Waves, joined, waves_of

_MOST_CLOUDS = 32  # clouds remembered for a law: tilts of one plan times octaves
LOG_CUT = 46.0  # e^-46 is 1e-20: what the points may miss of a law, far below u
MOST_POINTS = 400_000  # more points than that cost more than the bound is worth
_SIDE, _SLICE, _STACK = 64, 15, 32
"""64 * 64 * 15 multiplications: see `contour/products.py`."""
_LONG_RUN, _FEW = 512, 8
"""Nodes from which a matrix product is worth it for a few points too, and how many they must be."""
_CHUNK = 16 * _SLICE * _STACK
"""Points at a time: their rotations take some megabytes."""
_TERMS = 20  # of the exponential series up to 1: the rest is below 1/20!, less than u/200


@dataclass(frozen=True, eq=False)
class Cloud:
    """Points with positive weights, each weight within `rough` relatively, each place within `blur` absolutely.

    `cut(θ)` bounds what the points miss of E e^{(c+iθ)L}, relative to E e^{cL}.
    """

    place: Floats
    weight: Floats
    rough: Floats | float
    blur: Floats
    cut: Callable[[Floats], Floats]

    @cached_property
    def _centred(self) -> tuple[float, Floats, Floats]:
        share = self.weight / folded_sum(self.weight)
        centre = float((share * self.place).sum())
        return centre, share, self.place - centre

    @cached_property
    def _slacks(self) -> tuple[Floats, float]:
        """Relative error of each share (but for a common factor), and the mean error of the places."""
        _, share, away = self._centred
        rough = float((self.rough * share).sum())
        own = 1.01 * (self.rough + rough) + 2.02 * fold_error(away.size) + 40 * U
        places = float(((self.blur + 8 * U * np.abs(away)) * share).sum())
        return np.broadcast_to(2 * own * share, share.shape), 1.01 * places

    @property
    def centre(self) -> float:
        """About the mean of the tilted law."""
        return self._centred[0]

    @property
    def spread(self) -> float:
        """About E|L - centre| under the tilted law."""
        _, share, away = self._centred
        return float((share * np.abs(away)).sum())

    def waves(self, theta: Floats) -> Waves:
        """φ at some θ; long runs of them are evenly spaced."""
        if in_products(theta.size, self.place.size) and _even(theta):
            return self._products(theta)
        rows = max(CACHED // self.place.size, 1)
        parts = [self._offsets(theta[i : i + rows]) for i in range(0, theta.size, rows)]
        real, imag, error = (np.concatenate(column) for column in zip(*parts, strict=True))
        return waves_of(self._centred[0], real, imag, error + 2.01 * (self.cut(theta) + self.cut(0 * theta)))

    def _offsets(self, theta: Floats) -> tuple[Floats, Floats, Floats]:
        _, share, away = self._centred
        own, places = self._slacks
        half = (0.5 * theta)[:, np.newaxis] * away
        sine, cosine = np.sin(half), np.cos(half)
        real, imag = -2 * _row_sums(sine * sine * share), 2 * _row_sums(sine * cosine * share)
        return real, imag, 1.01 * (np.abs(sine) * own).sum(axis=1) + theta * places

    def _products(self, theta: Floats) -> Waves:
        """The points about the centre by their moments, the others by matrix products: round-off is as small as they.

        For θ = α + β the sum over points is a matrix product of e^{iαl} and e^{iβl}.
        """
        centre, share, away = self._centred
        close = np.abs(away) * theta[-1] <= 1
        real, imag = _by_moments(away[close] * theta[-1], share[close], theta / theta[-1])
        value = _by_matrices(away[~close], share[~close], theta)
        mass = folded_sum(share[~close])
        step = (theta[-1] - theta[0]) / (theta.size - 1)
        spacing = np.abs(theta[0] + step * np.arange(theta.size) - theta)  # round-off of the even spacing
        error = self._product_errors(theta, close) + 1.01 * spacing * self.spread
        cut = 2.01 * (self.cut(theta) + self.cut(0 * theta))
        return waves_of(centre, real + (value.real - mass), imag + value.imag, error + cut)

    def _product_errors(self, theta: Floats, close: npt.NDArray[np.bool_]) -> Floats:
        """Of moments relative to E θ|l-m| over the points about the centre, of products to the mass of the others."""
        _, share, away = self._centred
        rough = self.rough * share
        near, rest = float((share * np.abs(away))[close].sum()), float(share[~close].sum())
        size = theta * near + 2 * rest  # at least the sum of |e^{iθ(l-m)} - 1|
        weights = theta * float((rough * np.abs(away))[close].sum()) + 2 * float(rough[~close].sum())
        sums = 3.03 * fold_error(away.size) * (1.72 * theta * near + rest) + U * (60 * theta * near + 130 * rest)
        stacks = away.size / (_SLICE * _STACK / 2) * U * rest
        places = theta * (self._slacks[1] + 16 * U * self.spread)
        return np.asarray(1.02 * (weights + float(rough.sum()) * size + sums + stacks) + places)


def in_products(nodes: int, points: int) -> bool:
    """Whether a matrix product is worth its preparation; of few points only for long runs, far out."""
    return (nodes >= 2 * _SIDE and points >= 4 * _SIDE) or (nodes >= _LONG_RUN and points >= _FEW)


def _even(theta: Floats) -> bool:
    """Whether places are evenly spaced but for round-off."""
    step = (theta[-1] - theta[0]) / (theta.size - 1)
    return bool(np.abs(np.diff(theta) - step).max() <= 1e-3 * step)


def _row_sums(terms: Floats) -> Floats:
    """The sum of each row, within `fold_error`; the terms are overwritten."""
    size = terms.shape[1]
    while size > 1:
        half = (size + 1) // 2
        terms[:, : size - half] += terms[:, half:size]
        size = half
    return terms[:, 0]


def _by_moments(away: Floats, share: Floats, part: Floats) -> tuple[Floats, Floats]:
    """The sum of w(e^{ita} - 1) for |a| <= 1 and several t <= 1, by the exponential series."""
    sides = [np.zeros_like(part), np.zeros_like(part)]
    moment, factor = share, np.ones_like(part)
    for power in range(1, _TERMS):
        moment, factor = moment * away, factor * (part / power)
        sides[power % 2] += (-1) ** (power // 2) * folded_sum(moment) * factor
    return sides[0], sides[1]


def _by_matrices(away: Floats, share: Floats, theta: Floats) -> npt.NDArray[np.complex128]:
    """The sum of w e^{iθa} at evenly spaced θ, some points at a time."""
    step = (theta[-1] - theta[0]) / (theta.size - 1)
    inner, outer = (step * unit * np.arange(_SIDE, dtype=np.float64) for unit in (1, _SIDE))
    total = np.zeros(theta.size, dtype=np.complex128)
    for start in range(0, away.size, _CHUNK):
        places, weights = away[start : start + _CHUNK], share[start : start + _CHUNK, np.newaxis]
        columns = _rotations(places, inner)
        for first in range(0, theta.size, _SIDE * _SIDE):
            count = min(_SIDE, -(-(theta.size - first) // _SIDE))
            rows = _rotations(places, theta[first] + outer[:count]) * weights
            part = total[first : first + count * _SIDE]
            part += _in_slices(rows, columns).ravel()[: part.size]
    return total


def _rotations(away: Floats, theta: Floats) -> npt.NDArray[np.complex128]:
    angle = away[:, np.newaxis] * theta
    return np.cos(angle) + 1j * np.sin(angle)


def _in_slices(rows: npt.NDArray[np.complex128], columns: npt.NDArray[np.complex128]) -> npt.NDArray[np.complex128]:
    """rows^T @ columns, a few points at a time: products so small that a BLAS stays in the calling thread."""
    total = np.zeros((rows.shape[1], columns.shape[1]), dtype=np.complex128)
    for start in range(0, rows.shape[0], _SLICE * _STACK):
        left, right = rows[start : start + _SLICE * _STACK], columns[start : start + _SLICE * _STACK]
        full = left.shape[0] // _SLICE * _SLICE
        stacked = left[:full].reshape(-1, _SLICE, left.shape[1]).swapaxes(1, 2)
        total += np.matmul(stacked, right[:full].reshape(-1, _SLICE, right.shape[1])).sum(axis=0)
        if full < left.shape[0]:
            total += np.matmul(left[full:].T, right[full:])
    return total


class CloudLaw(Law):
    """A law known through clouds, which must be denser the larger θ is.

    A cloud depends on the tilt and the octave of θ only, not on what was asked before: answers repeat exactly.
    """

    first_octave = 0.0
    """Smaller θ share one cloud."""

    def __init__(self) -> None:
        self._clouds: dict[tuple[float, float], Cloud] = {}
        self._known: dict[tuple[float, str], float] = {}

    @abstractmethod
    def cloud(self, c: float, theta: float) -> Cloud:
        """Points good for all places up to θ."""

    @abstractmethod
    def points(self, c: float, theta: float) -> float:
        """About how many points that takes."""

    def kept_cloud(self, c: float, top: float) -> Cloud:
        """The cloud for one tilt and all places up to the top; a few are remembered."""
        if (c, top) not in self._clouds:
            if len(self._clouds) >= _MOST_CLOUDS:
                self._clouds.clear()
            self._clouds[c, top] = self.cloud(c, top)
        return self._clouds[c, top]

    def waves(self, c: float, theta: Floats) -> Waves:
        """φ at ascending places, octave by octave."""
        octave = np.ceil(np.log2(np.maximum(theta, 2.0**self.first_octave)))
        parts = [self._octave(c, 2.0**value, theta[octave == value]) for value in sorted(set(octave.tolist()))]
        return joined(parts, theta)

    def _octave(self, c: float, top: float, theta: Floats) -> Waves:
        if self.points(c, top) <= MOST_POINTS:
            return self.kept_cloud(c, top).waves(theta)
        nothing = np.zeros_like(theta)  # too many points: only the bound is known
        most = np.log([max(self.fade(c, place), 1e-300) if place else 1.0 for place in theta.tolist()])
        return Waves(0.0, nothing, nothing, np.full_like(theta, math.inf), most)

    def slope(self, c: float) -> float:
        """√E(L-m)² under the tilted law, by x² <= (e^{hx} + e^{-hx} - 2)/h²; tilts have 24 bits, so c ± h are exact."""
        if (c, "slope") not in self._known:
            cloud = self.kept_cloud(c, 2.0**self.first_octave)
            step = 2.0 ** math.floor(math.log2(min(0.05 / (cloud.spread + 1e-300), 0.25, 0.5 * (c + 1))))
            with precision(SUM_BITS):
                here, centre = self.log_mean(c), arb(cloud.centre)
                square = sum(((self.log_mean(c + h) - here - h * centre).exp() for h in (step, -step)), arb(-2))
                most = (square.max(arb(0)).sqrt() / step).abs_upper()
            self._known[c, "slope"] = float_up(most) if most.is_finite() else math.inf
        return self._known[c, "slope"]

    def cost(self, c: float, theta: float, count: int) -> float:
        """Two trigonometric functions for each point, or a multiplication and some of them for all nodes together."""
        points = self.points(c, 2.0 ** math.ceil(math.log2(max(theta, 2.0**self.first_octave))))
        return 100.0 + (1.0 + 40.0 * _SIDE / count if in_products(count, int(points)) else 40.0) * points
