"""Certified arithmetic that knows nothing of privacy.

A *coin* of size x > 0 lands on +x with probability e^x/(1+e^x) and on -x otherwise; L is a sum of
independent coins.  Everything here encloses the law of L and its *excess* E(1 - e^{y-L})_+, either in
ball arithmetic (scalars, arbitrary precision) or in float64 arrays with every rounding counted.

A name fetches its module when it is first used.
"""

from typing import TYPE_CHECKING

from optcomp.late import late, names_of

if TYPE_CHECKING:
    from optcomp.numerics.ball_halves import BallHalves
    from optcomp.numerics.balls import (
        DEEP_BITS,
        FLOAT_BITS,
        QUICK_BITS,
        SUM_BITS,
        OutOfRange,
        ball,
        float_down,
        float_up,
        fraction,
        precision,
        told_down,
        told_up,
    )
    from optcomp.numerics.binomial import equal_excess, equal_root
    from optcomp.numerics.blocked import MOST_COUNTED, Floats, Ints, U
    from optcomp.numerics.enclosure import Enclosure
    from optcomp.numerics.exact_numbers import (
        Exact,
        Number,
        decimal_down,
        decimal_up,
        exact,
        float_above,
        float_below,
        plain,
        ratio,
        text_of,
        whole,
    )
    from optcomp.numerics.float_halves import FloatHalves
    from optcomp.numerics.halves import log_atoms, pairs_cost
    from optcomp.numerics.knapsack import Knapsack, Step, rounded_steps
    from optcomp.numerics.lattice import common_unit, finest_unit, table_cost
    from optcomp.numerics.lines import BelowFloor, enumerated_excess, enumerated_root, root_above_floor
    from optcomp.numerics.progress import Listener, listening, report
    from optcomp.numerics.roots import Side, certified_root, side_of, told_root
    from optcomp.numerics.saddle import excess_root_guess, log_excess_guess
    from optcomp.numerics.sums import ball_sum, in_floats, log_odds_sum, plain_sum
    from optcomp.numerics.tally import Pair, Tally

_MODULE_OF = {
    "BallHalves": "ball_halves",
    "BelowFloor": "lines",
    "DEEP_BITS": "balls",
    "Enclosure": "enclosure",
    "Exact": "exact_numbers",
    "FLOAT_BITS": "balls",
    "FloatHalves": "float_halves",
    "Floats": "blocked",
    "Ints": "blocked",
    "Knapsack": "knapsack",
    "Listener": "progress",
    "MOST_COUNTED": "blocked",
    "Number": "exact_numbers",
    "OutOfRange": "balls",
    "Pair": "tally",
    "QUICK_BITS": "balls",
    "SUM_BITS": "balls",
    "Side": "roots",
    "Step": "knapsack",
    "Tally": "tally",
    "U": "blocked",
    "ball": "balls",
    "ball_sum": "sums",
    "certified_root": "roots",
    "common_unit": "lattice",
    "decimal_down": "exact_numbers",
    "decimal_up": "exact_numbers",
    "enumerated_excess": "lines",
    "enumerated_root": "lines",
    "equal_excess": "binomial",
    "equal_root": "binomial",
    "exact": "exact_numbers",
    "excess_root_guess": "saddle",
    "finest_unit": "lattice",
    "float_above": "exact_numbers",
    "float_below": "exact_numbers",
    "float_down": "balls",
    "float_up": "balls",
    "fraction": "balls",
    "in_floats": "sums",
    "listening": "progress",
    "log_atoms": "halves",
    "log_excess_guess": "saddle",
    "log_odds_sum": "sums",
    "pairs_cost": "halves",
    "plain": "exact_numbers",
    "plain_sum": "sums",
    "precision": "balls",
    "ratio": "exact_numbers",
    "report": "progress",
    "root_above_floor": "lines",
    "rounded_steps": "knapsack",
    "side_of": "roots",
    "table_cost": "lattice",
    "text_of": "exact_numbers",
    "told_down": "balls",
    "told_root": "roots",
    "told_up": "balls",
    "whole": "exact_numbers",
}
"""Every name of the surface, and where it comes from."""

__all__ = [
    "BallHalves",
    "BelowFloor",
    "DEEP_BITS",
    "Enclosure",
    "Exact",
    "FLOAT_BITS",
    "FloatHalves",
    "Floats",
    "Ints",
    "Knapsack",
    "Listener",
    "MOST_COUNTED",
    "Number",
    "OutOfRange",
    "Pair",
    "QUICK_BITS",
    "SUM_BITS",
    "Side",
    "Step",
    "Tally",
    "U",
    "ball",
    "ball_sum",
    "certified_root",
    "common_unit",
    "decimal_down",
    "decimal_up",
    "enumerated_excess",
    "enumerated_root",
    "equal_excess",
    "equal_root",
    "exact",
    "excess_root_guess",
    "finest_unit",
    "float_above",
    "float_below",
    "float_down",
    "float_up",
    "fraction",
    "in_floats",
    "listening",
    "log_atoms",
    "log_excess_guess",
    "log_odds_sum",
    "pairs_cost",
    "plain",
    "plain_sum",
    "precision",
    "ratio",
    "report",
    "root_above_floor",
    "rounded_steps",
    "side_of",
    "table_cost",
    "text_of",
    "told_down",
    "told_root",
    "told_up",
    "whole",
]

if not TYPE_CHECKING:  # a type checker reads the imports above
    __getattr__, __dir__ = late(__name__, _MODULE_OF), names_of(__name__, _MODULE_OF)
