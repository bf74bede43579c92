"""Forms that make entries of a plan: one statistic of any kind, or one for each group; and columns declared by hand.

Which kinds there are, and what each may be told, comes from the register of statistics: a new statistic has a form
without a line here.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Any

from optcomp.errors import InvalidInput
from optcomp.pages.desk_form import fitting, groupable
from optcomp.pages.planner_drafts import Plain
from optcomp.pages.planner_fields import whole, without_groups
from optcomp.planner import read
from optcomp.statistics import Categories, Declared, Entries, Named, Text, check_condition, in_condition, known_keywords

_EACH = "where"
_MOST_COLUMNS = 200
"""Of a table that is declared by hand: nobody types more."""
KINDS = ("integers", "reals", "dates", "categories", "text")
"""What a column may hold."""
COLUMN_FIELDS = ("name", "kind", "low", "high", "unit", "values")
"""Of one column in the form."""


@dataclass(frozen=True)
class EntryField:
    """A field for an entry of a statistic: how it is asked for, and which columns may be chosen."""

    name: str
    shape: str
    """column, columns, groups, numbers, edges, whole or text."""
    hint: str
    columns: tuple[str, ...] = ()
    required: bool = False


def kinds() -> dict[str, Named]:
    """All kinds of statistics, by the word that plans have for them."""
    return known_keywords()


def table_of(plan: Mapping[str, Any]) -> Declared:
    """What is declared in a plan that may have no statistics yet."""
    return read({**plan, "statistics": {"any": {"count": "rows"}}}).table


def entry_fields(word: str, table: Declared) -> list[EntryField]:
    """The fields for a kind of statistic; what can have but one value is not asked for."""
    named = kinds()[word]
    return [
        _field(name, dict(rule), named, table) for name, rule in named.keyword.entries.items() if "enum" not in rule
    ]


def _field(name: str, rule: Mapping[str, Any], named: Named, table: Declared) -> EntryField:
    own, hint = name == named.keyword.word, str(rule.get("description", ""))
    lists = [each for each in rule.get("anyOf", ()) if each.get("type") == "array"]
    rule = lists[0] if lists else rule
    if rule.get("type") == "array":
        shape = ("columns" if own else "groups") if rule["items"].get("type") == "string" else "numbers"
    elif rule.get("type") == "object":
        shape = "edges"
    else:
        shape = "whole" if rule.get("type") == "integer" else "column" if own else "text"
    possible = {
        "column": lambda: _possible(named, table),
        "groups": lambda: iter(groupable(named, name, table)),
        "columns": lambda: iter(fitting(named, table)),
    }
    columns = tuple(possible.get(shape, lambda: iter(table.columns))())
    return EntryField(name, shape, hint, columns, own)


def _possible(named: Named, table: Declared) -> Iterator[str]:
    """The columns that a statistic can be about, perhaps in bins."""
    word = named.keyword.word
    tries: tuple[Plain, ...] = ({}, {"bins": 2}) if "bins" in named.keyword.entries else ({},)
    for column in table.columns:
        for more in tries:
            try:
                named.keyword.read(Entries({word: column, **more}, "statistic")).parts(table)
            except InvalidInput:
                continue
            yield column
            break


def entry_of(word: str, form: Mapping[str, Any], table: Declared, columns: list[str]) -> Plain:
    """The entry of a plan that a form describes; what is wrong with it is found by the reader of plans."""
    named = kinds()[word]
    entry: Plain = {name: rule["enum"][0] for name, rule in named.keyword.entries.items() if "enum" in rule}
    for field in entry_fields(word, table):
        text = str(form.get(field.name, "")).strip()
        if field.shape == "columns":
            entry[field.name] = columns
        elif field.shape == "groups":
            entry |= {field.name: chosen} if (chosen := groups_in(form, field)) else {}
        elif text:
            entry[field.name] = _READ[field.shape](text)
    for name in ("where", "weight", "mechanism", *named.keyword.facts):
        if text := str(form.get(name, "")).strip():
            entry[name] = text
    if text := str(form.get("about_rows", "")).strip():
        entry["rows"] = whole(text)
    return {name: value for name, value in entry.items() if (name, value) not in _MEANT}


def groups_in(form: Mapping[str, Any], field: EntryField) -> list[str]:
    """The columns that are ticked for grouping."""
    marked = form.getlist(field.name) if hasattr(form, "getlist") else form.get(field.name, [])
    return [column for column in field.columns if column in marked]


_MEANT = (("weight", "1"), ("mechanism", "auto"))
"""What need not be said."""


def with_statistic(plan: Plain, word: str, form: Mapping[str, Any], columns: list[str]) -> Plain:
    """The plan with one more statistic, or with one for each group of a column."""
    table = table_of(plan)
    entry, name = entry_of(word, form, table, columns), str(form.get("name", "")).strip()
    if _EACH in entry:
        check_condition(entry[_EACH], table.columns)
    by = str(form.get("each", ""))
    statistics = dict(plan.get("statistics") or {})
    base = name or _usual_name(word, entry)
    for label, made in _each(entry, base, by, table) if by else [(base, entry)]:
        if label in statistics and name:
            raise InvalidInput("name", label, "is taken: choose another name")
        statistics[_free_name(label, statistics)] = made
    return {**plan, "statistics": statistics}


def _each(entry: Plain, base: str, by: str, table: Declared) -> Iterator[tuple[str, Plain]]:
    """One entry for each value of a column of categories."""
    domain = table.domain(by, Categories, "each")
    written = in_condition(by)
    if written is None:
        raise InvalidInput("each", by, "cannot be named in a condition: it has backquotes")
    for value in domain.values:
        here = f"{written} == {value!r}"
        where = f"({entry[_EACH]}) and {here}" if _EACH in entry else here
        yield f"{base}_{value}", {**entry, _EACH: where}


def _usual_name(word: str, entry: Plain) -> str:
    about = entry.get(word)
    columns = about if isinstance(about, list) else [about]
    return "_".join([word, *(str(each) for each in columns if each not in (None, "rows"))])


def _free_name(name: str, taken: Mapping[str, Any]) -> str:
    if name not in taken:
        return name
    return next(each for number in range(2, len(taken) + 3) if (each := f"{name}_{number}") not in taken)


def _numbers(text: str) -> list[str]:
    return [each.strip() for each in text.replace(";", ",").split(",") if each.strip()]


def _edges(text: str) -> dict[str, list[str]]:
    """Lines such as age: 0, 20, 40."""
    lines = [line.partition(":") for line in text.splitlines() if line.strip()]
    return {name.strip(): _numbers(rest) for name, _, rest in lines}


_READ: dict[str, Any] = {"column": str, "text": str, "whole": whole, "numbers": _numbers, "edges": _edges}
"""How the text of a field is read, by its shape."""


def typed_columns(form: Mapping[str, Any]) -> tuple[dict[str, str], ...]:
    """The columns of a form as they were typed, without rows that are empty."""
    rows = []
    for number in range(_MOST_COLUMNS):
        if f"name-{number}" not in form:
            break
        row = {name: str(form.get(f"{name}-{number}", "")).strip() for name in COLUMN_FIELDS}
        if any(row[name] for name in COLUMN_FIELDS if name != "kind"):
            rows.append(row)
    return tuple(rows)


def declared_columns(rows: tuple[dict[str, str], ...]) -> Plain:
    """Typed columns in the words of plans."""
    found: Plain = {}
    for number, row in enumerate(rows):
        if not row["name"] or row["name"] in found:
            raise InvalidInput(f"name-{number}", row["name"], "must be a name that no other column has")
        found[row["name"]] = _column(row, number)
    if not found:
        raise InvalidInput("name-0", "", "must be the name of a column: declare at least one")
    return found


def _column(row: Mapping[str, str], number: int) -> Plain:
    if row["kind"] == "categories":
        values = [each.strip() for each in row["values"].split(",") if each.strip()]
        if not values:
            raise InvalidInput(f"values-{number}", row["values"], "must be the values, with commas between them")
        return {"categories": values}
    if row["kind"] == "text":
        return {"text": Text().most}
    if row["kind"] not in KINDS:
        raise InvalidInput(f"kind-{number}", row["kind"], f"must be one of {', '.join(KINDS)}")
    for end in ("low", "high"):
        if not row[end]:
            what = "a date, such as 2024-12-31," if row["kind"] == "dates" else "a number"
            raise InvalidInput(f"{end}-{number}", "", f"must be {what} that everybody may know")
    if row["kind"] == "integers":
        return {"integers": [_signed(row["low"], f"low-{number}"), _signed(row["high"], f"high-{number}")]}
    return {row["kind"]: [row["low"], row["high"]], **({"unit": row["unit"]} if row["unit"] else {})}


def _signed(text: str, argument: str) -> int:
    try:
        return int(without_groups(text))
    except ValueError:
        raise InvalidInput(argument, text, "must be a whole number") from None
