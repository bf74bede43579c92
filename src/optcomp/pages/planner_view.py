"""What the planner's pages show of a plan: lines, error bars, totals and sentences, all from what was worked out."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from markupsafe import Markup

from optcomp.pages.charts import Whisker, interval_chart
from optcomp.pages.planner_drafts import PlanDraft
from optcomp.pages.planner_fields import fields_of
from optcomp.pages.words import Words
from optcomp.release import near

MOST_BARS = 40
"""Error bars in one picture: what a screen has room for."""
MOST_CELLS = 400
"""Cells of one statistic on a page; the files have all."""
SENTENCES = ("protects", "risk", "sample", "reserve", "left", "careful", "lower side")
"""Sentences of a plan that the editor shows, in this order."""
Told = Mapping[str, Any]


def editor_values(draft: PlanDraft, form: Mapping[str, Any] | None = None) -> dict[str, Any]:
    """What the editor shows; after a refusal its fields keep what was typed."""
    shown = {name: field.shown for name, field in fields_of(draft).items()}
    if form is not None:
        shown |= {name: str(form.get(name, "")) for name in shown}
    return {"draft": draft, "shown": shown, "lines": lines_of(draft.worked), "worked": draft.worked}


def lines_of(worked: Told | None) -> list[dict[str, Any]]:
    """A line for each statistic, with its unit and the symbol of its budget."""
    if worked is None:
        return []
    pairs = zip(worked["facts"]["statistics"], worked["units"], strict=True)
    return [
        {
            **entry,
            "number": number,
            "unit": unit,
            "symbol": "ρ" if "rho" in entry else "ε",
            "budget": entry["rho"] if "rho" in entry else entry["epsilon"],
            "percent": f"{near(100 * entry['relative'], 3)} %",
            "star": bool(entry.get("assumes")),
        }
        for number, (entry, unit) in enumerate(pairs)
    ]


def bars(lines: Sequence[Told], t: Words) -> list[tuple[str, Markup]]:
    """Error bars around 0, a picture for each unit."""
    units: dict[str, list[Told]] = {}
    for line in lines:
        units.setdefault(line["unit"], []).append(line)
    return [(unit, _bars(unit, those[:MOST_BARS], t)) for unit, those in units.items()]


def _bars(unit: str, lines: Sequence[Told], t: Words) -> Markup:
    whiskers = [Whisker(line["name"], -line["error"], 0.0, line["error"]) for line in lines]
    return interval_chart(whiskers, title=str(t("planner.bars", unit=unit)), unit=str(t("planner.off_by", unit=unit)))


def totals_of(worked: Told | None) -> list[tuple[str, float | None, bool]]:
    """The total by each way to add up: the word for it, the number, and whether it is the one that counts."""
    if worked is None:
        return []
    found = worked.get("totals") or {"total": worked["facts"]["total"], "rho": None, "sum": None}
    if worked["facts"]["rho"] is not None:
        return [("rho_sum", found["total"], True)]
    return [("optimal", found["total"], True), ("zcdp", found["rho"], False), ("basic", found["sum"], False)]


def sentences(facts: Told) -> list[tuple[str, str]]:
    """What there is to know about a plan, by heading; nothing yet of a plan whose comparisons come later."""
    words = facts.get("words", {})
    return [(name, words[name]) for name in SENTENCES if name in words]


def result_pictures(record: Told, t: Words) -> list[dict[str, Any]]:
    """Released statistics: those of one number together, and a picture for each that has cells."""
    confidence = near(100 * record["facts"]["confidence"])
    made = []
    for entry in record["statistics"]:
        title = str(t("planner.released.picture", name=entry["name"], confidence=confidence))
        cells = entry.get("cells", ())
        shown = {"cells": cells[:MOST_CELLS], "count": len(cells)} if "cells" in entry else {}
        made.append({**entry, **shown, "picture": interval_chart(_whiskers(cells[:MOST_BARS]), title=title)})
    return made


def _whiskers(cells: Sequence[Told]) -> list[Whisker]:
    return [
        Whisker(_named(each["cell"]), each["interval"][0], each["value"], each["interval"][1])
        for each in cells
        if each["interval"] is not None and None not in each["interval"]
    ]


def _named(cell: object) -> str:
    return ", ".join(map(str, cell)) if isinstance(cell, list) else str(cell)
