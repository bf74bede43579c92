"""A form for questions: its fields follow from the register of statistics and from what is declared about a table.

The state of the form is the address.  `read` never refuses: whatever is in the address, there is a form to show; what
is wrong with it is found where the document is read, by the same functions as over HTTP.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from starlette.datastructures import QueryParams

from optcomp.errors import InvalidInput
from optcomp.numerics import exact
from optcomp.statistics import (
    Categories,
    Dates,
    Declared,
    Domain,
    Entries,
    Named,
    Numbers,
    Text,
    in_condition,
    known_keywords,
)
from optcomp.statistics.noise import Noise

COMPARISONS = (">=", "<=", "==", "!=", ">", "<")
"""What a condition may compare a column with a value by."""
CONFIDENCES = ("0.9", "0.95", "0.99")
"""With which errors and intervals are shown."""
_USUAL = "0.95"
MOST_GROUPS = 200
"""Numbers of a statistic by a column that is offered for grouping: more than that nobody reads."""
_LONGEST = 4000
"""Letters of one field; conditions have at most half of that."""


@dataclass(frozen=True)
class Field:
    """One field of the form."""

    name: str
    kind: str
    """column, columns, whole, number, numbers, text or truth."""
    value: str = ""
    chosen: tuple[str, ...] = ()
    options: tuple[str, ...] = ()
    description: str = ""
    """What its schema says; for fields that the catalogue of sentences does not know."""
    about: str = ""
    """The column that it is about, if there is one for each column."""


@dataclass(frozen=True)
class Form:
    """What somebody has chosen so far."""

    named: Named
    words: tuple[str, ...]
    """Statistics that may be chosen."""
    fields: tuple[Field, ...]
    where: str
    comparing: Mapping[str, Any]
    """The comparison that is being written: column, columns, signs, is, value, values."""
    noises: tuple[Noise, ...]
    noise: Noise
    budget: Mapping[str, str]
    """Fields for what may be spent: ε, and δ and ρ where the noise may be paid with them."""
    confidence: str

    @property
    def word(self) -> str:
        """The statistic that is chosen."""
        return self.named.keyword.word

    @property
    def names(self) -> set[str]:
        """The names of all fields."""
        return {"kind", "where", "noise", "confidence", *self.budget, *(field.name for field in self.fields)}

    def statistic(self) -> dict[str, Any]:
        """The statistic in the words of plans."""
        entries = dict(_entries(self.named, self.fields))
        return entries | ({"where": self.where} if self.where else {})

    def question(self) -> dict[str, Any]:
        """The question as the interface takes it."""
        spent = {name: text for name, text in self.budget.items() if text}
        return {"statistic": self.statistic(), "noise": self.noise.name, **spent}


def read(given: QueryParams, declared: Declared, *, comparable: bool = False, usual: str = "0.1") -> Form:
    """The form of an address; with `comparable` for statistics only that thresholds can be compared with.

    `usual` is the ε of an address that names none.
    """
    known = {word: each for word, each in known_keywords().items() if each.statistic.comparable or not comparable}
    named = known.get(given.get("kind", ""), next(iter(known.values())))
    noises = named.statistic.noises()
    noise = next((each for each in noises if each.name == given.get("noise")), noises[0])
    paid = ("epsilon",) if noise.currency.pure else ("epsilon", "delta", "rho")
    defaults = {"epsilon": usual} if "epsilon" not in given else {}
    comparing = _comparing(given, declared)
    return Form(
        named,
        tuple(known),
        tuple(_fields(named, given, declared)),
        _where(_text(given, "where"), comparing) if given.get("add") else _text(given, "where"),
        comparing | ({"value": ""} if given.get("add") else {}),
        noises,
        noise,
        {name: _text(given, name) or defaults.get(name, "") for name in paid},
        given["confidence"] if given.get("confidence") in CONFIDENCES else _USUAL,
    )


def _fields(named: Named, given: QueryParams, declared: Declared) -> Iterator[Field]:
    """From the entries of a keyword, as JSON Schema says them."""
    word = named.keyword.word
    for name, schema in named.keyword.entries.items():
        told = str(schema.get("description", ""))
        kind, value = _kind(schema), _text(given, name)
        if "enum" in schema:
            continue
        if name == word and kind == "text":
            columns, chosen = fitting(named, declared), given.get("column", "")
            yield Field("column", "column", chosen if chosen in columns else next(iter(columns), ""), (), columns)
        elif kind == "columns" and name != word:
            columns = groupable(named, name, declared)
            marked = tuple(each for each in given.getlist(name) if each in columns)
            yield Field(name, "columns", "", marked, columns, told)
        elif kind == "columns":
            columns = fitting(named, declared)
            marked = tuple(each for each in given.getlist("columns") if each in columns)
            yield Field("columns", "columns", "", marked or columns[:1], columns)
        elif kind == "by column":
            marked = tuple(each for each in given.getlist("columns") if each in declared.columns)
            for column in marked or tuple(declared.columns)[:1]:
                if isinstance(declared.columns[column], Numbers):
                    own = f"{name}.{column}"
                    yield Field(own, "numbers", _text(given, own), description=told, about=column)
        else:
            yield Field(name, kind, value, description=told)


def _kind(schema: Mapping[str, Any]) -> str:
    lists = [each for each in schema.get("anyOf", ()) if each.get("type") == "array"]
    schema = lists[0] if lists else schema
    kind = schema.get("type")
    if kind == "array":
        return "columns" if schema.get("items", {}).get("type") == "string" else "numbers"
    return {"object": "by column", "string": "text", "integer": "whole", "boolean": "truth"}.get(str(kind), "number")


def fitting(named: Named, declared: Declared) -> tuple[str, ...]:
    """The columns that a statistic can be about."""
    found = []
    for column in declared.columns:
        try:
            named.keyword.read(Entries({named.keyword.word: about(named, column)}, "statistic")).parts(declared)
        except InvalidInput as error:
            if error.argument.rpartition(".")[2] == "column":
                continue
        found.append(column)
    return tuple(found)


def about(named: Named, column: str) -> str | list[str]:
    """A column as the word of a statistic takes it: by its name, or in a list."""
    return [column] if _kind(named.keyword.entries[named.keyword.word]) == "columns" else column


def groupable(named: Named, name: str, declared: Declared) -> tuple[str, ...]:
    """The columns that a further entry of columns may name: those that fit, and do not make too many numbers."""
    word = named.keyword.word
    others = named.keyword.entries[word].get("enum")
    return tuple(
        column
        for column in declared.columns
        if any(
            _fits(named, {word: each if others else about(named, each), name: [column]}, declared)
            for each in others or fitting(named, declared)
            if each != column
        )
    )


def _fits(named: Named, entries: Mapping[str, Any], declared: Declared) -> bool:
    try:
        parts = named.keyword.read(Entries(entries, "statistic")).parts(declared)
    except InvalidInput:
        return False
    return all(len(part.cells) <= MOST_GROUPS for part in parts)


def _entries(named: Named, fields: Sequence[Field]) -> Iterator[tuple[str, Any]]:
    """The entries of a statistic; what is empty is left out."""
    word, schemas = named.keyword.word, named.keyword.entries
    if "enum" in schemas.get(word, {}):
        yield word, schemas[word]["enum"][0]
    by_column: dict[str, dict[str, Any]] = {}
    for field in fields:
        if field.about and field.value:
            by_column.setdefault(field.name.partition(".")[0], {})[field.about] = value_of(field)
        elif field.name in ("column", "columns"):
            yield word, value_of(field)
        elif (field.kind == "columns" and field.chosen) or (field.value and not field.about):
            yield field.name, value_of(field)
    yield from by_column.items()


def value_of(field: Field) -> Any:
    """What a field holds, as documents have it."""
    if field.kind == "columns":
        return list(field.chosen)
    if field.kind == "numbers":
        return [each for each in re.split(r"[\s,;]+", field.value) if each]
    if field.kind == "truth":
        return field.value == "yes"
    if field.kind == "whole":
        return int(field.value) if re.fullmatch(r"-?[0-9]{1,18}", field.value) else field.value
    return field.value


def _comparing(given: QueryParams, declared: Declared) -> dict[str, Any]:
    """The comparison that is being written; columns whose names conditions can hold."""
    domains = declared.columns.items()
    columns = tuple(name for name, domain in domains if in_condition(name) is not None and not isinstance(domain, Text))
    column = given.get("where_column", "")
    column = column if column in columns else ""
    domain = declared.columns[column] if column else None
    values = tuple(map(str, domain.values)) if isinstance(domain, Categories) else ()
    signs, sign = ("==", "!=") if values else COMPARISONS, given.get("where_is", "")
    value = _text(given, "where_value")
    value = value if not values or value in values else values[0]
    found = {"column": column, "columns": columns, "signs": signs, "is": sign if sign in signs else signs[0]}
    return found | {"value": value, "values": values, "domain": domain}


def _where(where: str, comparing: Mapping[str, Any]) -> str:
    """The condition with one more comparison."""
    if not comparing["column"] or not comparing["value"]:
        return where
    more = f"{in_condition(comparing['column'])} {comparing['is']} {_literal(comparing['value'], comparing['domain'])}"
    return f"{where} and {more}" if where else more


def _literal(value: str, domain: Domain) -> str:
    """A value as conditions write it."""
    if isinstance(domain, Categories):
        return next((repr(each) for each in domain.values if str(each) == value), repr(value))
    if isinstance(domain, Dates):
        return repr(value)
    try:
        exact(value, "where")
    except InvalidInput:
        return repr(value)  # the condition says what is wrong with it
    return value


def _text(given: QueryParams, name: str) -> str:
    return given.get(name, "").strip()[:_LONGEST]
