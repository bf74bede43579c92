"""Ways to enclose F of a sum of laws, cheapest first; each is sound alone, and together they only save time."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator, Sequence
from fractions import Fraction
from functools import cached_property
from typing import NamedTuple

from flint import arb

from optcomp.checker.balls import LEAST_BITS, ball, near, working
from optcomp.checker.effort import left
from optcomp.checker.instance import Range
from optcomp.checker.laws import TooMuch
from optcomp.checker.sums import every_sum, lattice, levels, shape
from optcomp.checker.sums.cells import Cells
from optcomp.checker.sums.integral import integrated
from optcomp.checker.sums.laplaces import laplace_copies, laplace_sum
from optcomp.checker.sums.listed import Listed, few_values
from optcomp.checker.sums.plan import Sketch
from optcomp.checker.sums.total import Total

Step = Callable[[Sequence[Fraction]], dict[Fraction, Range]]
"""What F lies between, at those of the places about which the step says something."""

_PRECISIONS = (36.0, 60.0, 110.0)
"""Correct bits of F that are aimed at, one after the other."""
_CLOSED = (128, 512, 2048)
"""Bits of the closed forms, whose differences may cancel."""
_SHARES = (1.0, 0.6, 0.35, 0.1, 0.01)
"""Widths of a smoothing as shares of the one that a claim calls for."""
_UNKNOWN = (1.0, 0.2, 0.05, 0.0125, 0.003)
"""The same where nothing is known of how far the truth is from an end: shares of the widest smoothing."""
_PILOT = 10.0
"""Of F's relative change from end to end: what cells leave open at first, to see how fine they must be."""
_FINER = (0.65, 0.2)
"""The same then: shares of the change that was seen."""
_DROPS = (1e-3, 1e-5)
"""What may be left open where nothing is known of that change: relative to F itself."""
_FIRST_LEVELS = (8000, 24_000)
"""Cells whose densities are level, at first: more if the law is too rough for so few."""
_FINER_LEVELS = (0.5, 0.4, 0.15, 0.1)
"""What these leave open then: shares of the change that was seen."""
_FINEST = 0.22  # of the width of level cells: what few of them leave open may be more than a third power
_NARROW = 0.15  # of what level cells leave open: where that was narrow, but an end of the claim is near the truth
_LEVELS_SAVE = 4.0  # times that level cells are quicker, about
_NODES_SECOND = 2700  # nodes of an integral of one second; its time grows with their square
_LONGEST, _SHORT = 90.0, 15.0  # seconds that cells may take, and while it is not known how fine they must be
_FEW = 40  # Laplace losses for which the exact sum is tried before the integral
_FAINT, _ROUGH = 0.01, 1e-6  # a mass that may be lost beside F's change from end to end, and that where it is unknown
_LONG = 3000  # nodes beyond which a smoothed integral may come first
_WIDEST = 0.1  # (1+c)² w² of the widest smoothing: F is then known to about a tenth
_NEAR = 0.05  # places whose distance, times 1 + c, is below this share a contour


class Gap(NamedTuple):
    """How far the ends of a claim are from each other: in y, and in F relatively; one of the two is 0, or both."""

    places: float
    values: float


