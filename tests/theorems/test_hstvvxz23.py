"""HSTVVXZ23: filters over interactive mechanisms that are started on the way and asked in any order, exactly."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from fractions import Fraction
from math import ceil
from random import Random

import pytest

from optcomp import ApproxDP
from optcomp.interactive.filters import Admitted, BestFilter, Filter, SumFilter, ZCDPFilter
from optcomp.proofs import odds_down, random_pair
from optcomp.proofs.systems import History, Pair, random_system
from tests.oracles.rational import log_between

ZERO = Fraction(0)
States = tuple[History | None, ...]
"""The conversation with each mechanism so far; None for one that was not started."""


@dataclass(frozen=True)
class Offer:
    """An interactive mechanism that the adversary may start, with what it promises."""

    pair: Pair
    odds: Fraction
    delta: Fraction

    @property
    def request(self) -> ApproxDP:
        return ApproxDP(Fraction(ceil(log_between(self.odds, 128)[1] * 10**13), 10**13), self.delta)


def worst(start: Filter, offers: Sequence[Offer], odds: Fraction) -> Fraction:
    """The largest P(E) - odds·Q(E), over all ways to start mechanisms within the filter and to interleave questions."""
    known: dict[States, Fraction] = {}
    sides = [(offer.pair.side(0), offer.pair.side(1)) for offer in offers]

    def value(states: States, budget: Filter) -> Fraction:
        if states not in known:
            known[states] = max(_stop(states), *_asks(states, budget), *_starts(states, budget))
        return known[states]

    def _stop(states: States) -> Fraction:
        p = q = Fraction(1)
        for (zero, one), history in zip(sides, states, strict=True):
            if history is not None:
                p, q = p * Fraction(zero.flow[history]), q * Fraction(one.flow[history])
        return max(p - odds * q, ZERO)

    def _starts(states: States, budget: Filter) -> list[Fraction]:
        found = [ZERO]
        for place, offer in enumerate(offers):
            if states[place] is None:
                outcome = budget.admit(offer.request)
                if isinstance(outcome, Admitted):
                    found.append(value(_with(states, place, ()), outcome.state))
        return found

    def _asks(states: States, budget: Filter) -> list[Fraction]:
        found = [ZERO]
        for place, history in enumerate(states):
            if history is not None:
                zero = sides[place][0]
                for query in zero.queries(history):
                    answers = set(zero.answer(history, query)) | set(sides[place][1].answer(history, query))
                    rests = (value(_with(states, place, (*history, (query, each))), budget) for each in answers)
                    found.append(sum(rests, ZERO))
        return found

    return value((None,) * len(offers), start)


def _with(states: States, place: int, history: History) -> States:
    return (*states[:place], history, *states[place + 1 :])


def offers(seed: int, *levels: tuple[str, str]) -> list[Offer]:
    rng = Random(seed)
    found = []
    for odds, delta in levels:
        pair = random_pair(rng, Fraction(odds), Fraction(delta), random_system)
        found.append(Offer(pair, Fraction(odds), Fraction(delta)))
    return found


@pytest.mark.parametrize("seed", range(4))
def test_sums(seed: int) -> None:
    """Two of the three mechanisms fit; which ones, the adversary may decide on the way."""
    choices = offers(seed, ("2", "0.1"), ("3/2", "0.05"), ("3/2", "0.02"))
    assert worst(SumFilter("1.2", "0.15"), choices, odds_down(Fraction("1.2"))) <= Fraction("0.15")


@pytest.mark.parametrize("seed", range(4))
def test_concentration_and_the_best_of_both(seed: int) -> None:
    """All three coins fit although Σε is more than ε."""
    choices = offers(seed, ("3/2", "0"), ("3/2", "0.02"), ("3/2", "0"))
    for state in (ZCDPFilter.within("0.9", "0.2", "0.02"), BestFilter("0.9", "0.2", "0.02")):
        assert state.remaining(like=choices[0].request).count == 4
        assert worst(state, choices, odds_down(Fraction("0.9"))) <= Fraction("0.2")


def test_the_search_would_catch_a_wrong_filter() -> None:
    """With a budget for all of them the same adversary gets more than the smaller promise."""
    choices = offers(1, ("2", "0.1"), ("3/2", "0.05"), ("3/2", "0.02"))
    assert worst(SumFilter(9, "0.5"), choices, Fraction(1)) > Fraction("0.15")
