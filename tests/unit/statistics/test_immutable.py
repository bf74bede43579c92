"""What is declared stays declared: nothing that was given can be changed afterwards, nor the objects themselves."""

from __future__ import annotations

import copy
import pickle
from collections.abc import Callable
from dataclasses import FrozenInstanceError, dataclass, fields
from decimal import Decimal
from fractions import Fraction
from typing import Any

import ibis.expr.types as ir
import numpy as np
import pyarrow as pa
import pytest

from optcomp import InvalidInput
from optcomp.interactive import Session, SumFilter
from optcomp.statistics import (
    CDF,
    Categories,
    Contingency,
    Contribution,
    Count,
    Declared,
    Domain,
    Histogram,
    Integers,
    Mean,
    Median,
    Quantiles,
    Question,
    Reals,
    Statistic,
    Sum,
    Table,
    Variance,
)
from optcomp.statistics.fixed import Fixed
from optcomp.statistics.noise import Noise
from optcomp.statistics.part import Part, scalar
from optcomp.statistics.statistic import Amounts

ROWS = pa.table({"x": list(range(100)), "k": ["a", "b"] * 50})
COLUMNS: dict[str, Domain] = {"x": Integers(0, 99), "k": Categories(["a", "b"])}


class Dial:
    """A number that can be turned."""

    def __init__(self, value: float) -> None:
        self.value = value

    def __float__(self) -> float:
        return self.value


def table() -> Table:
    return Table(ROWS, COLUMNS)


GIVEN: dict[str, Callable[[Any], Statistic]] = {
    "histogram": lambda edges: Histogram("x", edges),
    "cdf": lambda edges: CDF("x", edges),
    "contingency": lambda edges: Contingency(("x", "k"), {"x": edges}),
}
LISTS: dict[str, Callable[[], Any]] = {
    "list": lambda: [0, 10, 99],
    "array": lambda: np.array([0.0, 10.0, 99.0]),
    "whole array": lambda: np.array([0, 10, 99]),
    "text": lambda: ["0", "10", "99"],
    "decimals": lambda: [Decimal(0), Decimal(10), Decimal(99)],
}


@pytest.mark.parametrize("kind", GIVEN)
@pytest.mark.parametrize("listed", LISTS)
def test_edges_are_a_copy(kind: str, listed: str) -> None:
    edges, about = LISTS[listed](), table()
    statistic = GIVEN[kind](edges)
    before = statistic.measure(about), statistic.parts(about), hash(statistic)
    edges[1] = type(edges[1])(50)
    assert (statistic.measure(about), statistic.parts(about), hash(statistic)) == before
    assert statistic.measure(table()) == before[0]  # and not by what the first table remembers
    assert GIVEN[kind](edges).measure(about) != before[0]


@pytest.mark.parametrize("kind", GIVEN)
@pytest.mark.parametrize("bad", [[0, Dial(10), 99], "0123", 7, [[0, 1], [2, 3]], [0, None]], ids=range(5))
def test_edges_that_could_change_are_refused(kind: str, bad: Any) -> None:
    with pytest.raises(InvalidInput, match="edges"):
        GIVEN[kind](bad)


def test_the_edges_of_a_table_of_counts_are_a_copy_too() -> None:
    edges: dict[str, Any] = {"x": [0, 10, 99]}
    statistic, about = Contingency(("x", "k"), edges), table()
    before = statistic.measure(about)
    edges["x"] = [0, 50, 99]
    edges["k"] = None
    assert statistic.measure(table()) == before
    with pytest.raises(TypeError):
        statistic.edges["x"] = (0, 50, 99)  # type: ignore[index]
    with pytest.raises(InvalidInput, match="edges: must map names of columns"):
        Contingency(("x",), [0, 1])  # type: ignore[arg-type]


def test_lists_of_names_and_probabilities_are_copies() -> None:
    names, shares, values = ["x", "k"], ["1/4", "1/2"], ["a", "b"]
    contingency, quantiles, domain = Contingency(names, {"x": (0, 99)}), Quantiles("x", shares), Categories(values)  # type: ignore[arg-type]
    names.append("z")
    shares.append("3/4")
    values.append("c")
    assert contingency.columns == ("x", "k")
    assert quantiles.probabilities == (Fraction(1, 4), Fraction(1, 2))
    assert domain.values == ("a", "b")


VALUES: list[Any] = [
    Integers(0, 9),
    Reals(0, 9, unit="1/2"),
    Categories(["a", "b"]),
    Contribution(1, 1, 1, False),
    Count("x > 3"),
    Sum("x"),
    Mean("x"),
    Variance("x"),
    Histogram("x", (0, 99)),
    Contingency(["x", "k"], {"x": [0, 99]}),  # type: ignore[arg-type]
    CDF("x", (0, 99)),
    Quantiles("x"),
    Median("x"),
    Question(Count(), epsilon=1),
    scalar("count", 1),
    table(),
    table().declared,
]


