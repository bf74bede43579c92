"""Sparse vectors at work: what they take, when they close, how far off they are, and from many threads."""

from __future__ import annotations

import threading
from math import ceil, floor

import pyarrow
import pytest
from flint import arb

from optcomp import HypothesisNotMet, InvalidInput, MechanismClosed, MechanismFailed, PureDP
from optcomp.interactive import (
    GaussianSparseVector,
    GuessAndCheck,
    PrivateMultiplicativeWeights,
    Session,
    SparseVector,
    SumFilter,
)
from optcomp.statistics import Count, Integers, Mean, Reals, Sum, Table
from tests.oracles.thresholds import NO_TABLE, sparse_courses
from tests.unit.interactive.lost import kept_by_an_engine

PEOPLE = {"age": list(range(100)), "debt": [-5] * 100, "height": [1.7] * 100}
COLUMNS = {"age": Integers(0, 99), "debt": Integers(-9, 9), "height": Reals(0, 3)}
FAR = 10**7


def table(**options: object) -> Table:
    return Table(pyarrow.table(PEOPLE), COLUMNS, **options)  # type: ignore[arg-type]


def test_the_engine_is_asked() -> None:
    """Counts are 40 or more away from the threshold, and noise has scales up to 0.14: wrong with a chance of e^-100."""
    running = Session(table(), SumFilter(50)).open(SparseVector(50, epsilon=40, positives=2))
    assert not running.ask(Count("age >= 90"))
    assert running.ask(Count("age >= 10"))
    assert not running.ask(Count("age < 5"))
    assert running.ask(Count())
    assert (running.asked, running.positives_left) == (4, 0)
    with pytest.raises(MechanismClosed, match="all positive answers are given"):
        running.ask(Count("age >= 90"))
    assert running.asked == 4


def test_sums_of_whole_numbers() -> None:
    """Sums are 1,500 or more away from the threshold, and noise has scales up to 8.1: wrong with a chance of e^-90."""
    running = SparseVector(1000, epsilon=40, sensitivity=99).start(table())
    assert not running.ask(Sum("debt"))
    assert running.ask(Sum("age"))


@pytest.mark.parametrize(
    ("statistic", "problem"),
    [
        (Mean("age"), "must be a Count"),
        (Sum("height"), "must be a sum of Integers"),
        (Sum("age"), "can change by 99 with one person, more than the sensitivity 1"),
        (Count("income > 3"), "income"),
        (Sum("income"), "income"),
    ],
)
def test_refused_questions_cost_nothing(statistic: Count | Sum, problem: str) -> None:
    running = SparseVector(5, epsilon=1).start(table())
    with pytest.raises(InvalidInput, match=problem):
        running.ask(statistic)
    assert (running.asked, running.positives_left) == (0, 1)


def test_several_rows_of_a_person_need_more_sensitivity() -> None:
    about = table(person="age", rows_per_person=3)
    with pytest.raises(InvalidInput, match="can change by 3"):
        SparseVector(5, epsilon=1, sensitivity=2).start(about).ask(Count())
    SparseVector(5, epsilon=1, sensitivity=3).start(about).ask(Count())


def test_monotone_questions_only() -> None:
    running = SparseVector(FAR, epsilon=1, sensitivity=99, monotone=True).start(table())
    assert not running.ask(Sum("age"))
    with pytest.raises(HypothesisNotMet, match="not monotone"):
        running.ask(Sum("debt"))
    replaced = SparseVector(FAR, epsilon=1, monotone=True).start(table(neighbours="replace"))
    with pytest.raises(HypothesisNotMet, match="not monotone"):
        replaced.ask(Count())


@pytest.mark.parametrize(
    "wrong",
    [
        {"epsilon": 0},
        {"epsilon": "1e-16"},
        {"epsilon": float("nan")},
        {"epsilon": 1, "positives": 0},
        {"epsilon": 1, "positives": 1.0},
        {"epsilon": 1, "sensitivity": 0},
        {"epsilon": 1, "share": 0},
        {"epsilon": 1, "share": 1},
        {"epsilon": 1, "threshold": float("inf")},
    ],
)
def test_bad_parameters(wrong: dict[str, object]) -> None:
    with pytest.raises(InvalidInput):
        SparseVector(**{"threshold": 0, **wrong})  # type: ignore[arg-type]


@pytest.mark.parametrize("wrong", [{"sigma_threshold": 0}, {"sigma_questions": 1e13}, {"questions": 0}])
def test_bad_parameters_of_the_gaussian_one(wrong: dict[str, float]) -> None:
    with pytest.raises(InvalidInput):
        GaussianSparseVector(0, **{"sigma_threshold": 1, "sigma_questions": 1, "questions": 5, **wrong})  # type: ignore[arg-type]


def test_costs() -> None:
    assert SparseVector(0, epsilon="0.3", positives=5).costs() == (PureDP("0.3"),)
    assert SparseVector(0, epsilon="0.3", positives=5).theorem == "LSL17"


