r"""Why exact optimal composition is hard: whoever computes it to a few bits can count the solutions of a puzzle.

Murtagh and Vadhan (section 4, Theorem 1.6) reduce a counting problem that is as hard as any in #P to OptComp:

    #INT-PARTITION  <=  #PARTITION  <=  #T-PARTITION  <=  SUM-PARTITION  <=  OptComp

Here each "<=" is a function that solves the problem on its left and takes an *oracle* for the problem on its right.  An
oracle is any callable of the right type: the next function of the chain, at its end `optcomp_delta`, which is this
library's own exact composition, or in tests a list of all subsets (`..._by_listing`).

Two conventions.  A subset P of [k] may be empty or all of [k], and an empty product is 1.  A real number is answered by
an `Interval` that contains it and is at most 2^-bits long.  Every rounding is outward, so a count is read off an
interval that holds one integer only; an oracle that breaks its promise may leave none, and then the reading fails.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from fractions import Fraction
from functools import partial
from typing import NamedTuple

from flint import arb, fmpz

from optcomp.composition import compose
from optcomp.errors import InvalidInput
from optcomp.numerics import ball, fraction, precision


class Interval(NamedTuple):
    """A real number known to lie between two rationals, ends included."""

    low: Fraction
    high: Fraction

    @property
    def length(self) -> Fraction:
        """How little is known about the number."""
        return self.high - self.low


@dataclass(frozen=True)
class Roots:
    """The real numbers w_i = z_i^(1/D): `radicands` are the positive integers z_i, `degree` is D.

    A radicand may be repeated.  Roots are taken so that the ε_i = ln w_i of the last step are as small as one likes.
    """

    radicands: tuple[int, ...]
    degree: int = 1

    def __post_init__(self) -> None:
        _check_positive("radicands", self.radicands)
        _check_positive("degree", [self.degree])

    @property
    def product(self) -> int:
        r"""\prod z_i, the D-th power of the product of all w_i."""
        return math.prod(self.radicands)

    def root(self, radicand: Fraction | int) -> arb:
        """The D-th root of a number, as a ball."""
        return ball(radicand).root(self.degree)


PartitionOracle = Callable[[Roots], int]
"""#PARTITION: how many P have equal products of w inside and outside?"""
GapOracle = Callable[[Roots, int, int], int]
"""#T-PARTITION: for how many P is the product inside larger by exactly T = t^(1/D) - t'^(1/D)?  Takes t and t'."""
SumOracle = Callable[[Roots, Fraction, int], Interval]
"""SUM-PARTITION at a rational r > 1, to so many bits: the sum over P of (product inside - r * product outside)_+."""
DeltaOracle = Callable[[Sequence[Fraction], Fraction, int], Interval]
"""OptComp from given ε_i and a total ε to the least δ, to so many bits."""
EpsilonOracle = Callable[[Sequence[Fraction], Fraction, int], Interval]
"""OptComp from given ε_i and a total δ to the least ε, to so many bits."""


# The chain.


def count_by_composition(integers: Sequence[int], oracle: DeltaOracle | None = None) -> int:
    """Count the ways to split integers into two sets of equal product, by asking how private compositions are.

    The whole chain; unless some other oracle is given, `optcomp_delta` answers.  It is asked eight times at most,
    however many integers there are.
    """
    sums = partial(sum_partition, oracle=oracle or optcomp_delta)
    gaps = partial(count_gap_partitions, oracle=sums)
    return count_integer_partitions(integers, partial(count_partitions, oracle=gaps))


def count_integer_partitions(integers: Sequence[int], oracle: PartitionOracle, most: Fraction = Fraction(2)) -> int:
    r"""#INT-PARTITION: in how many ways do integers fall into two sets of equal product?

    Lemma 4.10: x -> x^(1/D) is increasing, so the roots w_i = z_i^(1/D) split evenly exactly where the z_i do.  D is
    the least positive integer with \prod w_i <= `most`, any number above 1.  (The paper's ⌈log_c \prod z_i⌉ is 0 when
    all z_i are 1.)
    """
    if most <= 1:
        raise InvalidInput("most", most, "must be above 1")
    product, degree = Roots(tuple(integers)).product, 1
    while most**degree < product:
        degree += 1
    return oracle(Roots(tuple(integers), degree))


