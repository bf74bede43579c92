"""Conditions in forms: an example in the words of the table, and values that nobody declared.

A value that is misspelled is no error of the library: no row has it, and the answer is noise that was paid for.  Forms
refuse it before anything is paid.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from optcomp.errors import InvalidInput
from optcomp.pages.words import words
from optcomp.statistics import Categories, Domain, Numbers, in_condition, undeclared_values

_SHOWN = 8
"""Values of a column that a sentence names."""


def check_values(where: Any, columns: Mapping[str, Domain]) -> None:
    """Refuse a condition that compares a column with a category that is not declared."""
    try:
        found = undeclared_values(where, columns) if where else ()
    except InvalidInput:  # whoever reads the condition says what is wrong with it
        return
    for name, value in found:
        domain = columns[name]
        assert isinstance(domain, Categories)
        some = ", ".join(str(each) for each in domain.values[:_SHOWN])
        more = " …" if len(domain.values) > _SHOWN else ""
        raise InvalidInput("where", value, str(words()("site.no_value", column=name, values=some + more)))


def example(columns: Mapping[str, Domain]) -> str:
    """A condition about columns that are declared: at most one of numbers and one of categories."""
    found: dict[type[Domain], str] = {}
    for name, domain in columns.items():
        written, kind = in_condition(name), Numbers if isinstance(domain, Numbers) else Categories
        if written is None or kind in found:
            continue
        if isinstance(domain, Categories):
            found[kind] = f"{written} == {domain.values[0]!r}"
        elif isinstance(domain, Numbers):
            middle = domain.told(domain.middle)
            found[kind] = f"{written} >= {middle!r}" if isinstance(middle, str) else f"{written} >= {middle:g}"
    return " and ".join(found.values())
