"""Level densities on cells: between two numbers that hold the truth, and narrow; every inequality is needed."""

from __future__ import annotations

import math
from fractions import Fraction
from typing import Any

import pytest
from flint import arb, arb_series

from optcomp.checker.balls import ball, near, working
from optcomp.checker.instance import Range
from optcomp.checker.laws import Laplace, ReplacedNormal, SampledNormal, TooMuch
from optcomp.checker.laws.parts import parts_of
from optcomp.checker.sums import levels
from optcomp.checker.sums.cells import Cells, Factors
from optcomp.checker.sums.integral import integrated
from optcomp.checker.sums.levels import Levels
from optcomp.checker.sums.nodes import Cumulated, Grid, terms
from optcomp.checker.sums.plan import Sketch
from optcomp.checker.sums.shape import Shape
from optcomp.checker.sums.total import Total
from tests.mutants import put_mutant

REMOVED = SampledNormal(1.0, Fraction(1, 10), "removed")
REPLACED = ReplacedNormal(1.0, Fraction(1, 10))
LOW = -0.1053
"""At most the least loss."""
BITS = 100


def made(total: Total, highest: Fraction, step: Fraction = Fraction(1, 1000), bits: int = BITS) -> Levels:
    return Levels(total, Shape(step, bits, (LOW,) * len(total.laws)), highest)


def holds(found: Range, true: Range) -> bool:
    return not found.low > true.high and not found.high < true.low


def one_round(step: Fraction = Fraction(1, 400), **options: Any) -> list[tuple[Range, Range]]:
    """F of one round beside its curve, at nodes and between them."""
    grid = made(Total(((REMOVED, 1),)), Fraction(3, 10), step, **options)
    with working(300):
        ys = [Fraction(1, 20) + step * Fraction(number, 7) for number in range(40)]
        curves = [REMOVED.excess(y) for y in ys]
        return [(grid.excess(y), Range(curve, curve)) for y, curve in zip(ys, curves, strict=True)]


def test_one_round_against_its_curve() -> None:
    for found, true in one_round():
        with working(300):
            assert holds(found, true)
            assert found.high - found.low < 1e-5


def test_three_rounds_against_the_integral_and_cells() -> None:
    total, y = Total(((REMOVED, 3),)), Fraction(1, 4)
    true = integrated(total, Sketch(total), [y], 30, 0.0, 100.0)[y]
    plain = Cells(total, Shape(Fraction(1, 1000), BITS, (LOW,)), y).excess(y)
    with working(300):
        widths = []
        for step in (Fraction(1, 1000), Fraction(1, 4000)):
            found = made(total, y, step).excess(y)
            assert holds(found, true)
            widths.append(near(found.high - found.low))
        assert widths[0] < near(plain.high - plain.low)
        assert widths[1] < widths[0] / 30


def test_only_smooth_laws() -> None:
    assert levels.suits(Total(((REMOVED, 2),)))
    assert not levels.suits(Total(((REMOVED, 2), (REPLACED, 1))))
    mixed = Total(((REMOVED, 2), (Laplace(1.0), 1)))
    beside = Total(((REMOVED, 2),), ((Fraction(1, 4), 3),))
    for total, lows in ((mixed, (LOW, -1.0)), (beside, (LOW, -3.0)), (Total(((REPLACED, 2),)), (-3.0,))):
        assert not levels.suits(total)
        with pytest.raises(TooMuch):
            Levels(total, Shape(Fraction(1, 1000), BITS, lows), Fraction(1, 2))


def test_a_law_that_lacks_some_of_q_is_refused(monkeypatch: pytest.MonkeyPatch) -> None:
    """K is taken to be 1: with less, a claim that is too small would be believed."""
    parts = parts_of(REMOVED)
    assert parts is not None
    lacking = parts._replace(pieces=[parts.pieces[0]._replace(other=arb(0.99))])
    monkeypatch.setattr(levels, "parts_of", lambda law: lacking)
    assert not levels.suits(Total(((REMOVED, 2),)))
    with pytest.raises(TooMuch):
        made(Total(((REMOVED, 2),)), Fraction(1, 2))


def test_a_highest_place_below_all_losses() -> None:
    with pytest.raises(TooMuch):
        made(Total(((REMOVED, 2),)), Fraction(-1))


def tables(step: Fraction = Fraction(1, 400), count: int = 200) -> levels._Tables:
    parts = parts_of(REMOVED)
    assert parts is not None
    return levels._Tables(parts.pieces[0], Grid(Fraction(-107, 1000), step, count), BITS + 16)


def lost_between(law: levels._Tables, cell: int, mass: arb, ahead: Fraction) -> arb:
    """By how much V of an even mass, less V of the law, is below its chord in x = e^t, somewhere in a cell."""
    parts = parts_of(REMOVED)
    assert parts is not None
    with terms(1):
        ends = [parts.pieces[0].below(arb_series([law.grid.place(cell + place)])) for place in (Fraction(0), ahead, 1)]
    step = ball(law.grid.step)
    over = []
    for place, (own, other) in zip((ahead, Fraction(1)), ends[1:], strict=True):
        rise, wide = law.grid.place(cell + place).exp(), step * ball(place)
        smooth = rise * (other[0] - ends[0][1][0]) - (own[0] - ends[0][0][0])
        over.append(mass / step * (wide.expm1() - wide) - smooth)
    return over[1] * (step * ball(ahead)).expm1() / step.expm1() - over[0]


