"""What is declared about a table, written down: exact numbers, and no data."""

from __future__ import annotations

from collections.abc import Mapping
from fractions import Fraction
from typing import Any

from optcomp.errors import InvalidInput, shown
from optcomp.statistics.dates import Dates
from optcomp.statistics.declared import Declared
from optcomp.statistics.domains import Categories, Domain, Integers, Reals, Text


def written_declaration(declared: Declared) -> dict[str, Any]:
    """Ready for JSON."""
    bounds = declared.contribution
    return {
        "name": declared.name,
        "population": declared.population,
        "neighbours": declared.neighbours,
        "person": declared.person,
        "rows_per_person": bounds.rows,
        "groups_per_person": bounds.groups,
        "rows_per_group": bounds.rows_per_group,
        "grouped_by": list(declared.grouped_by),
        "columns": [{"name": name, **_domain(domain)} for name, domain in declared.columns.items()],
    }


def read_declaration(written: Mapping[str, Any]) -> Declared:
    """The same again."""
    try:
        return Declared(
            {column["name"]: _read(column) for column in written["columns"]},
            person=written["person"],
            rows_per_person=written["rows_per_person"],
            groups_per_person=written["groups_per_person"],
            rows_per_group=written["rows_per_group"],
            grouped_by=written["grouped_by"] or None,
            neighbours=written["neighbours"],
            name=written["name"],
            population=written["population"],
        )
    except (KeyError, TypeError, AttributeError) as error:
        raise InvalidInput("declaration", str(error), "is not as it was written") from None


def difference(first: Declared, second: Declared, places: tuple[str, str]) -> str | None:
    """What two declarations differ in, but for their names; None if in nothing.  `places` says where they stand."""
    one, other = written_declaration(first), written_declaration(second)
    for entry in one:
        if entry not in ("name", "population", "columns") and one[entry] != other[entry]:
            return _both(entry, one[entry], other[entry], places)
    for name in dict.fromkeys((*first.columns, *second.columns)):
        if first.columns.get(name) != second.columns.get(name):
            return _both(f"column {name!r}", first.columns.get(name), second.columns.get(name), places)
    return None


def _both(what: str, one: object, other: object, places: tuple[str, str]) -> str:
    return f"{what} is {shown(one)} {places[0]} and {shown(other)} {places[1]}"


def _domain(domain: Domain) -> dict[str, Any]:
    if isinstance(domain, Dates):
        return {"dates": list(domain.ends_shown), "unit": domain.every, "zone": domain.zone, "format": domain.format}
    if isinstance(domain, Integers):
        return {"integers": [int(domain.low), int(domain.high)]}
    if isinstance(domain, Reals):
        unit = None if domain.given_unit is None else str(domain.given_unit)
        return {"reals": [str(domain.low), str(domain.high)], "unit": unit}
    if isinstance(domain, Text):
        return {"text": domain.most}
    assert isinstance(domain, Categories)
    return {"categories": list(domain.values), "other": domain.other}


def _read(column: Mapping[str, Any]) -> Domain:
    if "dates" in column:
        first, last = column["dates"]
        return Dates(first, last, column["unit"], column["zone"], column["format"])
    if "text" in column:
        return Text(column["text"])
    if "integers" in column:
        return Integers(*column["integers"])
    if "reals" in column:
        low, high = map(Fraction, column["reals"])
        return Reals(low, high, None if column["unit"] is None else Fraction(column["unit"]))
    return Categories(column["categories"], column["other"])
