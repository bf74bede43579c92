"""Statistics and questions without code: what is read back is what was written, exactly."""

from __future__ import annotations

import json
from dataclasses import dataclass
from decimal import Decimal
from fractions import Fraction
from typing import Any

import numpy as np
import pyarrow
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from optcomp import InvalidInput
from optcomp.statistics import (
    CDF,
    Categories,
    Contingency,
    Count,
    Declared,
    Frequent,
    Histogram,
    Integers,
    Mean,
    Means,
    Median,
    People,
    Quantiles,
    Question,
    Reals,
    Regression,
    Statistic,
    Sum,
    Table,
    Text,
    Variance,
    number_text,
    read_question,
    read_statistic,
    statistic_document,
)
from optcomp.statistics.register import known_statistics

AGES = [3, 17, 18, 40, 41, 66, 66, 90, 12, 55]
TABLE = Table(
    pyarrow.table(
        {
            "age": AGES,
            "income": [10.5 * age for age in AGES],
            "region": ["north", "south", "west", "north", "south"] * 2,
            "word": ["often", "often", "seldom", None, "often"] * 2,
        }
    ),
    {
        "age": Integers(0, 110),
        "income": Reals(0, "1000.5"),
        "region": Categories(["north", "south"]),
        "word": Text(),
    },
)

WRITTEN: list[tuple[Statistic, dict[str, Any]]] = [
    (Count(), {"count": "rows"}),
    (Count("age >= 18"), {"count": "rows", "where": "age >= 18"}),
    (People("age >= 18", by="region"), {"people": "all", "where": "age >= 18", "by": ["region"]}),
    (Frequent("word"), {"frequent": "word", "of": "rows", "leak": "1/1000000000"}),
    (
        Frequent("word", "people", "0.001", "age >= 18"),
        {"frequent": "word", "of": "people", "leak": "1/1000", "where": "age >= 18"},
    ),
    (Means(("age", "income"), None, "region"), {"means": ["age", "income"], "by": ["region"]}),
    (Regression("income", "age"), {"regression": "income", "on": ["age"]}),
    (Mean("income", by=("region", "age")), {"mean": "income", "by": ["region", "age"]}),
    (Variance("income", public_rows=10), {"variance": "income", "public_rows": 10}),
    (Median("income", by="region"), {"quantiles": "income", "probabilities": ["1/2"], "by": ["region"]}),
    (Sum("age", "region == 'north'"), {"sum": "age", "where": "region == 'north'"}),
    (Mean("income"), {"mean": "income"}),
    (Variance("income", "age < 60"), {"variance": "income", "where": "age < 60"}),
    (Histogram("region"), {"histogram": "region"}),
    (Histogram("income", bins=7), {"histogram": "income", "bins": 7}),
    (
        Histogram("income", ("-0.1", 0.5, Decimal("2.5"), 1001)),
        {"histogram": "income", "edges": ["-1/10", "1/2", "5/2", "1001"]},
    ),
    (
        Contingency(("region", "age"), {"age": (0, 65, 110)}),
        {"contingency": ["region", "age"], "edges": {"age": ["0", "65", "110"]}},
    ),
    (Contingency(["region"]), {"contingency": ["region"]}),  # type: ignore[arg-type]
    (CDF("age", (0, 20, 110), where="age > 2"), {"cdf": "age", "edges": ["0", "20", "110"], "where": "age > 2"}),
    (Median("age", candidates=5), {"quantiles": "age", "probabilities": ["1/2"], "candidates": 5}),
    (Quantiles("income", [0.25, "0.9"]), {"quantiles": "income", "probabilities": ["1/4", "9/10"]}),
]
"""Statistics, and what is written of them."""


def through_json(document: Any) -> Any:
    return json.loads(json.dumps(document, allow_nan=False))


@pytest.mark.parametrize(("statistic", "document"), WRITTEN)
def test_a_statistic_is_written_in_the_words_of_plans(statistic: Statistic, document: dict[str, Any]) -> None:
    assert statistic_document(statistic) == document
    found = read_statistic(through_json(document))
    assert found == statistic
    assert hash(found) == hash(statistic)
    assert type(found) is type(statistic)
    assert found.parts(TABLE) == statistic.parts(TABLE)
    assert found.measure(TABLE) == statistic.measure(TABLE)


