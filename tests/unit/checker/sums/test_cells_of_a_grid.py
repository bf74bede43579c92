"""Few rounds on cells of a grid: between two numbers that hold the truth, and narrow; every error term is needed."""

from __future__ import annotations

import math
from fractions import Fraction
from functools import cache
from typing import Any

import pytest
from flint import arb, arb_series, fmpz_poly

from optcomp.checker.balls import near, working
from optcomp.checker.instance import Range
from optcomp.checker.laws import (
    BatchLaplace,
    BatchNormal,
    DiscreteGaussian,
    Laplace,
    Law,
    ReplacedLaplace,
    ReplacedNormal,
    ReplacedWhole,
    SampledLaplace,
    SampledNormal,
    SampledWhole,
    TooMuch,
    response,
)
from optcomp.checker.laws.parts import Lump, Parts, normal, parts_of
from optcomp.checker.sums import cells, nodes
from optcomp.checker.sums.cells import Cells
from optcomp.checker.sums.every_sum import every_sum
from optcomp.checker.sums.integral import integrated
from optcomp.checker.sums.laplaces import laplace_sum
from optcomp.checker.sums.nodes import Cumulated, Grid, terms
from optcomp.checker.sums.plan import Sketch
from optcomp.checker.sums.shape import Shape, shape_for, suits
from optcomp.checker.sums.total import Total
from tests.mutants import put_mutant

RATE = Fraction(1, 10)
LAWS: dict[str, Law] = {
    "removed": SampledNormal(1.0, RATE, "removed"),
    "added": SampledNormal(1.0, RATE, "added"),
    "replaced": ReplacedNormal(1.0, RATE),
    "batch": BatchNormal(1.0, RATE),
    "Laplace": Laplace(1.0),
    "Laplace removed": SampledLaplace(1.0, RATE, "removed"),
    "Laplace added": SampledLaplace(1.0, RATE, "added"),
    "Laplace replaced": ReplacedLaplace(1.0, RATE),
    "Laplace batch": BatchLaplace(1.0, RATE),
    "whole removed": SampledWhole(2.0, 1, RATE, "removed"),
    "whole added": SampledWhole(2.0, 1, RATE, "added"),
    "whole replaced": ReplacedWhole(2.0, 1, RATE),
    "whole": DiscreteGaussian(2.0, 1),
    "response": response(Fraction(1, 3), 3),
}
STEP, BITS = Fraction(1, 1000), 90


def enclosed(total: Total, y: Fraction, step: Fraction = STEP, bits: int = BITS, low: float = -3.0) -> Range:
    lows = [max(low, least(law)) for law, _ in total.laws] + [low] * bool(total.gaussians)
    return Cells(total, Shape(step, bits, tuple(lows)), y).excess(y)


def least(law: Law) -> float:
    """The least loss of a law that has one."""
    with working(64):
        parts = parts_of(law)
        assert parts is not None
        losses = [piece.low for piece in parts.pieces] + [lump.loss for lump in parts.lumps]
        return min(near(loss) if loss.is_finite() else -math.inf for loss in losses)


@cache
def truth(total: Total, y: Fraction) -> Range:
    """F by other ways: the contour integral, every sum of atoms, or Laplace losses by gamma functions."""
    if isinstance(total.laws[0][0], SampledWhole | ReplacedWhole | DiscreteGaussian):
        return every_sum(total, [y], 1e-25)[y]
    if isinstance(total.laws[0][0], Laplace):
        return laplace_sum(total, y, 128)
    return integrated(total, Sketch(total), [y], 30, 0.0, 100.0)[y]


def holds(found: Range, true: Range) -> bool:
    return not found.low > true.high and not found.high < true.low


@pytest.mark.parametrize("y", [Fraction(1, 50), Fraction(3, 10)], ids=str)
@pytest.mark.parametrize("name", LAWS)
def test_one_round_against_its_curve(name: str, y: Fraction) -> None:
    law = LAWS[name]
    found = enclosed(Total(((law, 1),)), y)
    with working(200):
        curve = law.excess(y)
        assert holds(found, Range(curve, curve))
        assert found.high - found.low < 1e-5


