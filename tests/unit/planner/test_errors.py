"""The errors that plans state, against the laws of the discrete noise and the formulas of released answers."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator, Sequence
from fractions import Fraction
from functools import cache
from itertools import accumulate, product
from typing import Any

import numpy as np
import pytest
from flint import arb
from hypothesis import assume, example, given, settings
from hypothesis import strategies as st

from optcomp.errors import InvalidInput
from optcomp.planner.errors import LEAST_BUDGET, MOST_BUDGET, ErrorModel, short_up
from optcomp.statistics import (
    CDF,
    Categories,
    Contingency,
    Count,
    Declared,
    Histogram,
    Integers,
    Mean,
    Median,
    Quantiles,
    Reals,
    Regression,
    Statistic,
    Sum,
    Variance,
)
from optcomp.statistics.domains import MOST_UNITS, Numbers
from optcomp.statistics.joint_noise import Noises, together
from optcomp.statistics.noise import added, noise_named
from optcomp.statistics.noise.laplace import laplace_sum_reach
from optcomp.statistics.variance import FOR_SQUARE, VarianceError
from tests.oracles.released import Law, Rows, least_error, mean_off, variance_off
from tests.oracles.truth import real, working
from tests.unit.statistics.people import Changing

BITS = 160
TABLE = Declared(
    {
        "few": Integers(0, 4),
        "digit": Integers(0, 9),
        "skew": Integers(-3, 40),
        "fine": Reals(0, 10, unit="1/4"),
        "coarse": Reals(0, 10, unit=4),
        "wide": Reals(-1000, 1000),
        "kind": Categories(["a", "b"]),
    }
)
MANY = Declared(TABLE.columns, person="id", rows_per_person=3, neighbours="replace")
NOISES: tuple[str, ...] = ("laplace", "gaussian")
CONFIDENCES = [0.3, 0.5, 0.9, 0.95, 0.99, 0.9999]


def model(
    statistic: Statistic,
    mechanism: str,
    rows: int | None = None,
    confidence: float = 0.95,
    table: Declared = TABLE,
) -> ErrorModel:
    return ErrorModel(statistic, table, noise_named(mechanism), rows, confidence)


def laws(of: ErrorModel, budget: Fraction) -> list[Law]:
    """From the sensitivities and shares alone."""
    found = []
    for part in of.parts:
        spent = budget * part.share
        gaussian = of.noise.name == "gaussian"
        found.append(Law(gaussian, math.sqrt(part.l2_squared / (2 * spent)) if gaussian else float(part.l1 / spent)))
    return found


COUNTED: list[tuple[Statistic, Fraction, int]] = [
    (Count(), Fraction(1), 1),
    (Sum("few"), Fraction(1), 1),
    (Sum("fine"), Fraction(1, 4), 1),
    (Histogram("kind"), Fraction(1), 3),
    (Histogram("digit"), Fraction(1), 11),
    (Contingency(("kind", "few")), Fraction(1), 18),
]


@pytest.mark.parametrize("table", [TABLE, MANY])
@pytest.mark.parametrize("mechanism", NOISES)
@pytest.mark.parametrize(("statistic", "unit", "cells"), COUNTED)
def test_counts_and_sums_state_the_least_error_that_holds(
    statistic: Statistic, unit: Fraction, cells: int, mechanism: str, table: Declared
) -> None:
    for budget in (Fraction(3, 2), Fraction(7)):
        for confidence in CONFIDENCES:
            found = model(statistic, mechanism, None, confidence, table)
            (law,) = laws(found, budget)
            t = Fraction(found.error(budget)) / unit
            assert t.denominator == 1
            with working(BITS):
                assert law.within(int(t)) ** cells >= real(confidence)
                assert t == 0 or law.within(int(t) - 1) ** cells < real(confidence)


def test_counts_by_hand() -> None:
    """P(X = 0) is 1/3 and P(|X| <= 1) is 2/3 for e^{-1/s} = 1/2."""
    budget = short_up(math.log(2))
    for confidence, error in ((0.33, 0), (0.34, 1), (0.66, 1), (0.67, 2)):
        assert model(Count(), "laplace", None, confidence).error(budget) == error


def extremes(column: str, statistic: Statistic, rows: int) -> Iterator[Rows]:
    """At one end, at both, in the middle, and a few rows away from the end, so that no bound holds the answer back."""
    domain: Numbers = TABLE.domain(column, Numbers)
    unit = statistic.parts(TABLE)[1].unit
    coarse = domain.around_middle(2**11 if isinstance(statistic, Variance) else MOST_UNITS)
    assert coarse.unit == unit
    low, high = coarse.low, coarse.high
    for below in sorted({0, rows // 100, rows // 20, rows // 5, rows // 2, rows}):
        yield Rows((low,) * below + (high,) * (rows - below), unit, domain.middle, domain.low, domain.high)
    yield Rows((0,) * rows, unit, domain.middle, domain.low, domain.high)


RATIOS: list[tuple[type[Mean] | type[Variance], Callable[[Rows, Sequence[Law], float], float]]] = [
    (Mean, mean_off),
    (Variance, variance_off),
]


@pytest.mark.parametrize("mechanism", NOISES)
@pytest.mark.parametrize(("kind", "off"), RATIOS)
@pytest.mark.parametrize("column", ["digit", "skew", "fine", "coarse"])
def test_errors_of_means_and_variances_hold_for_all_data(
    column: str, kind: type[Mean] | type[Variance], off: Callable[..., float], mechanism: str
) -> None:
    checked = 0
    for rows, budget in product((1, 2, 5, 30, 1000), ("0.05", "0.4", "1", "3", "11", "60", "5000", "90000")):
        stated = {c: model(kind(column), mechanism, rows, c) for c in (0.5, 0.95, 0.999)}
        noise = laws(stated[0.5], Fraction(budget))
        if kind is Variance and noise[0].scale * noise[1].scale > 150:
            continue
        for confidence, found in stated.items():
            error = found.error(Fraction(budget))
            worst = max(off(data, noise, error) for data in extremes(column, kind(column), rows))
            assert worst <= 1 - confidence + 1e-11, (rows, budget, confidence, error)
            checked += 1
    assert checked >= 70


@pytest.mark.parametrize(("mechanism", "budget", "loose"), [("laplace", "0.4", 1.12), ("gaussian", "0.1", 1.19)])
@pytest.mark.parametrize(("kind", "off"), RATIOS)
def test_errors_of_means_and_variances_are_near_the_worst_case(
    kind: type[Mean] | type[Variance], off: Callable[..., float], mechanism: str, budget: str, loose: float
) -> None:
    found = model(kind("few"), mechanism, 5000)
    noise, error = laws(found, Fraction(budget)), found.error(Fraction(budget))
    data = list(extremes("few", kind("few"), 5000))[1]
    truth = least_error(lambda e: off(data, noise, e), 0.05, 4.0)
    assert truth <= error <= loose * truth


@pytest.mark.parametrize("mechanism", NOISES)
def test_discrete_noises_together_reach_no_farther_than_continuous_ones_and_their_steps(mechanism: str) -> None:
    kind = added(noise_named(mechanism))
    for scale, other, factor in product((0.05, 0.3, 0.8, 1.5, 6.0), (0.2, 0.7, 1.5, 20.0), (1e-9, 0.3, 1.0, 8.0)):
        noise, more = Law(mechanism == "gaussian", scale), Law(mechanism == "gaussian", other)
        for missed in (0.7, 0.3, 0.05, 1e-3, 1e-6):
            reach = together(kind, [scale, other], [1.0, factor], missed)
            beyond = [np.floor((reach + sign * noise.places) / factor) + 1 for sign in (-1, 1)]
            chance = sum(float(np.dot(noise.chances, more.at_least(each))) for each in beyond)
            assert chance <= missed + 1e-11, (scale, other, factor, missed)


@pytest.mark.parametrize("mechanism", NOISES)
def test_means_that_no_bounds_hold_back(mechanism: str) -> None:
    """The mean inside a variance; where no row seems to be left is counted apart."""
    far = Fraction(10**9)
    for rows, budget, missed in product((3, 20, 200), (Fraction(1, 2), Fraction(2), Fraction(9)), (0.3, 0.05, 1e-3)):
        found = model(Variance("digit"), mechanism, rows)
        noise = laws(found, budget)
        kind = added(noise_named(mechanism))
        empty, none = kind.below_one(noise[0].scale, rows), noise[0].at_least(np.array([float(rows)]))[0] - 1e-13
        assert none <= empty <= 1
        scales = tuple(law.scale for law in noise)
        assert isinstance(found.stated, VarianceError)
        error = found.stated._unbounded(Noises(kind, scales, 1 - missed / FOR_SQUARE))
        for data in extremes("digit", Variance("digit"), rows):
            loose = Rows(data.steps, data.unit, data.middle, -far, far)
            assert error >= 5 or mean_off(loose, noise[:2], error) <= missed + empty + 1e-11


def test_few_rows_get_the_whole_range_and_large_budgets_next_to_nothing() -> None:
    for mechanism in NOISES:
        assert model(Mean("digit"), mechanism, 2).error(Fraction(1, 100)) == 9
        assert model(Variance("fine"), mechanism, 2).error(Fraction(1, 100)) == 25
        for statistic in (Mean("digit"), Variance("digit"), Mean("coarse")):
            assert model(statistic, mechanism, 1).error(Fraction(MOST_BUDGET)) == 0


def test_bounds_that_are_far_apart_or_close_together() -> None:
    """Errors scale with the column: nothing overflows, nothing becomes zero."""
    powers = (-300, -200, 0, 200, 300)
    table = Declared({f"c{p}": Reals(0, Fraction(2) ** p) for p in powers})
    for mechanism in NOISES:
        for kind, power in ((Mean, 1), (Variance, 2)):
            errors = {
                p: model(kind(f"c{p}"), mechanism, 1000, table=table).error(Fraction(1)) / 2.0 ** (p * power)
                for p in powers
            }
            assert all(error == pytest.approx(errors[0], rel=1e-9) for error in errors.values())
            assert 1e-3 < errors[0] < 0.1


# Budgets


SMOOTH: list[tuple[Statistic, int | None]] = [
    (Count(), None),
    (Sum("wide"), None),
    (Sum("fine"), None),
    (Histogram("digit"), None),
    (Mean("digit"), 1000),
    (Mean("wide"), 300),
    (Variance("few"), 1000),
    (Variance("wide"), 5000),
]
CHOICES: list[tuple[Statistic, int | None]] = [(Median("skew"), 500), (Quantiles("fine", ["0.1", "0.5"], 40), 900)]
noises = st.sampled_from(NOISES)
budgets = st.floats(-4, 4).map(lambda power: Fraction(short_up(10.0**power)))


@settings(max_examples=100)
@given(st.sampled_from(SMOOTH), noises, budgets, budgets, st.sampled_from(CONFIDENCES))
@example(SMOOTH[4], "gaussian", Fraction(1, 3), Fraction(34, 100), 0.95)
def test_more_budget_never_means_a_larger_error(
    asked: tuple[Statistic, int | None], mechanism: str, first: Fraction, second: Fraction, confidence: float
) -> None:
    found = model(asked[0], mechanism, asked[1], confidence)
    low, high = sorted((first, second))
    more = 1 if asked[1] is None else 1 + 1e-8
    assert found.error(high) <= found.error(low) * more
    assert found.error(low * (1 + Fraction(1, 10**6))) <= found.error(low) * more


@settings(max_examples=30)
@given(st.sampled_from(CHOICES), budgets, budgets, st.sampled_from(CONFIDENCES))
def test_more_budget_never_means_a_worse_choice(
    asked: tuple[Statistic, int | None], first: Fraction, second: Fraction, confidence: float
) -> None:
    found = model(asked[0], "exponential", asked[1], confidence)
    low, high = sorted((first, second))
    assert found.error(high) <= found.error(low)


@settings(max_examples=60)
@given(st.sampled_from(SMOOTH + CHOICES), noises, st.floats(-3, 2), st.sampled_from([0.5, 0.95]))
@example((Count(), None), "laplace", 0.0, 0.95)
@example((Count(), None), "gaussian", -1.0, 0.95)
@example((Sum("fine"), None), "laplace", math.log10(0.75), 0.95)
def test_the_least_budget_for_an_error(
    asked: tuple[Statistic, int | None], mechanism: str, power: float, confidence: float
) -> None:
    found = model(asked[0], "exponential" if asked in CHOICES else mechanism, asked[1], confidence)
    wanted = 10**power
    try:
        budget = found.budget_for(wanted)
    except InvalidInput:
        assert found.error(Fraction(MOST_BUDGET)) > wanted
        return
    assert found.error(budget) <= wanted
    if budget > LEAST_BUDGET * (1 + 1e-6):
        assert found.error(budget * (1 - Fraction(1, 10**6))) > wanted


@pytest.mark.parametrize("statistic", [Count(), Sum("fine"), Histogram("digit")])
def test_the_budget_of_a_step_is_where_the_step_is(statistic: Statistic) -> None:
    """2 e^{-(t+1)/s} / (1 + e^{-1/s}) is what each of d cells may miss; the unit is what the error counts in."""
    part = statistic.parts(TABLE)[0]
    cells, unit = len(part.cells), float(part.unit)
    missed = 1 - 0.95 ** (1 / cells)
    for t in (1, 4, 30):
        budget = float(model(statistic, "laplace").budget_for(t * unit)) / part.l1
        assert 2 * math.exp(-(t + 1) * budget) / (1 + math.exp(-budget)) == pytest.approx(missed, rel=1e-6)


@pytest.mark.parametrize("wanted", [0, -1, 0.0, float("nan"), -math.inf])
def test_errors_must_be_positive(wanted: float) -> None:
    with pytest.raises(InvalidInput, match=r"^error: must be positive"):
        model(Count(), "laplace").budget_for(wanted)


def test_errors_that_no_budget_reaches_are_refused() -> None:
    found = model(Median("fine", 4), "exponential", 100)
    with pytest.raises(InvalidInput, match=r"^error: cannot be reached by any budget for median of fine"):
        found.budget_for(1e-9)
    assert found.error(found.budget_for(5.0)) == pytest.approx(5.0)


@pytest.mark.parametrize("statistic", [Mean("few"), Variance("few"), CDF("few"), Regression("few")])
def test_rows_must_be_known_where_the_error_depends_on_them(statistic: Statistic) -> None:
    with pytest.raises(InvalidInput, match=r"^rows: must be given: the error of .* of few depends on it"):
        ErrorModel(statistic, TABLE, statistic.noises()[0], None, 0.95)


# Sums of Laplace noise


def sum_tail(scales: Sequence[Fraction], c: float) -> arb:
    """P(|ΣY_i| > c) by partial fractions of Π 1/(1 + b_i²t²)."""
    total = arb(0)
    for i, b in enumerate(scales):
        weight = Fraction(1)
        for j, other in enumerate(scales):
            weight *= 1 if i == j else b * b / (b * b - other * other)
        total += real(weight) * (-real(c) / real(b)).exp()
    return total


factors = st.sampled_from([1.0, 1 + 1e-15, 1 + 1e-7, 1.001, 1.003, 1.01, 1.5, 7.0, 1e3, 1e8, 1e16, 1e150])


@settings(max_examples=150)
@given(
    st.lists(factors, min_size=1, max_size=3),
    st.sampled_from([1e-200, 1e-3, 1.0, 300.0, 1e100]),
    st.sampled_from([1e-12, 1e-3, 0.0025, 0.05, 0.5, 0.99]),
)
@example([1.0, 1.0, 1.0], 1.0, 0.99)
@example([1.0, 1.003, 1.003], 1.0, 1e-12)
@example([1.0, 1e150, 1.0], 1e100, 0.05)
def test_sums_of_laplace_noise_reach_no_farther_than_told(ups: list[float], base: float, missed: float) -> None:
    scales = [base]
    for up in ups:
        scales.append(scales[-1] * up)
    assume(scales[-1] < 1e300)
    c = laplace_sum_reach(scales[::-1], missed)
    apart = [Fraction(scale) * (1 + i * Fraction(1, 10**40)) for i, scale in enumerate(scales)]
    with working(1200):
        assert sum_tail(apart, c) <= real(missed)
        assert sum_tail(apart, c * (1 - 0.012)) > real(missed)


@pytest.mark.parametrize("missed", [1e-9, 0.01, 0.05, 0.6])
def test_sums_of_equal_laplace_noise_have_a_simple_tail(missed: float) -> None:
    tails: dict[int, Callable[[float], float]] = {
        1: lambda c: math.exp(-c),
        2: lambda c: (1 + c / 2) * math.exp(-c),
        3: lambda c: (1 + 5 * c / 8 + c * c / 8) * math.exp(-c),
    }
    for size, tail in tails.items():
        c = laplace_sum_reach([2.5] * size, missed) / 2.5
        assert tail(c) <= missed * (1 + 1e-12)
        assert tail(c * (1 - 0.006)) > missed


# Choices


@cache
def evenly(whole: bool) -> Changing:
    """A table that holds nothing yet."""
    domain: Numbers = Integers(3, 27) if whole else Reals(-2, 10)
    return Changing({"v": "BIGINT" if whole else "DOUBLE"}, {"v": domain})


def even_rows(rows: int, *, whole: bool) -> list[float]:
    """In the middle of as many equal pieces of the range; whole numbers are pieces themselves."""
    if whole:
        return [3 + (2 * i + 1) * 25 // (2 * rows) for i in range(rows)]
    return [-2 + 12 * (2 * i + 1) / (2 * rows) for i in range(rows)]


QUANTILES = [
    (Median("v"), True),
    (Quantiles("v", ["0.28"]), True),  # 100 · 0.28 is more than 28 in floats
    (Quantiles("v", ["0.07", "0.28", "0.9"]), True),
    (Median("v", 30), False),
    (Quantiles("v", ["1/4", "0.6"], 11), False),
]


@pytest.mark.parametrize(("statistic", "whole"), QUANTILES)
@pytest.mark.parametrize("rows", [1, 7, 24, 100, 300])
def test_choices_from_evenly_spread_rows_are_off_as_stated(statistic: Quantiles, whole: bool, rows: int) -> None:
    changing = evenly(whole)
    values = even_rows(rows, whole=whole)
    scores = changing.measure(statistic, [(value,) for value in values])
    low, step, _ = statistic.grid(changing.table)
    for epsilon, confidence in product((Fraction(1, 10), Fraction(1), Fraction(8)), (0.6, 0.95)):
        away = list[dict[float, float]]()
        for p, found in zip(statistic.probabilities, scores, strict=True):
            true = sorted(values)[math.ceil(p * rows) - 1] if whole else float(-2 + 12 * p)
            change = len(statistic.probabilities) * max(p.numerator, p.denominator - p.numerator)
            weights = [math.exp((score - max(found)) * float(epsilon) / (2 * change)) for score in found]
            distances = [round(abs(float(low + step * i) - true), 9) for i in range(len(found))]
            away.append({d: chance(weights, distances, d) for d in distances})
        when, error = model(statistic, "exponential", rows, confidence, changing.table).otherwise(epsilon) or ("", 0)
        assert when == f"in v if {rows} rows are spread evenly over the bounds"
        assert math.prod(within(chances, error) for chances in away) >= confidence - 1e-12
        less = max((d for chances in away for d in chances if d < error - 1e-6), default=-1.0)
        assert min(within(chances, less) for chances in away) < confidence ** (1 / len(away)) + 1e-12


def chance(weights: list[float], distances: list[float], distance: float) -> float:
    found = math.fsum(weight for weight, d in zip(weights, distances, strict=True) if d == distance)
    return found / math.fsum(weights)


def within(chances: dict[float, float], error: float) -> float:
    return math.fsum(p for d, p in chances.items() if d <= error + 1e-6)


def test_sorting_brings_no_choice_farther_from_its_quantile() -> None:
    rng = np.random.default_rng(5)
    for _ in range(200):
        truth, found = np.sort(rng.normal(size=4)), rng.normal(size=4)
        assert np.abs(np.sort(found) - truth).max() <= np.abs(found - truth).max()


# Cumulative distributions


def largest_deviation(gaussian: bool, scale: float, counts: list[int], times: int) -> Any:
    """Of the released distribution, simulated with exact probabilities and other seeds than the plan's."""
    rng, law = np.random.default_rng([11, len(counts), int(scale * 100)]), Law(gaussian, scale)
    noise = rng.choice(law.places, size=(times, len(counts)), p=law.chances)
    noisy = np.cumsum(counts + noise, axis=1)
    shares = np.clip(noisy / np.maximum(noisy[:, -1:], 1), 0, 1)
    above, below = np.maximum.accumulate(shares, axis=1), np.minimum.accumulate(shares[:, ::-1], axis=1)[:, ::-1]
    return np.abs((above + below) / 2 - np.array(list(accumulate(counts))) / sum(counts)).max(axis=1)


