r"""Laws with finitely many values."""

from __future__ import annotations

from collections.abc import Callable, Sequence

import numpy as np
from flint import arb

from optcomp.numerics.balls import SUM_BITS, float_down, float_up, precision
from optcomp.numerics.blocked import Floats, U
from optcomp.numerics.laws.cloud import Cloud, CloudLaw
from optcomp.numerics.laws.law import log_mean_by_points

Atoms = Sequence[tuple[arb, arb]]


class AtomicLaw(CloudLaw):
    """Values with probabilities, both as balls that a function gives at the working precision."""

    def __init__(self, atoms: Callable[[], Atoms]) -> None:
        super().__init__()
        self.atoms = atoms
        with precision(SUM_BITS):
            known = atoms()
            self.most = max(float_up(value) for value, _ in known)
            top = max(known, key=lambda atom: float(atom[0].mid()))
            self.log_top = float_down(top[1].log())
            self.places = np.array([float(value.mid()) for value, _ in known])
            self._logs = np.array([float(p.log().mid()) for _, p in known])

    def log_mean(self, c: float) -> arb:
        return sum((p * (arb(c) * value).exp() for value, p in self.atoms()), arb(0)).log()

    def log_mean_guess(self, c: Floats) -> Floats:
        return log_mean_by_points(self._logs, self.places, c)

    def cloud(self, c: float, theta: float) -> Cloud:
        with precision(SUM_BITS):
            logs = [p.log() + arb(c) * value for value, p in self.atoms()]
            top = max(logs, key=lambda log: float(log.mid()))
            weights = np.array([float((log - top).exp().mid()) for log in logs])
        return Cloud(self.places, weights, 8 * U, 4 * U * np.abs(self.places), lambda place: 0 * place + 1e-290)

    def points(self, c: float, theta: float) -> float:
        return float(self.places.size)

    def mean(self) -> arb:
        return sum((p * value for value, p in self.atoms()), arb(0))

    def variance(self) -> arb:
        mean = self.mean()
        return sum((p * (value - mean) ** 2 for value, p in self.atoms()), arb(0))

    def tail(self, y: float | arb) -> arb:
        return sum((p * _above(value - arb(y)) for value, p in self.atoms()), arb(0))

    def excess(self, y: float | arb) -> arb:
        return sum((p * (1 - (arb(y) - value).exp()).max(arb(0)) for value, p in self.atoms()), arb(0))


def _above(difference: arb) -> arb:
    """1 if positive, 0 if not, both if undecided."""
    return arb(1) if difference > 0 else arb(0) if difference <= 0 else arb(0.5, 0.5)
