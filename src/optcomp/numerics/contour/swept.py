"""Nodes of a sum that never fades, many ranges at a time: most hold next to nothing, and a few must be computed.

A law on countably many values has |φ| near 1 again and again.  In a range of radius r about θ every |φ_i| is at most
|φ_i(θ)| + r slope_i: the ranges whose product is small are left out, and counted, all at once.
"""

from __future__ import annotations

import math
from typing import Protocol

import numpy as np
import numpy.typing as npt

from optcomp.numerics.blocked import Floats
from optcomp.numerics.contour.plan import Contour

Bools = npt.NDArray[np.bool_]

_RANGES = 4096
"""Ranges at a time: a matrix product is worth its preparation, and the arrays stay small."""
_LEAST, _MOST = 4, 1 << 14
"""Nodes of a range, at least and at most."""
_FEW, _HALF = 0.1, 0.5
"""Shares of ranges that stay open, below which ranges are made longer and above which they are made shorter."""
_DENSE = 0.25
"""A share of open ranges from which all nodes are computed: evenly spaced ones are far cheaper."""


class Swept(Protocol):
    """A sum of laws whose |φ| is bounded on many ranges at once."""

    def log_most_ranges(self, c: float, theta: Floats, radius: float) -> Floats:
        """At least log|φ| within `radius` of each θ."""

    def values(self, c: float, theta: Floats) -> tuple[Floats, Floats, Floats]:
        """φ at ascending places, and a bound on the error."""

    def cost(self, c: float, theta: float, count: int = 1) -> float:
        """About the nanoseconds for a node, one of so many at once."""


class Sweep:
    """Nodes from one on, for one plan: what was computed, and bounds on what was left out."""

    def __init__(self, whole: Swept, plan: Contour, octaves: int, most_nodes: int) -> None:
        self.whole, self.plan, self._octaves, self._most_nodes = whole, plan, octaves, most_nodes
        self.near = self.far = self.spent = 0.0
        self.kept: list[tuple[Floats, Floats, Floats, Floats]] = []
        self._count = 0

    def run(self, first: int, last: int, work: float) -> int:
        """Up to the last node, or as far as the work goes: the last that is accounted for."""
        length = 4 * _LEAST
        while first <= last:
            ranges = min(_RANGES, -(-(last + 1 - first) // length), self._affordable(first, length, work))
            if not ranges or self._count > self._most_nodes:
                return first - 1
            starts = first + length * np.arange(ranges, dtype=np.float64)
            end = min(first + length * ranges, last + 1)
            top = end * self.plan.step
            self.spent += ranges * self.whole.cost(self.plan.tilt, top, ranges)
            bound = self._bounds(starts, length)
            faint = self._faint(bound * length, starts, length)
            share = 1 - float(faint.mean())
            if share >= _DENSE:
                nodes = np.arange(first, end, dtype=np.float64)
            else:
                nodes = (starts[~faint, np.newaxis] + np.arange(length)).ravel()
                nodes = nodes[nodes < end]
                self._leave(bound[faint] * length, starts[faint])
            price = nodes.size * self.whole.cost(self.plan.tilt, top, nodes.size) if nodes.size else 0.0
            if self.spent + price > work:
                return first - 1
            self.spent += price
            if nodes.size:
                self._compute(nodes)
            first = end
            length = min(2 * length, _MOST) if share < _FEW else max(length // 2, _LEAST) if share > _HALF else length
        return last

    def _affordable(self, first: int, length: int, work: float) -> int:
        """How many ranges the work that is left allows to look at, and so many nodes again: at most a part of it."""
        place = (first + length * _RANGES) * self.plan.step
        for ranges in (_RANGES, _RANGES // 8, _RANGES // 64):
            if self.spent + ranges * self.whole.cost(self.plan.tilt, place, ranges) <= work:
                return ranges
        return 0

    def _bounds(self, starts: Floats, length: int) -> Floats:
        """At least |φ| e^{-w²θ²/2} on each range."""
        plan = self.plan
        radius = 0.5 * (length - 1) * plan.step * (1 + 1e-12)
        middle = (starts + 0.5 * (length - 1)) * plan.step
        logs = self.whole.log_most_ranges(plan.tilt, middle, radius)
        return np.asarray(np.exp(logs) * self._fading(starts))

    def _fading(self, index: Floats) -> Floats:
        theta = index * self.plan.step
        return np.asarray(np.exp(-0.5 * self.plan.smoothing * theta * theta))

    def _faint(self, bound: Floats, starts: Floats, length: int) -> Bools:
        """Whether what they add is less than their share."""
        theta = starts * self.plan.step
        added = bound * (self.plan.step / math.pi) * (1 / theta**2 + self.plan.smoothing)
        return np.asarray(added <= self.plan.share * length / starts / self._octaves)

    def _leave(self, bound: Floats, starts: Floats) -> None:
        """Count what is left out."""
        added = bound * (1.0001 * self.plan.step / math.pi)
        self.near += float((added / (starts * self.plan.step) ** 2).sum())
        self.far += float(added.sum())

    def _compute(self, nodes: Floats) -> None:
        """The values at some nodes; those that turn out to be next to nothing are not kept."""
        theta = self.plan.step * nodes
        real, imag, error = self.whole.values(self.plan.tilt, theta)
        most = (np.hypot(real, imag) + 1.5 * error) * self._fading(nodes)
        faint = self._faint(most, nodes, 1)
        self._leave(most[faint], nodes[faint])
        kept = ~faint
        self._count += int(kept.sum())
        self.kept.append((theta[kept], real[kept], imag[kept], error[kept]))
