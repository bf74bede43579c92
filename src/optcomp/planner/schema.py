"""The JSON Schema of plan documents, version 1: every entry that the reader knows, and nothing else.

A schema knows the shape of a document, not its sense: that a column is declared, or that a hold can be afforded, is
said by the reader and the planner.  `docs/plan-schema.json` is this schema, and a test keeps them equal.
"""

from __future__ import annotations

from typing import Any, get_args

from optcomp.planner.allocate import Objective
from optcomp.planner.document import HARM, MOST_ROWS, VERSION
from optcomp.planner.known import FACTS_OF
from optcomp.statistics.count_tables import MOST_BINS
from optcomp.statistics.table import Neighbours

ID = f"urn:optcomp:plan:{VERSION}"
Schema = dict[str, Any]
_NUMBER = r"^\s*[+-]?([0-9]+\.?[0-9]*|\.[0-9]+)([eE][+-]?[0-9]+)?(/[0-9]+)?\s*$"


def schema() -> Schema:
    """The schema, draft 2020-12, as a new dictionary."""
    return {
        "$schema": "https://json-schema.org/draft/2020-12/schema",
        "$id": ID,
        "title": "A plan of optcomp",
        "description": "Statistics about a table, and a privacy budget to be split over them. Nothing in it is data.",
        **_entries(
            {
                "plan": {"const": VERSION, "description": "The version of the format."},
                "data": _data(),
                "columns": {
                    "type": "object",
                    "description": "What columns may hold, declared by people and never read off the data.",
                    "additionalProperties": {"$ref": "#/$defs/column"},
                },
                "budget": _budget(),
                "confidence": _number(
                    "With which probability an error is not exceeded, for each statistic by itself (for all cells of a "
                    "histogram together); default 0.95."
                ),
                "reserve": _number("The share of the budget that is kept for later, at least 0 and below 1."),
                "objective": {
                    "enum": list(get_args(Objective)),
                    "description": "scale: budgets in proportion to weights; squares (the default): least weighted sum "
                    "of squared relative errors; worst: least largest weighted relative error; wanted: the least total "
                    "at which every statistic has its error.",
                },
                "statistics": {
                    "type": "object",
                    "description": "What to ask; the names are yours.",
                    "minProperties": 1,
                    "additionalProperties": {"oneOf": [{"$ref": f"#/$defs/{kind}"} for kind in _KINDS]},
                },
            },
            required=["plan", "columns", "budget", "statistics"],
        ),
        "$defs": {"number": _NUMBERS, "column": _column(), **{kind: _statistic(kind) for kind in _KINDS}},
    }


_NUMBERS: Schema = {
    "description": "A number; as text it is taken exactly as written, such as '0.1', '1e-6' or '1/3'.",
    "anyOf": [{"type": "number"}, {"type": "string", "pattern": _NUMBER}],
}


def _entries(properties: Schema, required: list[str] | None = None) -> Schema:
    found: Schema = {"type": "object", "properties": properties, "additionalProperties": False}
    return found | ({"required": required} if required else {})


def _number(description: str) -> Schema:
    return {"$ref": "#/$defs/number", "description": description}


def _text(description: str) -> Schema:
    return {"type": "string", "description": description}


def _whole(description: str, least: int = 1, most: int | None = None) -> Schema:
    found: Schema = {"type": "integer", "minimum": least, "description": description}
    return found if most is None else found | {"maximum": most}


def _list(items: Schema, description: str, least: int = 1, most: int | None = None) -> Schema:
    found: Schema = {"type": "array", "items": items, "minItems": least, "description": description}
    return found if most is None else found | {"maxItems": most}


_ANY_NUMBER: Schema = {"$ref": "#/$defs/number"}


def _data() -> Schema:
    return _entries(
        {
            "name": _text("What the table is called in reports."),
            "rows": _whole("About how many rows there are: errors of means and quantiles depend on it.", 1, MOST_ROWS),
            "rows_public": {"type": "boolean", "description": "Whether everybody may know the exact number of rows."},
            "population": _whole(
                "The number of people from whom the rows are a simple random sample whose members are secret "
                "(BBG18); needs rows_public, neighbours: replace, and one row per person.",
                1,
                MOST_ROWS,
            ),
            "neighbours": {
                "enum": list(get_args(Neighbours)),
                "description": "What is protected: that a person is in the table, or what the person's rows say.",
            },
            "person": _text("The column that tells whose row it is; without it every row is a person of its own."),
            "rows_per_person": _whole("The most rows of one person that count."),
            "groups_per_person": _whole("The most cells of a histogram that one person is counted in."),
            "rows_per_group": _whole("The most rows of one person in one cell of a histogram."),
        }
    ) | {"description": "Facts about the table that everybody may know."}