@pytest.mark.parametrize("mechanism", NOISES)
@pytest.mark.parametrize(("bins", "rows"), [(1, 100), (5, 60), (10, 1000), (40, 600), (100, 10000)])
def test_errors_of_cumulative_distributions_agree_with_another_simulation(mechanism: str, bins: int, rows: int) -> None:
    times = 12_000 if bins < 100 else 4000
    counts = [rows * (i + 1) // bins - rows * i // bins for i in range(bins)]
    for budget, confidence in ((Fraction(1, 4), 0.95), (Fraction(2), 0.95), (Fraction(1), 0.5), (Fraction(1), 0.999)):
        found = model(CDF("wide", bins=bins), mechanism, rows, confidence)
        (law,) = laws(found, budget)
        error = found.error(budget)
        covered = float(np.mean(largest_deviation(law.gaussian, law.scale, counts, times) <= error + 1e-12))
        spread = math.sqrt(confidence * (1 - confidence) / times)
        assert covered >= confidence - 4 * spread
        if law.scale > 2 and bins > 1 and error < 0.1:  # else deviations come in steps, or bounds matter
            assert covered <= confidence + 4 * spread + 5 * math.sqrt(confidence * (1 - confidence) / 4000)


@pytest.mark.parametrize("mechanism", NOISES)
def test_confidences_that_no_simulation_reaches_are_bounded(mechanism: str) -> None:
    """All bins but for a billionth within their reach, on one side up to an edge and on the other beyond it."""
    found = model(CDF("wide", bins=6), mechanism, 3000, 1 - 1e-9)
    for budget in (Fraction(1, 10), Fraction(1), Fraction(5)):
        reach = model(Histogram("wide", bins=5), mechanism, None, 1 - 1e-9).error(budget)  # six cells
        counts = [500.0] * 6
        worst = 0.0
        for signs in product((-1, 1), repeat=6):
            noisy = [count + sign * reach for count, sign in zip(counts, signs, strict=True)]
            if sum(noisy) < 1:
                continue
            off = [abs(min(max(up / sum(noisy), 0), 1) - (i + 1) / 6) for i, up in enumerate(accumulate(noisy))]
            worst = max(worst, *off)
        assert worst <= found.error(budget) <= 1
    assert found.error(Fraction(5)) < 0.1
    assert model(CDF("wide", bins=6), mechanism, 5, 1 - 1e-9).error(Fraction(1, 100)) == 1


# Likeness


ALIKE = [
    (Mean("digit"), Mean("other")),
    (Variance("digit"), Variance("other")),
    (Sum("digit"), Sum("other", where="few > 1")),
    (Count(), Count(where="few > 1")),
    (Histogram("kind"), Histogram("few", bins=2)),
    (CDF("fine", bins=4), CDF("wide", bins=4)),
    (Median("digit"), Median("other")),
]


@pytest.mark.parametrize(("one", "other"), ALIKE)
def test_what_is_alike_has_the_same_errors(one: Statistic, other: Statistic) -> None:
    table = Declared({**TABLE.columns, "other": Integers(0, 9)})
    for mechanism in (noise.name for noise in one.noises()):
        first, second = model(one, mechanism, 100, table=table), model(other, mechanism, 100, table=table)
        assert first.likeness == second.likeness
        for budget in (Fraction(1, 3), Fraction(5)):
            assert first._error(budget) == second._error(budget) == second.error(budget)
            assert first.smooth(float(budget)) == second.smooth(float(budget))


def test_what_differs_in_its_error_is_not_alike() -> None:
    """One model of each kind, and one for each thing that makes a difference."""
    asked: list[tuple[Statistic, str]] = [
        *((statistic, mechanism) for mechanism in NOISES for statistic, _ in SMOOTH),
        *((Mean(column), "laplace") for column in ("few", "skew", "fine", "coarse")),
        *((Variance(column), "laplace") for column in ("digit", "skew", "fine", "coarse")),
        *((Sum(column), "laplace") for column in ("few", "digit", "skew", "coarse")),
        (CDF("wide", bins=4), "laplace"),
        (CDF("wide", bins=5), "laplace"),
        (Median("digit"), "exponential"),
        (Median("few"), "exponential"),
        (Median("wide"), "exponential"),
        (Median("wide", 50), "exponential"),
        (Quantiles("wide", ["1/3"]), "exponential"),
        (Quantiles("wide", ["1/3", "1/2"]), "exponential"),
        (Median("digit", 10), "exponential"),
    ]
    models = [model(statistic, mechanism, 1000) for statistic, mechanism in asked]
    models += [model(statistic, "laplace", 999) for statistic in (Mean("few"), Variance("few"), CDF("wide", bins=4))]
    models += [model(statistic, "laplace", 1000, 0.9) for statistic in (Count(), Mean("few"), CDF("wide", bins=4))]
    models += [model(statistic, "laplace", 1000, table=MANY) for statistic in (Count(), Mean("few"))]
    for place, first in enumerate(models):
        for second in models[:place]:
            if first.likeness == second.likeness:
                grid = [Fraction(b, 10) for b in (1, 3, 7, 20, 77)]
                assert [first._error(b) for b in grid] == [second._error(b) for b in grid]
    assert len({each.likeness for each in models}) >= len(models) - 2


def test_bounds_alone_make_a_difference() -> None:
    table = Declared({"nine": Integers(0, 9), "ten": Integers(0, 10)})  # five from the middle, both
    for kind, errors in ((Mean, (9, 10)), (Variance, (20.25, 25))):
        models = [model(kind(column), "laplace", 10, table=table) for column in table.columns]
        assert models[0].parts == models[1].parts
        assert tuple(each.error(Fraction(1, 100)) for each in models) == errors


def test_units_alone_make_a_difference() -> None:
    table = Declared({f"u{unit}": Reals(0, 8, unit=unit) for unit in (1, 2, 4)})
    for kind in (Sum, Mean, Variance):
        assert len({model(kind(column), "gaussian", 50, table=table).likeness for column in table.columns}) == 3
