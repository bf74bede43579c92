"""The root finder: proofs move the ends, undecided places never do."""

from __future__ import annotations

import importlib.util
import math
import sys
from collections.abc import Callable
from fractions import Fraction
from itertools import product
from pathlib import Path
from types import ModuleType

import numpy as np
import pytest
from flint import arb
from hypothesis import given
from hypothesis import strategies as st

from optcomp.composition.reading import read_parts
from optcomp.instances.coins import coins_of
from optcomp.numerics import lines, roots
from optcomp.numerics.ball_halves import BallHalves
from optcomp.numerics.contour import bracket
from optcomp.numerics.contour.anchor import CoinSource
from optcomp.numerics.lines import Enumeration
from optcomp.numerics.roots import Side, certified_root
from optcomp.theorems.opt import Effort, contour_epsilon
from tests.campaign.questions import counts, question
from tests.oracles.checks import encloses
from tests.oracles.halves import Halves
from tests.oracles.truth import Truth, rational_ends, working

COINS = [(0.24, 1), (0.072, 1), (1.583, 1), (0.094, 1), (0.3, 2)]
TRUTH = Halves([(x, 0.0, m) for x, m in COINS])
TOP = arb(sum(x * m for x, m in COINS))


def seen_from(root: Fraction, left: Fraction, right: Fraction, undecided: Side) -> Callable[[float], Side]:
    """A side that is proved only outside of [root - left, root + right]."""

    def side(place: float) -> Side:
        if Fraction(place) <= root - left:
            return Side.RIGHT
        return Side.LEFT if Fraction(place) >= root + right else undecided

    return side


places = st.fractions(min_value=0, max_value=1000, max_denominator=10**6)
amounts = st.one_of(st.just(Fraction(0)), st.fractions(min_value=0, max_value=2, max_denominator=10**9))


@given(root=places, left=amounts, right=amounts)
def test_the_root_lies_between_and_the_ends_are_near_what_is_undecided(
    root: Fraction, left: Fraction, right: Fraction
) -> None:
    low, high = roots.float_root(seen_from(root, left, right, Side.UNDECIDED))
    assert low <= root <= high
    blurred = left + right + Fraction(math.ulp(high)) * 2
    assert Fraction(high) - Fraction(low) <= 2 * blurred


@given(root=places, left=amounts, right=amounts)
def test_an_undecided_place_never_moves_an_end(root: Fraction, left: Fraction, right: Fraction) -> None:
    side, asked = seen_from(root, left, right, Side.UNDECIDED), list[float]()

    def told(place: float) -> Side:
        asked.append(place)
        return side(place)

    low, high = roots.float_root(told)
    assert low == 0 or side(low) is Side.RIGHT
    assert math.isinf(high) or side(high) is Side.LEFT
    assert len(asked) < 400


def test_a_root_beyond_all_places_has_no_upper_end() -> None:
    assert roots.float_root(lambda place: Side.RIGHT) == (2.0**60, math.inf)
    assert roots.float_root(lambda place: Side.UNDECIDED) == (0.0, math.inf)
    assert roots.float_root(lambda place: Side.LEFT) == (0.0, 0.0)


def test_proofs_that_contradict_each_other_are_an_error() -> None:
    with pytest.raises(ArithmeticError, match="contradictory"):
        roots.certified_root(lambda place: Side.RIGHT if place > 1 else Side.LEFT, 0.0, 3.0, (2.0, 2.5), lambda *_: 0.5)


def test_floats_are_halved_by_counting_them() -> None:
    assert roots.between_floats(0.0, 5e-324) is None
    assert roots.between_floats(1.0, math.nextafter(1.0, 2)) is None
    assert 0 < (roots.between_floats(0.0, 1.0) or 0) < 1e-150


class Blurred:
    """The same enumeration, known to fewer bits: the truth sits at an end of every ball, the worst one for a side."""

    def __init__(self, atoms: Enumeration, blur: float, corner: tuple[int, int]) -> None:
        self._atoms, self._blur, self._corner = atoms, blur, corner
        self.bits, self.slack, self.dropped = atoms.bits, atoms.slack, atoms.dropped

    def lines(self, z: arb) -> tuple[arb, arb]:
        above, damped = self._atoms.lines(z)
        return self._moved(above, self._corner[0]), self._moved(damped, self._corner[1])

    def _moved(self, value: arb, direction: int) -> arb:
        middle = value.mid() * (1 + direction * arb(self._blur))
        return arb(middle.mid(), (value.mid() * arb(self._blur) * arb("1.0001")).mid() + value.rad())


CORNERS = [(1, 1), (1, -1), (-1, 1), (-1, -1)]


