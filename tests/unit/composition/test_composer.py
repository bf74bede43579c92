"""A composer's totals are those of composing afresh, whatever came and went before."""

from __future__ import annotations

import json
import pickle
from fractions import Fraction
from typing import Any, cast

import numpy as np
import pytest

import optcomp as oc
from optcomp.composition import composer as module
from optcomp.theorems import opt

SIZES = np.random.default_rng(11).uniform(0.001, 0.1, 300)


def overlap(one: oc.Bound, other: oc.Bound) -> bool:
    return one.lower <= other.upper and other.lower <= one.upper


def counting(monkeypatch: pytest.MonkeyPatch) -> list[int]:
    """How often a total was composed afresh."""
    calls: list[int] = []
    afresh = module.Composer._afresh

    def counted(self, *arguments):  # type: ignore[no-untyped-def]
        calls.append(1)
        return afresh(self, *arguments)

    monkeypatch.setattr(module.Composer, "_afresh", counted)
    return calls


@pytest.mark.parametrize("question", [{"delta": 1e-6}, {"delta": 1e-30}, {"delta": 0.7}, {"epsilon": 4.5}])
def test_changes_give_the_bracket_of_composing_afresh(question: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    calls = counting(monkeypatch)
    composer = oc.Composer(SIZES)
    assert overlap(composer.total(**question), oc.compose(SIZES, **question))
    for mechanism in (0.05, oc.ApproxDP(0.02, 1e-40), oc.PureDP(0.3), 0.0):
        expected = composer.what_if(mechanism, **question)
        composer.add(mechanism)
        assert composer.total(**question) == expected
    composer.remove(float(SIZES[17]))
    bound, afresh = composer.total(**question), oc.compose(composer.parts, **question)
    assert overlap(bound, afresh)
    assert bound.count == afresh.count == 303
    assert bound.width <= 1e-9
    assert bound.theorem == "OPT"
    assert len(calls) == 1


def test_the_truth_stays_inside_for_a_list_with_a_known_optimum() -> None:
    """Multiples of 0.01: the lattice brackets their optimum by another method."""
    values = [round(0.01 * (1 + i % 9), 2) for i in range(100)] + [0.0137]
    composer = oc.Composer(values)
    composer.total(delta=1e-8)
    composer.remove(0.0137)
    truth = oc.compose(composer.parts, delta=1e-8, method="murtagh-vadhan", eta=1e-3)
    bound = composer.total(delta=1e-8)
    assert truth.lower <= bound.upper
    assert bound.lower <= truth.upper


def test_more_privacy_spent_never_gives_a_smaller_total() -> None:
    composer = oc.Composer(SIZES)
    before = composer.total(delta=1e-9)
    for _ in range(3):
        composer.add(0.04)
        after = composer.total(delta=1e-9)
        assert after.upper > before.upper
        before = after


def test_many_changes_compose_afresh(monkeypatch: pytest.MonkeyPatch) -> None:
    calls = counting(monkeypatch)
    composer = oc.Composer(SIZES)
    composer.total(delta=1e-6)
    for i in range(40):
        composer.add(0.01 + i * 1e-4)
    assert overlap(composer.total(delta=1e-6), oc.compose(composer.parts, delta=1e-6))
    assert len(calls) == 2


def test_a_kept_quadrature_is_not_asked_by_way_of_the_whole_list(monkeypatch: pytest.MonkeyPatch) -> None:
    """Grouping a hundred thousand mechanisms takes longer than the answer."""
    composer = oc.Composer([0.01 + 0.0001 * i for i in range(300)])
    composer.total(delta=1e-9)

    def group(*_: object) -> Any:
        raise AssertionError("the list is grouped")

    monkeypatch.setattr(module, "read_parts", group)
    asked = composer.what_if(0.05, delta=1e-9)
    composer.add(0.05)
    assert composer.total(delta=1e-9) == asked
    assert composer.what_if(oc.Gaussian(1), 0, delta=1e-9) == asked


def test_coming_and_going_leaves_the_very_same_answer() -> None:
    composer = oc.Composer(SIZES)
    before = composer.total(delta=1e-6)
    composer.add(0.07, copies=3)
    composer.remove(0.07, copies=3)
    assert composer.total(delta=1e-6) is before


def test_few_and_irregular_mechanisms() -> None:
    composer = oc.Composer()
    assert composer.total(delta=1e-6).epsilon == 0
    composer.add("1/3")
    composer.add(oc.PureDP("0.1"), copies=5)
    composer.add(oc.ApproxDP(0.2, "1e-9"))
    expected = oc.compose({oc.PureDP("1/3"): 1, oc.PureDP("0.1"): 5, oc.ApproxDP(0.2, "1e-9"): 1}, delta="1e-6")
    assert composer.total(delta="1e-6") == expected
    assert composer.total(epsilon="0.5") == oc.compose(composer.parts, epsilon="0.5")
    assert len(composer) == composer.count == 7
    assert repr(composer) == "<Composer of 7 mechanisms, 3 different>"


def test_below_the_leak_no_epsilon_works() -> None:
    composer = oc.Composer(SIZES)
    assert composer.total(delta=1e-9).upper < 20
    composer.add(oc.ApproxDP(0.1, 1e-8))
    assert composer.total(delta=1e-9).upper == np.inf


def test_copies_are_independent_and_documents_hold_everything() -> None:
    composer = oc.Composer([*SIZES.tolist(), "1/3", oc.ApproxDP("0.1", "1e-12")])
    other = composer.copy()
    other.add(0.5)
    assert (composer.count, other.count) == (302, 303)
    for again in (oc.Composer.of(json.loads(json.dumps(other.as_dict()))), pickle.loads(pickle.dumps(other))):
        assert again.parts == other.parts
        assert again.total(delta=1e-6) == other.total(delta=1e-6)


def test_adaptive_parameters_get_sums() -> None:
    composer = oc.Composer([0.1, 0.2], parameters="adaptive")
    composer.add(0.3)
    bound = composer.total(delta=1e-6)
    assert bound.theorem == "DKMMN06"
    assert bound.epsilon == pytest.approx(0.6)
    assert composer.copy().parameters == oc.Composer.of(composer.as_dict()).parameters == "adaptive"


def test_a_demanded_width_is_kept_or_refused(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(opt, "PATIENT_WORK", 3e8)
    composer = oc.Composer(SIZES)
    assert composer.total(delta=1e-6, rtol=1e-10).width <= 1e-10
    composer.add(0.01)
    assert composer.total(delta=1e-6, rtol=1e-10).width <= 1e-10
    with pytest.raises(oc.PrecisionNotReached) as refusal:
        composer.total(delta=1e-6, rtol=1e-17)
    bound = refusal.value.bound
    assert isinstance(bound, oc.Bound)
    assert overlap(bound, composer.total(delta=1e-6))


def test_certificates_are_about_what_is_there_now() -> None:
    composer = oc.Composer(SIZES)
    composer.total(delta=1e-6)
    composer.add(0.05)
    bound = composer.total(delta=1e-6)
    composer.add(0.06)
    rows = bound.certificate()["mechanisms"]
    assert isinstance(rows, list)
    assert [0.05, 0.0, 1] in rows
    assert [0.06, 0.0, 1] not in rows
    assert sum(row[2] for row in rows) == bound.count == 301


@pytest.mark.parametrize(
    ("attempt", "text"),
    [
        (lambda c: c.remove(0.5), "mechanism: is here 0 times, not 1, got 0.5"),
        (lambda c: c.remove(0.1, copies=3), "mechanism: is here 2 times, not 3, got 0.1"),
        (lambda c: c.add(-1.0), "mechanism: must not be negative, got -1.0"),
        (lambda c: c.add(0.1, copies=0), "copies: must be at least 1 and at most 1000000000000000, got 0"),
        (lambda c: c.total(), "delta, epsilon: give exactly one of the two, got (None, None)"),
        (
            lambda c: oc.Composer([0.1], parameters=cast(Any, "free")),
            "parameters: must be 'fixed' or 'adaptive', got 'free'",
        ),
        (lambda c: oc.Composer.of({}), "document: must be a mapping with format 'optcomp-composer', got {}"),
        (
            lambda c: oc.Composer.of({**c.as_dict(), "version": 2}),
            "document['version']: must be 1, got 2",
        ),
        (
            lambda c: oc.Composer.of({**c.as_dict(), "mechanisms": [[0.1, 0.0]]}),
            "document['mechanisms']: must be rows of epsilon, delta and copies, got [[0.1, 0.0]]",
        ),
    ],
)
def test_wrong_use_is_refused_and_changes_nothing(attempt, text) -> None:  # type: ignore[no-untyped-def]
    composer = oc.Composer([0.1, 0.1, Fraction(1, 3)])
    with pytest.raises(oc.InvalidInput) as refusal:
        attempt(composer)
    assert str(refusal.value) == text
    assert composer.count == 3
