"""The front door: what people call."""

from optcomp.composition.calibrate import Calibrated, calibrate
from optcomp.composition.composer import Composer
from optcomp.composition.convert import convert
from optcomp.composition.front import METHODS, compare, compose

__all__ = ["METHODS", "Calibrated", "Composer", "calibrate", "compare", "compose", "convert"]
