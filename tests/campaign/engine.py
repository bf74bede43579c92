"""The contour engine alone, with random caps on its work."""

from __future__ import annotations

from collections.abc import Callable
from fractions import Fraction

from optcomp import Bound, NotAffordable
from optcomp.composition.reading import read_parts
from optcomp.theorems.opt import Effort, contour_delta, contour_epsilon
from tests.campaign.judge import Outcome
from tests.campaign.questions import Question, counts, question


def capped(outcome: Outcome, kind: str) -> None:
    """Both directions: the truth is inside, and the width is what was aimed at unless the cap was reached."""
    asked = question(kind, outcome.seed)
    for ask in (_epsilon, _delta):
        _judge(outcome, asked, ask)


def _judge(outcome: Outcome, asked: Question, ask: Callable[[Question], Bound]) -> None:
    what = f"{ask.__name__.strip('_')} at {asked.place}, rtol {asked.rtol:.2g}, work {asked.work:.2g}"
    bound = outcome.answer(what, lambda: ask(asked), refusable=(NotAffordable,))
    if bound is None:
        return
    outcome.narrow(what, bound, max(asked.rtol, outcome.limits.width))
    assert asked.truth is not None
    outcome.true(what, bound, asked.truth)


def _epsilon(asked: Question) -> Bound:
    return contour_epsilon(read_parts(counts(asked)), Fraction(asked.delta), Effort(asked.rtol, asked.work))[0]


def _delta(asked: Question) -> Bound:
    return contour_delta(read_parts(counts(asked)), asked.epsilon, Effort(asked.rtol, asked.work))[0]
