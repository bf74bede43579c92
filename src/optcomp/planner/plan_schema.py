"""The JSON Schema of plan documents, version 1: every entry that the reader knows, and nothing else.

A schema knows the shape of a document, not its sense: that a column is declared, or that a hold can be afforded, is
said by the reader and the planner.  `docs/plan-schema.json` is this schema, and a test keeps them equal.
"""

from __future__ import annotations

from typing import get_args

from optcomp.planner.document import AUTO, HARM, MOST_ROWS, VERSION
from optcomp.planner.objective import Objective
from optcomp.statistics import (
    DECIMALS,
    ENCODINGS,
    MOST_TEXT,
    QUOTES,
    THOUSANDS,
    BadCells,
    Named,
    Neighbours,
    TimeUnit,
    fragments,
    known_keywords,
)

ID = f"urn:optcomp:plan:{VERSION}"
"""The name of the schema."""
_NUMBER = r"^\s*[+-]?([0-9]+\.?[0-9]*|\.[0-9]+)([eE][+-]?[0-9]+)?(/[0-9]+)?\s*$"
"""Text that is a number: a decimal, or a fraction."""


def schema() -> fragments.Schema:
    """The schema, draft 2020-12, as a new dictionary."""
    known = known_keywords()
    return {
        "$schema": "https://json-schema.org/draft/2020-12/schema",
        "$id": ID,
        "title": "A plan of optcomp",
        "description": "Statistics about a table, and a privacy budget to be split over them. Nothing in it is data.",
        **fragments.entries(
            {
                "plan": {"const": VERSION, "description": "The version of the format."},
                "data": _data(),
                "columns": {
                    "type": "object",
                    "description": "What columns may hold, declared by people and never read off the data.",
                    "additionalProperties": {"$ref": "#/$defs/column"},
                },
                "budget": _budget(),
                "confidence": fragments.number(
                    "With which probability an error is not exceeded, for each statistic by itself (for all cells of a "
                    "histogram together); default 0.95."
                ),
                "reserve": fragments.number("The share of the budget that is kept for later, at least 0 and below 1."),
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
                    "additionalProperties": {"oneOf": [{"$ref": f"#/$defs/{kind}"} for kind in known]},
                },
            },
            required=["plan", "columns", "budget", "statistics"],
        ),
        "$defs": {
            "number": _NUMBERS,
            "column": _column(),
            **{kind: _statistic(named) for kind, named in known.items()},
        },
    }


_NUMBERS: fragments.Schema = {
    "description": "A number; as text it is taken exactly as written, such as '0.1', '1e-6' or '1/3'.",
    "anyOf": [{"type": "number"}, {"type": "string", "pattern": _NUMBER}],
}
"""What `number` means in the schema."""


def _data() -> fragments.Schema:
    return fragments.entries(
        {
            "name": fragments.text("What the table is called in reports."),
            "rows": fragments.whole(
                "About how many rows there are: errors of means and quantiles depend on it.", 1, MOST_ROWS
            ),
            "rows_public": {"type": "boolean", "description": "Whether everybody may know the exact number of rows."},
            "population": fragments.whole(
                "The number of people from whom the rows are a simple random sample whose members are secret "
                "(BBG18); needs rows_public, neighbours: replace, and one row per person.",
                1,
                MOST_ROWS,
            ),
            "neighbours": {
                "enum": list(get_args(Neighbours)),
                "description": "What is protected: that a person is in the table, or what the person's rows say.",
            },
            "person": fragments.text(
                "The column that tells whose row it is; without it every row is a person of its own."
            ),
            "rows_per_person": fragments.whole("The most rows of one person that count."),
            "groups_per_person": fragments.whole("The most cells of a histogram that one person is counted in."),
            "rows_per_group": fragments.whole("The most rows of one person in one cell of a histogram."),
            "grouped_by": fragments.listed(
                {"anyOf": [{"type": "string"}, {"type": "integer"}]},
                "The columns in whose histograms groups_per_person and rows_per_group hold; all categories, unless "
                "named.",
            ),
            "bad_cells": {
                "enum": list(get_args(BadCells)),
                "description": "What happens to cells and lines that cannot be read: refuse (the default) prepares "
                "nothing, missing counts them as missing.",
            },
            "multiline": {
                "type": "boolean",
                "description": "Whether quoted cells of a CSV file may hold line breaks; by default every line is a "
                "row.",
            },
            "dialect": fragments.entries(
                {
                    "delimiter": fragments.text("What parts the cells of a line; by default the header decides."),
                    "quote": {
                        "enum": list(QUOTES),
                        "description": "What stands around a cell; default a quotation mark.",
                    },
                    "decimal": {"enum": list(DECIMALS), "description": "The decimal mark of numbers; default a point."},
                    "thousands": {
                        "enum": list(THOUSANDS),
                        "description": "What parts the thousands of numbers; default nothing.",
                    },
                    "encoding": fragments.text(f"How letters are written: {', '.join(ENCODINGS)}; default utf-8."),
                }
            )
            | {"description": "How a CSV file is written, as its owner confirms; optcomp plan init proposes it."},
            "rename": {
                "type": "object",
                "description": "Names of columns in the source, each with the name that the plan uses for it.",
                "additionalProperties": {"type": "string"},
            },
            "table": fragments.text("A table of a database, or a sheet of a workbook; the only one, unless named."),
            "account": fragments.text(
                "The account of the ledger that a release is debited from; tables about the same people name the same "
                "one."
            ),
        }
    ) | {"description": "Facts about the table that everybody may know."}


