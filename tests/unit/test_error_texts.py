"""Errors show the value they are about, also one that Python itself will not write."""

from __future__ import annotations

import re
from dataclasses import dataclass, fields, is_dataclass
from fractions import Fraction
from importlib import import_module
from inspect import getmembers, isclass
from pkgutil import walk_packages
from typing import Any

import pytest

import optcomp as oc
from optcomp.composition.reading import read_parts
from optcomp.errors import InvalidInput, shown
from optcomp.instances.mixture import Mixture
from optcomp.interactive import SparseVector
from optcomp.statistics import Contingency, Count, Histogram, Question, Reals
from optcomp.statistics.count_tables import Bins

TINY, NEAR = Fraction(1, 10**200_000), Fraction(10**5000 + 1, 10**5000)


@dataclass
class Pair:
    one: object
    two: object


@pytest.mark.parametrize("value", [0.1, "x", [1, "2"], Fraction(1, 3), {"a": (1,)}, None, Pair(1, 2)])
def test_ordinary_values_are_shown_as_they_are(value: object) -> None:
    assert shown(value) == repr(value)


@pytest.mark.parametrize(
    ("value", "text"),
    [
        (TINY, "Fraction of about 1.00e-200000"),
        (-7 * 10**5000, "int of about -7.00e5000"),
        (NEAR, "Fraction of about 1.00e0"),
        ((TINY, "x"), "[Fraction of about 1.00e-200000, 'x']"),
        ({"eps": TINY}, "{'eps': Fraction of about 1.00e-200000}"),
        (Pair(TINY, 2), "Pair(one=Fraction of about 1.00e-200000, two=2)"),
        ({TINY}, "a set"),
    ],
    ids=range(7),
)
def test_numbers_of_thousands_of_digits_are_told_by_their_size(value: object, text: str) -> None:
    with pytest.raises(ValueError, match="digits"):
        repr(value)
    assert shown(value) == text
    error = InvalidInput("argument", value, "is wrong")
    assert str(error) == f"argument: is wrong, got {text}"
    assert error.problem == "is wrong"


@pytest.mark.parametrize(
    "call",
    [
        lambda: oc.PureDP(TINY),
        lambda: oc.ApproxDP(1, 1 + TINY),
        lambda: oc.ZCDP(TINY),
        lambda: oc.Gaussian(TINY),
        lambda: oc.compose([TINY], delta=0),
        lambda: oc.compose([(1, NEAR)], delta=0),
        lambda: oc.compose({NEAR: -1}, delta=0),
        lambda: oc.compose([1.0], delta=NEAR),
    ],
)
def test_long_numbers_are_refused_in_words(call: Any) -> None:
    with pytest.raises(InvalidInput, match="of about"):
        call()


def test_a_long_number_may_be_counted() -> None:
    assert oc.compose({NEAR: 2}, delta=0).upper == pytest.approx(2)
    assert oc.compose([oc.Gaussian(NEAR)], delta=1e-6).upper == oc.compose([oc.Gaussian(1)], delta=1e-6).upper


LONG = Fraction(1, 10) + Fraction(1, 10**5000)


@pytest.mark.parametrize(
    "value",
    [
        oc.PureDP(LONG),
        oc.ApproxDP(LONG, LONG),
        oc.ZCDP(LONG),
        oc.RenyiDP(2, LONG),
        oc.Laplace(LONG),
        oc.Gaussian(LONG),
        oc.NameAndShame(LONG),
        oc.RandomizedResponse(LONG),
        oc.PoissonSubsampled(oc.Gaussian(1), LONG),
        oc.SparseVectorDP(LONG, LONG),
        SparseVector(3, epsilon=LONG),
        Question(Count(), epsilon=LONG),
        Histogram("age", edges=(0, LONG, 3)),
        Contingency(("age",), {"age": (0, LONG, 3)}),
        Mixture(read_parts([LONG])),
    ],
    ids=lambda value: type(value).__name__,
)
def test_values_that_hold_a_long_number_can_be_shown(value: object) -> None:
    assert "Fraction of about 1.00e-1" in repr(value)
    assert str(value)


def test_bins_with_long_edges_have_labels_and_refusals() -> None:
    labels = Bins((LONG, LONG + Fraction(1, 10**15))).labels(Reals(0, 1))
    assert len(labels) == 1
    assert len(labels[0]) > 10_000
    with pytest.raises(InvalidInput, match="must be below high"):
        Reals(LONG + 1, LONG)


ROOMS = ("guarantees", "interactive", "ledger", "planner", "statistics")


def exact_values() -> list[type]:
    """Every dataclass with an exact number in it."""
    names = [module.name for room in ROOMS for module in walk_packages([f"{SOURCE}/{room}"], f"optcomp.{room}.")]
    classes = [(name, kind) for name in names for _, kind in getmembers(import_module(name), isclass)]
    held = [kind for name, kind in classes if kind.__module__ == name and is_dataclass(kind)]
    return [kind for kind in held if any(EXACT.search(str(entry.type)) for entry in fields(kind) if entry.repr)]


SOURCE, EXACT = oc.__path__[0], re.compile(r"^(?!Callable).*\b(Exact|Fraction|Number|Edges)\b")


@pytest.mark.parametrize("kind", exact_values(), ids=lambda kind: kind.__name__)
def test_no_dataclass_of_exact_numbers_leaves_its_repr_to_python(kind: type) -> None:
    assert not hasattr(kind.__repr__, "__wrapped__")
