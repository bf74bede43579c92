r"""One contour for a sum that grows: what each law has at its nodes is kept, and only multiplied anew.

φ = \prod φ_i^{n_i} and K = \sum n_i K_i, so a further round costs a product over the nodes.  Nodes that were left out
stay left out: every |φ_i| is at most 1, so a bound on |φ| for some counts holds for all larger ones.  Tilt and step
are chosen for more rounds than there are, and fewer; how well they serve is bounded anew for every answer.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass, replace
from itertools import pairwise

import numpy as np
import numpy.typing as npt
from flint import arb

from optcomp.numerics.balls import SUM_BITS, float_up, precision
from optcomp.numerics.blocked import Floats, U
from optcomp.numerics.contour.anchor import Anchor
from optcomp.numerics.contour.independent import Independent
from optcomp.numerics.contour.integral import Integral, Means, Nodes
from optcomp.numerics.contour.plan import Contour, Saddle, log_reach, make_contour, saddle_at, saddle_for, short
from optcomp.numerics.contour.several import Mean, Several, kernel_at
from optcomp.numerics.laws.law import Summand, Waves, joined

Counts = Sequence[tuple[Summand, int]]
_PRUNED = 0.1
"""What nodes that hardly count may cost together, in shares of one source of error."""
_FAINT = 1e-4
"""The same for nodes that several sums leave out: for later ones the error that does not matter may be smaller."""
_COLUMNS = "log_size", "angle", "error", "log_most"
"""What `Waves` has at every node."""
_SMOOTHED, _FINER = 0.75, 0.3
"""The shares of the wanted width that may go to the smoothing and, as far as a plan knows, to the other errors."""
_MOST_TILTS = 3
"""Tilts remembered for Chernoff's bound."""
_FEW, _PER_NODE = 20_000, 1500.0
"""So few nodes are kept in any case; more only if they took more than so many nanoseconds each to find."""
_MOST_AT_ONCE = 200_000
"""Nodes of all sums that are looked at together: some megabytes."""
_NEARBY = np.linspace(0.3, 1.5, 13)
"""Times the last tilt: where the next one is looked for."""
_RUN = 1024
"""Nodes that are asked for at once, whatever their distances; longer runs must be evenly spaced."""


@dataclass(frozen=True)
class Aim:
    """Where a contour is to serve: now, with y and log H there, and at the end of the planned growth.

    `relative` is the error of H that does not matter, `smoothing` the variance that may be added to L.
    """

    now: Saddle
    then: Saddle
    relative: float
    smoothing: float


def aim_for(
    now: Independent,
    then: Independent,
    log_t: float,
    log_rest: float,
    rtol: float,
    about: float | None = None,
    rough: float = 1.0,
) -> Aim:
    """To find the place at which F is t, within a relative width, from now, where it is about known, until then.

    A plan is cautious, because it does not know how steep F is: `rough` allows it so many times the error.
    """
    first, last = (saddle_for(source, log_t, log_rest) for source in (now, then))
    if about is not None:
        first = replace(first, y=about)
    scale = rtol * max(first.y, 1e-3 * last.y)
    return Aim(first, last, rough * _FINER * scale * abs(last.tilt), _SMOOTHED * scale / (1 + first.tilt))


def aim_at(now: Independent, then: Independent, y: float, rtol: float) -> Aim:
    """To find F at a place, within a relative width, from now until then."""
    here, there = saddle_at(now, y), saddle_at(then, y)
    ratio = 1.0 if there.excess else -math.expm1(there.log_h) / math.exp(max(there.log_h, -600.0))
    wanted, tilt = rtol * ratio, max(here.tilt, there.tilt)
    return Aim(here, there, _FINER * wanted, _SMOOTHED * wanted / (abs(tilt) * (1 + tilt)))


@dataclass(frozen=True, eq=False)
class _Known:
    """What one law has at the nodes, and its K at the three tilts."""

    waves: Waves
    means: tuple[arb, arb, arb]


