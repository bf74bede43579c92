"""The checker's laws against moments and hockey sticks from first principles; a bad guess widens and is never wrong."""

from __future__ import annotations

import math
from collections.abc import Callable
from fractions import Fraction
from typing import Any

import numpy as np
import pytest
from flint import acb, arb

from optcomp.checker.balls import working
from optcomp.checker.laws import (
    BatchLaplace,
    BatchNormal,
    DiscreteGaussian,
    Laplace,
    Law,
    ReplacedLaplace,
    ReplacedNormal,
    SampledLaplace,
    SampledNormal,
    discrete_laplace,
    laplace_rule,
    response,
)
from optcomp.checker.laws.laplace_rule import LaplaceRule
from optcomp.checker.laws.normal_rule import Guessed, NormalRule, Rule
from tests.oracles import losses, replaced_losses
from tests.oracles.losses import Hockey, Moment, atoms_moment
from tests.oracles.truth import real

BITS = 100


def response_hockey(eps: float, answers: int) -> Hockey:
    return atoms_hockey(lambda: losses.response_atoms(eps, answers))


def atoms_hockey(atoms: Callable[[], Any]) -> Hockey:
    return lambda y: sum((p * (1 - (y - real(place)).exp()).max(arb(0)) for place, p in atoms()), arb(0))


CASES: dict[str, tuple[Law, Moment, Hockey]] = {
    "laplace": (Laplace(1.0), losses.laplace_moment(1.0), losses.laplace_hockey(1.0)),
    "little laplace": (Laplace(0.003), losses.laplace_moment(0.003), losses.laplace_hockey(0.003)),
    "two answers": (response(0.7, 2), losses.response_moment(0.7, 2), response_hockey(0.7, 2)),
    "five answers": (response(0.7, 5), losses.response_moment(0.7, 5), response_hockey(0.7, 5)),
    "discrete laplace": (
        discrete_laplace(2.5, 3),
        atoms_moment(lambda: losses.discrete_laplace_atoms(2.5, 3)),
        atoms_hockey(lambda: losses.discrete_laplace_atoms(2.5, 3)),
    ),
    "discrete gaussian": (
        DiscreteGaussian(5.0, 1),
        losses.discrete_gaussian_moment(5.0, 1),
        losses.discrete_gaussian_hockey(5.0, 1),
    ),
    "shifted by two": (
        DiscreteGaussian(0.7, 2),
        losses.discrete_gaussian_moment(0.7, 2),
        losses.discrete_gaussian_hockey(0.7, 2),
    ),
}
for mu, q in ((1.0, 0.01), (0.25, 1 / 3000), (3.3, 0.02), (1.6, 0.4)):
    CASES[f"gaussian {mu:g} removed"] = (
        SampledNormal(mu, q, "removed"),
        losses.subsampled_gaussian_moment(mu, q, "towards"),
        losses.subsampled_gaussian_hockey(mu, q, "towards"),
    )
    CASES[f"gaussian {mu:g} added"] = (
        SampledNormal(mu, q, "added"),
        losses.subsampled_gaussian_moment(mu, q, "away"),
        losses.subsampled_gaussian_hockey(mu, q, "away"),
    )
for eps, q in ((1.0, 0.01), (0.1, 0.3), (5.0, 0.01)):
    CASES[f"laplace {eps:g} removed"] = (
        SampledLaplace(eps, q, "removed"),
        losses.subsampled_laplace_moment(eps, q, "towards"),
        losses.subsampled_laplace_hockey(eps, q, "towards"),
    )
    CASES[f"laplace {eps:g} added"] = (
        SampledLaplace(eps, q, "added"),
        losses.subsampled_laplace_moment(eps, q, "away"),
        losses.subsampled_laplace_hockey(eps, q, "away"),
    )
for mu, q in ((1.0, 0.01), (0.25, 1 / 3000), (3.3, 0.02), (1.6, 0.7)):
    CASES[f"gaussian {mu:g} replaced"] = (
        ReplacedNormal(mu, q),
        replaced_losses.replaced_gaussian_moment(mu, q),
        replaced_losses.replaced_gaussian_hockey(mu, q),
    )
    CASES[f"gaussian {mu:g} in a batch"] = (
        BatchNormal(mu, q),
        replaced_losses.glued_gaussian_moment(mu, q),
        replaced_losses.glued_gaussian_hockey(mu, q),
    )
