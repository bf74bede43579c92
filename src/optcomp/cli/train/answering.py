"""The answer of `train`, put together."""

from __future__ import annotations

from optcomp.cli.train.given import TrainGiven, delta_of
from optcomp.cli.train.tables import TrainAnswer
from optcomp.training import Total, notes_on, others_say, over_steps, total_of, warnings_on


def answered(given: TrainGiven, delta: str | None, epsilon: str | None, points: int, alone: bool) -> TrainAnswer:
    """Everything that is asked, computed."""
    found = None
    if delta is not None and epsilon is not None:
        found = given.found(epsilon, delta)
        run, total = found.run, Total(found.bound, found.bound)
    else:
        run = given.run()
        total = total_of(run, delta=delta, epsilon=epsilon)
    asked = {"delta": delta} if delta is not None else {"epsilon": epsilon}
    exact_delta = delta_of(delta)
    return TrainAnswer(
        run,
        total,
        delta if delta is not None else str(epsilon),
        found,
        others_say(run, float(exact_delta)) if exact_delta and not alone else (),
        tuple(over_steps(run, points, **asked)) if points else (),
        warnings_on(run, exact_delta),
        (*notes_on(run), *given_notes(given)),
    )


def given_notes(given: TrainGiven) -> list[str]:
    """What follows from how the run was described."""
    notes = []
    if given.clip_sigma is not None:
        notes.append("adaptive clipping asks a second query on the same sample; both count as one with less noise")
    if given.accumulate > 1:
        notes.append(
            f"a noisy step sums {given.accumulate} physical batches; they must be parts of one Poisson sample of the "
            "whole, not samples of their own"
        )
    return notes
