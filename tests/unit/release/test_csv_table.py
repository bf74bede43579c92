"""The numbers of a release as CSV: read again by the standard library, and nothing in them is a formula."""

from __future__ import annotations

import csv
import io
from fractions import Fraction
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from optcomp.release import csv_text


def release(name: str, cells: list[Any]) -> dict[str, Any]:
    """What the table is made from."""
    entry = {"name": name, "statistic": "histogram of x", "mechanism": "laplace", "epsilon": "1/10", "theorem": "T"}
    told = [{"cell": cell, "value": -3, "interval": [-5, -1.5]} for cell in cells]
    single = entry | {"value": -1.25, "interval": None}
    return {"facts": {"confidence": 0.95}, "statistics": [single, entry | {"cells": told}]}


def lines(view: dict[str, Any]) -> list[dict[str, str]]:
    return list(csv.DictReader(io.StringIO(csv_text(view), newline="")))


def test_numbers_stay_numbers() -> None:
    first, second = lines(release("n", [-7]))
    assert (first["value"], first["low"], first["high"], first["cell"]) == ("-1.25", "", "", "")
    assert (second["cell"], second["value"], second["low"], second["high"]) == ("-7", "-3", "-5", "-1.5")
    assert (float(first["epsilon"]), first["rho"], float(first["confidence"])) == (0.1, "", 0.95)


@pytest.mark.parametrize("exact", ["1/10", "3/10", "1/3", "2/3", "7/9", "1/1000003", "12345678901234567891/3"])
def test_what_is_spent_is_never_told_as_less(exact: str) -> None:
    view = release("n", [1])
    view["statistics"][0]["epsilon"] = exact
    told, truth = Fraction(lines(view)[0]["epsilon"]), Fraction(exact)
    assert truth <= told <= truth * (1 + Fraction(1, 10**15))


@pytest.mark.parametrize("sign", ["=", "+", "-", "@", "\t", "\r", "\n", "  ="])
def test_text_is_no_formula(sign: str) -> None:
    first, second = lines(release(f"{sign}1+1", [f"{sign}cmd"]))
    assert (first["name"], second["cell"]) == (f"'{sign}1+1", f"'{sign}cmd")


@given(st.text(max_size=20), st.lists(st.one_of(st.text(max_size=20), st.booleans(), st.integers()), max_size=3))
def test_any_text_comes_back(name: str, cells: list[Any]) -> None:
    """But for the apostrophe, and nothing begins as a formula does."""
    found = lines(release(name, [cells, name]))
    assert len(found) == 3
    assert {each["name"].removeprefix("'") for each in found} in ({name}, {name.removeprefix("'")})
    for each in found:
        assert not each["name"].lstrip(" ").startswith(("=", "+", "-", "@", "\t", "\r", "\n"))
        assert not each["cell"].lstrip(" ").startswith(("=", "+", "-", "@", "\t", "\r", "\n"))
