r"""What accountants in use would say, by their published formulas in floats: for comparison, and no proof of anything.

RDP   Rényi divergences at a list of orders; in `rdp.py`
PRV   the privacy loss on a grid, composed by Fourier transforms; in `prv.py`
GDP   the run as one Gaussian mechanism of μ = q √(steps (e^{1/σ²} - 1)), a limit and no bound (Bu, Dong, Long, Su 2020)
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass

from optcomp.training.kinds import POISSON
from optcomp.training.prv import prv_epsilon
from optcomp.training.rdp import rdp_epsilon
from optcomp.training.runs import Phase, TrainingRun

_MOST, _CLOSE = 500.0, 1e-9
"""The central limit formula is solved up to this ε, as in Opacus, and to this relative width."""


@dataclass(frozen=True)
class Said:
    """What one accountant would say: an ε, or why it has none."""

    name: str
    epsilon: float | None
    why: str = ""


ACCOUNTANTS: dict[str, Callable[[Sequence[Phase], float], float]] = {}
"""By name, the formula of each; filled below."""


def others_say(run: TrainingRun, delta: float) -> list[Said]:
    """RDP, PRV and GDP, where they apply: Poisson samples, one example added or removed."""
    if run.batches is not POISSON or run.neighbours.moves > 1 or run.group > 1:
        return []
    return [_said(name, run.phases, delta) for name in ACCOUNTANTS]


def _said(name: str, phases: Sequence[Phase], delta: float) -> Said:
    try:
        return Said(name, ACCOUNTANTS[name](phases, delta))
    except (ArithmeticError, ValueError) as error:
        return Said(name, None, str(error))


def clt_epsilon(phases: Sequence[Phase], delta: float) -> float:
    """ε of one Gaussian mechanism with the μ of the central limit."""
    square = sum(
        phase.schedule.steps * float(phase.schedule.rate) ** 2 * math.expm1(float(phase.sigma) ** -2)
        for phase in phases
    )
    mu = math.sqrt(square)

    def excess(eps: float) -> float:
        """δ(ε) = Φ(μ/2 - ε/μ) - e^ε Φ(-μ/2 - ε/μ)."""
        return _normal(mu / 2 - eps / mu) - math.exp(eps) * _normal(-mu / 2 - eps / mu)

    low, high = 0.0, _MOST
    if excess(high) > delta:
        raise ValueError(f"no ε up to {_MOST:g}")
    while high - low > _CLOSE * high:
        middle = 0.5 * (low + high)
        low, high = (middle, high) if excess(middle) > delta else (low, middle)
    return high


def _normal(z: float) -> float:
    """Φ, also far out."""
    return 0.5 * math.erfc(-z / math.sqrt(2))


ACCOUNTANTS |= {
    "RDP, orders of Opacus": rdp_epsilon,
    "PRV, ε error .01": prv_epsilon,
    "GDP, central limit: no bound": clt_epsilon,
}
