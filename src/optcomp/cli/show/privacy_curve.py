"""The privacy curve of a composition: certified ε at a few δ, δ at a few ε, and more points for a plot."""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

import optcomp as oc
from optcomp.cli.progress import Tell
from optcomp.reading import MechanismCounts

DELTAS = ("1e-3", "1e-6", "1e-9", "1e-12")
"""Given δ of the printed points: from one in a thousand to as good as never."""
EPSILONS = ("0.1", "0.3", "1", "3", "10")
"""Given ε of the printed points, in steps of about three."""
LEAST_DELTA = 1e-13
"""δ below this is not drawn."""


@dataclass(frozen=True)
class PrivacyCurve:
    """Certified points of δ(ε)."""

    epsilon_at: Sequence[oc.Bound]
    delta_at: Sequence[oc.Bound]

    @property
    def end(self) -> float:
        """The largest finite ε that is shown, or 1."""
        finite = [bound.upper for bound in self.epsilon_at if math.isfinite(bound.upper)]
        return max(finite, default=0.0) or 1.0

    @property
    def points(self) -> Iterator[tuple[str, oc.Bound]]:
        """What was given, and the answer."""
        yield from ((f"δ = {given}", bound) for given, bound in zip(DELTAS, self.epsilon_at, strict=True))
        yield from ((f"ε = {given}", bound) for given, bound in zip(EPSILONS, self.delta_at, strict=True))

    @property
    def notes(self) -> dict[str, list[str]]:
        """What the library says about the points, each note with what was given there; not the orders it chose."""
        notes: dict[str, list[str]] = {}
        for given, bound in self.points:
            for note in bound.notes:
                if not note.startswith("Rényi order"):
                    notes.setdefault(note, []).append(given)
        return notes


def table(counts: MechanismCounts, tell: Tell) -> PrivacyCurve:
    """The points that are printed."""
    steps = len(DELTAS) + len(EPSILONS)
    epsilon_at, delta_at = [], []
    for place, delta in enumerate(DELTAS):
        tell("the curve", place / steps)
        epsilon_at.append(oc.compose(counts, delta=delta))
    for place, epsilon in enumerate(EPSILONS, start=len(DELTAS)):
        tell("the curve", place / steps)
        delta_at.append(oc.compose(counts, epsilon=epsilon))
    return PrivacyCurve(epsilon_at, delta_at)


def points(counts: MechanismCounts, end: float, number: int, tell: Tell) -> list[oc.Bound]:
    """δ at equally spaced ε from 0 to the end."""
    bounds = []
    for place in range(number):
        tell("the curve of all", place / number)
        bounds.append(oc.compose(counts, epsilon=end * place / (number - 1)))
    return bounds


def height(delta: float) -> float:
    """A gap where a logarithmic axis has no place."""
    return delta if delta >= LEAST_DELTA else math.nan
