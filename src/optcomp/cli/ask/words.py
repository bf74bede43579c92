"""A statistic in words, as somebody types it: `count where age >= 65`, `mean income by region`, `contingency a, b`."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Any

from optcomp.cli.failures import Complaint

if TYPE_CHECKING:
    from optcomp.statistics import Named, Statistic

_WORDS = re.compile(
    r"(?s)(?P<word>\w+)(?:\s+(?!where\s|by\s)(?P<about>.*?))?(?:\s+by\s+(?!where\s)(?P<by>.*?))?"
    r"(?:\s+where\s+(?P<where>.*))?"
)
"""A word of plans, what it is about, the columns that it is grouped by, and a condition."""


def statistic_in(text: str) -> Statistic:
    """The statistic of a text; what begins with a brace is written as in a plan."""
    from optcomp.planner import parsed
    from optcomp.statistics import read_statistic

    trimmed = text.strip()
    return read_statistic(parsed(trimmed, "QUESTION") if trimmed.startswith("{") else _entries(trimmed))


def _entries(text: str) -> dict[str, Any]:
    from optcomp.statistics import known_keywords

    known, found = known_keywords(), _WORDS.fullmatch(text)
    named = None if found is None else known.get(found["word"])
    if found is None or named is None:
        raise Complaint(f"QUESTION: must begin with one of {', '.join(known)}, got {text!r}")
    about = {named.keyword.word: _about(named, found["about"] or "")}
    if found["by"] is not None:
        about["by"] = [each.strip() for each in found["by"].split(",") if each.strip()]
    return about | ({"where": found["where"]} if found["where"] is not None else {})


def _about(named: Named, text: str) -> Any:
    """What a statistic is about: rows, a column, or several columns with commas."""
    schema = named.keyword.entries.get(named.keyword.word, {})
    if "enum" in schema and not text:
        return schema["enum"][0]
    if not text:
        raise Complaint(f"QUESTION: say about what, such as '{named.keyword.word} income'")
    if schema.get("type") == "array":
        return [each.strip() for each in text.split(",") if each.strip()]
    return text