@pytest.mark.parametrize("side", [-1, 1])
def test_what_is_missing_between_nodes(side: int, monkeypatch: pytest.MonkeyPatch) -> None:
    """Between nodes the density of a law is not level: its slope counts, and by how much the masses differ."""

    def covers() -> bool:
        with working(300):
            law = tables()
            unit = arb(2) ** -law.digits
            for factor in (1, Fraction(5, 6), Fraction(7, 6)):
                masses = [int(mass * factor) for mass in law.masses]
                for cell in range(6, 190, 3):
                    missing = law.missing(masses, side)[cell]
                    assert missing is not None
                    for ahead in (Fraction(1, 4), Fraction(1, 2), Fraction(3, 4)):
                        if not side * lost_between(law, cell, arb(masses[cell]) * unit, ahead) <= missing * unit:
                            return False
            return True

    assert covers()
    for change in (("+ bend + 2 * OFF", ""), ("side * (mass - mine)", "0"), ("* self.eighth", "* self.eighth // 4")):
        with monkeypatch.context() as patch:
            put_mutant(patch, levels._Tables, "missing", change)
            assert not covers(), change


def spoil(monkeypatch: pytest.MonkeyPatch, side: int) -> None:
    """Masses on one side that are too small from above, or too large from below."""
    kept = levels._Stand._chosen

    def wrong(self: Any, share: float) -> list[int]:
        masses = kept(self, share)
        if self._side == side:
            masses[30] = max(masses[30] - side * (1 << (BITS - 14)), 0)
        return masses

    monkeypatch.setattr(levels._Stand, "_chosen", wrong)


@pytest.mark.parametrize("side", [-1, 1])
@pytest.mark.parametrize("instead", ["rest + 1", "0"])
def test_what_is_missing_at_nodes(side: int, instead: str, monkeypatch: pytest.MonkeyPatch) -> None:
    """Masses that are wrong need a κ; without it they are too small, or too large."""
    spoil(monkeypatch, side)
    with working(300):
        assert all(holds(found, true) for found, true in one_round())
        changes = ("side * over + rest + 1", instead), ("other - law.other[-1]", "0")
        put_mutant(monkeypatch, levels._Stand, "_needed", *changes)
        assert not all(holds(found, true) for found, true in one_round())


@pytest.mark.parametrize("side", [-1, 1])
def test_kappa_is_taken_from_q(side: int, monkeypatch: pytest.MonkeyPatch) -> None:
    spoil(monkeypatch, side)
    with working(300):
        put_mutant(monkeypatch, Levels, "_sum", ("1 - side * stand.kappa", "arb(1)"))
        assert not all(holds(found, true) for found, true in one_round())


def test_cells_hold_no_more_of_q_than_there_is(monkeypatch: pytest.MonkeyPatch) -> None:
    kept = levels._Stand.__init__

    def more(self: Any, law: Any, side: int, bits: int) -> None:
        kept(self, law, side, bits)
        self.kappa += 0.5

    monkeypatch.setattr(levels._Stand, "__init__", more)
    with pytest.raises(TooMuch):
        one_round()


def test_no_more_q_below_the_last_node_than_the_law_has(monkeypatch: pytest.MonkeyPatch) -> None:
    """From below the masses must not overtake the law beyond the last node: κ is at least what they have more of Q."""
    kept = levels._Stand._chosen

    def more(self: Any, share: float) -> list[int]:
        masses = kept(self, share)
        masses[-1] += 1 << (BITS - 10) if self._side < 0 else 0
        return masses

    def enough() -> bool:
        with working(300):
            law = tables()
            stand = levels._Stand(law, -1, BITS)
            return bool(stand.kappa >= stand.held - arb(law.other[-1] + 2 * law.off) * arb(2) ** -law.digits)

    monkeypatch.setattr(levels._Stand, "_chosen", more)
    put_mutant(monkeypatch, levels._Stand, "_needed", ("side * over + rest + 1", "0"))
    assert enough()
    monkeypatch.undo()
    monkeypatch.setattr(levels._Stand, "_chosen", more)
    changes = ("side * over + rest + 1", "0"), ("other - law.other[-1]", "0")
    put_mutant(monkeypatch, levels._Stand, "_needed", *changes)
    assert not enough()


def test_what_products_are_off_is_counted(monkeypatch: pytest.MonkeyPatch) -> None:
    total, y = Total(((REMOVED, 3),)), Fraction(1, 4)
    true = integrated(total, Sketch(total), [y], 30, 0.0, 100.0)[y]
    with working(300):
        assert holds(made(total, y, bits=26).excess(y), true)
        monkeypatch.setattr(Factors, "off", property(lambda self: arb(0), lambda self, value: None), raising=False)
        assert not holds(made(total, y, bits=26).excess(y), true)


