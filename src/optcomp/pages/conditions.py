"""Conditions in forms: an example in the words of the table."""

from __future__ import annotations

from collections.abc import Mapping

from optcomp.statistics import Categories, Domain, Numbers, Text, in_condition


def example(columns: Mapping[str, Domain]) -> str:
    """A condition about columns that are declared: at most one of numbers and one of categories."""
    found: dict[type[Domain], str] = {}
    for name, domain in columns.items():
        written, kind = in_condition(name), Numbers if isinstance(domain, Numbers) else Categories
        if written is None or kind in found or isinstance(domain, Text):
            continue
        if isinstance(domain, Categories):
            found[kind] = f"{written} == {domain.values[0]!r}"
        elif isinstance(domain, Numbers):
            middle = domain.told(domain.middle)
            found[kind] = f"{written} >= {middle!r}" if isinstance(middle, str) else f"{written} >= {middle:g}"
    return " and ".join(found.values())