def _column() -> Schema:
    bounds = "The lowest and the highest value; what lies outside is clamped."
    scalar = {"anyOf": [{"type": kind} for kind in ("string", "integer", "boolean")]}
    unit = _number("Sums are taken in whole multiples of this; default about a millionth of the range.")
    other = _text("The name of the cell for everything else, missing values included; default (other).")
    values = _list(scalar, "All values that count by themselves.")
    return {
        "description": "One of integers, reals, categories.",
        "oneOf": [
            _entries({"integers": _list({"type": "integer"}, bounds, 2, 2), **_facts()}, ["integers"]),
            _entries({"reals": _list(_ANY_NUMBER, bounds, 2, 2), "unit": unit, **_facts()}, ["reals"]),
            _entries({"categories": values, "other": other}, ["categories"]),
        ],
    }


def _facts() -> Schema:
    """What everybody may know about values; stated errors are for data of which it is true."""
    return {
        "present": _number("The share of rows that have a value, above 0 and at most 1; errors of means depend on it."),
        "centre": _between("The mean of the values, about, or between which numbers it lies."),
        "spread": _between("The standard deviation of the values, about, or between which numbers it lies."),
    }


def _between(description: str) -> Schema:
    pair = {"type": "array", "items": _ANY_NUMBER, "minItems": 2, "maxItems": 2}
    return {"anyOf": [_ANY_NUMBER, pair], "description": description}


def _budget() -> Schema:
    ways = [
        _entries({"epsilon": _number("ε of the total."), "delta": _number("δ of the total; default 0.")}, ["epsilon"]),
        _entries({"rho": _number("ρ of zero-concentrated differential privacy.")}, ["rho"]),
        _entries({"harm": {"enum": list(HARM), "description": f"A suggestion of (ε, δ): {_suggestions()}."}}, ["harm"]),
    ]
    return {"description": "What may be spent in all, as (ε, δ) or as ρ.", "oneOf": ways}


def _suggestions() -> str:
    return ", ".join(f"{harm} ({eps}, {delta})" for harm, (eps, delta) in HARM.items())


_COLUMN = "The column."
_EDGES = _list(_ANY_NUMBER, "Ascending edges that cover the bounds.", 2, MOST_BINS)
_BINS = _whole("So many bins of equal width.", 1, MOST_BINS)
_CANDIDATES = _whole(
    "So many values to choose from, evenly spaced; by default every whole number, or 1,000 values.", 2, 100_000
)
_KINDS: dict[str, Schema] = {
    "count": {"count": {"enum": ["rows", None], "description": "How many rows there are: say rows, or nothing."}},
    "sum": {"sum": _text(_COLUMN)},
    "mean": {"mean": _text(_COLUMN)},
    "variance": {"variance": _text(_COLUMN)},
    "histogram": {"histogram": _text(_COLUMN), "edges": _EDGES, "bins": _BINS},
    "contingency": {
        "contingency": _list({"type": "string"}, "The columns."),
        "edges": {
            "type": "object",
            "description": "Edges for columns of numbers.",
            "additionalProperties": {"type": "array", "items": _ANY_NUMBER, "minItems": 2},
        },
    },
    "cdf": {"cdf": _text(_COLUMN), "edges": _EDGES, "bins": _BINS},
    "quantiles": {
        "quantiles": _text(_COLUMN),
        "probabilities": _list(_ANY_NUMBER, "Shares of the rows below; by default the quartiles."),
        "candidates": _CANDIDATES,
    },
    "median": {"median": _text(_COLUMN), "candidates": _CANDIDATES},
}


def _statistic(kind: str) -> Schema:
    mechanisms = ["auto", "exponential"] if kind in ("quantiles", "median") else ["auto", "laplace", "gaussian"]
    own = {
        "where": _text("Only rows that satisfy this condition, such as age >= 18 and region == 'north'."),
        "mechanism": {"enum": mechanisms, "description": "The noise; auto (the default) takes what is better."},
        "weight": _number("How much its error matters, relative to others; default 1."),
        "epsilon": _number("Held at this ε, with Laplace noise or a choice."),
        "rho": _number("Held at this ρ, with Gaussian noise."),
        "error": _number("Held at this error, in units of the variable, at the plan's confidence."),
        "size": _number("What relative errors are relative to; by default the rows for counts, the range for values."),
        "rows": _whole("About how many rows satisfy the condition; by default all.", 1, MOST_ROWS),
        "hold": {"type": "boolean", "description": "Keeps its error when other entries are edited by options."},
    }
    facts = {name: rule for name, rule in _facts().items() if name in FACTS_OF.get(kind, ())}
    return _entries(_KINDS[kind] | own | facts, [kind])
