r"""A quadrature after a few coins came or went, without computing it anew.

With the tilt and the nodes kept, φ and M are products over coins: a coin that comes multiplies φ(θ) by its factor f(θ)
and adds to K, one that goes divides and subtracts.  |f| <= 1, so bounds on skipped nodes stay valid when coins come;
|f(θ)|² >= tanh²(a), so they grow at most by \prod 1/tanh(a) when coins go.
"""

from __future__ import annotations

import math
from dataclasses import replace

import numpy as np

from optcomp.numerics.blocked import U
from optcomp.numerics.contour.anchor import Anchor
from optcomp.numerics.contour.banded import quadrature
from optcomp.numerics.contour.coins import Coins
from optcomp.numerics.contour.integral import Means, Nodes, means_of
from optcomp.numerics.contour.points import Points, lone_points


def shifted(made: Anchor, added: Coins, removed: Coins) -> Anchor:
    """The same quadrature for the coins with some added and some (that are among them) removed."""
    plan, log_means, nodes = made.integral.plan, made.log_means, made.nodes
    for coins, sign in ((added, 1.0), (removed, -1.0)):
        if coins.x.size:
            points = lone_points(coins)
            change = means_of(points, plan)
            log_means = Means(
                _moved(log_means.here, change.here, sign),
                _moved(log_means.above, change.above, sign),
                _moved(log_means.below, change.below, sign),
            )
            nodes = _turned(nodes, points, plan.tilt, sign)
    if removed.x.size:
        a = removed.x * (plan.tilt + 0.5) * (1 - 8 * U)
        growth = 1.0001 * float(np.exp((removed.m * (20 * U - np.log(np.tanh(a)) * (1 + 20 * U))).sum()))
        nodes = replace(nodes, near=nodes.near * growth, far=nodes.far * growth)
    total = (made.total + added.total) * (1 + 2 * U)
    return Anchor(quadrature(plan, nodes, log_means), nodes, log_means, total, made.capped)


def _moved(known: tuple[float, float], change: tuple[float, float], sign: float) -> tuple[float, float]:
    value = known[0] + sign * change[0]
    return value, 1.01 * (known[1] + change[1] + U * abs(value))


def _turned(nodes: Nodes, points: Points, c: float, sign: float) -> Nodes:
    """Every φ multiplied or divided by the factors of some coins."""
    logs, angles, errors = points.log_phi(c, nodes.theta)
    factor = np.exp(sign * logs)
    cosine, sine = factor * np.cos(angles), sign * factor * np.sin(angles)
    real = nodes.real * cosine - nodes.imag * sine
    imag = nodes.real * sine + nodes.imag * cosine
    size = np.hypot(nodes.real, nodes.imag) * factor
    error = 1.01 * (nodes.error * factor + size * np.expm1(np.minimum(errors, 1.0)) + 40 * U * size)
    return replace(nodes, real=real, imag=imag, error=np.where(errors < 0.5, error, math.inf))
