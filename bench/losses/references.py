r"""Our brackets, tested by another computation in floats that shares nothing with optcomp.

    δ(ε) = (1/2π)∫ e^{K(s) - sε} / (s(s+1)) dt along s = c + it,   K(s) = Σ log E e^{sL}

Losses on a lattice (randomized response, discrete Gaussian noise) are added up in a table of positive numbers instead.
A mechanism that reveals everything with probability δ_i does so beside the rest: 1 - δ = Π(1 - δ_i)·(1 - δ(ε)).
"""

from __future__ import annotations

import math

import numpy as np
import numpy.typing as npt
from scipy.optimize import minimize_scalar

import optcomp as oc
from bench.answers import Answer
from bench.losses.questions import Item, Lattice, Question

Floats = npt.NDArray[np.float64]
Complexes = npt.NDArray[np.complex128]
SLACK = 1e-10
"""Relative error allowed to these floats."""
_CHUNK = 200_000
_NEGLIGIBLE = 1e-13
_MOST_NODES = 4_000_000
_REACH, _STEP = 45, 0.02
"""Noise is integrated this many standard deviations to either side, in steps of this part of one."""
_LATTICE_REACH = 16


def confirmed(question: Question, answer: Answer | None) -> bool:
    """Whether δ(lower) >= δ >= δ(upper), each side moved outwards by the error of floats."""
    if answer is None or answer.lower is None:
        return False
    low, high = answer.lower * (1 - SLACK), answer.epsilon * (1 + SLACK)
    return _delta(question, low) >= question.delta >= _delta(question, high)


def _delta(question: Question, at: float) -> float:
    """The larger one of both directions."""
    hidden = math.fsum(count * math.log1p(-_leak(item)) for item, count in question.items)
    if isinstance(question.only, Lattice):
        finite = _on_lattice(question, at)
    else:
        finite = max(
            _contour(question, at, removing) for removing in ((True, False) if _lopsided(question) else (True,))
        )
    return -math.expm1(hidden + math.log1p(-finite))


def _lopsided(question: Question) -> bool:
    """Whether removing a person differs from adding one."""
    return any(isinstance(item, oc.PoissonSubsampled) for item, _ in question.items)


def _leak(item: Item) -> float:
    return float(item.delta) if isinstance(item, oc.ApproxDP) else 0.0


def _on_lattice(question: Question, at: float) -> float:
    ((item, count),) = question.items
    masses, unit = _masses(item)
    total = np.ones(1)
    while count:
        total = np.convolve(total, masses) if count & 1 else total
        masses, count = np.convolve(masses, masses) if count > 1 else masses, count >> 1
    losses = (np.arange(total.size) - total.size // 2) * unit
    above = losses > at
    return float(np.sum(total[above] * -np.expm1(at - losses[above])))


def _masses(item: Item) -> tuple[Floats, float]:
    """Masses at equidistant losses, zero in the middle, and their distance."""
    if isinstance(item, oc.RandomizedResponse):
        eps = float(item.epsilon)
        weights = np.array([1.0, item.answers - 2.0, math.exp(eps)])
        return weights / weights.sum(), eps
    if isinstance(item, oc.DiscreteLaplace):
        return _laplace_masses(float(item.scale), item.sensitivity)
    if not isinstance(item, oc.DiscreteGaussian):
        raise TypeError(item)
    sigma = float(item.sigma)
    most = math.ceil(_LATTICE_REACH * sigma)
    noise = np.arange(1 - most, most + 1.0)  # the loss of x is (2x - 1)/2σ² up to its sign
    weights = np.zeros(4 * most - 1)
    weights[::2] = np.exp(-((noise - 1) ** 2) / (2 * sigma**2))
    return weights / weights.sum(), 0.5 / sigma**2


def _laplace_masses(scale: float, shift: int) -> tuple[Floats, float]:
    """The loss of x is (|x - shift| - |x|)/scale: constant left of 0 and right of the shift, where noise is summed."""
    ratio = math.exp(-1 / scale)
    inner = ratio ** np.arange(1, shift)
    masses = np.zeros(2 * shift + 1)
    masses[0], masses[2:-1:2], masses[-1] = ratio**shift / (1 - ratio), inner[::-1], 1 / (1 - ratio)
    return masses / masses.sum(), 1 / scale


def _contour(question: Question, at: float, removing: bool) -> float:
    def height(c: float) -> float:
        return float(_cumulant(question, np.array([c + 0j]), removing)[0].real) - c * at - math.log(c * (c + 1))

    c = math.exp(minimize_scalar(lambda x: height(math.exp(x)), bounds=(-9, 9), method="bounded").x)
    apart = 1e-3 * c
    spread = math.sqrt(abs(height(c + apart) - 2 * height(c) + height(c - apart))) / apart
    step = min(c / 8, 0.1 / spread)
    top, total, start = height(c), 0.0, 0
    chunk = _CHUNK // 100 if _lopsided(question) else _CHUNK
    while start < _MOST_NODES:
        line = np.asarray(c + 1j * step * np.arange(start, start + chunk), dtype=np.complex128)
        values = np.exp(_cumulant(question, line, removing) - line * at - np.log(line * (line + 1)) - top)
        total += float(values.real.sum()) - (0.5 * float(values[0].real) if start == 0 else 0.0)
        start += chunk
        if float(np.abs(values[-chunk // 2 :]).max()) * start < _NEGLIGIBLE * total:
            break
    return math.exp(top) * total * step / math.pi


def _cumulant(question: Question, s: Complexes, removing: bool) -> Complexes:
    total = np.zeros_like(s)
    for item, count in question.items:
        total += count * _single(item, s, removing)
    return total


def _single(item: Item, s: Complexes, removing: bool) -> Complexes:
    match item:
        case oc.Gaussian():
            return s * (s + 1) / (2 * float(item.sigma) ** 2)
        case oc.Laplace():
            eps = float(item.pure)
            ends = np.exp(s * eps) / 2 + np.exp(-(s + 1) * eps) / 2
            inner = np.exp(-eps / 2) * np.sinh((s + 0.5) * eps) / (2 * s + 1)
            return np.asarray(np.log(ends + inner), dtype=np.complex128)
        case oc.PureDP() | oc.ApproxDP():
            eps = float(item.epsilon)
            both = np.log1p(np.exp(-(2 * s + 1) * eps)) - math.log1p(math.exp(-eps))
            return np.asarray(s * eps + both, dtype=np.complex128)
        case oc.PoissonSubsampled(mechanism=oc.Gaussian() as inner):
            return _mixture(float(inner.sigma), float(item.rate), s, removing)
    raise TypeError(item)


def _mixture(sigma: float, rate: float, s: Complexes, removing: bool) -> Complexes:
    """E e^{sL} by the trapezoidal rule over the noise x, in units of σ; the loss is log(1 - q + q e^{(x - 1/2σ)/σ})."""
    x = np.arange(-_REACH / _STEP, _REACH / _STEP + 1) * _STEP
    loss = np.logaddexp(math.log1p(-rate), math.log(rate) + (x - 0.5 / sigma) / sigma)
    density = -0.5 * x * x - 0.5 * math.log(2 * math.pi)
    power = s + 1 if removing else -s
    exponents = density[None, :] + power[:, None] * loss[None, :]
    peaks = exponents.real.max(axis=1)
    sums = np.exp(exponents - peaks[:, None]).sum(axis=1) * _STEP
    return np.asarray(np.log(sums) + peaks, dtype=np.complex128)
