r"""Laplace noise about a random sample: atoms where the noise lies beyond a shift, and `LaplaceRule` between them.

A(l) = 1 - q + q e^l.  A law is a list of parts: atoms, and pieces e^{f(s)} J(γ ± iθ) with real γ and f linear in s.

    removed, added:    M = (e^{-ε}/2) A(ε)^z + A(-ε)^z/2 + J(z),   l from -ε to ε, z = s + 1 or z = -s
    replaced:          M = (e^{-ε}/2) (A(ε)^{s+1} A(-ε)^{-s} + A(-ε)^{s+1} A(ε)^{-s})
                           + A(-ε)^{-s} J(s+1) + A(-ε)^{s+1} J(-s),   l from -ε to ε
    a batch:           M = (e^{-ε}/2) (A(ε)^{s+1} + A(ε)^{-s}) + (1-q)(1 - e^{-ε/2}) + J(s+1) + J(-s),   l from 0 to ε

*Replaced.*  With noise about 0 at x >= 0 the two records' ratios are e^l, l = min(2x, 2ε) - ε, and e^{-ε}: the loss is
log A(l)/A(-ε), with the density (e^{-(ε+l)/2}/4) A(l); at x < 0 it is its mirror image.
*A batch.*  The loss is log A at outputs that favour the record, with A times their mass without it; minus that with the
mass itself; and 0 with all the rest.
"""

from __future__ import annotations

import math
from abc import ABC, abstractmethod
from dataclasses import dataclass
from fractions import Fraction
from functools import cached_property
from typing import NamedTuple

import numpy as np
from flint import acb, arb

from optcomp.checker.balls import LEAST_BITS, Exact, ball, enclosing, near, spread, working
from optcomp.checker.guess import Floats
from optcomp.checker.laws.laplace import laplace_excess
from optcomp.checker.laws.laplace_rule import LaplaceRule
from optcomp.checker.laws.law import Cloud
from optcomp.checker.laws.sampled import Way, batch_excess, sampled_excess
from optcomp.checker.laws.waves import waves


class Atom(NamedTuple):
    """A loss with its probability."""

    place: arb
    mass: arb


class Piece(NamedTuple):
    """The loss is ±(log A(l) - shift); with the density (e^{-(ε+l)/2}/4) e^{base}, times A(l) for the sign +."""

    sign: int
    shift: arb
    base: arb

    def power(self, c: arb) -> arb:
        """γ of the line through c."""
        return c + 1 if self.sign > 0 else -c

    def factor(self, c: arb) -> arb:
        """e^{f(c)}."""
        return (self.base - self.sign * c * self.shift).exp()


@dataclass(frozen=True)
class _Parts(ABC):
    """Laplace noise of this ε about a sample of this rate."""

    epsilon: Exact
    rate: Exact

    @cached_property
    def _rule(self) -> LaplaceRule:
        return LaplaceRule(self.epsilon, self.rate, whole=True)

    @abstractmethod
    def _atoms(self) -> list[Atom]:
        """The largest loss first."""

    @abstractmethod
    def _pieces(self) -> list[Piece]:
        """What lies between."""

    def _ends(self) -> tuple[arb, arb, arb]:
        """e^{-ε}/2, log A(ε) and log A(-ε)."""
        eps = ball(self.epsilon)
        return (-eps).exp() / 2, self._rule.log_rise(eps), self._rule.log_rise(-eps)

    def top(self) -> tuple[Exact, Exact]:
        """The first atom."""
        with working(LEAST_BITS):
            return enclosing(self._atoms()[0].place)

    def cloud(self) -> Cloud:
        """The atoms, and points between them."""
        atoms, (places, shares) = self._atoms(), self._rule.sketch()
        rises = self._rule.rises(places)
        spots: list[Floats] = [np.array([near(atom.place) for atom in atoms])]
        logs: list[Floats] = [np.log(np.array([near(atom.mass) for atom in atoms]))]
        for piece in self._pieces():
            spots.append(piece.sign * (rises - near(piece.shift)))
            logs.append(shares + near(piece.base) + (rises if piece.sign > 0 else 0.0))
        return Cloud(np.concatenate(spots), np.concatenate(logs))

    def log_moment(self, x: arb) -> arb:
        """log M(x)."""
        weights, _, error = self._points(x, arb(0))
        return (sum(weights, arb(0)) + spread(error)).log()

    def waves(self, c: arb, step: arb, last: int) -> list[acb]:
        """Atoms and points at every node."""
        weights, losses, error = self._points(c, step * last)
        scale = (-self.log_moment(c)).exp()
        found = waves([weight * scale for weight in weights], [loss * step for loss in losses], last)
        share = spread(error * scale)
        return [acb(1), *(value + acb(share, share) for value in found[1:])]

    def _points(self, c: arb, end: arb) -> tuple[list[arb], list[arb], arb]:
        """Weights at tilt c and losses of the atoms and of the rule, and the rule's error for all θ up to `end`."""
        weights, losses, error = [], [], arb(0)
        for place, mass in self._atoms():
            losses.append(place)
            weights.append(mass * (c * place).exp())
        for piece in self._pieces():
            shares, logs, missed = self._rule.points(piece.power(c), end)
            factor = piece.factor(c)
            losses += [piece.sign * (log - piece.shift) for log in logs]
            weights += [share * factor for share in shares]
            error += missed * factor
        return weights, losses, error

    def fade(self, c: arb, theta: arb) -> arb:
        """The atoms do not fade; a piece by the ends of its G."""
        total = self.log_moment(c).exp()
        atoms = sum((mass * (c * place).exp() for place, mass in self._atoms()), arb(0))
        ends = sum((piece.factor(c) * self._rule.variation(piece.power(c)) for piece in self._pieces()), arb(0))
        return ((atoms + (ends / theta).min(total - atoms)) / total).min(arb(1))

    def fade_guess(self, c: float, theta: float) -> float:
        """The same in floats."""
        base = -float(self.cloud().cumulants(np.array([c]))[0][0])
        atoms = sum(near(mass) * math.exp(c * near(place) + base) for place, mass in self._atoms())
        ends = 0.0
        for piece in self._pieces():
            log = near(piece.base) - piece.sign * c * near(piece.shift) + base
            ends += self._rule.variation_guess(c + 1 if piece.sign > 0 else -c, log)
        return min(1.0, atoms + min(ends / theta, max(0.0, 1 - atoms)))


