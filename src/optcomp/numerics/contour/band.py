r"""Two kernels without waves beyond θ = T, one above and one below that of H: docs/engine.md, section 2.

With g(v) = e^{-cv}(1 - e^{-v})_+ for c > 0, or -e^{-cv} min(1, e^{-v}) for -1 < c < 0, both with the transform
1/(s(s+1)), s = c + iθ, and η = 2π/T, t = θ/T, there are functions K⁻ <= g <= K⁺ whose transforms are 0 for |θ| >= T
and for 0 <= θ < T

    R(s) - R(s+1),                   R(s) = (1 - t + ic/T) η e^{-sα}/(1 - e^{-sη})          (K⁺)
    R(s) - R(s+1) + ησ/(iT),         R(s) = (1 - t + ic/T) η/(e^{sη} - 1)                   (K⁻)

with (c+1 in place of c in R(s+1)) α and σ for which they are 0 at T.  Both are computed without cancellation: with
w = πs/T, h = π/T, r = 1 - t + ic/T, β = η/2 - α,

    K⁺ = e^{iθβ} (η/2) e^{cβ} (r sinh h cosh w + (cosh h - e^β) r sinh w - (i/T) e^β sinh w) / (sinh w sinh(w+h))
    K⁻ = (η/2) ((r sinh h - (i/T) sinh w cosh(w+h)) / (sinh w sinh(w+h)) + (i/T)(1 - 2σ))
"""

from __future__ import annotations

import math
from dataclasses import replace
from typing import NamedTuple

import numpy as np
from flint import arb

from optcomp.numerics.balls import DEEP_BITS, float_up, precision
from optcomp.numerics.blocked import Complexes, Floats, U
from optcomp.numerics.contour.plan import Contour

_GAP = 0.5 * math.pi**2
"""T² times what lies between both kernels, in units of the density: T²(η²/24 + η²/12)."""
_TOPS = 1e-60, 1e60
"""T between which θ⁴ neither overflows nor underflows; beyond, smoothing does."""
_ROUNDING = 80 * U
"""Of every term: sin and cos of πj/N 12u, products 3u, quotient 8u, scalars 2u each, a few of them."""


def banded(plan: Contour) -> Contour:
    """The plan with a band instead of smoothing, that leaves about as much open."""
    if not plan.smoothing:
        return plan
    nodes = math.ceil(min(max(math.sqrt(_GAP / plan.smoothing) / plan.step, 2.0), 2.0**50))
    if not _TOPS[0] < nodes * plan.step < _TOPS[1]:
        return plan
    return replace(plan, smoothing=0.0, band=nodes)


class Kernels(NamedTuple):
    """The kernels at some nodes; K⁺ without its e^{iθβ}.  `most` is at least their size, `error` bounds round-off."""

    upper: Complexes
    lower: Complexes
    most: Floats
    error: Floats


class Band:
    """The kernels of one tilt and one T = N·step."""

    def __init__(self, plan: Contour) -> None:
        c = plan.tilt
        self._c, self._n, self._step = c, plan.band, plan.step
        with precision(DEEP_BITS + 4 * max(math.frexp(c)[1], 0)):  # 1/c - 1/(c+1) loses as many bits as c has
            tilt, top = arb(c), arb(plan.band) * arb(plan.step)
            eta, h, a = 2 * arb.pi() / top, arb.pi() / top, arb.pi() * tilt / top
            ratios = -(-tilt * eta).expm1() / tilt, -(-(tilt + 1) * eta).expm1() / (tilt + 1)
            alpha = (ratios[0] / ratios[1]).log()
            beta = eta / 2 - alpha
            scale = (tilt * beta).exp()
            bend, more = scale * (h.cosh() - beta.exp()), scale * beta.exp() / top
            straight = scale * h.sinh()
            self.beta = _float(beta, eta)
            """K⁺ is moved by so much."""
            self.area = float_up(_area(tilt, eta, alpha, ratios[0]))
            """At least the integrals of K⁺ - g and g - K⁻, hence at least their transforms anywhere."""
            (s0, c0), (s1, c1) = ((_float(v.sinh(), h), _float(v.cosh(), h)) for v in (a, a + h))
            self._sinh, self._cosh = (s0, s1), (c0, c1)
            self._top, self._half, self._straight = (_float(v, h) for v in (top, eta / 2, h.sinh()))
            bent = straight * a.cosh() + bend * a.sinh(), straight * a.sinh() + bend * a.cosh()
            self._bent, self._more = (_float(bent[0], h), _float(bent[1], h * h)), _float(more, 1 / top)
            self._turned = _float(eta / 2 / top * ((tilt + 1) * (a + h).coth() - tilt * a.coth()), h * eta / top)
            sizes = straight * a.cosh() + abs(bend * a.cosh()) + h.sinh(), more + (a + h).cosh() / top
            self._sizes = float_up(sizes[0]), float_up(sizes[1])

    def at(self, theta: Floats) -> Kernels:
        """The kernels at nodes, which are multiples of the step below T."""
        n, c = self._n, self._c
        index = np.rint(theta / self._step)
        rest = n - index
        angle = np.minimum(index, rest) * (math.pi / n)
        sine, cosine = np.sin(angle), np.cos(angle)
        np.negative(cosine, out=cosine, where=index > rest)
        (s0, s1), (c0, c1) = self._sinh, self._cosh
        sinh = _pair(s0 * cosine, c0 * sine)
        share = self._half / (sinh * _pair(s1 * cosine, c1 * sine))
        rest /= n
        r = _pair(rest, c / self._top)
        upper = r * _pair(self._bent[0] * cosine, self._bent[1] * sine)
        upper.real += (self._more * c0) * sine
        upper.imag -= (self._more * s0) * cosine
        upper *= share
        lower = sinh * _pair(c1 * cosine, s1 * sine)
        lower *= -1j / self._top
        lower += self._straight * r
        lower *= share
        lower.imag += self._turned
        square = theta * theta
        most = 1 / np.sqrt((square + c * c) * (square + (c + 1) ** 2)) + self.area
        size = (rest + abs(c) / self._top) * self._sizes[0] + (c0 * sine + abs(s0)) * self._sizes[1]
        error = np.abs(share) * size + abs(self._turned)
        return Kernels(upper, lower, most, _ROUNDING * error)


def _area(tilt: arb, eta: arb, alpha: arb, ratio: arb) -> arb:
    """At least both integrals, K±(0) less 1/(c(c+1)): that of K⁺, with Q(c) = Q(c+1), and η²/12 for K⁻."""
    return ((eta * (-tilt * alpha).exp() / ratio - 1) / (tilt * (tilt + 1))).max(eta * eta / 12)


def _float(value: arb, scale: arb) -> float:
    """A ball as a float, for one that is known to 2^-60 of itself or of a scale; others prove nothing."""
    return float(value) if value.rad() <= 2.0**-60 * abs(value).max(scale) else math.nan


def _pair(real: Floats, imag: Floats | float) -> Complexes:
    made = np.empty(real.size, dtype=np.complex128)
    made.real, made.imag = real, imag
    return made
