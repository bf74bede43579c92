"""Rounds labelled none, middle and giant: all parts together enclose what the plain contour proves, for any ends."""

from __future__ import annotations

import math
from typing import Any

import numpy as np
import numpy.typing as npt
import pytest
from flint import arb

from optcomp import Gaussian, PoissonSubsampled, compose
from optcomp.instances import Laws
from optcomp.numerics.contour import Anchor, Bracket, Contour, Goal, Independent, Sides, excess_at, excess_root
from optcomp.numerics.laws import MixedNormalLaw, NormalLaw
from optcomp.theorems import label_guess, labels
from optcomp.theorems.label_guess import Ends
from optcomp.theorems.opt import Effort
from tests.oracles.truth import working

PLAN = Contour(True, 0.0, 0.0, 0.0, 0.0, 0.0, 0.0, 0.0)
EFFORT = Effort(1e-9, 1e9)
Setting = tuple[float, float, int, float]
"""Noise, rate, rounds and ε of which the plain contour proves many digits."""
SETTINGS: list[Setting] = [(1.0, 0.01, 500, 1.2), (2.0, 0.02, 300, 0.5), (0.7, 0.005, 1000, 1.5)]
ENDS = [(2.5, 4.0), (3.5, 3.5), (3.0, 6.0), (5.0, 7.5), (8.0, 9.0), (1.0, 2.0)]
"""Of none and of the middle: in some of them every part matters."""


def laws_of(sigma: float, q: float, count: int) -> Laws:
    return [(MixedNormalLaw(1 / sigma, q, "towards"), count)]


def labelled_of(laws: Laws, ends: tuple[float, float], power: float = 4.0) -> labels.Labelled:
    rounds = labels._labelled_rounds(laws)
    assert rounds is not None
    return labels.Labelled(rounds, Ends((ends[0],) * len(rounds), (ends[1],) * len(rounds), power))


def plain(laws: Laws, y: float) -> Bracket:
    with np.errstate(all="ignore"):
        found = excess_at(Independent(laws, math.inf), y, 1e-10, 1e9)[0]
    assert found.upper - found.lower < 1e-8
    return found


@pytest.mark.parametrize("ends", ENDS)
@pytest.mark.parametrize("setting", SETTINGS)
def test_any_ends_enclose_the_excess(setting: Setting, ends: tuple[float, float]) -> None:
    """No part is left out or counted twice, whatever the labels are."""
    laws, y = laws_of(*setting[:3]), setting[3]
    truth = plain(laws, y)
    labelled = labelled_of(laws, ends)
    with np.errstate(all="ignore"):
        made = labels._joint(labelled, y, truth.upper, lambda c: 1e-9 / c, 1e9)
    if made is None:  # everything is a giant, or too much work
        return
    sides = made.integral.sides(y)
    assert sides.least <= truth.upper
    assert sides.most >= truth.lower
    low, high = labelled.giants(y)
    unknown = math.exp(high - truth.lower) - math.exp(low - truth.lower)  # what is not known of the giants
    assert sides.most - sides.least < 1.1 * unknown + 1e-6 or not math.isfinite(sides.least)


@pytest.mark.parametrize("ends", ENDS[:4])
def test_two_kinds_of_rounds(ends: tuple[float, float]) -> None:
    laws = [*laws_of(1.0, 0.01, 300), *laws_of(1.5, 0.02, 200)]
    truth = plain(laws, 1.0)
    with np.errstate(all="ignore"):
        labelled = labelled_of(laws, ends)
        made = labels._joint(labelled, 1.0, truth.upper, lambda c: 1e-9 / c, 1e9)
    assert made is not None
    sides, (low, high) = made.integral.sides(1.0), labelled.giants(1.0)
    assert sides.least <= truth.upper
    assert sides.most >= truth.lower
    assert math.exp(sides.most) - math.exp(sides.least) < math.exp(high) - math.exp(low) + 1e-6 * math.exp(truth.upper)


@pytest.mark.parametrize("y", [0.0, 0.5, 1.5, 3.0])
@pytest.mark.parametrize("end", [0.5, 2.0, 4.0, 7.0])
@pytest.mark.parametrize("power", [0.5, 30.0])
def test_giants_of_one_round_in_closed_form(y: float, end: float, power: float) -> None:
    """E[(1 - e^{y-L})_+; x > end] from normal tails; where L may be less than y the lower bound is too small."""
    law = MixedNormalLaw(1.0, 0.1, "towards")
    low, high = labels.Labelled([(law, 1)], Ends((end,), (end,), power)).giants(y)
    with working(200):
        crossing = law._crossing(arb(y))
        place = arb(end) if crossing is None else crossing.max(arb(end))
        plain, shifted = (((place - m) / arb(2).sqrt()).erfc() / 2 for m in (0, 1))
        truth = ((1 - arb(0.1)) * plain + arb(0.1) * shifted - arb(y).exp() * plain).log()
        assert not arb(low) > truth
        assert not truth > arb(high)


