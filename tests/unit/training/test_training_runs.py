"""Rate and steps from what people have, and the refusals that keep a number from being about something else."""

from __future__ import annotations

import math
from fractions import Fraction

import pytest
from hypothesis import given
from hypothesis import strategies as st

import optcomp as oc
from optcomp.training import (
    ALGORITHMS,
    BATCHES,
    NEIGHBOURS,
    Phase,
    Schedule,
    TrainingRun,
    chosen,
    joint_noise,
    neighbours_for,
    notes_on,
    schedule_of,
    warnings_on,
)

POISSON, SHUFFLED, FIXED, DRAWN = (
    chosen(BATCHES, name, "batches") for name in ("poisson", "shuffled", "fixed", "without-replacement")
)
ADD_REMOVE, ZERO_OUT, REPLACE = (chosen(NEIGHBOURS, name, "n") for name in ("add-remove", "zero-out", "replace"))


@given(st.integers(1, 10**6), st.integers(1, 10**6), st.integers(1, 200))
def test_rate_and_steps_are_exact(examples: int, batch: int, epochs: int) -> None:
    batch = min(batch, examples)
    found = schedule_of(examples=examples, batch=batch, epochs=epochs)
    assert found.rate == Fraction(batch, examples)
    assert found.steps * batch >= epochs * examples > (found.steps - 1) * batch


def test_written_numbers_and_accumulation() -> None:
    assert schedule_of(rate="0.01", epochs="0.5") == Schedule(Fraction(1, 100), 50, 1)
    assert schedule_of(examples="6e4", batch=64, epochs=1, accumulate=4) == schedule_of(
        examples=60000, batch=256, epochs=1
    )


@pytest.mark.parametrize(
    ("given_numbers", "argument"),
    [
        ({"rate": 0.1, "batch": 5, "steps": 1}, "rate"),
        ({"rate": 0.1}, "steps"),
        ({"rate": 0.1, "steps": 5, "epochs": 1}, "steps"),
        ({"batch": 5, "steps": 1}, "examples"),
        ({"batch": 50, "examples": 49, "steps": 1}, "batch"),
        ({"rate": 0, "steps": 1}, "rate"),
        ({"rate": 0.1, "steps": 1.5}, "steps"),
        ({"rate": 0.1, "epochs": -1}, "epochs"),
    ],
)
def test_what_cannot_be_is_refused(given_numbers: dict[str, float], argument: str) -> None:
    with pytest.raises(oc.InvalidInput) as refusal:
        schedule_of(**given_numbers)  # type: ignore[arg-type]
    assert refusal.value.argument == argument


@given(st.fractions(Fraction(1, 100), 100), st.fractions(Fraction(1, 100), 100))
def test_joint_noise_is_never_more_than_two_queries_have(sigma: Fraction, second: Fraction) -> None:
    joint = joint_noise(sigma, second)
    assert 1 / joint**2 >= 1 / sigma**2 + 1 / second**2
    assert float(joint) == pytest.approx(1 / math.sqrt(1 / float(sigma) ** 2 + 1 / float(second) ** 2), rel=1e-12)


def test_mechanisms_of_a_run() -> None:
    schedule = schedule_of(examples=100, batch=10, epochs=3)
    phase = Phase(2, schedule)
    sampled = oc.PoissonSubsampled(oc.Gaussian(2), Fraction(1, 10))
    assert TrainingRun((phase,)).counts() == {sampled: 30}
    assert TrainingRun((phase,)).counts(Fraction(1, 4)) == {sampled: 8}
    assert TrainingRun((phase,), FIXED, ZERO_OUT).counts() == {oc.Gaussian(2, 1): 3}
    assert TrainingRun((phase,), FIXED, REPLACE, 5).counts() == {oc.Gaussian(2, 10): 3}
    whole = Phase(2, schedule_of(rate=1, steps=7))
    assert TrainingRun((whole,), group=3).counts() == {oc.Gaussian(2, 3): 7}
    assert TrainingRun((phase, whole)).counts() == {sampled: 30, oc.Gaussian(2): 7}
    assert TrainingRun((phase, phase)).counts(Fraction(3, 4)) == {sampled: 45}
    replaced = oc.PoissonSubsampled(oc.Gaussian(2), Fraction(1, 10), "replace")
    assert TrainingRun((phase,), neighbours=REPLACE).counts() == {replaced: 30}
    drawn = oc.WithoutReplacement(oc.Gaussian(2, 2), 10, 100)
    assert TrainingRun((phase,), DRAWN, REPLACE, examples=100).counts() == {drawn: 30}