def count_partitions(roots: Roots, oracle: GapOracle) -> int:
    r"""#PARTITION: for how many P is \prod_P w = \prod_{not P} w?

    Lemma 4.11: add w = \prod w_i to the list and ask for the gap T = √w (w - 1).  With the new number inside, and v
    the product of the other numbers inside, w v - w/v = T only for v = √w, an even split.  With it outside, the gap is
    at most v - w <= 0 < T.  T has square roots in it, so w_i is written as the 2D-th root of z_i²; with Z = \prod z_i
    then t = Z³ and t' = Z.

    If all numbers are 1 then T = 0, which is no instance of the next problem; all 2^k subsets are even splits.  (The
    paper says 2^k - 2, leaving out the empty set and its complement; by its Definition 4.7 they count.)
    """
    product = roots.product
    if product == 1:
        return 1 << len(roots.radicands)
    squares = tuple(z**2 for z in (*roots.radicands, product))
    return oracle(Roots(squares, 2 * roots.degree), product**3, product)


def count_gap_partitions(roots: Roots, larger: int, smaller: int, oracle: SumOracle) -> int:
    r"""#T-PARTITION: for how many P is \prod_P w - \prod_{not P} w = T = larger^(1/D) - smaller^(1/D) > 0?

    Lemma 4.13: the gap v - w/v grows with v = \prod_P w, and v^D = \prod_P z is an integer, so all P with gap T
    have the same v^D, the `_pivot` j; and P with v^D >= j + 1 are those with a larger gap.  If A(j) is the sum of the
    gaps over all P with v^D >= j, the answer is (A(j) - A(j+1))/T.  Each A is known up to T/8 (`_gaps_from`) and T up
    to a relative 2^-(k+3), so the quotient, at most 2^k, is known up to 1/2: one integer is left.
    """
    pivot = _pivot(roots, larger, smaller)
    if pivot is None:
        return 0
    gap = _positive(lambda: roots.root(larger) - roots.root(smaller), len(roots.radicands) + 3)
    at, above = (_gaps_from(roots, place, gap.low / 8, oracle) for place in (pivot, pivot + 1))
    return _only_integer(max(Fraction(0), at.low - above.high) / gap.high, (at.high - above.low) / gap.low)


def sum_partition(roots: Roots, ratio: Fraction, bits: int, oracle: DeltaOracle) -> Interval:
    r"""SUM-PARTITION: the sum over P of (\prod_P w - r \prod_{not P} w)_+, as optimal composition.

    With ε_i = ln w_i and ε = ln r that sum is δ(ε) \prod(1 + w_i), by Theorem 1.5.  Logarithms are irrational and the
    oracle takes rationals, so it is asked twice: δ grows with every ε_i (an ε_i-private mechanism is also private with
    any larger ε_i) and falls with ε, so ε_i rounded down and ε up give a lower end, the other way round an upper end.

    *How many bits suffice.*  δ is a maximum over events E of P(E) - r Q(E), and P and Q toss coins with heads of
    probability 1/(1 + e^∓ε_i), whose slope in ε_i is at most 1/4; so δ moves by at most (1 + r)/4 for each unit of ε_i.
    Its slope in ε is -e^ε Q(L > ε), at least -P(L > ε) >= -1.  With all roundings, and both answers, within 2^-p the
    ends for δ are at most (3 + k(1 + r)/4) 2^-p apart.  (The paper shows first that no P changes sides, its Claim 4.17;
    a sum of positive parts is continuous across that change, so nothing depends on it.)
    """
    if ratio <= 1:
        raise InvalidInput("ratio", ratio, "must be above 1")
    scale = _enclosed(lambda: _product(1 + roots.root(z) for z in roots.radicands), bits + 1)
    inner = bits + 1 + _bits_of(scale.high * (3 + len(roots.radicands) * (1 + ratio) / 4))
    logs = {z: _enclosed(partial(_log, z, roots.degree), inner) for z in set(roots.radicands)}
    goal = _enclosed(partial(_log, ratio, 1), inner)
    least = oracle([logs[z].low for z in roots.radicands], goal.high, inner).low
    most = oracle([logs[z].high for z in roots.radicands], max(goal.low, Fraction(0)), inner).high
    return Interval(max(least, Fraction(0)) * scale.low, most * scale.high)


def optcomp_delta(epsilons: Sequence[Fraction], epsilon: Fraction, bits: int) -> Interval:
    """The least total δ at a total ε of mechanisms that are ε_i-private: this library's own exact composition."""
    return _proved(compose(epsilons, epsilon=epsilon, bits=bits).enclosure)


def optcomp_epsilon(epsilons: Sequence[Fraction], delta: Fraction, bits: int) -> Interval:
    """OptComp as the paper defines it: the least total ε at a total δ, by this library's own exact composition."""
    return _proved(compose(epsilons, delta=delta, bits=bits).enclosure)


