"""The form for questions: from the register, for every statistic; what is in the address is what is asked."""

from __future__ import annotations

from typing import Any
from urllib.parse import urlencode

import pytest
from starlette.datastructures import QueryParams

from optcomp.center.previews import preview
from optcomp.interactive import SumFilter
from optcomp.pages import desk_form
from optcomp.pages.desk_mechanism_form import read_mechanism_form
from optcomp.statistics import (
    CDF,
    Categories,
    Contingency,
    Count,
    Declared,
    Histogram,
    Integers,
    Mean,
    Median,
    Quantiles,
    Question,
    Reals,
    Statistic,
    Sum,
    Text,
    Variance,
    known_keywords,
    read_question,
)

DECLARED = Declared(
    {
        "age": Integers(0, 99),
        "region": Categories(["north", "it's"]),
        "income": Reals(0, 1000),
        "works": Categories([False, True]),
        "employer": Text(),
    },
    person="who",
    rows_per_person=3,
)


def given(**fields: Any) -> QueryParams:
    return QueryParams(urlencode(fields, doseq=True))


def asked(**fields: Any) -> Question:
    return read_question(desk_form.read(given(**fields), DECLARED).question())


@pytest.mark.parametrize("word", known_keywords())
def test_every_statistic_of_the_register_can_be_asked(word: str) -> None:
    """With nothing but its name in the address."""
    form = desk_form.read(given(kind=word), DECLARED)
    told = preview(DECLARED, form.question(), SumFilter("1", "1e-6" if word == "frequent" else 0))
    assert told["fits"]
    assert isinstance(read_question(told["question"]).statistic, known_keywords()[word].statistic)


@pytest.mark.parametrize(
    ("fields", "statistic"),
    [
        ({"kind": "count"}, Count()),
        ({"kind": "count", "where": " age >= 65 "}, Count("age >= 65")),
        ({"kind": "sum", "column": "income"}, Sum("income")),
        ({"kind": "mean", "column": "income", "where": "works == True"}, Mean("income", "works == True")),
        ({"kind": "variance", "column": "age"}, Variance("age")),
        ({"kind": "histogram", "column": "region"}, Histogram("region")),
        ({"kind": "histogram", "column": "income", "bins": "4"}, Histogram("income", bins=4)),
        ({"kind": "histogram", "column": "age", "edges": "0, 18; 65 100"}, Histogram("age", (0, 18, 65, 100))),
        ({"kind": "cdf", "column": "income", "bins": "5"}, CDF("income", bins=5)),
        ({"kind": "quantiles", "column": "age", "probabilities": "0.1, 1/2"}, Quantiles("age", ["1/10", "1/2"])),
        ({"kind": "median", "column": "age", "candidates": "50"}, Median("age", 50)),
        (
            {"kind": "contingency", "columns": ["region", "age"], "edges.age": "0,50,99", "edges.income": "0,1"},
            Contingency(("region", "age"), {"age": (0, 50, 99)}),
        ),
    ],
)
def test_what_is_in_the_address_is_asked(fields: dict[str, Any], statistic: Statistic) -> None:
    assert asked(**fields, epsilon="1/8") == Question(statistic, epsilon="1/8")


def test_noise_and_budget() -> None:
    assert asked(kind="count", noise="gaussian", rho="0.1", epsilon="") == Question(Count(), rho="0.1")
    both = asked(kind="count", noise="gaussian", epsilon="0.1", delta="1e-6")
    assert both == Question(Count(), epsilon="0.1", delta="1e-6", mechanism="gaussian")
    laplace = asked(kind="count", noise="laplace", epsilon="0.1", delta="1e-6", rho="1")
    assert laplace == Question(Count(), epsilon="0.1")
    assert asked(kind="median", column="age", noise="laplace").mechanism == "exponential"


def test_columns_that_do_not_fit_are_not_offered() -> None:
    column, by, public = desk_form.read(given(kind="mean", column="region"), DECLARED).fields
    assert (by.name, by.kind, by.chosen, public.kind) == ("by", "columns", (), "whole")
    assert by.options == tuple(name for name in DECLARED.columns if name != "employer")
    asked = desk_form.read(given(kind="mean", column="age", by="region"), DECLARED).question()
    assert asked["statistic"] == {"mean": "age", "by": ["region"]}
    explained = desk_form.read(given(kind="regression", column="age", on="income"), DECLARED)
    assert explained.fields[1].options == ("age", "income")
    assert explained.question()["statistic"] == {"regression": "age", "on": ["income"]}
    assert column.options == ("age", "income")
    assert column.value == "age"


@pytest.mark.parametrize(
    ("column", "sign", "value", "condition"),
    [
        ("age", ">=", "65", "age >= 65"),
        ("income", "<", "12.5", "income < 12.5"),
        ("region", "==", "north", "region == 'north'"),
        ("region", "!=", "it's", 'region != "it\'s"'),
        ("works", "==", "True", "works == True"),
        ("region", "==", "elsewhere", "region == 'north'"),
        ("region", ">=", "north", "region == 'north'"),
        ("age", "==", "__import__('os')", "age == \"__import__('os')\""),
    ],
)
def test_a_comparison_is_added(column: str, sign: str, value: str, condition: str) -> None:
    fields = {"kind": "count", "where_column": column, "where_is": sign, "where_value": value, "add": "1"}
    assert desk_form.read(given(**fields), DECLARED).where == condition
    more = desk_form.read(given(**fields, where="age > 1"), DECLARED)
    assert more.where == f"age > 1 and {condition}"
    assert desk_form.read(given(**{**fields, "add": ""}), DECLARED).where == ""


@pytest.mark.parametrize(
    "fields",
    [
        {"kind": "nothing", "noise": "none", "confidence": "7", "column": "<b>"},
        {"kind": "histogram", "column": "age", "bins": "x" * 9000},
        {"kind": "contingency", "columns": ["a", "b"]},
        {"where_column": "age", "where_is": ";", "where_value": "\x00", "add": "1"},
    ],
)
def test_nonsense_has_a_form_too(fields: dict[str, Any]) -> None:
    form = desk_form.read(given(**fields), DECLARED)
    assert form.confidence == "0.95"
    assert len(str(form.question())) < 10_000


def test_forms_of_mechanisms() -> None:
    for kind in read_mechanism_form(given(), DECLARED).kinds:
        form = read_mechanism_form(given(mechanism=kind.kind), DECLARED)
        assert type(form.spec()) is kind
        assert form.spec().document()["mechanism"] == kind.kind
    sparse = read_mechanism_form(given(mechanism="sparse vector", threshold="5", monotone="yes"), DECLARED).spec()
    assert (sparse.document()["sensitivity"], sparse.document()["monotone"]) == (3, True)
    assert sparse.document()["threshold"] == "5"
    weights = {"mechanism": "multiplicative weights", "columns": ["region", "age"], "edges.age": "0 50 99"}
    cells = read_mechanism_form(given(**weights), DECLARED).spec().document()["cells"]
    assert cells == {"contingency": ["region", "age"], "edges": {"age": ["0", "50", "99"]}}
