"""What a release tells: values with intervals and noise, what is promised to whom, and what computed it."""

from __future__ import annotations

import math
import platform
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from importlib.metadata import version
from typing import Any

import optcomp
from optcomp.errors import InvalidInput
from optcomp.guarantees import ZCDP, ApproxDP, PureDP
from optcomp.interactive import Answer, Session
from optcomp.planner import Document, Plan, budget_dict
from optcomp.release.plan_facts import protects
from optcomp.statistics import Declared, Question
from optcomp.theorems import Bound, bbg18


@dataclass(frozen=True)
class Released:
    """The answers to all questions of a plan, and what they cost together."""

    plan: Plan
    answers: tuple[Answer, ...]
    bound: Bound | None
    """The certified total, proved for the table; None if the budget is ρ."""
    session: Session

    def results(self) -> list[dict[str, Any]]:
        """Value, interval and noise of each statistic, ready for JSON."""
        pairs = zip(self.plan.lines, self.answers, strict=True)
        return [
            {
                "name": line.wish.name,
                "statistic": str(line.wish.statistic),
                "mechanism": found.question.mechanism,
                line.noise.currency.name: str(line.spending.budget),
                **_told(found, self.plan.document.confidence),
                "noise": noise_told(found.question, found.declared),
                "theorem": found.theorem,
            }
            for line, found in pairs
        ]

    def certificate(self) -> dict[str, Any]:
        """A claim that `optcomp verify` proves again, or the bound in words where certificates do not reach."""
        if self.bound is None:
            return {"quantity": "rho", "rho": self.plan.total, "theorem": "BS16", "method": "sum"}
        try:
            return self.bound.certificate()
        except InvalidInput:  # notions, such as Rényi bounds of several numbers
            return self.bound.as_dict()


def _told(found: Answer, confidence: float) -> dict[str, Any]:
    """One value, or one for each cell, with intervals where they follow from the noise, and how far ranks are off."""
    interval = None if found.question.noise.chooses else found.interval(confidence)
    return _values(found, interval) | rank_told(found.question, found.declared, confidence)


def rank_told(question: Question, table: Declared, confidence: float) -> dict[str, Any]:
    """By how many rows the ranks of choices may be off, and thresholds; nothing of other statistics."""
    statistic, scales = question.statistic, question.scales(table)
    off = statistic.rows_off(table, scales, confidence)
    return ({} if off is None else {"rows_off": off}) | statistic.also_told(table, question.noise, scales)


def _values(found: Answer, interval: Any) -> dict[str, Any]:
    if not isinstance(found.value, Mapping):
        return {"value": found.value, "interval": _ends(interval)}
    cells = [
        {
            "cell": list(cell) if isinstance(cell, tuple) else cell,
            "value": value,
            "interval": None if interval is None else _ends(interval[cell]),
        }
        for cell, value in found.value.items()
    ]
    return {"cells": cells}


def _ends(interval: Sequence[float] | None) -> list[float | None] | None:
    """The ends of an interval; null where it has none."""
    return None if interval is None else [end if math.isfinite(end) else None for end in interval]


def noise_told(question: Question, table: Declared) -> list[dict[str, Any]]:
    """The scale of the noise of each part, in units of the column."""
    parts = question.statistic.parts(table)
    names = _parts_named(question, parts)
    return [
        {"part": name, "scale": scale * float(part.unit), "unit": str(part.unit)}
        for name, part, scale in zip(names, parts, question.scales(table), strict=True)
    ]


def _parts_named(question: Question, parts: Sequence[Any]) -> list[str]:
    if question.noise.chooses:
        return ["score"] * len(parts)
    return [str(part.cells[0]) if len(part.cells) == 1 else "each cell" for part in parts]


def guarantee_told(document: Document, cost: ApproxDP | ZCDP, reserve: PureDP | None) -> dict[str, Any]:
    """What is promised, to whom, and what was spent for it."""
    found: dict[str, Any] = {
        "budget": budget_dict(document.budget),
        "total": budget_dict(cost),
        "reserve": None if reserve is None else float(reserve.epsilon),
        "neighbours": document.table.neighbours,
        "rows_per_person": document.table.contribution.rows,
        "protects": protects(document),
        "sample": None,
    }
    if document.population is not None and isinstance(cost, ApproxDP):
        outside = bbg18.outside(cost, document.rows or 0, document.population)
        found["sample"] = {"rows": document.rows, "population": document.population, "total": budget_dict(outside)}
    return found


def versions_told() -> dict[str, Any]:
    """What computed a release."""
    others = {name: version(name) for name in ("opendp", "duckdb", "ibis-framework", "numpy", "python-flint")}
    return {"versions": {"optcomp": optcomp.__version__, "python": platform.python_version(), **others}}
