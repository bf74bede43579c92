"""A pair of floats with a real number proved to lie between them."""

from __future__ import annotations

from typing import NamedTuple

from flint import arb

from optcomp.numerics.balls import told_down, told_up


class Enclosure(NamedTuple):
    """lower <= the real number meant <= upper."""

    lower: float
    upper: float

    @classmethod
    def of(cls, value: arb) -> Enclosure:
        """The tightest floats around a ball that are true as decimals too."""
        return cls(told_down(value), told_up(value))

    def clamp(self, least: float, most: float) -> Enclosure:
        """The same number, known besides to lie in [least, most]; sides that contradict that stay visible."""
        return Enclosure(max(self.lower, least), min(self.upper, most))
