r"""Losses of discrete Gaussian noise on a Poisson sample: one for each whole number x, of weight w = e^{-x²/2σ²}.

With A(x) = 1 - q + q e^{κ(x - Δ/2)}, κ = Δ/σ², and W the sum of all w,

    towards the mixture:  L = log A(x) under w A/W:         E e^{sL} = sum w A(x)^{s+1}/W
    away from it:         L = -log A(x) under w/W:          E e^{sL} = sum w A(x)^{-s}/W
    a record replaced:    L = log A(x)/A(-x) under w A/W:   E e^{sL} = sum w A(x)^{s+1} A(-x)^{-s}/W

The x that matter are listed, the others are bounded by geometric series: `docs/losses.md`, "Whole numbers".
"""

from __future__ import annotations

import math
from abc import abstractmethod
from fractions import Fraction
from functools import cached_property

import numpy as np
from flint import arb, ctx

from optcomp.numerics.balls import ball
from optcomp.numerics.blocked import Floats, U
from optcomp.numerics.exact_numbers import Exact
from optcomp.numerics.laws.cloud import Cloud, CloudLaw
from optcomp.numerics.laws.discrete_gaussian import DiscreteGaussianLaw
from optcomp.numerics.laws.law import Law, log_mean_by_points
from optcomp.numerics.laws.mixed_log import log_left, log_mixed, log_mixed_ball

_WIDE = 13.0
"""Deviations that are listed beyond the last place where the summand may still rise: e^{-13²/2} is below e^-84."""
_MOST_REACH = 300.0
"""Deviations from 0 at which a tilted law may lie; farther out it costs too much."""
_LOG_SLACK, _RELATIVE_SLACK = 1e-6, 1e-14
"""Round-off of logs, counted generously, absolutely and relative to their terms."""
_SMOOTH = 3.0
"""From this σ on a guess is that of Gaussian noise."""
_MOST_KEPT = 256
"""Values of log E e^{cL} that are remembered."""


