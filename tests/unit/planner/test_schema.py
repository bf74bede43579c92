"""The schema says what the reader takes: the same keys, and nothing that is read is against it."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator
from typing import Any

import pytest
from hypothesis import given, settings

from optcomp import InvalidInput, OptcompError
from optcomp.planner import read
from optcomp.planner.plan_schema import ID, schema
from tests.plans import ROOT, Plain, every_kind, example, small, spoiled

SCHEMA = schema()
_TYPES: dict[str, tuple[type, ...]] = {
    "object": (dict,),
    "array": (list,),
    "string": (str,),
    "integer": (int,),
    "number": (int, float),
    "boolean": (bool,),
}


def against(value: Any, rule: Plain) -> Iterator[str]:
    """What is wrong with a value, for the few words that the schema uses."""
    if "$ref" in rule:
        yield from against(value, SCHEMA["$defs"][rule["$ref"].removeprefix("#/$defs/")])
    if "const" in rule and (value != rule["const"] or isinstance(value, bool)):
        yield f"{value!r} is not {rule['const']!r}"
    if "enum" in rule and value not in rule["enum"]:
        yield f"{value!r} is not in {rule['enum']!r}"
    for word in ("oneOf", "anyOf"):
        fits = sum(not list(against(value, each)) for each in rule.get(word, ()))
        if word in rule and (not fits or (word == "oneOf" and fits > 1)):
            yield f"{value!r} is not {word} of {len(rule[word])}"
    if "type" in rule:
        kinds = _TYPES[rule["type"]]
        if not isinstance(value, kinds) or (isinstance(value, bool) and bool not in kinds):
            yield f"{value!r} is no {rule['type']}"
            return
    yield from _ranges(value, rule)
    if isinstance(value, dict) and ("properties" in rule or "additionalProperties" in rule):
        yield from _entries(value, rule)
    if isinstance(value, list) and "items" in rule:
        for each in value:
            yield from against(each, rule["items"])


def _ranges(value: Any, rule: Plain) -> Iterator[str]:
    if "pattern" in rule and not re.search(rule["pattern"], value):
        yield f"{value!r} does not match"
    if "minimum" in rule and not rule["minimum"] <= value <= rule.get("maximum", float("inf")):
        yield f"{value!r} is out of range"
    if "minItems" in rule and not rule["minItems"] <= len(value) <= rule.get("maxItems", float("inf")):
        yield f"{value!r} is too long or too short"
    if len(value) < rule.get("minProperties", 0) if isinstance(value, dict) else False:
        yield f"{value!r} is too short"


def _entries(value: Plain, rule: Plain) -> Iterator[str]:
    for name in rule.get("required", ()):
        if name not in value:
            yield f"{name} is missing"
    more = rule.get("additionalProperties")
    for name, each in value.items():
        if name in rule.get("properties", {}):
            yield from against(each, rule["properties"][name])
        elif more is False:
            yield f"{name} is not known"
        elif isinstance(more, dict):
            yield from against(each, more)


def test_published() -> None:
    """Run `make docs` when this fails."""
    assert json.loads((ROOT / "docs" / "plan-schema.json").read_text(encoding="utf8")) == SCHEMA
    assert SCHEMA["$id"] == ID == "urn:optcomp:plan:1"
    assert SCHEMA["$schema"].endswith("2020-12/schema")


def test_a_new_dictionary_each_time() -> None:
    schema()["properties"].clear()
    assert schema() == SCHEMA


@pytest.mark.parametrize("document", [example(), small(), every_kind()], ids=["example", "small", "every kind"])
def test_plans_that_are_read_are_valid(document: Plain) -> None:
    read(document)
    assert list(against(document, SCHEMA)) == []


BAD: list[Plain] = [
    small(plan=2),
    small(plan=True),
    small(budget={"epsilon": 1, "rho": 1}),
    small(budget={"harm": "none"}),
    small(budget={"epsilon": "one"}),
    small(objective="best"),
    small(statistics={}),
    small(statistics={"a": {"mean": "age", "sum": "age"}}),
    small(statistics={"a": {"mean": "age", "eror": 1}}),
    small(statistics={"a": {"median": "age", "mechanism": "gaussian"}}),
    small(statistics={"a": {"count": None, "hold": "yes"}}),
    small(statistics={"a": {"histogram": "age", "edges": [1]}}),
    small(columns={"age": {"integers": [0]}}),
    small(columns={"age": {"integers": [0, 99], "unit": 1}}),
    small(columns={"age": {}}),
    small(data={"rows": 0}),
    small(data={"rowz": 10}),
    {key: value for key, value in small().items() if key != "columns"},
]


@pytest.mark.parametrize("document", BAD, ids=range(len(BAD)))
def test_what_is_against_it_is_refused(document: Plain) -> None:
    assert list(against(document, SCHEMA))
    with pytest.raises(InvalidInput):
        read(document)


@given(spoiled(every_kind()))
@settings(max_examples=300)
def test_what_is_read_is_valid(document: Any) -> None:
    """And what is not read is refused with an error of our own."""
    try:
        read(document)
    except OptcompError:
        return
    assert list(against(json.loads(json.dumps(document)), SCHEMA)) == []


def known(document: Plain) -> set[str]:
    """The keys that the reader knows at the place of a key that it does not."""
    with pytest.raises(InvalidInput, match="stranger") as refusal:
        read(document)
    return set(str(refusal.value).split("known are ")[1].rsplit(", got ", 1)[0].split(", "))


def test_the_same_keys_at_the_top_and_about_the_data() -> None:
    assert known(small() | {"stranger": 1}) == set(SCHEMA["properties"])
    assert known(small(data={"stranger": 1})) == set(SCHEMA["properties"]["data"]["properties"])


def test_the_same_keys_in_the_budget() -> None:
    ways = [way["properties"] for way in SCHEMA["properties"]["budget"]["oneOf"]]
    assert known(small(budget={"epsilon": 1, "stranger": 1})) == set().union(*ways)


@pytest.mark.parametrize(
    ("place", "kind", "value"),
    [
        *((0, "integers", [0, 1]), (1, "reals", [0, 1]), (2, "categories", ["a"]), (3, "dates", [2020, 2021])),
        (4, "text", 64),
    ],
)
def test_the_same_keys_in_columns(place: int, kind: str, value: Any) -> None:
    found = known(small(columns={"age": {kind: value, "stranger": 1}}))
    assert found == set(SCHEMA["$defs"]["column"]["oneOf"][place]["properties"])


@pytest.mark.parametrize("kind", [name for name in SCHEMA["$defs"] if name not in ("number", "column")])
def test_the_same_keys_in_statistics(kind: str) -> None:
    value: Any = {"contingency": ["region"], "means": ["age"], "count": "rows", "people": "all"}.get(kind, "age")
    assert known(small(statistics={"a": {kind: value, "stranger": 1}})) == set(SCHEMA["$defs"][kind]["properties"])


def test_everything_is_described() -> None:
    def bare(rule: Any, place: str) -> Iterator[str]:
        if isinstance(rule, dict):
            for name, each in rule.get("properties", {}).items():
                if "description" not in each:
                    yield f"{place}.{name}"
            for name, each in rule.items():
                yield from bare(each, f"{place}.{name}")
        elif isinstance(rule, list):
            for each in rule:
                yield from bare(each, place)

    assert list(bare(SCHEMA, "")) == []