def holds(finder: ModuleType, corner: tuple[int, int], t: float, blur: float, blur_of_t: float) -> bool:
    """Whether the root found from blurred sums for a blurred t is right, and each side proved anywhere near it."""
    goal, atoms = arb(t, t * blur_of_t), Blurred(BallHalves(COINS, 160), blur, corner)
    return proves(finder, atoms, goal, 400 * (blur + blur_of_t + 1e-40))


def proves(finder: ModuleType, atoms: Enumeration, goal: arb, width: float) -> bool:
    """Whether the root is right and as narrow as it should be, and each side proved anywhere near it."""
    found = finder.enumerated_root(atoms, goal, 1.0, TOP)
    with working(300):
        (lower, upper), ends = rational_ends(found), rational_ends(goal)
        climb = finder._Climb(atoms, goal, TOP)
        gap = float(upper - lower)
        near = [(arb(float(lower) + gap * (step / 16 - 0.5))) for step in range(32)]
        sides = [(Fraction(float(place)), climb.side(place)) for place in near]
    wide = gap > width * float(upper)
    right = all(TRUTH.at_least(place, ends[1]) for place, side in sides if side is Side.RIGHT)
    left = all(TRUTH.at_most(place, ends[0]) for place, side in sides if side is Side.LEFT)
    return not wide and right and left and TRUTH.at_least(lower, ends[1]) and TRUTH.at_most(upper, ends[0])


@pytest.mark.parametrize("corner", CORNERS)
@pytest.mark.parametrize("t", [0.11, 0.01, 0.3, 1e-3])
@pytest.mark.parametrize(("blur", "blur_of_t"), [(1e-9, 0.0), (1e-4, 0.0), (0.0, 1e-4), (1e-6, 1e-6)])
def test_blurred_sums_widen_the_answer_and_never_falsify_it(
    corner: tuple[int, int], t: float, blur: float, blur_of_t: float
) -> None:
    assert holds(lines, corner, t, blur, blur_of_t)


def listed_atoms() -> list[tuple[arb, arb]]:
    """Every value of the loss with its probability."""
    sizes = [x for x, copies in COINS for _ in range(copies)]
    signs = list(product((1, -1), repeat=len(sizes)))
    with working(300):
        chances = [[1 / (1 + (-sign * arb(x)).exp()) for sign, x in zip(each, sizes, strict=True)] for each in signs]
        values = [sum((sign * arb(x) for sign, x in zip(each, sizes, strict=True)), arb(0)) for each in signs]
        return [(value, math.prod(chance, start=arb(1))) for value, chance in zip(values, chances, strict=True)]


ATOMS = listed_atoms()


class Misplaced:
    """An enumeration that knows its places roughly: all atoms within the slack stand on the wrong side."""

    bits, dropped = 160, arb(0)

    def __init__(self, slack: arb, direction: int) -> None:
        self.slack, self._edge = slack, direction * slack.upper() * arb("0.999")

    def lines(self, z: arb) -> tuple[arb, arb]:
        held = [(value, chance) for value, chance in ATOMS if value > z + self._edge]
        above = sum((chance for _, chance in held), arb(0))
        return above, sum((chance * (-value).exp() for value, chance in held), arb(0))


PLACES = [0.5, 0.11, *[float(ATOMS[0][1]) * gap for gap in (0.002, 0.008, 0.02)]]
"""Values of t: for the last ones no value but the largest is above the root, and that by less than the slack."""


def stands(finder: ModuleType, direction: int, t: float) -> bool:
    """Whether the root holds though atoms stand on the wrong side, also where the slack is known roughly."""
    several = [Misplaced(slack, direction) for slack in (arb(0.01), arb(0.01, 0.006))]
    return all(proves(finder, atoms, arb(t), 2.0) and covers(finder, atoms) for atoms in several)


def covers(finder: ModuleType, atoms: Misplaced) -> bool:
    """Whether the upper bound is above the excess, all over and where an atom is just about on the wrong side."""
    worst = [(value + arb("1.99") * atoms.slack.upper()).mid() for value, _ in ATOMS]
    places = [arb(step) / 64 for step in range(170)] + worst
    truth = [sum((p * (1 - (y - value).exp()) for value, p in ATOMS if value > y), arb(0)) for y in places]
    with working(300):
        return not any(finder._upper(atoms, y) < true for y, true in zip(places, truth, strict=True))


@pytest.mark.parametrize("direction", [-1, 1])
@pytest.mark.parametrize("t", PLACES)
def test_atoms_on_the_wrong_side_never_falsify_the_answer(direction: int, t: float) -> None:
    assert stands(lines, direction, t)