@pytest.mark.parametrize("rounds", [2, 5])
@pytest.mark.parametrize("y", [0.2, 0.6, 1.0])
@pytest.mark.parametrize("end", [1.0, 2.5, 3.5])
def test_giants_of_several_rounds(rounds: int, y: float, end: float) -> None:
    """Against a sum over many points: a giant may be taken back by the others, and that is counted."""
    mu, q = 1.0, 0.2
    width = 0.02
    x = np.arange(-8.0, 9.0, width) + 0.5 * width
    loss = np.log1p(q * np.expm1(mu * x - 0.5 * mu**2))
    mass = width * np.exp(-0.5 * x * x) / math.sqrt(2 * math.pi) * np.exp(loss)
    grid = 2.0**-10
    place = np.rint(loss / grid).astype(np.int64)
    offset = int(place.min())

    def law(chosen: npt.NDArray[np.bool_]) -> npt.NDArray[np.float64]:
        return np.asarray(np.bincount(place[chosen] - offset, mass[chosen], int(place.max()) - offset + 1), np.float64)

    def power(one: npt.NDArray[np.float64]) -> npt.NDArray[np.float64]:
        total = np.array([1.0])
        for _ in range(rounds):
            total = np.convolve(total, one)
        return total

    some = power(law(x > -9.0)) - power(law(x <= end))
    sums = grid * (np.arange(some.size) + rounds * offset)
    truth = float((some * np.maximum(-np.expm1(y - sums), 0.0)).sum())
    for a in (1.0, 3.0, 10.0):
        law_of = MixedNormalLaw(mu, q, "towards")
        low, high = labels.Labelled([(law_of, rounds)], Ends((end,), (end,), a)).giants(y)
        assert math.exp(low) <= truth * (1 + 2e-3)
        assert math.exp(high) >= truth * (1 - 2e-3)


def test_how_parts_are_put_together() -> None:
    """Sums of both sides, rounded outwards."""
    law = MixedNormalLaw(1.0, 0.1, "towards")
    labelled = labels.Labelled([(law, 1)], Ends((3.0,), (3.0,), 4.0))
    one, two = Sides(-3.0, -2.0, -2.5, -1.0), Sides(-math.inf, -30.0, -math.inf, 0.0)
    sides = labels.Joint(labelled, [lambda _: one, lambda _: two], PLAN).sides(0.1)
    low, high = labelled.giants(0.1)
    with working(200):
        assert arb(sides.least) <= (arb(-3).exp() + arb(low).exp()).log()
        assert arb(sides.most) >= (arb(-2).exp() + arb(-30).exp() + arb(high).exp()).log()
    assert sides.least > math.log(math.exp(-3.0) + math.exp(low)) - 1e-12
    assert sides.most < math.log(math.exp(-2.0) + math.exp(-30.0) + math.exp(high)) + 1e-12


def test_a_part_that_is_negligible_is_bounded() -> None:
    laws = laws_of(1.0, 0.01, 500)
    source = labelled_of(laws, (3.5, 3.5)).parts()[0]
    for tilt in (0.5, 2.0, 9.0):
        with np.errstate(all="ignore"):
            bound = labels._negligible(*labels._chernoff(source, tilt))(1.2)
            found = excess_at(source, 1.2, 1e-6, 1e9)[0]
        assert bound.most >= found.lower
        assert bound.least == -math.inf


@pytest.mark.parametrize("setting", SETTINGS)
def test_the_root(setting: Setting) -> None:
    laws, y = laws_of(*setting[:3]), setting[3]
    log_t = plain(laws, y).lower
    rest = math.log1p(-math.exp(log_t))
    goal = Goal((log_t - 1e-15, log_t + 1e-15), (rest - 1e-15, rest + 1e-15))
    with np.errstate(all="ignore"):
        truth = excess_root(Independent(laws, 10.0), goal, 1e-10, 1e9)[0]
        for known in ((0.5 * y, 2 * y), (0.0, 10.0), (0.99 * y, 1.01 * y)):
            found = labels.root(laws, goal, Bracket(*known, PLAN, 0, True), EFFORT)
            assert found.lower <= truth.upper
            assert found.upper >= truth.lower
            assert found.upper - found.lower <= 1e-9 * found.upper
            assert not found.capped


