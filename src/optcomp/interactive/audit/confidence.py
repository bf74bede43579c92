r"""Clopper–Pearson confidence bounds on a probability, proved in ball arithmetic.

Seen k times in n independent runs, a probability p satisfies p >= down(k, n, β) with confidence 1 - β, where down is
the p at which Pr[Bin(n, p) >= k] = β: whenever the bound exceeds the truth, an event of probability at most β has
happened.  What is returned is a float p with Pr[Bin(n, p) >= k] <= β *proved*, so rounding never costs confidence.
up(k, n, β) = 1 - down(n - k, n, β).

The root is found by Newton's method for log F as a function of u = log p, where F = Pr[Bin(n, p) >= k] is a constant
times \int_{-\infty}^u e^{kv} (1 - e^v)^{n-k} dv.  The integrand is log-concave, hence so is F: log F is concave and
increasing, and from wherever a step starts it ends at or below the root, the safe side.
"""

from __future__ import annotations

from fractions import Fraction

from flint import arb

from optcomp.errors import InvalidInput
from optcomp.numerics.balls import DEEP_BITS, ball, float_down, float_up, precision
from optcomp.numerics.exact import Exact, whole

MOST_TRIALS = 10**9
"""Runs beyond take days, even of the quickest mechanism."""
_CLOSE = 80  # bits of u at which Newton's method has arrived
_NEGLIGIBLE = 100  # bits of a tail sum below which terms are left out
_MOST_STEPS = 200
"""Far more than Newton's method takes; what is proved does not depend on where it ends."""


def probability_down(hits: int, trials: int, error: Exact) -> float:
    """At most the probability of what happened `hits` times in `trials` independent runs, but for `error`."""
    _check(hits, trials, error)
    with precision(DEEP_BITS):
        return float_down(_root(hits, trials, error))


def probability_up(hits: int, trials: int, error: Exact) -> float:
    """At least the probability of what happened `hits` times in `trials` independent runs, but for `error`."""
    _check(hits, trials, error)
    with precision(DEEP_BITS):
        return float_up(1 - _root(trials - hits, trials, error))


def _check(hits: int, trials: int, error: Exact) -> None:
    whole(trials, "trials", 1, MOST_TRIALS)
    whole(hits, "hits", 0, trials)
    if not 0 < error < 1:
        raise InvalidInput("error", error, "must lie strictly between 0 and 1")


def _root(hits: int, trials: int, error: Exact) -> arb:
    """A point p, just below the root, with Pr[Bin(trials, p) >= hits] <= error proved."""
    if hits == 0:
        return arb(0)
    wanted = ball(Fraction(error))
    place = (arb(hits) / (trials + 1)).log()
    for _ in range(_MOST_STEPS):
        tail, first = _tail(place.exp(), hits, trials)
        step = (tail.log() - wanted.log()) * tail / (hits * first)
        place = (place - step).mid()
        if abs(step) < arb(2) ** -_CLOSE:
            break
    margin = arb(2) ** -_CLOSE
    while True:
        point = (place - margin).exp().lower()
        if _tail(point, hits, trials)[0] <= wanted:
            return point
        margin *= 2


def _tail(p: arb, hits: int, trials: int) -> tuple[arb, arb]:
    """Pr[Bin(trials, p) >= hits], and its first term.

    Terms shrink by factors that decrease, so what is left out is below a geometric series.
    """
    term = first = _mass(p, hits, trials)
    total, odds = term, p / (1 - p)
    small = arb(2) ** -_NEGLIGIBLE
    for i in range(hits, trials):
        ratio = odds * (trials - i) / (i + 1)
        term = term * ratio
        total = total + term
        if ratio < 1 and term * ratio < small * total * (1 - ratio):
            return total.union(total + term * ratio / (1 - ratio)), first
    return total, first


def _mass(p: arb, hits: int, trials: int) -> arb:
    """Pr[Bin(trials, p) = hits]."""
    ways = arb(trials + 1).lgamma() - arb(hits + 1).lgamma() - arb(trials - hits + 1).lgamma()
    return (ways + hits * p.log() + (trials - hits) * (-p).log1p()).exp()
