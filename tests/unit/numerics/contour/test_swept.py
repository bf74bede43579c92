"""Ranges left out many at a time: what they hold is at most what is counted, and what is kept is what it should be."""

from __future__ import annotations

import math
from typing import Any

import numpy as np
import pytest

from optcomp.numerics.contour import Contour, Independent
from optcomp.numerics.contour.swept import Sweep
from optcomp.numerics.laws import MixedWholeLaw, NormalLaw, ReplacedWholeLaw
from optcomp.numerics.laws.law import Summand

SUMS: dict[str, list[tuple[Summand, int]]] = {
    "many": [(MixedWholeLaw(1.0, 1, 0.05, "towards"), 300)],
    "few": [(MixedWholeLaw(1.0, 1, 0.05, "away"), 20)],
    "replaced": [(ReplacedWholeLaw(1.5, 1, 0.1), 60)],
    "two": [(MixedWholeLaw(1.0, 1, 0.05, "towards"), 30), (MixedWholeLaw(0.7, 1, 0.2, "towards"), 10)],
}


def plan_of(smoothing: float) -> Contour:
    return Contour(True, 4.0, 1.0, 0.5, 5.0, 3.0, smoothing, 1e-6)


@pytest.mark.parametrize("name", SUMS)
@pytest.mark.parametrize("share", [1e-4, 1e2])
def test_what_is_left_out_is_counted(name: str, share: float) -> None:
    """Every node on its own: the sums over those that were not kept, once over θ² and once as they are."""
    whole, plan = Independent(SUMS[name], math.inf), Contour(True, 4.0, 1.0, 0.5, 5.0, 3.0, 1e-6, share)
    sweep = Sweep(whole, plan, 30, 10**7)
    first, last = 40, 20_000
    assert sweep.run(first, last, math.inf) == last
    kept = np.concatenate([part[0] for part in sweep.kept]) if sweep.kept else np.zeros(0)
    theta = plan.step * np.arange(first, last + 1.0)
    real, imag, error = whole.values(plan.tilt, theta)
    size = np.maximum(np.hypot(real, imag) - error, 0.0) * np.exp(-0.5 * plan.smoothing * theta**2)
    out = ~np.isin(theta, kept)
    assert out.any()
    near, far = (float((part[out] * plan.step / math.pi).sum()) for part in (size / theta**2, size))
    assert 0 < near <= sweep.near
    assert 0 < far <= sweep.far
    assert sweep.near <= 2 * plan.share
    if sweep.kept and kept.size:
        values = np.concatenate([part[1] for part in sweep.kept])
        truth = real[np.isin(theta, kept)]
        slack = error[np.isin(theta, kept)] + np.concatenate([part[3] for part in sweep.kept])
        assert (np.abs(values - truth) <= slack + 1e-300).all()


def test_work_ends_a_sweep() -> None:
    whole = Independent(SUMS["few"], math.inf)
    sweep = Sweep(whole, plan_of(1e-8), 30, 10**7)
    reached = sweep.run(40, 10**7, 3e7)
    assert 40 <= reached < 10**7
    assert sweep.spent <= 3e7
    crowded = Sweep(whole, plan_of(1e-8), 30, 100)
    assert crowded.run(40, 10**6, math.inf) < 10**6


@pytest.mark.parametrize("name", SUMS)
def test_bounds_hold_on_whole_ranges(name: str) -> None:
    whole = Independent(SUMS[name], math.inf)
    rng = np.random.default_rng(7)
    middle = np.sort(rng.uniform(1, 3000, 200))
    for radius in (0.0, 0.3, 4.0):
        logs = whole.log_most_ranges(4.0, middle, radius)
        for away in (-1.0, -0.4, 0.7, 1.0):
            real, imag, error = whole.values(4.0, middle + away * radius)
            assert (np.hypot(real, imag) <= np.exp(logs) * (1 + 1e-9) + 1.5 * error + 1e-300).all()


def test_other_laws_have_bounds_on_ranges_too() -> None:
    law: Any = NormalLaw(lambda: __import__("flint").arb(0.25))
    logs = law.log_most_ranges(1.0, np.array([1.0, 5.0]), 0.5)
    assert logs.tolist() == [law.log_most_near(1.0, 1.0, 0.5), law.log_most_near(1.0, 5.0, 0.5)]
