r"""Quadratures for sums of independent variables of any laws.

φ is the product of the laws' φ_i^{n_i}.  Where a law fades by itself (a normal part, a density) no smoothing is needed:
the sum is cut where \prod fade_i^{n_i} is negligible.  Otherwise the smoothing of the plan cuts it, as for coins.  In
between, ranges are skipped in which every |φ_i| <= |φ_i(θ)| + r slope_i.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass, replace
from functools import cached_property

import numpy as np

from optcomp.numerics.balls import SUM_BITS, float_up, precision
from optcomp.numerics.blocked import Floats, U
from optcomp.numerics.contour.anchor import Anchor
from optcomp.numerics.contour.gather import MOST_NODES, node_reach, truncation
from optcomp.numerics.contour.integral import Integral, Means, Nodes
from optcomp.numerics.contour.plan import Contour
from optcomp.numerics.contour.swept import Sweep
from optcomp.numerics.laws.law import Summand, Waves

_BATCH, _LARGEST_BATCH, _LEAST_SKIP = 256, 16384, 16
"""Nodes computed at once, from few to many, and the fewest that are worth the attempt to skip them."""
_SWEPT = 256  # nodes that are computed one run after another before ranges are left out many at a time
_OCTAVES = 30  # octaves of θ that share what skipping may cost: more than there ever are
_REACH = (
    6.0  # about w times the last θ where a cap on the work calls for a smoothing: how far it must reach depends on w
)
_FARTHEST = 1e5  # θ up to which a guess of the work looks: there a value is dear enough
_DEAREST = 1e8  # nanoseconds: a single value that costs more is not asked for


@dataclass(frozen=True, eq=False)
class Independent:
    """L as the sum of so many copies of each law; beyond `total` the excess is below the goal."""

    laws: Sequence[tuple[Summand, int]]
    total: float

    @cached_property
    def count(self) -> float:
        """How many variables there are."""
        return float(sum(copies for _, copies in self.laws))

    @cached_property
    def spread(self) -> float:
        """About the standard deviation of L."""
        return math.sqrt(max(float(self.cumulants(np.zeros(1))[2][0]), 1e-200))

    def log_mean_guess(self, c: Floats) -> Floats:
        """About log E e^{cL}, for several c."""
        return self._within(c, np.asarray(sum(copies * law.log_mean_guess(c) for law, copies in self.laws)))

    def _within(self, c: Floats, value: Floats) -> Floats:
        """Nothing is known beyond what the laws can be asked for."""
        return np.where(c <= self._most_tilt, value, math.nan)

    @cached_property
    def _most_tilt(self) -> float:
        return min(law.most_tilt for law, _ in self.laws)

    def cumulants(self, c: Floats) -> tuple[Floats, Floats, Floats]:
        """About log E e^{cL} and its first two derivatives, for several c >= -1/2."""
        each = [tuple(copies * column for column in law.cumulants(c)) for law, copies in self.laws]
        value, slope, curve = (np.asarray(sum(columns)) for columns in zip(*each, strict=True))
        inside = c <= 0.25 * self._most_tilt  # there must be room above for the Chernoff bounds
        return np.where(inside, value, math.nan), np.where(inside, slope, math.nan), np.maximum(curve, 1e-300)

    def means(self, plan: Contour) -> Means:
        """K at the three tilts of a plan; a plan for 1 - F says nothing if some probability is left out."""
        if not (plan.excess or all(law.whole for law, _ in self.laws)):
            return Means((0.0, math.inf), (0.0, math.inf), (0.0, math.inf))
        return Means(*(self._mean(c) for c in (plan.tilt, plan.above, plan.below)))

    def _mean(self, c: float) -> tuple[float, float]:
        if c > self._most_tilt:
            return 0.0, math.inf
        with precision(SUM_BITS):
            whole = sum(copies * law.log_mean(c) for law, copies in self.laws)
            value = float(whole.mid())
            return value, float_up(abs(whole - value))

    def anchor(self, plan: Contour, work: float) -> Anchor:
        """Compute a plan, with about that much work at most."""
        log_means = self.means(plan)
        plan, nodes, capped, spent = self.gathered(plan, work)
        return Anchor(Integral(plan, nodes, log_means), nodes, log_means, self.total, capped, spent)

    def gathered(self, plan: Contour, work: float) -> tuple[Contour, Nodes, bool, float]:
        """The plan as it was carried out, its nodes, whether work ran out, and how much was spent."""
        return _Gathering(self, plan, work).run()

    def about_work(self, plan: Contour) -> float:
        """About how much work a plan takes without a limit, if nothing can be skipped."""
        gathering = _Gathering(self, plan, math.inf)
        top = gathering.last()
        return top / plan.step * self.cost(plan.tilt, min(top, _FARTHEST), _BATCH)

    def log_fade(self, c: float, theta: float) -> float:
        """At least log|φ(θ')| for every θ' >= θ."""
        return sum(copies * math.log(max(law.fade(c, theta), 1e-300)) for law, copies in self.laws)

    def cost(self, c: float, theta: float, count: int = 1) -> float:
        """About the nanoseconds for a node, one of so many at once."""
        return sum(law.cost(c, theta, count) for law, _ in self.laws) + 200.0

    def values(self, c: float, theta: Floats) -> tuple[Floats, Floats, Floats]:
        """φ at ascending places: real part, imaginary part and a bound on the error of either."""
        return self.multiplied([law.waves(c, theta) for law, _ in self.laws], theta)

    def multiplied(self, waves: Sequence[Waves], theta: Floats) -> tuple[Floats, Floats, Floats]:
        """The same from what each law has there."""
        log_size, angle, error, log_most = self._product(waves, theta)
        size = np.exp(np.minimum(log_size, 0.0))
        good = error < 0.5
        slack = size * np.expm1(np.where(good, error, 0.0)) + 30 * U * size
        return (
            np.where(good, size * np.cos(angle), 0.0),
            np.where(good, size * np.sin(angle), 0.0),
            np.where(good, slack, np.exp(log_most)),
        )

    def _product(self, waves: Sequence[Waves], theta: Floats) -> tuple[Floats, Floats, Floats, Floats]:
        copies = [float(count) for _, count in self.laws]
        shifts = [count * wave.centre for count, wave in zip(copies, waves, strict=True)]
        centre, moved = math.fsum(shifts), sum(map(abs, shifts))
        log_size, angle, error, log_most = (
            sum((count * getattr(wave, name) for count, wave in zip(copies, waves, strict=True)), np.zeros_like(theta))
            for name in ("log_size", "angle", "error", "log_most")
        )
        sizes = sum(
            count * (np.abs(wave.log_size) + np.abs(wave.angle)) for count, wave in zip(copies, waves, strict=True)
        )
        error = 1.01 * error + 4 * U * (theta * moved + (len(copies) + 1) * sizes)
        return log_size, angle + theta * centre, error, np.minimum(log_most, 0.0) + 1e-12

    def log_most_near(self, c: float, theta: float, radius: float) -> float:
        """At least log|φ| within `radius` of θ."""
        return sum(copies * law.log_most_near(c, theta, radius) for law, copies in self.laws) + 1e-9

    @cached_property
    def fadings(self) -> dict[Contour, float]:
        """From which θ on everything is negligible, for the plans that were asked for."""
        return {}

    @cached_property
    def returns(self) -> bool:
        """Whether some law comes back near 1 again and again, so that ranges are best left out many at a time."""
        return any(law.returns for law, _ in self.laws)

    def log_most_ranges(self, c: float, theta: Floats, radius: float) -> Floats:
        """At least log|φ| within `radius` of each θ."""
        parts = [copies * law.log_most_ranges(c, theta, radius) for law, copies in self.laws]
        return np.asarray(np.minimum(sum(parts, np.zeros_like(theta)), 0.0) + 1e-9)


class _Gathering:
    """Node values for one plan."""

    def __init__(self, whole: Independent, plan: Contour, work: float) -> None:
        self.whole, self.work = whole, work
        self.plan = self._without_smoothing(plan)
        self.near = self.far = self.spent = 0.0
        self.kept: list[tuple[Floats, Floats, Floats, Floats]] = []

    def _without_smoothing(self, plan: Contour) -> Contour:
        """The plan without smoothing, if the laws fade about as soon as it would cut."""
        blurred = node_reach(plan) / math.sqrt(plan.smoothing)
        if plan not in self.whole.fadings:
            self.whole.fadings[plan] = self._faded(plan)
        self.faded = self.whole.fadings[plan]
        return replace(plan, smoothing=0.0) if self.faded <= max(1.5 * blurred, 200 * plan.step) else plan

    def _faded(self, plan: Contour) -> float:
        """From this θ on the laws themselves make everything negligible."""
        goal = math.log(plan.share)
        low, high = plan.step, math.inf
        theta = plan.step
        for _ in range(80):
            if self.whole.log_fade(plan.tilt, theta) - math.log(math.pi * theta) <= goal:
                high = theta
            else:
                low = theta
            if math.isinf(high):
                theta *= 4
            elif high < 1.05 * low or high <= plan.step:
                break
            else:
                theta = math.sqrt(low * high)
            if theta > 1e12:
                return math.inf
        return high

    def last(self) -> float:
        """The last θ that matters."""
        w = math.sqrt(self.plan.smoothing)
        return min(node_reach(self.plan) / w if w else math.inf, self.faded)

    def run(self) -> tuple[Contour, Nodes, bool, float]:
        """Bulk, ranges that can be skipped, and what is left."""
        plan = self.plan
        wanted = math.ceil(min(self.last() / plan.step, 2.0**52))
        last = self._fill(wanted)
        if last < wanted:
            cut = self._cutting(plan, last * plan.step)
            plan = self.plan = replace(plan, smoothing=max(cut, plan.smoothing))
        near, far = self._beyond(last * plan.step)
        theta, real, imag, error = (np.concatenate(column) for column in zip(*self.kept, strict=True))
        nodes = Nodes(theta, real, imag, error, 1.0001 * self.near + near, 1.0001 * self.far + far)
        return plan, nodes, last < wanted, self.spent

    def _cutting(self, plan: Contour, top: float) -> float:
        """The smoothing that, with what the laws have faded already, makes everything beyond the top negligible."""
        faded = math.exp(max(min(self.whole.log_fade(plan.tilt, top), 0.0), -600.0))
        smoothing = max((_REACH / top) ** 2, plan.smoothing)
        return (node_reach(replace(plan, smoothing=smoothing, tolerance=plan.tolerance / faded)) / top) ** 2

    def _fill(self, last: int) -> int:
        """Compute or skip nodes up to the last, or as far as work and memory go: the last that is accounted for."""
        plan, whole = self.plan, self.whole
        first = computed = 0
        length, batch = 4 * _LEAST_SKIP, 32
        while first <= last:
            if first >= _SWEPT and whole.returns:
                return self._sweep(first, last)
            while first > 0 and length >= _LEAST_SKIP and first <= last and not (first >= _SWEPT and whole.returns):
                count = min(length, last + 1 - first)
                if self._skip(first, count):
                    first, length, batch = first + count, 2 * length, _BATCH
                else:
                    length //= 2
            if first > last or (first >= _SWEPT and whole.returns):
                continue
            count = min(batch, last + 1 - first)
            unit = whole.cost(plan.tilt, (first + count) * plan.step, count)
            if first:
                count = min(count, int((self.work - self.spent) / unit))
                if computed > MOST_NODES or count < 1:
                    return first - 1
            theta = plan.step * np.arange(first, first + count, dtype=np.float64)
            self.kept.append((theta, *whole.values(plan.tilt, theta)))
            self.spent += count * unit
            first, computed = first + count, computed + count
            length, batch = max(length, 4 * _LEAST_SKIP), min(max(4 * batch, _BATCH), _LARGEST_BATCH)
        return last

    def _sweep(self, first: int, last: int) -> int:
        """The rest many ranges at a time."""
        sweep = Sweep(self.whole, self.plan, _OCTAVES, MOST_NODES)
        reached = sweep.run(first, last, self.work - self.spent)
        self.near, self.far, self.spent = self.near + sweep.near, self.far + sweep.far, self.spent + sweep.spent
        self.kept += sweep.kept
        return reached

    def _skip(self, first: int, count: int) -> bool:
        """Leave out some nodes if |φ| is provably small on their range."""
        plan = self.plan
        if self.whole.cost(plan.tilt, (first + count) * plan.step) > min(self.work - self.spent, _DEAREST):
            return False
        theta, middle = first * plan.step, (first + 0.5 * (count - 1)) * plan.step
        radius = 0.5 * (count - 1) * plan.step * (1 + 1e-12)
        fading = math.exp(-0.5 * plan.smoothing * theta * theta)
        nodes = count * plan.step / math.pi
        bound = math.exp(self.whole.log_most_near(plan.tilt, middle, radius)) * fading
        self.spent += self.whole.cost(plan.tilt, middle) + 50_000
        if not bound * nodes * (1 / theta**2 + plan.smoothing) <= plan.share * count / first / _OCTAVES:
            return False
        self.near += bound * nodes / theta**2
        self.far += bound * nodes
        return True

    def _beyond(self, top: float) -> tuple[float, float]:
        """Bounds on the sums beyond the last node."""
        fade = 1.0001 * math.exp(min(self.whole.log_fade(self.plan.tilt, top), 0.0))
        if not self.plan.smoothing:
            return fade / (math.pi * top), 0.0
        near, far = truncation(self.plan, top)
        return fade * near, fade * far
