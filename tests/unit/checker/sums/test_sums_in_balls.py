"""F of sums of laws by every way of the checker, against exact sums; bad choices widen, and never deceive."""

from __future__ import annotations

import math
from fractions import Fraction
from functools import cache

import pytest
from flint import arb

from optcomp.checker.balls import working
from optcomp.checker.instance import Range
from optcomp.checker.laws import (
    DiscreteGaussian,
    Laplace,
    SampledLaplace,
    SampledNormal,
    TooMuch,
    discrete_laplace,
    response,
)
from optcomp.checker.sums import Total, laplaces, lattice, plan
from optcomp.checker.sums.integral import integrated
from optcomp.checker.sums.laplaces import laplace_copies, laplace_sum
from optcomp.checker.sums.listed import Listed, few_values
from optcomp.checker.sums.plan import Plan, Sketch
from tests.oracles.losses import (
    Beside,
    Sum,
    atoms_part,
    discrete_gaussian_hockey,
    discrete_laplace_atoms,
    laplace_part,
    response_atoms,
    subsampled_gaussian_hockey,
    subsampled_laplace_hockey,
    sums_of,
    variance_hockey,
)
from tests.oracles.truth import Truth

BITS = 320

LAPLACES: dict[str, tuple[Total, Truth, float]] = {
    "three": (Total(((Laplace(1.0), 3),)), Sum([laplace_part(1.0, 3)]), 1.7),
    "near the top": (Total(((Laplace(1.0), 3),)), Sum([laplace_part(1.0, 3)]), 2.9999),
    "near zero": (Total(((Laplace(0.5), 8),)), Sum([laplace_part(0.5, 8)]), 0.01),
    "twelve": (Total(((Laplace(0.1), 12),)), Sum([laplace_part(0.1, 12)]), 0.4),
    "different": (
        Total(((Laplace(1.0), 2), (Laplace(Fraction(1, 3)), 3))),
        Sum([laplace_part(1.0, 2), laplace_part(Fraction(1, 3), 3)]),
        1.1,
    ),
    "with atoms": (
        Total(((Laplace(0.5), 3), (response(0.7, 5), 2), (discrete_laplace(4.0, 2), 2))),
        Sum(
            [
                laplace_part(0.5, 3),
                atoms_part(lambda: response_atoms(0.7, 5), 2),
                atoms_part(lambda: discrete_laplace_atoms(4.0, 2), 2),
            ]
        ),
        1.0,
    ),
}


def contains(found: Range, truth: arb, width: float) -> bool:
    with working(BITS):
        narrow = found.high - found.low <= truth * width
        return not found.low > truth and not found.high < truth and bool(narrow)


def truth_at(truth: Truth, y: float) -> arb:
    with working(BITS):
        return truth.excess(Fraction(y), BITS)


def test_terms_left_out_of_laplace_losses_are_counted(monkeypatch: pytest.MonkeyPatch) -> None:
    """Followed from too low a T, with later terms and without, the sum is wide and holds the truth."""
    total, truth, y = LAPLACES["twelve"]
    for end in (9, 14):
        monkeypatch.setattr(laplaces, "_end", lambda copies, x, bits, end=end: end)
        found = laplace_sum(total, Fraction(y), 128)
        assert contains(found, truth_at(truth, y), 1e-3)
        assert not contains(found, truth_at(truth, y), 1e-25)


@pytest.mark.parametrize(("total", "truth", "y"), LAPLACES.values(), ids=LAPLACES)
def test_laplace_losses(total: Total, truth: Truth, y: float) -> None:
    assert laplace_copies(total)
    assert contains(laplace_sum(total, Fraction(y), 128), truth_at(truth, y), 1e-25)


@pytest.mark.parametrize(("total", "truth", "y"), LAPLACES.values(), ids=LAPLACES)
def test_smoothed_laplace_losses(total: Total, truth: Truth, y: float) -> None:
    if y > 2.9:
        return  # the tilt is too steep for smoothing there
    found = integrated(total, Sketch(total), [Fraction(y)], 30.0, 0.01, 60.0)
    assert contains(found[Fraction(y)], truth_at(truth, y), 0.05)


LATTICES: dict[str, tuple[Total, Truth]] = {
    "answers": (Total(((response(0.5, 5), 9),)), Sum([atoms_part(lambda: response_atoms(0.5, 5), 9)])),
    "mixed": (
        Total(((response(0.5, 5), 4), (discrete_laplace(4.0, 3), 4), (response(0.25, 2), 5))),
        Sum(
            [
                atoms_part(lambda: response_atoms(0.5, 5), 4),
                atoms_part(lambda: discrete_laplace_atoms(4.0, 3), 4),
                atoms_part(lambda: response_atoms(0.25, 2), 5),
            ]
        ),
    ),
    "apart": (
        Total(((response(0.5, 5), 9), (response(0.3, 2), 3))),
        Sum([atoms_part(lambda: response_atoms(0.5, 5), 9), atoms_part(lambda: response_atoms(0.3, 2), 3)]),
    ),
    "gaussian": (
        Total(((DiscreteGaussian(2.0, 1), 1), (response(0.25, 3), 6))),
        Beside([discrete_gaussian_hockey(2.0, 1)], lambda: sums_of([(response_atoms(0.25, 3), 6)])),
    ),
}


@pytest.mark.parametrize(("total", "truth"), LATTICES.values(), ids=LATTICES)
@pytest.mark.parametrize("y", [0.01, 0.6, 1.1])
def test_lattices(total: Total, truth: Truth, y: float) -> None:
    split = lattice.split(total)
    assert split is not None
    place = Fraction(y)
    wanted = truth_at(truth, y)
    found = lattice.on_lattice(split, Sketch(split.main), [place, place + Fraction(1, 9)], 60.0)
    assert contains(found[place], wanted, 2.0**-50)
    assert few_values(total)
    with working(BITS):
        assert contains(Listed(total).excess(place), wanted, 1e-70)


