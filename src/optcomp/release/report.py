"""A page about a plan, or about what it released: one file of HTML with everything inside.

The page is made from facts alone (see `facts.py`), so that a stored release looks the same whenever it is shown.  All
text is escaped.  `printing` lays the page out for paper: A4, no backgrounds, tables and pictures in one piece.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from html import escape
from typing import Any

from optcomp.release import pictures
from optcomp.release.ledger_entry import so_far
from optcomp.release.pictures import printable
from optcomp.release.tables import Row, Sheet, cell_sheet, compared, plan_sheet, result_sheet

Facts = Mapping[str, Any]
MOST_CELLS = 400
"""Rows of a table on a page; the file of the release has all."""
_MOST_PICTURES = 12
"""A page with more pictures takes long to draw and to load."""
_POLICY = "default-src 'none'; style-src 'unsafe-inline'; img-src data:"
_STYLE = """
:root { color-scheme: light; }
body { font: 15px/1.45 system-ui, sans-serif; color: #1a1a1a; background: #f4f5f7; margin: 0; }
main { max-width: 60rem; margin: 0 auto; padding: 1.5rem 2rem 3rem; background: #fff; }
h1 { font-size: 1.6rem; margin: 0 0 .2rem; }
h2 { font-size: 1.15rem; margin: 2rem 0 .5rem; border-bottom: 1px solid #ccc; }
h3 { font-size: 1rem; margin: 1.4rem 0 .3rem; }
p.verdict { font-size: 1.1rem; border-left: 4px solid #0072B2; padding: .3rem .8rem; background: #eef5fa; }
table { border-collapse: collapse; width: 100%; font-size: .9rem; }
th, td { padding: .25rem .5rem; border-bottom: 1px solid #e2e2e2; text-align: left; vertical-align: top; }
th { font-weight: 600; }
td.number, th.number { text-align: right; white-space: nowrap; font-variant-numeric: tabular-nums; }
td { overflow-wrap: break-word; max-width: 24rem; }
.facts th { width: 8rem; }
.note { color: #555; font-size: .85rem; }
figure { margin: 1rem 0; }
figcaption { color: #555; font-size: .85rem; }
svg { max-width: 100%; height: auto; }
"""
_SHEET = "@page { size: A4; margin: 18mm 15mm; }"
_PAPER = """
body { background: none; font-size: 10.5pt; }
main { max-width: none; padding: 0; background: none; }
p.verdict { background: none; }
h2, h3 { break-after: avoid; }
figure, tr, p { break-inside: avoid; }
thead { display: table-header-group; }
.sheet { break-before: page; }
svg { max-height: 225mm; }
table { font-size: 9pt; }
"""


def page(facts: Facts, growth: Sequence[Facts], release: Facts | None = None, *, printing: bool = False) -> str:
    """The page about a plan, or about its release: with the numbers that were released."""
    name = printable(str(facts["name"]), 80)
    title = f"Plan for {name}" if release is None else f"Release about {name}"
    body = [f"<h1>{escape(title)}</h1>"]
    if release is None:
        body.append(f'<p class="verdict">{escape(facts["verdict"])}</p>')
    else:
        body.append(f'<p class="note">{escape(_made(release))}</p>')
        body += [f'<p class="note">{escape(_debited(release["ledger"]))}</p>'] if "ledger" in release else []
    body.append(_facts(facts, ("gain", "suggestions") if release is not None else ("gain",)))
    if release is not None:
        body += _results(release["statistics"], facts["confidence"])
        body.append(f'<p class="note">{escape(_READING)}</p>')
    body += ['<h2 class="sheet">Statistics</h2>', _table(plan_sheet(facts)), *_pictures(facts, growth)]
    body += ["<h2>Declared columns</h2>", _declared(facts["columns"])]
    paper = _PAPER if printing else f"@media print {{{_PAPER}}}"
    head = [
        '<meta charset="utf-8">',
        '<meta name="viewport" content="width=device-width">',
        f'<meta http-equiv="Content-Security-Policy" content="{_POLICY}">',
        f"<title>{escape(title)}</title>",
        f"<style>{_STYLE}{_SHEET}{paper}</style>",
    ]
    start = ["<!doctype html>", '<html lang="en">', "<head>", *head, "</head>", "<body><main>"]
    return "\n".join([*start, *body, "</main></body>", "</html>", ""])


_READING = (
    "Numbers are published with their noise, so counts may be negative. Intervals leave out impossible values but "
    "always contain the published number. Of chosen values, such as medians, it is told by how many rows their "
    "rank may be off."
)
_CLAMPED = "Values outside the bounds count as the nearest bound. All this was declared before the data were read."


def _declared(columns: Mapping[str, str]) -> str:
    rows = "".join(
        f"<tr><th>{_escaped(name, 60)}</th><td>{_escaped(text, 400)}</td></tr>" for name, text in columns.items()
    )
    return f'<table class="facts">{rows}</table><p class="note">{escape(_CLAMPED)}</p>'


def _made(release: Facts) -> str:
    record = release["record"]
    return f"Released on {release['finished']} by optcomp {record['versions']['optcomp']}; plan {record['plan_sha256']}"


def _debited(entry: Facts) -> str:
    """Where the release was debited, and what it comes to with all before it."""
    receipt = entry["receipt"]
    where = f"account {printable(receipt['account'], 60)!r} of ledger {receipt['ledger']}, entry {receipt['sequence']}"
    return f"Debited from {where}; {so_far(entry)}."


def _facts(facts: Facts, without: Sequence[str]) -> str:
    rows = [
        f"<tr><th>{escape(heading)}</th><td>{escape(text)}</td></tr>"
        for heading, text in facts["words"].items()
        if heading not in without
    ]
    return f'<table class="facts">{"".join(rows)}</table>'


def _table(sheet: Sheet, most: int | None = None) -> str:
    """Any table: words to the left, numbers to the right, and notes below the words they are about."""
    heads = "".join(f"<th{_kind(sheet, place)}>{escape(name)}</th>" for place, name in enumerate(sheet.headings))
    rows = "".join(_row(sheet, row) for row in sheet.rows[:most])
    return f"<table><thead><tr>{heads}</tr></thead><tbody>{rows}</tbody></table>"


def _row(sheet: Sheet, row: Row) -> str:
    texts = [
        _escaped(text, 60 if place == 0 and sheet.words > 1 else 200) if place < sheet.words else escape(text)
        for place, text in enumerate(row.texts)
    ]
    if row.note:
        texts[sheet.words - 2] += f'<br><span class="note">{escape(row.note)}</span>'
    cells = "".join(f"<td{_kind(sheet, place)}>{text}</td>" for place, text in enumerate(texts))
    return f"<tr>{cells}</tr>"


def _kind(sheet: Sheet, place: int) -> str:
    return "" if place < sheet.words or not sheet.headings[place] else ' class="number"'


def _pictures(facts: Facts, growth: Sequence[Facts]) -> list[str]:
    statistics, count = facts["statistics"], facts["count"]
    cut = f" The first {pictures.MOST_BARS} of {count} statistics." if count > pictures.MOST_BARS else ""
    pure = facts["rho"] is None
    limit = facts["inside"]["epsilon" if pure else "rho"]
    return [
        "<h2>Errors</h2>",
        _figure(pictures.errors(statistics), f"{_about_errors(statistics)}.{cut}"),
        "<h2>Shares of the budget</h2>",
        _figure(
            pictures.shares(statistics),
            f"Each statistic's share: how much the total would fall if this statistic cost a little less.{cut}",
        ),
        "<h2>The total, statistic by statistic</h2>",
        _figure(
            pictures.growth(growth, "ε" if pure else "ρ", limit),
            f"What the first k statistics cost together, each with its budget in this plan{_inside(facts)}.",
        ),
    ]


_ABOUT = {"sums of ε": "with Laplace noise and sums of ε", "sums of ρ": "with the same noise and sums of ρ"}


def _about_errors(statistics: Sequence[Facts]) -> str:
    others = " and ".join(_ABOUT[heading] for heading in compared(statistics))
    return "How far off each statistic may be" + (f"; to compare, {others}" if others else "")


def _inside(facts: Facts) -> str:
    return "" if facts["inside"] == facts["budget"] else ", and the budget, on the sample"


def _figure(svg: str, caption: str) -> str:
    return f"<figure>{svg}<figcaption>{escape(caption)}</figcaption></figure>"


def _results(statistics: Sequence[Facts], confidence: float) -> list[str]:
    """Single numbers in a table, then a table and a picture for each statistic with many."""
    single = result_sheet(statistics, confidence)
    body = ["<h2>Results</h2>", *([_table(single)] if single.rows else [])]
    for place, entry in enumerate(entry for entry in statistics if "cells" in entry):
        body += _cells(entry, confidence, draw=place < _MOST_PICTURES, place=place)
    return body


def _cells(entry: Facts, confidence: float, *, draw: bool, place: int) -> list[str]:
    found, sheet = entry["cells"], cell_sheet(entry, confidence)
    body = [f"<h3>{_escaped(entry['name'], 60)}: {_escaped(entry['statistic'], 200)}</h3>"]
    if draw and not any(isinstance(each["value"], str) for each in found):  # dates are told without a picture
        body.append(_figure(pictures.cells(f"cells-{place}", found, confidence), _cut(found, pictures.MOST_CELLS)))
    body.append(_table(sheet, MOST_CELLS))
    if len(found) > MOST_CELLS:
        body.append(f'<p class="note">{escape(_cut(found, MOST_CELLS))} All are in the file of the release.</p>')
    return body


def _cut(found: Sequence[Facts], most: int) -> str:
    if len(found) > most:
        return f"The first {most} of {len(found)} cells."
    return "All cells, with intervals." if any(each["interval"] for each in found) else "All cells."


def _escaped(text: object, longest: int) -> str:
    return escape(printable(str(text), longest)).replace("_", "_<wbr>")
