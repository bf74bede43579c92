"""All sums of few losses on whole numbers: against every sequence of answers, and with errors left out on purpose."""

from __future__ import annotations

import math
from fractions import Fraction
from typing import Any

import numpy as np
import pytest
from flint import arb

from optcomp.guarantees.choices import response
from optcomp.numerics.grids import every_sum, way_for
from optcomp.numerics.grids.every_sum import EverySum, Sums, TwoLists
from optcomp.numerics.laws import CutWholeLaw, MixedWholeLaw, NormalLaw, ReplacedWholeLaw
from tests.oracles.losses import response_atoms
from tests.oracles.sampled_whole import Side, pair, whole_rounds
from tests.oracles.truth import real, working

SETTINGS: list[tuple[float, int, Fraction, Side, int]] = [
    (1.0, 1, Fraction(1, 100), "towards", 2),
    (1.0, 1, Fraction(1, 100), "away", 3),
    (0.5, 2, Fraction(1, 3), "towards", 3),
    (1.5, 1, Fraction(9, 10), "replaced", 2),
]


def way_of(sigma: float, shift: int, q: Fraction, side: Side, copies: int) -> EverySum:
    law = ReplacedWholeLaw(sigma, shift, q) if side == "replaced" else MixedWholeLaw(sigma, shift, q, side)
    return EverySum([(law, copies)])


@pytest.mark.parametrize("setting", SETTINGS, ids=str)
def test_the_excess(setting: tuple[float, int, Fraction, Side, int]) -> None:
    """Also at a sum itself, where the order of places is a matter of round-off."""
    sigma, shift, q, side, copies = setting
    way = way_of(*setting)
    with working(300):
        listed = pair(sigma, shift, q, side, 14)
        atom = float((copies * (listed[15][0] / listed[15][1]).log()).mid())
        for y in (0.0, 0.013, 0.4, max(atom, 0.0)):
            low, high = whole_rounds([listed] * copies, y)
            found = way.excess(y, 1e-9, 1e9)
            assert found is not None
            if low > 1e-17:
                assert arb(found.lower) <= high.log()
                assert arb(found.upper) >= low.log()
                assert found.upper - found.lower < 1e-8
                assert not found.capped


@pytest.mark.parametrize("setting", SETTINGS, ids=str)
def test_the_root(setting: tuple[float, int, Fraction, Side, int]) -> None:
    sigma, shift, q, side, copies = setting
    with working(300):
        listed = pair(sigma, shift, q, side, 14)
        for t in (0.3, 1e-3, 1e-6, 1e-12):
            log_t = math.log(t)
            found = way_of(*setting).root((log_t - 1e-15, log_t + 1e-15), 1e-9, 1e9)
            assert found is not None
            assert found.upper - found.lower <= 1e-9 * found.upper + 1e-12
            if found.upper:
                assert whole_rounds([listed] * copies, found.upper)[0] <= t * (1 + 1e-14)
            if found.lower:
                assert whole_rounds([listed] * copies, found.lower)[1] >= t * (1 - 1e-14)


def test_a_direction_that_costs_less_is_told_so() -> None:
    way, log_t = way_of(1.0, 1, Fraction(1, 100), "away", 2), math.log(1e-6)
    found = way.root((log_t, log_t), 1e-9, 1e9, known=0.4)
    assert found is not None
    assert (found.lower, found.upper) == (0.0, 0.4)


def test_beside_laws_of_few_values() -> None:
    laws = [(MixedWholeLaw(1.0, 1, 0.2, "towards"), 2), (response(Fraction(1, 2), 3), 3)]
    way = way_for(laws)
    assert isinstance(way, EverySum)
    with working(300):
        answers = [(p, p * (-real(a)).exp()) for a, p in response_atoms(Fraction(1, 2), 3)]
        for y in (0.1, 1.0, 2.0):
            low, high = whole_rounds([pair(1.0, 1, 0.2, "towards", 12)] * 2 + [answers] * 3, y)
            found = way.excess(y, 1e-9, 1e9)
            assert found is not None
            assert arb(found.lower) <= high.log()
            assert arb(found.upper) >= low.log()
            assert found.upper - found.lower < 1e-9