_ABOVE, _BELOW = "if _height(self._atoms.lines(y), y) >= self._t:", "if _upper(self._atoms, y) <= self._t else"
MUTATIONS = [
    ("lines", _ABOVE, "if _height(self._atoms.lines(y), y) >= self._t.lower():"),
    ("lines", _ABOVE, "if _height(self._atoms.lines(y), y).upper() >= self._t:"),
    ("lines", _ABOVE, "if not _height(self._atoms.lines(y), y) < self._t:"),
    ("lines", _BELOW, "if _upper(self._atoms, y) <= self._t.upper() else"),
    ("lines", _BELOW, "if not _upper(self._atoms, y) > self._t.mid() else"),
    ("lines", "+ atoms.dropped).upper()", "+ atoms.dropped).lower()"),
    ("lines", "+ atoms.dropped).upper()", "+ atoms.dropped).mid()"),
    ("lines", "arb(0), top.upper(), climb", "arb(0), (top / 2).upper(), climb"),
    ("lines", "(y - atoms.slack).lower()", "(y + atoms.slack).lower()"),
    ("lines", "(y - atoms.slack).lower()", "(y - atoms.slack).upper()"),
    ("lines", "(y - atoms.slack).lower()", "y.lower()"),
    ("lines", "+ atoms.slack.expm1() *", "- atoms.slack.expm1() *"),
    ("lines", " + atoms.slack.expm1() * line[0]", ""),
]  # fmt: skip
"""Each turns one direction of rounding round."""


def mutated(module: str, before: str, after: str) -> ModuleType:
    """The module with one line changed."""
    path = Path(sys.modules[f"optcomp.numerics.{module}"].__file__ or "")
    source = path.read_text(encoding="utf-8")
    assert source.count(before) == 1, before
    spec = importlib.util.spec_from_loader("mutant", loader=None)
    assert spec is not None
    mutant = importlib.util.module_from_spec(spec)
    sys.modules["mutant"] = mutant
    exec(compile(source.replace(before, after), str(path), "exec"), mutant.__dict__)
    return mutant


def survives(finder: ModuleType) -> bool:
    """Whether a finder passes all that the real one passes."""
    try:
        return all(
            holds(finder, corner, t, *blurs)
            for corner in CORNERS
            for t in (0.11, 0.01, 0.3)
            for blurs in ((1e-4, 0.0), (0.0, 1e-4))
        ) and all(stands(finder, direction, t) for direction in (-1, 1) for t in PLACES)
    except ArithmeticError:
        return False


def test_the_finder_itself_survives() -> None:
    assert survives(lines)


@pytest.mark.parametrize(("module", "before", "after"), MUTATIONS)
def test_every_rounding_turned_round_is_noticed(module: str, before: str, after: str) -> None:
    assert not survives(mutated(module, before, after))


SIGNS = [
    ("if difference >= 0:", "if not difference < 0:"),
    ("return Side.LEFT if difference <= 0 else", "return Side.LEFT if not difference > 0 else"),
    ("self.low = place if place > self.low else self.low", "self.low = self.low"),
]


def decided(finder: ModuleType) -> bool:
    """Whether balls around a falling line give ends that hold and are as near as the balls allow."""
    return all(_decided(finder, blur, shift) for blur in (0.0, 1e-3) for shift in (-1, 1))


def _decided(finder: ModuleType, blur: float, shift: int) -> bool:
    root, asked = 2.0 + 2.0**-40, iter(range(1000))

    def side(y: float) -> object:
        if next(asked, None) is None:
            raise ArithmeticError("it does not end")
        return finder.side_of(arb(root) - arb(y) + arb(shift * blur, blur * 1.0001))

    try:
        low, high = finder.float_root(side)
    except ArithmeticError:
        return False
    return bool(low <= root <= high and high - low <= 4 * blur + 2**-50)


def test_signs_of_balls() -> None:
    assert decided(roots)


@pytest.mark.parametrize(("before", "after"), SIGNS)
def test_every_sign_turned_round_is_noticed(before: str, after: str) -> None:
    assert not decided(mutated("roots", before, after))


TOLD = [
    ("high = math.nextafter(high, math.inf)", "pass"),
    ("high = math.nextafter(high, math.inf)", "high = math.nextafter(high, 0.0)"),
    ("low = math.nextafter(low, 0.0)", "pass"),
    ("low = math.nextafter(low, 0.0)", "low = math.nextafter(low, math.inf)"),
]


def told(finder: ModuleType) -> bool:
    """Whether the ends hold as floats and as decimals, for roots between a float and its own decimal."""
    return all(
        _told(finder, (Fraction(value) + Fraction(repr(value))) / 2) for value in (0.1, 0.3, 0.7, 1.1, 2.9, 1e-5)
    )


