"""How narrow an answer should be, and what an answer says that is wider.

One width for each quantity, in one place.  1e-9 is far below what anybody can tell apart, and what the engine reaches
in a fraction of a second on almost every list; it is relative, because δ spans hundreds of orders of magnitude.  Below
the floors a relative width means nothing: an ε of 1e-11 hides everything, and floats end near δ = 1e-308.
"""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import replace
from types import MappingProxyType

from optcomp.theorems import Bound, Quantity, cks20, opt, zdw22

DEFAULT_WIDTH: Mapping[Quantity, float] = MappingProxyType({"epsilon": opt.RTOL, "delta": opt.RTOL})
"""Relative; `rtol` demands another one."""
FLOOR: Mapping[Quantity, float] = MappingProxyType({"epsilon": 1e-11, "delta": 1e-300})
"""Two sides that differ by no more than this count as equal."""
WIDE = "relative width"
"""How the note on a wide answer begins."""
BY_RENYI = (
    "by Rényi divergences, because the work cap left the sum of the losses wider; "
    "that may be several times too large in δ"
)
_UNKNOWN = "because a bound on Rényi divergences does not say which mechanism is the worst"
_NAME = "name the mechanism itself where you can"
LOWER_OF_BATCHES = "lower side: two tables whose records are all alike but one"
"""Beside an upper side that no single pair of tables attains."""
_NO_WORST = "because no pair of tables is known that is the worst for all rounds of samples without replacement"
_CAPPED = "because the work was capped"
_MORE = "a smaller rtol= allows more work"
_COARSE = "because a grid has two million places at most"
_HOLDS = "both sides hold all the same"
_LEFT = "because of round-off, or because the answer jumps there"
_MOVE = "move what was given a little, or ask for fewer kinds at once"


def is_narrow(bound: Bound, rtol: float | None = None) -> bool:
    """Whether the two sides are as close as the default width, or a wider one that was asked for."""
    if bound.lower == bound.upper:
        return True
    if not math.isfinite(bound.upper):
        return False
    width = max(DEFAULT_WIDTH[bound.quantity], rtol or 0.0)
    return bound.upper - bound.lower <= width * bound.upper + FLOOR[bound.quantity]


def with_width_note(bound: Bound, rtol: float | None = None, notions: bool = False) -> Bound:
    """The same; a wide answer says how wide it is, why, and what would help."""
    notes = tuple(note for note in bound.notes if not note.startswith((WIDE, opt.CAPPED)))
    if is_narrow(bound, rtol):
        return bound if notes == bound.notes else replace(bound, notes=notes)
    why, what = _reason(bound, notions)
    size, usual = (f"{width:.1g}".replace("e-0", "e-") for width in (bound.width, DEFAULT_WIDTH[bound.quantity]))
    wide = f"{WIDE} {'infinite' if math.isinf(bound.width) else size}, more than the usual {usual}"
    return replace(bound, notes=(*notes, f"{wide}, {why}; {what}"))


def _reason(bound: Bound, notions: bool) -> tuple[str, str]:
    if LOWER_OF_BATCHES in bound.notes:
        return _NO_WORST, _HOLDS
    if notions:
        return _UNKNOWN, _NAME
    if bound.method == zdw22.ON_GRID:
        return _COARSE, _HOLDS
    if opt.CAPPED in bound.notes or bound.theorem == cks20.ID:
        return _CAPPED, _MORE
    return _LEFT, _MOVE
