"""Discrete Gaussian noise as rounded continuous noise: weight by weight, and what follows for hockey sticks."""

from __future__ import annotations

import math
from fractions import Fraction
from itertools import pairwise, product

import pytest
from flint import acb, arb

from optcomp.guarantees import ZCDP, ApproxDP, DiscreteGaussian, Gaussian
from optcomp.planner.budgets import PairBudget, Spending
from optcomp.planner.errors import ErrorModel
from optcomp.statistics import Categories, Count, Declared, Histogram, Integers, Mean
from optcomp.statistics.noise import GAUSSIAN
from optcomp.statistics.noise.continuous import as_continuous, log_of, smoothing
from tests.oracles.losses import discrete_gaussian_hockey, discrete_gaussian_whole, gaussian_hockey
from tests.oracles.truth import real, working

BITS = 128


def theta(u: acb, tau_squared: Fraction) -> acb:
    """Σ e^{-(y-u)²/2τ²} over whole y, for u near 0; what is left out is below 2^-60 of it."""
    reach = math.ceil(14 * math.sqrt(float(tau_squared))) + 2
    at = round(float(u.real.mid()))
    return sum(((-((u - y) ** 2) / (2 * real(tau_squared))).exp() for y in range(at - reach, at + reach + 1)), acb(0))


def rounded(x: int, sigma_squared: Fraction, tau_squared: Fraction) -> arb:
    """The probability that N(0, σ² - τ²), rounded at random, is x: by rigorous integration."""
    rest = real(sigma_squared - tau_squared)

    def density(u: acb, _: bool) -> acb:
        return (-(u * u) / (2 * rest) - (u - x) ** 2 / (2 * real(tau_squared))).exp() / theta(u, tau_squared)

    wide = 12 * math.sqrt(float(sigma_squared))
    cuts = [Fraction(round(-8 * wide), 8) + Fraction(i, 8) for i in range(int(16 * wide) + 1)]
    total = sum(
        (acb.integral(density, real(a), real(b), rel_tol=arb(1e-13)) for a, b in pairwise(cuts)),
        acb(0),
    )
    return total.real / (2 * arb.pi() * rest).sqrt()


@pytest.mark.parametrize(("sigma_squared", "tau_squared"), [("0.7", "0.3"), ("2", "0.3"), ("1", "0.5"), ("3", "0.2")])
def test_weights(sigma_squared: str, tau_squared: str) -> None:
    """N_Z(0, σ²) >= (1 - 2η)·(rounded noise) everywhere, though somewhere it is less than the rounded noise."""
    square, tau = Fraction(sigma_squared), Fraction(tau_squared)
    with working(BITS):
        leak = real(Fraction(as_continuous(math.sqrt(float(square)), 1, 1, tau)[1].delta))
        whole = sum(((-arb(x * x) / (2 * real(square))).exp() for x in range(-60, 61)), arb(0))
        ratios = []
        for x in range(5):
            drawn = (-arb(x * x) / (2 * real(square))).exp() / whole
            ratio = drawn / rounded(x, square, tau)
            assert ratio >= 1 - leak
            ratios.append(float(ratio))
        assert 1 - float(leak) < min(ratios) < 1 - 1e-7


def hockeys(found: tuple[Gaussian, ApproxDP], y: arb) -> arb:
    """What Gaussian noise and a leak have at y together."""
    gaussian, leak = found
    mu = Fraction(gaussian.sensitivity) / Fraction(gaussian.sigma)
    return 1 - (1 - real(leak.delta)) * (1 - gaussian_hockey(mu)(y))


def places(mu: float) -> list[arb]:
    """At the middle of the loss, and up to five deviations above."""
    return [arb(max(mu * mu / 2 + k * mu, 0)) for k in (-0.3, 0.0, 0.77, 1.0, 2.0, 3.3, 5.0)]


@pytest.mark.parametrize("change", [1, 2, 7, 10])
@pytest.mark.parametrize("sigma", ["just", 3.47, 5.0, 17.3, 200.0])
def test_one_number(sigma: float | str, change: int) -> None:
    """No hockey stick of the noise that is drawn is longer than that of what it counts as."""
    tau = Fraction(3, 2)
    scale = math.nextafter(math.sqrt(8 * tau), 10) if isinstance(sigma, str) else sigma
    with working(BITS):
        found, drawn = as_continuous(scale, change**2, 1, tau), discrete_gaussian_hockey(scale, change)
        for y in places(change / scale):
            assert drawn(y) <= hockeys(found, y)


@pytest.mark.parametrize("change", [1, 3])
@pytest.mark.parametrize("tau_squared", ["0.1", "0.3", "0.6"])
def test_one_number_where_the_leak_is_seen(tau_squared: str, change: int) -> None:
    """Also just above τ², where the guarantee is weak."""
    with working(BITS):
        for times in ("1.05", "1.5", "4"):
            sigma = math.sqrt(Fraction(tau_squared) * Fraction(times))
            found = as_continuous(sigma, change**2, 1, Fraction(tau_squared))
            for y in places(change / sigma):
                assert discrete_gaussian_hockey(sigma, change)(y) <= hockeys(found, y)


def test_without_what_rounding_takes_it_would_be_false() -> None:
    """Continuous noise of the same σ costs less than discrete noise, here and there."""
    with working(BITS):
        plain, drawn = gaussian_hockey(Fraction(10) / Fraction(3.47)), discrete_gaussian_hockey(3.47, 10)
        assert any(drawn(y) > plain(y) for y in places(10 / 3.47))


