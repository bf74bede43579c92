"""The owner's office: which table is meant, one of the list or several files by a pattern."""

from __future__ import annotations

import json
from collections.abc import Mapping
from typing import Any

from fastapi import Request
from starlette.datastructures import FormData

from optcomp.center import Problem, api_sources, service_of
from optcomp.pages.office_forms import text, wrong

_PATTERN = "pattern"
"""What a form says, instead of one of the list, if a pattern is typed into the field of this name."""


async def offered(request: Request, form: FormData | None = None) -> dict[str, Any]:
    """What a page shows: files and tables to choose from, the folders, and what was typed before."""
    return {
        "sources": [each | {"value": _value(each)} for each in await _listed(request)],
        "folders": [str(each) for each in service_of(request).store.settings.folders],
        "picked": "" if form is None else text(form, "source"),
        "pattern": "" if form is None else text(form, _PATTERN),
    }


async def picked(request: Request, form: FormData) -> tuple[str, str | None]:
    """The source that a form says, and its table; what is wrong with it is a problem."""
    if text(form, "source") == _PATTERN:
        if not text(form, _PATTERN) or "://" in text(form, _PATTERN):
            raise wrong("pattern", _PATTERN)
        return text(form, _PATTERN), None
    found = next((each for each in await _listed(request) if _value(each) == text(form, "source")), None)
    if found is None:
        raise wrong("source", "source")
    return str(found["source"]), found["table"]


def beside(form: FormData, problem: Problem | None) -> Problem | None:
    """A refusal of the source, beside the pattern if that is what was typed."""
    if problem is None or text(form, "source") != _PATTERN or problem.more.get("argument") != "source":
        return problem
    return Problem(problem.code, problem.message, **{**problem.more, "argument": _PATTERN})


async def _listed(request: Request) -> list[dict[str, Any]]:
    return list((await api_sources.sources(request))["entries"])


def _value(source: Mapping[str, Any]) -> str:
    """How a form says which source is meant."""
    return json.dumps([source["source"], source["table"]])
