r"""Events that tell two inputs apart, chosen from samples.

Candidates are chains of growing sets: features in the order of their estimated likelihood ratio (Neyman and Pearson:
no event of the same size separates better), and, where features are numbers, everything above or below a value.  The
order comes from one sample and the place to cut it from another; cut on the sample that ordered it, a set of features
that are rare by chance on one side would look like a proof.

Nothing here needs to be rigorous: whatever event is chosen, its count on fresh runs decides.
"""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Hashable, Iterator, Sequence
from dataclasses import dataclass
from numbers import Real
from statistics import NormalDist
from typing import Any

import numpy as np
from numpy.typing import NDArray

from optcomp.interactive.audit.auditable import Side

Tally = Counter[Hashable]
"""How often each feature was seen."""

_SIMPLER, _SMALLER = 0.01, 0.002
"""How much better, relatively, a less simple kind of set, or a larger one, has to be: rare features come by chance."""

_SHOWN = 6
"""Outputs that are told one by one: a line of them."""
_LEAST_ERROR = 1e-300  # below it floats have no quantiles
_ORDINAL = ("first", "second")
"""The two inputs, for people."""


@dataclass(frozen=True)
class OneOf:
    """The feature is one of these."""

    members: frozenset[Hashable]

    def __contains__(self, feature: object) -> bool:
        return feature in self.members

    def __str__(self) -> str:
        shown = sorted(map(str, self.members))
        more = f" and {len(shown) - _SHOWN} more" if len(shown) > _SHOWN else ""
        return f"output in {{{', '.join(shown[:_SHOWN])}{more}}}"


@dataclass(frozen=True)
class AtLeast:
    """The feature is a number and at least this."""

    least: Any

    def __contains__(self, feature: object) -> bool:
        return isinstance(feature, Real) and bool(feature >= self.least)

    def __str__(self) -> str:
        return f"output ≥ {self.least}"


@dataclass(frozen=True)
class AtMost:
    """The feature is a number and at most this."""

    most: Any

    def __contains__(self, feature: object) -> bool:
        return isinstance(feature, Real) and bool(feature <= self.most)

    def __str__(self) -> str:
        return f"output ≤ {self.most}"


@dataclass(frozen=True)
class Raised:
    """There is no output: the run failed, with an error of this kind.  A feature, and the event of that feature."""

    kind: str
    where: str = ""
    """On which inputs, if not on those of the mechanism itself."""

    def __contains__(self, feature: object) -> bool:
        return feature == self

    def __str__(self) -> str:
        at = f" at {self.where}" if self.where else ""
        return f"no output but {self.kind}{at}"


@dataclass(frozen=True)
class Event:
    """A set of outputs, and the input on which it is expected more often."""

    outputs: OneOf | AtLeast | AtMost | Raised
    likelier: Side

    def __contains__(self, feature: object) -> bool:
        return feature in self.outputs

    def __str__(self) -> str:
        how = "always and only" if isinstance(self.outputs, Raised) else "likelier"
        return f"{self.outputs}, {how} on the {_ORDINAL[self.likelier]} input"

    def count(self, tally: Tally) -> int:
        """How often the event was seen."""
        return sum(seen for feature, seen in tally.items() if feature in self)


@dataclass(frozen=True)
class Aim:
    """What the event is to be good at: a bound on ε at δ, each probability to be bounded but for `error`."""

    delta: float
    error: float

    def scores(self, likely: NDArray[np.int64], rare: NDArray[np.int64], trials: int) -> NDArray[np.float64]:
        """About the bounds on ε that counts would give: Wilson's interval, which is quick, instead of the exact one."""
        z = -NormalDist().inv_cdf(max(self.error, _LEAST_ERROR))
        least = _wilson(likely, trials, -z) - self.delta
        most = _wilson(rare, trials, z)
        scores: NDArray[np.float64] = np.log(np.maximum(least, 1e-300) / most)
        return scores


def _wilson(hits: NDArray[np.int64], trials: int, z: float) -> NDArray[np.float64]:
    share = hits / trials
    spread = np.sqrt(share * (1 - share) / trials + (z / (2 * trials)) ** 2)
    bounds: NDArray[np.float64] = (share + z * z / (2 * trials) + z * spread) / (1 + z * z / trials)
    return bounds


def choose(ordering: Sequence[Tally], cutting: Sequence[Tally], aim: Aim) -> Event:
    """The most telling event, in either direction; each sample has a tally for each input, of equally many runs."""
    trials = max(1, cutting[0].total())
    best, event = -math.inf, None
    for side, chain in _chains(ordering, cutting):
        likely, rare = (np.cumsum([cutting[i][feature] for feature in chain.order]) for i in (side, 1 - side))
        scores = aim.scores(likely, rare, trials)
        top = float(scores.max())
        if event is None or top > best + _SIMPLER * abs(best):
            cut = int(np.argmax(scores >= top - _SMALLER * abs(top)))
            best, event = float(scores[cut]), Event(chain.upto(cut), side)
    if event is None:
        raise ValueError("no run, no event")
    return event


@dataclass(frozen=True)
class _Chain:
    """Features in an order; the candidates are the sets of the first few."""

    order: Sequence[Any]
    kind: type[OneOf | AtLeast | AtMost]

    def upto(self, cut: int) -> OneOf | AtLeast | AtMost:
        if self.kind is OneOf:
            return OneOf(frozenset(self.order[: cut + 1]))
        return self.kind(self.order[cut])


def _chains(ordering: Sequence[Tally], cutting: Sequence[Tally]) -> Iterator[tuple[Side, _Chain]]:
    """Every chain with the side on which its sets are hoped to be likelier; the simplest events first."""
    numbers = _sorted_numbers({feature for tally in (*ordering, *cutting) for feature in tally})
    sides: tuple[Side, Side] = (0, 1)
    for side in sides:
        if numbers:
            yield side, _Chain(numbers, AtMost)
            yield side, _Chain(numbers[::-1], AtLeast)
        order = _by_ratio(ordering[side], ordering[1 - side])
        if order:
            yield side, _Chain(order, OneOf)


def _sorted_numbers(features: set[Any]) -> list[Any]:
    """The features by size, if all are numbers; else none."""
    numbers = [feature for feature in features if isinstance(feature, Real) and not math.isnan(feature)]
    return sorted(numbers) if len(numbers) == len(features) else []


def _by_ratio(likely: Tally, rare: Tally) -> list[Hashable]:
    """Features by estimated likelihood ratio, largest first; one half more on each count keeps rare ones modest."""

    def rank(feature: Hashable) -> tuple[float, int]:
        return (likely[feature] + 0.5) / (rare[feature] + 0.5), likely[feature]

    return sorted(likely | rare, key=rank, reverse=True)
