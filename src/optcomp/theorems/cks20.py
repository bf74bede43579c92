r"""CKS20, from Rényi divergences to (ε, δ): the best conversion known, with the order optimised over all real α > 1.

    δ = e^{(α-1)(D_α - ε)} (1 - 1/α)^{α-1} / α,      ε = D_α + log(1 - 1/α) - (log δ + log α)/(α-1)

Divergences add up (M17, Lyu22-2 for interleaved mechanisms), each direction by itself.  Every α proves a bound; the
best one is looked for in floats and evaluated in balls.
"""

from __future__ import annotations

import math
from collections.abc import Callable

import numpy as np
from flint import arb

from optcomp.guarantees import ZCDP, RenyiBounded
from optcomp.instances import Laws, Mixture, slack, with_leaks
from optcomp.numerics import FLOAT_BITS, Exact, Floats, ball, float_down, precision, told_up
from optcomp.theorems.bound import Bound, upper_bound
from optcomp.theorems.mv18_1_5 import LEAK

ID, METHOD = "CKS20", "Rényi"
_GRID = np.exp(np.linspace(math.log(1e-4), math.log(1e6), 121))
"""Orders minus 1 for a first look: twelve to a factor of ten."""
_LARGEST = 1e290
"""Of an ε by which an order is chosen: products with orders are then finite."""
_ROUNDS, _FINE = 4, 33
"""Each round looks 16 times closer: the order to four digits, where the value is flat."""
_CLOSER = 4
"""Rounds where nothing is evaluated in balls afterwards: the value to more than nine digits."""


def epsilon_at(mixture: Mixture, delta: Exact) -> Bound:
    """An ε that holds at δ."""
    t = slack(mixture.leaky, delta, FLOAT_BITS)
    if not t > 0:
        notes = (LEAK,) if t < 0 else ()
        return upper_bound("epsilon", math.inf, delta, theorem=ID, method=METHOD, count=mixture.count, notes=notes)
    upper = 0.0
    for way in mixture.directions:
        laws = mixture.laws(way, +1)
        with precision(FLOAT_BITS):
            log_t = float_down(t.log())

            def value(c: Floats, laws: Laws = laws, log_t: float = log_t) -> Floats:
                return (_scaled(mixture, laws, c) - log_t - np.log1p(c)) / c - np.log1p(1 / c)

            c = _best(value, mixture, laws)
            exact = (_exactly(mixture, laws, c) - t.log() - (1 + arb(c)).log()) / arb(c) - (1 / arb(c)).log1p()
            upper = max(upper, told_up(exact))
    return upper_bound("epsilon", upper, delta, theorem=ID, method=METHOD, count=mixture.count, notes=(_order(c),))


def delta_at(mixture: Mixture, epsilon: Exact) -> Bound:
    """A δ that holds at ε."""
    most = arb(0)
    for way in mixture.directions:
        laws = mixture.laws(way, +1)
        with precision(FLOAT_BITS):
            near = float(min(epsilon, _LARGEST))

            def value(c: Floats, laws: Laws = laws, near: float = near) -> Floats:
                return _scaled(mixture, laws, c) - c * near - c * np.log1p(1 / c) - np.log1p(c)

            c = _best(value, mixture, laws)
            tilt = arb(c)
            log_delta = _exactly(mixture, laws, c) - tilt * ball(epsilon) - tilt * (1 / tilt).log1p() - (1 + tilt).log()
            most = most.max(log_delta.exp() if log_delta < 0 else arb(1))
    with precision(FLOAT_BITS):
        upper = min(told_up(with_leaks(mixture.leaky, most)), 1.0)
    return upper_bound("delta", upper, epsilon, theorem=ID, method=METHOD, count=mixture.count, notes=(_order(c),))


def epsilons_near(rhos: Floats, delta: float) -> Floats:
    """About the ε at δ of ρ-zCDP for each of many ρ, to nine digits: for comparing, not for proofs."""
    logs = np.tile(np.log(_GRID), (rhos.size, 1))
    chosen = np.zeros((rhos.size, 1))
    for _ in range(_CLOSER):
        c = np.exp(logs)
        found = rhos[:, None] * (1 + c) - (math.log(delta) + np.log1p(c)) / c - np.log1p(1 / c)
        best = np.argmin(found, axis=1)[:, None]
        chosen = np.take_along_axis(found, best, axis=1)
        ends = (np.take_along_axis(logs, np.clip(best + side, 0, logs.shape[1] - 1), axis=1) for side in (-1, 1))
        low, high = ends
        logs = low + (high - low) * np.linspace(0.0, 1.0, _FINE)
    return np.maximum(chosen[:, 0], 0.0)


def divergence(mixture: Mixture, alpha: float) -> arb:
    """At least the Rényi divergence of order α of the whole, at the working precision."""
    ways = [_exactly(mixture, mixture.laws(way, +1), alpha - 1) / (arb(alpha) - 1) for way in mixture.directions]
    most = ways[0]
    for way in ways[1:]:
        most = most.max(way)
    return most


def _order(c: float) -> str:
    return f"Rényi order {1 + c:.6g}"


def _exactly(mixture: Mixture, laws: Laws, c: float) -> arb:
    """(α-1) D_α in balls, α = 1 + c."""
    known = sum((count * law.log_mean(c) for law, count in laws), arb(0))
    return known + arb(c) * sum((count * notion.renyi(1 + c) for notion, count in mixture.bounded), arb(0))


def _scaled(mixture: Mixture, laws: Laws, c: Floats) -> Floats:
    """(α-1) D_α, about."""
    known = sum((count * law.log_mean_guess(c) for law, count in laws), np.zeros_like(c))
    for notion, count in mixture.bounded:
        known = known + c * count * _renyi_near(notion, 1 + c)
    return known


def _renyi_near(notion: RenyiBounded, orders: Floats) -> Floats:
    """D_α at many orders, about; ρα at once, for sums of ρ are asked for often."""
    if isinstance(notion, ZCDP):
        return float(notion.rho) * orders
    return np.array([_near(notion.renyi(order)) for order in orders.tolist()])


def _near(value: arb) -> float:
    return float(value.mid()) if value.is_finite() else math.inf


def _best(value: Callable[[Floats], Floats], mixture: Mixture, laws: Laws) -> float:
    """About where the value is least."""
    top = min((notion.most_order for notion, _ in mixture.bounded), default=math.inf) - 1  # exact: orders are floats
    top = min((top, *(law.most_tilt for law, _ in laws)))
    grid = _GRID[top > _GRID]
    if math.isfinite(top):
        grid = np.append(grid, [top, top * (1 - 1e-6)])
        grid.sort()
    with np.errstate(all="ignore"):
        for _ in range(_ROUNDS):
            found = value(grid)
            best = int(np.argmin(np.where(np.isfinite(found), found, math.inf)))
            low, high = grid[max(best - 1, 0)], grid[min(best + 1, grid.size - 1)]
            chosen = float(grid[best])
            grid = np.linspace(low, high, _FINE)
    return _whole_order(chosen, top)


def _whole_order(c: float, top: float) -> float:
    """Nearly the same with 1 + c a float, and not beyond the top."""
    if c >= top:
        return (1 + top) - 1
    return max(math.floor(c * 2**40) / 2**40 if c < 2**10 else math.floor(c * 2**20) / 2**20, 2.0**-40)
