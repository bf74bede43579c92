"""From a plan to node values: the bulk, the sieve, and φ at what the sieve leaves, within a cap on the work."""

from __future__ import annotations

import math
from dataclasses import dataclass, replace

import numpy as np

from optcomp.numerics.blocked import CACHED, Floats, Ints, U
from optcomp.numerics.contour.coins import Coins, dot
from optcomp.numerics.contour.integral import BATCH, Nodes
from optcomp.numerics.contour.plan import Contour
from optcomp.numerics.contour.points import Compressed, Points, lone_points
from optcomp.numerics.contour.products import (
    BLOCK_NODES,
    RUN_NODES,
    block_products,
    node_products,
    product_error,
    run_products,
)
from optcomp.numerics.contour.sieve import Skipped, sieve
from optcomp.numerics.contour.waves import wave_sieve, waves_from

_POINT, _FACTOR, _RUN_FACTOR, _LONE_FACTOR, _NODE, _COMPARISON = 90.0, 1.2, 2.0, 35.0, 100.0, 20.0
"""Rough costs in nanoseconds: a log-sum point, a factor of a product for long runs of nodes, for short ones and for
single ones, a node in the sums, a step of the sieve."""
_BEGINNING = 3e5
"""What products cost before the first node, in nanoseconds."""
_FEW = 128  # nodes that are computed sooner than judged
_WORTH = 0.5  # of what all nodes would cost: so much the search for those that do not matter may take
MOST_NODES = 5_000_000
"""About half a gigabyte."""


@dataclass(frozen=True, eq=False)
class Gathered:
    """Node values for a plan; `capped` when the work cap made the smoothing coarser than planned."""

    plan: Contour
    nodes: Nodes
    capped: bool
    work: float


def gather(coins: Coins, compressed: Compressed, plan: Contour, work: float) -> Gathered:
    """φ wherever it matters, spending about `work` nanoseconds at most."""
    reach = 0.0 if plan.band else node_reach(plan)
    last = plan.band - 1 if plan.band else math.ceil(min(reach / math.sqrt(plan.smoothing) / plan.step, 2.0**52))
    theta, real, imag, error, settled = _bulk(coins, compressed, plan, last, work)
    kept = [(theta, real, imag, error)]
    near = far = spent = 0.0
    capped = False
    first = theta.size
    if settled and first <= last:
        first, bound = _first_swing(coins, plan, first, float(np.hypot(real[-1], imag[-1]) + error[-1]))
        near, far = 1.0001 * bound / (math.pi * float(theta[-1])), 1.0001 * bound * first * plan.step / math.pi
    if first <= last:
        skipped = _skip(coins, plan, first, last, settled, 0.5 * work / _COMPARISON)
        near += (plan.step / math.pi) * skipped.near
        far += (plan.step / math.pi) * skipped.far
        open_nodes = skipped.nodes
        skipped, last = _cut(skipped, MOST_NODES, last)
        direct = _prefer_products(coins, compressed, plan, skipped)
        value = _product_cost(coins, skipped) / skipped.nodes if direct else compressed.size(last * plan.step) * _POINT
        cost = _NODE + value
        skipped, last = _cut(skipped, max(int(min(work / cost, MOST_NODES)), 4096), last)
        spent = skipped.work * _COMPARISON + skipped.nodes * cost
        if skipped.nodes < open_nodes:
            capped = True
            smoothing = 0.0 if plan.band else (reach / (last * plan.step)) ** 2
            plan = replace(plan, smoothing=smoothing, band=last + 1 if plan.band else 0)
        kept.append(_survivors(coins, compressed, plan, skipped, direct))
    cut = (0.0, 0.0) if plan.band else truncation(plan, last * plan.step)
    joined = [np.concatenate(column) if len(column) > 1 else column[0] for column in zip(*kept, strict=True)]
    nodes = Nodes(joined[0], joined[1], joined[2], joined[3], near + cut[0], far + cut[1])
    return Gathered(plan, nodes, capped, spent)


def node_reach(plan: Contour) -> float:
    """w times the largest θ, so that the rest is a share of the tolerance."""
    w = math.sqrt(plan.smoothing)
    reach = 2.0
    while math.exp(-(reach**2) / 2) * w * (reach**-3 + 1 / reach) / math.pi > plan.share and reach < 12:
        reach += 0.1
    return reach


def truncation(plan: Contour, top: float) -> tuple[float, float]:
    """Bounds on the sums beyond θ = top, |φ| <= 1: integrals of e^{-w²θ²/2}/θ² and e^{-w²θ²/2}, over π."""
    w2 = plan.smoothing
    rest = 1.0001 * math.exp(-0.5 * w2 * top * top) / (math.pi * w2 * top)
    return rest / top**2, rest