def test_batches_of_fixed_size_need_their_numbers() -> None:
    phase = Phase(2, schedule_of(rate="0.1", steps=3))
    with pytest.raises(oc.InvalidInput, match="examples"):
        TrainingRun((phase,), DRAWN, REPLACE)
    with pytest.raises(oc.InvalidInput, match="neighbours: must be replace"):
        TrainingRun((phase,), DRAWN, ADD_REMOVE, examples=10)
    with pytest.raises(oc.InvalidInput, match="rate: must make a whole batch"):
        TrainingRun((phase,), DRAWN, REPLACE, examples=15).counts()
    assert neighbours_for(DRAWN, None) is REPLACE


@given(st.integers(1, 50), st.integers(1, 50), st.integers(1, 300))
def test_passes_are_never_too_few(examples: int, batch: int, steps: int) -> None:
    """However a loader cuts its passes: incomplete last batches kept or left out."""
    batch = min(batch, examples)
    counted = schedule_of(examples=examples, batch=batch, steps=steps).passes(steps)
    for length in (examples // batch, math.ceil(examples / batch)):
        assert counted >= math.ceil(steps / length)


def test_passes_that_were_said() -> None:
    said = schedule_of(examples=60000, batch=256, epochs=20)
    assert (said.steps, said.passes(said.steps), said.passes(100)) == (4688, 20, 1)


@pytest.mark.parametrize("name", ["truncated", "padded", "with-replacement"])
def test_other_batches_are_refused_with_the_reason(name: str) -> None:
    with pytest.raises(oc.InvalidInput, match=r"is refused: .*Poisson"):
        chosen(BATCHES, name, "--batches")


@pytest.mark.parametrize("name", ["dp-ftrl", "dp_mf", "Banded"])
def test_correlated_noise_is_refused(name: str) -> None:
    with pytest.raises(oc.InvalidInput, match="noise is correlated between steps"):
        chosen(ALGORITHMS, name, "--algorithm")


def test_neighbours_that_fit_the_batches() -> None:
    assert neighbours_for(SHUFFLED, None) is ZERO_OUT
    assert neighbours_for(POISSON, None) is ADD_REMOVE
    assert neighbours_for(SHUFFLED, REPLACE) is REPLACE
    with pytest.raises(oc.InvalidInput, match="an added example would shift"):
        TrainingRun((), SHUFFLED, ADD_REMOVE)


def test_warnings_and_notes() -> None:
    phase = Phase(1, schedule_of(examples=1000, batch=10, epochs=1))
    plain = TrainingRun((phase,), examples=1000)
    assert warnings_on(plain, Fraction(1, 1001)) == notes_on(plain) == ()
    assert "1/examples = 1/1000" in warnings_on(plain, Fraction(1, 1000))[0]
    assert warnings_on(TrainingRun((phase,)), Fraction(1, 2)) == ()
    assert "not Poisson" in warnings_on(TrainingRun((phase,), SHUFFLED, ZERO_OUT), None)[0]
    assert "twice the clip norm" in notes_on(TrainingRun((phase,), FIXED, REPLACE))[0]
    assert "twice the clip norm" in notes_on(TrainingRun((phase,), neighbours=REPLACE))[0]
    assert "up to 4 examples" in notes_on(TrainingRun((phase,), group=4))[0]