@pytest.mark.parametrize("setting", SETTINGS)
def test_the_excess_needs_nothing_to_be_known(setting: Setting) -> None:
    laws, y = laws_of(*setting[:3]), setting[3]
    truth = plain(laws, y)
    with np.errstate(all="ignore"):
        found = labels.excess(laws, y, Bracket(-math.inf, 0.0, PLAN, 0, True), EFFORT)
    assert found.lower <= truth.upper
    assert found.upper >= truth.lower
    assert found.upper - found.lower <= 1e-9


def test_only_rounds_towards_a_mixture_are_labelled() -> None:
    known = Bracket(0.1, 1.0, PLAN, 0, True)
    goal = Goal((-9.0, -9.0), (-1e-4, -1e-4))
    others: list[Laws] = [
        [(MixedNormalLaw(1.0, 0.1, "away"), 9)],
        [*laws_of(1.0, 0.1, 9), (NormalLaw(lambda: arb(0.25)), 1)],
        laws_of(0.01, 0.1, 9),
    ]
    for laws in others:
        assert labels.root(laws, goal, known, EFFORT) is known
        assert labels.excess(laws, 0.5, known, EFFORT) is known


def test_ends_are_short_and_in_order() -> None:
    rounds = [(MixedNormalLaw(2.0, 1e-6, "towards"), 10**6), (MixedNormalLaw(1.0, 1e-4, "towards"), 1000)]
    with np.errstate(all="ignore"):
        ends = label_guess.ends_at(rounds, 0.3, -18.0)
    for none, giant in zip(ends.none, ends.giant, strict=True):
        assert none <= giant
        assert (none * 1024).is_integer()
        assert (giant * 1024).is_integer()


@pytest.mark.parametrize(
    ("rate", "sigma", "rounds", "delta", "low", "high"),
    [
        (1e-6, 0.5, 10**6, 1e-8, 0.29626564975, 0.296266602997),
        (1e-5, 1, 10**7, 1e-6, 0.155051963856, 0.155051964651),
        (1e-6, 0.7, 10**7, 1e-6, 0.0272559068115, 0.0272559076751),
        (2.19e-5, 1.41, 3200, 1.1e-10, 0.004667902309641319, 0.005449322252425279),
        (1.12e-5, 1.13, 1000, 1.2e-9, 0.0018544501549142616, 0.0018546475906920169),
    ],
)
def test_small_rates_are_narrow(rate: float, sigma: float, rounds: int, delta: float, low: float, high: float) -> None:
    """Inside what the plain contour and the grid prove, and ten to a million times as narrow."""
    found = compose({PoissonSubsampled(Gaussian(sigma), rate): rounds}, delta=delta)
    assert found.upper - found.lower <= 1e-9 * found.upper
    assert low <= found.lower
    assert found.upper <= high
    back = compose({PoissonSubsampled(Gaussian(sigma), rate): rounds}, epsilon=found.upper)
    assert back.lower <= delta
    assert back.upper - back.lower <= 1e-9 * back.upper


@pytest.mark.parametrize(("sigma", "rate", "count", "delta"), [(0.5, 1e-3, 100, 1e-4), (0.8, 1e-3, 15, 1e-6)])
def test_a_rough_grid_tells_where_to_begin(
    sigma: float, rate: float, count: int, delta: float, monkeypatch: pytest.MonkeyPatch
) -> None:
    """One set of labels is enough, and what it proves lies within what finer grids prove."""
    joint, made = labels._joint, []

    def counted(*args: Any) -> Anchor | None:
        made.append(args)
        return joint(*args)

    monkeypatch.setattr(labels, "_joint", counted)
    rounds = {PoissonSubsampled(Gaussian(sigma), rate): count}
    found = compose(rounds, delta=delta)
    assert len(made) == 1
    assert found.upper - found.lower <= 1e-9 * found.upper
    on_grid = compose(rounds, delta=delta, rtol=1e-7)
    assert len(made) == 1
    assert on_grid.lower < found.lower
    assert found.upper < on_grid.upper


@pytest.mark.slow
@pytest.mark.parametrize(
    ("noise", "epsilon"),
    [
        (((36.412954468450145, 8.19355849856698e-06, 911), (0.21986344216435869, 0.09419448461268809, 31)), 115.677),
        (((0.5648305819710049, 0.002326716587787869, 4), (3.3022456676872034, 9.16091522353983e-06, 28)), 2.6404803),
    ],
)
def test_an_excess_that_doubles_do_not_have_is_no_error(
    noise: tuple[tuple[float, float, int], ...], epsilon: float
) -> None:
    """One of the two kinds of rounds has, by itself, an excess of about e^-1e9 there."""
    parts = {PoissonSubsampled(Gaussian(sigma), rate): count for sigma, rate, count in noise}
    bound = compose(parts, epsilon=epsilon)
    assert 0 < bound.lower <= bound.upper < 1.01 * bound.lower
    assert bound.width <= 1e-9 or bound.notes
