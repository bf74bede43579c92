"""Every error term of labelled rounds and of giants: left out, some side is false; left in, none is."""

from __future__ import annotations

import math
from collections.abc import Callable
from functools import cache
from types import ModuleType

import numpy as np
import pytest
from flint import arb

from optcomp.numerics.contour import Independent
from optcomp.numerics.laws import MixedNormalLaw
from optcomp.theorems import labels
from optcomp.theorems.label_guess import Ends
from optcomp.theorems.labels import Joint, Labelled
from tests.mutants import put_mutant
from tests.oracles.truth import working
from tests.unit.numerics.contour.test_some_middle_mutations import Points
from tests.unit.theorems.test_labels import labelled_of, laws_of, plain

BITS = 300


def one_round(y: float, end: float, power: float) -> Callable[[], bool]:
    """Whether what is said of a giant among one round holds in closed form."""
    law = MixedNormalLaw(1.0, 0.1, "towards")

    def held() -> bool:
        low, high = Labelled([(law, 1)], Ends((end,), (end,), power)).giants(y)
        with working(BITS):
            place = law._crossing(arb(y))
            assert place is not None
            place = place.max(arb(end))
            normal, shifted = (((place - mean) / arb(2).sqrt()).erfc() / 2 for mean in (0, 1))
            truth = ((1 - arb(0.1)) * normal + arb(0.1) * shifted - arb(y).exp() * normal).log()
            return bool(arb(low) <= truth and truth <= arb(high))

    return held


@cache
def some_giant(mu: float, q: float, rounds: int, y: float, end: float) -> float:
    """E[(1 - e^{y-L})_+; some x > end] from many points, within a thousandth."""
    width, grid = 0.01, 2.0**-11
    x = np.arange(-8.0, 9.0, width) + 0.5 * width
    loss = np.log1p(q * np.expm1(mu * x - 0.5 * mu**2))
    mass = width * np.exp(-0.5 * x * x + loss) / math.sqrt(2 * math.pi)
    place = np.rint(loss / grid).astype(np.int64)
    size = int(place.max() - place.min()) + 1
    powers = []
    for chosen in (x < 99.0, x <= end):
        one = np.bincount((place - place.min())[chosen], mass[chosen], size)
        length = rounds * size
        powers.append(np.fft.irfft(np.fft.rfft(one, length) ** rounds, length))
    sums = grid * (np.arange(rounds * size) + rounds * int(place.min()))
    return float(((powers[0] - powers[1]) * np.maximum(-np.expm1(y - sums), 0.0)).sum())


def several_rounds(q: float, rounds: int, y: float, end: float, power: float) -> Callable[[], bool]:
    """The same among several, to a hundredth: losses of the others may take a giant back."""

    def held() -> bool:
        low, high = Labelled([(MixedNormalLaw(1.0, q, "towards"), rounds)], Ends((end,), (end,), power)).giants(y)
        truth = some_giant(1.0, q, rounds, y, end)
        return math.exp(low) <= 1.01 * truth and math.exp(high) >= 0.99 * truth

    return held


def rounded_sums(tops: tuple[float, ...]) -> Callable[[], bool]:
    """Whether sums of exponentials lie between the sides that are said, for sizes about e^top."""

    def held() -> bool:
        for top in tops:
            for apart in (0.3, 0.7, 1.1, 5.0, 30.0):
                logs = [top, top - apart, top - 2 * apart]
                with working(BITS):
                    truth = sum((arb(log).exp() for log in logs), arb(0)).log()
                    if not (arb(labels._log_sum(logs, -1)) <= truth <= arb(labels._log_sum(logs, +1))):
                        return False
        return True

    return held


def reached(c: float) -> arb:
    """log κ(c), κ = c^c/(1+c)^{1+c} the largest (1 - e^{-z})e^{-cz}."""
    return arb(c) * arb(c).log() - (1 + arb(c)) * (1 + arb(c)).log()


def chernoff(points: Points, count: int) -> Callable[[], bool]:
    """Whether log κ(c)M(c) is bounded for several tilts."""

    def held() -> bool:
        source = Independent([(points, count)], math.inf)
        for tilt in (0.125, 0.3, 1.0, 2.7, 9.0, 33.0):
            c, most = labels._chernoff(source, tilt)
            with working(BITS):
                if not reached(c) + count * points.moment(c, 0.0).real.log() <= arb(most):
                    return False
        return True

    return held


