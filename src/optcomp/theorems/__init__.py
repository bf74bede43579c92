"""One module for each theorem: pure functions, guarantees in, `Bound` out.  They do not choose between themselves.

A name fetches its module when it is first used.
"""

from typing import TYPE_CHECKING

from optcomp.late import late, names_of

if TYPE_CHECKING:
    from optcomp.theorems.bound import Bound
    from optcomp.theorems.certificates import MOST_INLINE, described
    from optcomp.theorems.conversions import STEPS, Conversion
    from optcomp.theorems.curves import ClosedForms
    from optcomp.theorems.growing import Growing, suits
    from optcomp.theorems.growing_grid import LOOSE
    from optcomp.theorems.opt import Effort
    from optcomp.theorems.register import Parameters, Theorem, known_theorems, theorem
    from optcomp.theorems.target import Quantity, Target

_MODULE_OF = {
    "Bound": "bound",
    "ClosedForms": "curves",
    "Conversion": "conversions",
    "Effort": "opt",
    "Growing": "growing",
    "LOOSE": "growing_grid",
    "MOST_INLINE": "certificates",
    "Parameters": "register",
    "Quantity": "target",
    "STEPS": "conversions",
    "Target": "target",
    "Theorem": "register",
    "described": "certificates",
    "known_theorems": "register",
    "suits": "growing",
    "theorem": "register",
}
"""Every name of the surface, and where it comes from."""

__all__ = [
    "Bound",
    "ClosedForms",
    "Conversion",
    "Effort",
    "Growing",
    "LOOSE",
    "MOST_INLINE",
    "Parameters",
    "Quantity",
    "STEPS",
    "Target",
    "Theorem",
    "described",
    "known_theorems",
    "suits",
    "theorem",
]

if not TYPE_CHECKING:  # a type checker reads the imports above
    __getattr__, __dir__ = late(__name__, _MODULE_OF), names_of(__name__, _MODULE_OF)
