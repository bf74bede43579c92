r"""F(y) between two balls by a trapezoid rule along a vertical line, every error signed or bounded.

Let B_c be what the integral along Re s = c gives, and |B_x(y)| <= κ_x M(x) e^{-xy} (Chernoff):

    x >= 0         B_x = F             >= 0      κ_x = x^x/(1+x)^{1+x}
    -1 < x < 0     B_x = F - 1         <= 0      κ_x = 1
    x <= -1        B_x = F - 1 + e^y   >= 0      κ_x = (d-1)^{d-1}/d^d,  d = -x

(the same with M_u for F_u, because E e^{-L-V} = 1 too).  The rule with step Δ and all its nodes sums, for Λ = 2π/Δ,
exactly Σ_m e^{cmΛ} B_c(y+mΛ) over all whole m (Poisson).  For the terms m >= 1 take some x > c, for m <= -1 some x < c,
and write B_c = B_x + known: the known part is a geometric series, and B_x has one sign and adds at most, with
q = |x-c|Λ,  κ_x M(x) e^{-xy} e^{-q}/(1-e^{-q}).  Nodes left out add at most their number times a bound on each.
"""

from __future__ import annotations

from collections.abc import Sequence
from contextlib import suppress
from dataclasses import dataclass
from fractions import Fraction
from typing import Protocol

from flint import acb, arb

from optcomp.checker import doubles
from optcomp.checker.balls import ball
from optcomp.checker.blocks import LENGTH, MOST_COPIES, Blocks
from optcomp.checker.effort import look, looked
from optcomp.checker.instance import Range, Tell
from optcomp.checker.kernels import Kernel, Smoothed, WithDensity
from optcomp.checker.line import Line
from optcomp.checker.waves import cover

_BLOCKS = 600  # coins up to which matrices beat node by node
_START = 4  # ranges to skip are a quarter as long as the way to them
_PIECE = 4  # nodes in a piece for which hope is judged
_HOPE = 0.5  # share of pieces that must look small before skipping is tried


class Moments(Protocol):
    """A law by its exponential moments."""

    def log_moment(self, c: arb) -> arb:
        """log E e^{cL}."""


class OnLine(Protocol):
    """Where a contour lies, and log E e^{cL} there."""

    @property
    def c(self) -> arb:
        """The tilt."""

    @property
    def log_moment(self) -> arb:
        """log E e^{cL}."""


class Exhausted(Exception):
    """More work than allowed."""


@dataclass
class Sums:
    """What the rule adds up to for each y, and a bound on the nodes left out."""

    excess: list[arb]
    density: list[arb]
    left_out: WithDensity


def integrate(line: Line, kernel: Kernel, budget: float, tell: Tell) -> Sums:
    """The sum over all nodes for each y of the kernel."""
    first = doubles.begin(line, kernel)
    if first is not None:
        with suppress(ArithmeticError):  # not for doubles after all
            return _in_doubles(line, kernel, first, budget, tell)
    return _in_balls(line, kernel, kernel.last, budget, tell)


def _in_doubles(line: Line, kernel: Kernel, first: int, budget: float, tell: Tell) -> Sums:
    """The same, with doubles from a first node on."""
    rest = doubles.swept(line, kernel, first, budget, tell)
    if rest is None:
        raise Exhausted
    sums = _in_balls(line, kernel, first - 1, budget, tell)
    excess = [one + other for one, other in zip(sums.excess, rest.excess, strict=True)]
    density = [one + other for one, other in zip(sums.density, rest.density, strict=True)]
    return Sums(excess, density, sums.left_out.more(rest.missing, arb(1)))


def _in_balls(line: Line, kernel: Kernel, last: int, budget: float, tell: Tell) -> Sums:
    """The sum over the nodes up to this one; left out are some of them, and those after the kernel's last."""
    blocks = _blocks(line, kernel, last)
    kept, left_out = _cover(line, kernel, last, blocks, budget)
    sums = Sums([arb(0) for _ in kernel.ys], [arb(0) for _ in kernel.ys], left_out)
    add(sums, kernel, 0, [acb(1)])
    single = [first for first, count in kept if count == 1]
    for number, node in enumerate(single):
        add(sums, kernel, node, [line.phi(kernel.step * node)])
        tell("verifying", number / len(single))
        if line.work > budget:
            raise Exhausted
    if blocks is not None:
        _add_blocks(sums, kernel, blocks, [(first, count) for first, count in kept if count > 1], tell)
    return sums


def _add_blocks(sums: Sums, kernel: Kernel, blocks: Blocks, kept: Sequence[tuple[int, int]], tell: Tell) -> None:
    limits = [kernel.limit(float((kernel.step * first).mid())) for first, _ in kept]
    for number, values in enumerate(blocks.values([first for first, _ in kept], limits)):
        first, count = kept[number]
        if isinstance(values, list):
            add(sums, kernel, first, values[:count])
        else:
            sums.left_out = sums.left_out.more(kernel.ceiling(kernel.step * first, count), values)
        tell("verifying", number / len(kept))


def _blocks(line: Line, kernel: Kernel, last: int) -> Blocks | None:
    """Matrices where coins are so few that often no node can be left out."""
    few = 8 < len(line.factors) < _BLOCKS and all(copies <= MOST_COPIES for _, _, copies in line.factors)
    return Blocks(line.factors, kernel.step) if few and last > 40 * LENGTH else None


