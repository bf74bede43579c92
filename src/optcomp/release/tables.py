"""The tables that people are shown about a plan and a release, as values ready for JSON.

A terminal, a page of HTML and any other reader show the same texts: they lay out, and decide nothing.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass
from fractions import Fraction
from typing import Any

from optcomp.release.pictures import label
from optcomp.release.plan_facts import error_told, near, note_told

Facts = Mapping[str, Any]
_SPLITS = {"sums of ε": "naive_error", "sums of ρ": "rho_error"}
"""Errors by other splits, by what they are called and what they are in the facts."""
_WHOLE = 1e5, 1e15
"""Numbers of this size are shown without decimals, and larger ones by their exponent."""


@dataclass(frozen=True)
class Row:
    """One line of a table; `note` says what its numbers rest on."""

    texts: tuple[str, ...]
    note: str = ""


@dataclass(frozen=True)
class Sheet:
    """A table: headings, how many of them at the front are words, and rows."""

    title: str
    headings: tuple[str, ...]
    words: int
    rows: tuple[Row, ...]

    def as_dict(self) -> dict[str, Any]:
        """For programs and pages."""
        return asdict(self)


def plan_sheet(facts: Facts) -> Sheet:
    """A line for each statistic: what it may spend, how far off it may be, and how far by other splits."""
    statistics = facts["statistics"]
    others = compared(statistics)
    held = ("",) if any(entry["held"] for entry in statistics) else ()
    rows = [
        Row(
            (
                *(entry["name"], entry["statistic"], entry["mechanism"]),
                *(_budget(entry), error_told(entry), _percent(entry["relative"])),
                *(column[place] for column in others.values()),
                *(("held" if entry["held"] else "",) if held else ()),
            ),
            note_told(entry),
        )
        for place, entry in enumerate(statistics)
    ]
    headings = ("name", "statistic", "noise", "budget", "error ±", "relative", *others, *held)
    return Sheet("Statistics", headings, 3, tuple(rows))


def result_sheet(statistics: Sequence[Facts], confidence: float) -> Sheet:
    """The released statistics that are one number."""
    sure = _sure(confidence)
    single = [entry for entry in statistics if "cells" not in entry]
    rows = [Row((entry["name"], entry["statistic"], *_numbers(entry))) for entry in single]
    return Sheet("Results", ("name", "statistic", "value", sure), 2, tuple(rows))


def cell_sheet(entry: Facts, confidence: float) -> Sheet:
    """The cells of a released statistic that has many."""
    rank = {"rows_off": entry.get("rows_off")}
    rows = [Row((label(each["cell"]), *_numbers({**each, **rank}))) for each in entry["cells"]]
    headings = ("cell", "value", f"{_sure(confidence)} for all")
    return Sheet(f"{entry['name']}: {entry['statistic']}", headings, 1, tuple(rows))


def compared(statistics: Sequence[Facts]) -> dict[str, list[str]]:
    """The columns of errors by other splits: those that there are, and empty for what is held."""
    found = {
        heading: ["" if entry["held"] or entry.get(key) is None else near(entry[key], 4) for entry in statistics]
        for heading, key in _SPLITS.items()
    }
    return {heading: column for heading, column in found.items() if any(column)}


def _numbers(entry: Facts) -> tuple[str, str]:
    """A released number, and the interval if there is one."""
    interval, off = entry["interval"], entry.get("rows_off")
    if interval is None:
        return _value(entry["value"]), "" if off is None else f"its rank within {near(off, 4)} rows"
    if interval == [None, None]:
        return _value(entry["value"]), "any number"
    return _value(entry["value"]), f"{_value(interval[0])} to {_value(interval[1])}"


def _value(number: float | str) -> str:
    """Whole ones whole, others with six digits; a date as it is."""
    if isinstance(number, str):
        return number
    if isinstance(number, int) or _WHOLE[0] <= abs(number) < _WHOLE[1]:
        return f"{number:,.0f}"
    return f"{number:,.6g}"


def _sure(confidence: float) -> str:
    return f"between, {near(100 * confidence)} %"


def _budget(entry: Facts) -> str:
    symbol, amount = ("ρ", entry["rho"]) if "rho" in entry else ("ε", entry["epsilon"])
    return f"{symbol} {near(float(Fraction(amount)), 4)}"


def _percent(share: float) -> str:
    return f"{near(100 * share, 3)} %"
