"""One way to choose: methods are asked what they can afford, and refuse by an exception only those who named them."""

from __future__ import annotations

from fractions import Fraction
from typing import Any

import numpy as np
import pytest

import optcomp as oc
from optcomp.composition import mixtures, named, pairs
from optcomp.composition.method import Method, in_turn
from optcomp.composition.reading import read_any, read_parts
from optcomp.errors import HypothesisNotMet, NotAffordable
from optcomp.instances import Mixture, Parts
from optcomp.theorems import mv18_1_5
from optcomp.theorems.opt import Effort
from optcomp.theorems.target import Target
from tests.oracles.checks import encloses
from tests.oracles.halves import Halves

RNG = np.random.default_rng(15)
LISTS: dict[str, Any] = {
    "nothing": [],
    "equal": {0.1: 20},
    "few": [0.11, 0.23, 0.37, 0.5],
    "twenty": [float(x) for x in RNG.uniform(0.01, 0.3, 20)],
    "fifty": [float(x) for x in RNG.uniform(0.01, 0.3, 50)],
    "thousand": RNG.uniform(0.001, 0.1, 1000),
    "lattice": {round(0.001 * a, 3): 30 + a for a in range(2, 14)},
    "leaks": [(0.1, 0.01), (0.3, 0.02), (0.0, 0.03)],
    "tiny beside large": {1e-9: 40, 25.0: 3, 7.0: 1},
    "mixture": [oc.Gaussian(3.0), oc.Laplace(2.0), 0.2],
    "notions": [oc.ZCDP(0.1), oc.Laplace(2.0), (0.1, 1e-3)],
    "noise": [oc.Gaussian(3.0)] * 5,
}
TARGETS = [Target("epsilon", 1e-5), Target("epsilon", 0.1), Target("delta", 0.5), Target("epsilon", 0)]


@pytest.mark.parametrize("name", LISTS)
def test_choosing_raises_nothing(name: str, monkeypatch: pytest.MonkeyPatch) -> None:
    raised: list[str] = []

    def noticed(kind: type[Exception]) -> None:
        made = kind.__init__

        def init(self: Exception, *values: Any) -> None:
            raised.append(f"{kind.__name__}{values}")
            made(self, *values)

        monkeypatch.setattr(kind, "__init__", init)

    noticed(NotAffordable)
    oc.compose(LISTS[name], delta=1e-5)
    oc.compose(LISTS[name], epsilon=0.5)
    oc.compare(LISTS[name], delta=1e-5)
    assert raised == []


def test_who_names_a_method_is_refused_in_words() -> None:
    with pytest.raises(NotAffordable, match="exact composition"):
        oc.compose(LISTS["thousand"], delta=1e-5, method="exact")
    with pytest.raises(HypothesisNotMet, match="equal"):
        oc.compose(LISTS["few"], delta=1e-5, method="advanced")
    with pytest.raises(HypothesisNotMet, match="bits"):
        oc.compose(LISTS["mixture"], delta=1e-5, bits=80)


@pytest.mark.parametrize("target", TARGETS[:3], ids=str)
@pytest.mark.parametrize("name", ["equal", "few", "twenty", "leaks", "tiny beside large"])
@pytest.mark.parametrize("method", [*pairs.IN_ORDER, *pairs.CERTIFIED], ids=lambda method: type(method).__name__)
def test_every_method_that_can_afford_a_list_is_right(method: Method[Parts], name: str, target: Target) -> None:
    parts = read_parts(LISTS[name])
    if not method.affordable(parts, target):
        assert not isinstance(method, pairs.Engine) or mv18_1_5.at_once(parts, target) is not None
        return
    found = method.answer(parts, target, Effort())
    if found is not None:
        assert encloses(Halves([(*group,) for group in parts.groups]), found.bound)


@pytest.mark.parametrize("name", LISTS)
@pytest.mark.parametrize("target", TARGETS, ids=str)
def test_the_first_that_is_narrow_ends_the_search(name: str, target: Target) -> None:
    instance = read_any(LISTS[name])
    if isinstance(instance, Mixture):
        if instance.bounded:
            return
        found = list(in_turn(mixtures.IN_ORDER, instance, target, Effort(), lambda bound: True))
    else:
        found = list(in_turn(pairs.IN_ORDER, instance, target, Effort(), lambda bound: True))
    assert len(found) == 1


def test_names_are_those_that_compose_takes() -> None:
    assert tuple(method.name for method in named.IN_ORDER) == oc.METHODS
    assert oc.METHODS == (
        "auto", "basic", "advanced", "strong", "kov", "exact", "murtagh-vadhan", "certified", "renyi",
    )  # fmt: skip


def test_a_target_is_one_of_the_two() -> None:
    assert Target("epsilon", Fraction(1, 10)).pick("for ε", "for δ") == "for ε"
    assert Target("delta", 0.5).pick("for ε", "for δ") == "for δ"
    assert oc.compose([0.1], delta=0.25).target == Target("epsilon", 0.25)
