"""Totals of runs against closed forms computed here: one step of sampled noise, groups, and passes over the data."""

from __future__ import annotations

import math
from fractions import Fraction
from itertools import pairwise
from statistics import NormalDist

import numpy as np
import pytest

import optcomp as oc
from optcomp.training import (
    BATCHES,
    NEIGHBOURS,
    Phase,
    TrainingRun,
    chosen,
    first_steps,
    found_noise,
    found_whole,
    over_steps,
    schedule_of,
    total_of,
)

FIXED, SHUFFLED = chosen(BATCHES, "fixed", "batches"), chosen(BATCHES, "shuffled", "batches")
ZERO_OUT, REPLACE = chosen(NEIGHBOURS, "zero-out", "n"), chosen(NEIGHBOURS, "replace", "n")
X = np.linspace(-30, 40, 700_001)


def run_of(rate: float, sigma: float, steps: int, **more: object) -> TrainingRun:
    return TrainingRun((Phase(sigma, schedule_of(rate=rate, steps=steps)),), **more)  # type: ignore[arg-type]


def density(weights: list[float], sigma: float) -> np.ndarray[tuple[int], np.dtype[np.float64]]:
    """The noisy sum if the sample holds j people of a group with weight j."""
    terms = [w * np.exp(-0.5 * ((X - j) / sigma) ** 2) for j, w in enumerate(weights)]
    total: np.ndarray[tuple[int], np.dtype[np.float64]] = np.sum(terms, axis=0) / (sigma * math.sqrt(2 * math.pi))
    return total


def excess(p: np.ndarray, q: np.ndarray, eps: float) -> float:
    return float(np.sum(np.maximum(p - math.exp(eps) * q, 0)) * (X[1] - X[0]))


def true_delta(rate: float, sigma: float, size: int, eps: float) -> float:
    """δ of one step on a Poisson sample, for a group, in both directions; by a plain sum."""
    with_group = density([math.comb(size, j) * rate**j * (1 - rate) ** (size - j) for j in range(size + 1)], sigma)
    without = density([1.0], sigma)
    return max(excess(with_group, without, eps), excess(without, with_group, eps))


@pytest.mark.parametrize(("rate", "sigma", "eps"), [(0.1, 1.0, 0.5), (0.5, 2.0, 0.2), (0.01, 0.8, 0.1)])
def test_one_step(rate: float, sigma: float, eps: float) -> None:
    bound = total_of(run_of(rate, sigma, 1), epsilon=eps).bound
    assert bound.lower * (1 - 1e-6) <= true_delta(rate, sigma, 1, eps) <= bound.upper * (1 + 1e-6)


@pytest.mark.parametrize(("rate", "sigma", "size", "eps"), [(0.1, 1.0, 2, 1.0), (0.5, 2.0, 3, 1.5), (0.05, 0.9, 4, 2)])
def test_groups_are_never_below_the_truth(rate: float, sigma: float, size: int, eps: float) -> None:
    run = run_of(rate, sigma, 1, group=size)
    truth = true_delta(rate, sigma, size, eps)
    found = total_of(run, epsilon=eps)
    assert found.bound.theorem == "GROUP"
    assert found.bound.lower <= truth <= found.bound.upper
    back = total_of(run, delta=found.bound.upper)
    assert back.bound.lower <= eps <= back.bound.upper * (1 + 1e-9)
    assert true_delta(rate, sigma, size, back.bound.upper) <= found.bound.upper
    assert found.single.certificate()["quantity"] == "delta"
    with pytest.raises(oc.OptcompError):
        found.bound.certificate()


def test_replaced_examples() -> None:
    """An example whose gradient points one way, replaced by one whose gradient points the other way."""
    rate, sigma, eps = 0.2, 1.0, 1.0
    one = density([1 - rate, rate], sigma)
    other = np.interp(-X, X, one)
    truth = excess(one, other, eps)
    bound = total_of(run_of(rate, sigma, 1, neighbours=REPLACE), epsilon=eps).bound
    assert bound.lower * (1 - 1e-6) <= truth <= bound.upper * (1 + 1e-6)
    group = total_of(run_of(rate, sigma, 1, neighbours=REPLACE, group=2), epsilon=eps).bound
    assert (group.theorem, group.upper > bound.upper) == ("GROUP", True)