def test_every_statistic_that_is_known_is_written() -> None:
    assert {type(statistic) for statistic, _ in WRITTEN} == set(known_statistics())
    for kind in known_statistics():
        for case in kind.audits().values():
            assert read_statistic(through_json(statistic_document(case.statistic))) == case.statistic


SAME: list[tuple[Statistic, Statistic]] = [
    (Histogram("x", ("0", "0.5", 1)), Histogram("x", (0.0, Fraction(1, 2), Decimal(1)))),
    (Histogram("x", (-0.0, 1)), Histogram("x", (0, 1))),
    (Histogram("x", bins=5), Histogram("x", bins=np.int64(5))),  # type: ignore[arg-type]
    (Contingency(("x",), {"x": None}), Contingency(("x",))),
    (Median("x"), Quantiles("x", [0.5])),
    (Contingency(("x", "y"), {"x": (0, 1), "y": (0, 2)}), Contingency(("x", "y"), {"y": (0, 2), "x": (0, 1)})),
]


@pytest.mark.parametrize(("one", "other"), SAME)
def test_equal_statistics_have_equal_documents(one: Statistic, other: Statistic) -> None:
    assert one == other
    assert statistic_document(one) == statistic_document(other)


def test_a_decimal_is_not_the_float_beside_it() -> None:
    assert Histogram("x", (0, 0.1)) != Histogram("x", (0, "0.1"))
    assert statistic_document(Histogram("x", (0, 0.1))) != statistic_document(Histogram("x", (0, "0.1")))


def test_labels_survive_where_edges_are_close() -> None:
    """Labels depend on the numbers, not on how they were given."""
    table = Declared({"x": Reals(0, 1)})
    for edges in ((0, 0.5, 0.5 + 2**-48, 1), ("0", "0.5", "0.5000000000000001", 1), (-0.0, 1)):
        statistic = Histogram("x", edges)
        again = read_statistic(through_json(statistic_document(statistic)))
        assert isinstance(again, Histogram)
        assert again.cells(table) == statistic.cells(table)
        assert len(set(again.cells(table))) == len(again.cells(table))


@dataclass(frozen=True)
class Foreign(Count):
    """A statistic that says it is another one."""


class Unwritten(Count):
    """A statistic without writing of its own."""

    document = Statistic.document


BAD_STATISTICS: list[tuple[Any, str]] = [
    (Unwritten(), "Unwritten"),
    (Foreign(), "another statistic"),
    (Sum(["age"]), r"statistic\.sum"),  # type: ignore[arg-type]
    (Count(5), r"statistic\.where"),  # type: ignore[arg-type]
    (Histogram("x", bins=2.5), "bins"),  # type: ignore[arg-type]
    (Histogram("x", (0, Fraction(1, 10**5000))), "cannot be written exactly"),
    ("count", "must be a statistic"),
]


@pytest.mark.parametrize(("statistic", "said"), BAD_STATISTICS)
def test_what_cannot_be_written_is_refused_by_name(statistic: Any, said: str) -> None:
    with pytest.raises(InvalidInput, match=said):
        statistic_document(statistic)


BAD_DOCUMENTS: list[Any] = [
    None,
    [],
    "count",
    {},
    {"where": "age > 3"},
    {"count": "rows", "sum": "age"},
    {"count": "rows", "other": 1},
    {"count": "people"},
    {"mean": 3},
    {"histogram": "age", "edges": "0, 1"},
    {"histogram": "age", "edges": [[0], [1]]},
    {"histogram": "age", "bins": True},
    {"contingency": "age"},
    {"contingency": [["age"]]},
    {"contingency": ["age"], "edges": {"age": None}},
    {"quantiles": "age", "probabilities": [None]},
    {"quantiles": "age", "candidates": "many"},
]


@pytest.mark.parametrize("document", BAD_DOCUMENTS)
def test_documents_of_no_statistic_are_refused(document: Any) -> None:
    with pytest.raises(InvalidInput):
        read_statistic(document)
    with pytest.raises(InvalidInput):
        read_question({"statistic": document, "noise": "laplace", "epsilon": "1"})


