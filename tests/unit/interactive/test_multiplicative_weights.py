"""Private multiplicative weights at work: it learns, keeps to its budget, and survives bad questions."""

from __future__ import annotations

import threading
from fractions import Fraction
from itertools import product
from random import Random
from typing import Any

import numpy as np
import pyarrow
import pytest

from optcomp import ApproxDP, InvalidInput, MechanismFailed, PureDP
from optcomp.interactive import PrivateMultiplicativeWeights, Session, SumFilter
from optcomp.interactive import multiplicative_weights as weighing
from optcomp.interactive.multiplicative_weights import STEPS, Estimate, MultiplicativeWeightsRun
from optcomp.statistics import Categories, Table
from tests.unit.interactive.lost import kept_by_an_engine
from tests.unit.interactive.runs import RepeatedNoise

TOWNS = ["A", "B", "C"]
COUNTS = {("A", "yes"): 700, ("A", "no"): 40, ("B", "yes"): 30, ("B", "no"): 900, ("C", "yes"): 10, ("C", "no"): 320}
COLUMNS = {"town": Categories(TOWNS), "vote": Categories(["yes", "no"])}
ROWS = sum(COUNTS.values())


def table(counts: dict[tuple[str, str], int] = COUNTS) -> Table:
    rows = [cell for cell, count in counts.items() for _ in range(count)]
    return Table(pyarrow.table({"town": [town for town, _ in rows], "vote": [vote for _, vote in rows]}), COLUMNS)


def spec(epsilon: str = "400", corrections: int = 25, **options: Any) -> PrivateMultiplicativeWeights:
    columns = ["town", "vote"]
    return PrivateMultiplicativeWeights(columns, tolerance=20, epsilon=epsilon, corrections=corrections, **options)


def errors(running: MultiplicativeWeightsRun) -> list[float]:
    """How far the synthetic table is off, for every set of cells."""
    synthetic, found = running.synthetic, []
    for chosen in product((False, True), repeat=len(COUNTS)):
        cells = [cell for cell, taken in zip(COUNTS, chosen, strict=True) if taken]
        found.append(abs(sum(COUNTS[cell] - synthetic[cell] for cell in cells)))
    return found


def test_it_learns() -> None:
    """With noise of a scale of 0.3 rows: none is beyond 10 rows, but for a probability below 1e-12.

    Even if all noise is 10 rows, the synthetic table is off by no more than 40.
    """
    about, rng = table(), Random(5)
    running = Session(about, SumFilter(400)).open(spec())
    before = max(errors(running))
    corrected = 0
    for _ in range(60):
        cells = {cell for cell in COUNTS if rng.random() < 0.5}
        answer = running.ask([cell in cells for cell in running.labels])
        truth = sum(COUNTS[cell] for cell in cells)
        if answer.checked:
            assert abs(answer.value - truth) < spec().accuracy(60, about, 1 - 1e-10)
        corrected += answer.corrected
    assert before > 500
    assert max(errors(running)) < 60
    assert 0 < corrected <= 25
    assert running.corrections_left == 25 - corrected


def test_unchecked_when_all_corrections_are_made() -> None:
    running = spec(corrections=1).start(table())
    cells = {("B", "no")}
    first = running.ask(lambda cell: cell in cells)
    assert (first.corrected, first.checked) == (True, True)
    later = running.ask(lambda cell: cell == ("A", "yes"))
    assert (later.corrected, later.checked) == (False, False)
    assert later.value == running.synthetic["A", "yes"]
    assert running.corrections_left == 0


def test_costs() -> None:
    made = spec("2", 4, check_share="1/4")
    assert made.costs(table()) == (PureDP("0.1"), PureDP("0.475"), *[PureDP(Fraction("1.425") / 4)] * 4)
    session = Session(table(), SumFilter(2))
    session.open(made)
    assert session.budget.spent.epsilon == 2
    (whole,) = spec("2", 60, delta="1e-6").costs(table())
    assert isinstance(whole, ApproxDP)
    assert float(whole.epsilon) == spec("2", 60).total("1e-6").epsilon < 1.9


class Half(Exception):
    """An error of the analyst's own function."""


def _raises(cell: Any) -> bool:
    if cell[0] == "B":
        raise Half
    return True


@pytest.mark.parametrize(
    "weights",
    [
        [1.0] * 6,
        [1.0] * 11 + [1.0 + 1e-15],
        [-0.1] * 12,
        [float("nan")] * 12,
        ["many"] * 12,
        np.ones((12, 1)),
        None,
        5,
        lambda cell: None,
        lambda cell: [1, 2],
    ],
)
def test_bad_weights_change_nothing(weights: Any) -> None:
    running = spec().start(table())
    before = running.synthetic
    with pytest.raises(InvalidInput):
        running.ask(weights)
    assert running.synthetic == before
    assert running.corrections_left == 25


