"""ZDW22-11: batches of fixed size without replacement, against all batches of small tables and explicit totals."""

from __future__ import annotations

from fractions import Fraction
from functools import cache
from itertools import product

import pytest

import optcomp as oc
from tests.oracles import rounded
from tests.oracles.replaced_losses import glued_gaussian_sides, subsampled_gaussian_sides, two_rounds
from tests.oracles.sampled_tables import Law, both, by_batch, curve, mixed, noisy, rounds
from tests.oracles.truth import working

REACH = 6
ODDS = [Fraction(1, 3), Fraction(9, 10), Fraction(1), Fraction(11, 10), Fraction(3, 2), Fraction(4)]
BATCHES = [(1, 3), (2, 3), (1, 4), (2, 4)]
RATIOS = [Fraction(1, 2), Fraction(1, 5)]


def plain_and_mixture(batch: int, people: int, ratio: Fraction) -> tuple[Law, Law]:
    """Noise about a sum; and the same where a share of all batches has a record that moves it by 2."""
    rate, plain = Fraction(batch, people), noisy(-1, ratio, REACH)
    return plain, mixed([(1 - rate, plain), (rate, noisy(1, ratio, REACH))])


def glued(plain: Law, mixture: Law) -> list[tuple[Fraction, Fraction]]:
    """The pair of the theorem: where the mixture is larger it is P once and Q once; all the rest is alike."""
    pairs = [(mixture[x], plain[x]) for x in plain if mixture[x] > plain[x]]
    rest = 1 - sum((p + q for p, q in pairs), Fraction(0))
    return [*pairs, *((q, p) for p, q in pairs), (rest, rest)]


@pytest.mark.parametrize("ratio", RATIOS)
@pytest.mark.parametrize(("batch", "people"), BATCHES)
def test_the_curve_is_the_largest_of_all_replacements(batch: int, people: int, ratio: Fraction) -> None:
    """All tables of records -1, 0 and 1, all replacements of one; at every ε some two of them attain it."""
    laws = {table: by_batch(table, batch, ratio, REACH) for table in product((-1, 0, 1), repeat=people)}
    plain, mixture = plain_and_mixture(batch, people, ratio)
    pair = glued(plain, mixture)
    assert all(p >= 0 and q >= 0 for p, q in pair)
    assert sum(p for p, _ in pair) == sum(q for _, q in pair) == 1
    for odds in ODDS:
        found = Fraction(0)
        for table, law in laws.items():
            for record in (-1, 0, 1):
                found = max(found, curve(both(law, laws[(record, *table[1:])]), odds))
        assert found == curve(pair, odds)
        way = (mixture, plain) if odds >= 1 else (plain, mixture)
        assert curve(both(*way), odds) == curve(pair, odds)


@pytest.mark.parametrize("ratio", RATIOS)
def test_two_rounds_cost_at_most_the_total_and_at_least_the_lower_side(ratio: Fraction) -> None:
    """Real tables for two rounds; no single pair attains the total, which is why it is an upper bound only."""
    batch, people = 1, 3
    laws = {table: by_batch(table, batch, ratio, REACH) for table in product((-1, 0, 1), repeat=people)}
    plain, mixture = plain_and_mixture(batch, people, ratio)
    pair = glued(plain, mixture)
    square = [(p * a, q * b) for p, q in pair for a, b in pair]
    for odds in (Fraction(1), Fraction(11, 10), Fraction(3, 2)):
        found = Fraction(0)
        for table in ((-1, -1, -1), (1, -1, -1), (0, -1, -1), (1, 0, -1), (1, 1, -1), (0, 0, 0)):
            for record in (-1, 0, 1):
                found = max(found, curve(rounds(laws[table], laws[(record, *table[1:])], 2), odds))
        lower = max(curve(rounds(mixture, plain, 2), odds), curve(rounds(plain, mixture, 2), odds))
        assert lower <= found <= curve(square, odds)
        assert lower < curve(square, odds) or odds == 1


