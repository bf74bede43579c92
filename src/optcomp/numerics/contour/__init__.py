"""The excess E(1 - e^{y-L})_+ of a long sum of coins by a smoothed contour integral, every error bounded.

`docs/engine.md` has the proof; each module names the part of it that it implements.

A name fetches its module when it is first used.
"""

from typing import TYPE_CHECKING

from optcomp.late import late, names_of

if TYPE_CHECKING:
    from optcomp.numerics.contour.anchor import Anchor, BandSource, CoinSource
    from optcomp.numerics.contour.bracket import (
        Bracket,
        Goal,
        excess,
        excess_at,
        excess_plan,
        excess_root,
        root,
        root_plan,
    )
    from optcomp.numerics.contour.coin_law import CoinLaw
    from optcomp.numerics.contour.coins import Coins
    from optcomp.numerics.contour.gradient import BLUR, MOST_DENSE, Terms, optimum
    from optcomp.numerics.contour.independent import Independent
    from optcomp.numerics.contour.integral import Integral, Sides
    from optcomp.numerics.contour.kept import Aim, KeptContour, KeptTilts, aim_at, aim_for
    from optcomp.numerics.contour.plan import Contour, Saddle, log_reach, make_contour, saddle_at, saddle_for, short
    from optcomp.numerics.contour.shift import shifted
    from optcomp.numerics.contour.some_middle import SomeMiddle

_MODULE_OF = {
    "Aim": "kept",
    "Anchor": "anchor",
    "BLUR": "gradient",
    "BandSource": "anchor",
    "Bracket": "bracket",
    "CoinLaw": "coin_law",
    "CoinSource": "anchor",
    "Coins": "coins",
    "Contour": "plan",
    "Goal": "bracket",
    "Independent": "independent",
    "Integral": "integral",
    "KeptContour": "kept",
    "KeptTilts": "kept",
    "MOST_DENSE": "gradient",
    "Saddle": "plan",
    "Sides": "integral",
    "SomeMiddle": "some_middle",
    "Terms": "gradient",
    "aim_at": "kept",
    "aim_for": "kept",
    "excess": "bracket",
    "excess_at": "bracket",
    "excess_plan": "bracket",
    "excess_root": "bracket",
    "log_reach": "plan",
    "make_contour": "plan",
    "optimum": "gradient",
    "root": "bracket",
    "root_plan": "bracket",
    "saddle_at": "plan",
    "saddle_for": "plan",
    "shifted": "shift",
    "short": "plan",
}
"""Every name of the surface, and where it comes from."""

__all__ = [
    "Aim",
    "Anchor",
    "BLUR",
    "BandSource",
    "Bracket",
    "CoinLaw",
    "CoinSource",
    "Coins",
    "Contour",
    "Goal",
    "Independent",
    "Integral",
    "KeptContour",
    "KeptTilts",
    "MOST_DENSE",
    "Saddle",
    "Sides",
    "SomeMiddle",
    "Terms",
    "aim_at",
    "aim_for",
    "excess",
    "excess_at",
    "excess_plan",
    "excess_root",
    "log_reach",
    "make_contour",
    "optimum",
    "root",
    "root_plan",
    "saddle_at",
    "saddle_for",
    "shifted",
    "short",
]

if not TYPE_CHECKING:  # a type checker reads the imports above
    __getattr__, __dir__ = late(__name__, _MODULE_OF), names_of(__name__, _MODULE_OF)
