"""The front door: what people call."""

from optcomp.composition.calibration import Calibrated, calibrate
from optcomp.composition.composer import Composer
from optcomp.composition.conversion import convert
from optcomp.composition.entry import METHODS, compare, compose

__all__ = ["METHODS", "Calibrated", "Composer", "calibrate", "compare", "compose", "convert"]
