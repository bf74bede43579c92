"""BBG18: the secrecy of a sample, against all samples of a small population, one by one."""

from __future__ import annotations

from fractions import Fraction
from itertools import combinations, product
from math import comb

import pytest
from flint import arb
from hypothesis import given
from hypothesis import strategies as st

from optcomp import ApproxDP, HypothesisNotMet
from optcomp.theorems.bbg18 import inside, outside
from tests.oracles.truth import real, working

ODDS = [Fraction(3, 2), Fraction(3), Fraction(20)]
SAMPLES = [(1, 1), (1, 2), (1, 4), (2, 3), (2, 5), (3, 4), (3, 6)]


def answers(bits: tuple[int, ...], odds: Fraction, leak: Fraction) -> dict[object, Fraction]:
    """Leaky randomized response of the number of ones in a sample of one bit each, as a distribution.

    Exchanging one person changes that number by one; only its parity is answered, truly with odds, or with probability
    `leak` the sample itself is told.
    """
    parity = sum(bits) % 2
    true = odds / (1 + odds)
    found: dict[object, Fraction] = {("told", bits): leak}
    for answer in (0, 1):
        found[answer] = (1 - leak) * (true if answer == parity else 1 - true)
    return found


def released(people: tuple[int, ...], size: int, odds: Fraction, leak: Fraction) -> dict[object, Fraction]:
    """The same on a sample that nobody knows."""
    found: dict[object, Fraction] = {}
    for chosen in combinations(people, size):
        for answer, share in answers(chosen, odds, leak).items():
            found[answer] = found.get(answer, Fraction(0)) + share / comb(len(people), size)
    return found


def distance(one: dict[object, Fraction], other: dict[object, Fraction], odds: Fraction) -> Fraction:
    """Σ(P - e^ε Q)_+, exactly."""
    return sum((max(p - odds * other.get(answer, Fraction(0)), Fraction(0)) for answer, p in one.items()), Fraction(0))


def worst(size: int, population: int, odds: Fraction, leak: Fraction, outer: Fraction) -> Fraction:
    """The true δ at e^ε = `outer`, over all populations and all exchanges of one person."""
    laws = {people: released(people, size, odds, leak) for people in product((0, 1), repeat=population)}
    found = Fraction(0)
    for people, law in laws.items():
        for i in range(population):
            other = (*people[:i], 1 - people[i], *people[i + 1 :])
            found = max(found, distance(law, laws[other], outer))
    return found


@pytest.mark.parametrize("odds", ODDS)
@pytest.mark.parametrize(("size", "population"), SAMPLES)
def test_no_population_shows_more(size: int, population: int, odds: Fraction) -> None:
    """At e^{ε'} = 1 + γ(e^ε - 1) the true δ is at most γ times that of the sample, for any leak."""
    outer = 1 + Fraction(size, population) * (odds - 1)
    for leak in (Fraction(0), Fraction(1, 100)):
        assert worst(size, population, odds, leak, outer) <= Fraction(size, population) * leak
    with working(200):
        eps = Fraction(float(real(odds).log().mid()))
        claimed = outside(ApproxDP(eps, Fraction(1, 100)), size, population)
        assert claimed.delta == Fraction(size, 100 * population)
        near = real(claimed.epsilon) - real(outer).log()
        assert abs(near) < arb("1e-15") * (1 + real(outer).log())


@pytest.mark.parametrize("odds", ODDS)
@pytest.mark.parametrize(("size", "population"), [(1, 1), (1, 2), (1, 4), (1, 6)])
def test_it_is_tight_for_one_person(size: int, population: int, odds: Fraction) -> None:
    """Randomized response of a single person's bit attains it: any smaller ε' has a positive δ."""
    outer = 1 + Fraction(size, population) * (odds - 1)
    assert worst(size, population, odds, Fraction(0), outer) == 0
    assert worst(size, population, odds, Fraction(0), outer * (1 - Fraction(1, 10**9))) > 0


def told_apart(people: tuple[int, ...], size: int, odds: Fraction) -> dict[object, Fraction]:
    """Whether a certain person, marked by 1, is in the sample, by randomized response."""
    true = odds / (1 + odds)
    found: dict[object, Fraction] = {0: Fraction(0), 1: Fraction(0)}
    for chosen in combinations(people, size):
        for answer in (0, 1):
            share = true if answer == (1 in chosen) else 1 - true
            found[answer] += share / comb(len(people), size)
    return found


@pytest.mark.parametrize("odds", ODDS)
@pytest.mark.parametrize(("size", "population"), SAMPLES)
def test_it_is_tight_for_any_sample(size: int, population: int, odds: Fraction) -> None:
    """Against a population without the marked person; this mechanism sees an exchange only if it was sampled."""
    nobody, somebody = (0,) * population, (1, *(0,) * (population - 1))
    one, other = told_apart(somebody, size, odds), told_apart(nobody, size, odds)
    outer = 1 + Fraction(size, population) * (odds - 1)
    assert max(one[a] / other[a] for a in (0, 1)) == outer


SHARES = st.tuples(st.integers(1, 10**6), st.integers(0, 10**9)).map(lambda pair: (pair[0], sum(pair)))


@given(st.fractions(Fraction(1, 10**9), 30), st.fractions(0, Fraction(1, 1000)), SHARES)
def test_there_and_back_gains_nothing(eps: Fraction, delta: Fraction, sizes: tuple[int, int]) -> None:
    rows, population = sizes
    if delta * population >= rows:
        with pytest.raises(HypothesisNotMet):
            inside(ApproxDP(eps, delta), rows, population)
        return
    budget = ApproxDP(eps, delta)
    within = inside(budget, rows, population)
    if rows == population:
        assert within == outside(within, rows, population) == budget
        return
    back = outside(within, rows, population)
    assert Fraction(back.delta) == delta
    with working(300):
        share = real(Fraction(rows, population))
        exact = (share * (real(within.epsilon).exp() - 1) + 1).log()
        assert exact <= real(eps)  # what the sample may spend never costs more than the budget
        assert real(back.epsilon) >= exact
        assert real(back.epsilon) <= real(eps) * (1 + arb("1e-14"))
    assert within.epsilon >= Fraction(eps) * (1 - Fraction(1, 10**15))


def test_the_whole_population_is_no_secret() -> None:
    assert inside(ApproxDP(1, "1e-6"), 50, 50) == ApproxDP(1, "1e-6")
    assert outside(ApproxDP(1, "1e-6"), 50, 50) == ApproxDP(1, "1e-6")


@pytest.mark.parametrize(("rows", "population"), [(0, 5), (6, 5), (-1, 5)])
def test_what_is_no_sample_is_refused(rows: int, population: int) -> None:
    for way in (inside, outside):
        with pytest.raises(HypothesisNotMet) as refusal:
            way(ApproxDP(1, "1e-6"), rows, population)
        assert refusal.value.theorem == "BBG18"
