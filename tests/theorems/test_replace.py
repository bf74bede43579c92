"""REPLACE: Poisson samples where a record is replaced, against all samples of small tables, and in the plane."""

from __future__ import annotations

import math
from fractions import Fraction
from itertools import product
from random import Random

import numpy as np
import pytest

import optcomp as oc
from optcomp.guarantees import KnownLoss
from tests.oracles import rounded
from tests.oracles.replaced_losses import (
    replaced_gaussian_hockey,
    replaced_gaussian_sides,
    replaced_laplace_sides,
    two_rounds,
)
from tests.oracles.sampled_tables import Law, both, by_coins, curve, mixed, noisy, rounds
from tests.oracles.truth import real, working

REACH = 5
ODDS = [Fraction(1, 3), Fraction(9, 10), Fraction(1), Fraction(11, 10), Fraction(3, 2), Fraction(4)]
SETTINGS = [(Fraction(1, 4), Fraction(1, 3)), (Fraction(2, 3), Fraction(1, 2)), (Fraction(1, 10), Fraction(1, 8))]


def the_pair(rate: Fraction, ratio: Fraction) -> tuple[Law, Law]:
    """The two records pull to opposite sides."""
    plain, right, left = (noisy(centre, ratio, REACH) for centre in (0, 1, -1))
    return mixed([(1 - rate, plain), (rate, right)]), mixed([(1 - rate, plain), (rate, left)])


@pytest.mark.parametrize(("rate", "ratio"), SETTINGS)
def test_the_pair_dominates_every_replacement_in_small_tables(rate: Fraction, ratio: Fraction) -> None:
    """All tables of three records with values -1, 0 and 1; the largest curve is that of the pair, exactly."""
    laws = {table: by_coins(table, rate, ratio, REACH) for table in product((-1, 0, 1), repeat=3)}
    pair = both(*the_pair(rate, ratio))
    for odds in ODDS:
        most, found = curve(pair, odds), Fraction(0)
        for table, law in laws.items():
            for record in (-1, 0, 1):
                found = max(found, curve(both(law, laws[record, table[1], table[2]]), odds))
        assert found <= most
        assert curve(both(laws[1, 0, 0], laws[-1, 0, 0]), odds) == most


@pytest.mark.parametrize(("rate", "ratio"), SETTINGS)
def test_two_rounds_of_two_tables_have_the_total_of_the_pair(rate: Fraction, ratio: Fraction) -> None:
    """Attained for all rounds together; the pair for a person who only comes or goes would be too small."""
    true = rounds(by_coins((1, 0), rate, ratio, REACH), by_coins((-1, 0), rate, ratio, REACH), 2)
    one, two = the_pair(rate, ratio)
    plain = noisy(0, ratio, REACH)
    for odds in ODDS:
        assert curve(true, odds) == curve(rounds(one, two, 2), odds)
        if odds < 2:
            assert curve(true, odds) > max(curve(rounds(one, plain, 2), odds), curve(rounds(plain, one, 2), odds))


def test_in_the_plane_no_two_directions_are_worse_than_opposite_ones() -> None:
    """Gaussian noise of deviation 1 in two dimensions, shifts of norm at most μ, by sums over a fine grid."""
    rng, step = Random("plane"), 0.06
    axis = np.arange(-7, 7, step)
    x, y = np.meshgrid(axis, axis)

    def density(shift: tuple[float, float]) -> np.ndarray:
        return np.asarray(np.exp(-0.5 * ((x - shift[0]) ** 2 + (y - shift[1]) ** 2)) / (2 * math.pi) * step * step)

    for _ in range(40):
        mu, q, eps = rng.uniform(0.2, 2.0), rng.uniform(0.05, 0.95), rng.uniform(-1.0, 1.5)
        shifts = []
        for _ in range(2):
            angle, size = rng.uniform(0, 2 * math.pi), mu * rng.uniform(0, 1) ** 0.3
            shifts.append((size * math.cos(angle), size * math.sin(angle)))
        one, other = ((1 - q) * density((0, 0)) + q * density(shift) for shift in shifts)
        found = float(np.maximum(one - math.exp(eps) * other, 0).sum())
        with working(100):
            most = float(replaced_gaussian_hockey(mu, q)(real(eps)).mid())
        assert found <= most + 1e-4


