"""Mechanisms that optcomp ships, on inputs and with features that leave little to hide; an audit must find nothing.

What they claim is what `compose` proves of their costs.  Noise is real: no seed makes it the same twice.  Every
statistic and every interactive mechanism has its place here, which a test sees to.
"""

from __future__ import annotations

from collections.abc import Callable, Hashable, Iterable
from functools import cache
from typing import Any

from flint import arb

from optcomp.extras import needed
from optcomp.interactive.audit.answered import answered_statistics
from optcomp.interactive.audit.auditable import Auditable, Side
from optcomp.interactive.audit.conversed import CONVERSED
from optcomp.interactive.audit.sessions import SESSIONS
from optcomp.numerics.balls import SUM_BITS, float_up, precision

_COIN_FLIPS = 0.5
"""The share of bits that OpenDP replaces by fair coins: a bit is kept with probability 3/4."""


def randomized_response() -> Auditable:
    """A bit that is told truly with probability 3/4."""

    def run(side: Side, trials: int) -> Iterable[Hashable]:
        told = _coins()(bytes([0xFF * side]) * (trials // 8 + 1))
        return [byte >> place & 1 for byte in told for place in range(8)][:trials]

    with precision(SUM_BITS):
        eps = float_up(arb(3).log())
    return Auditable(
        name="randomized-response",
        epsilon=eps,
        description="a bit that is told truly with probability 3/4: 0 or 1",
        source="Warner, Randomized response, 1965; coins by OpenDP",
        private=True,
        run=run,
    )


@cache
def _coins() -> Callable[[bytes], bytes]:
    """Randomized response for each bit of a string, by OpenDP's exact coins: many at once."""
    dp: Any = needed("opendp.prelude", "data")  # a third of a second
    dp.enable_features("contrib")
    space: tuple[Any, Any] = dp.bitvector_domain(max_weight=1), dp.discrete_distance()
    return dp.m.make_randomized_response_bitvec(*space, f=_COIN_FLIPS)  # type: ignore[no-any-return]


def shipped() -> dict[str, Callable[[], Auditable]]:
    """All of them, by name: those of every known statistic first."""
    return answered_statistics() | CONVERSED | SESSIONS | {"randomized-response": randomized_response}