for eps, q in ((1.0, 0.01), (0.1, 0.3), (5.0, 0.01)):
    CASES[f"laplace {eps:g} replaced"] = (
        ReplacedLaplace(eps, q),
        replaced_losses.replaced_laplace_moment(eps, q),
        replaced_losses.replaced_laplace_hockey(eps, q),
    )
    CASES[f"laplace {eps:g} in a batch"] = (
        BatchLaplace(eps, q),
        replaced_losses.glued_laplace_moment(eps, q),
        replaced_losses.glued_laplace_hockey(eps, q),
    )

law_cases = pytest.mark.parametrize(("law", "moment", "hockey"), CASES.values(), ids=CASES)


@law_cases
@pytest.mark.parametrize("c", [-0.4, 2.0, 9.5])
def test_moments_and_waves(law: Law, moment: Moment, hockey: Hockey, c: float) -> None:
    with working(BITS):
        truth = moment(acb(c)).real
        found = law.log_moment(arb(c))
        assert found.overlaps(truth.log())
        assert found.rad() < 1e-20
        step = arb(0.75)
        waves = law.waves(arb(c), step, 12)
        assert len(waves) == 13
        for number in (1, 5, 12):
            wanted = moment(acb(c, step * number)) / truth
            assert waves[number].overlaps(wanted)
            assert waves[number].real.rad() < 1e-15


@law_cases
def test_fading_holds_from_there_on(law: Law, moment: Moment, hockey: Hockey) -> None:
    c = 3.0
    with working(BITS):
        truth = moment(acb(c)).real
        for theta in (0.5, 6.0, 40.0):
            bound = law.fade(arb(c), arb(theta))
            assert float(bound.mid()) == pytest.approx(law.fade_guess(c, theta), rel=0.02)
            for further in (1.0, 1.1, 2.7):
                size = abs(moment(acb(c, theta * further))) / truth
                assert not size > bound


@law_cases
def test_excess(law: Law, moment: Moment, hockey: Hockey) -> None:
    with working(2 * BITS):
        for y in (-1.0, -0.02, 0.0, 0.004, 0.3, 0.9, 1.3):
            assert law.excess(Fraction(y)).overlaps(hockey(arb(y)))


@law_cases
def test_the_sketch_is_near(law: Law, moment: Moment, hockey: Hockey) -> None:
    tilts = np.array([0.5, 4.0])
    with working(BITS):
        found = law.cloud().cumulants(tilts)[0]
        for place, tilt in enumerate(tilts.tolist()):
            truth = float(law.log_moment(arb(tilt)).mid())
            assert found[place] == pytest.approx(truth, rel=0.02, abs=1e-5)


@law_cases
def test_the_largest_loss(law: Law, moment: Moment, hockey: Hockey) -> None:
    low, high = law.top()
    with working(4 * BITS):
        if high == math.inf:
            assert hockey(arb(30)) > 0
        else:
            assert abs(hockey(real(high))) < 1e-25
            assert hockey(real(low) - (real(low) / 1000)) > 0


def test_many_waves_stay_narrow() -> None:
    """Powers of a wave follow from few products: widths do not grow with every node."""
    law = Laplace(1.0)
    with working(BITS):
        assert max(float(wave.real.rad()) for wave in law.waves(arb(2), arb(0.25), 3000)) < 1e-22
        coin = response(0.7, 5).waves(arb(2), arb(0.25), 3000)
        assert max(float(wave.real.rad()) for wave in coin) < 1e-22
        assert coin[3000].overlaps(losses.response_moment(0.7, 5)(acb(2, 750)) / losses.response_moment(0.7, 5)(acb(2)))


COARSE = pytest.mark.parametrize(
    ("law", "truth"),
    [
        (SampledNormal(1.0, 0.2, "removed"), losses.subsampled_gaussian_moment(1.0, 0.2, "towards")),
        (ReplacedNormal(1.0, 0.2), replaced_losses.replaced_gaussian_moment(1.0, 0.2)),
    ],
)


