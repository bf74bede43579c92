"""The front door: what people call."""

from optcomp.composition.composer import Composer
from optcomp.composition.front import METHODS, compare, compose

__all__ = ["METHODS", "Composer", "compare", "compose"]
