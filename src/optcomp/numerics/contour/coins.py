"""The coins of one problem: L is the sum of independent ±x_i, x_i > 0, that land high with odds e^{x_i}.

Everything is a float array here: x ascending and distinct, m the copies of each (whole numbers up to 2^53).
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from functools import cached_property

import numpy as np

from optcomp.numerics.blocked import Floats, U, blocked_sum, sum_error

MOST_PROXIES = 64  # enough for cumulants that only choose parameters


@dataclass(frozen=True, eq=False)
class Coins:
    """x ascending and distinct, m how many of each."""

    x: Floats
    m: Floats

    @cached_property
    def count(self) -> float:
        """At least the number of coins."""
        return blocked_sum(self.m) * (1 + sum_error(self.m.size))

    @cached_property
    def total(self) -> float:
        """At least the largest value of L."""
        return blocked_sum(self.m * self.x) * (1 + sum_error(self.m.size) + 4 * U)

    @cached_property
    def proxies(self) -> tuple[Floats, Floats]:
        """A few coins with about the same cumulants: for choosing parameters, never for claims."""
        if self.x.size <= MOST_PROXIES:
            return self.x, self.m
        edges = np.unique(_grid(self.x).searchsorted(self.x), return_index=True)[1]
        copies = np.add.reduceat(self.m, edges)
        return np.sqrt(np.add.reduceat(self.m * self.x * self.x, edges) / copies), copies

    @property
    def spread(self) -> float:
        """About the standard deviation of L."""
        x, m = self.proxies
        return math.sqrt(float(dot(x * x, m)))

    def cumulants(self, c: Floats) -> tuple[Floats, Floats, Floats]:
        """About log E e^{cL} and its first two derivatives, for several c >= -1/2."""
        return cumulants(*self.proxies, c)

    def log_mean_guess(self, c: Floats) -> Floats:
        """About log E e^{cL}, for several c."""
        return log_mean_guess(*self.proxies, c)


def _grid(x: Floats) -> Floats:
    """Edges of the proxies: even and geometric ones together, so that neither end is coarse."""
    half = MOST_PROXIES // 2
    return np.union1d(np.linspace(x[0], x[-1], half), np.geomspace(x[0], x[-1], half))


def log_mean(x: Floats, c: Floats | float) -> tuple[Floats, Floats]:
    """log E e^{cL_i} = log(cosh(x(c+1/2))/cosh(x/2)) for one coin of each x, and a bound on the error.

    c >= -1/2, exact to 40 bits at most.  Small x: log1p of 2 sinh(x(c+1)/2) sinh(xc/2)/cosh(x/2), within 60u;
    others: xc + log1p(e^{-x(2c+1)}) - log1p(e^{-x}), each term within its own round-off.
    """
    small = x * (np.abs(c) + 1) <= 1
    h = 0.5 * np.where(small, x, 0.0)
    near = np.log1p(2 * np.sinh(h * (c + 1)) * np.sinh(h * c) / np.cosh(h))
    if small.all():
        return near, (60 * U) * np.abs(near)
    far = x * c + np.log1p(np.exp(-x * (2 * c + 1))) - np.log1p(np.exp(-x))
    value = np.where(small, near, far)
    return value, U * np.where(small, 60 * np.abs(near), 4 * np.abs(x * c) + 30)


def log_mean_guess(x: Floats, m: Floats, c: Floats) -> Floats:
    """The sum of log E e^{cL_i} for each of several c, without an error bound."""
    a = np.abs(c[:, np.newaxis] + 0.5) * x
    return dot(a - x / 2 + np.log1p(np.exp(-2 * a)) - np.log1p(np.exp(-x)), m)


def cumulants(x: Floats, m: Floats, c: Floats) -> tuple[Floats, Floats, Floats]:
    """The sum of log E e^{cL_i} and its first two derivatives for each of several c >= -1/2, without an error bound."""
    a = (c[:, np.newaxis] + 0.5) * x
    e = np.exp(-2 * a)
    value = dot(a + (np.log1p(e) - x / 2 - np.log1p(np.exp(-x))), m)
    return value, dot((1 - e) / (1 + e), m * x), dot(4 * e / (1 + e) ** 2, m * x * x)


def dot(rows: Floats, column: Floats) -> Floats:
    """rows @ column without BLAS, whose result may depend on the number of its threads."""
    return np.asarray((rows * column).sum(axis=-1))