class KeptContour:
    """A contour with its nodes, good for all sums that hold at least the variables it was made for."""

    def __init__(self, laws: Counts, plan: Contour, nodes: Nodes) -> None:
        self.plan, self._nodes = plan, nodes
        self._least = dict(laws)
        self._known: dict[Summand, _Known] = {}

    @classmethod
    def made(cls, laws: Counts, then: Independent, aim: Aim, closer: float, work: float) -> KeptContour | None:
        """A contour for these variables, and for more of them; none if that is not worth the work.

        `closer` is the step in steps that would do for the planned growth: with a smaller one there is more room.
        """
        if not (aim.relative > 0 and aim.smoothing > 0 and math.isfinite(aim.then.tilt)):
            return None
        now = Independent(laws, math.inf)
        plan = make_contour(then, aim.then, aim.smoothing, aim.relative)
        step = float(short(np.array([closer * plan.step]))[0])
        lost = min(_log_s(now, aim.now, plan.tilt) - _log_s(then, aim.then, plan.tilt), 0.0)
        plan = replace(plan, step=step, tolerance=max(plan.tolerance * math.exp(max(lost, -600.0)), 1e-290))
        plan, nodes, capped, spent = now.gathered(plan, work)
        nodes = _pruned(nodes, plan)
        worth = nodes.theta.size <= _FEW or _PER_NODE * nodes.theta.size <= spent
        return cls(laws, plan, nodes) if worth and not capped else None

    @property
    def size(self) -> int:
        """How many nodes there are."""
        return self._nodes.theta.size

    def covers(self, laws: Counts) -> bool:
        """Whether all that it was made for is there still."""
        counts = dict(laws)
        return all(counts.get(law, 0) >= copies for law, copies in self._least.items())

    def means(self, laws: Counts) -> Means:
        """K at the three tilts."""
        known = [(self._of(law).means, copies) for law, copies in laws]
        with precision(SUM_BITS):
            return Means(*(_float(sum((copies * each[i] for each, copies in known), arb(0))) for i in range(3)))

    def end(self, log_means: Means, log_t: float) -> float:
        """Chernoff's bound: a place at which F is at most t; infinite where no tilt tells."""
        tilts = (self.plan.tilt, log_means.here), (self.plan.above, log_means.above)
        places = [
            (value + error - log_t + 4 * U * (abs(value) + error + abs(log_t))) / c
            for c, (value, error) in tilts
            if c > 0
        ]
        return max(min(places, default=math.inf), 1e-300) * (1 + 4 * U)

    def anchor(self, laws: Counts, log_means: Means, total: float, y: float) -> Anchor:
        """The quadrature for these variables, about y; `covers` must hold."""
        plan = replace(self.plan, y=y)
        whole, nodes = Independent(laws, total), self._nodes
        real, imag, error = whole.multiplied([self._of(law).waves for law, _ in laws], nodes.theta)
        nodes = replace(nodes, real=real, imag=imag, error=error)
        return Anchor(Integral(plan, nodes, log_means), nodes, log_means, total, False)

    def room(self, laws: Counts) -> int:
        """How many sums of these variables or more may be looked at together; 0 where that is not worth it."""
        if self.plan.smoothing or not self.plan.excess:
            return 0
        some = self._some([law for law, _ in laws], np.array([float(copies) for _, copies in laws]))[0]
        return _MOST_AT_ONCE // max(int(np.count_nonzero(some)), 1)

    def several(self, laws: Sequence[Summand], copies: Floats) -> Several | None:
        """The quadratures for several numbers of copies that `covers` holds for; none where that is not worth it."""
        if self.plan.smoothing or not self.plan.excess:
            return None
        some, near = self._some(laws, copies.min(axis=0))
        if np.count_nonzero(some) * copies.shape[0] > _MOST_AT_ONCE:
            return None
        known = [self._of(law) for law in laws]
        tilts = self.plan.tilt, self.plan.above, self.plan.below
        means = [_mean(c, [each.means[i] for each in known]) for i, c in enumerate(tilts)]
        waves = [Waves(each.waves.centre, *(getattr(each.waves, name)[some] for name in _COLUMNS)) for each in known]
        return Several(self.plan, self._nodes.theta[some], near, waves, (means[0], means[1], means[2]), copies)

    def _some(self, laws: Sequence[Summand], copies: Floats) -> tuple[npt.NDArray[np.bool_], float]:
        """The nodes that count for at least so many copies, and what all others add at most: like that of nodes
        never computed, because each |φ_i| is at most 1.
        """
        log_most = sum((n * self._of(law).waves.log_most for law, n in zip(laws, copies.tolist(), strict=True)), 0.0)
        most = 1.01 * np.exp(np.minimum(log_most, 0.0)) * np.abs(kernel_at(self.plan, self._nodes.theta))
        some = ~(most <= _FAINT * self.plan.share / most.size)
        return some, 1.0001 * (self._nodes.near + float(most[~some].sum())) + 1e-300

    def _of(self, law: Summand) -> _Known:
        if law not in self._known:
            plan = self.plan
            with precision(SUM_BITS):
                means = [
                    law.log_mean(c) if c <= law.most_tilt else arb("nan") for c in (plan.tilt, plan.above, plan.below)
                ]
            waves = _waves_at(law, plan.tilt, self._nodes.theta, plan.step)
            self._known[law] = _Known(waves, (means[0], means[1], means[2]))
        return self._known[law]