def test_what_is_left_to_other_ways() -> None:
    law = MixedWholeLaw(1.0, 1, 0.2, "towards")
    assert way_for([(law, 2), (NormalLaw(lambda: arb(1)), 1)]) is None
    assert way_for([(CutWholeLaw(law, 5), 2)]) is None
    assert way_for([(response(Fraction(1, 2), 3), 2)]) is not None
    assert EverySum([(law, 200)]).root((-10.0, -10.0), 1e-9, 1e9) is None
    assert EverySum([(law, 2)]).root((-601.0, -601.0), 1e-9, 1e9) is None
    assert EverySum([(law, 6)]).excess(1.0, 1e-9, 1e3) is None


def test_what_is_not_listed_is_counted(monkeypatch: pytest.MonkeyPatch) -> None:
    """With few numbers listed the bracket is wide and holds; without their mass it does not."""
    monkeypatch.setattr(every_sum, "_FAINT", -57.0)  # about two and a half deviations
    setting = (1.0, 1, Fraction(1, 5), "towards", 2)
    found = way_of(*setting).excess(0.3, 1e-9, 1e9)  # type: ignore[arg-type]
    assert found is not None
    with working(300):
        truth = whole_rounds([pair(1.0, 1, Fraction(1, 5), "towards", 14)] * 2, 0.3)[0].log()
        assert arb(found.lower) < truth < arb(found.upper)
    plain: Any = TwoLists
    monkeypatch.setattr(every_sum, "TwoLists", lambda *given: plain(*given[:-1], 0.0))
    bare = way_of(*setting).excess(0.3, 1e-9, 1e9)  # type: ignore[arg-type]
    assert bare is not None
    with working(300):
        assert arb(bare.upper) < truth


def test_pairs_on_the_wrong_side_are_counted() -> None:
    """Places wrong by 1e-3 on purpose: with that slip the bracket holds, with the slip of round-off it does not."""
    place = np.linspace(-1, 1, 41)
    mass = np.full(41, 1 / 41)
    truth = Sums(place, mass, mass * np.exp(-place))
    wrong = Sums(place - 1e-3, mass, mass * np.exp(-place))
    y = float(place[30] - 5e-4)
    value = math.log(sum(max(p - math.exp(y) * q, 0.0) for p, q in zip(truth.own, truth.other, strict=True)))
    one = Sums(np.zeros(1), np.ones(1), np.ones(1))
    blind = TwoLists(one, wrong, 1, 1.0, 0.0).sides(y)
    assert blind[0] <= value, "a lower side holds for every set of pairs"
    assert blind[1] < value
    far = 1e-3 / (8 * 2.0**-53 * 9)
    seeing = TwoLists(one, wrong, 1, far, 0.0).sides(y)
    assert seeing[0] <= value <= seeing[1]


def test_round_off_is_counted() -> None:
    """Masses that are wrong by less than is allowed for move the answer by less than the bracket is wide."""
    rng = np.random.default_rng(3)
    place = np.sort(rng.normal(0, 1, 500))
    own = rng.uniform(0, 1, 500)
    own /= own.sum()
    left = Sums(place, own, own * np.exp(-place))
    exact = TwoLists(left, left, 2, 8.0, 0.0).sides(0.3)
    worse = Sums(place, own * (1 + 2.0**-50), left.other * (1 - 2.0**-50))
    moved = TwoLists(worse, worse, 2, 8.0, 0.0).sides(0.3)
    assert moved[0] <= exact[1]
    assert exact[0] < moved[1]
    with working(300):
        pairs = [(arb(float(a)), arb(float(b))) for a, b in zip(left.own, left.other, strict=True)]
        total = arb(0)
        for p, q in pairs:
            for a, b in pairs:
                total += (p * a - arb(0.3).exp() * q * b).max(arb(0))
        assert arb(exact[0]) <= total.log() <= arb(exact[1])
