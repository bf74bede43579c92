"""Noise on integers, by OpenDP's exact discrete samplers only: no float noise exists in optcomp.

What is released is an integer whatever the data are, so nothing can leak through the low bits of a float.  Values go
through OpenDP together with their noise: where 64 bits end, the *sum* is clamped, which is post-processing.

Scales are floats because OpenDP takes floats; each is exact, and its guarantee is computed from that exact value.
"""

from __future__ import annotations

import threading
from collections.abc import Callable, Sequence
from functools import cache
from typing import Any

from optcomp.errors import InvalidInput, MechanismFailed
from optcomp.statistics.question import LEAST_SCALE, MOST_SCALE

MOST_VALUE = 2**62
"""Larger values, in units, count as this one."""


@cache
def _opendp() -> Any:
    """OpenDP, imported when the first noise is drawn: it takes a third of a second."""
    import opendp.prelude as dp

    dp.enable_features("contrib")
    return dp


class _Samplers(threading.local):
    """Each thread makes its own measurements, and keeps them."""

    def __init__(self) -> None:
        self.known: dict[tuple[str, float], Callable[[list[int]], Any]] = {}

    def get(self, kind: str, scale: float) -> Callable[[list[int]], Any]:
        if (kind, scale) not in self.known:
            if len(self.known) > 256:
                self.known.clear()
            self.known[kind, scale] = _make(kind, scale)
        return self.known[kind, scale]


_samplers = _Samplers()


def _make(kind: str, scale: float) -> Callable[[list[int]], Any]:
    dp = _opendp()
    integers = dp.vector_domain(dp.atom_domain(T="i64"))
    if kind == "laplace":
        made = dp.m.make_laplace(integers, dp.l1_distance(T="i64"), scale=scale)
    elif kind == "gaussian":
        made = dp.m.make_gaussian(integers, dp.l2_distance(T="f64"), scale=scale)
    else:
        made = dp.m.make_noisy_max(integers, dp.linf_distance(T="i64"), dp.zero_concentrated_divergence(), scale=scale)
    return made  # type: ignore[no-any-return]


def with_laplace(values: Sequence[int], scale: float) -> list[int]:
    """Each value plus its own discrete Laplace noise: P(noise = x) proportional to e^{-|x|/scale}."""
    return list(_drawn("laplace", scale, values))


def with_gaussian(values: Sequence[int], sigma: float) -> list[int]:
    """Each value plus its own discrete Gaussian noise: P(noise = x) proportional to e^{-x²/2σ²}."""
    return list(_drawn("gaussian", sigma, values))


def chosen(scores: Sequence[int], scale: float) -> int:
    """An index i with probability proportional to e^{score_i/scale}: the exponential mechanism."""
    return int(_drawn("choice", scale, scores))


def _drawn(kind: str, scale: float, values: Sequence[int]) -> Any:
    """What the sampler gives; its errors are not shown, for their text may hold the values."""
    sampled = _sampled(scale)
    try:
        return _samplers.get(kind, sampled)(_checked(values))
    except Exception as error:
        name = type(error).__name__
    raise MechanismFailed(f"{kind} noise", name)


def _sampled(scale: float) -> float:
    if not LEAST_SCALE <= scale <= MOST_SCALE:
        raise InvalidInput("scale", scale, f"must lie within [{LEAST_SCALE:g}, {MOST_SCALE:g}]")
    return float(scale)


def _checked(values: Sequence[int]) -> list[int]:
    """Clamped to 62 bits, never refused: whether a value is too large must not show."""
    return [min(max(int(value), -MOST_VALUE), MOST_VALUE) for value in values]