def _bulk(
    coins: Coins, compressed: Compressed, plan: Contour, last: int, work: float
) -> tuple[Floats, Floats, Floats, Floats, bool]:
    """The first nodes, until |φ| is negligible (then True), the coins begin to turn around, or the work is spent."""
    turning = max(int(1.0 / (float(coins.x[-1]) * plan.step)), 1)
    columns: list[tuple[Floats, Floats, Floats, Floats]] = []
    start, settled, spent = 0, False, 0.0
    while start <= last and not settled and (start == 0 or (start < turning and spent < work)):
        stop = min(start + BATCH, last + 1)
        theta = plan.step * np.arange(start, stop, dtype=np.float64)
        summed = compressed.at(math.hypot(plan.tilt + 0.5, theta[-1]))
        columns.append((theta, *_by_logs(coins, summed, plan, theta)))
        spent += theta.size * (_NODE + summed.size * _POINT)
        top = float(theta[-1])
        size = math.hypot(columns[-1][1][-1], columns[-1][2][-1])
        settled = size * (1 / top + top * plan.smoothing) < plan.share / 60
        start = stop
    theta, real, imag, error = (np.concatenate(column) for column in zip(*columns, strict=True))
    return theta, real, imag, error, settled


def _first_swing(coins: Coins, plan: Contour, computed: int, bound: float) -> tuple[int, float]:
    """The first node that is still open, and the bound on |φ| for those in between.

    sin²(θx) >= sin²(θ_0 x) for θ_0 <= θ <= π/x_max - θ_0, so |φ| <= |φ(θ_0)| there, θ_0 being the last node computed.
    """
    last = int((math.pi / float(coins.x[-1]) / plan.step) * (1 - 1e-12)) - computed
    return (last, bound) if last > computed else (computed, 0.0)


def _skip(coins: Coins, plan: Contour, first: int, last: int, settled: bool, most: float) -> Skipped:
    """Sieve where the coins together can make |φ| small enough, keep all nodes where they cannot."""
    if last - first < _FEW:
        return Skipped(np.array([first]), np.array([last + 1]), 0.0, 0.0, 0.0)
    start = first if settled else min(_enough(coins, plan, first), last + 1)
    waves = waves_from(coins, plan.tilt, plan.step, first, last, plan.share, plan.smoothing)
    if waves is not None:
        start = min(start, waves)
        found = wave_sieve(coins, plan.tilt, plan.step, start, last, plan.share, plan.smoothing)
    elif start > last:
        return Skipped(np.array([first]), np.array([last + 1]), 0.0, 0.0, 0.0)
    else:
        fill = max(1, min(64, int(2000 / (_factors(coins) + _NODE))))
        most = min(most, _WORTH * (last + 1 - start) * (_factors(coins) * _FACTOR + _NODE) / _COMPARISON)
        found = sieve(coins, plan.tilt, plan.step, start, last, plan.share, plan.smoothing, fill, most)
    if start == first:
        return found
    starts, stops = np.insert(found.starts, 0, first), np.insert(found.stops, 0, start)
    return Skipped(starts, stops, found.near, found.far, found.work)


def _enough(coins: Coins, plan: Contour, first: int) -> int:
    """The node from which on ranges are probably settled by single coins."""
    x, m = coins.proxies
    e = np.exp(-2 * x * (plan.tilt + 0.5))
    typical = float(dot(np.log1p(e), m))  # minus the mean of log|φ| over all θ
    enough = math.exp(min(-1.15 * typical - math.log(plan.share / 60 * plan.step + 1e-300), 600.0))
    return max(first, int(min(enough / 4, 1e15)))


def _factors(coins: Coins) -> float:
    """How many complex factors one value of a product costs."""
    return float((1 + 2 * np.log2(coins.m)).sum())


def _touched(starts: Ints, stops: Ints, size: int) -> int:
    """How many of the pieces of so many nodes hold a node of these ranges."""
    first, final = starts // size, (stops - 1) // size
    return int((final - first + 1).sum()) - int((first[1:] == final[:-1]).sum())


def _prefer_products(coins: Coins, compressed: Compressed, plan: Contour, skipped: Skipped) -> bool:
    if skipped.nodes == 0:
        return False
    top = float(skipped.stops[-1]) * plan.step
    logs = skipped.nodes * _POINT * compressed.size(math.hypot(plan.tilt + 0.5, top))
    lone = skipped.nodes * _LONE_FACTOR * _factors(coins)
    return _product_cost(coins, skipped) + _BEGINNING < min(logs, lone) and coins.count < 1e9


