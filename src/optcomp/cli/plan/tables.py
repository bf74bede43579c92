"""A plan, and a release, as tables on a terminal."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from rich import box
from rich.table import Table
from rich.text import Text

from optcomp.cli.writing.plain_signs import writable
from optcomp.cli.writing.printing import listed, print_table, say
from optcomp.release import Row, Sheet, cell_sheet, near, plan_sheet, printable, result_sheet, so_far, up

_MOST_CELLS = 12
"""Cells of a table, and notes, that a terminal shows; the file has all."""
JsonView = Mapping[str, Any]


def show_plan(facts: JsonView) -> None:
    """A line for each statistic, what the total is, and what it means."""
    sheet = plan_sheet(facts)
    _print(sheet, sheet.rows)
    notes = [(printable(row.texts[0]), row.note) for row in sheet.rows if row.note]
    print_table(listed([*facts["words"].items(), *notes[:_MOST_CELLS]]))


def show_release(view: JsonView, fresh: bool) -> None:
    """What was told, with intervals."""
    confidence = view["facts"]["confidence"]
    sheet = result_sheet(view["statistics"], confidence)
    single, rows = iter(sheet.rows), list[Row]()
    for entry in view["statistics"]:
        rows += _cell_rows(entry, cell_sheet(entry, confidence)) if "cells" in entry else [next(single)]
    _print(sheet, rows)
    for line in _sentences(view, fresh):
        say(line)


def _cell_rows(entry: JsonView, sheet: Sheet) -> list[Row]:
    """A statistic with many cells: the first of them, below its name."""
    left = len(sheet.rows) - _MOST_CELLS
    more = [Row(("", f"… and {left} more, in the file", "", ""))] if left > 0 else []
    first = Row((entry["name"], entry["statistic"], f"{len(sheet.rows)} cells", ""))
    return [first, *(Row(("", *row.texts)) for row in sheet.rows[:_MOST_CELLS]), *more]


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
    debited = [f"Debited from {_where(view['ledger'])}."] if "ledger" in view else []
    return [first, *_about_sample(view["guarantee"]["sample"]), *debited, f"Protects {words['protects']}."]


def _where(entry: JsonView) -> str:
    receipt = entry["receipt"]
    return f"account {receipt['account']!r}, entry {receipt['sequence']} of ledger {receipt['ledger']}; {so_far(entry)}"


def _about_sample(sample: JsonView | None) -> list[str]:
    if sample is None:
        return []
    total = f"ε = {up(sample['total']['epsilon'], 10)}, δ = {near(sample['total']['delta'])}"
    return [f"For the {sample['population']} people from whom the sample was drawn this is {total} (BBG18)."]


def _print(sheet: Sheet, rows: Sequence[Row]) -> None:
    table = Table(box=box.ROUNDED)
    for place, heading in enumerate(sheet.headings):
        if place < sheet.words or not heading:
            table.add_column(writable(heading), style="bold" if place == 0 else None, overflow="fold")
        else:
            table.add_column(writable(heading), justify="right", no_wrap=True)
    for row in rows:
        texts = (printable(text, 120) if place < sheet.words else text for place, text in enumerate(row.texts))
        table.add_row(*(Text(writable(text)) for text in texts))
    print_table(table)