def _told(finder: ModuleType, root: Fraction) -> bool:
    low, high = finder.told_root(lambda place: finder.Side.RIGHT if Fraction(place) <= root else finder.Side.LEFT)
    decimals = Fraction(repr(low)) <= root <= Fraction(repr(high))
    return bool(decimals and low <= root <= high and high - low <= 2 * math.ulp(high))


def test_ends_are_told_truly() -> None:
    assert told(roots)


@pytest.mark.parametrize(("before", "after"), TOLD)
def test_every_step_to_a_true_decimal_is_noticed(before: str, after: str) -> None:
    assert not told(mutated("roots", before, after))


MARGINS = [
    ("return lambda sides: target.log_t[0] - sides.most", "return lambda sides: target.log_t[1] - sides.most"),
    ("return lambda sides: target.log_t[0] - sides.most", "return lambda sides: target.log_t[0] - sides.least"),
    ("return lambda sides: sides.least - target.log_t[1]", "return lambda sides: sides.least - target.log_t[0]"),
    ("return lambda sides: sides.least - target.log_t[1]", "return lambda sides: sides.most - target.log_t[1]"),
    ("return lambda sides: sides.least - target.log_rest[1]", "return lambda sides: sides.most - target.log_rest[1]"),
    ("return lambda sides: target.log_rest[0] - sides.most", "return lambda sides: target.log_rest[0] - sides.least"),
    ("return lambda sides: sides.least - target.log_rest[1]", "return lambda sides: sides.least - target.log_rest[0]"),
    ("return lambda sides: target.log_rest[0] - sides.most", "return lambda sides: target.log_rest[1] - sides.most"),
]  # fmt: skip


def contour_holds(finder: ModuleType) -> bool:
    """The contour's root, and all its proofs nearby, for a blurred t or a coarse integral, above and below one half."""
    sizes = [0.5 + 0.03 * i for i in range(14)]
    truth = Halves([(x, 0.0, 1) for x in sizes])
    source = CoinSource(coins_of(read_parts(sizes), +1))
    return all(
        _contour_holds(finder, source, truth, t, blur, rtol)
        for t in (0.02, 0.2, 0.7)
        for blur, rtol in ((2e-2, 1e-6), (1e-9, 3e-2))
    )


def _contour_holds(finder: ModuleType, source: CoinSource, truth: Truth, t: float, blur: float, rtol: float) -> bool:
    low, high = t * (1 - blur), t * (1 + blur)
    goal = finder.Goal((math.log(low), math.log(high)), (math.log1p(-high), math.log1p(-low)))
    found, made = finder.excess_root(source, goal, rtol, 1e6)
    gap = found.upper - found.lower
    places = np.linspace(max(found.lower - gap, 1e-9), found.upper + gap, 99).tolist()
    sides = [(place, made.integral.sides(place)) for place in places]
    above, below = finder._above(made.integral.plan, goal), finder._below(made.integral.plan, goal)
    return (
        truth.at_least(found.lower, high)
        and truth.at_most(found.upper, low)
        and all(truth.at_most(place, low) for place, both in sides if above(both) >= 0)
        and all(truth.at_least(place, high) for place, both in sides if below(both) >= 0)
    )


def test_the_contour_knows_t_between_two_numbers() -> None:
    assert contour_holds(bracket)


@pytest.mark.parametrize(("before", "after"), MARGINS)
def test_every_margin_turned_round_is_noticed(before: str, after: str) -> None:
    assert not contour_holds(mutated("contour.bracket", before, after))


@pytest.mark.parametrize("proposals", [(1.0, 3.0), (1.0, 2.0, 3.0), (6.0, 5.0), (1.0, 6.0, 3.0, 5.0)])
def test_undecided_places_beyond_a_proved_end_do_not_keep_the_search_going(proposals: tuple[float, ...]) -> None:
    """Less is known at some places than beyond them: the root is between 3 and 5, and nothing is proved near 1 or 6."""
    looked: list[float] = []

    def side(place: float) -> Side:
        looked.append(place)
        assert len(looked) < 200
        if 0.5 < place < 2.9 or place > 5.1:
            return Side.UNDECIDED
        return Side.RIGHT if place <= 4 else Side.LEFT

    low, high = certified_root(side, 0.0, 10.0, proposals, _middle)
    assert 3.9 < low <= 4 <= high < 4.1


def _middle(low: float, high: float) -> float | None:
    return 0.5 * (low + high) if high - low > 0.01 else None


def test_a_list_whose_first_places_are_undecided_is_answered() -> None:
    """A cap on the work leaves places undecided before one that is proved."""
    asked = question("middle", 500077)
    bound = contour_epsilon(read_parts(counts(asked)), Fraction(asked.delta), Effort(asked.rtol, asked.work))[0]
    assert asked.truth is not None
    assert encloses(asked.truth, bound)