@pytest.mark.parametrize("value", VALUES, ids=lambda value: type(value).__name__)
def test_no_entry_can_be_set_or_deleted(value: Any) -> None:
    names = [entry.name for entry in fields(value)]
    assert names
    for name in names:
        with pytest.raises(FrozenInstanceError):
            setattr(value, name, getattr(value, name))
        with pytest.raises(FrozenInstanceError):
            delattr(value, name)


def unchangeable(value: object) -> bool:
    """All the way down."""
    if value is None or isinstance(value, str | int | float | Fraction | Decimal | type):
        return True
    if isinstance(value, tuple):
        return all(map(unchangeable, value))
    if isinstance(value, Noise):
        return not hasattr(value, "__dict__")  # it holds nothing, and nothing can be put into it
    if isinstance(value, Fixed):
        return all(unchangeable(each) for each in value.items())
    assert type(value).__dataclass_params__.frozen, value  # type: ignore[attr-defined]
    return all(unchangeable(getattr(value, entry.name)) for entry in fields(value))  # type: ignore[arg-type]


@pytest.mark.parametrize("value", VALUES, ids=lambda value: type(value).__name__)
def test_all_the_way_down(value: Any) -> None:
    assert unchangeable(value)
    if not isinstance(value, Table):
        for twin in (copy.copy(value), copy.deepcopy(value), pickle.loads(pickle.dumps(value))):
            assert unchangeable(twin)
            assert repr(twin) == repr(value)


def test_the_columns_of_a_table_are_a_copy_and_stay() -> None:
    """The noise of an answer belongs to the bounds that clamp it."""
    columns: dict[str, Domain] = {"x": Integers(0, 9)}
    about = Table(ROWS, columns)
    session = Session(about, SumFilter(10**6))
    before = Sum("x").measure(about), session.ask(Sum("x"), epsilon=1).scales
    columns["x"] = Integers(0, 99)
    for change in (
        lambda: about.columns.__setitem__("x", Integers(0, 99)),  # type: ignore[index]
        lambda: setattr(about, "columns", columns),
        lambda: setattr(about, "contribution", Contribution(2, 2, 2, False)),
        lambda: setattr(about.columns, "_entries", ()),
        lambda: setattr(about.columns["x"], "high", Fraction(99)),
    ):
        with pytest.raises((AttributeError, TypeError)):
            change()
    assert (Sum("x").measure(about), session.ask(Sum("x"), epsilon=1).scales) == before
    assert before[0] == ((sum(min(x, 9) for x in range(100)),),)


@dataclass
class Turned(Statistic):
    """A statistic of somebody else, which can change."""

    least: int
    where: str | None = None

    def __hash__(self) -> int:
        return id(self)

    def expression(self, table: Table) -> ir.Table:
        return Count(f"x >= {self.least}").expression(table)

    def parts(self, table: Declared) -> tuple[Part, ...]:
        return Count().parts(table)

    def integers(self, table: Declared, rows: list[tuple[Any, ...]]) -> tuple[tuple[int, ...], ...]:
        return Count().integers(table, rows)

    def value(self, table: Declared, amounts: Amounts) -> int:
        return int(Count().value(table, amounts))

    def interval(self, table: Declared, amounts: Amounts, off: Any) -> Any:
        return Count().interval(table, amounts, off)


def test_a_statistic_that_can_change_is_not_remembered() -> None:
    about, statistic = table(), Turned(90)
    assert statistic.measure(about) == ((10,),)
    statistic.least = 50
    assert statistic.measure(about) == ((50,),)


def test_a_fixed_mapping() -> None:
    entries = {"b": 1, "a": 2}
    fixed: Any = Fixed(entries)
    entries["c"] = 3
    assert (fixed, list(fixed), len(fixed), "c" in fixed, fixed.get("c")) == (
        {"b": 1, "a": 2},
        ["b", "a"],
        2,
        False,
        None,
    )
    assert hash(fixed) == hash(Fixed({"a": 2, "b": 1}))
    assert repr(fixed) == "{'b': 1, 'a': 2}"
    with pytest.raises(KeyError):
        fixed["c"]
    with pytest.raises(AttributeError, match="cannot be changed"):
        fixed.c = 3


@pytest.mark.parametrize("bad", [{"person": ["who"]}, {"person": 3}])
def test_who_a_row_belongs_to_is_a_name(bad: dict[str, Any]) -> None:
    with pytest.raises(InvalidInput, match="person"):
        Declared(COLUMNS, **bad)
    with pytest.raises(InvalidInput, match="other"):
        Categories(["a"], other=["b"])  # type: ignore[arg-type]
