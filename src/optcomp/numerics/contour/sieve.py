r"""Which nodes matter: whole ranges of θ on which |φ| is provably negligible are skipped.

    |φ(θ)|² = \prod (1 - sech²(a_i) sin²(θ x_i))^{m_i},  a_i = x_i(c + 1/2)

Every factor is at most one, so any partial product is a bound; and for all θ' within r of θ and x' within d of x

    sin²(θ'x') >= sin²(max(0, dist(θx, πZ) - rx - (θ + r)d)),      sin(πz) >= z(3 - 4z²) on [0, 1/2].

A range of θ uses coins of which a swing is longer than the range: the smallest first, neighbours merged into clusters
with multiplicity.  What fails is split.
"""

from __future__ import annotations

import math
from dataclasses import dataclass, field

import numpy as np

from optcomp.numerics.blocked import Floats, Ints
from optcomp.numerics.contour.coins import Coins
from optcomp.numerics.contour.pairs import PAIRS, pair_bounds, pairs_promise

_CLUSTERS = 96  # so many, the most telling ones, bound |φ| in a range
_CHUNK = 24  # clusters at a time, after which hopeless ranges are given up
_SPLIT = 4  # parts of a range that fails: a quarter usually succeeds or shows that it never will
_SHARING = 3  # octaves that share their clusters
_RANGES = 1024  # ranges at a time: with a chunk of clusters they fit into the cache
_SLACK = 1e-12  # relative round-off of the bounds, counted generously


@dataclass(frozen=True, eq=False)
class Skipped:
    """The nodes left over, as ranges [start, stop), and the weight of the others: sums of |φ| bounds.

    `near` is the sum over skipped nodes of the bound on |φ| e^{-w²θ²/2} / θ², `far` the same without the square.
    """

    starts: Ints
    stops: Ints
    near: float
    far: float
    work: float

    @property
    def nodes(self) -> int:
        """How many nodes are left."""
        return int((self.stops - self.starts).sum())


@dataclass(frozen=True, eq=False)
class _Clusters:
    """One row for a few octaves of θ, highest first: the most telling clusters, in units of π; `edge` is x + half."""

    x: Floats
    half: Floats
    edge: Floats
    power: Floats
    sech2: Floats
    reach: Floats


