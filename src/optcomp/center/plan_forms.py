"""Plans about a data set of a centre: what a plan leaves out about the table is what is declared about it.

An owner who writes a plan for a registered table need not repeat its columns.  What the plan says must be the same.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from optcomp.errors import InvalidInput
from optcomp.planner import Document, read
from optcomp.statistics import Declared, declaration_document, difference

_ABOUT = ("name", "neighbours", "person", "rows_per_person", "groups_per_person", "rows_per_group", "grouped_by")
"""Entries of `data` that the declaration of a table has."""


def plan_about(plan: object, declared: Declared, account: str) -> Document:
    """A plan about a table, read; refused if it is about another table or another account."""
    document = read(completed(plan, declared))
    other = difference(document.table, declared, ("in the plan", "of the data set"))
    if other is not None:
        raise InvalidInput("plan", declared.name, f"declares something else than the data set: {other}")
    if document.account not in (None, account):
        problem = f"must be {account!r}, which pays for this data set, or left out"
        raise InvalidInput("plan.data.account", document.account, problem)
    return document


def completed(plan: object, declared: Declared) -> dict[str, Any]:
    """The plan with what is declared about the table, where it says nothing."""
    if not isinstance(plan, Mapping):
        raise InvalidInput("plan", type(plan).__name__, "must be an object with the entries of a plan")
    data = plan.get("data", {})
    if not isinstance(data, Mapping):
        raise InvalidInput("plan.data", type(data).__name__, "must be an object")
    known = declaration_document(declared)
    about = {name: known[name] for name in _ABOUT if known[name] not in (None, [])}
    whole = {"plan": 1, "columns": {each["name"]: _column(each) for each in known["columns"]}}
    return {**whole, **plan, "data": {**about, **data}}


def _column(written: Mapping[str, Any]) -> dict[str, Any]:
    return {name: value for name, value in written.items() if name != "name" and value is not None}
