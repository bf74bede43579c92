r"""Audits: run, choose an event, run again, count, and bound ε from below.

The confidence statement.  Let ε* be the least ε such that the mechanism is (ε, δ)-indistinguishable on the two
inputs.  Whatever the mechanism, Pr[lower > ε*] <= 1 - confidence, over its runs.

Proof.  The event E and its direction (which input is the likely one) depend on the first half of the runs only; fix
them.  In the second half, of n runs on each input, E is counted; by Clopper and Pearson p >= p_low fails with
probability at most β/2, and so does q <= q_high, β = 1 - confidence.  Otherwise p <= e^{ε*} q + δ gives
ε* >= ln((p_low - δ)/q_high).  One event in one direction is tested, so nothing else needs correction.

Failures are outputs too.  One that comes with certainty on one input and never on the other is no matter of counting:
then lower = ∞ (`failures`).  The statement above believes that what failed every time was not drawn by chance.

The bound says nothing about other inputs: a claim that survives is not thereby proved.
"""

from __future__ import annotations

import math
import time
from collections import Counter
from collections.abc import Callable, Hashable, Iterable, Sequence
from contextlib import nullcontext
from dataclasses import dataclass
from fractions import Fraction

from optcomp.errors import InvalidInput, Written
from optcomp.interactive.audit.auditable import Auditable, Side
from optcomp.interactive.audit.confidence import MOST_TRIALS, probability_down, probability_up
from optcomp.interactive.audit.events import Aim, Event, Tally, choose
from optcomp.interactive.audit.failures import AGAIN, failures, outcome
from optcomp.interactive.audit.known import mechanism
from optcomp.numerics import (
    SUM_BITS,
    Exact,
    Listener,
    Number,
    ball,
    exact,
    float_down,
    listening,
    precision,
    report,
    whole,
)

CONFIDENCE = 0.95
"""What audits promise unless told otherwise."""
LEAST_TRIALS = 100
"""Fewer leave too little to choose an event from."""
_AT_ONCE = 10_000
"""Runs between two reports of progress."""


@dataclass(frozen=True, kw_only=True, repr=False)
class Audit(Written):
    """What was found out about one mechanism."""

    mechanism: str
    claimed_epsilon: Exact
    delta: Exact
    """The δ at which ε is bounded."""
    lower: float
    """At most the true ε on the two inputs, with probability `confidence`; 0 when nothing was learned.

    Infinite if the inputs are told apart by a failure that is certain.
    """
    confidence: Exact
    event: Event
    counts: tuple[int, int]
    """How often the event was seen on the input where it is likelier, and on the other."""
    measured: int
    """Runs on each input that were counted: the half not used to choose the event."""
    trials: int
    """Runs on each input."""
    seconds: float

    @property
    def violated(self) -> bool:
        """Whether the claim is refuted, with this confidence."""
        return self.lower > self.claimed_epsilon

    def as_dict(self) -> dict[str, object]:
        """Everything as JSON holds it; an infinite bound is None, because JSON has no infinity."""
        return {
            "mechanism": self.mechanism,
            "claimed_epsilon": float(self.claimed_epsilon),
            "delta": float(self.delta),
            "lower": self.lower if math.isfinite(self.lower) else None,
            "confidence": float(self.confidence),
            "violated": self.violated,
            "event": str(self.event),
            "counts": list(self.counts),
            "measured": self.measured,
            "trials": self.trials,
            "seconds": self.seconds,
        }


def audit(
    subject: Auditable | str,
    trials: int | None = None,
    *,
    delta: Number | None = None,
    confidence: Number = CONFIDENCE,
    progress: Listener | None = None,
) -> Audit:
    """A lower confidence bound on the ε of a mechanism, by running it `trials` times on each of two inputs.

    The subject is an `Auditable` or the name of a known one.  Without δ the bound is at the δ of its claim; a smaller
    δ is refused, for the claim says nothing about it.
    """
    started = time.monotonic()
    known = mechanism(subject) if isinstance(subject, str) else subject
    runs = whole(known.trials if trials is None else trials, "trials", LEAST_TRIALS, MOST_TRIALS)
    at, sure = _checked_delta(delta, known), _checked_confidence(confidence)
    error = (1 - Fraction(sure)) / 2
    with nullcontext() if progress is None else listening(progress):
        seen = _probed(known) or _observed(known, runs, Aim(float(at), float(error)))
    return Audit(
        mechanism=known.name,
        claimed_epsilon=known.epsilon,
        delta=at,
        lower=math.inf if seen.certain else epsilon_down(seen.counts, seen.measured, at, error),
        confidence=sure,
        event=seen.event,
        counts=seen.counts,
        measured=seen.measured,
        trials=AGAIN if seen.certain else runs,
        seconds=time.monotonic() - started,
    )


