"""Mechanisms that are stored and go on: documents and states without code, all of them exact."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from fractions import Fraction
from random import Random
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from optcomp import InvalidInput, MechanismClosed, MechanismFailed
from optcomp.interactive import (
    GaussianSparseVector,
    SparseVector,
    read_mechanism,
)
from optcomp.interactive import guess_and_check as checking
from optcomp.interactive import multiplicative_weights as weighing
from optcomp.interactive import sparse_vector as comparing
from optcomp.interactive.live import Running
from optcomp.statistics import Count
from tests.unit.interactive.lost import kept_by_an_engine
from tests.unit.interactive.runs import (
    ALL_MECHANISMS,
    MECHANISMS,
    OTHER,
    TABLE,
    RepeatedNoise,
    asked,
    through_json,
)


@pytest.mark.parametrize("name", MECHANISMS)
def test_a_mechanism_is_read_back(name: str) -> None:
    mechanism = MECHANISMS[name]
    found: Any = read_mechanism(through_json(mechanism.document()))
    assert found == mechanism
    assert type(found) is type(mechanism)
    assert found.document() == mechanism.document()
    if name != "gaussian":
        assert found.costs(TABLE) == mechanism.costs(TABLE)
    else:
        assert [found.divergence(a) for a in (1.5, 2, 9)] == [mechanism.divergence(a) for a in (1.5, 2, 9)]  # type: ignore[attr-defined]


def test_the_document_of_a_mechanism() -> None:
    assert SparseVector("2.5", epsilon="0.1", share="1/3").document() == {
        "mechanism": "sparse vector",
        "threshold": "5/2",
        "epsilon": "1/10",
        "positives": 1,
        "sensitivity": 1,
        "monotone": False,
        "refresh": False,
        "share": "1/3",
    }
    written = MECHANISMS["bins"].document()
    cells = {"contingency": ["region", "age"], "edges": {"age": ["0", "13/2", "13", "20"]}, "where": "age > 0"}
    assert written["cells"] == cells


@settings(max_examples=60, deadline=None)
@given(
    threshold=st.one_of(st.floats(-1e9, 1e9), st.fractions(-1000, 1000)),
    epsilon=st.one_of(st.floats(1e-3, 50), st.fractions(Fraction(1, 1000), 50)),
    positives=st.integers(1, 1000),
    monotone=st.booleans(),
    refresh=st.booleans(),
)
def test_any_sparse_vector_is_read_back(threshold: Any, epsilon: Any, **counted: Any) -> None:
    mechanism = SparseVector(threshold, epsilon=epsilon, **counted)
    found = read_mechanism(through_json(mechanism.document()))
    assert isinstance(found, SparseVector)
    assert found == mechanism
    assert found.scales() == mechanism.scales()
    assert found.costs() == mechanism.costs()


def changed(document: Mapping[str, Any], **entries: Any) -> dict[str, Any]:
    return {**document, **entries}


SPARSE = MECHANISMS["sparse"].document()
BAD_MECHANISMS: list[Any] = [
    None,
    [],
    {},
    {"mechanism": "dense vector"},
    {"mechanism": []},
    changed(SPARSE, other=1),
    changed(SPARSE, positives="5"),
    changed(SPARSE, positives=0),
    changed(SPARSE, epsilon="none"),
    changed(SPARSE, monotone=1),
    {name: value for name, value in SPARSE.items() if name != "share"},
    changed(SPARSE, mechanism="guess and check"),
    changed(MECHANISMS["weights"].document(), cells={"count": "rows"}),
]


@pytest.mark.parametrize("document", BAD_MECHANISMS)
def test_documents_of_no_mechanism_are_refused(document: Any) -> None:
    with pytest.raises(InvalidInput):
        read_mechanism(document)


def told_of(run: Running[Any]) -> dict[str, Any]:
    return {name: getattr(run, name) for name in run.TOLD}


@pytest.mark.parametrize("name", ALL_MECHANISMS)
def test_a_run_goes_on_exactly_where_it_was(name: str, monkeypatch: pytest.MonkeyPatch) -> None:
    """Stored and resumed after every question it gives the answers of one that was never interrupted.

    Whatever the noise is: the run that is interrupted meets the noise of the other.
    """
    mechanism, noise = ALL_MECHANISMS[name], RepeatedNoise(monkeypatch)
    whole, rng = mechanism.start(TABLE), Random(3)
    answers: list[Any] = []
    states: list[Any] = []
    with_answers: list[tuple[Any, ...]] = []
    while len(answers) < 25:
        try:
            answers.append(whole.ask(*asked(mechanism, rng)))
        except MechanismClosed:
            break
        states.append(through_json(whole.state()))
        with_answers.append((answers[-1], told_of(whole)))
    assert len(answers) >= 2
    assert len({str(state) for state in states}) > 1
    noise.again()
    run, rng = mechanism.start(TABLE), Random(3)
    for (answer, told), state in zip(with_answers, states, strict=True):
        resumed = mechanism.resume(TABLE, through_json(run.state()))
        assert resumed.state() == run.state()
        assert told_of(resumed) == told_of(run)
        run = resumed
        assert run.ask(*asked(mechanism, rng)) == answer
        assert told_of(run) == told
        assert run.state() == state
    assert noise.all_drawn()


@pytest.mark.parametrize("name", MECHANISMS)
def test_real_noise_survives(name: str) -> None:
    mechanism, rng = MECHANISMS[name], Random(2)
    run = mechanism.start(TABLE)
    for _ in range(2):
        run.ask(*asked(mechanism, rng))
        state = run.state()
        resumed = mechanism.resume(TABLE, through_json(state))
        assert resumed.state() == state
        assert told_of(resumed) == told_of(run)
        assert resumed.spec == mechanism
        if name in ("sparse", "gaussian") and not run.positives_left:
            return


def test_far_from_the_threshold_a_resumed_run_answers_alike() -> None:
    mechanism = SparseVector(100, epsilon=50, positives=3)
    run = mechanism.start(TABLE)
    high, low = Count(), Count("age > 19")
    found = []
    for statistic in (low, high, low, low, high):
        run = mechanism.resume(TABLE, through_json(run.state()))
        found.append(run.ask(statistic))
    assert found == [False, True, False, False, True]
    assert (run.positives_left, run.asked) == (1, 5)
    run.ask(high)
    closed = mechanism.resume(TABLE, run.state())
    with pytest.raises(MechanismClosed):
        closed.ask(low)


def test_the_last_question_of_a_gaussian_sparse_vector_stays_the_last() -> None:
    mechanism = GaussianSparseVector(10**6, sigma_threshold=1, sigma_questions=1, questions=2)
    run = mechanism.start(TABLE)
    run.ask(Count())
    run = mechanism.resume(TABLE, run.state())
    assert run.ask(Count()) is False
    with pytest.raises(MechanismClosed):
        mechanism.resume(TABLE, run.state()).ask(Count())


def test_the_same_threshold_is_not_drawn_twice() -> None:
    mechanism = SparseVector(0, epsilon="0.001")
    state = mechanism.start(TABLE).state()
    assert {mechanism.resume(TABLE, state).state()["threshold"] for _ in range(20)} == {state["threshold"]}
    assert len({mechanism.start(TABLE).state()["threshold"] for _ in range(20)}) > 1


def test_no_exact_count_is_in_the_state_of_multiplicative_weights(monkeypatch: pytest.MonkeyPatch) -> None:
    """With noise that drowns the data entirely, states about different data are the same."""
    for module in (comparing, checking, weighing):
        monkeypatch.setattr(module, "with_laplace", lambda values, scale: [97 for _ in values])
    mechanism = MECHANISMS["bins"]
    states = []
    for about in (TABLE, OTHER):
        run = mechanism.start(about)
        before = run._counts.tolist()
        assert run.ask([1, 0] * 6).corrected
        assert run.ask("region == 'south'").corrected
        states.append(run.state())
        again = mechanism.resume(about, through_json(run.state()))
        assert again._counts.tolist() == before
        assert again.state() == run.state()
    assert states[0] == states[1]
    assert len(states[0]["learned"]) == 2
    assert set(states[0]) == {"mechanism", "rows", "check", "shares", "learned"}


def test_resuming_reads_the_data_and_hides_why_it_cannot() -> None:
    kept, lose = kept_by_an_engine(TABLE)
    mechanism = MECHANISMS["weights"]
    state = mechanism.start(kept).state()
    lose()
    with pytest.raises(MechanismFailed):
        mechanism.resume(kept, state)


def broken(state: dict[str, Any]) -> Iterator[Any]:
    """States that nobody told."""
    yield from (None, [], "state", {}, {**state, "more": 1})
    for name in state:
        yield {key: value for key, value in state.items() if key != name}
        wrong: list[Any] = [None, "x", [], {}, True, 10**30, -(10**30), 0.5, float("nan")]
        for value in wrong:
            if not (name == "learned" and value == []):
                yield {**state, name: value}


@pytest.mark.parametrize("name", MECHANISMS)
def test_bad_and_foreign_states_are_refused(name: str) -> None:
    mechanism, rng = MECHANISMS[name], Random(1)
    run = mechanism.start(TABLE)
    run.ask(*asked(mechanism, rng))
    for state in broken(run.state()):
        with pytest.raises(InvalidInput):
            mechanism.resume(TABLE, state)
    for other in MECHANISMS:
        if other != name:
            with pytest.raises(InvalidInput):
                MECHANISMS[other].resume(TABLE, run.state())


def test_states_out_of_their_range_are_refused() -> None:
    mechanism = MECHANISMS["gaussian"]
    state = mechanism.start(TABLE).state()
    for wrong in ({"positives_left": 10}, {"positives_left": -1}, {"positives_left": 4}, {"asked": 31}, {"asked": -1}):
        with pytest.raises(InvalidInput, match=next(iter(wrong)) if "asked" in wrong else "state"):
            mechanism.resume(TABLE, {**state, **wrong})
    weights = MECHANISMS["weights"]
    state = weights.start(TABLE).state()
    entry = {"weights": [4096, 0, 0], "answer": 1.0}
    for wrong_list in (
        {"rows": 0},
        {"shares": [1.0, 0.0]},
        {"shares": [0.5, 0.5, 0.5]},
        {"shares": [1.5, -0.5, 0.0]},
        {"shares": [1, 0, 0]},
        {"shares": [float("nan")] * 3},
        {"learned": [entry] * 7},
        {"learned": [entry]},  # nothing was corrected yet
    ):
        with pytest.raises(InvalidInput, match=f"state.{next(iter(wrong_list))}"):
            weights.resume(TABLE, {**state, **wrong_list})
    check = {**state["check"], "check": {**state["check"]["check"], "positives_left": 5, "asked": 1}}
    assert len(weights.resume(TABLE, {**state, "check": check, "learned": [entry]}).state()["learned"]) == 1
    for bad in ({"answer": -1.0}, {"answer": 1}, {"answer": 1e9}, {"weights": [4097, 0, 0]}, {"weights": [0]}):
        with pytest.raises(InvalidInput, match=r"state\.learned"):
            weights.resume(TABLE, {**state, "check": check, "learned": [{**entry, **bad}]})


def test_errors_do_not_show_the_state() -> None:
    mechanism = SparseVector(123456, epsilon=1)
    state = mechanism.start(TABLE).state()
    for wrong in ({**state, "threshold": 987654.5}, {**state, "more": 987654}, [987654]):
        with pytest.raises(InvalidInput) as caught:
            mechanism.resume(TABLE, wrong)  # type: ignore[arg-type]
        assert "987654" not in str(caught.value)
