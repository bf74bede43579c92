r"""The truth, found a second time and by other means than optcomp's own.

    δ(ε) = E(1 - e^{ε-L})_+,   L = Σ±ε_i independent, + with probability e^{ε_i}/(1 + e^{ε_i})

`binomial` is rigorous (ball arithmetic).  The others are floats: `lattice` adds up a table of positive numbers,
`halves` lists all outcomes of either half, `contour` integrates the characteristic function along a line.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from fractions import Fraction

import numpy as np
import numpy.typing as npt
from flint import arb, ctx, fmpq
from scipy.optimize import brentq, minimize_scalar
from scipy.special import gammaln

from bench.instances import Instance

Floats = npt.NDArray[np.float64]
Complexes = npt.NDArray[np.complex128]
Delta = Callable[[float], float]
_PRECISION = 160


def binomial_holds(instance: Instance, lower: float, upper: float) -> bool:
    """Whether δ(lower) >= δ >= δ(upper), proved in ball arithmetic; equal ε_i only."""
    ((eps, count),) = instance.coins
    target = _ball(instance.delta)
    above = upper >= _fraction_total(instance) or _binomial(eps, count, upper) <= target
    return bool(above and _binomial(eps, count, lower) >= target)


def _fraction_total(instance: Instance) -> Fraction:
    return sum((Fraction(eps) * count for eps, count in instance.coins), Fraction(0))


def _ball(value: float | Fraction) -> arb:
    fraction = Fraction(value)
    return arb(fmpq(fraction.numerator, fraction.denominator))


def _binomial(eps: float, count: int, at: float) -> arb:
    """Terms from the first positive one upwards, each from the one before; the rest is below a geometric series."""
    before, ctx.prec = ctx.prec, _PRECISION
    try:
        first = math.floor((Fraction(at) / Fraction(eps) + count) / 2) + 1
        step, odds = _ball(eps), _ball(eps).exp()
        term = _first_term(count, first, step)
        deficit, shrink = (_ball(at) - step * (2 * first - count)).exp(), (-2 * step).exp()
        total, number = arb(0), first
        while number <= count:
            total += term * (1 - deficit)
            ratio = odds * (count - number) / (number + 1)
            if number % 64 == 0 and bool(ratio < 1) and bool(term * ratio / (1 - ratio) < total * arb(2) ** -120):
                return total.union(total + term * ratio / (1 - ratio))
            term, deficit, number = term * ratio, deficit * shrink, number + 1
        return total
    finally:
        ctx.prec = before


def _first_term(count: int, number: int, eps: arb) -> arb:
    """C(count, number) p^number (1 - p)^(count - number)."""
    log = arb(count + 1).lgamma() - arb(number + 1).lgamma() - arb(count - number + 1).lgamma()
    return (log + number * eps - count * eps.exp().log1p()).exp()


def lattice(instance: Instance) -> Delta:
    """All ε_i multiples of the grid: the law of L as a table, one mechanism after the other."""
    sizes = [round(eps / instance.grid) for eps, count in instance.coins for _ in range(count)]
    table = np.ones(1)
    for size in sizes:
        up = 1 / (1 + math.exp(-size * instance.grid))
        table = np.pad(table, (2 * size, 0)) * up + np.pad(table, (0, 2 * size)) * (1 - up)
    losses = (np.arange(table.size) - sum(sizes)) * instance.grid

    def delta(at: float) -> float:
        above = losses > at
        return float(np.sum(table[above] * -np.expm1(at - losses[above])))

    return delta


def halves(instance: Instance) -> Delta:
    """All outcomes of one half against the sorted outcomes of the other."""
    middle = len(instance.coins) // 2
    left, weight = _outcomes(instance.coins[:middle])
    right, mass = _outcomes(instance.coins[middle:])
    order, across = np.argsort(right), np.argsort(left)
    right, mass, left, weight = right[order], mass[order], left[across], weight[across]  # both sorted: kinder to caches
    tail = np.append(np.cumsum(mass[::-1])[::-1], 0.0)
    tilted = np.append(np.cumsum((mass * np.exp(-right))[::-1])[::-1], 0.0)

    def delta(at: float) -> float:
        first = np.searchsorted(right, at - left, side="right")
        return float(np.sum(weight * (tail[first] - np.exp(at - left) * tilted[first])))

    return delta


def _outcomes(coins: tuple[tuple[float, int], ...]) -> tuple[Floats, Floats]:
    """Values of the summed loss and their probabilities."""
    values, masses = np.zeros(1), np.ones(1)
    for eps, count in coins:
        ups = np.arange(count + 1.0)
        log = gammaln(count + 1) - gammaln(ups + 1) - gammaln(count - ups + 1)
        law = np.exp(log + ups * eps - count * math.log1p(math.exp(eps)))
        values = np.add.outer(values, (2 * ups - count) * eps).ravel()
        masses = np.multiply.outer(masses, law).ravel()
    return values, masses


def contour_root(instance: Instance) -> float:
    """The ε at δ by the inverse Laplace transform; for many different ε_i, whose characteristic function dies out."""
    drift = instance.squares / 2
    high = drift + math.sqrt(-4 * drift * math.log(instance.delta))
    return float(brentq(lambda at: math.log(_contour(instance, at) / instance.delta), drift / 2, high, xtol=1e-13))


def _contour(instance: Instance, at: float) -> float:
    r"""δ = (1/2π)∫ e^{K(s) - s at} / (s(s+1)) dt along s = c + it through the saddle point c."""
    eps, counts = np.array(instance.coins).T

    def exponent(c: float) -> float:
        return float(_cumulant(eps, counts, np.array([c + 0j]))[0].real) - c * at - math.log(c * (c + 1))

    c = math.exp(minimize_scalar(lambda x: exponent(math.exp(x)), bounds=(-9, 9), method="bounded").x)
    odds = np.exp(-eps * (2 * c + 1))
    spread = math.sqrt(float(np.sum(counts * (2 * eps / (1 + odds)) ** 2 * odds)))
    step = min(c / 8, 0.1 / spread)
    line = np.asarray(c + 1j * np.arange(0.0, 40 / spread, step), dtype=np.complex128)
    values = np.exp(_cumulant(eps, counts, line) - line * at) / (line * (line + 1))
    return float((values.real.sum() - values[0].real / 2) * step / math.pi)


def _cumulant(eps: Floats, counts: Floats, s: Complexes) -> Complexes:
    total = np.zeros_like(s)
    for value, count in zip(eps.tolist(), counts.tolist(), strict=True):
        x = value * (2 * s + 1)
        total += count * (value * s + np.log1p(np.exp(-x)) - math.log1p(math.exp(-value)))
    return total
