"""Help with bounds: ranges that are known beforehand, and how columns are declared in forms.

Nothing here is read off the data.  A range that follows the data tells about the people in them, and no noise covers
that.
"""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, get_args

from optcomp.statistics import Reading, Text, TimeUnit

KINDS = ("integers", "reals", "dates", "categories", "text")
"""What a column may hold."""
UNITS: tuple[str, ...] = ("day", *(unit for unit in get_args(TimeUnit) if unit != "day"))
"""What dates are counted in, the usual one first."""
FIELDS = ("rename", "kind", "low", "high", "step", "values", "preset", "unit", "zone", "format")
"""What a form says of a column."""
_WHOLE = re.compile(r"[-+]?[0-9]{1,18}")
_DECIMAL = re.compile(r"[-+]?([0-9]{1,18}(\.[0-9]{0,18})?|\.[0-9]{1,18})([eE][-+]?[0-9]{1,2})?")
"""An end of a range, or a step: a point and no comma."""
_TRUTH = {"true": True, "false": False}
_MOST_VALUES = 500
"""Categories of a column that somebody types."""


@dataclass(frozen=True)
class Preset:
    """A range that is known beforehand."""

    kind: str
    low: str = ""
    high: str = ""
    step: str = ""
    values: str = ""
    like: tuple[str, ...] = ()
    """Parts of names of columns for which it is proposed."""


PRESETS = {
    "age": Preset("integers", "0", "120", like=("age",)),
    "year": Preset("integers", "1900", "2100", like=("year", "jahr")),
    "month": Preset("integers", "1", "12", like=("month",)),
    "percent": Preset("reals", "0", "100", "0.1", like=("percent", "share", "rate")),
    "hours_week": Preset("integers", "0", "168", like=("hours",)),
    "days_year": Preset("integers", "0", "366", like=("days", "stay")),
    "household": Preset("integers", "1", "15", like=("household", "children", "persons")),
    "money_year": Preset("reals", "0", "200000", "1", like=("income", "wage", "salary", "cost", "price", "revenue")),
    "height_cm": Preset("integers", "40", "230", like=("height",)),
    "weight_kg": Preset("reals", "0", "300", "0.1", like=("weight", "mass")),
    "score_10": Preset("integers", "0", "10", like=("score", "satisfaction", "grade")),
    "truth": Preset("categories", values="true, false", like=("employed", "has_", "is_", "woman")),
    "sex": Preset("categories", values="f, m, d", like=("sex", "gender")),
}
"""By name; their words are in the catalogue of sentences."""


def proposed(name: str) -> str:
    """A preset by the name of a column; nothing where none is alike."""
    lower = name.lower()
    return next((key for key, each in PRESETS.items() if any(part in lower for part in each.like)), "")


def filled(column: Mapping[str, Any], preset: str) -> dict[str, Any]:
    """A column as a preset has it."""
    found = PRESETS[preset]
    return {
        **column,
        "use": True,
        "kind": found.kind,
        "low": found.low,
        "high": found.high,
        "step": found.step,
        "values": found.values,
        "preset": "",
    }


def new_column(name: str, kind: str) -> dict[str, Any]:
    """A column of which nothing is declared yet; `kind` is what its type says."""
    empty = {**dict.fromkeys(FIELDS, ""), "name": name, "use": False, "kind": kind or "integers"}
    return empty | {"preset": proposed(name)}


class NotDeclared(ValueError):
    """What somebody typed declares no column; `key` says why, in the catalogue of sentences, and `field` where."""

    def __init__(self, key: str, field: str = "kind") -> None:
        self.key, self.field = key, field
        super().__init__(key)


def new_name(column: Mapping[str, Any]) -> str:
    """What a column is called in the declaration: as in the source, unless its owner gives it another name."""
    return str(column.get("rename") or column["name"])


def renamed(columns: Sequence[Mapping[str, Any]]) -> dict[str, str]:
    """Names in the source, each with the one that its owner gives it; refused where two would have one name."""
    found = {each["name"]: new_name(each) for each in columns if new_name(each) != each["name"]}
    Reading.of(False, None, found, None).new_names([each["name"] for each in columns])
    return found


def declared_column(column: Mapping[str, Any]) -> dict[str, Any]:
    """A column as a declaration has it."""
    name, kind = new_name(column), column["kind"]
    if kind == "integers":
        return {"name": name, "integers": [_whole(column["low"], "low"), _whole(column["high"], "high")]}
    if kind == "reals":
        for field in ("low", "high"):
            if not column[field]:
                raise NotDeclared("ends", field)
            _check_decimal(column[field], field)
        if column["step"]:
            _check_decimal(column["step"], "step")
        return {"name": name, "reals": [column["low"], column["high"]], "unit": column["step"] or None}
    if kind == "dates":
        return {"name": name, **_dates(column)}
    if kind == "text":
        return {"name": name, "text": Text().most}
    return {"name": name, "categories": _categories(column["values"])}


def _dates(column: Mapping[str, Any]) -> dict[str, Any]:
    """A range of days; whether they are days is said by whoever reads the declaration."""
    for field in ("low", "high"):
        if not column[field]:
            raise NotDeclared("ends", field)
    how = {"unit": column.get("unit") or UNITS[0], "zone": column.get("zone") or "UTC"}
    return {"dates": [column["low"], column["high"]], **how, "format": column.get("format") or None}


def declaration(columns: Sequence[Mapping[str, Any]], about: Mapping[str, Any]) -> dict[str, Any]:
    """What is declared of a table."""
    used = [declared_column(each) for each in columns if each["use"]]
    named, person = {each["name"]: new_name(each) for each in columns}, about.get("person") or None
    return {
        "columns": used,
        "person": named.get(person, person) if person else None,
        "rows_per_person": int(about.get("rows_per_person", 1)) if person else 1,
        "neighbours": about.get("neighbours", "add-remove"),
    }


def chosen(column: Mapping[str, Any]) -> dict[str, Any]:
    """A column whose range is chosen from the usual ones, and not typed, as that range has it."""
    typed = any(column[key] for key in ("low", "high", "values"))
    return filled(column, column["preset"]) if column["use"] and column["preset"] and not typed else dict(column)


def _whole(text: str, field: str) -> int:
    if not text:
        raise NotDeclared("ends", field)
    if not _WHOLE.fullmatch(text):
        raise NotDeclared("whole", field)
    return int(text)


def _check_decimal(text: str, field: str) -> None:
    if not _DECIMAL.fullmatch(text):
        raise NotDeclared("decimal", field)


def _categories(text: str) -> list[str | int | bool]:
    """Values between commas, semicolons or lines; whole numbers, or true and false, where all of them are that."""
    words = [each.strip() for each in re.split(r"[,;\n]", text) if each.strip()][:_MOST_VALUES]
    if not words:
        raise NotDeclared("values", "values")
    if all(each.lower() in _TRUTH for each in words):
        return [_TRUTH[each.lower()] for each in words]
    if all(_WHOLE.fullmatch(each) for each in words):
        return [int(each) for each in words]
    return list(words)