@pytest.mark.slow_cases("replaced")
@pytest.mark.parametrize("name", ["removed", "added", "replaced", "Laplace", "whole removed", "whole added"])
def test_three_rounds_against_other_ways(name: str) -> None:
    y, total = Fraction(1, 4), Total(((LAWS[name], 3),))
    true = truth(total, y)
    for step, width in ((STEP, 1e-5), (STEP / 2, 3e-6)):
        found = enclosed(total, y, step)
        with working(200):
            assert holds(found, true)
            assert found.high - found.low < width
            assert true.high - true.low < width / 100


def test_different_laws_beside_gaussian_noise() -> None:
    laws = ((LAWS["removed"], 2), (response(Fraction(1, 5), 2), 2))
    total, y = Total(laws, ((Fraction(1, 4), 3),)), Fraction(1)
    found, true = enclosed(total, y), truth(total, y)
    with working(200):
        assert holds(found, true)
        assert found.high - found.low < 1e-5


def test_normal_parts() -> None:
    with working(128), terms(1):
        piece = normal(arb(1) / 4).pieces[0]
        own, other = piece.below(arb_series([arb(1) / 8]))
        assert (own[0] - arb(1) / 2).contains(0)
        assert (other[0] - (-arb(1) / 2 / arb(2).sqrt()).erfc() / 2).contains(0)


@pytest.mark.parametrize("name", ["removed", "added", "replaced", "Laplace removed", "batch"])
def test_masses_below_the_nodes(name: str, monkeypatch: pytest.MonkeyPatch) -> None:
    """Those of blocks are as near to the masses themselves as is said, and would not be without the remainder."""
    grid, digits = Grid(Fraction(-21, 200), Fraction(1, 1500), 1500), 120

    def worst() -> int:
        with working(300):
            parts = parts_of(LAWS[name])
            assert parts is not None
            far = 0
            for piece in parts.pieces:
                found = Cumulated(piece, grid, digits)
                for number in range(0, grid.nodes, 7):
                    place = grid.place(number)
                    if place > piece.low and place < piece.high:
                        with terms(1):
                            below = piece.below(arb_series([place]))
                        for listed, mass in zip((found.own, found.other), below, strict=True):
                            far = max(far, int(near(abs(mass[0] * arb(2) ** digits - listed[number]))))
            return far

    assert worst() <= nodes.OFF
    if name != "batch":
        put_mutant(monkeypatch, Cumulated, "_expanded", (" <= 1 for", " <= 2 ** 60 for"))
        assert worst() > nodes.OFF


def test_nodes_below_and_above_a_piece() -> None:
    with working(200):
        parts = parts_of(LAWS["Laplace removed"])
        assert parts is not None
        piece = parts.pieces[0]
        found = Cumulated(piece, Grid(Fraction(-1), Fraction(1, 10), 20), 100)
        assert found.own[0] == found.other[0] == 0
        assert abs(found.own[-1] - int(near(piece.own * 2**100))) < 2**60
        edge = Cumulated(piece._replace(low=arb(0)), Grid(Fraction(0), Fraction(1, 1000), 3), 100)
        assert edge.own[0] == 0


def coarse(name: str, y: Fraction, **options: Any) -> tuple[Range, Range]:
    total = Total(((LAWS[name], 3),))
    return enclosed(total, y, **options), truth(total, y)


def too_low(found: Range, true: Range) -> bool:
    """An upper side below the truth."""
    return bool(found.high < true.low)


def too_high(found: Range, true: Range) -> bool:
    """A lower side above the truth."""
    return bool(found.low > true.high)


def test_what_is_rounded_down_is_counted(monkeypatch: pytest.MonkeyPatch) -> None:
    """With numbers of few bits both sides hold, and without the count one of them would not."""
    y = Fraction(1, 4)
    with working(200):
        found, true = coarse("removed", y, bits=24)
        assert holds(found, true)
        put_mutant(monkeypatch, Cells, "_high", (" + self._nodes.off * rise", ""))
        assert too_low(*coarse("removed", y, bits=24))


@pytest.mark.parametrize("name", ["_own", "_other", "_nodes"])
def test_what_a_product_is_off_is_counted(name: str) -> None:
    """A product that is off, and said to be, still holds; not said to be, it is on the wrong side."""
    y, total, bits = Fraction(1, 4), Total(((LAWS["removed"], 3),)), 60
    with working(200):
        true = truth(total, y)
        for told in (True, False):
            made = Cells(total, Shape(Fraction(1, 300), bits, (least(LAWS["removed"]),)), y)
            factors = getattr(made, name)
            lost = 1 << (2 * bits - 8)
            factors.masses += fmpz_poly([0, 0, lost if name == "_other" else -lost])
            factors.off += lost * arb(2) ** (-2 * bits) if told else 0
            found = made.excess(y)
            assert holds(found, true) is told
            assert told or (too_low if name == "_nodes" else too_high)(found, true)


