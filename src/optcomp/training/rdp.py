r"""Rényi divergences of sampled Gaussian noise at a list of orders, as RDP accountants take them; in floats, no proof.

D_α = log E[(1 - q + q e^{(2x-1)/2σ²})^α]/(α - 1) a step, x ~ N(0, σ²), and

ε = min over orders of steps·D_α + log((α-1)/α) - (log δ + log α)/(α - 1)     (Mironov et al. 2019; Balle et al. 2020)
"""

from __future__ import annotations

import math
from collections.abc import Sequence

import numpy as np

from optcomp.numerics import Floats
from optcomp.training.runs import Phase

ORDERS: tuple[float, ...] = (*(1 + x / 10 for x in range(1, 100)), *map(float, range(12, 64)))
"""The orders that Opacus tries."""
_NODES, _REACH = 4001, 12.0
"""Nodes of the sum that stands for an expectation, and how many standard deviations it reaches beyond the peaks."""


def rdp_epsilon(phases: Sequence[Phase], delta: float) -> float:
    """The best of the orders."""
    orders = np.array(ORDERS)
    total = sum(
        phase.schedule.steps * _divergences(float(phase.sigma), float(phase.schedule.rate), orders) for phase in phases
    )
    eps = total + np.log1p(-1 / orders) - (math.log(delta) + np.log(orders)) / (orders - 1)
    return max(0.0, float(np.min(eps)))


def _divergences(sigma: float, rate: float, orders: Floats) -> Floats:
    """D_α of one step, removing an example from a Poisson sample."""
    if rate == 1:
        found: Floats = orders / (2 * sigma**2)
        return found
    return np.array([_divergence(sigma, rate, order) for order in orders.tolist()])


def _divergence(sigma: float, rate: float, order: float) -> float:
    x = np.linspace(-_REACH * sigma, order + _REACH * sigma, _NODES)
    log_density = -0.5 * (x / sigma) ** 2 - math.log(sigma * math.sqrt(2 * math.pi))
    log_ratio = np.logaddexp(math.log1p(-rate), math.log(rate) + (2 * x - 1) / (2 * sigma**2))
    logs = log_density + order * log_ratio
    top = float(np.max(logs))
    return (top + math.log(float(np.sum(np.exp(logs - top)) * (x[1] - x[0])))) / (order - 1)
