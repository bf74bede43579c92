r"""Laws made of a few smooth pieces and atoms, by Gauss quadrature on panels; proved in `docs/losses.md`.

A piece is a density over t with A(t) = 1 - q + q e^{μt-ν} and, for some of them, its mirror image A(-t):

    E[e^{sL}; piece] = ∫ B(t) A(t)^{a + a's} A(-t)^{-b's} dt · constants,   B normal or exponential

On a panel of half width w the integrand is analytic in the ellipse that reaches 1.125w beyond its ends and 1.875w
above it (ρ = 4).  There |A(t+iv)| lies between A(t) cos(μv/2) and A(t), and its argument is at most μv min(1, r) with
r the ratio of the two terms of A, if μv <= π/2.  Panels are as narrow as the tilt and θ need.
"""

from __future__ import annotations

import math
from abc import abstractmethod
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from flint import arb

from optcomp.numerics.balls import SUM_BITS, precision
from optcomp.numerics.blocked import LIBM, Floats, U, fold_error, folded_sum
from optcomp.numerics.laws.cloud import LOG_CUT, MOST_POINTS, Cloud, CloudLaw
from optcomp.numerics.laws.laplace import legendre, legendre_balls
from optcomp.numerics.laws.pieces import Piece, Tilted

DEGREE = 32
"""Points of a panel."""
_LOG_RHO = math.log(4.0)
"""Of the ellipses: larger ones would leave the strip in which A has no zero, smaller ones need more points."""
_GAIN = 2 * (DEGREE - 1) * _LOG_RHO - math.log(64 / 15) - math.log(16 / 15)
"""The error of a panel is e^-_GAIN of the largest value in its ellipse, times half its width."""
_SPARE = 8.0
"""Of that, for the sum over panels and for values in the ellipse above those on the line."""
_MOST_MISSED = 0.01
"""More than that, relative to the whole, and nothing is known."""
_NOTHING_KNOWN, _BEYOND_ALL = 1e10, 1e300
"""What a rule misses that says nothing, and more than the log of any exponential moment."""
_MOST_SIZE = 4.0 * MOST_POINTS
"""More points are not even listed; fewer may hold next to nothing and be dropped."""
_GUESSES = 480
"""Points of a piece in guesses."""
_MOST_KEPT = 64
"""Sets of panels that are remembered for a law."""

Atoms = Sequence[tuple[arb, arb]]


@dataclass(frozen=True, eq=False)
class Panels:
    """The panels of one piece that get points: their middles and half widths."""

    middle: Floats
    half: Floats

    def nodes(self) -> tuple[Floats, Floats]:
        """All points with the logs of their weights."""
        node, omega = legendre(DEGREE)
        places = self.middle[:, np.newaxis] + self.half[:, np.newaxis] * node
        logs = np.log(self.half)[:, np.newaxis] + np.log(omega)
        return places.ravel(), np.broadcast_to(logs, places.shape).ravel()


@dataclass(frozen=True, eq=False)
class Rule:
    """Panels for every piece, and a bound on what they miss, relative to the whole."""

    panels: tuple[Panels, ...]
    missed: float
    size: float
    """How many points there are, or would be if there were not too many."""