def negligible(log_most: float, tilt: float) -> Callable[[], bool]:
    """Whether the bound is not smaller at any y than what it was made from."""

    def held() -> bool:
        bound = labels._negligible(tilt, log_most)
        ys = (0.1, 0.3, 0.7, 1.1, 1.3)
        with working(BITS):
            return all(arb(log_most) - arb(tilt) * arb(y) <= arb(bound(y).most) for y in ys)

    return held


def above_y() -> bool:
    """Whether F is not said to be small where most of it is rounds without a label that lie above y."""
    law, y = MixedNormalLaw(2.0, 0.5, "towards"), 1.0
    with working(BITS):  # 1 - F is E min(1, e^{y-L}), at most E e^{(y-L)/2}
        rest = (500 * law.log_mean(-0.5) + arb(y) / 2).exp()
        assert rest < 1e-9
    with np.errstate(all="ignore"):
        labelled = Labelled([(law, 500)], Ends((6.0,), (7.0,), 4.0))
        made = labels._joint(labelled, y, 0.0, lambda c: 1e-6 / abs(c), 1e9)
        return made is None or made.integral.sides(y).most >= math.log1p(-1e-9)


def joint(ends: tuple[float, float]) -> Callable[[], bool]:
    """Whether parts and giants together enclose what the plain contour proves."""
    laws, y = laws_of(1.0, 0.01, 500), 1.2

    def held() -> bool:
        truth = plain(laws, y)
        with np.errstate(all="ignore"):
            made = labels._joint(labelled_of(laws, ends), y, truth.upper, lambda c: 1e-9 / c, 1e9)
        assert made is not None
        sides = made.integral.sides(y)
        return sides.least <= truth.upper and sides.most >= truth.lower

    return held


FULL = Points([(0.0, 1.0)])
CLOSE = [one_round(0.1 * step, 5.0, 1000.0) for step in range(1, 9)]
"""A giant that nothing can take back: both sides are next to the truth."""
Term = tuple[str, type | ModuleType, str, str, str, list[Callable[[], bool]]]
"""A name, where a function lives, the function, what it says of a term and without it, and where that matters."""
TERMS: list[Term] = [
    ("mass of the other", Labelled, "giants", "own - arb(y).exp() * other", "own", [one_round(0.5, 2.0, 4.0)]),
    ("taken back", Labelled, "giants", " + arb(y).exp() * self._taken_back(y)", "", [one_round(0.2, 1.5, 4.0)]),
    ("rounded down", Labelled, "giants", "float_down(sure.log())", "float(sure.log().mid())", CLOSE),
    ("rounded up", Labelled, "giants", "float_up(most.log())", "float(most.log().mid())", CLOSE),
    ("other rounds", Labelled, "_taken_back", "(power - arb", "(-arb", [several_rounds(0.5, 5, 1.0, 3.0, 10.0)]),
    ("copies", Labelled, "_others", "count * tails", "tails", [several_rounds(0.2, 20, 0.2, 2.0, 3.0)]),
    ("giants, lower side", Joint, "sides", " + [giants[0]], -1", " + [giants[1]], -1", [joint((2.5, 2.75))]),
    ("giants, upper side", Joint, "sides", " + [giants[1]], +1", ", +1", [joint((3.0, 6.0))]),
    ("sum near 1", labels, "_log_sum", "(4 + abs(top))", "abs(top)", [rounded_sums((0.0, 1e-3))]),
    ("sum far from 1", labels, "_log_sum", "(4 + abs(top))", "4", [rounded_sums((-700.3, -650.1))]),
    ("error of K", labels, "_chernoff", "value + error + ", "value + ", [chernoff(Points([(0.1, 0.9)], 0, -1e-6), 1)]),
    ("K near 0", labels, "_chernoff", "(1 + abs(value))", "abs(value)", [chernoff(FULL, 1)]),
    ("large K", labels, "_chernoff", "(1 + abs(value))", "1", [chernoff(Points([(0.1, 0.3)]), 10**13)]),
    ("large bound", labels, "_negligible", "abs(log_most) + ", "", [negligible(-1.1e12, 0.7)]),
    ("large tilt", labels, "_negligible", " + tilt * y)", ")", [negligible(-1.1, 0.7e12)]),
    ("tilts below 0", labels, "_joint", "if not saddle.excess:", "if False:", [above_y]),
]


@pytest.mark.parametrize("term", TERMS, ids=[name for name, *_ in TERMS])
def test_terms(term: Term, monkeypatch: pytest.MonkeyPatch) -> None:
    """What is said holds with the term, and somewhere not without it."""
    _, owner, name, text, without, cases = term
    assert all(held() for held in cases)
    put_mutant(monkeypatch, owner, name, (text, without))
    assert not all(held() for held in cases)
