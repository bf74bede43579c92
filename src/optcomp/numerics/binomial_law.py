"""The law of the number of coins that land low among m equal ones, as float64 logs with a proved error."""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np
from flint import arb

from optcomp.numerics.balls import ball, float_near
from optcomp.numerics.blocked import LIBM, Floats, U
from optcomp.numerics.exact_numbers import Exact

_STRIDE = 16  # steps in floats from one ball to the next: each costs a few u
_ALL = 4096  # up to this many coins, every log-probability comes from ball arithmetic


@dataclass(frozen=True)
class BinomialLaw:
    """log_p[i] = log Pr[first + i coins land low], within `error`; outside first..last at most `dropped` remains."""

    first: int
    last: int
    log_p: Floats
    error: float
    dropped: arb


def binomial_law(x: Exact, m: int, nats: float = 760.0) -> BinomialLaw:
    """m coins of size x, in the window that holds all but 2 e^-nats.  Call inside `precision` of 128 bits or more."""
    # Hoeffding: Pr[|n - mq| >= d] <= 2 exp(-2 d^2 / m)
    reach = math.ceil(math.sqrt(m * nats / 2)) + 1
    centre = m / (1 + math.exp(min(float(x), 700.0)))
    first, last = max(0, math.floor(centre - reach)), min(m, math.ceil(centre + reach))
    dropped = arb(0) if (first, last) == (0, m) else 2 * arb(-nats).exp()
    log_p, error = _logs(x, m, first, last)
    return BinomialLaw(first, last, log_p, error, dropped)


def _logs(x: Exact, m: int, first: int, last: int) -> tuple[Floats, float]:
    """Anchors in ball arithmetic, a few steps between them in floats."""
    stride = 1 if m <= _ALL else _STRIDE
    anchors = np.array([_anchor(x, m, n) for n in range(first, last + 1, stride)])
    error = 2 * U * (1 + float(np.abs(anchors).max()))
    if stride == 1:
        return anchors, error
    n = np.arange(first, last, dtype=np.float64)
    steps = np.zeros(anchors.size * stride)
    steps[1 : n.size + 1] = np.log((m - n) / (n + 1)) - float(x)
    rows = steps.reshape(anchors.size, stride)
    most = float(np.abs(rows).max())
    rows[:, 0] = anchors  # each row starts at its anchor and adds its steps
    log_p = np.cumsum(rows, axis=1)
    depth = float(np.abs(log_p).max())
    # a step: log to LIBM, its argument to u, x and the difference to u; each partial sum to u
    error += U * stride * ((LIBM + 3) * (1 + most + 2 * float(x)) + depth)
    return log_p.ravel()[: last - first + 1], error


def _anchor(x: Exact, m: int, n: int) -> float:
    size = ball(x)
    ways = arb(m + 1).lgamma() - arb(n + 1).lgamma() - arb(m - n + 1).lgamma()
    return float_near(ways - size * n - (-size).exp().log1p() * m)
