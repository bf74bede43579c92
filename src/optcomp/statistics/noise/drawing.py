"""Drawing noise on integers, by OpenDP's exact discrete samplers only: no float noise exists in optcomp.

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
from optcomp.extras import needed
from optcomp.statistics.noise.scales import LEAST_SCALE, MOST_SCALE

MOST_VALUE = 2**62
"""Larger values, in units, count as this one."""
_MOST_SAMPLERS = 256
"""So many samplers a thread keeps: a plan seldom has more different scales."""
Measurement = Callable[[Any, Any, float], Callable[[list[int]], Any]]
"""Makes a sampler of OpenDP, a domain of integers and a scale."""


@cache
def _opendp() -> Any:
    """OpenDP, imported when the first noise is drawn: it takes a third of a second."""
    dp: Any = needed("opendp.prelude", "data")
    dp.enable_features("contrib")
    return dp


class _Samplers(threading.local):
    """Each thread makes its own measurements, and keeps them."""

    def __init__(self) -> None:
        self.known: dict[tuple[Measurement, float], Callable[[list[int]], Any]] = {}

    def get(self, measurement: Measurement, scale: float) -> Callable[[list[int]], Any]:
        if (measurement, scale) not in self.known:
            if len(self.known) > _MOST_SAMPLERS:
                self.known.clear()
            self.known[measurement, scale] = _make(measurement, scale)
        return self.known[measurement, scale]


_samplers = _Samplers()
"""Of this process."""


def _make(measurement: Measurement, scale: float) -> Callable[[list[int]], Any]:
    dp = _opendp()
    return measurement(dp, dp.vector_domain(dp.atom_domain(T="i64")), scale)


def drawn(title: str, measurement: Measurement, scale: float, values: Sequence[int]) -> Any:
    """What the sampler gives; its errors are not shown, for their text may hold the values."""
    sampled = _sampled(scale)
    _opendp()  # out here, so that it shows if it is missing
    try:
        return _samplers.get(measurement, sampled)(_checked(values))
    except Exception as error:
        name = type(error).__name__
    raise MechanismFailed(title, name)


def _sampled(scale: float) -> float:
    if not LEAST_SCALE <= scale <= MOST_SCALE:
        raise InvalidInput("scale", scale, f"must lie within [{LEAST_SCALE:g}, {MOST_SCALE:g}]")
    return float(scale)


def _checked(values: Sequence[int]) -> list[int]:
    """Clamped to 62 bits, never refused: whether a value is too large must not show."""
    return [min(max(int(value), -MOST_VALUE), MOST_VALUE) for value in values]