def test_products_count_what_they_round_and_what_factors_are_off(monkeypatch: pytest.MonkeyPatch) -> None:
    half = cells.Near(fmpz_poly([1023] * 2), 0)
    whole = int((half.masses * half.masses)(1))

    def covers() -> bool:
        product = half.times(half, 3, 20)
        return (int(product.masses(1)) + product.off) << 20 >= whole

    assert covers()
    put_mutant(monkeypatch, cells.Near, "times", (" + size)", ")"))
    assert not covers()


@pytest.mark.parametrize("change", [("self.off + other.off", "self.off"), ("(self.off * other.off >> bits)", "0")])
def test_both_factors_may_be_off(change: tuple[str, str], monkeypatch: pytest.MonkeyPatch) -> None:
    """A mass of 1 that is said to be half as large again: its square is off by 5/4."""
    large = cells.Near(fmpz_poly([3 << 19]), 1 << 19)

    def covers() -> bool:
        return large.times(large, 1, 20).off >= (9 << 18) - (1 << 20)

    assert covers()
    put_mutant(monkeypatch, cells.Near, "off_with", change)
    assert not covers()


def test_masses_of_a_law_are_rounded(monkeypatch: pytest.MonkeyPatch) -> None:
    with working(200):
        put_mutant(monkeypatch, cells._Law, "_rounded", ("self._size * ((off >> self._shift) + 2)", "0"))
        put_mutant(monkeypatch, cells.Near, "times", (" + size)", ")"))
        found, true = coarse("removed", Fraction(1, 4), bits=24)
        assert too_low(found, true) or too_high(found, true)


def test_ends_are_off_by_what_is_said(monkeypatch: pytest.MonkeyPatch) -> None:
    """Shares of the upper ends beside those in more digits, which differ by much more than the masses themselves."""

    def shares(digits: int) -> tuple[list[arb], int]:
        with working(300):
            parts = parts_of(LAWS["removed"])
            assert parts is not None
            law = cells._Law(parts, Grid(Fraction(-1, 20), STEP, 400), digits, 30)
            up, off = law._ends_of_pieces
            return [arb(mass) * arb(2) ** -digits for mass in up.coeffs()], off

    def covers() -> bool:
        (found, off), (true, _) = shares(60), shares(140)
        with working(300):
            return all(abs(one - two) <= arb(off + 1) * arb(2) ** -60 for one, two in zip(found, true, strict=False))

    assert covers()
    put_mutant(monkeypatch, cells._Law, "_ends", ("inner * ((share >> digits) + 2) + 4", "inner"))
    assert not covers()


@pytest.mark.parametrize("copies", range(2, 65))
def test_powers_by_few_products(copies: int) -> None:
    """x to the power of the copies, by no more products than doubling takes, and one less."""
    bits, one = 8, cells.Near(fmpz_poly([0, 1 << 8]), 0)
    left, right = one.halves(copies, 80, bits)
    assert left.masses.degree() + right.masses.degree() == copies
    assert one.power(copies, 80, bits).masses == fmpz_poly([0] * copies + [1 << bits])


@pytest.mark.parametrize("told", [True, False])
@pytest.mark.parametrize("side", ["own", "other"])
def test_masses_that_are_off_are_counted(side: str, told: bool, monkeypatch: pytest.MonkeyPatch) -> None:
    """Masses below nodes that are off by much, and said to be: both sides hold; not said to be, one does not."""
    kept = Cumulated.__init__

    def moved(self: Cumulated, piece: Any, grid: Grid, digits: int) -> None:
        kept(self, piece, grid, digits)
        wrong = 1 << (digits - 12)
        wrong = wrong if side == "other" else -wrong
        masses = [mass + wrong if number > 20 else mass for number, mass in enumerate(getattr(self, side))]
        setattr(self, side, masses)
        if told:
            monkeypatch.setattr(cells, "OFF", abs(wrong) + nodes.OFF)

    monkeypatch.setattr(Cumulated, "__init__", moved)
    with working(200):
        found, true = coarse("removed", Fraction(1, 4), step=Fraction(1, 300))
        assert holds(found, true) is told
        assert told or too_high(found, true)


