"""dp-accounting: privacy loss distributions and Rényi accounting, by default and at their best.

A pure ε-DP mechanism is dominated by randomized response, whose privacy loss is ±ε.  Defaults are what the package does
when told nothing: `from_privacy_parameters` (losses rounded up to a grid of 1e-4), `self_compose` for counts, `compose`
one after the other, tails below 1e-15 moved to infinity.  Its best was found by trying: losses split over the
neighbouring grid points by connect-the-dots, a grid that divides the ε_i where there is one, repeated doubling instead
of `self_compose` (which raises a Fourier transform to the k-th power and multiplies its round-off by k), a balanced
tree instead of a chain, and tails cut at 1e-16.
"""

from __future__ import annotations

import math
from collections.abc import Iterable
from typing import Any

import dp_accounting
import numpy as np
from dp_accounting.pld import common, pld_pmf, pld_privacy_accountant, privacy_loss_distribution
from dp_accounting.rdp import rdp_privacy_accountant

from bench.answers import Answer, Contender
from bench.instances import COARSE, Instance

TRUNCATION = 1e-15
"""The tail mass that dp-accounting gives up at each composition when told nothing."""
BEST_TRUNCATION = 1e-16
"""Less makes it slower and, by round-off, unsound; more adds up to ∞ at large k."""
REPLACE_ONE = dp_accounting.NeighboringRelation.REPLACE_ONE


def _default(instance: Instance) -> Answer:
    total = None
    for eps, count in instance.coins:
        parameters = common.DifferentialPrivacyParameters(eps, 0.0)
        part = privacy_loss_distribution.from_privacy_parameters(parameters)
        part = part.self_compose(count) if count > 1 else part
        total = part if total is None else total.compose(part)
    return _read(total, instance)


def _self_composed(instance: Instance) -> Answer:
    parts = [dots(eps, COARSE) for eps, _ in instance.coins]
    counts = [count for _, count in instance.coins]
    parts = [part.self_compose(count) if count > 1 else part for part, count in zip(parts, counts, strict=True)]
    return _read(_tree(parts, TRUNCATION), instance)


def _doubled(instance: Instance, truncation: float) -> Answer:
    parts = [repeated(dots(eps, instance.grid), count, truncation) for eps, count in instance.coins]
    return _read(_tree(parts, truncation), instance)


def dots(eps: float, grid: float) -> Any:
    """Randomized response by connect-the-dots: its exact δ at the grid points around ±ε, chords in between."""
    steps = eps / grid
    nearest = round(steps)
    lattice = abs(steps - nearest) < 1e-9
    below, above = (nearest, nearest) if lattice else (math.floor(steps), math.ceil(steps))
    points = sorted({-above, -below, below, above})
    deltas = [_hockey_stick(eps, eps if lattice and point > 0 else point * grid) for point in points]
    mass = pld_pmf.create_pmf_pessimistic_connect_dots(grid, points, deltas)
    return privacy_loss_distribution.PrivacyLossDistribution(mass.to_dense_pmf())


def _hockey_stick(eps: float, at: float) -> float:
    """δ of randomized response at ε = `at`, which may be negative."""
    if at >= eps:
        return 0.0
    if at <= -eps:
        return -math.expm1(at)
    return (math.exp(eps) - math.exp(at)) / (1 + math.exp(eps))


def repeated(part: Any, count: int, truncation: float) -> Any:
    """Compose `count` times with itself by repeated doubling."""
    total = None
    while count:
        if count & 1:
            total = part if total is None else total.compose(part, truncation)
        count >>= 1
        part = part.compose(part, truncation) if count else part
    return total


def _tree(parts: list[Any], truncation: float) -> Any:
    """Compose neighbours until one is left."""
    while len(parts) > 1:
        pairs: Iterable[tuple[Any, Any]] = zip(parts[::2], parts[1::2], strict=False)
        parts = [one.compose(other, truncation) for one, other in pairs] + parts[len(parts) & ~1 :]
    return parts[0]


def _read(distribution: Any, instance: Instance) -> Answer:
    return Answer(float(distribution.get_epsilon_for_delta(instance.delta)))


def _event(eps: float, count: int) -> Any:
    noise = 2 / (1 + math.exp(eps))
    return dp_accounting.SelfComposedDpEvent(dp_accounting.RandomizedResponseDpEvent(noise, 2), count)


def _accountant(accountant: Any, instance: Instance) -> Answer:
    for eps, count in instance.coins:
        accountant.compose(_event(eps, count))
    return Answer(float(accountant.get_epsilon(instance.delta)))


def _pld_accountant(instance: Instance) -> Answer:
    return _accountant(pld_privacy_accountant.PLDAccountant(REPLACE_ONE), instance)


def _renyi(instance: Instance) -> Answer:
    return _accountant(rdp_privacy_accountant.RdpAccountant(neighboring_relation=REPLACE_ONE), instance)


def _renyi_tuned(instance: Instance) -> Answer:
    best = math.sqrt(-2 * math.log(instance.delta) / instance.squares)
    orders = 1 + best * np.geomspace(0.25, 100.0, 201)
    return _accountant(rdp_privacy_accountant.RdpAccountant(orders, REPLACE_ONE), instance)


DEFAULT = Contender("dp-accounting PLD default", _default)
BEST = Contender("dp-accounting PLD best", lambda i: _doubled(i, BEST_TRUNCATION))
UNTRUNCATED = Contender("dp-accounting PLD best, untruncated", lambda i: _doubled(i, 0.0))
CONTENDERS = (
    DEFAULT,
    Contender("dp-accounting PLD dots 1e-4", _self_composed),
    BEST,
    UNTRUNCATED,
    Contender(
        "dp-accounting PLDAccountant",
        _pld_accountant,
        lambda i: i.homogeneous and i.count == 100,
    ),
    Contender("dp-accounting RDP default", _renyi),
    Contender("dp-accounting RDP best", _renyi_tuned),
)
