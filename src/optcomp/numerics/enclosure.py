"""A pair of floats with a real number proved to lie between them."""

from __future__ import annotations

import math
from typing import NamedTuple

from flint import arb

from optcomp.numerics.balls import float_down, float_up


class Enclosure(NamedTuple):
    """lower <= the real number meant <= upper."""

    lower: float
    upper: float

    @classmethod
    def of(cls, value: arb) -> Enclosure:
        """The tightest floats around a ball."""
        return cls(float_down(value), float_up(value))

    def clamp(self, least: float, most: float) -> Enclosure:
        """The same number, known besides to lie in [least, most]."""
        return Enclosure(min(max(self.lower, least), most), max(min(self.upper, most), least))

    @property
    def width(self) -> float:
        """Relative width, upper - lower over upper; zero for a point, infinity for an unbounded side."""
        if self.lower == self.upper:
            return 0.0
        return (self.upper - self.lower) / self.upper if math.isfinite(self.upper) else math.inf
