"""Enclosures of F at given places: by the integral, smoothed or not, or by the Fourier sum of a lattice."""

from __future__ import annotations

import math
from collections.abc import Sequence
from fractions import Fraction
from functools import cached_property

from flint import arb, ctx

from optcomp.checker.balls import COIN_BITS, LEAST_BITS, ball, working
from optcomp.checker.choices import Trapezoid, cutoff, log_unit, plain_trapezoid, smoothed_trapezoid
from optcomp.checker.contour import aliases, enclosed, integrate
from optcomp.checker.guess import Sketch, short
from optcomp.checker.instance import Instance, Range, Tell
from optcomp.checker.kernels import Kernel, Periodic, Smoothed
from optcomp.checker.line import Line, WorkingCoins

_SPARE = 28  # bits for what sums and products of a few thousand balls lose


class Scene:
    """An instance with what its attempts share."""

    def __init__(self, instance: Instance) -> None:
        self.instance, self._bits = instance, 0

    @cached_property
    def sketch(self) -> Sketch:
        """The coins in floats."""
        return Sketch.of(self.instance)

    def coins(self, bits: int) -> WorkingCoins:
        """The coins in balls of at least so many bits."""
        if bits > self._bits:
            self._bits = max(bits, COIN_BITS)
            with working(self._bits):
                self._coins = WorkingCoins(self.instance)
        return self._coins


def smoothed(scene: Scene, ys: Sequence[Fraction], width: float, budget: float, tell: Tell) -> dict[Fraction, Range]:
    """F at neighbouring y from one line, with smoothing of this width."""
    return _integral(scene, ys, width, smoothed_trapezoid(scene.sketch, _middle(ys), width), budget, tell)


def unsmoothed(scene: Scene, ys: Sequence[Fraction], bits: int, budget: float, tell: Tell) -> dict[Fraction, Range]:
    """F at neighbouring y from one line, to about `bits` bits, where there is Gaussian noise."""
    return _integral(scene, ys, 0.0, plain_trapezoid(scene.sketch, _middle(ys), bits), budget, tell)


def _integral(
    scene: Scene, ys: Sequence[Fraction], width: float, choice: Trapezoid, budget: float, tell: Tell
) -> dict[Fraction, Range]:
    sketch, noise = scene.sketch, math.sqrt(scene.sketch.variance + width**2)
    step = short(2 * math.pi / choice.period)
    end = cutoff(noise, choice.log_tolerance)
    last = int(end / step) + 1
    turns = end * (1 + _middle(ys) + sketch.variance * (1 + abs(choice.c)))
    with working(max(_bits(choice, turns, sketch), LEAST_BITS)):
        spread = math.log(end * (1 + choice.period)) + 1
        tolerance = math.exp(max(choice.log_tolerance, -700))
        variance = scene.instance.variance() + arb(width) ** 2
        kernel = Smoothed(arb(choice.c), tuple(map(ball, ys)), variance, width, arb(step), last, tolerance, spread)
        return _evaluated(scene, kernel, choice, ys, budget, tell)


def _middle(ys: Sequence[Fraction]) -> float:
    return float(sum(ys) / len(ys))


def periodic(
    scene: Scene, span: Fraction, ys: Sequence[Fraction], bits: int, budget: float, tell: Tell
) -> dict[Fraction, Range]:
    """F at neighbouring y for losses on a lattice of this span, to about `bits` bits."""
    sketch, y = scene.sketch, _middle(ys)
    choice = plain_trapezoid(sketch, y, bits)
    h = float(span)
    nodes = 2 * int(choice.period / (2 * h) + 1) + 1
    worst = -1 / math.expm1(-abs(choice.c) * h) - 1 / math.expm1(-(choice.c + 1) * h)
    with working(max(_bits(choice, (1 + y) * nodes, sketch) + int(math.log2(worst + 1)), LEAST_BITS)):
        tolerance = math.exp(max(choice.log_tolerance, -700))
        spread = math.log(nodes) + 1
        kernel = Periodic(arb(choice.c), tuple(ys), span, scene.instance.coin_total, nodes, tolerance, spread)
        return _evaluated(scene, kernel, choice, ys, budget, tell)


def _bits(choice: Trapezoid, turns: float, sketch: Sketch) -> int:
    """Enough for what may be neglected, for phases of that many turns, and for K(c)."""
    size = 1 + abs(log_unit(sketch, choice.c, 0.0)) + abs(choice.c) * sketch.total
    return int(_SPARE - choice.log_tolerance / math.log(2) + math.log2(1 + turns) + math.log2(size))


def _evaluated(
    scene: Scene, kernel: Kernel, choice: Trapezoid, ys: Sequence[Fraction], budget: float, tell: Tell
) -> dict[Fraction, Range]:
    coins = scene.coins(ctx.prec)
    line = Line(coins, arb(choice.c))
    sums = integrate(line, kernel, budget, tell)
    found = {}
    for place, y in enumerate(ys):
        alias = aliases(coins, line, kernel, y, (choice.below, choice.above))
        found[y] = enclosed(line, kernel, sums, place, y, alias)
    return found