def _product_cost(coins: Coins, skipped: Skipped) -> float:
    """What φ costs as products, in blocks or in short runs."""
    blocks, runs = (_touched(skipped.starts, skipped.stops, size) * size for size in (BLOCK_NODES, RUN_NODES))
    return min(blocks * _FACTOR, runs * _RUN_FACTOR) * _factors(coins)


def _cut(skipped: Skipped, allowed: int, last: int) -> tuple[Skipped, int]:
    """The first nodes that are allowed, and the last node that is accounted for then."""
    if skipped.nodes <= allowed:
        return skipped, last
    sizes = np.cumsum(skipped.stops - skipped.starts)
    keep = int(np.searchsorted(sizes, allowed, side="left")) + 1
    starts, stops = skipped.starts[:keep].copy(), skipped.stops[:keep].copy()
    stops[-1] -= max(int(sizes[keep - 1]) - allowed, 0)
    return replace(skipped, starts=starts, stops=stops), int(stops[-1]) - 1


def _survivors(
    coins: Coins, compressed: Compressed, plan: Contour, skipped: Skipped, direct: bool
) -> tuple[Floats, Floats, Floats, Floats]:
    """φ at the nodes that are left."""
    sizes = skipped.stops - skipped.starts
    if sizes.size == 1:
        index = np.arange(skipped.starts[0], skipped.stops[0])
    else:
        index = np.repeat(skipped.starts - np.concatenate(([0], np.cumsum(sizes)[:-1])), sizes) + np.arange(sizes.sum())
    theta = plan.step * index.astype(np.float64)
    if direct:
        real, imag, error = _by_products(coins, plan, index)
        return theta, real, imag, error
    if index.size and _factors(coins) * _LONE_FACTOR < compressed.size(theta[-1]) * _POINT and coins.count < 1e9:
        values = node_products(coins, plan.tilt, theta)
        return theta, values.real, values.imag, product_error(coins, theta)
    octave = np.floor(np.log2(np.maximum(theta, 1e-300)))
    columns = []
    for value in np.unique(octave):
        chosen = theta[octave == value]
        columns.append(_by_logs(coins, compressed.at(math.hypot(plan.tilt + 0.5, chosen[-1])), plan, chosen))
    if not columns:
        return theta, theta, theta, theta
    real, imag, error = (np.concatenate(column) for column in zip(*columns, strict=True))
    return theta, real, imag, error


def _by_products(coins: Coins, plan: Contour, index: Ints) -> tuple[Floats, Floats, Floats]:
    """φ at nodes in order: by long blocks, or by short runs if those hold far fewer nodes."""
    blocks, runs = _distinct(index // BLOCK_NODES), _distinct(index // RUN_NODES)
    if blocks.size * BLOCK_NODES * _FACTOR <= runs.size * RUN_NODES * _RUN_FACTOR:
        values, pieces, size = block_products(coins, plan.tilt, plan.step, blocks), blocks, BLOCK_NODES
    else:
        values, pieces, size = run_products(coins, plan.tilt, plan.step, runs), runs, RUN_NODES
    if index.size == index[-1] + 1 - index[0]:  # all nodes of the pieces but a few at the ends
        first = int(index[0] - pieces[0] * size)
        chosen = values.ravel()[first : first + index.size]
    else:
        chosen = values[np.searchsorted(pieces, index // size), index % size]
    return chosen.real, chosen.imag, product_error(coins, plan.step * index.astype(np.float64))


def _distinct(ascending: Ints) -> Ints:
    """Without repetitions."""
    return ascending[np.flatnonzero(np.diff(ascending, prepend=ascending[0] - 1))]


def _by_logs(coins: Coins, summed: Points, plan: Contour, theta: Floats) -> tuple[Floats, Floats, Floats]:
    """φ from log-sums; nodes that the bins cannot serve one coin at a time, and the last ones as products."""
    rows = max(CACHED // max(summed.size, 1), 1)
    parts = [summed.log_phi(plan.tilt, theta[i : i + rows]) for i in range(0, theta.size, rows)]
    logs, angles, errors = (np.concatenate(column) for column in zip(*parts, strict=True))
    wrong = np.flatnonzero(~(errors < 0.1))
    if wrong.size and summed.x.size:
        real, imag, error = _by_logs(coins, lone_points(coins), plan, theta[wrong])
    elif wrong.size:
        real, imag, error = _by_products(coins, plan, np.rint(theta[wrong] / plan.step).astype(np.int64))
    size = np.exp(np.minimum(logs, 0.0))
    columns = size * np.cos(angles), size * np.sin(angles), size * np.expm1(np.minimum(errors, 1.0)) + 30 * U * size
    if wrong.size:
        columns[0][wrong], columns[1][wrong], columns[2][wrong] = real, imag, error
    return columns