@pytest.mark.slow_cases("1.0-1-100-0.3", "1.0-1-100-0.01", "0.5-1-50-4.0")
@pytest.mark.parametrize(
    ("sigma", "batch", "people", "eps"),
    [(1.0, 1, 100, 0.3), (1.0, 1, 100, 0.01), (0.5, 1, 50, 4.0), (3.0, 1, 2, 0.5), (2.0, 3, 10, 0.0)],
)
def test_two_rounds_of_gaussian_noise(sigma: float, batch: int, people: int, eps: float) -> None:
    """Both sides: the upper one of the glued law, the lower one of the worse of two tables."""
    part = oc.WithoutReplacement(oc.Gaussian(sigma, 2.0), batch, people)
    mu, q = Fraction(2) / Fraction(sigma), Fraction(batch, people)
    bound = oc.compose({part: 2}, epsilon=eps)
    with working(400):
        reach = 1.2 * float(mu) * (10 + float(mu))
        below, above = two_rounds(glued_gaussian_sides(mu, q), eps, reach, 800)
        assert bound.upper >= below
        assert bound.upper <= above
        least = [two_rounds(subsampled_gaussian_sides(mu, q, way), eps, reach, 800) for way in ("towards", "away")]
        assert bound.lower <= max(float(high) for _, high in least)
        assert bound.lower >= max(float(low) for low, _ in least)
        assert above - below <= 0.01 * above, "the oracle is too wide to tell"


@cache
def rounded_losses() -> rounded.Rounded:
    """Five rounds of batches of one in five, with Gaussian noise of deviation 2."""
    sides = glued_gaussian_sides(Fraction(1, 2), Fraction(1, 5))
    return rounded.Rounded([rounded.Spread(lambda place: sides(place)[0], -5.0, 5.0, 5)])


@pytest.mark.parametrize("eps", [0.0, *(pytest.param(eps, marks=pytest.mark.slow) for eps in (0.2, 0.6))])
def test_several_rounds_lie_between_rounded_losses(eps: float) -> None:
    low, high = rounded_losses().excess(eps)
    assert low <= oc.compose({oc.WithoutReplacement(oc.Gaussian(2.0), 1, 5): 5}, epsilon=eps).upper <= high


def test_one_round_is_exact_and_several_say_what_their_lower_side_is() -> None:
    part = oc.WithoutReplacement(oc.Gaussian(1.0, 2.0), 100, 10000)
    one, several = oc.compose([part], delta=1e-6), oc.compose({part: 100}, delta=1e-6)
    assert one.upper - one.lower <= 1e-14
    assert one.upper == oc.compose([oc.PoissonSubsampled(oc.Gaussian(1.0, 2.0), Fraction(1, 100))], delta=1e-6).upper
    poisson = oc.compose({oc.PoissonSubsampled(oc.Gaussian(1.0, 2.0), Fraction(1, 100)): 100}, delta=1e-6)
    assert several.lower == pytest.approx(poisson.lower, rel=1e-9)
    assert several.upper > 1.01 * poisson.upper
    assert any(note.startswith("lower side: two tables") for note in several.notes)
    certified = oc.compose({part: 100}, delta=1e-6, method="certified")
    assert certified.lower == pytest.approx(several.lower, rel=1e-6)
    whole = oc.compose({oc.WithoutReplacement(oc.Gaussian(3.0), 7, 7): 4}, delta=1e-6)
    assert whole.upper == pytest.approx(oc.compose({oc.Gaussian(3.0): 4}, delta=1e-6).upper, rel=1e-9)


def test_laplace_noise_between_its_own_poisson_law_and_no_sampling() -> None:
    part = oc.WithoutReplacement(oc.Laplace(2.0), 10, 50)
    total = oc.compose({part: 20}, delta=1e-6)
    poisson = oc.compose({oc.PoissonSubsampled(oc.Laplace(2.0), Fraction(1, 5)): 20}, delta=1e-6)
    assert poisson.upper <= total.upper < oc.compose({oc.Laplace(2.0): 20}, delta=1e-6).lower
    assert total.lower == pytest.approx(poisson.lower, rel=1e-6)
