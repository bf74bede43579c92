"""The questions: which mechanisms are composed, how often, and at which total δ."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import optcomp as oc
from bench.answers import Answer
from bench.instances import power

Lattice = oc.DiscreteGaussian | oc.DiscreteLaplace | oc.RandomizedResponse
Part = oc.Gaussian | oc.Laplace | Lattice | oc.PoissonSubsampled
Item = Part | oc.PureDP | oc.ApproxDP
COARSE = 1e-4
"""The grid that dp-accounting takes when told nothing."""


@dataclass(frozen=True)
class Question:
    """Find the least ε at `delta` for mechanisms given with their counts."""

    group: str
    items: tuple[tuple[Item, int], ...]
    delta: float

    @property
    def only(self) -> Item | None:
        """The mechanism, if there is but one."""
        return self.items[0][0] if len(self.items) == 1 else None

    @property
    def count(self) -> int:
        return sum(count for _, count in self.items)


@dataclass(frozen=True)
class Entrant:
    """One package in one configuration."""

    name: str
    ask: Callable[[Question], Answer]
    fits: Callable[[Question], bool] = lambda question: True
    """Questions to ask it; the others would repeat another row, or it has no such mechanism."""


def gaussian(quick: bool) -> list[Question]:
    """σ = 4, once to ten thousand times."""
    sizes, deltas = ((100,), (1e-9, 1e-20)) if quick else ((1, 100, 10**4), (1e-3, 1e-9, 1e-20, 1e-100))
    return [repeated(oc.Gaussian(4), "Gaussian σ = 4", k, delta) for k in sizes for delta in deltas]


def plain(quick: bool) -> list[Question]:
    """Laplace noise, randomized response and discrete Gaussian noise."""
    cases: list[tuple[Part, str, int]] = [
        (oc.Laplace(10), "Laplace, scale 10", 100),
        (oc.Laplace(10), "Laplace, scale 10", 1000),
        (oc.RandomizedResponse(0.1), "randomized response, ε = .1", 1000),
        (oc.RandomizedResponse(1, 4), "randomized response of 4 answers, ε = 1", 100),
        (oc.DiscreteGaussian(4), "discrete Gaussian σ = 4", 100),
    ]
    return [repeated(*case, delta) for case in (cases[1:4] if quick else cases) for delta in (1e-6, 1e-20)]


def subsampled(quick: bool) -> list[Question]:
    """What training with noisy gradients needs: Poisson-subsampled Gaussian noise, many steps."""
    cases = [(0.01, 1.0, 1000), (0.01, 1.0, 10**4), (0.001, 0.8, 10**4)]
    return [
        repeated(oc.PoissonSubsampled(oc.Gaussian(sigma), rate), f"q = {rate:g}, σ = {sigma:g}", steps, delta)
        for rate, sigma, steps in (cases[:1] if quick else cases)
        for delta in ((1e-6, 1e-20) if quick else (1e-5, 1e-6, 1e-20))
    ]


def mixed(quick: bool) -> list[Question]:
    """Pairs, pure mechanisms, Gaussian noise and subsampled Gaussian noise in one list."""
    items: tuple[tuple[Item, int], ...] = (
        (oc.ApproxDP(0.1, 1e-9), 50),
        (oc.PureDP(0.2), 50),
        (oc.Gaussian(4), 1),
        (oc.PoissonSubsampled(oc.Gaussian(2.0), 0.1), 20),
    )
    return [Question("mixed", items, delta) for delta in ((1e-6,) if quick else (1e-6, 1e-7))]


def repeated(mechanism: Part, name: str, count: int, delta: float) -> Question:
    """One mechanism `count` times."""
    return Question(f"{power(count)} × {name}", ((mechanism, count),), delta)
