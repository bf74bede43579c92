"""The front door: what people call."""

from optcomp.composition.calibration import Calibrated, calibrate
from optcomp.composition.composer import Composer
from optcomp.composition.conversion import convert
from optcomp.composition.entry import METHODS, MOST_BITS, compare, compose
from optcomp.composition.growth import growing
from optcomp.composition.left_out import omitted
from optcomp.composition.publishing import SHOWN, excess, proves, published, shown_down, shown_up
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
    "SHOWN",
    "calibrate",
    "compare",
    "compose",
    "convert",
    "excess",
    "growing",
    "omitted",
    "proves",
    "published",
    "read_any",
    "read_item",
    "shown_down",
    "shown_up",
]
