"""Steps of training and their totals: what `compose` says, however the list grows, shrinks or is asked."""

from __future__ import annotations

import math
import threading
from typing import Any

import numpy as np
import pytest

import optcomp as oc
import optcomp.interop.steps as steps_module
from optcomp.composition import Composer
from optcomp.interop.steps import RTOL, DrawnStep, Rising, StepTotals, mechanisms, spent

DELTA = 1e-5
ONE, TWO = oc.PoissonSubsampled(oc.Gaussian(1.5), 0.04), oc.PoissonSubsampled(oc.Gaussian(3.0), 0.04)


def test_mechanisms_of_steps() -> None:
    assert mechanisms([(1.5, 0.04, 3), (3.0, 0.04, 1), (1.5, 0.04, 2)]) == {ONE: 5, TWO: 1}
    assert mechanisms([(2.0, 1, 3), (1.0, 0.0, 9), (1.0, 0.5, 0)]) == {oc.Gaussian(2.0): 3}
    assert mechanisms([(0.0, 0.1, 1)]) is None
    assert mechanisms([(1.0, 1e-9, 1)]) == {oc.PoissonSubsampled(oc.Gaussian(1.0), 1e-7): 1}
    for wrong in ((1.0, 1.1, 1), (-1.0, 0.1, 1), (1.0, -0.1, 1), (1.0, 0.1, 0.5)):
        with pytest.raises(oc.InvalidInput):
            mechanisms([wrong])  # type: ignore[list-item]


def test_totals_however_a_list_changes() -> None:
    totals = StepTotals()
    for steps in ([(1.5, 0.04, 300)], [(1.5, 0.04, 400)], [(1.5, 0.04, 200), (3.0, 0.04, 9)], [(3.0, 0.04, 200)]):
        bound = oc.compose(mechanisms(steps) or {}, delta=DELTA)
        assert bound.lower <= totals.epsilon(steps, DELTA) <= bound.upper * (1 + RTOL)
        assert totals.delta(steps, bound.upper) == pytest.approx(DELTA, rel=1e-6)
        assert totals.bound(steps, DELTA).count == bound.count


@pytest.mark.parametrize(("noise", "rate"), [(1.0, 0.01), (0.8, 0.001), (2.0, 0.6), (0.3, 0.02)])
def test_every_one_of_the_first_steps(noise: float, rate: float) -> None:
    """Each is a little more than the one before, and at most `RTOL` above what `compose` says."""
    totals, before, most = StepTotals(), 0.0, 75
    found = {count: totals.epsilon([(noise, rate, count)], DELTA) for count in range(1, most + 1)}
    for epsilon in found.values():
        assert epsilon >= before
        before = epsilon
    for count in (1, 2, most):
        bound = oc.compose({oc.PoissonSubsampled(oc.Gaussian(noise), rate): count}, delta=DELTA)
        assert bound.lower <= found[count] <= bound.upper * (1 + RTOL) + 1e-12


def test_what_was_computed_ahead_is_what_a_total_would_say() -> None:
    """An accountant that is asked after every epoch finds most answers in a table: no others, and for no other δ."""
    totals = StepTotals()
    for count in (300, 400, 500):
        totals.epsilon([(1.5, 0.04, count)], DELTA)
    composer = totals._composer
    assert composer.upper_ahead(DELTA, RTOL) is None
    composer.add(ONE, 100)
    ahead = composer.upper_ahead(DELTA, RTOL)
    assert ahead == composer.total(delta=DELTA, rtol=RTOL).upper == spent(composer, DELTA)
    assert composer.copy().upper_ahead(DELTA, RTOL) == ahead
    assert composer.upper_ahead(2 * DELTA, RTOL) is None
    for item in (TWO, 0.1):
        other = composer.copy()
        other.add(item)
        assert other.upper_ahead(DELTA, RTOL) is None
    bound = oc.compose({ONE: 600}, delta=DELTA)
    assert bound.lower <= ahead <= bound.upper * (1 + RTOL)
    composer.remove(ONE, 100)
    assert totals.epsilon([(1.5, 0.04, 600)], DELTA) == ahead


def test_a_width_that_is_not_reached_is_no_error(monkeypatch: pytest.MonkeyPatch) -> None:
    """Training goes on: the wider answer is true."""
    composer, bound = Composer({ONE: 300}), oc.compose({ONE: 300}, delta=DELTA)
    monkeypatch.setattr(steps_module, "RTOL", 1e-15)
    with pytest.raises(oc.PrecisionNotReached):
        composer.total(delta=DELTA, rtol=1e-15)
    assert bound.lower <= spent(composer, DELTA) <= bound.upper * (1 + 1e-6)


