"""A kept contour gives true brackets for whatever grows out of what it was made for."""

from __future__ import annotations

import math
from collections import Counter
from fractions import Fraction
from itertools import combinations_with_replacement
from random import Random

import numpy as np
import pytest
from flint import arb

from optcomp.guarantees import Gaussian, Laplace, PoissonSubsampled, RandomizedResponse
from optcomp.numerics import SUM_BITS, precision
from optcomp.numerics.contour import Independent, KeptContour, KeptTilts, aim_at, kept
from optcomp.numerics.contour.integral import Means
from optcomp.numerics.laws import NormalLaw, Summand

Laws = list[tuple[Summand, int]]


def contour(laws: Laws, growth: float, y: float, rtol: float = 1e-9) -> KeptContour:
    then = Independent([(law, math.ceil(growth * copies)) for law, copies in laws], math.inf)
    with np.errstate(all="ignore"):
        made = KeptContour.made(laws, then, aim_at(Independent(laws, math.inf), then, y, rtol), 0.7, 1e9)
    assert made is not None
    return made


def sides(made: KeptContour, laws: Laws, y: float) -> tuple[float, float]:
    """log F(y) between two floats."""
    assert made.covers(laws)
    with np.errstate(all="ignore"):
        found = made.anchor(laws, made.means(laws), math.inf, y).integral.sides(y)
    assert made.plan.excess
    return found.least, found.most


def log_excess(laws: Laws, y: float) -> arb:
    """Of a sum of normal laws, which is normal."""
    variance = sum((copies * law.variance() for law, copies in laws if isinstance(law, NormalLaw)), arb(0))
    return NormalLaw(lambda: variance).excess(y).log()


@pytest.mark.parametrize("growth", [1.0, 4.0])
def test_normal_laws_against_the_closed_form(growth: float) -> None:
    one, other = Gaussian(10).laws[0], Gaussian(7).laws[0]
    made = contour([(one, 100)], growth, 4.0)
    for copies, more in ((100, 0), (130, 0), (200, 3), (300, 20)):
        laws: Laws = [(one, copies), (other, more)] if more else [(one, copies)]
        low, high = sides(made, laws, 4.0)
        with precision(SUM_BITS):
            truth = log_excess(laws, 4.0)
            assert truth >= low
            assert truth <= high
        if copies <= 100 * growth:
            assert high - low < 1e-8


def response(copies: int, answers: int, eps: float, y: float) -> arb:
    """The excess of randomized response among some answers, as the multinomial sum that it is."""
    law = RandomizedResponse(eps, answers).laws[0]
    atoms = law.atoms()  # type: ignore[attr-defined]  # a finite law
    total = arb(0)
    for chosen in combinations_with_replacement(range(len(atoms)), copies):
        counts = Counter(chosen)
        ways = Fraction(math.factorial(copies), math.prod(math.factorial(n) for n in counts.values()))
        weight, place = arb(int(ways)), arb(0)
        for index, n in counts.items():
            place += n * atoms[index][0]
            weight *= atoms[index][1] ** n
        gain = 1 - (arb(y) - place).exp()
        total += weight * gain.max(arb(0))
    return total


def test_lumpy_laws_against_their_sums() -> None:
    law = RandomizedResponse(0.25, 4).laws[0]
    made = contour([(law, 60)], 1.1, 2.1, 1e-5)
    for copies in (60, 61, 66, 75):
        low, high = sides(made, [(law, copies)], 2.1)
        with precision(SUM_BITS):
            truth = response(copies, 4, 0.25, 2.1).log()
            assert truth >= low
            assert truth <= high
        assert high - low < (1e-4 if copies <= 66 else 1e-2)


def test_nodes_that_are_left_out_are_counted(monkeypatch: pytest.MonkeyPatch) -> None:
    """With most nodes gone the bracket is wide and true; without the bound on what they add it would be false."""
    law = Gaussian(10).laws[0]
    monkeypatch.setattr(kept, "_PRUNED", 1e9)
    made = contour([(law, 100)], 1.0, 4.0)
    low, high = sides(made, [(law, 100)], 4.0)
    with precision(SUM_BITS):
        truth = log_excess([(law, 100)], 4.0)
        assert truth >= low
        assert truth <= high
        made._nodes = type(made._nodes)(
            made._nodes.theta, made._nodes.real, made._nodes.imag, made._nodes.error, 0.0, 0.0
        )
        low, high = sides(made, [(law, 100)], 4.0)
        assert not (truth >= low and truth <= high)


def test_a_contour_covers_what_holds_all_it_was_made_for() -> None:
    one, other = Laplace(10).laws[0], Laplace(20).laws[0]
    made = contour([(one, 50), (other, 10)], 1.1, 3.0, 1e-4)
    assert made.covers([(other, 10), (one, 51)])
    assert not made.covers([(one, 49), (other, 10)])
    assert not made.covers([(one, 60)])


@pytest.mark.parametrize("far", [0.5, 1.0, 2.0])
def test_chernoff_bounds_hold_for_one_loss_and_for_many(far: float) -> None:
    tilts = KeptTilts()
    for law in (*PoissonSubsampled(Gaussian(1), 0.1).laws, Laplace(1).laws[0], Gaussian(2).laws[0]):
        y = 0.2 * far if law.most < 0.3 else far
        with np.errstate(all="ignore"):
            tilts.aimed(Independent([(law, 1)], math.inf), y)
        with precision(SUM_BITS):
            excess = law.excess(y)
            assert not excess.log() > tilts.log_most([(law, 1)], y)
    normal: Laws = [(Gaussian(10).laws[0], 70)]
    with np.errstate(all="ignore"):
        tilts.aimed(Independent(normal, math.inf), 3 * far)
    most = tilts.log_most(normal, 3 * far)
    with precision(SUM_BITS):
        truth = log_excess(normal, 3 * far)
        assert truth < most
        assert truth > most - 2
    assert tilts.copy().log_most(normal, 3 * far) == most
    assert KeptTilts().log_most(normal, far) == math.inf


@pytest.mark.parametrize("seed", range(100))
def test_the_end_is_not_before_chernoffs_bound(seed: int) -> None:
    """Also where K and log t nearly cancel, so that a part of the place says nothing of the error."""
    rng = Random(seed)
    normal = NormalLaw(lambda: arb(1))
    made = contour([(normal, 5)], 2.0, 6.0)
    log_t = -rng.uniform(5, 900)
    here, above = ((log_t + rng.choice([1e-12, 1e-6, 1.0, 30.0]) * rng.random(), rng.random() * 1e-13) for _ in "ab")
    tilts = (made.plan.tilt, here), (made.plan.above, above)
    exact = [(Fraction(value) + Fraction(error) - Fraction(log_t)) / Fraction(c) for c, (value, error) in tilts]
    found = Fraction(made.end(Means(here, above, (0.0, 0.0)), log_t))
    assert min(exact) <= found <= min(exact) + Fraction(abs(log_t)) / Fraction(made.plan.tilt) / 10**14