def by_bisection(oracle: EpsilonOracle) -> DeltaOracle:
    """An oracle from ε to δ made of one from δ to ε: the two forms of OptComp are equally hard.

    δ(ε) is continuous with a slope between -1 and 0.  So OptComp(d) <= x gives δ(x) <= d, hence δ(ε) <= d + (x - ε)_+;
    and OptComp(d) >= x > 0 gives δ(x) >= d, hence δ(ε) >= d - (ε - x)_+.  Each question halves what is left.
    """

    def delta_at(epsilons: Sequence[Fraction], epsilon: Fraction, bits: int) -> Interval:
        low, high = Fraction(0), Fraction(1)
        while (high - low) * 2**bits > 1:
            middle = (low + high) / 2
            found = oracle(epsilons, middle, bits + 2)
            high = min(high, middle + max(found.high - epsilon, Fraction(0)))
            if found.low > 0:
                low = max(low, middle - max(epsilon - found.low, Fraction(0)))
        return Interval(low, high)

    return delta_at


# Every problem of the chain by listing all 2^k subsets.


def integer_partitions_by_listing(integers: Sequence[int]) -> int:
    """#INT-PARTITION, one subset after another."""
    return sum(inside == outside for inside, outside in _splits(integers))


def partitions_by_listing(roots: Roots) -> int:
    """#PARTITION, one subset after another: roots are equal where their radicands are."""
    return integer_partitions_by_listing(roots.radicands)


def gap_partitions_by_listing(roots: Roots, larger: int, smaller: int) -> int:
    """#T-PARTITION, one subset after another."""
    return sum(
        vanishes(roots.degree, [(1, inside), (-1, outside), (-1, larger), (1, smaller)])
        for inside, outside in _splits(roots.radicands)
    )


def sum_by_listing(roots: Roots, ratio: Fraction, bits: int) -> Interval:
    """SUM-PARTITION, one subset after another."""

    def total() -> arb:
        gaps = (roots.root(inside) - ball(ratio) * roots.root(outside) for inside, outside in _splits(roots.radicands))
        return sum((gap.nonnegative_part() for gap in gaps), arb(0))

    return _enclosed(total, bits)


def delta_by_listing(epsilons: Sequence[Fraction], epsilon: Fraction, bits: int) -> Interval:
    """The least δ at ε by Theorem 1.5, one subset after another."""

    def total() -> arb:
        pairs = [(arb(1), ball(epsilon).exp())]
        for eps in epsilons:
            heads, tails = (1 / (1 + ball(sign * eps).exp()) for sign in (-1, 1))
            pairs = [pair for p, q in pairs for pair in ((p * heads, q * tails), (p * tails, q * heads))]
        return sum(((p - q).nonnegative_part() for p, q in pairs), arb(0))

    return _enclosed(total, bits)


def _splits(integers: Iterable[int]) -> list[tuple[int, int]]:
    """The products inside and outside, for every subset."""
    pairs = [(1, 1)]
    for z in integers:
        pairs = [pair for a, b in pairs for pair in ((a * z, b), (a, b * z))]
    return pairs


# What the third step needs.


def vanishes(degree: int, terms: Iterable[tuple[int, int]]) -> bool:
    """Whether a sum of c * a^(1/D) is exactly zero, for integers c and a >= 0.

    Positive real roots of rationals are linearly independent over the rationals unless two of them have a rational
    ratio (Besicovitch 1940, Siegel 1972).  So terms with rational ratios are added up, and each sum must be zero.
    """
    sums: dict[int, Fraction] = {}
    for coefficient, radicand in terms:
        base, share = radicand, Fraction(1)
        for known in sums:
            ratio = rational_root(Fraction(radicand, known), degree)
            if ratio is not None:
                base, share = known, ratio
                break
        if radicand:
            sums[base] = sums.get(base, Fraction(0)) + coefficient * share
    return not any(sums.values())


def rational_root(value: Fraction, degree: int) -> Fraction | None:
    """The D-th root of a rational, if it is rational: numerator and denominator must both be D-th powers."""
    top, bottom = (int(fmpz(part).root(degree)) for part in (value.numerator, value.denominator))
    root = Fraction(top, bottom)
    return root if root**degree == value else None


