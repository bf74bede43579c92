"""Several sums at once: every row holds the truth, and would not if one of its errors were left out."""

from __future__ import annotations

import math
from dataclasses import replace
from typing import Any

import numpy as np
import pytest
from flint import arb

import optcomp.numerics.contour.kept as kept_module
from optcomp.guarantees import Gaussian
from optcomp.numerics import SUM_BITS, precision
from optcomp.numerics.blocked import Floats
from optcomp.numerics.contour import Independent, KeptContour, aim_at
from optcomp.numerics.contour.several import Mean, Several
from optcomp.numerics.laws import NormalLaw
from optcomp.numerics.laws.law import Waves

ONE, OTHER = Gaussian(10).laws[0], Gaussian(7).laws[0]
COPIES = np.array([[100.0, 0.0], [130.0, 7.0], [250.0, 0.0], [380.0, 3.0]])
PLACES = np.array([4.0, 4.5, 6.0, 9.0])


@pytest.fixture(autouse=True)
def _quiet() -> object:
    """As where it is used: what overflows proves nothing, and says so."""
    with np.errstate(all="ignore"):
        yield


def contour(rtol: float = 1e-9) -> KeptContour:
    laws = [(ONE, 100)]
    then = Independent([(ONE, 400)], math.inf)
    made = KeptContour.made(laws, then, aim_at(Independent(laws, math.inf), then, 4.0, rtol), 0.7, 1e9)
    assert made is not None
    return made


def law_of(copies: Floats) -> NormalLaw:
    """The sum of normal losses, whose variances add up."""
    variance = sum((arb(n) * law.variance() for law, n in zip((ONE, OTHER), copies.tolist(), strict=True)), arb(0))
    return NormalLaw(lambda: variance)


def truths(copies: Floats, places: Floats) -> list[arb]:
    with precision(SUM_BITS):
        return [law_of(row).excess(y).log() for row, y in zip(copies, places.tolist(), strict=True)]


def held(made: Several, copies: Floats = COPIES, places: Floats = PLACES) -> list[bool]:
    """In which rows the truth lies between both sides."""
    found = made.levels(places)
    with precision(SUM_BITS):
        return [
            bool(arb(low) <= truth and truth <= arb(high))
            for low, truth, high in zip(found.least.tolist(), truths(copies, places), found.most.tolist(), strict=True)
        ]


def test_every_row_holds_the_truth_and_is_narrow() -> None:
    several = contour().several([ONE, OTHER], COPIES)
    assert several is not None
    assert held(several) == [True] * 4
    found = several.levels(PLACES)
    assert (found.most - found.least)[[0, 2]].max() < 1e-8


def test_rows_are_what_one_sum_alone_is() -> None:
    made = contour()
    several = made.several([ONE], COPIES[:, :1])
    assert several is not None
    found = several.levels(PLACES)
    for row, (copies, y) in enumerate(zip(COPIES[:, 0].tolist(), PLACES.tolist(), strict=True)):
        laws = [(ONE, int(copies))]
        alone = made.anchor(laws, made.means(laws), math.inf, y).integral.sides(y)
        assert found.middle[row] == pytest.approx(alone.middle, abs=1e-9)
        assert found.slope[row] == pytest.approx(alone.slope, rel=1e-9)
        assert found.least[row] <= alone.most
        assert alone.least <= found.most[row]


def test_roots_are_proved_by_the_closed_form() -> None:
    several, t = contour().several([ONE, OTHER], COPIES), 1e-5
    assert several is not None
    lower, upper = several.roots((math.log(t) * (1 + 1e-16), math.log(t) * (1 - 1e-16)), np.full(4, 3.0))
    with precision(SUM_BITS):
        for row, low, high in zip(COPIES, lower.tolist(), upper.tolist(), strict=True):
            assert law_of(row).excess(low) >= t
            assert law_of(row).excess(high) <= t
            assert high - low < 1e-9 * high


@pytest.mark.parametrize("step", [1.0, 40.0])
def test_many_roots_at_once_are_proved_by_the_closed_form(step: float) -> None:
    """Those between a few rows start from a curve through them, for rows near each other and far from each other."""
    copies, t = np.array([[100.0 + step * row] for row in range(60)]), 1e-5
    several = contour(1e-6).several([ONE], copies)
    assert several is not None
    lower, upper = several.roots((math.log(t) * (1 + 1e-16), math.log(t) * (1 - 1e-16)), np.full(60, 3.0), 1e-8)
    proved = np.isfinite(upper)
    assert proved[:20].all()
    with precision(SUM_BITS):
        for (count,), low, high in zip(copies[proved], lower[proved].tolist(), upper[proved].tolist(), strict=True):
            law = law_of(np.array([count, 0.0]))
            assert law.excess(low) >= t
            assert law.excess(high) <= t
    assert (upper - lower)[:20].max() < 1e-6 * upper[0]


def test_a_bad_start_is_no_harm() -> None:
    copies = np.array([[100.0 + row] for row in range(40)])
    several = contour().several([ONE], copies)
    assert several is not None
    goal = math.log(1e-5)
    for start in (1e-3, 3.0, 200.0):
        lower, upper = several.roots((goal, goal), np.full(40, start))
        with precision(SUM_BITS):
            for (count,), low, high in zip(copies, lower.tolist(), upper.tolist(), strict=True):
                law = law_of(np.array([count, 0.0]))
                assert math.isnan(low) or (law.excess(low).log() >= goal and law.excess(high).log() <= goal)