class KeptTilts:
    """A few tilts with K of every law: Chernoff's bound on the excess, for what is far from mattering."""

    def __init__(self) -> None:
        self._tilts: tuple[float, ...] = ()
        self._means: dict[tuple[Summand, float], tuple[float, float]] = {}

    def copy(self) -> KeptTilts:
        """The same, from now on independent."""
        other = KeptTilts()
        other._tilts, other._means = self._tilts, self._means.copy()
        return other

    def aimed(self, source: Independent, y: float) -> None:
        """One more tilt, good for y; a few are remembered."""
        tilt = float(short(np.array([self._nearby(source, y) or saddle_at(source, y).tilt]))[0])
        if tilt > 0 and all(tilt <= law.most_tilt for law, _ in source.laws):
            self._tilts = (*self._tilts[1 - _MOST_TILTS :], tilt)

    def _nearby(self, source: Independent, y: float) -> float | None:
        """About the best tilt, if it is near the last one."""
        if not self._tilts:
            return None
        tilts = self._tilts[-1] * _NEARBY
        best = int(np.argmin(log_reach(True, tilts) + source.log_mean_guess(tilts) - tilts * y))
        return float(tilts[best]) if 0 < best < tilts.size - 1 else None

    def log_most(self, laws: Counts, y: float) -> float:
        """At least log F(y): F(y) <= κ(c) E e^{c(L-y)} for every c > 0."""
        copies = np.array([[float(count) for _, count in laws]])
        return float(self.logs_most([law for law, _ in laws], copies, np.array([y]))[0])

    def logs_most(self, laws: Sequence[Summand], copies: Floats, y: Floats) -> Floats:
        """The same for several numbers of copies, a row for each, at places of their own."""
        most = np.full_like(y, math.inf)
        for c in self._tilts:
            if all(c <= law.most_tilt for law in laws):
                value, error = self._mean(c, laws).of(copies)
                reach = float(log_reach(True, np.array([c]))[0])
                slack = error + 16 * U * (np.abs(value) + np.abs(c * y) + abs(reach) + 10)
                most = np.minimum(most, reach + value - c * y + slack)
        return most

    def _mean(self, c: float, laws: Sequence[Summand]) -> Mean:
        for law in laws:
            if (law, c) not in self._means:
                with precision(SUM_BITS):
                    self._means[law, c] = _float(law.log_mean(c))
        value, error = zip(*(self._means[law, c] for law in laws), strict=True)
        return Mean(c, np.array(value), np.array(error))


def _mean(c: float, balls: Sequence[arb]) -> Mean:
    """K of some laws as floats."""
    with precision(SUM_BITS):
        value, error = zip(*map(_float, balls), strict=True)
    return Mean(c, np.array(value), np.array(error))


def _log_s(source: Independent, saddle: Saddle, tilt: float) -> float:
    """About log of H e^{cy - K(c)}, of which errors are to be a small part."""
    return saddle.log_h + tilt * saddle.y - float(source.log_mean_guess(np.array([tilt]))[0])


def _float(value: arb) -> tuple[float, float]:
    """A ball as a float and a bound on its error."""
    middle = float(value.mid())
    return (middle, float_up(abs(value - middle))) if value.is_finite() else (0.0, math.inf)


def _pruned(nodes: Nodes, plan: Contour) -> Nodes:
    """Without the nodes that hardly count; what they add is bounded like that of nodes never computed."""
    most = (np.hypot(nodes.real, nodes.imag) + 1.5 * nodes.error) * (1.0001 * plan.step / math.pi)
    with np.errstate(divide="ignore"):
        near = most / nodes.theta**2
    small = near + plan.smoothing * most <= _PRUNED * plan.share / nodes.theta.size
    kept = ~small
    return Nodes(
        nodes.theta[kept],
        nodes.real[kept],
        nodes.imag[kept],
        nodes.error[kept],
        1.0001 * (nodes.near + float(near[small].sum())),
        1.0001 * (nodes.far + float(most[small].sum())),
    )


def _waves_at(law: Summand, c: float, theta: Floats, step: float) -> Waves:
    """φ of one law at ascending places, in runs that are short or evenly spaced."""
    gaps = (np.flatnonzero(np.diff(theta) > 1.5 * step) + 1).tolist()
    cuts, start = [0], 0
    for end, after in zip([*gaps, theta.size], [*gaps[1:], theta.size, theta.size], strict=False):
        if after - start > _RUN and end > start:
            cuts.append(end)
            start = end
    cuts = sorted({*cuts, theta.size})
    return joined([law.waves(c, theta[i:j]) for i, j in pairwise(cuts)], theta)
