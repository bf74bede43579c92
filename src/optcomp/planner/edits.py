"""Edits of a plan that leave the plan as it was: each returns a new document.

    set     mean_age.error=0.5, mean_age.weight=3, budget.epsilon=2, confidence=0.99
    hold    a statistic keeps the error that the plan gave it, whatever else changes
    free    a statistic is no longer held
    drop    a statistic is left out
    add     name: {mean: age}

A path begins with a part of the plan (budget, data, ...) or with the name of a statistic.  To hold by ε or by error
ends the other hold; ε or ρ of the budget ends what was there instead.  What an entry may be is checked when the plan is
read.
"""

from __future__ import annotations

import difflib
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import Any

from optcomp.errors import InvalidInput
from optcomp.planner.document import HARM, read
from optcomp.planner.plan import make_plan
from optcomp.planner.source import parsed
from optcomp.statistics import kind_of

PARTS = ("plan", "data", "columns", "budget", "confidence", "reserve", "objective", "statistics")
"""Of a plan; anything else in a path is the name of a statistic."""
_HOLDS = ("epsilon", "rho", "error", "hold")
"""Entries that hold a statistic: one of them at a time."""
Plain = dict[str, Any]
"""A plan as it is written."""


@dataclass(frozen=True)
class Edits:
    """What is to change, as people write it."""

    sets: tuple[str, ...] = ()
    """PATH=VALUE each."""
    holds: tuple[str, ...] = ()
    frees: tuple[str, ...] = ()
    drops: tuple[str, ...] = ()
    adds: tuple[str, ...] = ()
    """Entries of YAML each, such as name: {mean: age}."""

    def __bool__(self) -> bool:
        return bool(self.sets or self.holds or self.frees or self.drops or self.adds)


def edited(document: Mapping[str, Any], edits: Edits) -> Plain:
    """The plan with all edits: first what is left out and added, then holds, then what is set."""
    found = copied(document)
    if not edits:
        return found
    values = [_assignment(text) for text in edits.sets]
    _check_holds(found, edits, [path for path, _ in values])
    errors = _errors(document, _pinned(found, edits))
    for name in edits.drops:
        found = drop(found, name)
    for text in edits.adds:
        found = add(found, text)
    for name in edits.frees:
        found = free(found, name)
    for name, error in errors.items():
        found = hold(found, name, error)
    for path, value in values:
        found = put(found, path, value)
    return found


def copied(document: Mapping[str, Any]) -> Plain:
    """The same, down to the last list, with nothing shared; names are text."""
    if not isinstance(document, Mapping):
        raise InvalidInput("plan", kind_of(document), "must be a mapping")
    found: Plain = _copy(document)
    for part in ("columns", "statistics"):
        inside = found.get(part)
        if isinstance(inside, dict) and len({*map(str, inside)}) == len(inside):
            found[part] = {str(name): entry for name, entry in inside.items()}
    return found


def _copy(value: object) -> Any:
    if isinstance(value, Mapping):
        return {key: _copy(inner) for key, inner in value.items()}
    return [_copy(inner) for inner in value] if isinstance(value, list | tuple) else value


def put(document: Plain, path: str, value: object) -> Plain:
    """An entry has this value."""
    found = copied(document)
    *way, last = _keys(found, path)
    place = found
    for key in way:
        inner = place.setdefault(key, {})
        if inner is None:
            inner = place[key] = {}
        if not isinstance(inner, dict):
            raise InvalidInput("set", path, f"leads through {key}, which has no entries of its own")
        place = inner
    if way == ["budget"]:
        _make_room(place, last)
    if len(way) == 2 and way[0] == "statistics" and last in _HOLDS:
        for other in _HOLDS:
            place.pop(other, None)
    place[last] = value
    return found


def hold(document: Plain, name: str, error: float | None = None) -> Plain:
    """A statistic stays as it is: at this error, or else as the plan is worked out."""
    found = free(document, name, "hold")
    found["statistics"][name] |= {"hold": True} if error is None else {"error": repr(error)}
    return found


def free(document: Plain, name: str, option: str = "free") -> Plain:
    """A statistic is held neither by ε nor by error nor as it is."""
    found = copied(document)
    entry = found["statistics"][_known(found, name, option)]
    if not isinstance(entry, dict):
        raise InvalidInput(option, name, "cannot be held: its entry must be a mapping")
    for key in _HOLDS:
        entry.pop(key, None)
    return found


def drop(document: Plain, name: str) -> Plain:
    """A statistic is left out."""
    found = copied(document)
    del found["statistics"][_known(found, name, "drop")]
    return found


def add(document: Plain, text: str) -> Plain:
    """One or more statistics, written as in a plan."""
    found: Plain = copied(document)
    entries = _value(text, "add")
    if not isinstance(entries, dict) or not entries:
        raise InvalidInput("add", text, "must be a name and a statistic, such as 'mean_age: {mean: age}'")
    statistics = _statistics(found)
    for name, entry in entries.items():
        if str(name) in statistics:
            raise InvalidInput("add", name, "is in the plan already: drop it first, or set its entries")
        statistics[str(name)] = entry
    return found


