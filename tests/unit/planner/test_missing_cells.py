"""Errors that plans state, against real noise on tables with missing cells, and against the intervals of releases.

Every kind of statistic, with none, two fifths and seven tenths of the cells missing.  A stated error must be kept about
as often as told: counts are compared with the tail of a binomial distribution at 1e-10, so that a test raises a false
alarm with a probability of at most 1e-10.  For the same facts a plan and its release must tell the same ±.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import replace
from fractions import Fraction
from functools import cache
from statistics import median
from typing import Any

import numpy as np
import pyarrow as pa
import pytest

from optcomp.planner import make_plan, read
from optcomp.planner.plan import Line, Plan
from optcomp.release.plan_facts import facts
from optcomp.release.proved_plan import prepare
from optcomp.release.released import table_of
from optcomp.statistics import Table
from tests.oracles.released import binomial_tail
from tests.plans import Plain, every_kind
from tests.unit.planner.test_stated_errors import mean, ranked, releases, within

TIMES, ALARM, SURE = 1000, 1e-10, 0.95
SIZE = 600
SHARES = (Fraction(0), Fraction(2, 5), Fraction(7, 10))
NOISES = ("laplace", "gaussian")
KINDS: dict[str, Plain] = {
    "count": {"count": "rows", "where": "high > 3"},
    "sum": {"sum": "high"},
    "mean": {"mean": "high"},
    "mean_of_some": {"mean": "high", "where": "kind == 'a'"},
    "variance": {"variance": "high"},
    "histogram": {"histogram": "high", "edges": [0, 5, 9]},
    "contingency": {"contingency": ["kind", "high"], "edges": {"high": [0, 5, 9]}},
    "cdf": {"cdf": "x", "bins": 8},
    "quantiles": {"quantiles": "x", "probabilities": ["1/4", "2/3"], "candidates": 33},
    "median": {"median": "x", "candidates": 33},
    "people": {"people": "all", "where": "high > 3"},
    "means": {"means": ["high", "x"]},
    "regression": {"regression": "high", "on": "x"},
}
EDGES = range(2, 17, 2)
CHOSEN = ("quantiles", "median")


BY_ROWS = ("mean", "mean_of_some", "variance", "cdf")
CASES = [(name, noise) for name in KINDS for noise in (("exponential",) if name in CHOSEN else NOISES)]


@cache
def rows(missing: Fraction, size: int = SIZE) -> dict[str, list[Any]]:
    """`high` lies at its upper bound but for every twelfth value, `x` evenly between its bounds; both miss cells."""
    high, x = [None] * size, [None] * size
    there = [i for i in range(size) if i * 7 % 10 >= 10 * missing]
    found: dict[str, list[Any]] = {"high": high, "x": x, "kind": ["abz"[i // 10 % 3] for i in range(size)]}
    for place, i in enumerate(there):
        found["high"][i] = 9 if place % 12 else 0
        found["x"][i] = (place + 0.5) * 16 / len(there)
    return found


def some(missing: Fraction) -> list[int]:
    """What `high` is where the kind is a."""
    found = rows(missing)
    return [v for v, kind in zip(found["high"], found["kind"], strict=True) if v is not None and kind == "a"]


def plan_of(missing: Fraction, statistics: Plain, size: int = SIZE, budget: Plain | None = None) -> Plan:
    """What is said of the columns is true: rows, the share of them with a value, mean and spread."""
    values = [v for v in rows(missing, size)["high"] if v is not None]
    spread, share = math.sqrt(variance(values)), {"present": str(1 - missing)}
    document = {
        "plan": 1,
        "data": {"rows": size},
        "columns": {
            "high": {"integers": [0, 9], **share, "centre": str(mean(values)), "spread": [spread, spread + 1e-9]},
            "x": {"reals": [0, 16], **share},
            "kind": {"categories": ["a", "b"]},
        },
        "budget": budget or {"rho": 100},
        "statistics": statistics,
    }
    return make_plan(read(document))


def variance(values: list[int]) -> Fraction:
    return mean([v * v for v in values]) - mean(values) ** 2


def table(plan: Plan, missing: Fraction, size: int = SIZE) -> Table:
    return table_of(plan.document, pa.table(rows(missing, size)))


def truth(name: str, missing: Fraction) -> Any:
    found = rows(missing)
    values = [v for v in found["high"] if v is not None]
    low = sum(v < 5 for v in values)
    cells = {"[0, 5)": low, "[5, 9]": len(values) - low, "(missing)": SIZE - len(values)}
    if name == "contingency":
        label = {"a": "a", "b": "b", "z": "(other)"}
        pairs = [(label[k], cell(v)) for k, v in zip(found["kind"], found["high"], strict=True)]
        return {(kind, each): pairs.count((kind, each)) for kind in label.values() for each in cells}
    return {
        "count": len(values) - low,
        "sum": sum(values),
        "mean": mean(values),
        "mean_of_some": mean(some(missing)),
        "variance": variance(values),
        "histogram": cells,
        "cdf": {float(edge): sum(v is not None and v < edge for v in found["x"]) / len(values) for edge in EDGES},
        "quantiles": ranked([(Fraction(1, 4), places(missing)), (Fraction(2, 3), places(missing))]),
        "median": ranked([(Fraction(1, 2), places(missing))]),
        "people": len(values) - low,
        "means": averaged(missing),
        "regression": fitted(missing),
    }[name]


def places(missing: Fraction) -> list[float]:
    """The values of `x` at the nearest of 33 candidates."""
    return [int(x * 2 + 0.5) / 2 for x in rows(missing)["x"] if x is not None]


def averaged(missing: Fraction) -> Callable[[Any, float], bool]:
    """Whether both means are off by such a part of their range at most; `x` is rounded to its unit."""
    true = {name: mean([v for v in rows(missing)[name] if v is not None]) for name in ("high", "x")}
    return lambda told, error: all(
        abs(told[name] - true[name]) <= wide * error + 1e-4 for name, wide in (("high", 9), ("x", 16))
    )


def fitted(missing: Fraction) -> Callable[[Any, float], bool]:
    """Whether what `x` does to `high` on half its range, and `high` in the middle, are off by so much at most."""
    pairs = [(x, y) for x, y in zip(rows(missing)["x"], rows(missing)["high"], strict=True) if x is not None]
    slope, start = map(float, np.polyfit(np.array([x for x, _ in pairs]), np.array([float(y) for _, y in pairs]), 1))

    def fine(told: Any, error: float) -> bool:
        middle = abs(told["(intercept)"] + 8 * told["x"] - start - 8 * slope)
        return bool(max(8 * abs(told["x"] - slope), middle) <= error)

    return fine


def cell(value: int | None) -> str:
    return "(missing)" if value is None else "[0, 5)" if value < 5 else "[5, 9]"


def asked(name: str, noise: str, missing: Fraction) -> Plain:
    entry = KINDS[name] | {"mechanism": noise, "rho" if noise == "gaussian" else "epsilon": "0.05"}
    if noise != "gaussian":
        entry["epsilon"] = "0.5"
    if name == "means":
        entry["present"] = str(1 - missing)
    if name == "mean_of_some":
        there = some(missing)
        entry |= {"rows": SIZE // 3, "present": str(Fraction(len(there), SIZE // 3)), "centre": str(mean(there))}
    return entry


def kept(line: Line, about: Table, true: Any, error: float) -> int:
    """In how many of so many releases the value is no farther off."""
    return sum(within(value, true, error) for value in releases(line.question, about, TIMES))


@pytest.mark.parametrize("missing", SHARES, ids=str)
@pytest.mark.parametrize(("name", "noise"), CASES)
def test_stated_errors_hold_with_cells_missing(name: str, noise: str, missing: Fraction) -> None:
    plan = plan_of(missing, {name: asked(name, noise, missing)})
    (line,) = plan.lines
    assert line.mechanism == noise
    covered = kept(line, table(plan, missing), truth(name, missing), line.error)
    assert binomial_tail(covered, TIMES, SURE) > ALARM, f"{covered} of {TIMES} within ±{line.error}"


def test_every_kind_of_statistic_is_tried() -> None:
    plan = plan_of(Fraction(0), {name: asked(name, noise, Fraction(0)) for name, noise in CASES})
    every = {type(line.wish.statistic) for line in make_plan(read(every_kind())).lines}
    assert {type(line.wish.statistic) for line in plan.lines} == every


@pytest.mark.parametrize(("name", "noise"), [case for case in CASES if case[0] in BY_ROWS])
def test_errors_for_all_rows_would_be_noticed(name: str, noise: str) -> None:
    """As if no cell were missing: what the simulation is for."""
    missing = SHARES[-1]
    plan = plan_of(missing, {name: asked(name, noise, missing)})
    (line,) = plan.lines
    wrong = replace(line.spending.model, rows=SIZE // 3 if name == "mean_of_some" else SIZE)
    covered = kept(line, table(plan, missing), truth(name, missing), wrong.error(line.spending.budget))
    # 610 are expected at most; 900 or more, where it would go unnoticed, have a probability below 1e-80
    assert binomial_tail(covered, TIMES, SURE) < ALARM, f"{covered} of {TIMES}"


# Plans and releases


MANY = 20_000
ASKED: dict[str, tuple[Plain, float]] = {
    "count": ({"count": "rows"}, 60),
    "sum": ({"sum": "high"}, 400),
    "mean": ({"mean": "high"}, 0.02),
    "variance": ({"variance": "high"}, 0.15),
    "histogram": ({"histogram": "high", "edges": [0, 5, 9]}, 70),
    "contingency": ({"contingency": ["kind", "high"], "edges": {"high": [0, 5, 9]}}, 80),
    "cdf": ({"cdf": "x", "bins": 10}, 0.01),
}
RELEASES = 7
WITHIN, EVER = 0.05, 0.25
"""By how much released half-widths may differ from the planned error if what the plan says is true: the median of some
releases, and any one of them, because noise moves the amounts that a width depends on and Laplace noise has long tails.
The half-widths of one release are off by noise of a scale of about 0.6 %: by 5 % with a probability below 1e-3, so that
the median of seven releases is with one below 35·1e-12; by 25 % with a probability below e^-40.
"""


def half_widths(entry: Plain) -> list[float]:
    """Of the intervals that are not cut off, and not at the last edge of a distribution, where the share is 1."""
    if entry.get("interval", ()) is None:
        return []
    ends = [each["interval"] for each in entry["cells"]] if "cells" in entry else [entry["interval"]]
    return [(high - low) / 2 for low, high in ends if low > 0 and low < high]


def released_widths(plan: Plan, missing: Fraction) -> list[tuple[Line, list[float]]]:
    """Each line of the plan with the half-widths of some releases."""
    rows = table(plan, missing, MANY)
    runs = [prepare(plan, rows).run().results() for _ in range(RELEASES)]
    return [(line, [half for run in runs for half in half_widths(run[place])]) for place, line in enumerate(plan.lines)]


@pytest.mark.parametrize("missing", SHARES, ids=str)
@pytest.mark.parametrize("noise", NOISES)
def test_who_asks_for_an_error_gets_an_interval_of_that_size(noise: str, missing: Fraction) -> None:
    statistics = {name: {**entry, "mechanism": noise, "error": error} for name, (entry, error) in ASKED.items()}
    plan = plan_of(missing, statistics, MANY)
    for line, found in released_widths(plan, missing):
        wanted = ASKED[line.wish.name][1]
        assert line.error == pytest.approx(wanted, rel=0.01)
        assert median(found) == pytest.approx(wanted, rel=WITHIN), (line.wish.name, found)
        assert all(half == pytest.approx(wanted, rel=EVER) for half in found), (line.wish.name, found)


@pytest.mark.parametrize("missing", SHARES, ids=str)
def test_planned_errors_are_released_intervals(missing: Fraction) -> None:
    """With the noise and the split that the planner likes best."""
    statistics = {name: entry for name, (entry, _) in ASKED.items()} | {"median": KINDS["median"]}
    plan = plan_of(missing, statistics, MANY, {"epsilon": 2, "delta": "1e-6"})
    for line, found in released_widths(plan, missing):
        if line.mechanism == "exponential":
            assert not found
        else:
            assert median(found) == pytest.approx(line.error, rel=WITHIN), (line.wish.name, found)
            assert all(half == pytest.approx(line.error, rel=EVER) for half in found), (line.wish.name, found)


def test_without_a_centre_the_error_is_for_the_worst_and_the_plan_tells_the_best() -> None:
    document = {
        "plan": 1,
        "data": {"rows": 10_000},
        "columns": {"age": {"integers": [0, 99], "present": 1}},
        "budget": {"rho": "0.001"},
        "statistics": {"age": {"mean": "age"}},
    }
    open_plan = make_plan(read(document))
    (entry,) = facts(open_plan)["statistics"]
    for centre, factor in (([0, 99], 1.0), (99, 1.0), (0, 1.0), ("99/2", 0.5), ([40, 60], 0.53)):
        columns = {"age": {"integers": [0, 99], "present": 1, "centre": centre}}
        (line,) = make_plan(read(document | {"columns": columns})).lines
        assert line.error == pytest.approx(factor * entry["error"], rel=0.03)
        if factor == 0.5:
            assert entry["otherwise"]["error"] == pytest.approx(line.error, rel=0.01)
    assert entry["assumes"] == []
    assert entry["note"] == "± for 10,000 rows with a value, wherever their mean lies"
    assert entry["otherwise"]["when"] == "if the mean is in the middle of the bounds: tell `centre`"
