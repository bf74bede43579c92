"""The front door: what people call."""

from optcomp.composition.front import METHODS, compare, compose

__all__ = ["METHODS", "compare", "compose"]
