"""How a privacy loss is spread: a histogram whose every bar is exact, and the atoms that stick out of it.

Only the distribution function is asked.  An atom is found by halving: its bin keeps its weight however small it gets.
"""

from __future__ import annotations

import math
import time
from collections.abc import Callable
from dataclasses import dataclass
from itertools import pairwise

import optcomp as oc

MOST_BINS, FEWEST_BINS = 80, 16
"""More bins would not be told apart in a panel, fewer would hide the shape."""
_SECONDS = 4.0
"""About how long a histogram may take."""
_CALLS = 12
"""Of the distribution function for each bin, on average."""
_REACH = 60.0
"""Standard deviations within which everything is that can be seen."""
_UNSEEN = 5e-4
"""Probability beyond each end of the histogram: less than a pixel."""
_HALVINGS, _EARLY = 24, 6
"""A bin halved 24 times is a point on paper; after 6 a density already shows itself."""
_MANY = 5
"""More atoms than this are told from bars only if they are nearly everything."""

Cdf = Callable[[float], float]


@dataclass(frozen=True)
class LossHistogram:
    """Bars between neighbouring edges, each with its probability, and atoms as (place, probability)."""

    edges: tuple[float, ...]
    masses: tuple[float, ...]
    atoms: tuple[tuple[float, float], ...]

    @property
    def densities(self) -> list[float]:
        """The heights of the bars."""
        widths = (high - low for low, high in pairwise(self.edges))
        return [mass / width for mass, width in zip(self.masses, widths, strict=True)]


def loss_histogram(loss: oc.PrivacyLoss) -> LossHistogram:
    """The histogram of one direction; fewer bins where the distribution function takes long."""
    started = time.monotonic()
    low, high = _range(loss)
    seconds = (time.monotonic() - started) / (2 * _HALVINGS)
    bins = max(FEWEST_BINS, min(MOST_BINS, int(_SECONDS / (_CALLS * max(seconds, 1e-9)))))
    return histogram(loss.cdf, low, high, bins)


def histogram(cdf: Cdf, low: float, high: float, bins: int) -> LossHistogram:
    """Equal bins from low to high; where one atom is most of a bin it is taken out."""
    edges = tuple(low + (high - low) * place / bins for place in range(bins + 1))
    heights = [cdf(edge) for edge in edges]
    masses = [max(right - left, 0.0) for left, right in pairwise(heights)]
    found = {place: _atom(cdf, edges[place], edges[place + 1], mass) for place, mass in enumerate(masses)}
    atoms = {place: atom for place, atom in found.items() if atom is not None}
    if len(atoms) > _MANY and sum(weight for _, weight in atoms.values()) < 0.99 * sum(masses):
        atoms = {}  # several in many bins: bars show them better
    left = [mass - (atoms[place][1] if place in atoms else 0.0) for place, mass in enumerate(masses)]
    return LossHistogram(edges, tuple(mass if mass > 1e-12 else 0.0 for mass in left), tuple(atoms.values()))


def _atom(cdf: Cdf, low: float, high: float, mass: float) -> tuple[float, float] | None:
    """The place and weight of an atom that makes up more than half of a bin."""
    weight = mass
    for halving in range(_HALVINGS):
        if weight <= 0.5 * mass or mass < 1e-9:
            return None
        middle = 0.5 * (low + high)
        left = cdf(middle) - cdf(low)
        low, high, weight = (low, middle, left) if 2 * left > weight else (middle, high, weight - left)
        if halving == _EARLY and weight < 0.75 * mass and _continuous(cdf, low, high, weight):
            return None
    return 0.5 * (low + high), weight


def _continuous(cdf: Cdf, low: float, high: float, weight: float) -> bool:
    """Whether the middle halves the weight, as it does where there is a density."""
    return abs(cdf(0.5 * (low + high)) - cdf(low) - 0.5 * weight) < 0.25 * weight


def _range(loss: oc.PrivacyLoss) -> tuple[float, float]:
    """Where all but a little of the finite loss lies: at an end that is an atom, with the atom."""
    middle, wide = loss.mean, _REACH * math.sqrt(loss.variance)
    if not wide:
        return middle - 1, middle + 1
    whole = 1 - loss.infinite
    low, _ = _where(lambda x: loss.cdf(x) > _UNSEEN, middle - wide, middle)
    _, high = _where(lambda x: loss.cdf(x) >= whole - _UNSEEN, middle, middle + wide)
    return low, high


def _where(holds: Callable[[float], bool], low: float, high: float) -> tuple[float, float]:
    """Two places close to each other: from the second on it holds, at the first it does not."""
    for _ in range(_HALVINGS):
        middle = 0.5 * (low + high)
        low, high = (low, middle) if holds(middle) else (middle, high)
    return low, high
