"""Ways to enclose F at some places, cheapest first; each is sound alone, and together they only save time."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator, Sequence
from fractions import Fraction
from functools import partial

from flint import arb

from optcomp.checker import attempts, binomial, listing, noisy
from optcomp.checker.attempts import Scene
from optcomp.checker.balls import FEW_BITS, GUESS_BITS, LEAST_BITS, working
from optcomp.checker.choices import contour
from optcomp.checker.closed import closed_form, distance, gaussian_alone
from optcomp.checker.guess import Sketch
from optcomp.checker.instance import Coin, Instance, Range, Tell
from optcomp.checker.units import Lattice, lattice

Step = Callable[[Sequence[Fraction]], dict[Fraction, Range]]
"""What F lies between, at those of the places about which the step says something."""

Attempt = Callable[[float], Step]
"""A step for a given effort."""

_QUICK = 0.1  # seconds that listing may take without anything else being tried
_EFFORTS = (0.5, 6.0, 40.0, 200.0)  # seconds for an attempt, growing: what is cheap comes first
_WORTH = 4.0  # listing is certain to decide, so it may cost this many times as much
_FINER = (0.7, 0.5, 0.35)  # shares of the wanted width, for claims that it just fails
_SURE = 0.85  # of the width that would just decide
_NEXT = 0.7  # a width is tried after another if it is finer by this
_TRUSTED = 0.3  # nearer to the middle than this, nothing is known of what decides
_COARSE = 0.3  # the first width, as a share of what the loss varies by
_RATIO = 6.0  # from one width to the next: the cost grows as fast
_NEAR = 3.0  # so near to the wanted width nothing coarser is tried
_LEVELS = 14  # widths at most: 6^14 is 1e11
_MORE_BITS = 16  # times the last precision, for differences that cancel deep in the tail


class Steps:
    """The steps for one instance; `bits` is the precision of the claim, `effort` about the most seconds for a step."""

    def __init__(self, instance: Instance, bits: int, effort: float, tell: Tell) -> None:
        self._instance, self._effort, self._tell = instance, effort, tell
        self._scene = Scene(instance)
        self._precisions = [LEAST_BITS]
        while self._precisions[-1] < bits:
            self._precisions.append(2 * self._precisions[-1])

        self.nearness = 1.0
        """To be set after each step: the least of what `End.nearness` says of the ends that are still open."""
        self.exhausted = False
        """To be set when the step given last was given up for its effort, which makes finer ones pointless for now."""

    def all(self, y: Fraction, wanted: Callable[[], float]) -> Iterator[tuple[str, Step]]:
        """Every step with its name, for claims about F near y; they call for smoothing of the width `wanted`, or 0."""
        if self._instance.gaussians:
            yield from self._with_noise(y, wanted)
            return
        for bits in self._precisions:
            yield "closed form", _each(bits, lambda y: closed_form(self._instance, y))
        if len(self._instance.coins) == 1:
            yield from self._equal()
            return
        yield "total variation distance", _each(LEAST_BITS, lambda y: distance(self._instance))
        yield "the largest group of equal ε", self._largest_group
        yield from self._different(y, wanted)

    def _with_noise(self, y: Fraction, wanted: Callable[[], float]) -> Iterator[tuple[str, Step]]:
        """Gaussian noise, with coins or without."""
        if not self._instance.coins:
            for bits in (*self._precisions, _MORE_BITS * self._precisions[-1]):
                yield "closed form", _each(bits, lambda y: closed_form(self._instance, y))
            return
        yield "total variation distance", _each(LEAST_BITS, lambda y: distance(self._instance))
        yield "the Gaussian noise alone", _each(LEAST_BITS, self._noise_alone)
        yield "the largest group of equal ε", self._largest_group
        cost = noisy.cost(self._instance)
        if cost < _QUICK:
            yield from self._listed_with_noise()
            return
        integrals = self._integrals(y, wanted())
        for effort in self._efforts:
            yield from self._while_possible("contour integral", integrals, effort)
            if cost < _WORTH * effort:
                yield from self._listed_with_noise()
                cost = math.inf

    def _noise_alone(self, y: Fraction) -> Range:
        """Dropping the coins cannot increase F."""
        return Range(gaussian_alone(self._instance, y).low, arb(1))

    def _integrals(self, y: Fraction, wanted: float) -> list[Attempt]:
        """Smoothed as long as that is wider than the noise there is, then as it is."""
        sketch = self._scene.sketch
        wide = [width for width in widths(sketch, y, wanted) if width**2 > sketch.variance]
        found: list[Attempt] = [partial(self._smoothed, width) for width in wide]
        return found + [partial(self._unsmoothed, bits) for bits in (GUESS_BITS, *self._precisions)]

    def _equal(self) -> Iterator[tuple[str, Step]]:
        """One size: binomial tails term by term, or as a Fourier sum where there are too many terms."""
        (coin,) = self._instance.coins
        for bits in self._precisions:
            yield "binomial tails", _each(bits, lambda y: _short_tail(coin, y))
            yield "lattice", self._fourier(self._scene, 2 * Fraction(coin.size), bits, self._effort)

    def _largest_group(self, ys: Sequence[Fraction]) -> dict[Fraction, Range]:
        """Dropping mechanisms cannot increase F: equal sizes alone bound it from below."""
        coin = max(self._instance.coins, key=lambda coin: float(coin.size) ** 2 * coin.copies)
        alone = Instance((coin,), ())
        inside = [y for y in ys if y < alone.coin_total]
        found = _each(LEAST_BITS, lambda y: closed_form(alone, y) or _short_tail(coin, y))(inside)
        return {y: Range(between.low, arb(1)) for y, between in found.items()}

    def _different(self, y: Fraction, wanted: Callable[[], float]) -> Iterator[tuple[str, Step]]:
        cost = listing.cost(self._instance)
        if cost < _QUICK:
            yield from self._listed()
            return
        units = lattice(self._instance)
        on_lattice: list[Attempt] = []
        if units is not None:
            precisions = (FEW_BITS, GUESS_BITS, *self._precisions)
            on_lattice += [partial(self._on_lattice, units, bits) for bits in precisions]
        smoothings = list(widths(self._scene.sketch, y, wanted()))
        for effort in self._efforts:
            yield from self._while_possible("lattice", on_lattice, effort)
            if cost < _WORTH * effort:
                yield from self._listed()
                cost = math.inf
            yield from self._finer_and_finer(smoothings, effort)

    @property
    def _efforts(self) -> list[float]:
        return sorted({min(effort, self._effort) for effort in _EFFORTS})

    def _while_possible(self, name: str, pending: list[Attempt], effort: float) -> Iterator[tuple[str, Step]]:
        """Take steps off a list until one of them needs more than this effort."""
        while pending:
            self.exhausted = False
            yield name, pending[0](effort)
            if self.exhausted:
                return
            del pending[0]

    def _finer_and_finer(self, pending: list[float], effort: float) -> Iterator[tuple[str, Step]]:
        """Smoothings of these widths until one needs more than this effort.

        F lies near the middle of what a smoothing leaves open, and that shrinks with the square of its width.  So after
        a step it may be about known which width will decide; it is tried next, if it is coarser than the one planned.
        When that fails F is not so near, and a planned width follows.
        """
        guessed = False
        while pending:
            self.exhausted, self.nearness = False, 1.0
            yield "smoothed contour integral", self._smoothed(pending[0], effort)
            if self.exhausted:
                return
            enough = _SURE * math.sqrt(self.nearness) * pending.pop(0)
            guessed = not guessed and _TRUSTED < self.nearness < 1 and bool(pending) and enough > pending[0]
            if guessed:
                pending[:] = [enough, *(width for width in pending if width < _NEXT * enough)]

    def _listed(self) -> Iterator[tuple[str, Step]]:
        """Every atom, met in the middle."""
        for bits in self._precisions:
            made: list[listing.Listing] = []

            def excess(y: Fraction, made: list[listing.Listing] = made) -> Range:
                if not made:
                    made.append(listing.Listing(self._instance, self._tell))
                return made[0].excess(y)

            yield "every atom", _each(bits, excess)

    def _listed_with_noise(self) -> Iterator[tuple[str, Step]]:
        """Every value of the coins with the closed form of the noise."""
        for bits in (*self._precisions, _MORE_BITS * self._precisions[-1]):
            made: list[noisy.Noisy] = []

            def excess(y: Fraction, made: list[noisy.Noisy] = made) -> Range:
                if not made:
                    made.append(noisy.Noisy(self._instance, self._tell))
                return made[0].excess(y)

            yield "summing every atom, each with its Gaussian noise", _each(bits, excess)

    def _on_lattice(self, units: Lattice, bits: int, effort: float) -> Step:
        """Between two lattices, or on one."""
        below = self._fourier(Scene(units.low), units.low_span, bits, effort)
        above = (
            self._fourier(Scene(units.high), units.high_span, bits, effort) if units.high is not units.low else below
        )

        def step(ys: Sequence[Fraction]) -> dict[Fraction, Range]:
            lows = below(ys)
            highs = lows if above is below else above(ys)
            return {y: Range(lows[y].low, highs[y].high) for y in ys}

        return step

    def _fourier(self, scene: Scene, span: Fraction, bits: int, effort: float) -> Step:
        def step(ys: Sequence[Fraction]) -> dict[Fraction, Range]:
            total = scene.instance.coin_total
            found = {y: Range(arb(0), arb(0)) for y in ys if y >= total}
            for cluster in clusters(scene.sketch, [y for y in ys if y < total]):
                found |= attempts.periodic(scene, span, cluster, bits, effort, self._tell)
            return found

        return step

    def _smoothed(self, width: float, effort: float) -> Step:
        return self._clustered(lambda ys: attempts.smoothed(self._scene, ys, width, effort, self._tell))

    def _unsmoothed(self, bits: int, effort: float) -> Step:
        return self._clustered(lambda ys: attempts.unsmoothed(self._scene, ys, bits, effort, self._tell))

    def _clustered(self, enclose: Step) -> Step:
        def step(ys: Sequence[Fraction]) -> dict[Fraction, Range]:
            found: dict[Fraction, Range] = {}
            for cluster in clusters(self._scene.sketch, ys):
                found |= enclose(cluster)
            return found

        return step


def _each(bits: int, excess: Callable[[Fraction], Range | None]) -> Step:
    """One place after the other, in balls of this precision."""

    def step(ys: Sequence[Fraction]) -> dict[Fraction, Range]:
        with working(bits):
            found = {y: excess(y) for y in ys}
        return {y: between for y, between in found.items() if between is not None}

    return step


def _short_tail(coin: Coin, y: Fraction) -> Range | None:
    """Binomial tails, if they are not too long."""
    return binomial.equal_sizes(coin, y) if binomial.fewest_terms(coin, y) <= binomial.MOST_TERMS else None


def clusters(sketch: Sketch, ys: Sequence[Fraction]) -> list[list[Fraction]]:
    """Places near enough to each other to share a contour."""
    if len(ys) < 2:
        return [list(ys)] if ys else []
    c = contour(sketch, float(ys[0]))
    near = 0.2 * min(1 / (1 + abs(c)), math.sqrt(sketch.curvature(c)))
    return [list(ys)] if float(max(ys) - min(ys)) <= near else [[y] for y in ys]


def widths(sketch: Sketch, y: Fraction, wanted: float) -> Iterator[float]:
    """Widths of the smoothing, from coarse to somewhat finer than wanted; on and on if nothing is known about that."""
    c = contour(sketch, float(y))
    width = _COARSE * min(1 / (1 + abs(c)), math.sqrt(sketch.curvature(c)) + 1e-300)
    for _ in range(_LEVELS):
        if width <= _NEAR * wanted:
            break
        yield width
        width /= _RATIO
    if wanted:
        yield from (share * min(wanted, width * _RATIO) for share in _FINER)