@pytest.mark.parametrize("name", ["removed", "replaced"])
def test_bends_bound_the_slope(name: str, monkeypatch: pytest.MonkeyPatch) -> None:
    """h²/2 times the slope of the density, anywhere within half a cell."""
    grid, digits = Grid(Fraction(-21, 200), Fraction(1, 1500), 800), 120

    def enough() -> bool:
        with working(300):
            parts = parts_of(REMOVED if name == "removed" else REPLACED)
            assert parts is not None
            found = Cumulated(parts.pieces[0], grid, digits, bent=True)
            for number in range(8, 800, 9):
                for ahead in (Fraction(-1, 2), Fraction(0), Fraction(1, 2)):
                    with terms(3):
                        own, _ = parts.pieces[0].below(arb_series([grid.place(number + ahead), arb(1)]))
                    bend = found.bends[number]
                    assert bend is not None
                    if not abs(own[2]) * ball(grid.step) ** 2 <= arb(bend) * arb(2) ** -digits:
                        return False
            return True

    assert enough()
    put_mutant(monkeypatch, Cumulated, "_bend", ("(self._digits + 2)", "(self._digits + 1)"))
    assert not enough()


@pytest.mark.parametrize("rounds", [1, 2, 5])
@pytest.mark.parametrize("share", [0.1, 0.5, 0.95])
def test_expectations_near_the_end(rounds: int, share: float) -> None:
    """Against an integral over the density of a sum of even numbers."""
    place, step, count = Fraction(share) * rounds, 0.01, 20_000
    with working(300):
        found = near(levels.near_end(place, rounds, arb(step)))
    theta = float(place)

    def density(b: float) -> float:
        terms_of = ((-1) ** i * math.comb(rounds, i) * (b - i) ** (rounds - 1) for i in range(int(b) + 1))
        return float(sum(terms_of)) / math.factorial(rounds - 1)

    width = theta / count
    places = [(number + 0.5) * width for number in range(count)]
    assert found == pytest.approx(sum(math.expm1(step * (theta - b)) * density(b) for b in places) * width, rel=1e-5)


def test_powers_of_a_step() -> None:
    with working(300):
        grid = Grid(Fraction(0), Fraction(1, 300), 1000)
        for number, fall in enumerate(levels._powers(grid, 120)[:1000]):
            over = (-ball(grid.step * number)).exp() * arb(2) ** 120 - fall
            assert over >= 0
            assert over <= 6


def test_the_first_cell_from_above_counts_all_of_q_below_its_end(monkeypatch: pytest.MonkeyPatch) -> None:
    """A grid that begins within the law: there V may be anything up to e^t Q(L < l_1)."""

    def enough() -> bool:
        with working(300):
            parts = parts_of(REMOVED)
            assert parts is not None
            law = levels._Tables(parts.pieces[0], Grid(Fraction(-19, 200), Fraction(1, 400), 600), BITS + 16)
            stand = levels._Stand(law, 1, BITS)
            with terms(1):
                _, other = parts.pieces[0].below(arb_series([law.grid.place(1)]))
            return bool(stand.kappa >= other[0])

    assert enough()
    put_mutant(monkeypatch, levels._Stand, "_needed", ("2 * (law.other[1] + OFF)", "0"))
    assert not enough()


def test_what_a_series_leaves_out_is_counted(monkeypatch: pytest.MonkeyPatch) -> None:
    def holds_more_terms() -> bool:
        with working(600):
            exact = levels._repeated(arb(1.5), 3, arb(0.01))
            with monkeypatch.context() as patch:
                patch.setattr(levels, "_ENOUGH", 40)
                return bool(levels._repeated(arb(1.5), 3, arb(0.01)).overlaps(exact))

    assert holds_more_terms()
    put_mutant(monkeypatch, levels, "_repeated", ("arb(0, (2 * term).upper())", "arb(0)"))
    assert not holds_more_terms()


def test_masses_are_never_more_than_one(monkeypatch: pytest.MonkeyPatch) -> None:
    """What products are off is counted for such alone; whatever masses are chosen, they are cut."""
    kept = levels._begun

    def heavier(law: Any, share: float, side: int) -> tuple[list[int], int]:
        masses, start = kept(law, share, side)
        masses[100] += 1 << (law.digits - 12)
        return masses, start

    def most() -> int:
        with working(300):
            return sum(levels._Stand(tables(Fraction(1, 400), 4000), 1, BITS).masses)

    monkeypatch.setattr(levels, "_begun", heavier)
    monkeypatch.setattr(levels._Stand, "_needed", lambda self, masses: (0, 0))  # only the choice is looked at
    assert most() <= 1 << BITS
    put_mutant(monkeypatch, levels._Stand, "_chosen", ("masses[largest] -=", "masses[largest] -= 0 *"))
    assert most() > 1 << BITS