class PanelLaw(CloudLaw):
    """A law of pieces and atoms."""

    def __init__(self) -> None:
        super().__init__()
        self._rules: dict[tuple[float, float, float], Rule] = {}
        self._fades: dict[float, tuple[float, float]] = {}
        self.pieces: tuple[Piece, ...] = ()

    @abstractmethod
    def atoms(self) -> Atoms:
        """Places and probabilities at the working precision."""

    def _atom_logs(self, c: float) -> tuple[Floats, Floats, Floats]:
        """Places, logs of tilted weights, and bounds on the errors of the places."""
        with precision(SUM_BITS):
            known = self.atoms()
            places = np.array([float(value.mid()) for value, _ in known])
            logs = np.array([float((p.log() + arb(c) * value).mid()) for value, p in known])
        return places, logs, 4 * U * np.abs(places)

    def rule(self, c: float, theta: float, log_cut: float = LOG_CUT) -> Rule:
        """The panels for all places up to θ; some are remembered."""
        key = c, theta, log_cut
        if key not in self._rules:
            if len(self._rules) >= _MOST_KEPT:
                self._rules.clear()
                self._fades.clear()
            self._rules[key] = self._made(c, theta, log_cut)
        return self._rules[key]

    def _made(self, c: float, theta: float, log_cut: float) -> Rule:
        """Panels that are narrow enough; those that hold next to nothing are dropped, and counted."""
        budget = _GAIN - log_cut - _SPARE
        tilted = [piece.tilted(c) for piece in self.pieces]
        logs = self._atom_logs(c)[1]
        counts = [self._parts(one, *one.base_panels(), theta, budget) for one in tilted]
        if (needed := DEGREE * float(sum(parts.sum() for parts in counts))) > _MOST_SIZE:
            return Rule((), _NOTHING_KNOWN, needed)
        bases = [_split(*one.base_panels(), parts) for one, parts in zip(tilted, counts, strict=True)]
        sizes = [one.log_most(middle, half, 0.0, 0.0) for one, (middle, half) in zip(tilted, bases, strict=True)]
        top = max([float(size.max()) for size in sizes] + ([float(logs.max())] if logs.size else []))
        missed, whole, kept = 0.0, float(np.exp(logs - top).sum()), []
        for one, (middle, half), size in zip(tilted, bases, sizes, strict=True):
            keep = size + np.log(2 * half) > top - log_cut - 14
            missed += float((2 * half * np.exp(size - top))[~keep].sum()) + one.beyond(top)
            middle, half = middle[keep], half[keep]
            reach = one.log_most(middle, half, 1.125, theta) - top - _GAIN
            missed += float((half * np.exp(np.minimum(reach, 300.0))).sum())
            panels = Panels(middle, half)
            places, weights = panels.nodes()
            whole += float(np.exp(one.logs(places)[0] + weights - top).sum())
            kept.append(panels)
        share = 1.05 * missed / whole + 1e-290 if whole > 0 else math.inf
        points = float(DEGREE * sum(panels.middle.size for panels in kept))
        return Rule(tuple(kept), share if share < _MOST_MISSED else _NOTHING_KNOWN, points)

    @staticmethod
    def _parts(one: Tilted, middle: Floats, half: Floats, theta: float, budget: float) -> Floats:
        """How many parts of a panel: so many that the integrand grows by less than the budget in their ellipses."""
        grows = one.log_most(middle, half, 1.125, theta) - one.logs(middle)[0]
        return np.asarray(2.0 ** np.ceil(np.log2(np.maximum(grows / budget, 1.0))))

    def cloud(self, c: float, theta: float) -> Cloud:
        rule = self.rule(c, theta)
        places, logs, blur = self._atom_logs(c)
        columns = [(places, logs, blur, np.full_like(places, 16 * U))]
        for piece, panels in zip(self.pieces, rule.panels, strict=True):
            one = piece.tilted(c)
            t, weights = panels.nodes()
            values, value_error = one.logs(t)
            place, place_error = piece.places(t)
            columns.append((place, values + weights, place_error, value_error + 32 * U))
        place, log, blurs, rough = (np.concatenate(column) for column in zip(*columns, strict=True))
        weight = np.exp(log - log.max())
        return Cloud(place, weight, rough + 8 * U * np.abs(log - log.max()), blurs, lambda at: 0 * at + rule.missed)

    def points(self, c: float, theta: float) -> float:
        return self.rule(c, theta).size

    def log_mean(self, c: float) -> arb:
        """By the same rule in balls."""
        rule = self.rule(c, 0.0, LOG_CUT + 20)
        if rule.missed >= _MOST_MISSED:
            return arb(0, _BEYOND_ALL)
        nodes = legendre_balls(DEGREE)
        total = sum((p * (arb(c) * value).exp() for value, p in self.atoms()), arb(0))
        for piece, panels in zip(self.pieces, rule.panels, strict=True):
            exact = piece.exact(c)
            for middle, half in zip(panels.middle.tolist(), panels.half.tolist(), strict=True):
                centre, width = arb(middle), arb(half)
                part = sum((omega * exact(centre + width * node) for node, omega in nodes), arb(0))
                total += width * part
        return (total * (1 + arb(0, rule.missed))).log()

    def quick_log_mean(self, c: float) -> arb:
        """By the same rule in floats: logs and weights are known to an error each; the mean of errors counts."""
        rule = self.rule(c, 0.0)
        if rule.missed >= _MOST_MISSED or self.atoms():
            return PanelLaw.log_mean(self, c)
        logs, roughs = [], []
        for piece, panels in zip(self.pieces, rule.panels, strict=True):
            t, weights = panels.nodes()
            values, error = piece.tilted(c).logs(t)
            logs.append(values + weights)
            roughs.append(error + U * (32 + 2 * np.abs(weights) + 2 * np.abs(values)))
        log, rough = np.concatenate(logs), np.concatenate(roughs)
        top = float(log.max())
        mass = np.exp(log - top)  # the difference is rounded by u of itself, the exponential by a few u
        whole = folded_sum(mass)
        off = float((mass * (rough + U * (2 * np.abs(log - top) + LIBM + 2))).sum()) / whole
        loose = 1.02 * (off + fold_error(log.size) + rule.missed) + 8 * U
        return arb(top) + arb(whole).log() + arb(0, loose)

    def log_mean_guess(self, c: Floats) -> Floats:
        return self.cumulants(c)[0]

    def cumulants(self, c: Floats) -> tuple[Floats, Floats, Floats]:
        """From evenly spaced points over what matters of each piece, for each tilt."""
        place, log_p = self._guessed(c)
        with np.errstate(all="ignore"):
            grown = c[:, np.newaxis] * place
            large = np.logaddexp.reduce(log_p + grown, axis=-1)
            share = np.exp(log_p + grown - large[:, np.newaxis])
            whole = np.exp(np.logaddexp.reduce(log_p, axis=-1))
            small = np.log1p((np.exp(log_p) * np.expm1(np.clip(grown, -700, 700))).sum(axis=-1) / whole)
            mean = (share * place).sum(axis=-1)
            square = (share * (place - mean[:, np.newaxis]) ** 2).sum(axis=-1)
        return np.where(np.abs(large) < 0.1, small, large), mean, square

    def _guessed(self, c: Floats) -> tuple[Floats, Floats]:
        """Places and logs of probabilities of the points of a guess, a row for each tilt."""
        atoms, logs, _ = self._atom_logs(0.0)
        places, weights = [np.tile(atoms, (c.size, 1))], [np.tile(logs, (c.size, 1))]
        unit = (np.arange(_GUESSES) + 0.5) / _GUESSES
        for piece in self.pieces:
            ends = np.array([piece.tilted(tilt).matters() for tilt in c.tolist()])
            width = (ends[:, 1] - ends[:, 0])[:, np.newaxis]
            t = ends[:, :1] + width * unit
            places.append(piece.places(t)[0])
            weights.append(piece.tilted(0.0).logs(t)[0] + np.log(width / _GUESSES))
        return np.concatenate(places, axis=1), np.concatenate(weights, axis=1)

    def fade(self, c: float, theta: float) -> float:
        """What does not fade, and by parts the variation of G/L' over θ."""
        if c not in self._fades:
            self._fades[c] = self._fading(c)
        stays, falls = self._fades[c]
        return min(1.0, stays + falls / theta)

    def _fading(self, c: float) -> tuple[float, float]:
        rule = self.rule(c, 0.0)
        if not rule.missed < _MOST_MISSED:
            return 1.0, 0.0
        logs = self._atom_logs(c)[1]
        tilted = [piece.tilted(c) for piece in self.pieces]
        top = max([one.peak() for one in tilted] + ([float(logs.max())] if logs.size else []))
        whole = stays = float(np.exp(logs - top).sum())
        falls = 0.0
        for one, panels in zip(tilted, rule.panels, strict=True):
            places, weights = panels.nodes()
            whole += float(np.exp(one.logs(places)[0] + weights - top).sum())
            stays += one.beyond(top)
            falls += one.variation(top)
        least = 0.98 * whole
        return 1.01 * stays / least, (1.01 * falls / least if math.isfinite(falls) else math.inf)

    def slope(self, c: float) -> float:
        """As for any cloud; infinite where no rule is good enough."""
        return super().slope(c) if self.rule(c, 2.0**self.first_octave).missed < _MOST_MISSED else math.inf

    def excess(self, y: float | arb) -> arb:
        own, other = self.sides(y)
        return own - arb(y).exp() * other

    def tail(self, y: float | arb) -> arb:
        return self.sides(y)[0]

    @abstractmethod
    def sides(self, y: float | arb) -> tuple[arb, arb]:
        """P(L > y) under the law itself and under the other one."""

    def mean(self) -> arb:
        return self._moment(1)

    def variance(self) -> arb:
        return self._moment(2) - self._moment(1) ** 2

    def _moment(self, order: int) -> arb:
        """E L^order: rigorous quadrature, and what lies beyond the ends of a piece."""
        atoms = sum((p * value**order for value, p in self.atoms()), arb(0))
        return sum((piece.moment(order) for piece in self.pieces), atoms)


def _split(middle: Floats, half: Floats, parts: Floats) -> tuple[Floats, Floats]:
    """Panels cut into so many equal parts each, powers of two: all edges stay exact."""
    counts = parts.astype(np.int64)
    number = np.arange(int(counts.sum())) - np.repeat(np.cumsum(counts) - counts, counts)
    width = np.repeat(half / parts, counts)
    return np.repeat(middle - half, counts) + (2 * number + 1) * width, width