class WholeLaw(CloudLaw):
    """A loss for each whole number, 0 < q < 1; Δ a whole number."""

    returns = True
    end: float = math.inf
    """No x beyond this counts."""

    def __init__(self, sigma: Exact, shift: int, q: Exact) -> None:
        super().__init__()
        self.sigma, self.shift, self.q = sigma, shift, q
        self.noise = DiscreteGaussianLaw(sigma, shift)
        self._sigma, self._q = float(sigma), float(q)
        self._kappa = float(shift / Fraction(sigma) ** 2)
        self._log_least = log_left(q)
        self._means: dict[tuple[float, int], arb] = {}

    @property
    def mu(self) -> Fraction:
        """Δ/σ."""
        return self.shift / Fraction(self.sigma)

    @abstractmethod
    def powers(self, c: float) -> tuple[float, float]:
        """The powers of A(x) and of A(-x) at tilt c; exact, because tilts have 24 bits."""

    @abstractmethod
    def places(self, x: Floats) -> tuple[Floats, Floats]:
        """The losses, and a bound on their error."""

    @abstractmethod
    def events(self, y: arb) -> list[tuple[arb, arb]]:
        """P(L > y) under the law itself and under the other one; two cases where it is undecided if some L > y."""

    @property
    @abstractmethod
    def smooth(self) -> Law:
        """The same with Gaussian noise, for guesses."""

    def log_a(self, x: Floats) -> tuple[Floats, Floats]:
        """log A and a bound on its error; x - Δ/2 is exact, so κ(x - Δ/2) is within 2u of itself."""
        up = self._kappa * (x - 0.5 * self.shift)
        log_a, share, lost = log_mixed(self._q, self._log_least, up)
        error = U * (8 * share * np.abs(up) + lost)
        return log_a, np.where(up < 600, error, 8 * U * (up + 20)) + 8 * U * np.abs(log_a)

    def logs(self, c: float, x: Floats) -> tuple[Floats, Floats]:
        """The log of the summand at tilt c, and a bound on its error."""
        one, two = self.powers(c)
        square = (x / self._sigma) ** 2
        value, error = -0.5 * square, U * (4 * square + 40)
        for power, place in ((one, x), (two, -x)):
            if power:
                log_a, own = self.log_a(place)
                value, error = value + power * log_a, error + abs(power) * (own + 2 * U * np.abs(log_a))
        return value, error + 4 * U * np.abs(value)

    def ends(self, c: float) -> tuple[int, int]:
        """The first and the last x that are listed."""
        one, two = self.powers(c)
        rise, fall = max(one, 0.0) + max(-two, 0.0), min(one, 0.0) + min(-two, 0.0)
        low, high = self.shift * fall - _WIDE * self._sigma, self.shift * rise + _WIDE * self._sigma
        if one < 0 and not two:
            low = max(low, -self._sigma * math.sqrt(_WIDE**2 + 2 * one * self._log_least))
        return math.floor(low) - 1, math.ceil(high) + 1

    def rest(self, c: float, listed: float) -> float:
        """At least the sum over all other x, over the listed sum, whose log is given."""
        return self._left(c, listed) + self._right(c, listed) + 1e-290

    def _left(self, c: float, listed: float) -> float:
        """The slope of the log is at least (Δ fall - x)/σ²; where A^a is at most (1-q)^a, that of w alone counts."""
        one, two = self.powers(c)
        first = float(self.ends(c)[0] - 1)
        steep = self.shift * (min(one, 0.0) + min(-two, 0.0)) - first
        log, error = (float(column[0]) for column in self.logs(c, np.array([first])))
        if one < 0 and not two and steep < _WIDE * self._sigma:
            log, steep = -0.5 * (first / self._sigma) ** 2 + one * self._log_least, -first
        return self._series(log, error, steep, listed)

    def _right(self, c: float, listed: float) -> float:
        """The slope of the log is at most (Δ rise - x)/σ²."""
        one, two = self.powers(c)
        last = float(self.ends(c)[1] + 1)
        log, error = (float(column[0]) for column in self.logs(c, np.array([last])))
        return self._series(log, error, last - self.shift * (max(one, 0.0) + max(-two, 0.0)), listed)

    def _series(self, log: float, error: float, steep: float, listed: float) -> float:
        """At least e^log/(1 - e^{-steep/σ²}) in units of e^listed."""
        slack = _LOG_SLACK + error + _RELATIVE_SLACK * (abs(log) + abs(listed))
        return 1.01 * math.exp(min(log - listed + slack, 300.0)) / -math.expm1(-steep / self._sigma**2)

    def cloud(self, c: float, theta: float) -> Cloud:
        first, last = self.ends(c)
        x = np.arange(first, last + 1, dtype=np.float64)
        logs, error = self.logs(c, x)
        top = float(logs.max())
        weight = np.exp(logs - top)
        place, blur = self.places(x)
        cut = self.rest(c, top + math.log(float(weight.sum())))
        return Cloud(place, weight, error + U * (20 + np.abs(logs - top)), blur, lambda at: 0 * at + cut)

    def points(self, c: float, theta: float) -> float:
        first, last = self.ends(c)
        return last - first + 1.0

    def log_mean(self, c: float) -> arb:
        key = c, ctx.prec
        if key not in self._means:
            if len(self._means) >= _MOST_KEPT:
                self._means.clear()
            self._means[key] = self._log_mean(c)
        return self._means[key]

    def _log_mean(self, c: float) -> arb:
        """The listed sum in balls, and the others."""
        total = self._listed(c, 0)
        missed = self.rest(c, float(total.log().mid()))
        return (total * (1 + arb(0, missed)) / self._whole()).log()

    def _whole(self) -> arb:
        """W, by Poisson summation."""
        return (2 * arb.pi()).sqrt() * ball(self.sigma) * self.noise.ring(0.0)

    def _listed(self, c: float, order: int) -> arb:
        """The sum of w A(x)^a A(-x)^b L^order over the listed x."""
        one, two = (arb(power) for power in self.powers(c))
        first, last = self.ends(c)
        kappa, square = self.shift / ball(self.sigma) ** 2, 2 * ball(self.sigma) ** 2
        total, half, mirrored = arb(0), kappa * self.shift / 2, self.mirrored
        for x in range(first, last + 1):
            log_a = log_mixed_ball(self.q, kappa * x - half)
            log = one * log_a - arb(x * x) / square
            other = arb(0)
            if mirrored:
                other = log_mixed_ball(self.q, -kappa * x - half)
                log += two * other
            term = log.exp()
            for _ in range(order):  # a power of a ball about 0 would be undefined
                term *= self.signed(log_a, other)
            total += term
        return total

    mirrored = False
    """Whether A(-x) is a part of the loss."""

    @abstractmethod
    def signed(self, log_a: arb, other: arb) -> arb:
        """The loss from log A(x) and log A(-x)."""

    def log_mean_guess(self, c: Floats) -> Floats:
        if self._sigma >= _SMOOTH:
            return self.smooth.log_mean_guess(c)
        logs, place = self._guesses
        return log_mean_by_points(logs, place, c)

    def cumulants(self, c: Floats) -> tuple[Floats, Floats, Floats]:
        return self.smooth.cumulants(c) if self._sigma >= _SMOOTH else super().cumulants(c)

    @cached_property
    def _guesses(self) -> tuple[Floats, Floats]:
        """The logs of the probabilities of all x that any tilt may need, and their losses."""
        low, high = self.ends(0.0)
        far = math.ceil(_MOST_REACH * self._sigma) + 2 * self.shift
        x = np.arange(low - far, min(high + far, self.end) + 1, dtype=np.float64)
        logs = self.logs(0.0, x)[0]
        return logs - float(np.logaddexp.reduce(logs)), self.places(x)[0]

    def reach(self, deviations: float) -> tuple[int, int]:
        """The x that are at most so many deviations away from some centre of the noise."""
        far = math.ceil(deviations * self._sigma) + self.shift
        return -far, far

    def listed_pair(self, first: int, last: int) -> list[tuple[arb, arb, arb]]:
        """The loss with its probabilities under the law itself and under the other one, from one x to another."""
        (own, mirrored), (other, opposite) = self.powers(0.0), self.powers(-1.0)
        kappa, square = self.shift / ball(self.sigma) ** 2, 2 * ball(self.sigma) ** 2
        whole, half, found = self._whole(), kappa * self.shift / 2, []
        for x in range(first, last + 1):
            log_a, log_b = (log_mixed_ball(self.q, kappa * place - half) for place in (x, -x))
            base = -arb(x * x) / square
            masses = ((base + a * log_a + b * log_b).exp() / whole for a, b in ((own, mirrored), (other, opposite)))
            found.append((self.signed(log_a, log_b), *masses))
        return found

    def sides(self, y: float | arb) -> tuple[arb, arb]:
        """P(L > y) under the law itself and under the other one."""
        (own, other), *others = self.events(arb(y))
        for one, two in others:
            own, other = own.union(one), other.union(two)
        return own, other

    def tail(self, y: float | arb) -> arb:
        return self.sides(y)[0]

    def excess(self, y: float | arb) -> arb:
        grown = arb(y).exp()
        value, *others = (own - grown * other for own, other in self.events(arb(y)))
        for other in others:
            value = value.union(other)
        return value

    def at_least(self, k: int) -> arb:
        """P(X >= k) for the noise X."""
        return self.noise.up_to(-k)

    def _moment(self, order: int) -> arb:
        """E L^order; |L| is at most κ(|x| + Δ) + 2|log(1-q)|, which grows by less than e^{1/σ} from x to x + 1."""
        value, mass = self._listed(0.0, order), self._listed(0.0, 0)
        first, last = self.ends(0.0)
        most = self._kappa * (max(-first, last) + 2 + self.shift) - 2 * self._log_least
        missed = 3.03 * most**order * self.rest(0.0, float(mass.log().mid()))
        return (value + arb(0, missed) * mass) / self._whole()

    def mean(self) -> arb:
        return self._moment(1)

    def variance(self) -> arb:
        return self._moment(2) - self._moment(1) ** 2


def at_or_above(place: arb) -> list[int]:
    """The least whole number at or above; two of them if undecided, none if nothing is known."""
    if not place.is_finite():
        return []
    low, high = (end.ceil().unique_fmpz() for end in (place.lower(), place.upper()))
    if low is None or high is None or high - low > 1:
        return []
    return sorted({int(low), int(high)})


def above(place: arb) -> list[int]:
    """The least whole number above."""
    if not place.is_finite():
        return []
    low, high = (end.floor().unique_fmpz() for end in (place.lower(), place.upper()))
    if low is None or high is None or high - low > 1:
        return []
    return sorted({int(low) + 1, int(high) + 1})
