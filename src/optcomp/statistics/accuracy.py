"""How far off is the noise?  Exact quantiles of the discrete noise that is really used.

For one value, P(|noise| > t); for d values together, 1 - (1 - P(|noise| > t))^d.  Everything in balls, rounded to the
side that makes the error larger.  What the tails are, each kind of noise says.
"""

from __future__ import annotations

from optcomp.errors import InvalidInput
from optcomp.numerics.exact import Number, exact
from optcomp.statistics.noise import Noise, added, noise_named


def checked_confidence(confidence: Number) -> float:
    """A probability strictly between 0 and 1."""
    value = float(exact(confidence, "confidence"))
    if not 0 < value < 1:
        raise InvalidInput("confidence", confidence, "must lie strictly between 0 and 1")
    return value


def noise_reach(kind: str | Noise, scale: float, confidence: float, values: int = 1) -> int:
    """The least t such that all of so many values stay within ±t with this confidence; noise by its name, or itself."""
    return added(noise_named(kind) if isinstance(kind, str) else kind).reach(scale, confidence, values)
