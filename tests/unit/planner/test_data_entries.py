"""What a plan says about reading its data: bad cells, line breaks in cells, and columns that people are grouped by."""

from __future__ import annotations

from typing import Any

import pytest

from optcomp import InvalidInput
from optcomp.planner import Document, read
from tests.plans import Plain, small

COLUMNS: Plain = {
    "age": {"integers": [0, 99]},
    "region": {"categories": ["north", "south"]},
    "2020": {"categories": [0, 1]},
}
BOUNDS: Plain = {"person": "id", "rows_per_person": 3, "groups_per_person": 2}


def document(**data: Any) -> Document:
    return read(small(data=data, columns=COLUMNS))


def test_defaults_refuse_and_take_every_line_for_a_row() -> None:
    found = document()
    assert (found.bad_cells, found.reading.multiline, found.table.grouped_by) == ("refuse", False, ())


def test_what_is_said() -> None:
    found = document(bad_cells="missing", multiline=True)
    assert (found.bad_cells, found.reading.multiline) == ("missing", True)
    assert found.source["data"] == {"bad_cells": "missing", "multiline": True}


def test_columns_that_people_are_grouped_by() -> None:
    """All categories, unless they are named; a whole number may be a name."""
    assert document(**BOUNDS).table.grouped_by == ("region", "2020")
    assert document(**BOUNDS, grouped_by=["region"]).table.grouped_by == ("region",)
    assert document(**BOUNDS, grouped_by=[2020, "age"]).table.grouped_by == ("2020", "age")
    assert document(person="id", rows_per_person=3, rows_per_group=1).table.grouped_by == ("region", "2020")


@pytest.mark.parametrize(
    ("data", "argument", "problem"),
    [
        ({"bad_cells": "skip"}, "data.bad_cells", "must be one of refuse, missing"),
        ({"bad_cells": True}, "data.bad_cells", "must be text"),
        ({"multiline": "yes"}, "data.multiline", "must be true or false"),
        ({**BOUNDS, "grouped_by": "region"}, "data.grouped_by", "must be a list"),
        ({**BOUNDS, "grouped_by": []}, "data.grouped_by", "must name at least one column"),
        ({**BOUNDS, "grouped_by": ["ward"]}, "data.grouped_by", "is not a declared column"),
        ({**BOUNDS, "grouped_by": [None]}, "data.grouped_by", "is not a declared column"),
        ({**BOUNDS, "grouped_by": [True]}, "data.grouped_by", "is not a declared column"),
        ({"grouped_by": ["region"]}, "data.grouped_by", "needs groups_per_person or rows_per_group"),
    ],
)
def test_what_is_refused(data: Plain, argument: str, problem: str) -> None:
    with pytest.raises(InvalidInput) as error:
        document(**data)
    assert error.value.argument == argument
    assert error.value.problem.startswith(problem)