def audit_all(
    subjects: Sequence[Auditable | str],
    trials: int | None = None,
    *,
    delta: Number | None = None,
    confidence: Number = CONFIDENCE,
) -> Iterable[Audit]:
    """One audit after another; with probability `confidence` *all* the bounds hold (each errs with an equal share)."""
    knowns = [mechanism(subject) if isinstance(subject, str) else subject for subject in subjects]
    sure = 1 - (1 - Fraction(_checked_confidence(confidence))) / max(1, len(knowns))
    for known in knowns:
        _checked_delta(delta, known)  # before the first run, not after an hour
    return (audit(known, trials, delta=delta, confidence=sure) for known in knowns)


def epsilon_down(counts: tuple[int, int], trials: int, delta: Exact, error: Exact) -> float:
    """At most ln((p - δ)/q) for events seen so often in so many runs, each probability bounded but for `error`."""
    least, most = probability_down(counts[0], trials, error), probability_up(counts[1], trials, error)
    if not least > delta:
        return 0.0
    with precision(SUM_BITS):
        return max(0.0, float_down(((ball(least) - ball(delta)) / ball(most)).log()))


@dataclass(frozen=True)
class _Seen:
    """An event, and how often each input showed it in how many runs."""

    event: Event
    counts: tuple[int, int]
    measured: int
    certain: bool = False


def _certain(event: Event) -> _Seen:
    return _Seen(event, (AGAIN, 0), AGAIN, certain=True)


def _probed(known: Auditable) -> _Seen | None:
    """A failure that tells the inputs of a probe apart; any other failure ends the audit."""
    for probe in known.probes():
        found = failures(probe.run, probe.name)
        if found.certain is not None:
            return _certain(found.certain)
        if found.error is not None:
            raise found.error
    return None


def _observed(known: Auditable, trials: int, aim: Aim) -> _Seen:
    """The event chosen on the first half, how often each input showed it in the second, and how long that was."""
    parts = trials // 4, trials // 2 - trials // 4, trials - trials // 2
    meter = _Meter(known.name, 2 * trials)
    samples = list[tuple[Tally, Tally]]()
    for part in parts:
        sample = _sample(known, part, meter.add)
        if isinstance(sample, Event):
            return _certain(sample)
        samples.append(sample)
    event = choose(samples[0], samples[1], aim)
    likely, rare = samples[2][event.likelier], samples[2][1 - event.likelier]
    return _Seen(event, (event.count(likely), event.count(rare)), parts[2])


def _sample(known: Auditable, trials: int, done: Callable[[int], None]) -> tuple[Tally, Tally] | Event:
    """How often each feature was seen in that many fresh runs on each input; or a failure that is certain."""
    tallies: tuple[Tally, Tally] = (Counter(), Counter())
    sides: tuple[Side, Side] = (0, 1)
    for start in range(0, trials, _AT_ONCE):
        size = min(_AT_ONCE, trials - start)
        for side in sides:
            features = _features(known, side, size)
            if isinstance(features, Event):
                return features
            tallies[side].update(features)
            done(size)
    return tallies


def _features(known: Auditable, side: Side, size: int) -> Iterable[Hashable] | Event:
    """The features of that many runs; if one fails, of one run after another, or a failure that is certain."""
    try:
        return known.features(side, size)
    except Exception as error:
        found = failures(lambda each: known.features(each, 1))
        if found.error is not None and found.alike:
            raise error from None
    return found.certain or [_feature(known, side) for _ in range(size)]


def _feature(known: Auditable, side: Side) -> Hashable:
    """The feature of one run, which may be that it failed."""
    told = list[Hashable]()
    failed, _ = outcome(lambda each: told.extend(known.features(each, 1)), side)
    return told[0] if failed is None else failed


class _Meter:
    """Counts runs and says how far they are."""

    def __init__(self, what: str, total: int) -> None:
        self._what, self._total, self._done = what, total, 0

    def add(self, runs: int) -> None:
        self._done += runs
        report(self._what, self._done / self._total)


def _checked_delta(delta: Number | None, known: Auditable) -> Exact:
    if delta is None:
        return known.delta
    at = exact(delta, "delta")
    if not 0 <= at < 1:
        raise InvalidInput("delta", delta, "must be at least 0 and less than 1")
    if at < known.delta:
        raise InvalidInput("delta", delta, f"must be at least the {float(known.delta)!r} that {known.name} claims")
    return at


def _checked_confidence(confidence: Number) -> Exact:
    sure = exact(confidence, "confidence")
    if not 0 < sure < 1:
        raise InvalidInput("confidence", confidence, "must lie strictly between 0 and 1")
    return sure
