"""One quadrature with what it was made from, and where quadratures come from."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Protocol

from optcomp.numerics.contour.band import banded
from optcomp.numerics.contour.banded import quadrature
from optcomp.numerics.contour.coins import Coins
from optcomp.numerics.contour.gather import gather
from optcomp.numerics.contour.integral import Integral, Means, Nodes, means
from optcomp.numerics.contour.plan import Contour, Outline
from optcomp.numerics.contour.points import Compressed


@dataclass(frozen=True, eq=False)
class Anchor:
    """One quadrature with what it was made from."""

    integral: Integral
    nodes: Nodes
    log_means: Means
    total: float
    capped: bool
    work: float = 0.0


class Source(Outline, Protocol):
    """A sum of independent variables that can be asked for quadratures; beyond `total` the excess is below the goal."""

    @property
    def count(self) -> float:
        """About how many variables there are."""

    def anchor(self, plan: Contour, work: float) -> Anchor:
        """Compute a plan, with about that much work at most."""


class CoinSource(Coins):
    """Quadratures for coins; compressed coins are kept from one to the next."""

    def __init__(self, coins: Coins) -> None:
        super().__init__(coins.x, coins.m)
        object.__setattr__(self, "_compressed", Compressed(coins))

    def anchor(self, plan: Contour, work: float) -> Anchor:
        """Compute a plan, with about that much work at most."""
        log_means = means(self._compressed, plan)
        gathered = gather(self, self._compressed, plan, work)
        integral = quadrature(gathered.plan, gathered.nodes, log_means)
        return Anchor(integral, gathered.nodes, log_means, self.total, gathered.capped, gathered.work)

    _compressed: Compressed


class BandSource(CoinSource):
    """Quadratures for coins with kernels without waves beyond some θ: fewer nodes than smoothing takes."""

    def anchor(self, plan: Contour, work: float) -> Anchor:
        """Compute a plan, with about that much work at most."""
        return super().anchor(banded(plan), work)
