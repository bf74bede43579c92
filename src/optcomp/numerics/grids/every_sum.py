r"""Few losses on whole numbers: all their sums, listed in two halves.

P and Q are the masses of a sequence of answers under the two laws.  The rounds are put into two groups, and the sums
of each group are listed with their masses.  With a and b from the two lists and E the pairs whose sum is above y,

    \sum_E (P_a P_b - e^y Q_a Q_b)  <=  F(y)  <=  the same + what a wrong E misses + the mass of what is not listed.

Any E gives the left side, because F is the largest such sum over all sets.  So places need not be exact: a pair that
is on the wrong side of y by at most s adds at most s of its mass to the right side.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import cached_property

import numpy as np
from flint import arb

from optcomp.numerics.balls import FLOAT_BITS, float_up, precision
from optcomp.numerics.blocked import LIBM, Floats, U, blocked_sum, suffix_sums, sum_error
from optcomp.numerics.contour.independent import Independent
from optcomp.numerics.contour.plan import saddle_for
from optcomp.numerics.grids.answers import NEAR, NOTHING, Found
from optcomp.numerics.laws.atoms import AtomicLaw
from optcomp.numerics.laws.law import Summand
from optcomp.numerics.laws.whole_law import WholeLaw

_MOST_SUMS = 1 << 17
"""Sums of a list: an answer is then a matter of a second."""
_PLACE = 4000.0
"""About the nanoseconds that a listed sum costs in all looks together."""
_FAINT = 34.0
"""What is not listed is e^-34 of F, 1e-15."""
_LEAST_LOG = -600.0
"""Smaller F is left to other methods."""
_UNKNOWN = -60.0
"""About the log of the least F that is asked for where nothing else is known."""
_MOST_EXPONENT = 700.0
"""Exponentials beyond this overflow."""
_LOOKS, _STEEP = 120, 30.0
"""Looks for a root, and logs of F over t that count as larger than this are not told apart."""
_TINY = 1e-290
"""More than all masses that are too small for a float."""

Counted = Sequence[tuple[WholeLaw | AtomicLaw, int]]


def listed_laws(laws: Sequence[tuple[Summand, int]]) -> Counted | None:
    """The laws if all have values that can be listed and some lie on whole numbers; None otherwise."""
    known = [(law, copies) for law, copies in laws if isinstance(law, WholeLaw | AtomicLaw)]
    if len(known) < len(laws) or not any(isinstance(law, WholeLaw) for law, _ in known):
        return None
    return known if all(law.whole for law, _ in known) else None


@dataclass(frozen=True, eq=False)
class Sums:
    """Sums of losses with their masses under both laws, in ascending order."""

    place: Floats
    own: Floats
    other: Floats

    def beside(self, more: Sums) -> Sums:
        """All sums of one of these and one of those."""
        place = np.add.outer(self.place, more.place).ravel()
        order = np.argsort(place, kind="stable")
        own, other = (
            np.multiply.outer(*pair).ravel()[order] for pair in ((self.own, more.own), (self.other, more.other))
        )
        return Sums(place[order], own, other)


class EverySum:
    """The way over all sums."""

    def __init__(self, laws: Counted) -> None:
        self._laws = laws

    def root(self, log_t: tuple[float, float], rtol: float, work: float, known: float = 0.0) -> Found | None:
        """The y >= 0 with F(y) = t; None where this is no way to find it."""
        made = self._made(log_t[0], work) if log_t[0] >= _LEAST_LOG else None
        if made is None:
            return None
        if known > 0 and made.sides(known)[1] <= log_t[0]:
            return Found(0.0, known, made.count, False)
        rest = math.log(-math.expm1(min(log_t[0], -1e-15)))
        with np.errstate(all="ignore"):
            saddle = saddle_for(Independent(self._laws, made.top), log_t[0], rest)
        y, near = min(max(saddle.y, 0.0), made.top), max(NEAR, 1e-3 * rtol)
        upper = _passing(lambda place: made.sides(place)[1] - log_t[0], y, made.top, near)[1]
        if math.isinf(upper):
            return None
        lower = _passing(lambda place: made.sides(place)[0] - log_t[1], upper, made.top, near)[0]
        return Found(lower, upper, made.count, upper - lower > rtol * upper + NOTHING)

    def excess(self, y: float, rtol: float, work: float) -> Found | None:
        """log F(y); None where this is no way to find it."""
        found = self._excess(y, rtol, self._made(_UNKNOWN, work))
        if found is None or not found.capped or found.lower > _UNKNOWN + 1:
            return found
        return self._excess(y, rtol, self._made(max(found.upper, 2 * _UNKNOWN) - 5, work)) or found

    @staticmethod
    def _excess(y: float, rtol: float, made: TwoLists | None) -> Found | None:
        if made is None:
            return None
        low, high = made.sides(y)
        return Found(low, min(high, 0.0), made.count, not -math.expm1(low - high) <= rtol)

    def _made(self, log_f: float, work: float) -> TwoLists | None:
        """Both lists, with all that matters to an F of this size."""
        copies = sum(count for _, count in self._laws)
        deviations = math.sqrt(2 * (_FAINT - log_f + math.log(copies)))
        ranges = [law.reach(deviations) if isinstance(law, WholeLaw) else None for law, _ in self._laws]
        sizes = [
            law.places.size if isinstance(law, AtomicLaw) else ends[1] - ends[0] + 1 if ends else 0
            for ends, (law, _) in zip(ranges, self._laws, strict=True)
        ]
        halves = _halves(sizes, [count for _, count in self._laws])
        most = min(_MOST_SUMS, work / _PLACE)
        if any(math.prod(_ways(m, n) for m, n in zip(sizes, half, strict=True)) > most for half in halves):
            return None
        with precision(FLOAT_BITS + int(-2 * log_f)):
            rounds, missed, far = [], arb(0), 0.0
            for (law, count), ends in zip(self._laws, ranges, strict=True):
                one, rest = _one_round(law, ends)
                rounds.append(one)
                missed += count * rest
                far += count * float(np.abs(one.place).max())
        left, right = (_group(rounds, half) for half in halves)
        return TwoLists(left, right, copies, far, float_up(missed))


def _passing(over: Callable[[float], float], y: float, top: float, near: float) -> tuple[float, float]:
    """Places before and behind the root of what falls, each proved but 0 and infinity; by false position, from y.

    F is linear in e^y from sum to sum, with corners between, so every third step is a bisection.
    """
    low, high, at = 0.0, math.inf, [math.nan, math.nan]
    for number in range(_LOOKS):
        value = over(y)
        if value > 0:
            low, at[0] = y, math.expm1(min(value, _STEEP))
        else:
            high, at[1] = y, math.expm1(max(value, -_STEEP))
        if high == 0 or (math.isfinite(high) and high - low <= max(near * high, NOTHING)):
            break
        if math.isinf(high):
            if y > 2 * top:
                break
            y = max(1.02 * y + 0.001 * top, 2 * y - 0.5 * y * (number < 2))
            continue
        share = at[0] / (at[0] - at[1]) if math.isfinite(at[0] + at[1]) else 0.5
        share = 0.5 if number % 3 == 2 else min(max(share, 0.0), 1.0)
        inner = 0.4 * near * high
        y = 0.0 if low == 0 and math.isnan(at[0]) else min(max(low + share * (high - low), low + inner), high - inner)
    return low, high


def _halves(sizes: Sequence[int], copies: Sequence[int]) -> tuple[list[int], list[int]]:
    """How many copies of each law go into each list: half of them, and odd ones into the shorter list."""
    left, right = [count // 2 for count in copies], [count // 2 for count in copies]
    for i, count in enumerate(copies):
        if count % 2:
            shorter = left if _log_size(sizes, left) <= _log_size(sizes, right) else right
            shorter[i] += 1
    return left, right


def _log_size(sizes: Sequence[int], copies: Sequence[int]) -> float:
    return sum(math.log(_ways(size, count)) for size, count in zip(sizes, copies, strict=True))


def _ways(size: int, copies: int) -> int:
    """How many sums of so many values there are, order aside."""
    return math.comb(size + copies - 1, copies)


def _one_round(law: WholeLaw | AtomicLaw, ends: tuple[int, int] | None) -> tuple[Sums, arb]:
    """The values of one loss, and the mass of those that are not listed; each number within u of a tight ball."""
    if isinstance(law, AtomicLaw):
        atoms, rest = [(value, p, p * (-value).exp()) for value, p in law.atoms()], arb(0)
    else:
        assert ends is not None
        atoms = law.listed_pair(*ends)
        rest = (1 - sum((own for _, own, _ in atoms), arb(0))).max(arb(0))
    place, own, other = (np.array([float(atom[i].mid()) for atom in atoms]) for i in range(3))
    return Sums(place, own, other), rest


def _group(rounds: Sequence[Sums], copies: Sequence[int]) -> Sums:
    """All sums of so many copies of each."""
    found = Sums(np.zeros(1), np.ones(1), np.ones(1))
    for one, count in zip(rounds, copies, strict=True):
        if count:
            found = found.beside(_repeated(one, count))
    return found


def _repeated(one: Sums, copies: int) -> Sums:
    """All sums of so many copies, order aside: value by value, how often it comes up, with p^k/k!."""
    nothing = Sums(np.zeros(0), np.zeros(0), np.zeros(0))
    known = [Sums(np.zeros(1), np.ones(1), np.ones(1)), *[nothing] * copies]
    for place, own, other in zip(one.place.tolist(), one.own.tolist(), one.other.tolist(), strict=True):
        parts = [[sums] for sums in known]
        for used, sums in enumerate(known[:copies]):
            mass = weight = 1.0
            for k in range(1, copies - used + 1):
                mass, weight = mass * own / k, weight * other / k
                parts[used + k].append(Sums(sums.place + k * place, sums.own * mass, sums.other * weight))
        known = [_joined(each) for each in parts]
    found, scale = known[copies], float(math.factorial(copies))
    order = np.argsort(found.place, kind="stable")
    return Sums(found.place[order], found.own[order] * scale, found.other[order] * scale)


def _joined(parts: Sequence[Sums]) -> Sums:
    """One after another, in no order."""
    columns = ([getattr(part, name) for part in parts] for name in ("place", "own", "other"))
    place, own, other = (np.concatenate(column) for column in columns)
    return Sums(place, own, other)


class TwoLists:
    """F between two numbers, from both lists.

    `far` is the sum of the largest losses, whatever their signs, and `missed` at least the mass that is not listed.
    """

    def __init__(self, left: Sums, right: Sums, copies: int, far: float, missed: float) -> None:
        self._left, self._right, self._far, self._missed = left, right, far, missed
        self.count = left.place.size + right.place.size
        self.top = float(left.place[-1] + right.place[-1])
        self._copies = copies
        sums = 1.01 * (sum_error(left.place.size) + sum_error(right.place.size))
        self._rough = sums + U * (12 * copies + 4 * LIBM + 64)

    @cached_property
    def _above(self) -> tuple[Floats, Floats]:
        """Masses of the second list from each place on, and 0 behind the last."""
        right = self._right
        return np.append(suffix_sums(right.own), 0.0), np.append(suffix_sums(right.other), 0.0)

    def sides(self, y: float) -> tuple[float, float]:
        """log F(y) between two numbers."""
        slip = 8 * U * (self._copies + 8) * (self._far + abs(y))
        wanted = y - self._left.place
        index = np.searchsorted(self._right.place, wanted, side="right")
        own = blocked_sum(self._left.own * self._above[0][index])
        other = blocked_sum(self._left.other * self._above[1][index])
        weighed = math.exp(y) * other if y < _MOST_EXPONENT else math.inf
        error = 1.01 * self._rough * (own + weighed)
        near = self._near(wanted, slip)
        missed = 1.01 * slip * (near + 4 * self._rough * (own + near)) + self._missed * (1 + 4 * U) + _TINY
        low, high = own - weighed - error - _TINY, own - weighed + error + missed
        if not math.isfinite(high):
            high = own * (1 + self._rough) + missed + near
        return _log(low, -1), _log(high, +1)

    def _near(self, wanted: Floats, slip: float) -> float:
        """About the mass of the pairs whose sum may be on either side of y, never less but for round-off."""
        first = np.searchsorted(self._right.place, wanted - 2 * slip, side="left")
        last = np.searchsorted(self._right.place, wanted + 2 * slip, side="right")
        mass = self._above[0][first] - self._above[0][last]
        return blocked_sum(self._left.own * np.maximum(mass, 0.0))


def _log(value: float, direction: int) -> float:
    """The log, rounded in a direction."""
    if not value > 0:
        return -math.inf
    log = math.log(value)
    return log + direction * (LIBM + 2) * U * (abs(log) + 1)