_DAY: fragments.Schema = {"anyOf": [{"type": "string"}, {"type": "integer"}]}
"""A date such as 2024-03-31, or a year."""


def _column() -> fragments.Schema:
    bounds = "The lowest and the highest value; what lies outside is clamped."
    scalar = {"anyOf": [{"type": kind} for kind in ("string", "integer", "boolean")]}
    unit = fragments.number("Sums are taken in whole multiples of this; default about a millionth of the range.")
    other = fragments.text("The name of the cell for everything else, missing values included; default (other).")
    most = fragments.whole(
        "Text whose values nobody declares: at most so many characters, longer ones are cut.", 1, MOST_TEXT
    )
    values = fragments.listed(scalar, "All values that count by themselves.")
    return {
        "description": "One of integers, reals, categories, dates, text.",
        "oneOf": [
            fragments.entries(
                {"integers": fragments.listed({"type": "integer"}, bounds, 2, 2), **_facts()}, ["integers"]
            ),
            fragments.entries(
                {"reals": fragments.listed(fragments.ANY_NUMBER, bounds, 2, 2), "unit": unit, **_facts()}, ["reals"]
            ),
            fragments.entries({"categories": values, "other": other}, ["categories"]),
            fragments.entries(
                {
                    "dates": fragments.listed(_DAY, "The first and the last date or time; others are clamped.", 2, 2),
                    "unit": {
                        "enum": list(get_args(TimeUnit)),
                        "description": "What dates are counted in; default day.",
                    },
                    "zone": fragments.text("The time zone of dates and times, such as Europe/Berlin; default UTC."),
                    "present": _facts()["present"],
                    "format": fragments.text(
                        "How a file writes them, such as %d.%m.%Y; ISO 8601 is always understood."
                    ),
                },
                ["dates"],
            ),
            fragments.entries({"text": most}, ["text"]),
        ],
    }


def _facts() -> fragments.Schema:
    """What everybody may know about values; stated errors are for data of which it is true."""
    return {
        "present": fragments.number(
            "The share of rows that have a value, above 0 and at most 1; errors of means depend on it."
        ),
        "centre": _between("The mean of the values, about, or between which numbers it lies."),
        "spread": _between("The standard deviation of the values, about, or between which numbers it lies."),
    }


def _between(description: str) -> fragments.Schema:
    pair = {"type": "array", "items": fragments.ANY_NUMBER, "minItems": 2, "maxItems": 2}
    return {"anyOf": [fragments.ANY_NUMBER, pair], "description": description}


def _budget() -> fragments.Schema:
    ways = [
        fragments.entries(
            {"epsilon": fragments.number("ε of the total."), "delta": fragments.number("δ of the total; default 0.")},
            ["epsilon"],
        ),
        fragments.entries({"rho": fragments.number("ρ of zero-concentrated differential privacy.")}, ["rho"]),
        fragments.entries(
            {"harm": {"enum": list(HARM), "description": f"A suggestion of (ε, δ): {_suggestions()}."}}, ["harm"]
        ),
    ]
    return {"description": "What may be spent in all, as (ε, δ) or as ρ.", "oneOf": ways}


def _suggestions() -> str:
    return ", ".join(f"{harm} ({eps}, {delta})" for harm, (eps, delta) in HARM.items())


def _statistic(named: Named) -> fragments.Schema:
    keyword = named.keyword
    mechanisms = [AUTO, *(noise.name for noise in named.statistic.noises())]
    own = {
        "where": fragments.text("Only rows that satisfy this condition, such as age >= 18 and region == 'north'."),
        "mechanism": {"enum": mechanisms, "description": "The noise; auto (the default) takes what is better."},
        "weight": fragments.number("How much its error matters, relative to others; default 1."),
        "epsilon": fragments.number("Held at this ε, with Laplace noise or a choice."),
        "rho": fragments.number("Held at this ρ, with Gaussian noise."),
        "error": fragments.number("Held at this error, in units of the variable, at the plan's confidence."),
        "size": fragments.number(
            "What relative errors are relative to; by default the rows for counts, the range for values."
        ),
        "rows": fragments.whole("About how many rows satisfy the condition; by default all.", 1, MOST_ROWS),
        "hold": {"type": "boolean", "description": "Keeps its error when other entries are edited by options."},
    }
    facts = {name: rule for name, rule in _facts().items() if name in keyword.facts}
    return fragments.entries(dict(keyword.entries) | own | facts, [keyword.word])