def test_an_error_of_the_function_changes_nothing() -> None:
    running = spec().start(table())
    before = running.synthetic
    with pytest.raises(Half):
        running.ask(_raises)
    assert running.synthetic == before
    assert running.corrections_left == 25
    assert running.ask(lambda cell: cell[1] == "no").checked  # and the lock is free


def test_weights_of_all_kinds_mean_the_same() -> None:
    running = spec(corrections=1).start(table())
    running.ask(lambda cell: cell == ("B", "no"))  # from now on unchecked, so without noise
    weights: dict[Any, Any] = {("A", "yes"): True, ("B", "yes"): Fraction(1, 2), ("C", "no"): np.True_}
    numbers = [float(weights.get(cell, 0)) for cell in running.labels]
    kinds: list[Any] = [lambda cell: weights.get(cell, False), numbers, tuple(map(str, numbers)), np.array(numbers)]
    assert len({running.ask(each).value for each in kinds}) == 1


@pytest.mark.parametrize(
    ("wrong", "named"),
    [
        ({"tolerance": 0}, "tolerance"),
        ({"epsilon": 0}, "epsilon"),
        ({"corrections": 0}, "corrections"),
        ({"check_share": 2}, "check_share"),
        ({"epsilon": "1e-12"}, "epsilon"),
        ({"edges": {"age": [0, 1]}}, "edges"),
    ],
)
def test_bad_parameters(wrong: dict[str, Any], named: str) -> None:
    with pytest.raises(InvalidInput, match=named):
        PrivateMultiplicativeWeights(["town"], **{"tolerance": 1, "epsilon": 1, "corrections": 1, **wrong})


def test_undeclared_columns_cost_nothing() -> None:
    session = Session(table(), SumFilter(1))
    with pytest.raises(InvalidInput):
        session.open(PrivateMultiplicativeWeights(["income"], tolerance=1, epsilon=1, corrections=1))
    assert session.budget.spent.epsilon == 0
    assert session.transcript == ()


def test_an_engine_that_fails_keeps_the_debit() -> None:
    about, lose = kept_by_an_engine(Table(pyarrow.table({"town": TOWNS}), {"town": Categories(TOWNS)}))
    session = Session(about, SumFilter(1))
    lose()
    with pytest.raises(MechanismFailed):
        session.open(PrivateMultiplicativeWeights(["town"], tolerance=1, epsilon=1, corrections=1))
    assert session.budget.spent.epsilon == 1


def test_all_that_is_told_is_a_function_of_the_noise(monkeypatch: pytest.MonkeyPatch) -> None:
    """Whatever the real noise of the first run is, the second one meets it again."""
    noise = RepeatedNoise(monkeypatch)

    def run() -> list[Any]:
        running = spec("4", corrections=5).start(table())
        return [running.ask([step / 7, 1 - step / 7, 0, 1, 0.5, step % 2] * 2) for step in range(8)]

    first = run()
    noise.again()
    assert run() == first
    assert noise.all_drawn()


def test_the_noisy_number_of_rows_does_not_cap_answers(monkeypatch: pytest.MonkeyPatch) -> None:
    """With many rows too few in the synthetic table, a correction may still tell the truth."""
    monkeypatch.setattr(weighing, "with_laplace", lambda values, scale: [value - 500 for value in values])
    running = spec("4000").start(table())
    answer = running.ask([1] * 12)
    assert answer.corrected
    assert abs(answer.value - ROWS) < 20
    assert sum(running.synthetic.values()) == pytest.approx(ROWS - 500)


def test_an_empty_table() -> None:
    running = spec("40").start(table({}))
    assert running.rows >= 1
    assert running.ask([1] * 12).value < 40  # noise of a scale of 1.3 rows is that large with a probability below 1e-13


def test_weights_are_steps() -> None:
    running = spec().start(table())
    given: list[Any] = [1, 0, Fraction(1, 4096), 0.5, 1 / 8192, 1 / 8191] * 2
    assert running.form(given)["weights"] == [STEPS, 0, 1, 2048, 0, 1] * 2


def test_from_many_threads() -> None:
    running = spec(corrections=6).start(table())
    found: list[Estimate] = []
    barrier = threading.Barrier(8)

    def work(seed: int) -> None:
        rng = Random(seed)
        barrier.wait()
        found.extend(running.ask([rng.randint(0, 1) for _ in running.labels]) for _ in range(6))

    threads = [threading.Thread(target=work, args=(seed,)) for seed in range(8)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert len(found) == 48
    assert sum(answer.corrected for answer in found) == 6 - running.corrections_left
    assert all(answer.checked for answer in found) or running.corrections_left == 0