class Steps:
    """The steps for one sum; `gap` is that of the claim, `effort` about the most seconds for a step."""

    def __init__(self, total: Total, gap: Gap, effort: float) -> None:
        self.total, self._gap, self._effort = total, gap, effort
        self._counted: dict[tuple[float, float], float] = {}

    @cached_property
    def sketch(self) -> Sketch:
        """The sum in floats."""
        return Sketch(self.total)

    def quick(self, ys: Sequence[Fraction]) -> dict[Fraction, Range]:
        """0 from the largest loss on; else at most κ_c M(c) e^{-cy}."""
        high = self.total.top[1]
        return {y: Range(arb(0), arb(0)) if y >= high else Range(arb(0), self._chernoff(y)) for y in ys}

    def _chernoff(self, y: Fraction) -> arb:
        with working(LEAST_BITS):
            c = arb(self.sketch.contour(float(y), right=True))
            log = self.total.log_moment(c) + self.total.variance() * c * (c + 1) / 2 - c * ball(y)
            return (log + c * c.log() - (1 + c) * (1 + c).log()).exp().min(arb(1))

    def all(self, y: float) -> Iterator[tuple[str, Step]]:
        """Every step with its name, for places about y."""
        if few_values(self.total):
            for precision in _CLOSED:
                yield "closed form", self._listed(precision)
            return
        copies = laplace_copies(self.total)
        first = copies > 0 and (copies <= _FEW or self._nodes(y, _PRECISIONS[0], 0.0) > _LONG)
        if first:
            yield "the exact sum of Laplace losses", self._laplaces
        found = lattice.split(self.total)
        if found is None and every_sum.suits(self.total):
            yield "every sum of losses", self._every_sum
        fits = found is None and shape.suits(self.total)
        known = fits and max(self._gap) > 0
        soon = known and self._soon(y, 1.0)
        for step in self._on_levels(y) if known and self._soon(y, _LEVELS_SAVE) else ():
            yield "level cells of a grid", step
        for step in self._on_cells(y) if soon else ():
            yield "cells of a grid", step
        early = 0 if found is not None else self._early(y)
        for share in self._shares[:early]:
            yield "smoothed contour integral", self._smoothed(share)
        for bits in _PRECISIONS:
            if found is not None:
                yield "lattice", self._lattice(found, bits)
            else:
                yield "contour integral", self._contour(bits)
        if copies and not first:
            yield "the exact sum of Laplace losses", self._laplaces
        late = fits and max(self._gap) == 0
        for step in self._on_cells(y) if fits and not (soon or late) else ():
            yield "cells of a grid", step
        for share in self._shares[early:]:
            yield "smoothed contour integral", self._smoothed(share)
        for step in self._on_cells(y) if late else ():
            yield "cells of a grid", step

    @property
    def _shares(self) -> tuple[float, ...]:
        return _SHARES if max(self._gap) > 0 else _UNKNOWN

    def _early(self, y: float) -> int:
        """How many widths come before the plain integral: two, where that is long and smoothing much shorter."""
        plain = self._nodes(y, _PRECISIONS[0], 0.0)
        return 2 if plain > _LONG and self._nodes(y, *self._smoothing(y, self._shares[1])) < plain / 4 else 0

    def _nodes(self, y: float, bits: float, width: float) -> float:
        """About how many nodes an integral has."""
        if (bits, width) not in self._counted:
            try:
                plan = self.sketch.plan(y, bits, width)
                self._counted[bits, width] = self.sketch.end(plan, width) * plan.period / (2 * math.pi)
            except TooMuch:
                self._counted[bits, width] = math.inf
        return self._counted[bits, width]

    def _listed(self, bits: int) -> Step:
        def step(ys: Sequence[Fraction]) -> dict[Fraction, Range]:
            with working(bits):
                listed = Listed(self.total)
                return {y: listed.excess(y) for y in ys}

        return step

    def _laplaces(self, ys: Sequence[Fraction]) -> dict[Fraction, Range]:
        top = self.total.top[1]
        return {y: laplace_sum(self.total, y, LEAST_BITS) if y < top else Range(arb(0), arb(0)) for y in ys}

    def _every_sum(self, ys: Sequence[Fraction]) -> dict[Fraction, Range]:
        y = float(ys[0])
        faint = math.exp(self.sketch.log_excess(y)) * _FAINT * (self._drop(y) or _ROUGH)
        return every_sum.every_sum(self.total, ys, faint)

    def _drop(self, y: float) -> float:
        """About how much of F is lost from end to end; 0 if that is unknown."""
        return min(max(self._gap.places * self.sketch.contour(y, right=True), self._gap.values), 1.0)

    def _soon(self, y: float, quicker: float) -> bool:
        """Whether cells, or what is so many times quicker, come before the plain integral: where that looks longer."""
        try:
            seconds = shape.shape_for(self.total, self.sketch, y, (self._drop(y) or _ROUGH) * _FINER[0]).seconds
        except TooMuch:
            return False
        return seconds / quicker < min((self._nodes(y, _PRECISIONS[0], 0.0) / _NODES_SECOND) ** 2, _LONGEST)

    def _on_levels(self, y: float) -> Iterator[Step]:
        """Few cells, which show how many it takes: what is left open grows with the third power of their width."""
        self._seen: tuple[shape.Shape, dict[Fraction, Range]] | None = None
        known = self._drop(y)
        if not (known and levels.suits(self.total)):
            return
        for count in _FIRST_LEVELS:
            if self._seen is None:
                yield self._levels(y, known, None, count)
        for share in _FINER_LEVELS:
            seen = self._judged(known, share, 3)
            if seen is not None:
                yield self._levels(y, known * share, seen, 0)

    def _levels(self, y: float, drop: float, seen: shape.Seen | None, count: int) -> Step:
        def step(ys: Sequence[Fraction]) -> dict[Fraction, Range]:
            chosen = shape.shape_for(self.total, self.sketch, y, drop, seen, count)
            if chosen.seconds > min(left(), self._effort, _LONGEST):
                raise TooMuch
            made = levels.Levels(self.total, chosen, max(ys))
            found = {place: made.excess(place) for place in ys}
            self._seen = chosen, found
            return found

        return step

    def _on_cells(self, y: float) -> Iterator[Step]:
        """A coarse grid, which shows how fine it must be, and finer ones; or three, where nothing is known."""
        self._seen = None
        known = self._drop(y)
        for drop in (known * _PILOT,) if known else _DROPS:
            yield self._cells(y, drop, None)
        for share in _FINER if known else ():
            seen = self._judged(known, share, 2)
            if seen is not None:
                yield self._cells(y, known * share, seen)

    def _judged(self, known: float, share: float, power: int) -> shape.Seen | None:
        """The step that will leave open this share of F's change: what a grid leaves open grows with a power of it."""
        if self._seen is None:
            return None
        chosen, found = self._seen
        wide = max(near(each.high - each.low) for each in found.values())
        middles = [near((2 * each.low + each.high) / 3) for each in found.values()]
        change = max(middles) - min(middles) or max(middles) * known
        if not (wide > 0 and change > 0):
            return None
        most = _NARROW if power == 3 and wide < change else 0.5
        finer = min(share * change / wide, most) ** (1 / power)
        return shape.Seen(math.log(max(middles)), float(chosen.step) * max(finer, _FINEST if power == 3 else 0.0))

    def _cells(self, y: float, drop: float, seen: shape.Seen | None) -> Step:
        def step(ys: Sequence[Fraction]) -> dict[Fraction, Range]:
            chosen = shape.shape_for(self.total, self.sketch, y, drop, seen)
            if chosen.seconds > min(left(), self._effort, _LONGEST if seen else _SHORT):
                raise TooMuch
            cells = Cells(self.total, chosen, max(ys))
            found = {place: cells.excess(place) for place in ys}
            if self._seen is None:
                self._seen = chosen, found
            return found

        return step

    def _lattice(self, found: lattice.Split, bits: float) -> Step:
        sketch = self.sketch if not found.others.laws else Sketch(found.main)
        return self._clustered(lambda ys: lattice.on_lattice(found, sketch, ys, bits))

    def _contour(self, bits: float) -> Step:
        return self._clustered(lambda ys: integrated(self.total, self.sketch, ys, bits, 0.0, self._effort))

    def _smoothed(self, share: float) -> Step:
        def enclose(ys: Sequence[Fraction]) -> dict[Fraction, Range]:
            bits, width = self._smoothing(float(ys[0]), share)
            return integrated(self.total, self.sketch, ys, bits, width, self._effort)

        return self._clustered(enclose)

    def _smoothing(self, y: float, share: float) -> tuple[float, float]:
        """Bits and width: width w costs about (1+c) w² in y."""
        c = self.sketch.contour(y)
        gap = max(self._gap.places, self._gap.values / (1 + abs(c)))
        most = _WIDEST / (1 + abs(c))
        width = share * math.sqrt((min(gap, most) if gap else most) / (1 + abs(c)))
        return max(4.0, -2 * math.log2(width * (1 + abs(c))) + 4), width

    def _clustered(self, enclose: Step) -> Step:
        """Places near each other together."""

        def step(ys: Sequence[Fraction]) -> dict[Fraction, Range]:
            inside = [y for y in ys if y < self.total.top[1]]
            found = {y: Range(arb(0), arb(0)) for y in ys if y not in inside}
            if not inside:
                return found
            c = self.sketch.contour(float(inside[0]))
            if float(max(inside) - min(inside)) * (1 + abs(c)) <= _NEAR:
                return found | enclose(inside)
            for y in inside:
                found |= enclose([y])
            return found

        return step