def _check_holds(document: Plain, edits: Edits, paths: list[str]) -> None:
    """Refuse edits that contradict each other."""
    for name in edits.holds:
        _known(document, name, "hold")
        if name in (*edits.frees, *edits.drops):
            raise InvalidInput("hold", name, "cannot be freed or dropped at the same time")
        if any(_keys(document, path) == ["statistics", name, key] for path in paths for key in _HOLDS):
            raise InvalidInput("hold", name, "cannot be held as it is and set at the same time")


def _pinned(document: Plain, edits: Edits) -> list[str]:
    """What keeps its error: what is held now, and what was held in the plan and may not move now."""
    statistics = _statistics(document)
    marked = [name for name, entry in statistics.items() if isinstance(entry, dict) and entry.get("hold") is True]
    gone = {*edits.frees, *edits.drops}
    names = dict.fromkeys([*edits.holds, *(name for name in marked if name not in gone)])
    own = {name for name in names if {"error", "epsilon", "rho"} & set(statistics[name] or {})}
    return [name for name in names if name not in own]


def _errors(document: Mapping[str, Any], names: Iterable[str]) -> dict[str, float]:
    """The errors that the plan gives to some of its statistics."""
    wanted = list(names)
    if not wanted:
        return {}
    try:
        known = {line.wish.name: line.error for line in make_plan(read(document)).lines}
    except InvalidInput as error:
        raise InvalidInput("hold", ", ".join(wanted), f"needs a plan that works without changes ({error})") from None
    return {name: known[name] for name in wanted}


def _assignment(text: str) -> tuple[str, Any]:
    path, equals, value = text.partition("=")
    if not equals or not path.strip() or not value.strip():
        raise InvalidInput("set", text, "must be a path and a value, such as mean_age.error=0.5")
    return path.strip(), _value(value.strip(), "set")


def _value(text: str, option: str) -> Any:
    try:
        return parsed(text, option)
    except InvalidInput as error:
        raise InvalidInput(option, text, f"cannot be read ({error.problem})") from None


def _keys(document: Plain, path: str) -> list[str]:
    """The keys that lead to an entry."""
    first, _, rest = path.partition(".")
    if first not in PARTS:
        first, rest = "statistics", path
    if first not in ("statistics", "columns"):
        return [first, *rest.split(".")] if rest else [first]
    if not rest:
        raise InvalidInput("set", path, "is too much to be set at once: name one entry, or edit the file")
    inside = document.get(first)
    names = [name for name in inside if f"{rest}.".startswith(f"{name}.")] if isinstance(inside, dict) else []
    if not names:
        part = _WHERE.get(path)
        hint = f" (did you mean {part}.{path}?)" if part else _meant(rest, inside)
        raise InvalidInput("set", path, f"names no {_singular(first)} of the plan{hint}")
    name = max(names, key=len)  # a name may have points of its own
    inner = rest[len(name) + 1 :]
    if not inner:
        raise InvalidInput("set", path, f"must name an entry of {name}, such as {name}.error")
    return [first, name, *inner.split(".")]


_WHERE = dict.fromkeys(("epsilon", "delta", "rho", "harm"), "budget") | dict.fromkeys(
    ("rows", "rows_public", "population", "neighbours", "person", "rows_per_person"), "data"
)
"""Entries of parts, which must be named with them."""


def _singular(part: str) -> str:
    return {"statistics": "statistic", "columns": "column"}[part]


def _meant(text: str, names: object) -> str:
    """A hint at what was meant."""
    known = [str(name) for name in names] if isinstance(names, Mapping) else []
    close = difflib.get_close_matches(text.split(".")[0], known, 1)
    if close:
        return f" (did you mean {close[0]}?)"
    return f", which has {', '.join(known[:8])}{', …' if len(known) > 8 else ''}" if known else ""


def _statistics(document: Plain) -> Plain:
    found = document.setdefault("statistics", {})
    if not isinstance(found, dict):
        raise InvalidInput("statistics", kind_of(found), "must be a mapping")
    return found


def _known(document: Plain, name: str, option: str) -> str:
    statistics = _statistics(document)
    if name not in statistics:
        raise InvalidInput(option, name, f"names no statistic of the plan{_meant(name, statistics)}")
    return name


def _make_room(budget: Plain, key: str) -> None:
    """(ε, δ), ρ and harm exclude each other."""
    if key in ("epsilon", "delta"):
        harm = budget.pop("harm", None)
        if isinstance(harm, str) and harm in HARM:
            budget["epsilon"], budget["delta"] = HARM[harm]
        budget.pop("rho", None)
    elif key in ("rho", "harm"):
        for other in ("epsilon", "delta", "rho", "harm"):
            budget.pop(other, None)
