r"""Long ranges of θ at once, by the differences of coins.

For two coins with sech² at least s and difference d, sin²α + sin²β = 1 - cos(α+β) cos(α-β) gives

    (1 - s sin²(θx))(1 - s sin²(θx'))  <=  (1 - s sin²(v/2))²,      v = dist(θd, πZ),

so |φ(θ)| <= prod (1 - s sin²(v/2)) over disjoint pairs.  The coins themselves may have turned thousands of times; what
matters is that d has not.  For each octave of θ partners are taken so far apart that θd is about a quarter turn.
"""

from __future__ import annotations

import math

import numpy as np

from optcomp.numerics.blocked import Floats, Ints
from optcomp.numerics.contour.coins import Coins, dot

PAIRS = 512  # each factor is at least 1/2, so products of so many do not underflow
_SWING = 0.13  # of a half-turn: what d may turn within a range, either way
_RANGES = 16  # ranges at a time: with all pairs they fit into the cache
_GAIN = 0.05  # what a pair gains on average, roughly, for judging whether to try
_LEAST = 64  # with fewer coins single ones do better
_MOST_PIECES = 1024  # an octave that would need more ranges is left to single coins


def pairs_promise(coins: Coins, c: float, needed: float) -> bool:
    """Whether pairs will probably prove |φ| <= e^-needed.  Copies of a coin count once."""
    if coins.x.size < _LEAST:
        return False
    x, m = coins.proxies
    e = np.exp(-2 * x * (c + 0.5))
    return float(dot(4 * e / (1 + e) ** 2, m)) * min(coins.x.size, 2 * PAIRS) * _GAIN > needed * coins.count


def pair_bounds(coins: Coins, c: float, edges: Floats) -> tuple[Floats, Ints, Floats]:
    """Octaves of θ, given by their edges, cut into ranges: their edges, octaves, and a bound on |φ| in each."""
    d, s = _pairs(coins, c, 0.5 * math.pi / (0.5 * (edges[:-1] + edges[1:])))
    pieces = np.clip(np.ceil(np.diff(edges) * d.mean(axis=0) * (0.5 / _SWING)), 1, _MOST_PIECES).astype(np.int64)
    octave = np.repeat(np.arange(pieces.size), pieces)
    place = np.arange(octave.size) - np.repeat(np.cumsum(pieces) - pieces, pieces)
    cuts = np.append(edges[octave] + np.diff(edges)[octave] * (place / pieces[octave]), edges[-1])
    bounds = [
        _bounds(d[:, octave[i : i + _RANGES]], s[:, octave[i : i + _RANGES]], cuts[i : i + _RANGES + 1])
        for i in range(0, octave.size, _RANGES)
    ]
    return cuts, octave, np.concatenate(bounds)


def _pairs(coins: Coins, c: float, wanted: Floats) -> tuple[Floats, Floats]:
    """Differences in half-turns per θ and a quarter of sech², a column of pairs for each wanted difference."""
    k = coins.x.size
    start = k // 4
    lag = np.clip(coins.x.searchsorted(coins.x[start] + wanted) - start, 1, k // 2)
    count = k // (2 * lag) * lag + np.maximum(k % (2 * lag) - lag, 0)  # runs of `lag` coins with the runs that follow
    chosen = min(PAIRS, int(count.min()))
    number = np.arange(chosen)[:, np.newaxis] * count // chosen
    low = number + number // lag * lag
    far = coins.x[low + lag]
    e = np.exp(far * (-2 * (c + 0.5)))
    return (far - coins.x[low]) * (1 / math.pi), e / (1 + e) ** 2 * (1 - 1e-12)


def _bounds(d: Floats, quarter: Floats, cuts: Floats) -> Floats:
    """The product of 1 - s sin²(v/2), sin(πz/2) >= z(3 - z²)/2, for each range."""
    middle, radius = 0.5 * (cuts[1:] + cuts[:-1]), 0.5 * np.diff(cuts)
    v = d * middle
    scratch = np.rint(v)
    v -= scratch
    np.abs(v, out=v)
    np.multiply(d, radius + 1e-14 * middle, out=scratch)
    v -= scratch
    np.maximum(v, 0.0, out=v)
    np.multiply(v, v, out=scratch)
    np.subtract(3.0, scratch, out=scratch)
    v *= scratch
    v *= v
    v *= quarter
    np.subtract(1.0, v, out=v)  # at least 1/2 each, so that 512 do not underflow
    return np.asarray(np.multiply.reduce(v, axis=0)) * (1 + 1e-12)
