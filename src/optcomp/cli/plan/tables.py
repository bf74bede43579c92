"""A plan, and a release, as tables on a terminal."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from rich import box
from rich.table import Table
from rich.text import Text

from optcomp.cli.writing.plain_signs import writable
from optcomp.cli.writing.printing import listed, print_table, say
from optcomp.release.facts import error_told, near, note_told, up
from optcomp.release.pictures import label, printable
from optcomp.release.report import between, budget, compared, percent, value

_MOST_CELLS = 12
"""Cells of a table, and notes, that a terminal shows; the file has all."""
JsonView = Mapping[str, Any]


def show_plan(facts: JsonView) -> None:
    """A line for each statistic, what the total is, and what it means."""
    held = any(entry["held"] for entry in facts["statistics"])
    others = compared(facts["statistics"])
    numbers = ("budget", "error ±", "relative", *others)
    table = _table(("name", "statistic", "noise"), numbers, "" if held else None)
    for place, entry in enumerate(facts["statistics"]):
        split = [column[place] for column in others.values()]
        _add(
            table,
            (entry["name"], entry["statistic"], entry["mechanism"]),
            (budget(entry), error_told(entry), percent(entry["relative"]), *split),
            ("held" if entry["held"] else "") if held else None,
        )
    print_table(table)
    notes = [(entry["name"], note_told(entry)) for entry in facts["statistics"] if entry["note"]]
    print_table(listed([*facts["words"].items(), *((printable(name), note) for name, note in notes[:_MOST_CELLS])]))


def show_release(view: JsonView, fresh: bool) -> None:
    """What was told, with intervals."""
    sure = f"between, {near(100 * view['facts']['confidence'])} %"
    table = _table(("name", "statistic"), ("value", sure), None)
    for entry in view["statistics"]:
        about = entry["name"], entry["statistic"]
        if "cells" not in entry:
            _add(table, about, (value(entry["value"]), between(entry["interval"])))
            continue
        cells = entry["cells"]
        left = len(cells) - _MOST_CELLS
        _add(table, about, (f"{len(cells)} cells", ""))
        for each in cells[:_MOST_CELLS]:
            _add(table, ("", label(each["cell"])), (value(each["value"]), between(each["interval"])))
        if left > 0:
            _add(table, ("", f"… and {left} more, in the file"), ("", ""))
    print_table(table)
    for line in _sentences(view, fresh):
        say(line)


def _sentences(view: JsonView, fresh: bool) -> list[str]:
    spent, words = view["guarantee"]["total"], view["facts"]["words"]
    cost = ", ".join(
        f"{ {'epsilon': 'ε', 'delta': 'δ', 'rho': 'ρ'}[name] } = {up(amount, 10)}" for name, amount in spent.items()
    )
    when = view["finished"]
    if view["guarantee"]["reserve"]:
        cost += f", of which ε = {near(view['guarantee']['reserve'])} is kept for later"
    first = (
        f"Released now, on {when}; spent: {cost}." if fresh else f"Released before, on {when}; nothing was spent now."
    )
    return [first, *_about_sample(view["guarantee"]["sample"]), f"Protects {words['protects']}."]


def _about_sample(sample: JsonView | None) -> list[str]:
    if sample is None:
        return []
    total = f"ε = {up(sample['total']['epsilon'], 10)}, δ = {near(sample['total']['delta'])}"
    return [f"For the {sample['population']} people from whom the sample was drawn this is {total} (BBG18)."]


def _table(names: Sequence[str], numbers: Sequence[str], last: str | None) -> Table:
    table = Table(box=box.ROUNDED)
    for place, heading in enumerate(names):
        table.add_column(writable(heading), style="bold" if place == 0 else None, overflow="fold")
    for heading in numbers:
        table.add_column(writable(heading), justify="right", no_wrap=True)
    if last is not None:
        table.add_column(last)
    return table


def _add(table: Table, names: Sequence[str], numbers: Sequence[str], last: str | None = None) -> None:
    cells = [*(printable(str(name), 120) for name in names), *numbers, *([] if last is None else [last])]
    table.add_row(*(Text(writable(cell)) for cell in cells))
