r"""Most nodes at once: a bound on log|φ| that is a sum of cosines, from a product of matrices of whole numbers.

With ρ = e^{-2ε(c+½)} and u = cos 2θε a coin has log|cos θε + iκ sin θε| = f(u) - log(1+ρ), f(u) = ½ log(1 + ρ² + 2ρu).
The third derivative of f is positive, so the parabola that touches f at -½ and passes through f(1) is nowhere below
it on [-1, 1]: f less the parabola is f'''(ξ) (u+½)² (u-1)/6.  With u² = (1 + cos 4θε)/2 this gives

    log|φ(θ)| <= \sum_j β_j cos(2θx_j) - A,    x_j = ε_i and 2ε_i;

within r of θ a cosine changes by at most 2rx_j.  Cosines of sums of angles are two products, so that whole rows of
nodes times columns of nodes are one product of matrices; FLINT multiplies whole numbers exactly.
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from typing import NamedTuple

from flint import arb, fmpz_mat

from optcomp.checker.balls import GUESS_BITS, working
from optcomp.checker.effort import look, looked
from optcomp.checker.kernels import Kernel, WithDensity
from optcomp.checker.line import Line

_DIGITS = 20
"""Binary digits of a cosine, and of β times a cosine."""
_FINE, _ONE, _DOWN = 2 * _DIGITS, 1 << 2 * _DIGITS, 3 * _DIGITS
"""Digits on the way, 1 with so many of them, and what a product with β is too long by."""
_OFF = 1.01
"""More than an entry is off: rounding down, and what was lost on the way, 20 |β| 2^-20."""
_MOST_WEIGHT = 256
"""β beyond this would need more digits on the way."""
_STRIDES = (15, 9, 5, 3, 1)
"""How many nodes one look may serve."""
_USUAL = 2.5
"""Most nodes are no further than this many standard deviations from the mean: for choosing how to look."""
_LEAST, _MOST = 2048, 1 << 16
"""Groups of nodes looked at together."""
_MOST_COINS = 400
"""More coins, or fewer nodes, are looked at in ranges."""
_SECONDS = 7e-7, 2.5e-9
"""About what an entry of a matrix, and a product of two, cost."""

Range = tuple[int, int]
Wave = tuple[arb, arb]
"""x and β."""


class Waves(NamedTuple):
    """The bound for one line."""

    parts: list[Wave]
    mean: arb
    """A."""
    usual: float
    """What is usually proved: |φ| <= e^-usual; a guess."""
    slope: arb
    """How fast the sum can change with θ."""
    rounding: arb
    """How far a sum is off, because entries of the matrices are."""


def waves_of(line: Line) -> Waves | None:
    """The bound; None for very many coins, or copies."""
    if not 8 < len(line.factors) <= _MOST_COINS:
        return None
    parts: list[Wave] = []
    mean = slope = arb(0)
    for size, tanh, copies in line.factors:
        rho = (1 - tanh) / (1 + tanh)
        square = 1 - rho + rho * rho
        value, steep = square.log() / 2, rho / square
        bend = ((1 + rho).log() - value - 1.5 * steep) / 2.25
        mean += copies * ((1 + rho).log() - value - steep / 2 - 0.75 * bend)
        parts += [(size, copies * (steep + bend)), (2 * size, copies * bend / 2)]
    for x, beta in parts:
        slope += 2 * x * abs(beta)
        if not abs(beta) < _MOST_WEIGHT:
            return None
    whole = sum((abs(beta) for _, beta in parts), arb(0))
    rounding = 2 * _OFF * (whole + len(parts) * (1 + arb(_OFF) / 2**_DIGITS)) / 2**_DIGITS
    swing = math.sqrt(sum(float(beta.mid()) ** 2 for _, beta in parts) / 2)
    return Waves(parts, mean, float(mean.mid()) - _USUAL * swing, slope, rounding)


def cover(
    line: Line, kernel: Kernel, pending: Sequence[Range], left_out: WithDensity, budget: float
) -> tuple[list[Range], WithDensity]:
    """Leave out what the bound proves to be small: the ranges of nodes that are still open, and what was left out.

    It ends early when the work is more than the budget.
    """
    last = pending[-1][1] if pending else 0
    found = waves_of(line) if last > 2 * _LEAST else None
    if found is None:
        return list(pending), left_out
    step = float(kernel.step.mid())
    begin = next((first for first, _ in pending if _stride(found, kernel, step, first)), last + 1)
    still = [(first, end) for first, end in pending if first < begin]
    while begin <= last:
        look()
        stride = _stride(found, kernel, step, begin) or 1
        groups = min(max(begin // stride, _LEAST), _MOST, -(-(last + 1 - begin) // stride))
        columns = math.isqrt(groups - 1) + 1
        rows = -(-groups // columns)
        line.work += _SECONDS[0] * (rows + columns) * len(found.parts)
        line.work += _SECONDS[1] * rows * columns * len(found.parts)
        if line.work > budget:
            return [*still, (begin, last)], left_out
        for number, sums in enumerate(_sums(found, kernel.step, begin, stride, rows, columns)):
            first = begin + number * columns * stride
            if first > last:
                break
            end = min(first + columns * stride - 1, last)
            opened, bound = _judged(found, kernel, first, end, stride, sums)
            count = end - first + 1 - sum(stop - start + 1 for start, stop in opened)
            left_out = left_out.more(kernel.ceiling(kernel.step * first, count), bound)
            still += opened
        begin += rows * columns * stride
    return still, left_out


def _stride(found: Waves, kernel: Kernel, step: float, node: int) -> int | None:
    """How many nodes one look at this place will probably serve; None if it is too early for that."""
    needed = -math.log(max(kernel.limit(node * step), 1e-300))
    lost = float(found.slope.mid()) * step
    return next((stride for stride in _STRIDES if found.usual - lost * (stride // 2) > needed), None)


def _judged(
    found: Waves, kernel: Kernel, first: int, end: int, stride: int, sums: Sequence[int]
) -> tuple[list[Range], arb]:
    """Which groups of a row are open, and the bound on |φ| for the others."""
    limit = min(kernel.limit(float((kernel.step * node).mid())) for node in (first, end))
    bound = arb(min(limit, 1.0))
    loose = found.slope * kernel.step * (stride // 2) + found.rounding
    most = (bound.log() + found.mean - loose) * 2 ** (2 * _DIGITS)
    level = math.floor(float(most.mid()) - float(most.rad())) - 2**_DIGITS
    opened: list[Range] = []
    for number, value in enumerate(sums):
        if value > level:
            start = first + number * stride
            if start > end:
                break
            stop = min(start + stride - 1, end)
            if opened and opened[-1][1] == start - 1:
                opened[-1] = opened[-1][0], stop
            else:
                opened.append((start, stop))
    return opened, bound


def _sums(found: Waves, step: arb, begin: int, stride: int, rows: int, columns: int) -> Iterator[list[int]]:
    """The sums of cosines at the middle of each group, in units of 2^-40, a row at a time."""
    with working(GUESS_BITS + 2 * _DIGITS):
        start, wide = step * (begin + stride // 2), step * (columns * stride)
        left = _turned(found.parts, start, wide, rows, weighed=True)
        right = _turned(found.parts, arb(0), step * stride, columns, weighed=False)
    product = fmpz_mat(left) * fmpz_mat([list(row) for row in zip(*right, strict=True)])
    entries = product.entries()
    for number in range(rows):
        yield [int(value) for value in entries[number * columns : (number + 1) * columns]]


def _turned(parts: Sequence[Wave], start: arb, step: arb, count: int, *, weighed: bool) -> list[list[int]]:
    """cos and sin of 2θx for every wave at θ = start, start + step, ..., as whole numbers of 2^-20.

    With β, and the sine negative, for the left matrix.  Made of few sines: a rotation by two angles is the product of
    two rotations, and one by the double angle a square.  They are kept in units of 2^-40, within 20 of those.
    """
    inner = math.isqrt(count - 1) + 1
    coarse = [_rotations(start + step * (number * inner), parts) for number in range(-(-count // inner))]
    fine = [_rotations(step * number, parts) for number in range(inner)]
    weights = [_whole(beta) for _, beta in parts]
    found: list[list[int]] = []
    for high in looked(coarse):
        for low in fine[: count - len(found)]:
            row: list[int] = []
            for number, ((a, b), (c, d)) in enumerate(zip(high, low, strict=True)):
                real, imaginary = (a * c - b * d) >> _FINE, (a * d + b * c) >> _FINE
                double, twice = (real * real >> (_FINE - 1)) - _ONE, real * imaginary >> (_FINE - 1)
                if weighed:
                    first, second = weights[2 * number], weights[2 * number + 1]
                    row += (
                        real * first >> _DOWN,
                        -imaginary * first >> _DOWN,
                        double * second >> _DOWN,
                        -twice * second >> _DOWN,
                    )
                else:
                    row += (real >> _DIGITS, imaginary >> _DIGITS, double >> _DIGITS, twice >> _DIGITS)
            found.append(row)
    return found


def _rotations(theta: arb, parts: Sequence[Wave]) -> list[tuple[int, int]]:
    """cos and sin of 2θε for every coin."""
    found = []
    for size, _ in parts[::2]:
        sine, cosine = (2 * theta * size).sin_cos()
        found.append((_whole(cosine), _whole(sine)))
    return found


def _whole(value: arb) -> int:
    """A whole number within 1 of 2^40 times the value; refuses a ball that is too wide for that."""
    scaled = value * _ONE
    if not float(scaled.rad()) < 0.1 or not abs(float(scaled.mid())) < 2.0**49:
        raise ArithmeticError("a ball is too wide to be rounded")
    return round(float(scaled.mid()))
