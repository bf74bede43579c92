"""What an answer has to be: true, narrow, quick and provable.  Whatever is not is a finding.

An answer may be wider or slower than its class allows if its notes say so; it may never be false.
"""

from __future__ import annotations

import math
import signal
import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from fractions import Fraction
from typing import TypeVar

from optcomp import Bound, OptcompError
from optcomp.checker import Verdict, check
from optcomp.instances.parts import Parts
from tests.oracles.checks import encloses
from tests.oracles.truth import Truth

T = TypeVar("T")
FINDINGS = ("violation", "crashed", "useless", "slow")
"""A false answer; a raw error; an answer too wide to be of use, without a note; one that takes too long."""
PATIENCE = 2.0
"""An answer is given up after this many times the seconds it may take."""
ABOUT_WIDTH = ("wide", "width", "lower side", "rounded to multiples")
"""A note that says why a bracket is wide holds one of these."""
LEAST = {"epsilon": 1e-11, "delta": 1e-300}
"""A bracket this narrow is a point, as the guide says."""


@dataclass(frozen=True)
class Limits:
    """What the answers of a class may not exceed without a note: a relative width, and processor time."""

    width: float = 1e-9
    seconds: float = 1.0
    check_seconds: float = 5.0
    """For a check of a certificate; 0 if certificates are not checked, because the list is too long for that."""
    hair: float = 1e-9
    """A bracket for ε this narrow, relative to the sum of all ε_i, is a point: relative widths say little near zero."""


class Stuck(BaseException):
    """No answer in time; nothing on its way catches it."""


@contextmanager
def _patience(seconds: float) -> Iterator[None]:
    """Give up after that much processor time, so that a busy machine changes nothing."""

    def give_up(number: int, frame: object) -> None:
        raise Stuck

    before = signal.signal(signal.SIGPROF, give_up)
    signal.setitimer(signal.ITIMER_PROF, seconds)
    try:
        yield
    finally:
        signal.setitimer(signal.ITIMER_PROF, 0)
        signal.signal(signal.SIGPROF, before)


@dataclass
class Outcome:
    """What came of one instance."""

    kind: str
    seed: int
    limits: Limits = field(default_factory=Limits)
    answers: int = 0
    refused: int = 0
    noted: int = 0
    widths: list[float] = field(default_factory=list)
    """Of the answers whose notes do not excuse a width."""
    seconds: float = 0.0
    """The slowest answer or check."""
    spent: float = 0.0
    """Processor time of it all, the oracle included."""
    findings: list[tuple[str, str]] = field(default_factory=list)

    def found(self, word: str, text: str) -> None:
        """Remember a finding."""
        assert word in FINDINGS
        self.findings.append((word, text))

    def number(self, word: str) -> int:
        """How many findings of one sort."""
        return sum(known == word for known, _ in self.findings)

    def answer(
        self, what: str, ask: Callable[[], T], *, seconds: float = 0.0, refusable: tuple[type[OptcompError], ...] = ()
    ) -> T | None:
        """The answer, or a finding on why there is none; errors that are `refusable` are none."""
        most = seconds or self.limits.seconds
        start = time.process_time()
        try:
            with _patience(PATIENCE * most):
                given = ask()
        except Stuck:
            self.found("slow", f"{what}: given up")
            return None
        except OptcompError as refusal:  # every question of a campaign has an answer
            self.refused += 1
            if not isinstance(refusal, refusable):
                self.found("useless", f"{what}: {type(refusal).__name__} {refusal}")
            return None
        except Exception as error:  # whatever it is, it is a finding, and the campaign goes on
            contradiction = type(error) is ArithmeticError and "contradictory" in str(error)
            self.found("violation" if contradiction else "crashed", f"{what}: {type(error).__name__} {error}")
            return None
        finally:
            took = time.process_time() - start
            self.seconds = max(self.seconds, took)
        self.answers += 1
        if took > most and not (isinstance(given, Bound) and excused(given)):
            self.found("slow", f"{what}: {took:.1f} s")
        return given

    def narrow(self, what: str, bound: Bound, width: float | None = None) -> None:
        """The bracket is no wider than it may be, or says so."""
        most = self.limits.width if width is None else width
        found = relative_width(bound, self.limits.hair)
        if excused(bound):
            self.noted += found > most
            return
        self.widths.append(found)
        if found > most:
            self.found("useless", f"{what}: width {found:.2g}, {bound}")

    def true(self, what: str, bound: Bound, truth: Truth) -> None:
        """The truth is between the ends."""
        if not encloses(truth, bound):
            self.found("violation", f"{what}: {bound}")

    def proved(self, what: str, bound: Bound) -> None:
        """The checker proves the answer's own certificate."""
        if not self.limits.check_seconds:
            return
        verdict = self.checked(f"check of {what}", bound)
        if verdict is None or verdict.proved:
            return
        word = "slow" if verdict.status == "undecided" else "violation"
        self.found(word, f"{what}: own certificate {verdict.status} ({verdict.reason}), {bound}")

    def checked(self, what: str, bound: Bound) -> Verdict | None:
        """What the checker says, if it does in time."""
        groups = bound.parts.groups if isinstance(bound.parts, Parts) else None
        effort = self.limits.check_seconds
        return self.answer(what, lambda: check(bound.certificate(), groups, effort=effort), seconds=effort)


def excused(bound: Bound) -> bool:
    """Whether a note says why the bracket is wide."""
    return any(word in note for note in bound.notes for word in ABOUT_WIDTH)


def relative_width(bound: Bound, hair: float) -> float:
    """upper - lower over upper; 0 for a point, and for what no reader could tell from one."""
    if math.isinf(bound.upper):
        return bound.width
    groups = bound.parts.groups if isinstance(bound.parts, Parts) else ()
    point = max(LEAST[bound.quantity], hair * _sum(groups) if bound.quantity == "epsilon" else 0.0)
    return 0.0 if bound.upper - bound.lower <= point else bound.width


def _sum(groups: Sequence[tuple[Fraction | float, Fraction | float, int]]) -> float:
    return math.fsum(float(eps) * copies for eps, _, copies in groups)