def grid_hockey(sigma: float, change: tuple[int, int], y: arb) -> arb:
    """Σ(P - e^y Q)_+ over pairs of whole numbers; pairs twelve σ away are left out."""
    reach, square = math.ceil(12 * sigma), 2 * real(Fraction(sigma) ** 2)
    single = {x: (-arb(x * x) / square).exp() for x in range(-reach - 2, reach + 3)}
    total = arb(0)
    for a, b in product(range(-reach, reach + 1), repeat=2):
        p, q = single[a] * single[b], single[a - change[0]] * single[b - change[1]]
        total += (p - y.exp() * q).max(arb(0))
    return total / discrete_gaussian_whole(sigma) ** 2


@pytest.mark.parametrize(("sigma", "change"), [(3.4642, (1, 1)), (3.4642, (1, -1)), (3.9, (2, 1)), (4.4, (1, 1))])
def test_two_numbers(sigma: float, change: tuple[int, int]) -> None:
    """Of a vector only the length of its change counts."""
    squared = change[0] ** 2 + change[1] ** 2
    with working(64):
        found = as_continuous(sigma, squared, 2, Fraction(3, 2))
        assert Fraction(found[0].sensitivity) ** 2 >= squared
        for y in places(math.sqrt(squared) / sigma)[1::2]:
            assert grid_hockey(sigma, change, y) <= hockeys(found, y)


@pytest.mark.parametrize("sigma", [1.3, 3.4642, 12.5, 1e3, 123456.789])
@pytest.mark.parametrize("squared", [1, 2, 4, 9, 10, 10**4 + 1])
def test_rounding_is_outward(sigma: float, squared: int) -> None:
    tau = Fraction(3, 2)
    found, _ = as_continuous(sigma, squared, 3, tau)
    assert Fraction(found.sigma) ** 2 + tau <= Fraction(sigma) ** 2
    assert Fraction(math.nextafter(float(found.sigma), math.inf)) ** 2 + tau > Fraction(sigma) ** 2
    assert Fraction(found.sensitivity) ** 2 >= squared
    assert float(found.sensitivity) == pytest.approx(math.sqrt(squared), rel=1e-15)


@pytest.mark.parametrize("delta", ["0.1", "1e-6", "1e-30", "1e-300", "1e-400"])
@pytest.mark.parametrize("cells", [1, 10, 10**6])
def test_leaks_are_negligible_beside_delta(delta: str, cells: int) -> None:
    """2dη with η = 2Σ e^{-2π²τ²m²}, at least and hardly more."""
    tau = smoothing(Fraction(delta), cells)
    leak = Fraction(as_continuous(1e3, 1, cells, tau)[1].delta)
    assert Fraction(3, 2) <= tau
    assert leak <= Fraction(delta) / 10**6
    with working(3 * BITS):
        eta = 2 * sum(((-2 * arb.pi() ** 2 * real(tau) * m * m).exp() for m in range(1, 30)), arb(0))
        assert 2 * cells * eta <= real(leak)
        assert real(leak) <= 2 * cells * eta * (1 + arb(1e-15))


def test_logarithms() -> None:
    assert log_of(Fraction(1, 10**6)) == pytest.approx(math.log(1e-6), rel=1e-15)
    assert log_of(Fraction(1, 10**400)) == pytest.approx(-400 * math.log(10), rel=1e-15)
    assert log_of(0.25) == pytest.approx(math.log(0.25), rel=1e-15)


@pytest.mark.parametrize("delta", ["1e-6", "1e-15"])
def test_only_large_noise_counts_as_continuous(delta: str) -> None:
    """σ² beyond 8τ², with the τ² that belongs to δ; smaller noise counts by itself or by its ρ."""
    table = Declared({"region": Categories(["a", "b", "c"])}, neighbours="replace")
    for statistic in (Count(), Histogram("region")):
        model, kinds = ErrorModel(statistic, table, GAUSSIAN, 100, 0.95), set()
        for i in range(-20, 40):
            spent = Spending(model, Fraction(1, 20) * Fraction(12, 10) ** -i)
            (sigma,), tau = spent.scales, smoothing(Fraction(delta), len(model.parts[0].cells))
            found = spent.guarantees(Fraction(delta), own=False)
            kinds.add(type(found[0]))
            assert isinstance(found[0], Gaussian) == (Fraction(sigma) ** 2 > 8 * tau)
            if isinstance(found[0], Gaussian):
                assert Fraction(found[0].sigma) ** 2 + tau <= Fraction(sigma) ** 2
                assert Fraction(found[0].sensitivity) ** 2 >= model.parts[0].l2_squared
        assert len(kinds) >= 2
        assert (DiscreteGaussian in kinds) == isinstance(statistic, Count)


def test_very_large_noise_counts_by_its_rho() -> None:
    table = Declared({"age": Integers(0, 99)})
    spent = Spending(ErrorModel(Mean("age"), table, GAUSSIAN, 100, 0.95), Fraction(1, 10**12))
    assert [type(each) for each in spent.guarantees(Fraction(1, 10**6))] == [ZCDP, ZCDP]
    assert 0 <= PairBudget(1, Fraction(1, 10**6)).total([spent]) < 1e-5
