r"""From tail sums to a proved root: what every enumeration of atoms shares.

For any set S of atoms (values l of L with their probabilities) write P_S for its probability and Q_S for its sum of
p e^{-l}.  Then P_S - e^y Q_S <= E(1 - e^{y-L})_+ =: F(y), with equality when S holds exactly the atoms above y.  So

- *lower*: whatever S is, log((P_S - t)/Q_S) is at most the y with F(y) = t: no atom needs to be placed exactly;
- *upper*: if S holds every atom above z + s and none below z - s, then
  F(z + s) <= P_S - e^z Q_S + (e^s - 1) P_S, because only atoms within s of z can be on the wrong side.

An enumeration therefore offers `lines(z)`, balls around P_S and Q_S for its S at z, its `slack` s, and a bound on
the probability of the atoms it has dropped.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Protocol

from flint import arb

from optcomp.numerics.balls import precision
from optcomp.numerics.saddle import Floats, excess_root_guess

_FLOORS = (4.0, 12.0, 40.0, math.inf)  # how much larger than t the (odds of the) excess is at the floor, in nats
_HIGH = -1e-14
_ENOUGH = 33


class BelowFloor(ArithmeticError):
    """A place below an enumeration's floor was asked for: list the atoms again with a lower one."""


class Enumeration(Protocol):
    """A way to sum over the atoms above a place."""

    @property
    def bits(self) -> int:
        """Working precision."""

    @property
    def slack(self) -> arb:
        """How far from z an atom may be and still be on the wrong side."""

    @property
    def dropped(self) -> arb:
        """Upper bound on the probability of the atoms left out."""

    def lines(self, z: arb) -> tuple[arb, arb]:
        """P_S and Q_S for the atoms above the exact point z, give or take `slack`."""


def enumerated_excess(atoms: Enumeration, y: arb) -> arb:
    """E(1 - e^{y-L})_+ as a ball."""
    with precision(atoms.bits):
        below = _height(atoms.lines(y.mid()), y).nonnegative_part().lower()
        return below.union(_upper(atoms, y))


def _height(line: tuple[arb, arb], y: arb) -> arb:
    return line[0] - y.exp() * line[1]


def _upper(atoms: Enumeration, y: arb) -> arb:
    z = (y - atoms.slack).lower()
    line = atoms.lines(z)
    return (_height(line, z) + atoms.slack.expm1() * line[0] + atoms.dropped).upper()


def enumerated_root(atoms: Enumeration, t: arb, guess: float, top: arb) -> arb:
    """The y >= 0 with E(1 - e^{y-L})_+ = t > 0, as a ball; `top` is the largest value of L."""
    with precision(atoms.bits):
        root = _newton(atoms, t, arb(guess), top)
        lower = root.nonnegative_part().lower()
        place = root.mid().nonnegative_part()
        above, damped = atoms.lines(place)
        step = atoms.slack * (2 + 2 * above / (place.exp() * damped)) + 2 * root.rad()
        upper = (root + step).upper().nonnegative_part()
        while upper < top:
            if _upper(atoms, upper) <= t.lower():
                return lower.union(upper)
            upper = (upper + step).upper()
            step = 2 * step
        return lower.union(top.upper())


def root_above_floor(build: Callable[[float], Enumeration], sizes: Floats, counts: Floats, t: arb, top: arb) -> arb:
    """`enumerated_root` for enumerations that list only atoms near and above a floor.

    The floor is guessed; where the guess was wrong, or too coarse a floor cost accuracy, the next one is tried and the
    brackets are intersected.
    """
    log_t = float(t.mid().log())
    guess = excess_root_guess(sizes, counts, log_t)
    found: arb | None = None
    for nats in _FLOORS:
        higher = _log_sigmoid(log_t - math.log1p(-math.exp(min(log_t, -1e-16))) + nats)
        floor = excess_root_guess(sizes, counts, higher) * (1 - 1e-6) if higher < _HIGH else 0.0
        try:
            root = enumerated_root(build(floor), t, max(guess, floor), top)
        except BelowFloor:
            continue
        found = root if found is None else found.intersection(root)
        if found.rel_accuracy_bits() > _ENOUGH or floor == 0.0:
            break
    if found is None:
        raise BelowFloor("no floor was low enough")
    return found


def _log_sigmoid(x: float) -> float:
    return -math.log1p(math.exp(-x)) if x > -700 else x


def _newton(atoms: Enumeration, t: arb, start: arb, top: arb) -> arb:
    """Climb along the lines: after one step every iterate is at most the root, and they increase."""
    z, best = start.mid(), arb.neg_inf()
    too_high: arb | None = None
    for _ in range(80):
        try:
            above, damped = atoms.lines(z)
        except BelowFloor:
            if too_high is None or not too_high - z > top / 2**30:
                raise
            z = ((z + too_high) / 2).mid()  # the last step back went too far
            continue
        rest = above - t
        if not rest.mid() > 0:
            if z.is_zero():
                return arb(-1)  # the excess at zero is already below t
            z, too_high = _lower(z, (above, damped), t, top), z
            continue
        root = _meeting(rest, damped)
        if not root.mid() > 0 or not root.mid() > best.mid() + best.rad() / 4 + atoms.slack / 4:
            return root if not best.is_finite() else best.max(root)
        best = root
        z = root.mid()
    return best


def _lower(z: arb, line: tuple[arb, arb], t: arb, top: arb) -> arb:
    """Where to go from a place too far up: along the slope of log F, else twice as far from the top."""
    height, drag = _height(line, z).mid(), (z.exp() * line[1]).mid()
    if height > 0 and drag > 0:
        step = -(height / t).log() * height / drag * arb("1.1")
        if step > 0:
            return (z - step.max(top / 2**30)).nonnegative_part().mid()
    return (top - 2 * (top - z).max(top / 1000)).nonnegative_part().mid()


def _meeting(rest: arb, damped: arb) -> arb:
    """log(rest/damped); where rest may vanish the ball is widened down to zero, which no root is below."""
    if not damped > 0:
        return arb(0)
    root = (rest / damped).log()
    if root.is_finite():
        return root
    middle = (rest.mid() / damped.mid()).log()
    return middle.union(middle.min(arb(0)))