def _pivot(roots: Roots, larger: int, smaller: int) -> int | None:
    r"""The integer j = \prod_P z of every P whose gap is T; None if there can be no such P.

    v - w/v = T has one positive root v = (T + √(T² + 4w))/2, and j = v^D must be an integer that divides \prod z.
    """
    if not larger > smaller >= 0:
        raise InvalidInput("larger, smaller", (larger, smaller), "must satisfy larger > smaller >= 0")

    def power() -> arb:
        gap = roots.root(larger) - roots.root(smaller)
        return ((gap + (gap**2 + 4 * roots.root(roots.product)).sqrt()) / 2) ** roots.degree

    near = _enclosed(power, 2)
    j = math.floor(near.high)
    if j < near.low or roots.product % j:
        return None
    same = vanishes(roots.degree, [(1, j), (-1, roots.product // j), (-1, larger), (1, smaller)])
    return j if same else None


def _gaps_from(roots: Roots, place: int, error: Fraction, oracle: SumOracle) -> Interval:
    r"""A(place): the sum of \prod_P w - \prod_{not P} w over all P with \prod_P z >= place, to within `error`.

    These are the P with \prod_P w > r \prod_{not P} w, for any r that `_ratios` allows.  So the oracle gives
    S(r) = X - r Y for the sums X and Y of the two products, and two values of r give A = X - Y (Claim 4.16).
    """
    first, second = _ratios(roots, place)
    apart = second - first
    bits = _bits_below(error * apart / (2 * (second - 1)))
    one, two = oracle(roots, first, bits), oracle(roots, second, bits)
    low = ((second - 1) * one.low - (first - 1) * two.high) / apart
    high = ((second - 1) * one.high - (first - 1) * two.low) / apart
    return Interval(low, high)


def _ratios(roots: Roots, place: int) -> tuple[Fraction, Fraction]:
    r"""Two rationals above 1, well apart, that tell \prod_P z >= place from \prod_P z <= place - 1.

    \prod_P w > r \prod_{not P} w means (\prod_P z)² > r^D \prod z, so r must lie between the D-th roots of
    (place - 1)²/\prod z and place²/\prod z (Claim 4.15).  The lower one may be below 1, where no r may be asked.
    """
    squares = (max(Fraction((place - 1) ** 2, roots.product), Fraction(1)), Fraction(place**2, roots.product))
    bits = 8
    while True:
        below, above = (_enclosed(partial(roots.root, square), bits) for square in squares)
        room = above.low - below.high
        if room * 2**bits >= 16:
            unit = Fraction(1, 2**bits)
            first = math.ceil((below.high + room / 3) / unit) * unit
            return first, math.floor((above.low - room / 3) / unit) * unit
        bits += 8


# Numbers between rationals.


def _enclosed(number: Callable[[], arb], bits: int) -> Interval:
    """A number between multiples of 2^-(bits+2) at most 2^-bits apart, from ball arithmetic of growing precision."""
    unit, working = 2 ** (bits + 2), bits + 32
    while True:
        with precision(working):
            value = number()
            if value.is_finite():
                low, high = fraction(value.lower()) * unit, fraction(value.upper()) * unit
                if high - low <= 1:  # rounded outward, at most three units
                    return Interval(Fraction(math.floor(low), unit), Fraction(math.ceil(high), unit))
        working *= 2


def _positive(number: Callable[[], arb], bits: int) -> Interval:
    """A positive number between rationals whose distance is at most 2^-bits of the lower one."""
    absolute = bits
    while True:
        ends = _enclosed(number, absolute)
        if ends.length * 2**bits <= ends.low:
            return ends
        absolute *= 2


def _only_integer(low: Fraction, high: Fraction) -> int:
    """The integer between two numbers; anything but exactly one means that an oracle has not kept its promise."""
    first, last = math.ceil(low), math.floor(high)
    if first != last:
        raise ArithmeticError(f"{last - first + 1} integers lie between {float(low)} and {float(high)}")
    return first


def _bits_below(size: Fraction) -> int:
    """A number of bits, at least 1, with 2^-bits <= size."""
    return max(1, _bits_of(1 / size))


def _bits_of(size: Fraction) -> int:
    """A whole number at least log2(size)."""
    return size.numerator.bit_length() - size.denominator.bit_length() + 1


def _log(value: Fraction | int, degree: int) -> arb:
    return ball(value).log() / degree


def _product(factors: Iterable[arb]) -> arb:
    return math.prod(factors, start=arb(1))


def _proved(enclosure: tuple[Fraction, Fraction] | None) -> Interval:
    if enclosure is None:
        raise ArithmeticError("composition to a given number of bits must have rational ends")
    return Interval(*enclosure)


def _check_positive(argument: str, values: Iterable[object]) -> None:
    for value in values:
        if isinstance(value, bool) or not isinstance(value, int) or value < 1:
            raise InvalidInput(argument, value, "must be positive integers")