def test_a_short_window_says_so(monkeypatch: pytest.MonkeyPatch) -> None:
    """What is wrapped around, and what lies above, is bounded whatever the window is."""
    total, truth = LATTICES["answers"]
    kept = Sketch.plan

    def short(self: Sketch, y: float, bits: float, width: float = 0.0, right: bool = False) -> Plan:
        found = kept(self, y, bits, width, right)
        return Plan(found.c, found.period / 6, found.below, found.above, found.log_tolerance, found.size)

    monkeypatch.setattr(Sketch, "plan", short)
    split = lattice.split(total)
    assert split is not None
    found = lattice.on_lattice(split, Sketch(total), [Fraction(1)], 60.0)[Fraction(1)]
    wanted = truth_at(truth, 1.0)
    assert contains(found, wanted, math.inf)
    assert not contains(found, wanted, 1e-12)


ALONE = {
    "gaussian removed": (SampledNormal(1.0, 0.3, "removed"), subsampled_gaussian_hockey(1.0, 0.3, "towards")),
    "gaussian added": (SampledNormal(1.0, 0.3, "added"), subsampled_gaussian_hockey(1.0, 0.3, "away")),
    "laplace removed": (SampledLaplace(1.0, 0.3, "removed"), subsampled_laplace_hockey(1.0, 0.3, "towards")),
    "laplace added": (SampledLaplace(1.0, 0.3, "added"), subsampled_laplace_hockey(1.0, 0.3, "away")),
}


@pytest.mark.parametrize(("law", "hockey"), ALONE.values(), ids=ALONE)
def test_the_integral_beside_gaussian_noise(law: SampledNormal, hockey: object) -> None:
    """One loss beside atoms and noise: by the integral, and as a sum over a fine partition of nothing else."""
    total = Total(((law, 1), (response(0.5, 4), 3)))
    truth = Beside([hockey], lambda: sums_of([(response_atoms(0.5, 4), 3)]))  # type: ignore[list-item]
    place = Fraction(2, 5)
    with working(BITS):
        wanted = truth.excess(place, BITS)
        assert contains(Listed(total).excess(place), wanted, 1e-60)
    found = integrated(total, Sketch(total), [place], 20.0, 0.05, 60.0)[place]
    assert contains(found, wanted, 0.2)


def test_noise_and_atoms() -> None:
    total = Total(((response(0.5, 4), 3),), ((0.7, 2), (0.1, 3)))
    square = 2 * Fraction(0.7) ** 2 + 3 * Fraction(0.1) ** 2
    truth = Beside([variance_hockey(square)], lambda: sums_of([(response_atoms(0.5, 4), 3)]))
    place = Fraction(2)
    with working(BITS):
        wanted = truth.excess(place, BITS)
        assert contains(Listed(total).excess(place), wanted, 1e-60)
    assert contains(integrated(total, Sketch(total), [place], 60.0, 0.0, 60.0)[place], wanted, 2.0**-50)


@cache
def twenty_laplace_losses() -> tuple[arb, Range]:
    """The excess of twenty Laplace losses at 9, and the integral with a good plan."""
    total, place = Total(((Laplace(1.0), 20),)), Fraction(9)
    wanted = truth_at(Sum([laplace_part(1.0, 20)]), 9.0)
    return wanted, integrated(total, Sketch(total), [place], 22.0, 0.0, 60.0)[place]


@pytest.mark.parametrize("change", ["end", "period"])
def test_a_bad_plan_says_so(change: str, monkeypatch: pytest.MonkeyPatch) -> None:
    """Nodes that are left out, and aliases of a short period, are bounded whatever the plan is."""
    total = Total(((Laplace(1.0), 20),))
    place = Fraction(9)
    wanted, good = twenty_laplace_losses()
    assert contains(good, wanted, 1e-5)
    kept = Sketch.plan

    def short(self: Sketch, y: float, bits: float, width: float = 0.0, right: bool = False) -> Plan:
        found = kept(self, y, bits, width, right)
        return Plan(found.c, found.period / 2.5, found.below, found.above, found.log_tolerance, found.size)

    if change == "end":
        monkeypatch.setattr(Sketch, "end", lambda self, plan, width=0.0: 3.0)
    else:
        monkeypatch.setattr(Sketch, "plan", short)
    found = integrated(total, Sketch(total), [place], 22.0, 0.0, 60.0)[place]
    assert contains(found, wanted, math.inf)
    assert not contains(found, wanted, 1e-5)


def test_too_much_work_is_refused() -> None:
    total = Total(((SampledLaplace(1.0, 0.3, "removed"), 2),))
    with pytest.raises(TooMuch):
        integrated(total, Sketch(total), [Fraction(1)], 60.0, 0.0, 1e-6)
    with pytest.raises(TooMuch):
        laplace_sum(Total(tuple((Laplace(Fraction(1, number)), 20) for number in range(3, 12))), Fraction(0), 128)


def test_lattices_without_a_common_span() -> None:
    fine = Total(((response(0.5, 5), 300), (response(0.31415926, 5), 300)))
    assert lattice.split(fine) is None
    assert lattice.split(Total(((Laplace(1.0), 1),))) is None
    assert lattice.split(Total(((response(0.5, 5), 1),), ((1.0, 1),))) is None
    both = lattice.split(Total(((response(Fraction(1, 2), 5), 1), (response(Fraction(1, 3), 2), 1))))
    assert both is not None
    assert (both.h, both.others.laws) == (Fraction(1, 6), ())
    assert plan.Sketch(fine).mean() > 0