def test_an_engine_that_fails_tells_nothing_and_takes_no_answer() -> None:
    about, lose = kept_by_an_engine(Table(pyarrow.table(PEOPLE), COLUMNS))
    running = SparseVector(5, epsilon=1).start(about)
    lose()
    with pytest.raises(MechanismFailed) as failure:
        running.ask(Count())
    assert failure.value.__context__ is None
    assert failure.value.__cause__ is None
    assert (running.asked, running.positives_left) == (0, 1)


@pytest.mark.parametrize("threshold", [0, "5/2"])
@pytest.mark.parametrize("confidence", ["0.5", "0.95"])
@pytest.mark.parametrize("refresh", [False, True])
def test_accuracy(refresh: bool, confidence: str, threshold: int | str) -> None:
    """Exactly: at this distance on either side all answers are right with this confidence, or more."""
    spec = SparseVector(threshold, epsilon=4, positives=3, refresh=refresh)
    distance = spec.accuracy(3, confidence)
    high, low = ceil(spec.threshold + distance), floor(spec.threshold - distance)
    above = sparse_courses(spec, [high] * 3, 3)[True, True, True].chance()
    below = sparse_courses(spec, [low] * 3, 3)[False, False, False].chance()
    assert above >= arb(confidence)
    assert below >= arb(confidence)
    close = sparse_courses(spec, [distance // 4] * 3, 3)[True, True, True].chance()
    assert close < arb(confidence)


def test_accuracy_where_noise_is_almost_always_zero() -> None:
    """No distance to spare: a question at the threshold itself would be wrong too often."""
    spec = SparseVector(0, epsilon=42, share="1/21")
    assert spec.accuracy(1, "0.58") == 1
    assert sparse_courses(spec, [-1], 1)[(False,)].chance() >= arb("0.58")
    assert sparse_courses(spec, [0], 1)[(False,)].chance() < arb("0.58")


@pytest.mark.parametrize("confidence", [1 - 1e-15, 1 - 1e-16])
def test_accuracy_next_to_certainty(confidence: float) -> None:
    spec = SparseVector(0, epsilon=1)
    assert spec.accuracy(10, "0.999999") < spec.accuracy(10, confidence) < 1000


def test_accuracy_of_the_gaussian_one() -> None:
    spec = GaussianSparseVector(0, sigma_threshold=2, sigma_questions=3, questions=3, positives=3)
    distance = spec.accuracy(confidence="0.9")
    assert sparse_courses(spec, [distance] * 3, 3)[True, True, True].chance() >= arb("0.9")
    assert sparse_courses(spec, [-distance] * 3, 3)[False, False, False].chance() >= arb("0.9")
    assert spec.accuracy(2, "0.9") <= distance


def test_never_refreshed_needs_less_distance() -> None:
    ratios = []
    for positives in (1, 5, 20, 100):
        plain, renewed = (SparseVector(0, epsilon=1, positives=positives, refresh=each) for each in (False, True))
        ratios.append(renewed.accuracy(100) / plain.accuracy(100))
    assert ratios == sorted(ratios)
    assert ratios[0] > 1
    assert ratios[-1] > 1.5


@pytest.mark.parametrize("refresh", [False, True])
def test_from_many_threads_no_more_than_the_positives(refresh: bool) -> None:
    running = SparseVector(-FAR, epsilon=1, positives=37, refresh=refresh).start(NO_TABLE)
    found: list[bool] = []
    refused: list[MechanismClosed] = []
    barrier = threading.Barrier(8)

    def work() -> None:
        barrier.wait()
        for _ in range(10):
            try:
                found.append(running.above(0))
            except MechanismClosed as closed:
                refused.append(closed)

    threads = [threading.Thread(target=work) for _ in range(8)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert (len(found), sum(found), len(refused)) == (37, 37, 43)


@pytest.mark.parametrize("far", [2**62 + 1, -(10**400), 10**200_000, "1e4000"], ids=range(4))
def test_thresholds_that_no_noisy_integer_can_reach(far: int | str) -> None:
    """They could not even be shown."""
    with pytest.raises(InvalidInput, match=r"threshold: must lie within 4.61e\+18 of zero"):
        SparseVector(far, epsilon=1)
    with pytest.raises(InvalidInput, match="threshold"):
        GaussianSparseVector(far, sigma_threshold=1, sigma_questions=1, questions=1)
    with pytest.raises(InvalidInput, match="tolerance"):
        GuessAndCheck(far, epsilon=1, corrections=1)
    with pytest.raises(InvalidInput, match=r"tolerance: must lie within 1.13e\+15"):
        PrivateMultiplicativeWeights(["age"], tolerance=far, epsilon=1, corrections=1)
    assert "4.61169e+18" in str(SparseVector(2**62, epsilon=1))
