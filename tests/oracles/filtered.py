"""The most that any adaptive adversary gets out of a filter or an odometer: exact recursions, nothing sampled.

In each round the adversary picks from a menu, after seeing all answers, a leaky randomized response whose odds are a
power of one base.  The ratio of likelihoods is then base^k for a whole number k, and the state of the game is k and the
state of the filter.  Probabilities are fractions; ε_i is log(odds) rounded up by less than 1e-12.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from fractions import Fraction
from math import ceil

from optcomp import ApproxDP, PureDP
from optcomp.interactive.filters import Admitted, Cost, Filter
from optcomp.interactive.odometers import Odometer
from optcomp.numerics.balls import ball, float_up, precision
from optcomp.numerics.exact_numbers import Exact
from tests.oracles.rational import log_between

ONE, ZERO = Fraction(1), Fraction(0)


@dataclass(frozen=True)
class Move:
    """Leaky randomized response with odds base^power."""

    base: Fraction
    power: int
    leak: Fraction = ZERO

    @property
    def odds(self) -> Fraction:
        return self.base**self.power

    @property
    def epsilon(self) -> Fraction:
        """At least log(odds), with 13 decimals."""
        return Fraction(ceil(log_between(self.odds, 128)[1] * 10**13), 10**13)

    @property
    def request(self) -> PureDP | ApproxDP:
        return ApproxDP(self.epsilon, self.leak) if self.leak else PureDP(self.epsilon)


def menu(base: Fraction, powers: Sequence[int], leaks: Sequence[Fraction] = (ZERO,)) -> list[Move]:
    return [Move(base, power, leak) for power in powers for leak in leaks]


def admissions(start: Filter, moves: Sequence[Move]) -> Callable[[Filter], list[tuple[Move, Filter]]]:
    """The moves that a state of this filter admits, with what comes next; each state is asked once."""
    requests, known = [(move, move.request) for move in moves], dict[Cost, list[tuple[Move, Filter]]]()

    def admitted(state: Filter) -> list[tuple[Move, Filter]]:
        if state.spent not in known:
            outcomes = [(move, state.admit(request)) for move, request in requests]
            known[state.spent] = [(move, outcome.state) for move, outcome in outcomes if isinstance(outcome, Admitted)]
        return known[state.spent]

    return admitted


def worst_delta(start: Filter, moves: Sequence[Move], odds: Fraction) -> Fraction:
    """The largest P(E) - odds·Q(E) of any event E of any adversary's view."""
    base, admitted, known = moves[0].base, admissions(start, moves), dict[tuple[int, Cost], Fraction]()

    def value(k: int, state: Filter) -> Fraction:
        """In units of the probability under Q of getting here."""
        key = k, state.spent
        if key not in known:
            best = max(base**k - odds, ZERO)
            for move, after in admitted(state):
                up = value(k + move.power, after) / (1 + move.odds)
                down = value(k - move.power, after) * move.odds / (1 + move.odds)
                best = max(best, base**k * move.leak + (1 - move.leak) * (up + down))
            known[key] = best
        return known[key]

    return value(0, start)


def worst_moment(start: Filter, moves: Sequence[Move], order: int) -> Fraction:
    """The largest E_Q (P/Q)^α over all adversaries, for a whole α."""
    admitted, known = admissions(start, moves), dict[Cost, Fraction]()

    def value(state: Filter) -> Fraction:
        """By which factor the rest of the game can multiply the moment."""
        if state.spent not in known:
            rests = (value(after) * _moment(move.odds, order) for move, after in admitted(state))
            known[state.spent] = max(rests, default=ONE)
        return known[state.spent]

    return value(start)


def _moment(odds: Fraction, order: int) -> Fraction:
    """E_Q (P/Q)^α of randomized response: ratio `odds` with probability 1/(1 + odds), else 1/odds."""
    return (odds**order + odds * odds**-order) / (1 + odds)


def worst_overrun(start: Odometer, moves: Sequence[Move], rounds: int) -> Fraction:
    """The largest probability, over all adversaries, that the loss is ever above what the odometer says."""
    base, requests = moves[0].base, [move.request for move in moves]
    known, reports = dict[tuple[int, Cost, int], Fraction](), dict[Cost, Fraction]()
    unit = log_between(base, 128)[1]

    def report(state: Odometer) -> Fraction:
        if state.spent not in reports:
            reports[state.spent] = Fraction(state.epsilon)
        return reports[state.spent]

    def value(k: int, state: Odometer, left: int) -> Fraction:
        if k * unit > report(state):
            return ONE
        key = k, state.spent, left
        if left and key not in known:
            best = ZERO
            for move, request in zip(moves, requests, strict=True):
                after = state.record(request)
                up = value(k + move.power, after, left - 1) * move.odds / (1 + move.odds)
                down = value(k - move.power, after, left - 1) / (1 + move.odds)
                best = max(best, move.leak + (1 - move.leak) * (up + down))
            known[key] = best
        return known[key] if left else ZERO

    return value(0, start, rounds)


def filter_epsilon(squares: Exact, delta: Exact) -> float:
    """What WRRW23 says of S = Σε_i²: √(2 ln(1/δ') S) + S/2, rounded up."""
    with precision(192):
        total = ball(squares)
        return float_up((-2 * ball(delta).log() * total).sqrt() + total / 2)
