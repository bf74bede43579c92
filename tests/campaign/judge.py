"""Ask the engine, in both directions, and see whether the truth lies between the two ends."""

from __future__ import annotations

import signal
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from fractions import Fraction
from typing import cast

from optcomp import Bound, NotAffordable, PrecisionNotReached, compose
from optcomp.checker import check
from optcomp.composition.reading import read_parts
from optcomp.theorems.opt import Effort, contour_delta, contour_epsilon
from optcomp.theorems.parts import Parts
from tests.campaign.questions import Question, question
from tests.oracles.checks import encloses

METHOD = "contour"
CHECK_SECONDS = 20.0
PATIENCE = 3
"""Seconds after which an answer is given up."""


class Stuck(Exception):
    """No answer in time."""


@contextmanager
def _patience(seconds: int) -> Iterator[None]:
    def give_up(number: int, frame: object) -> None:
        raise Stuck(f"no answer within {seconds} s")

    before = signal.signal(signal.SIGALRM, give_up)
    signal.alarm(seconds)
    try:
        yield
    finally:
        signal.alarm(0)
        signal.signal(signal.SIGALRM, before)


@dataclass
class Outcome:
    """What came of one instance."""

    kind: str
    seed: int
    place: str = ""
    asked: int = 0
    contour: int = 0
    two_sided: int = 0
    undecided: int = 0
    widths: list[float] = field(default_factory=list)
    seconds: float = 0.0
    wrong: list[str] = field(default_factory=list)
    crashed: list[str] = field(default_factory=list)
    stuck: list[str] = field(default_factory=list)

    @property
    def sound(self) -> bool:
        """Neither a violation nor a crash; slowness is another matter."""
        return not self.wrong and not self.crashed


def judged(kind: str, seed: int) -> Outcome:
    """Both directions of the instance with this seed."""
    outcome = Outcome(kind, seed)
    asked = question(kind, seed)
    outcome.place = asked.place
    for answer in (_epsilon, _delta):
        bound = _answered(asked, answer, outcome)
        if bound is not None:
            _judge(asked, bound, outcome)
    return outcome


def _answered(asked: Question, answer: Callable[[Question], Bound], outcome: Outcome) -> Bound | None:
    """The answer, or a note on why there is none."""
    start = time.perf_counter()
    where = f"{answer.__name__.strip('_')} at {asked.place}, rtol {asked.rtol:.2g}, work {asked.work:.2g}"
    try:
        with _patience(PATIENCE):
            return answer(asked)
    except NotAffordable:
        pass
    except (Stuck, MemoryError) as error:
        outcome.stuck.append(f"{where}: {type(error).__name__} {error}")
    except Exception as error:  # whatever it is, it is a finding, and the campaign goes on
        contradiction = type(error) is ArithmeticError
        (outcome.wrong if contradiction else outcome.crashed).append(f"{where}: {type(error).__name__} {error}")
    finally:
        outcome.seconds = max(outcome.seconds, time.perf_counter() - start)
    return None


def _judge(asked: Question, bound: Bound, outcome: Outcome) -> None:
    outcome.asked += 1
    if bound.method == METHOD:
        outcome.contour += 1
        outcome.two_sided += bound.lower > 0 and bound.width < 0.5
        outcome.widths.append(bound.width)
    verdict = _verdict(asked, bound)
    outcome.undecided += verdict is None
    if verdict is False:
        outcome.wrong.append(f"{bound} asked at {asked.place}, rtol {asked.rtol:.2g}, work {asked.work:.2g}")


def _verdict(asked: Question, bound: Bound) -> bool | None:
    """Whether the truth is inside; None if the checker could not decide."""
    if asked.truth is not None:
        return encloses(asked.truth, bound)
    groups = bound.parts.groups if isinstance(bound.parts, Parts) else None
    verdict = check(bound.certificate(), groups, effort=CHECK_SECONDS)
    return None if verdict.status == "undecided" else verdict.proved


def _epsilon(asked: Question) -> Bound:
    if asked.through_compose:
        return _composed(asked, {"delta": asked.delta})
    return contour_epsilon(read_parts(_counts(asked)), Fraction(asked.delta), Effort(asked.rtol, asked.work))[0]


def _delta(asked: Question) -> Bound:
    if asked.through_compose:
        return _composed(asked, {"epsilon": asked.epsilon})
    return contour_delta(read_parts(_counts(asked)), asked.epsilon, Effort(asked.rtol, asked.work))[0]


def _composed(asked: Question, given: dict[str, float | Fraction]) -> Bound:
    """As a user would ask."""
    try:
        return compose(_counts(asked), method="certified", rtol=max(asked.rtol, 1e-7), **given)  # type: ignore[arg-type]
    except PrecisionNotReached as refusal:
        return cast(Bound, refusal.bound)


def _counts(asked: Question) -> dict[tuple[float | Fraction, float | Fraction], int]:
    counts: dict[tuple[float | Fraction, float | Fraction], int] = {}
    for eps, delta, count in asked.mechanisms:
        counts[eps, delta] = counts.get((eps, delta), 0) + count
    return counts
