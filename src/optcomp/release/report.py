"""A page about a plan, or about what it released: one file of HTML with everything inside.

The page is made from facts alone (see `facts.py`), so that a stored release looks the same whenever it is shown.  All
text is escaped.  `printing` lays the page out for paper: A4, no backgrounds, tables and pictures in one piece.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from fractions import Fraction
from html import escape
from typing import Any

from optcomp.release import pictures
from optcomp.release.facts import error_told, near, note_told
from optcomp.release.pictures import label, printable

Facts = Mapping[str, Any]
MOST_CELLS = 400
_MOST_PICTURES = 12
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
    body.append(_facts(facts, ("gain", "suggestions") if release is not None else ("gain",)))
    if release is not None:
        body += _results(release["statistics"], facts["confidence"])
        body.append(f'<p class="note">{escape(_READING)}</p>')
    body += ['<h2 class="sheet">Statistics</h2>', _table(facts["statistics"]), *_pictures(facts, growth)]
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
    "always contain the published number. Chosen values, such as medians, have no interval: how far off they are "
    "depends on the data."
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


def _facts(facts: Facts, without: Sequence[str]) -> str:
    rows = [
        f"<tr><th>{escape(heading)}</th><td>{escape(text)}</td></tr>"
        for heading, text in facts["words"].items()
        if heading not in without
    ]
    return f'<table class="facts">{"".join(rows)}</table>'


_COLUMNS = ("name", "statistic", "noise", "budget", "error ±", "relative")
_TEXT = {"name", "statistic", "noise"}


def _table(statistics: Sequence[Facts]) -> str:
    others = compared(statistics)
    heads = "".join(f"<th{_kind(name)}>{escape(name)}</th>" for name in (*_COLUMNS, *others))
    rows = "".join(_row(entry, [column[place] for column in others.values()]) for place, entry in enumerate(statistics))
    return f"<table><thead><tr>{heads}</tr></thead><tbody>{rows}</tbody></table>"


def _kind(name: str) -> str:
    return "" if name in _TEXT else ' class="number"'


def _row(entry: Facts, others: Sequence[str]) -> str:
    notes = "; ".join(filter(None, ["held" if entry["held"] else "", note_told(entry)]))
    cells = (
        _escaped(entry["name"], 60),
        _escaped(entry["statistic"], 200) + (f'<br><span class="note">{escape(notes)}</span>' if notes else ""),
        escape(entry["mechanism"]),
        escape(budget(entry)),
        error_told(entry),
        percent(entry["relative"]),
    )
    own = "".join(f"<td{_kind(name)}>{cell}</td>" for name, cell in zip(_COLUMNS, cells, strict=True))
    more = "".join(f"<td class='number'>{cell}</td>" for cell in others)
    return f"<tr>{own}{more}</tr>"


def budget(entry: Facts) -> str:
    """What one statistic may spend, for people."""
    symbol, amount = ("ρ", entry["rho"]) if "rho" in entry else ("ε", entry["epsilon"])
    return f"{symbol} {near(float(Fraction(amount)), 4)}"


_SPLITS = {"sums of ε": "naive_error", "sums of ρ": "rho_error"}


def compared(statistics: Sequence[Facts]) -> dict[str, list[str]]:
    """The columns of errors by other splits, for people: those that there are, and empty for what is held."""
    found = {
        heading: ["" if entry["held"] or entry.get(key) is None else near(entry[key], 4) for entry in statistics]
        for heading, key in _SPLITS.items()
    }
    return {heading: column for heading, column in found.items() if any(column)}


def percent(share: float) -> str:
    """Three digits, in per cent."""
    return f"{near(100 * share, 3)} %"


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


def _results(results: Sequence[Facts], confidence: float) -> list[str]:
    """Single numbers in a table, then a table and a picture for each statistic with many."""
    single = [entry for entry in results if "cells" not in entry]
    many = [entry for entry in results if "cells" in entry]
    body = ["<h2>Results</h2>"]
    if single:
        heads = f"<th>name</th><th>statistic</th>{_head('value')}{_head(f'between, {near(100 * confidence)} %')}"
        rows = "".join(
            f"<tr><td>{_escaped(entry['name'], 60)}</td><td>{_escaped(entry['statistic'], 200)}</td>"
            f"<td class='number'>{escape(value(entry['value']))}</td>"
            f"<td class='number'>{escape(between(entry['interval']))}</td></tr>"
            for entry in single
        )
        body.append(f"<table><thead><tr>{heads}</tr></thead><tbody>{rows}</tbody></table>")
    for place, entry in enumerate(many):
        body += _cells(entry, confidence, draw=place < _MOST_PICTURES, place=place)
    return body


def _cells(entry: Facts, confidence: float, *, draw: bool, place: int) -> list[str]:
    found = entry["cells"]
    body = [f"<h3>{_escaped(entry['name'], 60)}: {_escaped(entry['statistic'], 200)}</h3>"]
    if draw:
        body.append(_figure(pictures.cells(f"cells-{place}", found, confidence), _cut(found, pictures.MOST_CELLS)))
    heads = f"<th>cell</th>{_head('value')}{_head(f'between, {near(100 * confidence)} % for all')}"
    rows = "".join(
        f"<tr><td>{_escaped(label(each['cell']), 200)}</td><td class='number'>{escape(value(each['value']))}</td>"
        f"<td class='number'>{escape(between(each['interval']))}</td></tr>"
        for each in found[:MOST_CELLS]
    )
    body.append(f"<table><thead><tr>{heads}</tr></thead><tbody>{rows}</tbody></table>")
    if len(found) > MOST_CELLS:
        body.append(f'<p class="note">{escape(_cut(found, MOST_CELLS))} All are in the file of the release.</p>')
    return body


def _cut(found: Sequence[Facts], most: int) -> str:
    if len(found) > most:
        return f"The first {most} of {len(found)} cells."
    return "All cells, with intervals." if any(each["interval"] for each in found) else "All cells."


def _head(text: str) -> str:
    return f'<th class="number">{escape(text)}</th>'


def _escaped(text: object, longest: int) -> str:
    return escape(printable(str(text), longest)).replace("_", "_<wbr>")


def value(number: float) -> str:
    """A released number for people: whole ones whole, others with six digits."""
    if isinstance(number, int) or 1e5 <= abs(number) < 1e15:
        return f"{number:,.0f}"
    return f"{number:,.6g}"


def between(interval: Sequence[float] | None) -> str:
    """An interval for people; nothing where there is none."""
    return "" if interval is None else f"{value(interval[0])} to {value(interval[1])}"