def add(sums: Sums, kernel: Kernel, start: int, values: Sequence[acb]) -> None:
    """Nodes from number `start` on, at which φ has these values."""
    for number, phi in enumerate(looked(values), start):
        for place, (excess, density) in enumerate(kernel.values(kernel.step * number)):
            sums.excess[place] += (phi * excess).real
            sums.density[place] += (phi * density).real


def _cover(
    line: Line, kernel: Kernel, last: int, blocks: Blocks | None, budget: float
) -> tuple[list[tuple[int, int]], WithDensity]:
    """Which nodes to evaluate, as (first, count), and a bound on all the others."""
    pending, left_out = cover(line, kernel, _ranges(last), kernel.remainder(), budget)
    kept: list[tuple[int, int]] = []
    while pending:
        look()
        first, final = pending.pop()
        count = final - first + 1
        start, end = kernel.step * first, kernel.step * final
        limit = min(kernel.limit(float(start.mid())), kernel.limit(float(end.mid())))
        bound = arb(1) if limit >= 1 else line.bound((start + end) / 2, (end - start) / 2, limit)
        if bound is not None:
            left_out = left_out.more(kernel.ceiling(start, count), bound)
        elif count == 1:
            kept.append((first, 1))
        elif _whole(line, blocks, count, float(start.mid()), float(end.mid()), limit):
            kept.append((first, count))
            line.work += LENGTH * (blocks.work + 1e-5 if blocks else 0.0)
        else:
            piece = -(-count // 4)
            pending += [(begin, min(begin + piece - 1, final)) for begin in range(first, final + 1, piece)]
        if line.work > budget:
            raise Exhausted
    return sorted(kept), left_out


def _whole(line: Line, blocks: Blocks | None, count: int, start: float, end: float, limit: float) -> bool:
    """Whether to evaluate a block as a whole, because too few of its nodes could be left out."""
    if blocks is None or count > LENGTH or count <= LENGTH // 4:
        return False
    return line.hope(start, end, -(-count // _PIECE), limit) < _HOPE


def _ranges(last: int) -> list[tuple[int, int]]:
    """The nodes 1, ..., last in ranges that grow with the distance from zero."""
    ranges, first = [], 1
    while first <= last:
        end = min(last, max(first, first + first // _START))
        ranges.append((first, end))
        first = end + 1
    return ranges


def aliases(coins: Moments, line: OnLine, kernel: Kernel, y: Fraction, exponents: Sequence[float]) -> Range:
    """What Σ_{m≠0} e^{cmΛ} B_c(y+mΛ) lies between, in units of M_u(c) e^{-cy}; one exponent on either side of c."""
    period, place = 2 * arb.pi() / kernel.step, ball(y)
    unit = line.log_moment + kernel.tilt(line.c) - line.c * place
    low = high = arb(0)
    for exponent in exponents:
        known = _known(line.c, exponent, period, place) * (-unit).exp()
        size = _chernoff(coins, kernel, exponent, place) - unit
        fall = (-abs(arb(exponent) - line.c) * period).exp()
        most = size.exp() * fall / (1 - fall)
        below_zero = -1 < exponent < 0
        low, high = low + known - (most if below_zero else 0), high + known + (0 if below_zero else most)
    return Range(low, high)


def _chernoff(coins: Moments, kernel: Kernel, exponent: float, y: arb) -> arb:
    """log of κ_x M_u(x) e^{-xy}."""
    x = arb(exponent)
    size = coins.log_moment(x) + kernel.tilt(x) - x * y
    edge = x if exponent > 0 else -1 - x
    return size + edge * edge.log() - (1 + edge) * (1 + edge).log() if exponent > 0 or exponent < -1 else size


def _known(c: arb, exponent: float, period: arb, y: arb) -> arb:
    """The sum over m >= 1 (or m <= -1) of e^{cmΛ} (B_c - B_x)(y+mΛ), where poles lie between c and x."""
    if c < 0 <= exponent:
        return -_geometric(c * period)
    total = arb(0)
    if exponent < 0 < c:
        total += _geometric(-c * period)
    if exponent <= -1 < c:
        total -= y.exp() * _geometric(-(c + 1) * period)
    return total


def _geometric(log_ratio: arb) -> arb:
    """r + r² + ... for r = e^{log_ratio} < 1."""
    ratio = log_ratio.exp()
    return ratio / (1 - ratio)


def enclosed(line: OnLine, kernel: Kernel, sums: Sums, place: int, y: Fraction, alias: Range) -> Range:
    """F(y) from the sums and what the aliases lie between."""
    unit = (line.log_moment + kernel.tilt(line.c) - line.c * ball(y)).exp()
    low = sums.excess[place] - sums.left_out.excess - alias.high
    high = sums.excess[place] + sums.left_out.excess - alias.low
    if isinstance(kernel, Smoothed):
        low -= kernel.loss * (sums.density[place] + sums.left_out.density)
    base = 0 if line.c > 0 else 1
    return Range((base + unit * low).max(arb(0)), (base + unit * high).min(arb(1)))