@dataclass(frozen=True)
class SampledLaplace(_Parts):
    """A person is removed or added."""

    way: Way

    def _atoms(self) -> list[Atom]:
        mass, high, low = self._ends()
        if self.way == "removed":
            return [Atom(high, mass * high.exp()), Atom(low, low.exp() / 2)]
        return [Atom(-low, arb(0.5)), Atom(-high, mass)]

    def _pieces(self) -> list[Piece]:
        return [Piece(1 if self.way == "removed" else -1, arb(0), arb(0))]

    def excess(self, y: Fraction) -> arb:
        """From that of the noise itself."""
        return sampled_excess(self.way, ball(self.rate), ball(y), self._noise)

    def _noise(self, v: arb) -> arb:
        return laplace_excess(ball(self.epsilon), v)


@dataclass(frozen=True)
class ReplacedLaplace(_Parts):
    """A record is replaced by another one, and the two pull to opposite sides."""

    def _atoms(self) -> list[Atom]:
        mass, high, low = self._ends()
        return [Atom(high - low, mass * high.exp()), Atom(low - high, mass * low.exp())]

    def _pieces(self) -> list[Piece]:
        low = self._ends()[2]
        return [Piece(1, low, arb(0)), Piece(-1, low, low)]

    def excess(self, y: Fraction) -> arb:
        """The tails from where the loss is y; the pair is its own mirror image, so F(y) = 1 - e^y + e^y F(-y)."""
        if y < 0:
            return -ball(y).expm1() + ball(y).exp() * self.excess(-y)
        eps, q, place = ball(self.epsilon), ball(self.rate), ball(y)
        _, high, low = self._ends()
        if place >= high - low:
            return arb(0)
        if not place < high - low:
            return arb(0).union(arb(1))
        x = ((((place + low).exp() - 1 + q) / q).log() + eps) / 2  # of the noise about 0, between 0 and ε
        plain, ahead, behind = (-x).exp() / 2, 1 - (x - eps).exp() / 2, (-x - eps).exp() / 2
        return -(1 - q) * place.expm1() * plain + q * (ahead - place.exp() * behind)


@dataclass(frozen=True)
class BatchLaplace(_Parts):
    """A record is replaced by another one, and batches have a fixed size: what dominates all pairs of tables."""

    @cached_property
    def _rule(self) -> LaplaceRule:
        return LaplaceRule(self.epsilon, self.rate, whole=False)

    def _atoms(self) -> list[Atom]:
        mass, high, _ = self._ends()
        none = (ball(self.rate) - 1) * (-ball(self.epsilon) / 2).expm1()
        return [Atom(high, mass * high.exp()), Atom(arb(0), none), Atom(-high, mass)]

    def _pieces(self) -> list[Piece]:
        return [Piece(1, arb(0), arb(0)), Piece(-1, arb(0), arb(0))]

    def excess(self, y: Fraction) -> arb:
        """From that of the noise itself."""
        return batch_excess(ball(self.rate), y, lambda v: laplace_excess(ball(self.epsilon), v))
