"""The survey in examples/people.parquet, declared: what each column may hold, and whose row it is."""

from __future__ import annotations

from pathlib import Path

from optcomp.statistics import Categories, Integers, Reals, Table

PEOPLE = Path(__file__).with_name("people.parquet")
COLUMNS = {
    "year": Integers(2021, 2023),
    "region": Categories(["north", "east", "south", "west", "centre", "islands"]),
    "age": Integers(16, 100),
    "woman": Categories([False, True]),
    "education": Categories(["primary", "secondary", "vocational", "bachelor", "master"]),
    "employed": Categories([False, True]),
    "hours": Integers(0, 80),
    "household": Integers(1, 8),
    "income": Reals(0, 150_000),
    "satisfaction": Integers(0, 10),
}


def survey() -> Table:
    """One person has up to two rows."""
    return Table(PEOPLE, COLUMNS, person="person", rows_per_person=2, name="survey")