def sieve(
    coins: Coins,
    c: float,
    step: float,
    first: int,
    last: int,
    share: float,
    smoothing: float,
    fill: int,
    most: float = math.inf,
) -> Skipped:
    """Skip nodes among first..last (included) at a total cost of at most `share`.

    The cost of a node is |φ| e^{-w²θ²/2} (1/θ² + w²) step/π.  Ranges of at most `fill` nodes are not split further, and
    none is after about `most` comparisons.
    """
    octaves = max(math.ceil(math.log2((last + 1) / first)), 1)
    edges = np.unique(np.minimum(np.ceil(first * 2.0 ** np.arange(octaves + 1)), last + 1)).astype(np.int64)
    price = _Price(step, smoothing, share / octaves)
    found = _Found()
    starts, stops, octave = edges[:-1], edges[1:], np.arange(edges.size - 1)
    if pairs_promise(coins, c, float(price.needed(starts, stops).max())):
        starts, stops, octave = _without_pairs(coins, c, edges, price, found)
    if starts.size:
        clusters = _clusters(coins, c, first * step * np.exp2(np.arange(1.0, octaves + 1.0)))
        starts, stops, row = _split(*_split(starts, stops, (octaves - 1 - octave) // _SHARING))
    while starts.size:
        needed = price.needed(starts, stops)
        reached, cost = _bounds(clusters, row, starts, stops, step, needed)
        found.work += cost
        gone = reached >= needed
        found.skip(np.exp(-reached[gone]), starts[gone], stops[gone], price)
        ended = found.work + _SPLIT * _CHUNK * float((~gone).sum()) > most
        small = ~gone & ((stops - starts <= fill) | ended)
        found.left.append((starts[small], stops[small]))
        again = ~gone & ~small
        starts, stops, row = _split(starts[again], stops[again], row[again])
    return found.skipped()


@dataclass(frozen=True)
class _Price:
    """What a skipped range may cost: `budget` for each octave, shared by length."""

    step: float
    smoothing: float
    budget: float

    def needed(self, starts: Ints, stops: Ints) -> Floats:
        """The b for which |φ| <= e^-b makes a range cheap enough; at least 0."""
        theta = starts * self.step
        weight = np.exp(-0.5 * self.smoothing * theta * theta) * (1 / theta**2 + self.smoothing) * (self.step / math.pi)
        return np.asarray(np.maximum(np.log(weight * starts / self.budget), 0.0))


@dataclass
class _Found:
    """What was skipped, what is left, and the work so far."""

    near: float = 0.0
    far: float = 0.0
    work: float = 0.0
    left: list[tuple[Ints, Ints]] = field(default_factory=list)

    def skip(self, bound: Floats, starts: Ints, stops: Ints, price: _Price) -> None:
        """Ranges with a bound on |φ| in each."""
        theta = starts * price.step
        sums = bound * (stops - starts) * np.exp(-0.5 * price.smoothing * theta * theta)
        self.near += float((sums / theta**2).sum())
        self.far += float(sums.sum())

    def skipped(self) -> Skipped:
        """In order."""
        none = np.zeros(0, dtype=np.int64)
        starts, stops = (np.concatenate(column) for column in zip((none, none), *self.left, strict=True))
        order = np.argsort(starts)
        return Skipped(starts[order], stops[order], 1.0001 * self.near, 1.0001 * self.far, self.work)


def _without_pairs(coins: Coins, c: float, edges: Ints, price: _Price, found: _Found) -> tuple[Ints, Ints, Ints]:
    """Skip what the pairs of coins prove; the ranges still open, and their octaves."""
    cuts, octave, bound = pair_bounds(coins, c, price.step * edges.astype(np.float64))
    nodes = np.ceil(cuts / price.step).astype(np.int64)  # within 1e-15 of θ: less than the bound leaves room for
    starts, stops = nodes[:-1], nodes[1:]
    found.work += bound.size * PAIRS
    gone = (bound <= np.exp(-price.needed(starts, stops))) | (starts == stops)
    found.skip(bound[gone], starts[gone], stops[gone], price)
    return starts[~gone], stops[~gone], octave[~gone]


def _split(starts: Ints, stops: Ints, row: Ints) -> tuple[Ints, Ints, Ints]:
    edges = starts[:, np.newaxis] + (stops - starts)[:, np.newaxis] * np.arange(_SPLIT + 1) // _SPLIT
    starts, stops, row = edges[:, :-1].ravel(), edges[:, 1:].ravel(), np.repeat(row, _SPLIT)
    full = stops > starts
    return starts[full], stops[full], row[full]


def _bounds(
    clusters: _Clusters, row: Ints, starts: Ints, stops: Ints, step: float, needed: Floats
) -> tuple[Floats, float]:
    """For each range a number b with |φ| <= e^-b on it, computed until it is enough or hopeless; and the work."""
    middle = 0.5 * step * (starts + stops - 1).astype(np.float64)
    radius = 0.5 * step * (stops - 1 - starts).astype(np.float64)
    reached = np.zeros(starts.size)
    work = 0.0
    edges = np.append(np.flatnonzero(np.diff(row, prepend=-1)), row.size)
    for start, stop in zip(edges[:-1].tolist(), edges[1:].tolist(), strict=True):
        for first in range(start, stop, _RANGES):
            block = slice(first, min(first + _RANGES, stop))
            work += _bound_block(clusters, int(row[start]), middle[block], radius[block], needed[block], reached[block])
    return reached, work


def _bound_block(
    clusters: _Clusters, row: int, middle: Floats, radius: Floats, needed: Floats, reached: Floats
) -> float:
    """Fill `reached` for a few ranges, a chunk of clusters at a time."""
    live = np.flatnonzero(needed > 0)
    work = 0.0
    for chunk in range(0, _CLUSTERS, _CHUNK):
        if not live.size:
            break
        columns = slice(chunk, chunk + _CHUNK)
        at, around = middle[live], radius[live]
        # clusters down, ranges across: long inner loops
        away = at * clusters.x[row, columns, np.newaxis]
        slack = np.rint(away)
        away -= slack
        np.abs(away, out=away)
        np.multiply(at, clusters.half[row, columns, np.newaxis], out=slack)
        away -= slack
        np.multiply(around, clusters.edge[row, columns, np.newaxis], out=slack)
        away -= slack
        np.maximum(away, 0.0, out=away)
        np.multiply(away, away, out=slack)
        slack *= -4.0
        slack += 3.0
        away *= slack
        away *= away
        away *= clusters.sech2[row, columns, np.newaxis]
        reached[live] += _gain(away, slack, clusters.power[row, columns, np.newaxis]) * (1 - _SLACK)
        work += away.size
        enough = reached[live] >= needed[live]
        hopeless = reached[live] * (clusters.reach[row, chunk // _CHUNK] + 0.3) < needed[live]
        live = live[~(enough | hopeless)]
    return work


def _gain(v: Floats, scratch: Floats, power: Floats) -> Floats:
    """For each column a lower bound on the sum of -power/2 log(1 - v); both arrays are used up."""
    if power.max() <= 1:  # where the power is 0 so is v; 1 - v >= 1e-12, so 24 factors do not underflow
        np.subtract(1.0, v, out=scratch)
        return np.asarray(-0.5 * np.log(np.multiply.reduce(scratch, axis=0) * (1 + 1e-14)))
    # -log(1-v)/2 = artanh(z) >= z + z³/3, z = v/(2-v)
    np.subtract(2.0, v, out=scratch)
    v /= scratch
    np.multiply(v, v, out=scratch)
    scratch *= 1 / 3
    scratch += 1.0
    v *= scratch
    v *= power
    return np.asarray(v.sum(axis=0))


def _clusters(coins: Coins, c: float, tops: Floats) -> _Clusters:
    """For octaves of θ that end at `tops`: neighbouring coins merged, the most telling first."""
    shape = -(-tops.size // _SHARING), _CLUSTERS
    x, half, power, sech2 = np.ones(shape), np.zeros(shape), np.zeros(shape), np.zeros(shape)
    low, high, copies = coins.x, coins.x, coins.m
    for row in range(shape[0]):
        theta = float(tops[tops.size - 1 - row * _SHARING])
        edges = np.flatnonzero(np.diff(_key(low * theta), prepend=-math.inf))
        if edges.size < low.size:
            low, high = low[edges], high[np.append(edges[1:], low.size) - 1]
            copies = np.add.reduceat(copies, edges)
        mid = 0.5 * (low + high)
        twice = 2 * high * (c + 0.5)
        e = np.where(twice < 600, np.exp(-twice), 0.0)
        still = 4 * e / (1 + e) ** 2
        telling = copies * still * np.minimum(1, (0.4 * theta * mid) ** 2) / mid
        best = _largest(telling, _CLUSTERS)
        n = best.size
        x[row, :n], power[row, :n], sech2[row, :n] = mid[best] / math.pi, copies[best], still[best] * (1 - 1e-12)
        half[row, :n] = 0.5 * (high - low)[best] / math.pi * (1 + 1e-9) + 2e-15 * mid[best]
    gains = (power * (0.05 + sech2)).reshape(shape[0], -1, _CHUNK).sum(axis=2)
    return _Clusters(x, half, (x + half) * (1 + 1e-15), power, sech2, _outlook(gains))


def _key(swing: Floats) -> Floats:
    """Clusters by θx: a tenth wide above one, a twentieth of θx wide below."""
    return np.floor(np.where(swing > 1, (swing - 1) / 0.1, 20 * np.log(np.minimum(swing, 1.0))))


def _outlook(gains: Floats) -> Floats:
    """By which factor the sum could still grow after each chunk, for judging what is hopeless."""
    done = np.cumsum(gains, axis=1)
    return 2.0 * done[:, -1:] / np.maximum(done, 1e-300)


def _largest(values: Floats, count: int) -> Ints:
    """Indices of the largest values, largest first; ties by index, so the choice is always the same."""
    if values.size > 4 * count:
        bar = np.partition(values, values.size - count)[values.size - count]
        chosen = np.flatnonzero(values >= bar)
    else:
        chosen = np.arange(values.size)
    return chosen[np.argsort(-values[chosen], kind="stable")][:count]