def test_nodes_that_hardly_count_are_left_out_and_counted(monkeypatch: pytest.MonkeyPatch) -> None:
    """Later sums need fewer nodes; what was left out is added to the error, and the truth is lost without it."""
    made, copies, places = contour(), np.array([[380.0], [400.0]]), np.array([9.0, 9.5])
    rows = np.hstack((copies, np.zeros_like(copies)))
    usual = made.several([ONE], copies)
    assert usual is not None
    assert usual._theta.size < made.size
    assert held(usual, rows, places) == [True, True]
    assert made.room([(ONE, 380)]) > made.room([(ONE, 100)])
    monkeypatch.setattr(kept_module, "_FAINT", 1e9)
    rough = made.several([ONE], copies)
    assert rough is not None
    assert rough._theta.size < usual._theta.size
    assert held(rough, rows, places) == [True, True]
    rough._near = made._nodes.near
    assert held(rough, rows, places) != [True, True]


def test_a_node_that_is_not_known_counts_whole() -> None:
    _, given = parts()
    wave: Waves = given["waves"][0]
    lost = np.where(np.arange(wave.error.size) == 3, math.inf, 0.0)
    unknown = replace(wave, log_size=wave.log_size - (lost > 0), error=wave.error + lost)
    assert is_held({**given, "waves": [unknown]})
    assert not is_held({**given, "waves": [replace(unknown, error=wave.error)]})


def test_what_has_no_root_is_not_proved() -> None:
    """At y = 0 the excess is far below the goal: there is no place with more of it."""
    several = contour().several([ONE], np.array([[100.0]]))
    assert several is not None
    lower, upper = several.roots((-0.1, -0.1), np.ones(1))
    assert np.isnan(lower).all()
    assert np.isnan(upper).all()


def test_below_is_what_the_closed_form_says() -> None:
    several, copies, places = contour().several([ONE], COPIES[:, :1]), COPIES * [1, 0], PLACES
    assert several is not None
    for log in (-9.0, -12.0, -20.0):
        with precision(SUM_BITS):
            assert several.below(places, log).tolist() == [bool(truth < log) for truth in truths(copies, places)]


def parts() -> tuple[Several, dict[str, Any]]:
    """One normal law with its nodes, and what such a row is made of."""
    made = contour()
    waves, plan = made._of(ONE), made.plan
    with precision(SUM_BITS):
        means = tuple(
            Mean(c, np.array([float(ONE.log_mean(c).mid())]), np.array([1e-18]))
            for c in (plan.tilt, plan.above, plan.below)
        )
    given: dict[str, Any] = {
        "plan": plan,
        "theta": made._nodes.theta,
        "near": made._nodes.near,
        "waves": [waves.waves],
        "means": means,
        "copies": np.array([[100.0]]),
    }
    return Several(**given), given


def is_held(given: dict[str, Any]) -> bool:
    return held(Several(**given), COPIES[:1], PLACES[:1])[0]


def test_each_error_is_needed() -> None:
    """What is wrong by as much as its error says is still true, and is not if that error is forgotten."""
    made, given = parts()
    assert held(made, COPIES[:1], PLACES[:1]) == [True]
    wave: Waves = given["waves"][0]
    off = 1e-9 * np.ones_like(wave.error)
    for name in ("log_size", "angle"):
        moved = replace(wave, **{name: getattr(wave, name) - off * np.sign(given["theta"])})
        assert is_held({**given, "waves": [replace(moved, error=wave.error + off)]})
        assert not is_held({**given, "waves": [moved]})
    here: Mean = given["means"][0]
    for sign in (-1, 1):
        moved_mean = replace(here, value=here.value + sign * 1e-9)
        rest = given["means"][1:]
        assert is_held({**given, "means": (replace(moved_mean, error=np.array([1e-9])), *rest)})
        assert not is_held({**given, "means": (moved_mean, *rest)})


def test_nodes_left_out_are_counted() -> None:
    _, given = parts()
    theta, wave = given["theta"], given["waves"][0]
    kept = theta.size - 12
    cut = Waves(wave.centre, *(column[:kept] for column in (wave.log_size, wave.angle, wave.error, wave.log_most)))
    plan = given["plan"]
    size = np.exp(100 * wave.log_size[kept:]) / np.abs((plan.tilt + 1j * theta[kept:]) ** 2)
    lost = 1.1 * float(size.sum()) * plan.step / math.pi + given["near"]
    short = {**given, "theta": theta[:kept], "waves": [cut]}
    assert is_held({**short, "near": lost})
    assert not is_held({**short, "near": 0.0})


def test_aliasing_is_counted() -> None:
    """With every third node only, the sum is that of places far too near to each other."""
    _, given = parts()
    wave, plan = given["waves"][0], given["plan"]
    cut = Waves(wave.centre, *(column[::3] for column in (wave.log_size, wave.angle, wave.error, wave.log_most)))
    wide = {**given, "plan": replace(plan, step=3 * plan.step), "theta": given["theta"][::3], "waves": [cut]}
    several = Several(**wide)
    assert held(several, COPIES[:1], PLACES[:1]) == [True]
    several._aliasing = np.zeros_like  # type: ignore[method-assign, assignment]
    assert held(several, COPIES[:1], PLACES[:1]) == [False]


def test_round_off_grows_with_the_place_and_the_nodes() -> None:
    made, _ = parts()
    assert (made._off >= (made._theta.size + 100) * 2.0**-53 * made._terms.sum(axis=1)).all()
    assert (made._off_by_place >= 8 * 2.0**-53 * (made._terms @ made._theta)).all()


def test_smoothing_and_one_minus_the_excess_are_left_to_others() -> None:
    _, given = parts()
    for wrong in ({"smoothing": 1e-6}, {"excess": False}):
        with pytest.raises(ArithmeticError, match="several"):
            Several(**{**given, "plan": replace(given["plan"], **wrong)})
    made = contour()
    assert made.several([ONE], np.ones((10**6, 1))) is None
