r"""How the optimum moves with its parameters: y with E(1 - e^{y-L})_+ = t, and its first and second derivatives.

In floats: for choosing, never for claims.  L is a sum of coins x_i and Gaussian losses μ_j, each a multiple of one of a
few amounts a_g.  With K(z) = log E e^{zL} and any line Re z = c > 0

    F(y) = (1/2πi)∫ e^{K(z)-zy}/(z(z+1)) dz,     k_i(z) = log((e^{(z+1)x_i} + e^{-zx_i})/(1 + e^{x_i})),  z(z+1)μ_j²/2

A derivative of F has the factor ∂K/∂a_g under the integral, or -z for ∂/∂y; a second one two of them, and ∂²K/∂a_g∂a_h.
Those of y follow from F(y(a), a) = t.  The line goes through the saddle.

A few coins have an excess with corners.  L therefore gets a little Gaussian noise of variance w², which moves y by
about (1 + c)w²: by `blur` relatively, or by more where that would take too many nodes.
"""

from __future__ import annotations

import math
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any

import numpy as np
import numpy.typing as npt

from optcomp.numerics.blocked import Floats

BLUR = 1e-6  # relative move of y: far below what a budget is split to
MOST_DENSE = 120  # amounts up to which a full matrix of second derivatives is worth its products
_PERIOD, _TOP = 25.0, 7.0
"""The integrand a period away is below e^-25, and beyond seven standard deviations below e^-24: next to nothing."""
_BLOCK = 1 << 15  # complex values at a time: half a megabyte, which stays in the cache
_ALONE = 1 << 18
"""Products of matrices with fewer multiplications are not shared among threads, which would wait for each other."""
_MOST_NODES, _MOST_WORK = 1 << 14, 1 << 19
"""Nodes, and nodes times coins, before the blur is made larger instead."""
_LEAST_NODES = 48  # fewer save nothing
_NEGLIGIBLE = -26.0  # log of the integrand where it ends: e^-26 is 5e-12
_SMALL = 1e-9  # weights below this do not matter to derivatives
_HALVINGS = 20  # of an interval of 70 in log c: to 1e-4, and any line is right
_MOST_STEPS, _CLOSE, _EVEN, _FAR, _NOTHING = 60, 1e-8, 1e-6, 4.0, 1e-9
"""Newton: steps at most, relative step and gap in log F that end it, gap from which it overshoots, a y that is zero."""
_SETTLED = 6
"""After so many steps the blur stays as it is."""
_Complexes = npt.NDArray[np.complexfloating]
_Indices = npt.NDArray[np.intp]


@dataclass(frozen=True, eq=False)
class Terms:
    """Coins and Gaussian losses, each rate·a with a the amount that it belongs to; and fixed ones."""

    copies: Floats
    """How often everything is there that belongs to an amount."""
    coin_of: _Indices
    """The amount of each coin, ascending."""
    coin_rate: Floats
    noise_of: _Indices
    noise_rate: Floats
    fixed_coins: Floats
    fixed_variance: float = 0.0

    @property
    def size(self) -> int:
        """How many amounts there are."""
        return self.copies.size

    @cached_property
    def all_copies(self) -> Floats:
        """How often each coin is there; the fixed ones come last."""
        return np.concatenate([self.copies[self.coin_of], np.ones(self.fixed_coins.size)])

    def coins(self, amounts: Floats) -> Floats:
        """All coins."""
        return np.concatenate([self.coin_rate * amounts[self.coin_of], self.fixed_coins])

    @cached_property
    def squares(self) -> Floats:
        """The variance of the Gaussian losses of one copy of each amount, at 1."""
        return np.asarray(np.bincount(self.noise_of, self.noise_rate**2, self.size), dtype=np.float64)

    def variance(self, amounts: Floats) -> float:
        """Of all Gaussian losses."""
        return float((self.copies * self.squares) @ amounts**2) + self.fixed_variance


@dataclass(frozen=True, eq=False)
class NearOptimum:
    """About the optimum y, dy/da and, if asked for, d²y/da²."""

    y: float
    slopes: Floats
    curves: Floats | None
    """A matrix; for more than `MOST_DENSE` amounts only its diagonal, without what is of low rank."""


