r"""The privacy loss on a grid, composed by Fourier transforms, as PRV accountants do (Gopi, Lee, Wutschitz 2021).

For comparison, in floats, and no proof: the error of the grid is counted as in their theorem, that of round-off is not.

    h = ε_err / √(steps/2 · log(12/δ_err)),   ε_upper = ε at δ - δ_err of the law on the grid, plus ε_err
"""

from __future__ import annotations

import math
from collections.abc import Sequence

import numpy as np

from optcomp.numerics import Floats
from optcomp.training.rdp import rdp_epsilon
from optcomp.training.runs import Phase

_EPS_ERROR, _DELTA_ERROR = 0.01, 1e-3
"""What Opacus asks for: ε to .01, δ to a thousandth of itself."""
_MOST_POINTS = 1 << 23
"""Points of a grid beyond which an accountant takes minutes and gigabytes."""
_LEAST_DELTA = 1e-13
"""Below, round-off of the transforms is larger than δ."""
_TAIL, _NODES = 12.0, 40_001
"""How many standard deviations of noise a sum that stands for a mean reaches, and its nodes."""
_MOST_LOSS = 700.0
"""Powers of larger losses are no floats."""


def prv_epsilon(phases: Sequence[Phase], delta: float) -> float:
    """The upper side; ValueError where a grid would be too long or δ too small for floats."""
    if delta < _LEAST_DELTA:
        raise ValueError("δ is below what its transforms can resolve")
    error = _DELTA_ERROR * delta
    steps = sum(phase.schedule.steps for phase in phases)
    width = _EPS_ERROR / math.sqrt(steps / 2 * math.log(12 / error))
    reach = _reach(phases, error)
    points = 1 << math.ceil(math.log2(2 * reach / width))
    if points > _MOST_POINTS:
        raise ValueError(f"its grid would have {points:,} points")
    grid = np.arange(-(points // 2), points - points // 2, dtype=np.float64) * width
    whole: np.ndarray[tuple[int], np.dtype[np.complex128]] | None = None
    shift = 0.0
    for phase in phases:
        masses, mean = _masses(phase, grid, width)
        shift += phase.schedule.steps * mean
        transform = np.fft.rfft(np.fft.ifftshift(masses)) ** phase.schedule.steps
        whole = transform if whole is None else whole * transform
    assert whole is not None
    law = np.fft.fftshift(np.fft.irfft(whole, points))
    return _epsilon(law, grid + shift, delta - error) + _EPS_ERROR


def _reach(phases: Sequence[Phase], error: float) -> float:
    """How far the total loss reaches but for a chance of the error, by its moments."""
    ends = [(float(phase.sigma), float(phase.schedule.rate), error / (8 * phase.schedule.steps)) for phase in phases]
    most = max(_single(*end) for end in ends)
    return max(rdp_epsilon(phases, error / 4) + _EPS_ERROR, most) + 1.0


def _single(sigma: float, rate: float, chance: float) -> float:
    """The loss that one step exceeds with this chance at most, about: 1/2σ² + |x|/σ at a far x, mixed by the rate."""
    far = math.sqrt(max(0.0, -2 * math.log(min(1.0, chance / rate))))
    nothing = math.log1p(-rate) if rate < 1 else -math.inf
    return float(np.logaddexp(nothing, math.log(rate) + 0.5 / sigma**2 + far / sigma))


def _masses(phase: Phase, grid: Floats, width: float) -> tuple[Floats, float]:
    """The law of the loss of one step on the grid, and by how much it must be moved for its mean to be right."""
    sigma, rate = float(phase.sigma), float(phase.schedule.rate)
    edges = np.concatenate([grid - width / 2, [grid[-1] + width / 2]])
    masses = np.diff(_cdf(edges, sigma, rate))
    masses /= masses.sum()
    return masses, _mean(sigma, rate, edges) - float(np.sum(masses * grid))


def _mean(sigma: float, rate: float, edges: Floats) -> float:
    """The mean of the loss of one step within the ends of the grid, by a sum over the noise."""
    x = np.linspace(-_TAIL * sigma, 1 + _TAIL * sigma, _NODES)
    loss = np.logaddexp(math.log1p(-rate) if rate < 1 else -np.inf, math.log(rate) + (2 * x - 1) / (2 * sigma**2))
    density = (1 - rate) * np.exp(-0.5 * (x / sigma) ** 2) + rate * np.exp(-0.5 * ((x - 1) / sigma) ** 2)
    density[(loss < edges[0]) | (loss > edges[-1])] = 0.0
    return float(np.sum(density * loss) / np.sum(density))


def _cdf(y: Floats, sigma: float, rate: float) -> Floats:
    """P(loss <= y) with x from the mixture: the loss log(1 - q + q e^{(2x-1)/2σ²}) grows with x."""
    with np.errstate(divide="ignore", invalid="ignore", over="ignore"):
        inner = (np.expm1(np.minimum(y, 700.0)) + rate) / rate
        x = np.where(inner > 0, sigma**2 * np.log(np.maximum(inner, 1e-300)) + 0.5, -np.inf)
    return (1 - rate) * _normal(x / sigma) + rate * _normal((x - 1) / sigma)


def _normal(z: Floats) -> Floats:
    """Φ, one by one where it is neither 0 nor 1."""
    found = np.where(z > 0, 1.0, 0.0)
    near = np.abs(z) < _TAIL
    found[near] = [0.5 * math.erfc(-value / math.sqrt(2)) for value in z[near].tolist()]
    return found


def _epsilon(law: Floats, losses: Floats, delta: float) -> float:
    """The least ε whose excess Σ (1 - e^{ε-loss})_+ mass is at most δ, on the cells of a grid."""
    held = (losses >= 0) & (losses < _MOST_LOSS)
    law, losses = law[held], losses[held]
    above, tilted = np.cumsum(law[::-1])[::-1], np.cumsum((law * np.exp(-losses))[::-1])[::-1]
    enough = above - np.exp(losses) * tilted <= delta
    place = int(np.argmax(enough))
    if not enough[:-1].any():
        raise ValueError(f"no ε up to {_MOST_LOSS:g}")
    ratio = (float(above[place]) - delta) / float(tilted[place])
    return max(0.0, math.log(ratio)) if ratio > 0 else float(losses[place])