BUDGETS: list[dict[str, Any]] = [
    {"epsilon": 0.1},
    {"epsilon": "0.1"},
    {"epsilon": Decimal("0.3"), "mechanism": "laplace"},
    {"rho": "1/3"},
    {"rho": 0.005},
    {"epsilon": 0.5, "delta": 1e-7},
    {"epsilon": Fraction(1, 3), "delta": "1e-9"},
]


def questions() -> list[Question]:
    """Every statistic with every budget that suits it."""
    return [
        Question(statistic, **budget)
        for statistic, _ in WRITTEN
        for budget in (BUDGETS if not isinstance(statistic, Quantiles) else BUDGETS[:2])
    ]


def check_round_trip(question: Question) -> None:
    document = question.document()
    found = read_question(through_json(document))
    assert found == question
    assert hash(found) == hash(question)
    assert found.document() == document
    assert found.noise is question.noise
    assert found.costs(TABLE) == question.costs(TABLE)
    assert found.scales(TABLE) == question.scales(TABLE)


@pytest.mark.parametrize("question", questions(), ids=str)
def test_a_question_is_read_back(question: Question) -> None:
    check_round_trip(question)


def test_the_document_of_a_question() -> None:
    assert Question(Count(), epsilon="0.1").document() == {
        "statistic": {"count": "rows"},
        "noise": "laplace",
        "epsilon": "1/10",
    }
    for same in ("0.10", Decimal("0.1"), Fraction(1, 10), "1/10"):
        assert Question(Count(), epsilon=same).document() == Question(Count(), epsilon="0.1").document()
    assert Question(Count(), epsilon=0.1).document() != Question(Count(), epsilon="0.1").document()
    named = Question(Count(), epsilon="0.1", mechanism="laplace")
    assert named.document() == Question(Count(), epsilon="0.1").document()


numbers = st.one_of(
    st.fractions(min_value=Fraction(1, 1000), max_value=100),
    st.floats(min_value=1e-3, max_value=100),
    st.decimals(min_value=Decimal("0.001"), max_value=100, allow_nan=False, allow_infinity=False),
)


@settings(max_examples=60, deadline=None)
@given(epsilon=numbers, column=st.sampled_from(["age", "income"]), bins=st.integers(1, 50), pure=st.booleans())
def test_any_numbers_survive(epsilon: Any, column: str, bins: int, pure: bool) -> None:
    budget: dict[str, Any] = {"epsilon": epsilon} if pure else {"rho": epsilon}
    check_round_trip(Question(Histogram(column, bins=bins), **budget))
    assert Fraction(Question(Count(), **budget).document()["epsilon" if pure else "rho"]) == Fraction(epsilon)


@settings(max_examples=60, deadline=None)
@given(st.lists(numbers, min_size=1, max_size=8, unique_by=float))
def test_any_edges_survive(inner: list[Any]) -> None:
    statistic = Histogram("income", (0, *sorted(inner), 2000))
    assert read_statistic(through_json(statistic_document(statistic))) == statistic
    assert list(map(Fraction, statistic_document(statistic)["edges"][1:-1])) == sorted(map(Fraction, inner))


BAD_QUESTIONS: list[tuple[dict[str, Any], str]] = [
    ({"noise": "laplace"}, "epsilon"),
    ({"noise": "none", "epsilon": "1"}, "mechanism"),
    ({"noise": "gaussian", "epsilon": "1"}, "delta|rho|mechanism"),
    ({"epsilon": "1"}, "noise"),
    ({"noise": "laplace", "epsilon": "1", "rho": "1"}, "epsilon"),
    ({"noise": "laplace", "epsilon": "one"}, "epsilon"),
    ({"noise": "laplace", "epsilon": None}, "epsilon"),
    ({"noise": "laplace", "epsilon": "-1"}, "epsilon"),
    ({"noise": "laplace", "epsilon": "1", "repeat": 1}, "repeat"),
]


@pytest.mark.parametrize(("rest", "said"), BAD_QUESTIONS)
def test_documents_of_no_question_are_refused(rest: dict[str, Any], said: str) -> None:
    with pytest.raises(InvalidInput, match=said):
        read_question({"statistic": {"count": "rows"}, **rest})


def test_numbers_too_long_are_refused_when_written() -> None:
    most = Fraction(1, 10**3999)
    assert Fraction(number_text(most, "x")) == most
    with pytest.raises(InvalidInput, match="x: has more than 4000 digits"):
        number_text(Fraction(1, 10**4000), "x")