@pytest.mark.parametrize(
    ("mechanism", "rate", "copies"),
    [
        pytest.param(oc.Gaussian(1.0), 0.1, 2, marks=pytest.mark.slow),
        (oc.Gaussian(0.5), 0.2, 5),
        (oc.Gaussian(4.0), 0.5, 12),
        pytest.param(oc.Gaussian(4.0, 3.0), Fraction(1, 3), 2, marks=pytest.mark.slow),
        (oc.Laplace(2.0), 0.2, 4),
        (oc.Laplace(0.5), 0.05, 3),
    ],
    ids=str,
)
def test_several_rounds_lie_between_rounded_losses(
    mechanism: oc.Gaussian | oc.Laplace, rate: float | Fraction, copies: int
) -> None:
    """Losses rounded up and down to a grid and convolved; both ways of asking, and narrow."""
    part = oc.PoissonSubsampled(mechanism, rate, "replace")
    normal = isinstance(mechanism, oc.Gaussian)
    size = mechanism.mu if isinstance(mechanism, oc.Gaussian) else mechanism.pure
    sides = (replaced_gaussian_sides if normal else replaced_laplace_sides)(size, rate)
    far = 12.0 * float(size) if normal else 1.01 * part.loss.most
    truth = rounded.Rounded([rounded.Spread(lambda place: sides(place)[0], -far, far, copies)])
    for eps in (0.0, 0.25 * float(size), float(size)):
        low, high = truth.excess(eps)
        bound = oc.compose({part: copies}, epsilon=eps)
        assert bound.lower <= high
        assert bound.upper >= low
        assert high - low <= 0.4 * high + 1e-3, "the oracle is too wide to tell"
        assert bound.upper - bound.lower <= 1e-4 * bound.upper + 1e-12
        assert bound.theorem == "ZDW22"


@pytest.mark.slow_cases("1.0-0.01-0.4", "1.0-0.01-0.01", "0.25-0.02-4.0")
@pytest.mark.parametrize(
    ("sigma", "rate", "eps"),
    [(1.0, 0.01, 0.4), (1.0, 0.01, 0.01), (0.25, 0.02, 4.0), (5.0, 0.5, 0.1), (2.0, Fraction(1, 3), 0.0)],
)
def test_two_rounds_of_gaussian_noise(sigma: float, rate: float | Fraction, eps: float) -> None:
    """The first round in cells of losses, the second exactly: from below and from above."""
    part = oc.PoissonSubsampled(oc.Gaussian(sigma), rate, "replace")
    bound = oc.compose({part: 2}, epsilon=eps)
    with working(400):
        mu = 1 / Fraction(sigma)
        below, above = two_rounds(replaced_gaussian_sides(mu, rate), eps, 1.2 * float(mu) * (10 + float(mu)), 800)
        assert below <= bound.lower
        assert bound.upper <= above
        assert above - below <= 0.01 * above, "the oracle is too wide to tell"
    assert bound.upper - bound.lower <= 1e-6 * bound.upper


def test_everybody_in_the_sample_is_noise_of_twice_the_sensitivity() -> None:
    for noise, twice in ((oc.Gaussian(3.0), oc.Gaussian(3.0, 2.0)), (oc.Laplace(3.0), oc.Laplace(3.0, 2.0))):
        whole = oc.compose({oc.PoissonSubsampled(noise, 1.0, "replace"): 7}, delta=1e-6)
        plain = oc.compose({twice: 7}, delta=1e-6)
        assert (whole.lower, whole.upper) == pytest.approx((plain.lower, plain.upper), rel=1e-11)
        near = oc.compose({oc.PoissonSubsampled(noise, Fraction(10**6 - 1, 10**6), "replace"): 7}, delta=1e-6)
        assert near.upper == pytest.approx(plain.upper, rel=1e-3)


def test_at_least_as_much_as_for_a_person_who_comes_or_goes_and_at_most_as_for_two() -> None:
    """REPLACE lies between add-remove and the curve of a group of two of noise without sampling."""
    for sigma, rate, copies in ((1.0, 0.01, 100), (2.0, 0.2, 30), (0.7, 0.05, 1)):
        parts: list[KnownLoss] = [
            oc.PoissonSubsampled(oc.Gaussian(sigma), rate),
            oc.PoissonSubsampled(oc.Gaussian(sigma), rate, "replace"),
            oc.Gaussian(sigma, 2.0),
        ]
        found = [oc.compose({part: copies}, delta=1e-6) for part in parts]
        assert found[0].upper < found[1].lower <= found[1].upper < found[2].lower