def optimum(
    terms: Terms,
    amounts: Floats,
    log_t: float,
    blur: float = BLUR,
    *,
    start: float | None = None,
    second: bool = False,
) -> NearOptimum:
    """About where the excess is t, for positive amounts; `start` is a guess."""
    return _Root(terms, amounts, log_t, blur).run(start, second)


class _Root:
    """One list of coins and losses."""

    def __init__(self, terms: Terms, amounts: Floats, log_t: float, blur: float) -> None:
        self.terms, self.amounts, self.log_t, self.blur = terms, amounts, log_t, blur
        self.x, self.m = terms.coins(amounts), terms.all_copies
        self.own = terms.variance(amounts)
        self.top = float(self.m @ self.x) if self.own == 0 else math.inf

    def run(self, start: float | None, second: bool) -> NearOptimum:
        """Newton's method on log F, which is concave, within a bracket."""
        if not self.top > 0:
            return NearOptimum(0.0, np.zeros(self.terms.size), None)
        if (y := self._top_cell()) is not None:
            return self._at_the_top(y, second)
        y = self._guess() if start is None or not 0 < start < self.top else start
        low, high = 0.0, float(self.m @ self.x) + 0.5 * self.own + math.sqrt(2 * self.own * -self.log_t)
        for turn in range(_MOST_STEPS):
            if turn < _SETTLED:
                extra = max(self.blur * y / (1 + self._saddle(y, self.own)) - self.own, 0.0)
            line = _Line(self, y, extra)
            log_excess, by_y = line.value()
            gap = log_excess - self.log_t
            step = -gap / by_y
            if abs(step) <= _CLOSE * y and abs(gap) <= _EVEN:
                return replace(line.derivatives(second), y=y + step)
            low, high = (y, high) if gap > 0 else (low, y)
            if gap < -_FAR:  # log F falls ever more steeply: come from the other side
                y = 0.5 * (low + y) if low else min(0.7 * y, self._guess())
            else:
                y = y + step if low < y + step < high else 0.5 * (low + high)
            if y < _NOTHING:
                return NearOptimum(0.0, np.zeros(self.terms.size), None)
        return _Line(self, y, extra).derivatives(second)

    @cached_property
    def _room(self) -> float:
        """log t/P(L = top)."""
        return self.log_t + float(self.m @ np.log1p(np.exp(-self.x)))

    def _top_cell(self) -> float | None:
        """The optimum if only the largest value of L lies above it; other values could only bring it nearer to that."""
        if not math.isfinite(self.top) or not self._room < 0:
            return None
        y = self.top + math.log1p(-math.exp(self._room))
        near = max(2 * float(self.x.min()), self.blur * self.top)
        return y if y > max(self.top - near, 0.0) else None

    def _at_the_top(self, y: float, second: bool) -> NearOptimum:
        """y = Σx + log(1 - t/P), P = P(L = top), with ∂ log P/∂x = 1/(1 + e^x)."""
        terms, own = self.terms, self.terms.coin_of.size
        ratio, x = math.exp(self._room), self.x[:own]
        odds, times, rate = ratio / (1 - ratio), self.m[:own], terms.coin_rate
        low = np.exp(-x) / (1 + np.exp(-x))

        def gathered(values: Floats) -> Floats:
            return np.asarray(np.bincount(terms.coin_of, times * values, terms.size), dtype=np.float64)

        slopes, bends = gathered(rate * (1 + odds * low)), -odds * gathered(rate**2 * low * (1 - low))
        if not second:
            return NearOptimum(y, slopes, None)
        if terms.size > MOST_DENSE:
            return NearOptimum(y, slopes, bends)
        falls = gathered(rate * low)
        return NearOptimum(y, slopes, np.diag(bends) - odds / (1 - ratio) * np.outer(falls, falls))

    def _guess(self) -> float:
        """As if all were Gaussian."""
        square = float(self.m @ self.x**2) + self.own
        return min(0.5 * square + math.sqrt(2 * square * max(-self.log_t, 1e-3)), 0.98 * self.top)

    def _saddle(self, y: float, variance: float) -> float:
        """Where the integrand is least on the real axis, about: K'(c) - y = 1/c + 1/(c+1)."""
        weight = self.m * self.x
        low, high = -30.0, 40.0
        for _ in range(_HALVINGS):
            middle = 0.5 * (low + high)
            c = math.exp(middle)
            slope = float(weight @ np.tanh((c + 0.5) * self.x)) + (c + 0.5) * variance - y - 1 / c - 1 / (c + 1)
            low, high = (middle, high) if slope < 0 else (low, middle)
        return math.exp(low)


