"""The front door: what people call."""

from optcomp.composition.calibration import Calibrated, calibrate
from optcomp.composition.composer import Composer
from optcomp.composition.conversion import convert
from optcomp.composition.entry import METHODS, MOST_BITS, compare, compose
from optcomp.composition.reading import (
    MOST_COPIES,
    Item,
    Items,
    read_any,
    read_item,
)

__all__ = [
    "Calibrated",
    "Composer",
    "Item",
    "Items",
    "METHODS",
    "MOST_BITS",
    "MOST_COPIES",
    "calibrate",
    "compare",
    "compose",
    "convert",
    "read_any",
    "read_item",
]
