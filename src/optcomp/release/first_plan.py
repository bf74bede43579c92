"""A plan to begin with, from the header of a source: what its owner must say is asked for, and not read off the data.

Types and the dialect of a file are proposed by a look at its first rows.  Ends and categories are left open, unless the
owner says that they are public: a range that follows the data tells about the people in them, and no noise covers that.
"""

from __future__ import annotations

import json
import math
import re
from collections.abc import Iterator
from pathlib import Path

from optcomp.statistics import (
    Dialect,
    Reading,
    SeenColumn,
    files_of,
    has_dialect,
    in_condition,
    is_address,
    propose,
    seen_columns,
)

LOW, HIGH = "LOW", "HIGH"
"""What stands where the owner has to write a bound."""
_LIKE_PERSON = ("person", "patient", "customer", "user", "client", "member", "respondent", "who", "id", "kunde", "nr")
"""Parts of names of columns that may say whose row it is."""
_OPEN = {
    "integers": f"{{integers: [{LOW}, {HIGH}]}}",
    "reals": f"{{reals: [{LOW}, {HIGH}]}}",
    "categories": "{categories: [VALUE, VALUE]}",
    "truth": "{categories: [true, false]}",
    "": f"{{integers: [{LOW}, {HIGH}]}}",
}
"""How a column is declared, with what is to be filled in."""
_ASKED = (("histogram", ("categories", "truth")), ("median", ("dates",)), ("mean", ("integers", "reals")))
"""Statistics that are proposed, each for the first column of such a kind."""


def first_plan(source: str | Path, *, table: str | None = None, public: bool = False) -> str:
    """The text of a plan, with comments; it cannot be released before what is open in it is filled in."""
    path = Path(source) if not is_address(source) else None
    first = None if path is None else files_of(path)[0]
    dialect = propose(first).dialect if first is not None and first.is_file() and has_dialect(first) else None
    reading = Reading.of(False, dialect, None, table)
    columns = seen_columns(source if path is None else path, reading, public=public)
    name = _name(path) if path is not None else table or "table"
    return "\n".join((*_data(name, columns, dialect, table), *_columns(columns, public), *_rest(columns))) + "\n"


def _name(path: Path) -> str:
    """That of a file without its ending, and without what makes it a pattern."""
    return re.sub(r"[*?\[\]]+", "", path.name.split(".")[0]).strip("-_ ") or "table"


def _data(name: str, columns: list[SeenColumn], dialect: Dialect | None, table: str | None) -> Iterator[str]:
    yield "# A plan for optcomp. Fill in what is in CAPITALS, drop what you do not need, then look before you spend:"
    yield "#   optcomp plan THIS_FILE"
    yield "#   optcomp data check THIS_FILE --data DATA"
    yield "#   optcomp plan release THIS_FILE --data DATA"
    yield "plan: 1"
    yield "data:"
    yield f"  name: {_text(name)}"
    yield "  # About how many rows there are, if everybody may know that: errors of means and quantiles depend on it."
    yield "  # rows: 1000"
    yield "  # Whose row is it? Without `person` every row counts as a person of its own."
    yield f"  # person: {_text(_person(columns) or 'COLUMN')}"
    yield "  # rows_per_person: 1"
    yield "  # Cells that cannot be read: `refuse` prepares nothing, `missing` counts them as missing."
    yield "  bad_cells: refuse"
    if dialect is not None:
        yield "  # How the file looks written: please confirm."
        said = {key: value for key, value in dialect.written.items() if value != getattr(Dialect(), key)}
        yield f"  dialect: {json.dumps(said, ensure_ascii=False)}"
    if table is not None:
        yield f"  table: {_text(table)}"
    odd = [each.name for each in columns if in_condition(each.name) != each.name]
    if odd:
        yield f"  # In conditions names such as these stand between backquotes, `{odd[0]}` > 0; or give them others:"
        others = {name: f"column_{place}" for place, name in enumerate(odd, 1)}
        yield f"  # rename: {json.dumps(others, ensure_ascii=False)}"


def _columns(columns: list[SeenColumn], public: bool) -> Iterator[str]:
    yield "columns:"
    if public:
        yield "  # Ends and categories were read off the data, because you say that they are public."
    else:
        yield "  # Bounds and categories: from what is known beforehand, never from the data. Other values are clamped."
    person = _person(columns)
    for each in columns:
        note = "" if each.kind else "  # all cells that were looked at are empty"
        if each.name == person:
            yield f"  # {_text(each.name)}: a column that tells whose row it is needs no bounds"
        else:
            yield f"  {_text(each.name)}: {_domain(each)}{note}"


def _domain(seen: SeenColumn) -> str:
    if seen.kind == "dates":
        ends = [LOW, HIGH] if seen.low is None else [seen.low, seen.high]
        how = "" if seen.format is None else f", format: {_text(seen.format)}"
        return f"{{dates: [{ends[0]}, {ends[1]}], unit: day, zone: UTC{how}}}"
    if seen.kind == "categories" and seen.values:
        return f"{{categories: {json.dumps(sorted(seen.values), ensure_ascii=False)}}}"
    if seen.low is None or isinstance(seen.low, str) or seen.high is None or isinstance(seen.high, str):
        return _OPEN[seen.kind]
    high = seen.high if seen.high > seen.low else seen.low + 1
    if seen.kind == "integers":
        return f"{{integers: [{math.floor(seen.low)}, {math.ceil(high)}]}}"
    return f"{{reals: [{seen.low!r}, {high!r}]}}"


def _rest(columns: list[SeenColumn]) -> Iterator[str]:
    yield "# What may be spent, by the harm if something came out: low, moderate, high, extreme."
    yield "# Or in numbers: {epsilon: 1, delta: 1e-6}"
    yield "budget: {harm: moderate}"
    yield "statistics:"
    yield "  how_many: {count: rows}"
    named = {word: next((each.name for each in _others(columns) if each.kind in kinds), None) for word, kinds in _ASKED}
    yield from (f"  # {word}_of_it: {{{word}: {_text(name)}}}" for word, name in named.items() if name is not None)


def _others(columns: list[SeenColumn]) -> list[SeenColumn]:
    person = _person(columns)
    return [each for each in columns if each.name != person]


def _person(columns: list[SeenColumn]) -> str | None:
    return next((each.name for each in columns if _like_person(each.name)), None)


def _like_person(name: str) -> bool:
    lower = name.lower()
    words = re.split(r"[\W_]+", lower)
    return any(part in words or (len(part) > 2 and part in lower) for part in _LIKE_PERSON)


def _text(words: str) -> str:
    """A name as YAML holds it, whatever letters it has."""
    return json.dumps(words, ensure_ascii=False)
