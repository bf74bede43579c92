"""Discrete noise about samples: the checker's laws against moments and hockey sticks from first principles."""

from __future__ import annotations

import math
from fractions import Fraction

import numpy as np
import pytest
from flint import acb, arb

from optcomp.checker.balls import working
from optcomp.checker.laws import Law, ReplacedWhole, SampledWhole
from optcomp.checker.laws.whole_rule import Powers, WholeRule
from tests.oracles.losses import Hockey, Moment
from tests.oracles.sampled_whole import Side, whole_hockey, whole_moment
from tests.oracles.truth import real

BITS = 100
CASES: dict[str, tuple[Law, Moment, Hockey]] = {}
for sigma, shift, rate in ((1.0, 1, 0.01), (3.0, 2, 0.3), (0.5, 1, 0.02), (5.0, 1, 1 / 3000)):
    laws: dict[str, tuple[Law, Side]] = {
        "removed": (SampledWhole(sigma, shift, rate, "removed"), "towards"),
        "added": (SampledWhole(sigma, shift, rate, "added"), "away"),
        "replaced": (ReplacedWhole(sigma, shift, rate), "replaced"),
    }
    for name, (law, side) in laws.items():
        moment, hockey = (make(sigma, shift, rate, side) for make in (whole_moment, whole_hockey))
        CASES[f"{name} {sigma:g}"] = law, moment, hockey
law_cases = pytest.mark.parametrize(("law", "moment", "hockey"), CASES.values(), ids=CASES)


@law_cases
@pytest.mark.parametrize("c", [-0.4, 2.0, 9.5])
def test_moments_and_waves(law: Law, moment: Moment, hockey: Hockey, c: float) -> None:
    with working(BITS):
        truth, found, step = moment(acb(c)).real, law.log_moment(arb(c)), arb(0.75)
        assert found.overlaps(truth.log())
        assert found.rad() < 1e-20
        waves = law.waves(arb(c), step, 12)
        for number in (1, 5, 12):
            assert waves[number].overlaps(moment(acb(c, step * number)) / truth)
            assert waves[number].real.rad() < 1e-15


@law_cases
def test_excess_and_the_largest_loss(law: Law, moment: Moment, hockey: Hockey) -> None:
    low, high = law.top()
    with working(2 * BITS):
        for y in (-1.0, -0.02, 0.0, 0.004, 0.3, 0.9, 1.3):
            assert law.excess(Fraction(y)).overlaps(hockey(arb(y)))
            assert law.excess(Fraction(y)).rad() < 1e-40
        if high != math.inf:
            assert abs(hockey(real(high))) < 1e-25
            assert not law.excess(Fraction(low) * 999 / 1000) < 0


@law_cases
def test_the_sketch_is_near(law: Law, moment: Moment, hockey: Hockey) -> None:
    tilts = np.array([0.5, 4.0])
    with working(BITS):
        found = law.cloud().cumulants(tilts)[0]
        for place, tilt in enumerate(tilts.tolist()):
            assert found[place] == pytest.approx(float(law.log_moment(arb(tilt)).mid()), rel=0.02, abs=1e-5)


@law_cases
@pytest.mark.parametrize("side", ["left", "right"])
def test_numbers_left_out_say_so(
    law: Law, moment: Moment, hockey: Hockey, side: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A list that is too short on either side widens the balls by what it lacks: without that term they are wrong."""
    kept = WholeRule._ends

    def shorter(self: WholeRule, powers: Powers) -> tuple[int, int]:
        first, last = kept(self, powers)
        cut = int(9 * float(self.sigma)) + 2  # of about 12.5 deviations
        return (first + cut, last) if side == "left" else (first, last - cut)

    monkeypatch.setattr(WholeRule, "_ends", shorter)
    with working(BITS):
        truth = moment(acb(2)).real
        found, wave = law.log_moment(arb(2)), law.waves(arb(2), arb(1), 4)[4]
        assert found.overlaps(truth.log())
        assert wave.overlaps(moment(acb(2, 4)) / truth)
        assert law.excess(Fraction(1, 3)).overlaps(hockey(arb(1) / 3))
        monkeypatch.setattr(WholeRule, f"_{side}", lambda self, powers, end, weights: arb(0))
        assert not law.log_moment(arb(2)).overlaps(truth.log())
