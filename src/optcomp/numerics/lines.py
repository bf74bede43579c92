r"""From tail sums to a proved root: what every enumeration of atoms shares.

For any set S of atoms (values l of L with their probabilities) write P_S for its probability and Q_S for its sum of
p e^{-l}.  Then P_S - e^y Q_S <= E(1 - e^{y-L})_+ =: F(y), with equality when S holds exactly the atoms above y.  So

- *lower*: whatever S is, P_S - e^y Q_S >= t proves that the root is at y or beyond it: no atom needs to be placed
  exactly;
- *upper*: if S holds every atom above z + s and none below z - s, then
  F(z + s) <= P_S - e^z Q_S + (e^s - 1) P_S, because only atoms within s of z can be on the wrong side.

An enumeration therefore offers `lines(z)`, balls around P_S and Q_S for its S at z, its `slack` s, and a bound on
the probability of the atoms it has dropped.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator
from typing import Protocol

from flint import arb

from optcomp.numerics.balls import precision
from optcomp.numerics.blocked import Floats
from optcomp.numerics.roots import Side, certified_root
from optcomp.numerics.saddle import excess_root_guess

_FLOORS = (4.0, 12.0, 40.0, math.inf)  # how much larger than t the (odds of the) excess is at the floor, in nats
_HIGH = -1e-14  # log of an excess so near to 1 that the floor is the bottom
_ENOUGH = 33  # bits: ten digits are worth no second list of atoms
_STEPS = 200  # of Newton's method; halving alone needs no more than the bits of the answer
_WIDENINGS = 64  # doublings of the distance at which a side is proved
_EXPLAINED = 64  # a bracket may be so many times as wide as what one place leaves open


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
        climb = _Climb(atoms, t, top)
        low, high = certified_root(climb.side, arb(0), top.upper(), climb.proposals(arb(guess)), climb.middle)
        return low.union(high)


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


class _Climb:
    """The root on a list of atoms: Newton's method proposes, and each side of a place is proved by itself."""

    def __init__(self, atoms: Enumeration, t: arb, top: arb) -> None:
        self._atoms, self._t, self._top = atoms, t, top
        self._step = top * arb(2) ** -atoms.bits
        """About how far from the root a side can be proved."""

    def side(self, y: arb) -> Side:
        """RIGHT by the line at y, whichever atoms it holds; LEFT by the upper bound on F(y)."""
        if _height(self._atoms.lines(y), y) >= self._t:
            return Side.RIGHT
        return Side.LEFT if _upper(self._atoms, y) <= self._t else Side.UNDECIDED

    def proposals(self, guess: arb) -> Iterator[arb]:
        """Around the place that Newton's method finds: in either direction further and further, until it is proved."""
        root = self._newton(guess.mid())
        for direction, wanted in ((-1, Side.RIGHT), (1, Side.LEFT)):
            step = self._step
            for _ in range(_WIDENINGS):
                place = (root + direction * step).mid().nonnegative_part()
                yield place
                if not 0 < place < self._top or self.side(place) is wanted:
                    break
                step = 2 * step

    def middle(self, low: arb, high: arb) -> arb | None:
        """Halfway, while the two are further apart than the accuracy of the atoms explains."""
        if high - low <= _EXPLAINED * self._step:
            return None
        return ((low + high) / 2).mid()

    def _newton(self, z: arb) -> arb:
        """About the root: by the line at z where F is near t, else by the slope of log F, kept between the signs."""
        low, high = arb(0), self._top.mid()
        for _ in range(_STEPS):
            try:
                line = self._atoms.lines(z)
            except BelowFloor:
                low, z = z, ((z + high) / 2).mid()
                continue
            low, high = (z, high) if _height(line, z).mid() > self._t.mid() else (low, z)
            after = self._after(z, line)
            if after is not None and abs(after - z) <= self._step:
                return after
            z = after if after is not None and low < after < high else ((low + high) / 2).mid()
            if high - low <= self._step:
                break
        return z

    def _after(self, z: arb, line: tuple[arb, arb]) -> arb | None:
        """Where a step from z leads, if it leads anywhere."""
        height, rest, drag = _height(line, z).mid(), line[0] - self._t, (z.exp() * line[1]).mid()
        if not drag > 0:
            return None
        if rest.mid() > 0:
            blur = rest.rad() / rest.mid() + line[1].rad() / line[1].mid()
            self._step = (self._atoms.slack * (2 + 2 * line[0] / drag) + 2 * blur).upper()
            if abs(height - self._t.mid()) <= self._t.mid():
                return (rest.mid() / line[1].mid()).log().mid().nonnegative_part()
        return (z + (height / self._t).log() * height / drag).mid() if height > 0 else None
