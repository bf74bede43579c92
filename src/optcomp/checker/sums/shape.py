r"""How fine a grid of cells should be, where it begins, and how long its numbers are: guesses, and any is sound.

About c(1+c)/2 of F's relative error comes with each unit of variance that cells add.  A round adds about uh if it lies
u above a node, u small, and h²/6 on average if it may lie anywhere in a cell.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from fractions import Fraction
from typing import NamedTuple

import numpy as np

from optcomp.checker.balls import GUESS_BITS, near, working
from optcomp.checker.effort import look, looked
from optcomp.checker.guess import Floats, short
from optcomp.checker.laws import Cloud, Law, Spotted, TooMuch
from optcomp.checker.laws.parts import normal, parts_of
from optcomp.checker.sums.plan import Sketch
from optcomp.checker.sums.total import Total

_MOST_ROUNDS = 64  # more are a matter for the integral
_FEWEST = 64  # cells of the coarsest grid
_FAINT = 0.02  # of what a claim has to resolve: what may be lost in all
_UNSURE = 11.0  # F may be smaller than its sketch by e to this
_SPARE = 8  # bits for what all rounds and products together lose
_NODE, _SMOOTH_NODE = 4e-6, 1.2e-5  # seconds for a node of a law of atoms, and of one with pieces
_PRODUCT = 1.5e-8  # seconds for a coefficient and a bit of a product
_POINTS: Floats = np.linspace(-12, 12, 481)  # standard deviations at which Gaussian noise is sketched


@dataclass(frozen=True)
class Shape:
    """The step, the bits of the polynomials, for every law about the least loss that counts, and about the seconds."""

    step: Fraction
    bits: int
    lows: tuple[float, ...]
    seconds: float = 0.0


@dataclass(frozen=True)
class _Round:
    """A law in floats: where its mass is at a tilt, a node it has, and its least loss that counts."""

    places: Floats
    weights: Floats
    anchor: float
    low: float
    copies: int
    spotted: bool

    def variance(self, step: float) -> float:
        """What cells add on average."""
        away = np.abs(self.places - self.anchor)
        return float(self.copies * (self.weights @ np.minimum(away * step, step**2 / 6)))

    def offset(self, step: float) -> float:
        """How far above the lower ends of their cells the losses are on average, in cells."""
        away = np.abs(self.places - self.anchor) / step
        return float(self.copies * (self.weights @ np.minimum(away, 0.5)))


def suits(total: Total) -> bool:
    """Whether there are few rounds."""
    return 2 <= sum(copies for _, copies in total.laws) + bool(total.gaussians) <= _MOST_ROUNDS


class Seen(NamedTuple):
    """What a coarser grid has shown: about log F, and about the step that will do."""

    log_excess: float
    step: float


def shape_for(total: Total, sketch: Sketch, y: float, drop: float, seen: Seen | None = None, cells: int = 0) -> Shape:
    """For an F that is known to about this share of itself on either side; or with so many cells."""
    c = sketch.contour(y, right=True)
    log_excess = seen.log_excess if seen else sketch.log_excess(y) - _UNSURE
    log_room = log_excess + math.log(drop * _FAINT)
    rounds = _rounds(total, c, log_room - math.log(_MOST_ROUNDS))
    start = sum(each.low * each.copies for each in rounds)
    if not y > start:
        raise TooMuch
    most = 2 * drop / (c * (1 + c))
    step = seen.step if seen else (y - start) / cells if cells else _coarsest(rounds, y - start, most)
    aligned = _aligned(rounds, y, step)
    size = (y - start) / aligned
    bits = int(-log_room / math.log(2) + math.log2(size) + 1.45 * (y - start) + _SPARE)
    products = sum(each.copies.bit_length() + each.copies.bit_count() - 1 for each in rounds)
    nodes = sum(_NODE if each.spotted else _SMOOTH_NODE for each in rounds)
    seconds = size * (nodes + 3 * products * _PRODUCT * bits)
    return Shape(Fraction(short(aligned)), bits, tuple(each.low for each in rounds), seconds)


def _coarsest(rounds: list[_Round], length: float, most: float) -> float:
    """The largest step with which cells add at most this variance."""
    step = length / _FEWEST
    while sum(each.variance(step) for each in rounds) > most and step > length * 1e-9:
        look()
        step *= 0.9
    return step


def _aligned(rounds: list[_Round], y: float, step: float) -> float:
    """A step not above this for which the event with the right sums ends about at y."""
    start = sum((each.anchor + math.floor((each.low - each.anchor) / step) * step) * each.copies for each in rounds)
    shift = sum(each.offset(step) for each in rounds) - 0.5
    number = math.ceil((y - start) / step - shift)
    return (y - start) / (number + shift)


def _rounds(total: Total, c: float, log_faint: float) -> list[_Round]:
    laws: list[tuple[Law | None, int]] = list(total.laws)
    if total.gaussians:
        laws.append((None, 1))
    found = []
    with working(GUESS_BITS):
        for law, copies in looked(laws):
            parts = normal(total.variance()) if law is None else parts_of(law)
            if parts is None:
                raise TooMuch
            cloud = _normal_cloud(near(total.variance())) if law is None else law.cloud()
            anchor = near(parts.anchor)
            low = _low(cloud, log_faint)
            for piece in parts.pieces:
                if len(parts.pieces) == 1 and piece.low.is_finite():
                    low = max(low, near(piece.low))
            tilted = cloud.logs + c * cloud.places
            weights = np.exp(tilted - tilted.max())
            found.append(_Round(cloud.places, weights / weights.sum(), anchor, low, copies, isinstance(law, Spotted)))
    return found


def _low(cloud: Cloud, log_faint: float) -> float:
    """The place below which there is next to no mass."""
    order = np.argsort(cloud.places)
    below = np.logaddexp.accumulate(cloud.logs[order])
    number = int(np.searchsorted(below, log_faint))
    return float(cloud.places[order][max(number - 1, 0)])


def _normal_cloud(variance: float) -> Cloud:
    """Points of N(v/2, v)."""
    logs = -(_POINTS**2) / 2
    return Cloud(variance / 2 + math.sqrt(variance) * _POINTS, logs - np.logaddexp.reduce(logs))
