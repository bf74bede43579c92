"""What the proof about a sum of losses needs to know of each of its laws, in balls; guesses are in floats.

A law here is that of one mechanism's loss L in one direction.  M(s) = E e^{sL}, and φ(θ) = M(c+iθ)/M(c) on the line
through c.  Every ball contains its number; whatever is called a guess may be wrong.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from fractions import Fraction
from typing import Protocol, runtime_checkable

import numpy as np
from flint import acb, arb

from optcomp.checker.balls import Exact, spread
from optcomp.checker.effort import looked
from optcomp.checker.guess import Floats


def log_left(rate: Exact) -> float:
    """About log(1-q), also of a rate whose nearest double is 1."""
    return math.log(float(1 - Fraction(rate)))


class TooMuch(Exception):
    """More work than a proof is allowed."""


@dataclass(frozen=True)
class Cloud:
    """A law in floats, roughly: places with the logarithms of their weights."""

    places: Floats
    logs: Floats

    def cumulants(self, tilts: Floats) -> tuple[Floats, Floats, Floats]:
        """K, K' and K'' at each tilt."""
        exponents = self.logs + np.outer(tilts, self.places)
        most = exponents.max(axis=1, keepdims=True)
        weights = np.exp(exponents - most)
        total = weights.sum(axis=1)
        mean = weights @ self.places / total
        square = weights @ self.places**2 / total
        return np.log(total) + most[:, 0], mean, np.maximum(square - mean**2, 0.0)


@dataclass(frozen=True)
class Tilted:
    """Weights p_j e^{cl_j} of the atoms from number `start` on, and a bound on those of all other atoms together."""

    start: int
    weights: list[arb]
    rest: arb


class Law(Protocol):
    """The loss of one mechanism in one direction."""

    def top(self) -> tuple[Exact, Exact]:
        """What the largest loss lies between; infinity if there is none."""

    def cloud(self) -> Cloud:
        """About the law, for guesses."""

    def log_moment(self, x: arb) -> arb:
        """log E e^{xL}."""

    def waves(self, c: arb, step: arb, last: int) -> list[acb]:
        """φ at 0, step, ..., last * step."""

    def fade(self, c: arb, theta: arb) -> arb:
        """A bound on |φ| at θ and everywhere beyond it."""

    def fade_guess(self, c: float, theta: float) -> float:
        """About that bound."""

    def excess(self, y: Fraction) -> arb:
        """E(1 - e^{y-L})_+ at any real y."""


class Atomic(Law, Protocol):
    """A law on places l_j = first + j span, j a whole number."""

    @property
    def first(self) -> Fraction:
        """l_0."""

    @property
    def span(self) -> Fraction:
        """The distance of neighbouring atoms."""

    @property
    def atoms(self) -> int | None:
        """How many atoms there are, numbered from 0; None if infinitely many."""

    def tilted(self, c: arb) -> Tilted:
        """The atoms that count at this tilt, at the working precision."""


@dataclass(frozen=True)
class Spots:
    """Tilted weights at losses, at the working precision, and a bound on the weights of all other atoms together."""

    weights: list[arb]
    losses: list[arb]
    rest: arb

    def phi(self, theta: arb) -> acb:
        """φ(θ); the atoms that are not listed add at most their weight."""
        real = imaginary = whole = arb(0)
        for weight, loss in looked(zip(self.weights, self.losses, strict=True)):
            sine, cosine = (theta * loss).sin_cos()
            real, imaginary, whole = real + weight * cosine, imaginary + weight * sine, whole + weight
        room = spread(self.rest)
        return acb(real + room, imaginary + room) / (whole + arb(0).union(self.rest))


@runtime_checkable
class Spotted(Law, Protocol):
    """A law on countably many losses, of which those that count can be listed."""

    def spots(self, c: arb) -> Spots:
        """The atoms that count at this tilt."""
