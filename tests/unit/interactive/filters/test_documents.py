"""Restoring a filter: the canonical text, and a cap that is computed once for each budget."""

from __future__ import annotations

import json
import sys
from collections.abc import Callable
from fractions import Fraction

import pytest

from optcomp.errors import InvalidInput
from optcomp.interactive.filters import Admitted, BestFilter, Filter, SumFilter, restore
from optcomp.theorems import fz21, wrrw23
from tests.unit.interactive.filters.filter_makers import ALL, MAKERS


def after_some(state: Filter) -> Filter:
    for request in ("0.001", "1/300"):
        outcome = state.admit(request)
        state = outcome.state if isinstance(outcome, Admitted) else state
    return state


@ALL
def test_the_text_is_canonical(kind: str) -> None:
    state = after_some(MAKERS[kind]())
    text = state.document_text()
    assert json.loads(text) == state.document()
    assert text == json.dumps(json.loads(text), sort_keys=True, separators=(",", ":"), ensure_ascii=True)
    assert restore(text) == state
    assert restore(text).document_text() == text


def test_the_text() -> None:
    assert SumFilter("1", "1e-6").admit("0.05").state.document_text() == (  # type: ignore[union-attr]
        '{"admitted":1,"format":"optcomp-filter","kind":"sum","parameters":{"delta":"1/1000000","epsilon":"1"},'
        '"spent":{"delta":"0","epsilon":"1/20"},"version":1}'
    )


@pytest.mark.parametrize(
    ("kind", "module", "name"), [("best", fz21, "largest_rho"), ("adaptive", wrrw23, "square_cap")]
)
def test_a_cap_is_computed_once(kind: str, module: object, name: str, monkeypatch: pytest.MonkeyPatch) -> None:
    """Counts the calls of the real function."""
    calls, compute = [], getattr(module, name)

    def counting(*numbers: Fraction) -> Fraction:
        calls.append(numbers)
        found: Fraction = compute(*numbers)
        return found

    monkeypatch.setattr(module, name, counting)
    state = MAKERS[kind]()
    texts = [after_some(state).document_text(), state.document_text()]
    restore(texts[0])
    before = len(calls)
    assert [restore(text) for text in texts * 5] == [after_some(state), state] * 5
    assert len(calls) == before
    other = texts[1].replace('"epsilon":"1"', '"epsilon":"1234/1233"')
    assert other != texts[1]
    restore(other)
    assert len(calls) == before + 1


def test_another_cap_of_the_same_budget_is_another_filter() -> None:
    """What is remembered never mixes a document that names a smaller cap with one that names a larger one."""
    state = BestFilter("1.5", "1e-6")
    documents = [
        state.document() | {"parameters": state.parameters() | {"cap": str(state.cap * factor)}}
        for factor in (1, 2, Fraction(1, 2), 1, Fraction(1, 2), 2)
    ]
    caps = [restore(document).caps.rho for document in documents]
    assert caps == [state.cap, state.cap, state.cap / 2, state.cap, state.cap / 2, state.cap]


def test_what_is_wrong_is_refused_again() -> None:
    document = BestFilter("1.25", "1e-6").document() | {"parameters": {"epsilon": "1", "delta": "0"}}
    for _ in range(2):
        with pytest.raises(InvalidInput, match="parameters"):
            restore(document)
    unmade = SumFilter(1).document() | {"parameters": {"epsilon": "1", "delta": "2"}}
    for _ in range(2):
        with pytest.raises(InvalidInput, match="delta"):
            restore(unmade)


def calls_of(work: Callable[[], object]) -> int:
    """Return how many functions are called, in Python and in C."""
    calls = 0

    def count(frame: object, event: str, argument: object) -> None:
        nonlocal calls
        calls += event in ("call", "c_call")

    before = sys.getprofile()
    sys.setprofile(count)
    try:
        work()
    finally:
        sys.setprofile(before)
    return calls


@ALL
def test_restoring_takes_few_calls(kind: str) -> None:
    """Some 180, which take 15 microseconds; computing a cap takes 500 or 2,000, and would not pass."""
    text = after_some(MAKERS[kind]()).document_text()
    assert restore(text).document_text() == text
    assert calls_of(lambda: restore(text)) < 300
