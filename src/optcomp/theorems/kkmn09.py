r"""KKMN09, names above a threshold: counts of values that nobody declared, told only where a noisy count is above it.

Noise X is drawn for each value that some row has, and a value of k rows is told with its noisy count if k + X > T.
Values that other people have, too, cost what the noise costs.  Those that one person alone has give the person away if
any of them is told, which happens with probability at most

    δ = max 1 - ∏_j (1 - P(X > T - k_j))      over all k_1, ..., k_m with m ≤ g, k_j ≤ w and Σ k_j ≤ r

for a person with r rows in at most g values and at most w rows in each.  Where the law of X is log-concave, so is its
distribution function (Prékopa; on integers: convolution keeps log-concavity), and h(k) = -log P(X ≤ T - k) is convex.
So for each m the worst is as many values with w rows as fit, one with the rest, and all others with one row: `shapes`
lists those m among which the largest sum of h lies.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from fractions import Fraction

from flint import arb

from optcomp.errors import HypothesisNotMet
from optcomp.numerics import SUM_BITS, Exact, ball, precision

ID = "KKMN09"
Shape = tuple[tuple[int, int], ...]
"""Numbers of rows, each with how many values have so many."""
Tail = Callable[[int], arb]
"""P(X > t) for a whole t >= 0, from above."""


def shapes(rows: int, groups: int, rows_per_group: int) -> tuple[Shape, ...]:
    """How one person's rows may lie in values that nobody else has, where δ is largest for some threshold.

    With one value more, a row moves from a value with several to one by itself.  Over the moves that empty one full
    value the sum of h is convex in the number of values; over whole such rounds it is linear.
    """
    most, each = min(groups, rows), rows_per_group
    if each == 1:
        return (((1, most),),)
    least = min(most, -(-rows // each))
    first = least + (rows - least) % (each - 1)
    last = most - (most - rows) % (each - 1)
    places = {place for place in (least, first, last, most) if least <= place <= most}
    return tuple(_shape(rows, place, each) for place in sorted(places))


def _shape(rows: int, values: int, each: int) -> Shape:
    """So many values: one row in each, then as many full as the other rows fill, and one with the rest."""
    more = min(rows - values, values * (each - 1))
    full, rest = divmod(more, each - 1)
    found = [(each, full), (1 + rest, 1 if rest else 0), (1, values - full - (1 if rest else 0))]
    return tuple((size, count) for size, count in found if count)


def leaked(tail: Tail, threshold: int, worst: Iterable[Shape]) -> arb:
    """The δ of a threshold, from above: the probability that any value of one person alone is told."""
    found = arb(0)
    for shape in worst:
        kept = arb(0)
        for size, count in shape:
            if size > threshold:
                raise HypothesisNotMet(ID, f"the threshold {threshold} must be at least the {size} rows of one value")
            kept += count * (-tail(threshold - size)).log1p()
        found = found.max(-kept.expm1())
    return found


def least_threshold(tail: Tail, delta: Exact, worst: Iterable[Shape]) -> int:
    """The least threshold whose δ is proved to be no larger than this one."""
    asked, known = Fraction(delta), tuple(worst)
    if not 0 < asked < 1:
        raise HypothesisNotMet(ID, f"δ must lie strictly between 0 and 1, and is {float(asked):g}")
    low = max(size for shape in known for size, _ in shape) - 1
    with precision(SUM_BITS):
        wanted, step = ball(asked), 1
        while not leaked(tail, low + step, known) <= wanted:
            low, step = low + step, 2 * step
        high = low + step
        while high - low > 1:
            middle = (low + high) // 2
            low, high = (low, middle) if leaked(tail, middle, known) <= wanted else (middle, high)
    return high
