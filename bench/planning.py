"""Plans: errors under several ways of splitting (1, 1e-6) over forty statistics, and how long planning takes.

All splits minimise the same sum of squared relative errors.  The first three are what other tools do: add up ε, use a
closed form, or add up ρ.
"""

from __future__ import annotations

import math
import random
import statistics
import time
from collections.abc import Callable
from fractions import Fraction
from typing import Any

from rich.console import Console

from bench.report import Section
from bench.rows import duration
from optcomp.guarantees import ApproxDP
from optcomp.planner import make_plan, read
from optcomp.planner.allocation import allocate
from optcomp.planner.budgets import Budget, PairBudget, RhoBudget
from optcomp.planner.choosing import Choosing
from optcomp.statistics.noise import GAUSSIAN, LAPLACE, Noise
from optcomp.theorems.fz21 import largest_rho

EPSILON, DELTA = 1, Fraction(1, 10**6)
_COLUMNS = {
    "age": {"integers": [16, 100]},
    "hours": {"integers": [0, 80]},
    "income": {"reals": [0, 150000]},
    "region": {"categories": ["north", "east", "south", "west", "centre", "islands"]},
}
_KINDS: tuple[Callable[[int], dict[str, Any]], ...] = (
    lambda i: {"count": None, "where": f"age >= {16 + i % 80}"},
    lambda i: {"mean": "age", "where": f"hours >= {i % 80}", "rows": 30000 + 25 * i},
    lambda i: {"histogram": "region", "where": f"age >= {16 + i % 80}"},
    lambda i: {"sum": "hours", "where": f"age >= {16 + i % 80}"},
    lambda i: {"mean": "income", "where": f"age >= {16 + i % 80}", "rows": 30000 + 25 * i},
)


def document(count: int, objective: str = "squares") -> dict[str, Any]:
    """So many statistics of five kinds, with weights of their own from a fixed seed."""
    rng = random.Random(count)
    wishes = {f"s{i}": _KINDS[i % 5](i) | {"weight": str(round(rng.uniform(0.5, 3), 3))} for i in range(count)}
    return {
        "plan": 1,
        "data": {"rows": 60000},
        "columns": _COLUMNS,
        "budget": {"epsilon": EPSILON, "delta": "1e-6"},
        "objective": objective,
        "statistics": wishes,
    }


def section(quick: bool, console: Console) -> Section:
    """Errors first, then times."""
    made = Section("Plans", "Error at 95 %, in units of the variable; (ε, δ) = (1, 1e-6), 60,000 rows.")
    with console.status("errors"):
        made.add(*_errors(40))
    cells = []
    for count in (40, 100) if quick else (40, 100, 1000):
        for objective in ("squares", "worst", "scale"):
            with console.status(f"{count} statistics, {objective}"):
                cells.append(_times(count, objective, 1 if count == 1000 else 5))
    header = ("statistics", "objective", "plan", "plan again after an edit", "total ε", "gain over sums of ε")
    made.add(
        "Time of a plan, and of planning again after one error was changed: best of 5 (1,000: of 1)", header, cells
    )
    return made


def _errors(count: int) -> tuple[str, tuple[str, ...], list[tuple[str, ...]]]:
    source = read(document(count))
    choosing = Choosing(source, ApproxDP(EPSILON, DELTA))
    ways: tuple[tuple[str, Budget, Noise], ...] = (
        ("sums of ε", PairBudget(EPSILON, DELTA, "basic"), LAPLACE),
        ("closed form (KOV15)", PairBudget(EPSILON, DELTA, "kov"), LAPLACE),
        ("sums of ρ", RhoBudget(largest_rho(Fraction(EPSILON), DELTA)), GAUSSIAN),
        ("optimal, Laplace", PairBudget(EPSILON, DELTA), LAPLACE),
        ("optimal, Gaussian", PairBudget(EPSILON, DELTA), GAUSSIAN),
    )
    columns = []
    for _, budget, noise in ways:
        items = choosing.items({wish.name: noise for wish in source.wishes})
        columns.append(allocate(items, budget, "squares").errors())
    plan = make_plan(source)
    columns.append(tuple(line.error for line in plan.lines))
    rows = [
        (line.wish.name, str(line.wish.statistic), *(f"{error:.4g}" for error in errors))
        for line, errors in zip(plan.lines, zip(*columns, strict=True), strict=True)
    ]
    ratios = [statistics.geometric_mean(map(_ratio, column, columns[-1])) for column in columns]
    rows.append(("all", "geometric mean, × the plan", *(f"{ratio:.3f}" for ratio in ratios)))
    return f"{count} statistics", ("name", "statistic", *(name for name, _, _ in ways), "the plan"), rows


def _ratio(error: float, other: float) -> float:
    return error / other if other else math.inf


def _times(count: int, objective: str, repeats: int) -> tuple[str, ...]:
    source = document(count, objective)
    first, again = math.inf, math.inf
    for turn in range(repeats):
        fresh = read(source)
        started = time.perf_counter()
        plan = make_plan(fresh)
        first = min(first, time.perf_counter() - started)
        error = plan.lines[1].error * (0.8 + turn / 100)
        changed = source["statistics"] | {"s1": source["statistics"]["s1"] | {"error": repr(error)}}
        edited = read(source | {"statistics": changed})
        started = time.perf_counter()
        make_plan(edited, previous=plan)
        again = min(again, time.perf_counter() - started)
    gain = "" if plan.gain is None else f"{plan.gain:.2f}"
    return f"{count}", objective, duration(first), duration(again), f"{plan.total:.10f}", gain