@pytest.mark.parametrize("name", ["added", "replaced", "whole added"])
def test_what_lies_below_the_first_node(name: str, monkeypatch: pytest.MonkeyPatch) -> None:
    """Moved up with P, and without all of its Q; counting that Q as kept would be wrong."""
    y, low = Fraction(1, 20), -0.02
    with working(200):
        found, true = coarse(name, y, low=low)
        assert holds(found, true)
        assert found.high - found.low < 0.1
        if name != "whole added":
            put_mutant(monkeypatch, cells._Law, "_under", ("if not start <= piece.low:", "if False:"))
        else:
            put_mutant(monkeypatch, cells._Lumps, "_add", ("lump.own * (-ball(loss)).exp()", "lump.other"))
        assert too_low(*coarse(name, y, low=low))


def test_atoms_that_are_not_listed(monkeypatch: pytest.MonkeyPatch) -> None:
    """From below they belong to the event, from above their loss counts as infinite: without their Q."""
    y, kept = Fraction(1, 4), parts_of

    def fewer(law: Law) -> Parts | None:
        parts = kept(law)
        assert parts is not None
        return parts._replace(lumps=[lump for lump in parts.lumps if abs(lump.loss + 0.07) > 0.01])

    monkeypatch.setattr(cells, "parts_of", fewer)
    with working(200):
        found, true = coarse("whole removed", y)
        assert holds(found, true)
        put_mutant(monkeypatch, cells._Law, "_under", (".place(0), arb(0)", ".place(0), arb(0.2)"))
        assert too_low(*coarse("whole removed", y))


def test_an_atom_whose_loss_is_not_known_well(monkeypatch: pytest.MonkeyPatch) -> None:
    """From above it lies at the upper end of its ball."""
    y, kept = Fraction(1, 4), parts_of

    def blurred(law: Law) -> Parts | None:
        parts = kept(law)
        assert parts is not None
        lumps = [Lump(lump.loss - arb("1e-4") + arb(0, "1e-4"), lump.own, lump.other) for lump in parts.lumps]
        return parts._replace(lumps=lumps)

    monkeypatch.setattr(cells, "parts_of", blurred)
    with working(200):
        found, true = coarse("whole removed", y, step=Fraction(1, 20000))
        assert holds(found, true)
        put_mutant(monkeypatch, cells._Lumps, "_add", ("_, loss = enclosing", "loss, _ = enclosing"))
        assert too_low(*coarse("whole removed", y, step=Fraction(1, 20000)))


@pytest.mark.parametrize(
    ("name", "owner", "method", "change"),
    [
        ("removed", cells._Law, "_ends", ("* share //", "* (2 * share) //")),
        (
            "whole removed",
            cells._Lumps,
            "_add",
            ("right = lump.own * (-ahead).expm1() / (-step).expm1()", "right = lump.own"),
        ),
    ],
)
def test_mass_is_moved_to_both_ends(
    name: str, owner: type, method: str, change: tuple[str, str], monkeypatch: pytest.MonkeyPatch
) -> None:
    """More of it at the upper end, with the same Q, would be too low."""
    put_mutant(monkeypatch, owner, method, change)
    with working(200):
        assert too_low(*coarse(name, Fraction(1, 4)))


def test_a_law_must_be_known() -> None:
    with pytest.raises(TooMuch):
        enclosed(Total(((LAWS["removed"], 2),)), Fraction(-1))
    assert suits(Total(((LAWS["removed"], 2),)))
    assert not suits(Total(((LAWS["removed"], 1),)))
    assert not suits(Total(((LAWS["removed"], 1000),)))


@pytest.mark.slow_cases("added", "replaced")
@pytest.mark.parametrize("name", ["removed", "added", "replaced", "whole removed", "Laplace replaced"])
def test_grids_are_as_fine_as_they_are_asked_to_be(name: str) -> None:
    """Guesses only: what is left open is about what was asked for, or less."""
    total, y = Total(((LAWS[name], 3),)), 0.21
    chosen = shape_for(total, Sketch(total), y, 1e-5)
    found = Cells(total, chosen, Fraction(y)).excess(Fraction(y))
    with working(200):
        assert near((found.high - found.low) / found.high) < 1e-4
