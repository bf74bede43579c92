"""What a number about training counts and what it does not, in plain words."""

from __future__ import annotations

from fractions import Fraction

from optcomp.training.kinds import REPLACE
from optcomp.training.runs import TrainingRun

STANDING = (
    "σ is the noise over the clip norm of one example's gradient, added once a step to the sum",
    "all steps count; an ε over steps is no rule for when to stop: if results decide, use a filter or an odometer",
    "not counted: trying several settings on the same data, and anything else computed from them",
    "the proof is about exact Gaussian noise; a framework adds rounded noise from a generator of its own",
)
"""True of every run."""


def warnings_on(run: TrainingRun, delta: Fraction | None) -> tuple[str, ...]:
    """What nobody should overlook."""
    return tuple(filter(None, (_delta(run, delta), run.batches.warning)))


def notes_on(run: TrainingRun) -> tuple[str, ...]:
    """What is particular to this run."""
    return tuple(filter(None, (_neighbours(run), _group(run))))


def _delta(run: TrainingRun, delta: Fraction | None) -> str:
    if delta is None or run.examples is None or delta * run.examples < 1:
        return ""
    return (
        f"δ is at least 1/examples = 1/{run.examples}: revealing a randomly chosen example whole would satisfy it; "
        "choose δ well below"
    )


def _neighbours(run: TrainingRun) -> str:
    if run.neighbours is not REPLACE:
        return ""
    return "a replaced example moves the sum by up to twice the clip norm; σ is still relative to the clip norm"


def _group(run: TrainingRun) -> str:
    if run.group == 1:
        return ""
    far = "by GROUP from the total of one example, which is safe and not the least"
    how = "whose gradients move the sum together" if run.plain else far
    return f"for people with up to {run.group} examples each, {how}"