class _Line:
    """The integrals along one line."""

    def __init__(self, root: _Root, y: float, extra: float) -> None:
        self.terms, self.amounts, self.x, self.m, self.y = root.terms, root.amounts, root.x, root.m, y
        self.variance = root.own + extra
        self.c = root._saddle(y, self.variance)
        self.fallen = np.exp(-(2 * self.c + 1) * self.x)  # e^{-zx}/e^{(z+1)x} at the saddle
        self.step, self.count = self._grid()
        ends = float(self.m @ (self.c * self.x + np.log1p(self.fallen) - np.log1p(np.exp(-self.x))))
        self.log_peak = ends + 0.5 * self.c * (self.c + 1) * self.variance - self.c * y

    def _grid(self) -> tuple[float, int]:
        """The step, so small that what is a period away counts for nothing, and how many; more blur if too many."""
        c, dip = self.c, np.cosh(np.minimum((self.c + 0.5) * self.x, 300.0)) ** -2
        curve = float(self.m @ (self.x**2 * dip)) + self.variance
        depth = float(self.m @ (c * self.x + np.log1p(self.fallen) - np.log1p(np.exp(-self.x))))
        depth = max(c * self.y - depth - 0.5 * c * (c + 1) * self.variance, 0.0)
        step = 2 * math.pi / max((_PERIOD + depth) / c, 12 * math.sqrt(curve))
        far = _TOP / math.sqrt(self.variance)
        typical = float(self.m @ np.log(0.5 + 0.5 * np.sqrt(1 - dip)))  # the mean of log|φ| over all phases
        top = min(_TOP / math.sqrt(curve), far) if typical < _NEGLIGIBLE else far
        most = max(_MOST_WORK // max(self.x.size, 1), _MOST_NODES)
        while top < far and top / step < most and not self._gone(top, far, dip):
            top = min(1.5 * top, far)
        count = max(math.ceil(top / step), _LEAST_NODES)
        if count > most:
            self.variance = max((_TOP / (most * step)) ** 2, self.variance)
        return step, min(count, most)

    def _gone(self, top: float, far: float, dip: Floats) -> bool:
        """Whether the integrand seems to vanish from here on."""
        theta = np.concatenate([np.linspace(top, 1.5 * top, 12), np.geomspace(1.5 * top, max(far, 2 * top), 20)])
        logs = 0.5 * np.log1p(-(1 - 1e-15) * dip * np.sin(theta[:, np.newaxis] * self.x) ** 2) @ self.m
        return float((logs - 0.5 * theta**2 * self.variance).max()) < _NEGLIGIBLE

    @cached_property
    def weights(self) -> tuple[_Complexes, _Complexes]:
        """The places z, and e^{K(z)-zy} there, 1 at the saddle; half of it there, for it counts once."""
        rows = min(max(_BLOCK // max(self.x.size, 1), 16), math.isqrt(self.count) + 1)
        turn = np.exp(np.arange(rows)[:, np.newaxis] * (-2j * self.step * self.x)) * self.fallen
        scale, plain = 1 / (1 + self.fallen), bool((self.m == 1).all())
        found = []
        for start in range(0, self.count + 1, rows):
            ratio = turn[: self.count + 1 - start] * np.exp(-2j * self.step * start * self.x)
            ratio += 1
            ratio *= scale
            found.append(ratio.prod(axis=1) if plain else np.exp((np.log(ratio) * self.m).sum(axis=1)))
        theta = self.step * np.arange(self.count + 1.0)
        z = self.c + 1j * theta
        gauss = 0.5 * self.variance * (z * (z + 1) - self.c * (self.c + 1))
        weight = np.concatenate(found) * np.exp(gauss + 1j * theta * (float(self.m @ self.x) - self.y))
        weight[0] *= 0.5
        return z, weight

    def value(self) -> tuple[float, float]:
        """log F and its derivative in y."""
        z, weight = self.weights
        excess = max(float((weight * (self.c * (self.c + 1)) / (z * (z + 1))).real.sum()), 1e-12)
        log_excess = self.log_peak + math.log(excess) + math.log(self.step / math.pi / (self.c * (self.c + 1)))
        return log_excess, min(-self.c * float((weight * ((self.c + 1) / (z + 1))).real.sum()) / excess, -1e-12)

    def derivatives(self, second: bool) -> NearOptimum:
        """Of y at a constant excess."""
        z, weight = self.weights
        inner = weight / (z * (z + 1))
        kept = np.abs(weight) > _SMALL
        z, inner = z[kept], inner[kept]
        size, dense = self.terms.size, self.terms.size <= MOST_DENSE
        first, bend = np.zeros(size + 1), np.zeros(size)
        curves = np.zeros((size + 1, size + 1)) if dense else np.zeros((0, 0))
        rows = max(min(_BLOCK // max(self.x.size, 1), _ALONE // (size + 1) ** 2), 16)
        for start in range(0, z.size, rows):
            places, mass = z[start : start + rows], inner[start : start + rows]
            up = 1 / (1 + np.exp(np.multiply.outer(-(2 * places + 1), self.x[: self.terms.coin_of.size])))
            columns = self._columns(places, up)
            turned = mass[:, np.newaxis] * columns
            first += turned.real.sum(axis=0)
            if second:
                bend += self._bend(places, mass, up)
                if dense:
                    curves += turned.real.T @ columns.real - turned.imag.T @ columns.imag
        times = np.append(self.terms.copies, 1.0)
        first *= times
        slopes = -first[:-1] / first[-1]
        if not second:
            return NearOptimum(self.y, slopes, None)
        if not dense:
            return NearOptimum(self.y, slopes, -self.terms.copies * bend / first[-1])
        curves *= np.outer(times, times)
        along = np.outer(curves[:-1, -1], slopes)
        inside = curves[:-1, :-1] + np.diag(self.terms.copies * bend)
        found = inside + along + along.T + curves[-1, -1] * np.outer(slopes, slopes)
        return NearOptimum(self.y, slopes, -found / first[-1])

    def _columns(self, z: _Complexes, up: Any) -> _Complexes:
        """∂K/∂a for one copy of each amount, and -z for y."""
        terms, column = self.terms, z[:, np.newaxis]
        found = np.empty((z.size, terms.size + 1), dtype=complex)
        found[:, :-1] = (column * (column + 1)) * (terms.squares * self.amounts)
        found[:, -1] = -z
        if terms.coin_of.size:
            share = 1 / (1 + np.exp(-self.x[: terms.coin_of.size]))
            slopes = ((2 * column + 1) * up - (column + share)) * terms.coin_rate
            owners, starts = self._owners
            found[:, owners] += slopes if owners.size == terms.coin_of.size else np.add.reduceat(slopes, starts, axis=1)
        return found

    @cached_property
    def _owners(self) -> tuple[_Indices, _Indices]:
        return np.unique(self.terms.coin_of, return_index=True)

    def _bend(self, z: _Complexes, inner: _Complexes, up: Any) -> Floats:
        """The integral of ∂²K/∂a² for one copy of each amount."""
        terms = self.terms
        share = 1 / (1 + np.exp(-self.x[: terms.coin_of.size]))
        bent = ((inner * (2 * z + 1) ** 2)[:, np.newaxis] * (up * (1 - up))).real.sum(axis=0)
        bent -= float(inner.real.sum()) * share * (1 - share)
        noise = float((inner * z * (z + 1)).real.sum()) * terms.squares
        return np.asarray(np.bincount(terms.coin_of, bent * terms.coin_rate**2, terms.size) + noise)