def gaussian_delta(mu: float, eps: float) -> float:
    normal = NormalDist()
    return normal.cdf(mu / 2 - eps / mu) - math.exp(eps) * normal.cdf(-mu / 2 - eps / mu)


@pytest.mark.parametrize(("kind", "neighbours", "moves"), [(FIXED, ZERO_OUT, 1), (FIXED, REPLACE, 2)])
def test_fixed_batches_cost_a_noisy_step_a_pass(kind: object, neighbours: object, moves: int) -> None:
    phase = Phase(4, schedule_of(examples=1000, batch=30, epochs=9))
    bound = total_of(TrainingRun((phase,), kind, neighbours), delta=1e-5).bound  # type: ignore[arg-type]
    assert gaussian_delta(moves * 3 / 4, bound.upper) == pytest.approx(1e-5, rel=1e-6)
    assert bound.lower > 0.999 * bound.upper


def test_shuffled_batches_have_no_lower_side() -> None:
    phase = Phase(4, schedule_of(examples=1000, batch=30, epochs=9))
    fixed, shuffled = (TrainingRun((phase,), kind, ZERO_OUT) for kind in (FIXED, SHUFFLED))
    assert total_of(shuffled, delta=1e-5).bound.upper == total_of(fixed, delta=1e-5).bound.upper
    assert total_of(shuffled, delta=1e-5).bound.lower == 0
    assert [point.bound.lower for point in over_steps(shuffled, 3, delta=1e-5)] == [0, 0, 0]


def test_over_steps_ends_with_the_total() -> None:
    run = TrainingRun((Phase(1.2, schedule_of(rate="0.01", steps=300)), Phase(1, schedule_of(rate="0.02", steps=100))))
    points = list(over_steps(run, 8, delta="1e-6"))
    assert [point.steps for point in points] == [50 * step for step in range(1, 9)]
    assert all(one.bound.upper < two.bound.upper for one, two in pairwise(points))
    for point in points[::3] + points[-1:]:
        afresh = total_of(first_steps(run, point.steps), delta="1e-6").bound
        assert max(afresh.lower, point.bound.lower) <= min(afresh.upper, point.bound.upper)
    assert len(list(over_steps(run_of(0.1, 1, 3), 10, delta=1e-5))) == 3


def test_over_steps_of_groups() -> None:
    run = run_of(0.05, 1.5, 40, group=2)
    *_, last = over_steps(run, 2, delta=1e-5)
    assert last.bound.upper == total_of(run, delta=1e-5).bound.upper


def test_noise_that_is_found_fits_and_less_does_not() -> None:
    found = found_noise(lambda sigma: run_of(0.01, sigma, 500), "1.5", "1e-5")  # type: ignore[arg-type]
    assert found.bound.upper <= 1.5
    assert len(str(float(found.value))) <= 7
    assert total_of(run_of(0.01, float(found.value) * 0.999, 500), delta="1e-5").bound.lower > 1.5


def test_steps_and_batches_that_are_found() -> None:
    steps = found_whole("steps", lambda number: run_of(0.01, 1, int(number)), 2, "1e-5")
    assert steps.bound.upper <= 2 < total_of(run_of(0.01, 1, int(steps.value) + 1), delta="1e-5").bound.lower

    def made(batch: object) -> TrainingRun:
        return TrainingRun((Phase(2, schedule_of(examples=1000, batch=batch, epochs=5)),))  # type: ignore[arg-type]

    batch = found_whole("batch", made, 1, "1e-5", 1000)
    assert batch.bound.upper <= 1 < total_of(made(int(batch.value) + 1), delta="1e-5").bound.lower
    all_of_it = found_whole("batch", made, 100, "1e-5", 1000)
    assert all_of_it.value == 1000


def test_groups_are_not_sought_by_sampling() -> None:
    with pytest.raises(oc.InvalidInput, match="group"):
        found_noise(lambda sigma: run_of(0.01, sigma, 5, group=2), 1, "1e-5")  # type: ignore[arg-type]
    found = found_noise(lambda sigma: run_of(1, sigma, 5, group=2), 1, "1e-5")  # type: ignore[arg-type]
    assert found.value > Fraction(10)


def test_exactly_one_question() -> None:
    with pytest.raises(oc.InvalidInput, match="exactly one"):
        total_of(run_of(0.1, 1, 1))
