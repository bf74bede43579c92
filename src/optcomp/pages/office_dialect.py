"""How a file is written, in the owner's office: a look proposes, and the owner confirms or changes it in a form."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from fastapi import Request
from starlette.datastructures import FormData

from optcomp.center import Problem, api_sources, replies
from optcomp.pages.office_forms import outcome, text, wrong
from optcomp.statistics import ENCODINGS

MARKS: dict[str, dict[str, str]] = {
    "delimiter": {"comma": ",", "semicolon": ";", "tab": "\t", "bar": "|"},
    "quote": {"double": '"', "single": "'", "none": ""},
    "decimal": {"point": ".", "comma": ","},
    "thousands": {"none": "", "comma": ",", "point": ".", "apostrophe": "'", "blank": " "},
    "encoding": {name: name for name in ENCODINGS},
}
"""What a form offers for each part of a dialect: words, for blanks and tabs are lost in forms."""


def said(dialect: Mapping[str, Any]) -> dict[str, str]:
    """A dialect in the words of the form."""
    return {
        part: next((word for word, mark in marks.items() if mark == dialect.get(part)), next(iter(marks)))
        for part, marks in MARKS.items()
    }


def chosen(form: FormData) -> dict[str, str]:
    """The dialect that a form says."""
    found = dict[str, str]()
    for part, marks in MARKS.items():
        word = text(form, f"dialect-{part}")
        if word not in marks:
            raise wrong("choice", f"dialect-{part}")
        found[part] = marks[word]
    return found


async def proposed(request: Request, source: str) -> dict[str, Any] | None:
    """What a look at a file proposes; None of what is not written in lines, or cannot be looked at."""
    told, _ = await outcome(api_sources.dialect(request, source)) if "://" not in source else (None, None)
    return None if told is None else told["dialect"]


async def read_columns(
    request: Request, source: str, table: str | None, dialect: Mapping[str, Any] | None
) -> tuple[replies.Columns | None, Problem | None]:
    """The names of columns, what their types say, and the files that have them."""
    how = {} if dialect is None else {part: dialect[part] for part in ("delimiter", "quote", "encoding")}
    told, problem = await outcome(api_sources.columns(request, source, table, **how))
    return None if told is None else replies.Columns.model_validate(told), problem