def test_nothing_and_everything() -> None:
    totals = StepTotals()
    assert (totals.epsilon([], DELTA), totals.delta([], 1)) == (0, 0)
    assert (totals.epsilon([(0.0, 0.1, 1)], DELTA), totals.delta([(0.0, 0.1, 1)], 1)) == (math.inf, 1)
    for steps in ([], [(0.0, 0.1, 1)]):
        with pytest.raises(oc.InvalidInput, match="steps"):
            totals.bound(steps, DELTA)
    with pytest.raises(oc.InvalidInput, match="delta"):
        totals.epsilon([], 2.0)


def test_threads_get_true_answers() -> None:
    totals, found = StepTotals(), dict[int, float]()

    def ask(start: int) -> None:
        for count in range(start, 1200, 300):
            found[count] = totals.epsilon([(1.5, 0.04, count)], DELTA)

    threads = [threading.Thread(target=ask, args=(200 + 100 * number,)) for number in range(3)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert len(found) == 10
    for count, epsilon in found.items():
        bound = oc.compose({ONE: count}, delta=DELTA)
        assert bound.lower <= epsilon <= bound.upper * (1 + RTOL)


def test_a_fixed_number_drawn_without_replacement() -> None:
    """A replaced one moves the sum by twice the clip norm."""
    steps = [DrawnStep(3.0, 50, 1000, 60), DrawnStep(3.0, 50, 1000, 40)]
    law = oc.WithoutReplacement(oc.Gaussian(3.0, 2), 50, 1000)
    assert mechanisms(steps) == {law: 100}
    assert mechanisms([DrawnStep(0.0, 50, 1000, 1)]) is None
    bound = oc.compose({law: 100}, delta=DELTA)
    assert bound.lower <= StepTotals().epsilon(steps, DELTA) <= bound.upper * (1 + 1e-8)
    assert (
        StepTotals().epsilon(steps, DELTA)
        > oc.compose({oc.WithoutReplacement(oc.Gaussian(3.0), 50, 1000): 100}, delta=DELTA).upper
    )
    with pytest.raises(oc.InvalidInput, match="replace"):
        StepTotals().epsilon([*steps, (1.5, 0.04, 3)], DELTA)


def test_numbers_that_are_no_floats_are_read_too() -> None:
    steps: list[Any] = [(np.float64(1.5), np.float32(0.5), 1), (2, 1, 1)]
    assert mechanisms(steps) == {
        oc.PoissonSubsampled(oc.Gaussian(1.5), 0.5): 1,
        oc.Gaussian(2): 1,
    }


def test_more_is_never_told_to_cost_less() -> None:
    """Two true answers may differ by their widths; what is told of a growing list does not fall."""
    rising = Rising()
    assert rising.told({ONE: 100}, DELTA, 1.0) == 1.0
    assert rising.told({ONE: 101}, DELTA, 1.0 - 4e-6) == 1.0  # lifted
    assert rising.told({ONE: 101, TWO: 1}, DELTA, 1.0 + 1e-6) == 1.0 + 1e-6
    assert rising.told({ONE: 101}, DELTA, 1.0 + 2e-6) == 1.0 + 1e-6  # fewer cost no more
    assert rising.told({ONE: 200}, DELTA, 0.9) == 0.9  # the last one was wider than usual
    assert rising.told({TWO: 200}, DELTA, 0.9 - 1e-6) == 0.9 - 1e-6  # another list
    assert rising.told({TWO: 201}, 2 * DELTA, 0.5) == 0.5  # another δ


def test_a_long_run_never_falls(monkeypatch: pytest.MonkeyPatch) -> None:
    """With answers that are off by up to the width that is allowed, now up, now not."""
    true = dict(enumerate(1 + 1e-6 * np.arange(50)))
    answers = iter(true[count] * (1 + RTOL * (count % 3) / 2) for count in range(1, 50))
    monkeypatch.setattr(steps_module, "spent", lambda composer, delta: next(answers))
    totals, before = StepTotals(), 0.0
    for count in range(1, 50):
        epsilon = totals.epsilon([(1.5, 0.04, count)], DELTA)
        assert epsilon >= before
        assert true[count] <= epsilon <= true[count] * (1 + RTOL)
        before = epsilon
