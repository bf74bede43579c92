"""Nodes gathered for a plan: those computed are right, and the others weigh no more than is admitted."""

from __future__ import annotations

import math

import numpy as np
import pytest

from optcomp.numerics.blocked import Floats
from optcomp.numerics.contour import gather as module
from optcomp.numerics.contour.coins import Coins
from optcomp.numerics.contour.gather import gather
from optcomp.numerics.contour.plan import Contour
from optcomp.numerics.contour.points import Compressed
from optcomp.numerics.contour.sieve import Skipped
from tests.oracles.contour import phi, within

RNG = np.random.default_rng(33)
FAMILIES: dict[str, Coins] = {
    "spread": Coins(np.sort(RNG.uniform(0.01, 0.3, 300)), np.ones(300)),
    "even": Coins(np.sort(RNG.uniform(0.15, 0.3, 300)), np.ones(300)),
    "copies": Coins(np.array([0.05, 0.06, 0.31]), np.array([400.0, 90.0, 800.0])),
    "nearly equal": Coins(np.unique(0.2 * (1 + 1e-7 * RNG.uniform(-1, 1, 200))), np.ones(200)),
    "few": Coins(np.array([0.3, 0.7, 1.1]), np.ones(3)),
}


def sizes(coins: Coins, c: float, theta: Floats) -> Floats:
    sech2 = 1 / np.cosh(coins.x * (c + 0.5)) ** 2
    logs = 0.5 * np.log1p(-sech2 * np.sin(theta[:, np.newaxis] * coins.x) ** 2)
    return np.asarray(np.exp((logs * coins.m).sum(axis=1)))


@pytest.mark.parametrize("name", list(FAMILIES))
@pytest.mark.parametrize("tolerance", [1e-9, 1e-3, 1.0, 100.0])
@pytest.mark.parametrize("work", [1e3, 1e9])
def test_nodes(name: str, tolerance: float, work: float) -> None:
    coins, c = FAMILIES[name], 0.75
    plan = Contour(True, c, 1.0, 0.125, 2.0, 0.25, 1e-5, tolerance)
    with np.errstate(all="ignore"):
        found = gather(coins, Compressed(coins), plan, work)
    nodes, w2 = found.nodes, found.plan.smoothing
    index = np.rint(nodes.theta / plan.step).astype(np.int64)
    assert np.array_equal(index * plan.step, nodes.theta)
    assert np.unique(index).size == index.size
    assert index[0] == 0
    theta = plan.step * np.setdiff1d(np.arange(1, math.ceil(12 / math.sqrt(w2) / plan.step)), index).astype(np.float64)
    weight = sizes(coins, c, theta) * np.exp(-0.5 * w2 * theta * theta) * plan.step / math.pi
    assert float(weight.sum()) <= nodes.far * (1 + 1e-9)
    assert float((weight / theta**2).sum()) <= nodes.near * (1 + 1e-9)
    pairs = list(zip(coins.x.tolist(), coins.m.tolist(), strict=True))
    for i in np.unique(np.linspace(0, index.size - 1, 12).astype(np.int64)).tolist():
        value = complex(nodes.real[i], nodes.imag[i])
        assert within(value, phi(pairs, c, float(nodes.theta[i]), 400), float(nodes.error[i]) + 1e-60, 400)


def test_nodes_before_the_first_swing_are_paid_for(monkeypatch: pytest.MonkeyPatch) -> None:
    """Nothing else left out: a reach beyond all weight, and a sieve that lets everything through."""
    monkeypatch.setattr(module, "node_reach", lambda plan: 12.0)
    monkeypatch.setattr(
        module,
        "_skip",
        lambda coins, plan, first, last, *_: Skipped(np.array([first]), np.array([last + 1]), 0.0, 0.0, 0.0),
    )
    coins, c = FAMILIES["even"], 0.75
    plan = Contour(True, c, 1.0, 2.0**-6, 2.0, 0.25, 1e-2, 100.0)
    nodes = gather(coins, Compressed(coins), plan, 1e9).nodes
    index = np.rint(nodes.theta / plan.step).astype(np.int64)
    missing = np.setdiff1d(np.arange(index[-1] + 1), index)
    assert missing.size > 100
    theta = plan.step * missing.astype(np.float64)
    weight = sizes(coins, c, theta) * np.exp(-0.5 * plan.smoothing * theta * theta) * plan.step / math.pi
    assert 1e-6 < float(weight.sum()) <= nodes.far
    assert float((weight / theta**2).sum()) <= nodes.near


def test_the_first_nodes_cost_no_more_than_the_cap() -> None:
    """Many tiny coins turn around late: a million nodes lie before."""
    coins = Coins(np.array([0.00028553960324384037]), np.array([43211.0]))
    plan = Contour(True, 0.75, 1.0, 2.0**-10, 2.0, 0.25, 1e-12, 1e-9)
    with np.errstate(all="ignore"):
        short, long = (gather(coins, Compressed(coins), plan, work) for work in (1e5, 1e8))
    assert short.nodes.theta.size < 10_000 < long.nodes.theta.size
