"""The pure parts as coins in floats, which is what the engine works on."""

from __future__ import annotations

import math

import numpy as np

from optcomp.instances.parts import Parts
from optcomp.numerics.contour import Coins


def coins_of(parts: Parts, direction: int) -> Coins:
    """The coins as floats, smallest first; those that are not floats rounded in a direction."""
    x, m = (column[::-1] for column in parts.sizes)
    if not parts.exact_sizes:
        x = np.nextafter(x, math.inf if direction > 0 else 0.0)
        m = np.where(m < 2.0**53, m, np.nextafter(m, math.inf if direction > 0 else 0.0))
        x, first = np.unique(x, return_index=True)
        m = np.add.reduceat(m, first)
    return Coins(np.ascontiguousarray(x), np.ascontiguousarray(m))
