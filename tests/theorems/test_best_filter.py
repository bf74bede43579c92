"""BEST-FILTER: sums or concentration, whichever still holds; every transcript of exact games is looked at."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from fractions import Fraction

import pytest

from optcomp import Gaussian, PureDP
from optcomp.interactive.filters import Admitted, BestFilter, Cost, Filter, SumFilter, ZCDPFilter
from optcomp.proofs import odds_down
from tests.oracles.filtered import ONE, ZERO, Move, admissions, menu, worst_delta

BASE = Fraction(11, 10)
ODDS = odds_down(1)


def test_the_filter_names_it() -> None:
    assert BestFilter(1, "1e-6").theorem == BestFilter(1, "1e-6", "1e-7").theorem == "BEST-FILTER"


@pytest.mark.parametrize("delta", ["0.2", "0.05"])
def test_no_adversary_gets_more_than_delta(delta: str) -> None:
    assert worst_delta(BestFilter(1, delta), menu(Fraction(6, 5), (1, 2, 4)), ODDS) <= Fraction(delta)


def test_requests_that_may_slip() -> None:
    """(ε_i, δ_i) requests: Σδ_i within δ'', and all of it within δ."""
    moves = menu(BASE, (1, 3), (ZERO, Fraction(1, 200)))
    worst = worst_delta(BestFilter(1, "0.05", "0.02"), moves, ODDS)
    assert Fraction(2, 100) * Fraction(9, 10) < worst <= Fraction(5, 100)


def test_both_ways_are_used() -> None:
    """Large coins go by the sum, small ones by concentration, and an adversary may choose as it goes."""
    moves, state = menu(BASE, (1, 9)), BestFilter(1, "0.01")
    assert not isinstance(ZCDPFilter.within(1, "0.01").admit(moves[1].request), Admitted)
    assert isinstance(state.admit(moves[1].request), Admitted)
    assert state.remaining(like=moves[0].request).count == 22
    assert SumFilter(1).remaining(like=moves[0].request).count == 10
    assert 0 < worst_delta(state, moves, ODDS) <= Fraction(1, 100)


def transcripts(state: Filter, moves: Sequence[Move]) -> Iterator[tuple[Fraction, Fraction, Filter]]:
    """P, Q and the last state of all transcripts, equal ones together: the larger coin where the loss is negative."""
    admitted, playing = admissions(state, moves), {(0, state.spent): (ONE, state)}
    while playing:
        later: dict[tuple[int, Cost], tuple[Fraction, Filter]] = {}
        for (k, _), (q, at) in playing.items():
            offers = sorted(admitted(at), key=lambda offer: offer[0].power)
            if not offers:
                yield BASE**k * q, q, at
                continue
            move, after = offers[-1 if k < 0 else 0]
            for power, share in ((move.power, 1 / (1 + move.odds)), (-move.power, move.odds / (1 + move.odds))):
                key = k + power, after.spent
                later[key] = later.get(key, (ZERO, after))[0] + q * share, after
        playing = later


def test_what_goes_beyond_the_cap_adds_nothing() -> None:
    """The proof, executed: a transcript beyond Σρ_i = ρ has P <= e^ε Q, and the others are those of a ρ-zCDP game."""
    delta, moves = Fraction(1, 100), menu(BASE, (1, 9))
    filter_ = BestFilter(1, delta)
    inside, beyond, whole = ZERO, ZERO, ZERO
    for p, q, last in transcripts(filter_, moves):
        whole += p
        assert last.spent.rho is not None
        if last.spent.rho > filter_.cap:
            beyond += p
            assert last.spent.epsilon is not None
            assert last.spent.epsilon <= 1
            assert p <= ODDS * q
        else:
            inside += max(p - ODDS * q, ZERO)
    assert 0 < beyond < whole == 1
    assert 0 < inside <= worst_delta(ZCDPFilter(filter_.cap), moves, ODDS) <= delta


def test_one_request_without_an_epsilon_closes_the_sum() -> None:
    state = BestFilter(1, "1e-6")
    assert isinstance(state.admit(PureDP("0.9")), Admitted)
    noisy = state.admit(Gaussian(50))
    assert isinstance(noisy, Admitted)
    assert not isinstance(noisy.state.admit(PureDP("0.9")), Admitted)


def test_the_game_would_catch_a_wrong_cap() -> None:
    state = BestFilter(1, "0.05")
    object.__setattr__(state, "cap", 5 * state.cap)
    assert worst_delta(state, menu(Fraction(6, 5), (1,)), ODDS) > Fraction(1, 20)
