"""Formulas of other accountants: what Opacus 1.6 itself said, and closed forms."""

from __future__ import annotations

import math

import pytest

import optcomp as oc
from optcomp.training import (
    ACCOUNTANTS,
    BATCHES,
    NEIGHBOURS,
    Phase,
    TrainingRun,
    chosen,
    others_say,
    schedule_of,
)

SEEN = [
    ((0.04, 1.5, 2250, 1e-5), (7.3291, 6.7791, 6.6016)),
    ((0.1, 1.0, 3, 1e-5), (2.6065, 2.0972, 0.8335)),
    ((0.01, 1.0, 2, 1e-5), (0.9767, 0.2555, 0.0539)),
    ((1e-4, 0.6, 10**5, 1e-6), (2.267, 0.9735, 0.494)),
    ((0.001, 0.4, 5000, 1e-7), (16.59, 14.3647, 9.207)),
    ((0.01, 0.2, 100, 1e-5), (87.98, 75.1114, None)),
    ((1 / 3000, 4.0, 10**4, 1.1e-18), (0.5864, None, 0.0672)),
]
"""Rate, σ, steps, δ; what its accountants rdp, prv and gdp said, None for an error."""


def run_of(rate: float, sigma: float, steps: int) -> TrainingRun:
    return TrainingRun((Phase(sigma, schedule_of(rate=rate, steps=steps)),))


@pytest.mark.parametrize(("setting", "said"), SEEN)
def test_as_opacus_says(setting: tuple[float, float, int, float], said: tuple[float | None, ...]) -> None:
    *numbers, delta = setting
    found = others_say(run_of(*numbers), delta)  # type: ignore[arg-type]
    assert [one.name for one in found] == list(ACCOUNTANTS)
    for one, value in zip(found, said, strict=True):
        if value is None:
            assert one.epsilon is None
            assert one.why
        else:
            assert one.epsilon == pytest.approx(value, rel=3e-3)


def test_phases_add_up() -> None:
    whole = run_of(0.01, 1, 1000)
    half = whole.phases[0].__class__(1, schedule_of(rate=0.01, steps=500))
    for one, two in zip(others_say(whole, 1e-5), others_say(TrainingRun((half, half)), 1e-5), strict=True):
        assert one.epsilon == pytest.approx(two.epsilon, rel=1e-6)


def test_without_sampling_rdp_is_the_gaussian_formula() -> None:
    rdp = others_say(run_of(1, 10, 100), 1e-5)[0].epsilon
    orders = [1 + x / 10 for x in range(1, 100)] + list(range(12, 64))
    assert rdp == pytest.approx(
        min(100 * a / 200 + math.log1p(-1 / a) - (math.log(1e-5) + math.log(a)) / (a - 1) for a in orders)
    )


def test_a_prv_accountant_is_a_hundredth_above_the_truth() -> None:
    for rate, sigma, steps in ((0.02, 1, 300), (1, 20, 50), (0.005, 0.6, 1000)):
        prv = others_say(run_of(rate, sigma, steps), 1e-6)[1].epsilon
        truth = oc.compose(run_of(rate, sigma, steps).counts(), delta=1e-6).upper
        assert prv is not None
        assert 0.0099 < prv - truth < 0.02


def test_what_cannot_be_said() -> None:
    prv = others_say(run_of(1e-4, 0.8, 10**9), 1e-6)[1]
    assert prv.epsilon is None
    assert "points" in prv.why


def test_nothing_is_said_about_other_batches_or_groups() -> None:
    run = run_of(0.01, 1, 10)
    zero_out = chosen(NEIGHBOURS, "zero-out", "n")
    assert others_say(TrainingRun(run.phases, chosen(BATCHES, "fixed", "b"), zero_out), 1e-5) == []
    assert others_say(TrainingRun(run.phases, group=2), 1e-5) == []