@COARSE
@pytest.mark.parametrize("change", ["step", "range"])
def test_a_coarse_rule_says_so(law: Law, truth: Moment, change: str, monkeypatch: pytest.MonkeyPatch) -> None:
    """Steps that are too long, and ranges that are too short, widen the balls: both error terms are counted."""
    kept = NormalRule._rule

    def worse(self: NormalRule, powers: Guessed, end: float) -> Rule:
        rule = kept(self, powers, end)
        if change == "step":
            return rule._replace(step=rule.step * 4, start=rule.start, points=rule.points // 4 + 1)
        return rule._replace(start=rule.start + 12 * rule.step, points=max(rule.points - 24, 2))

    monkeypatch.setattr(NormalRule, "_rule", worse)
    with working(BITS):
        c, step = arb(2), arb(2)
        wave = law.waves(c, step, 3)[3]
        wanted = truth(acb(2, 6)) / truth(acb(2)).real
        assert wave.overlaps(wanted)
        assert wave.real.rad() > 1e-24
        assert law.log_moment(c).overlaps(truth(acb(2)).real.log())


@pytest.mark.parametrize(
    ("law", "truth", "points"),
    [
        (SampledLaplace(4.0, 0.3, "added"), losses.subsampled_laplace_moment(4.0, 0.3, "away"), 6),
        (ReplacedLaplace(4.0, 0.3), replaced_losses.replaced_laplace_moment(4.0, 0.3), 16),
        (BatchLaplace(4.0, 0.3), replaced_losses.glued_laplace_moment(4.0, 0.3), 8),
    ],
)
def test_too_few_points_say_so(law: Law, truth: Moment, points: int, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(LaplaceRule, "_choice", lambda self, gamma, end: (points, 1.5))
    with working(BITS):
        wave, wanted = law.waves(arb(1), arb(3), 2)[2], truth(acb(1, 6)) / truth(acb(1)).real
        assert wave.overlaps(wanted)
        assert wave.real.rad() > abs(wave.real.mid() - wanted.real)


@pytest.mark.parametrize("change", ["points", "range"])
def test_a_coarse_rule_of_a_batch_says_so(change: str, monkeypatch: pytest.MonkeyPatch) -> None:
    law, truth = BatchNormal(2.0, 0.3), replaced_losses.glued_gaussian_moment(2.0, 0.3)
    kept = BatchNormal._choice

    def worse(self: BatchNormal, c: float, end: float) -> tuple[int, float, float]:
        count, ratio, far = kept(self, c, end)
        return (count // 4, ratio, far) if change == "points" else (count, ratio, 2 * c + 3)

    monkeypatch.setattr(BatchNormal, "_choice", worse)
    with working(BITS):
        wave, wanted = law.waves(arb(1), arb(3), 2)[2], truth(acb(1, 6)) / truth(acb(1)).real
        assert wave.overlaps(wanted)
        assert wave.real.rad() > abs(wave.real.mid() - wanted.real) > 1e-20
        assert law.log_moment(arb(1)).overlaps(truth(acb(1)).real.log())


def test_a_line_at_any_height_bounds_a_batch() -> None:
    """The atom, the lines and the upright parts at their ends are all needed: without one the bound is false."""
    law, truth = BatchNormal(1.0, 0.1), replaced_losses.glued_gaussian_moment(1.0, 0.1)

    def bounds(theta: float, height: float) -> list[arb]:
        c = arb(2)
        return [law._none(), law._lines(c, arb(theta), height), law._upright(c, arb(theta), height)]

    with working(BITS):
        for height in (0.02, 0.3, 1.0, 2.9):
            for theta in (1.0, 8.0, 60.0, 4000.0):
                assert not abs(truth(acb(2, theta))) > sum(bounds(theta, height), arb(0))
        atom, lines, upright = bounds(4000.0, 0.3)
        assert abs(truth(acb(2, 4000))) > lines + upright
        atom, lines, upright = bounds(60.0, 0.3)
        assert max(abs(truth(acb(2, 55 + shift))).lower() for shift in range(10)) > atom
        atom, lines, upright = bounds(1.0, 0.02)
        assert abs(truth(acb(2, 1))) > atom + upright


def test_atoms_left_out_say_so(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(DiscreteGaussian, "_reach", lambda self: 9)
    law, truth = DiscreteGaussian(3.0, 1), losses.discrete_gaussian_moment(3.0, 1)
    with working(BITS):
        assert law.log_moment(arb(2)).overlaps(truth(acb(2)).real.log())
        wave = law.waves(arb(2), arb(1), 4)[4]
        assert wave.overlaps(truth(acb(2, 4)) / truth(acb(2)).real)
        assert law.excess(Fraction(1, 3)).overlaps(losses.discrete_gaussian_hockey(3.0, 1)(arb(1) / 3))
        assert wave.real.rad() > 1e-6


def test_points_and_weights_of_the_rule() -> None:
    with working(BITS):
        rule = laplace_rule.legendre(7, BITS)
        assert sum((weight for _, weight in rule), arb(0)).overlaps(arb(2))
        assert sum((weight * node**12 for node, weight in rule), arb(0)).overlaps(arb(2) / 13)
