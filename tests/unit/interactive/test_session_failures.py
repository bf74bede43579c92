"""What happens when an answer cannot be had: the debit stays, and nothing about the data is told."""

from __future__ import annotations

import re
import traceback
from collections.abc import Callable
from dataclasses import dataclass
from fractions import Fraction
from typing import Any, NoReturn

import pyarrow
import pytest

from optcomp import InvalidInput, MechanismFailed, OptcompError, PureDP
from optcomp.interactive import GuessAndCheck, PrivateMultiplicativeWeights, Session, SparseVector, SumFilter
from optcomp.statistics import Count, Declared, Integers, Median, Question, Table
from optcomp.statistics.noise import drawing
from tests.unit.interactive.lost import kept_by_an_engine

SECRET = "Ada Lovelace has 36 marbles"


def broken_table() -> Table:
    """The engine loses its rows after it was opened."""
    source = pyarrow.table({"marbles": [36]})
    table, lose = kept_by_an_engine(Table(source, {"marbles": Integers(0, 99)}, name="toys"))
    lose()
    return table


def table() -> Table:
    return Table(pyarrow.table({"marbles": [36, 5]}), {"marbles": Integers(0, 99)})


@dataclass(frozen=True)
class Odd(Count):
    """A statistic that cannot read what the engine found."""

    def integers(self, table: Declared, rows: list[tuple[Any, ...]]) -> NoReturn:
        raise ValueError(SECRET)


def spent(session: Session) -> Fraction | None:
    return session.budget.spent.epsilon


def check_silent(error: MechanismFailed, *secrets: str) -> None:
    assert error.__cause__ is None
    assert error.__context__ is None
    shown = re.sub(r'File ".*", line [0-9]+', "", "".join(traceback.format_exception(error))) + repr(error)
    assert not any(secret in shown for secret in secrets)


def test_an_engine_that_fails() -> None:
    session = Session(broken_table(), SumFilter(1))
    with pytest.raises(MechanismFailed) as failure:
        session.ask(Count("marbles > 3"), epsilon="0.3")
    assert spent(session) == Fraction("0.3")
    check_silent(failure.value, "optcomp_", "does not exist")
    (entry,) = session.transcript
    assert entry.outcome == "failed"
    assert "optcomp_" not in repr(entry) + session.explain()


def test_a_statistic_that_fails() -> None:
    session = Session(table(), SumFilter(1))
    with pytest.raises(MechanismFailed) as failure:
        session.ask(Odd(), epsilon="0.3")
    assert failure.value.kind == "ValueError"
    check_silent(failure.value, SECRET)
    assert spent(session) == Fraction("0.3")
    assert session.ask(Count(), epsilon="0.7").value is not None
    assert [entry.note for entry in session.transcript] == ["MechanismFailed", ""]


@pytest.mark.parametrize("error", [ZeroDivisionError, MemoryError, InvalidInput, OptcompError, StopIteration])
def test_every_error_becomes_the_same(error: type[Exception]) -> None:
    def run() -> NoReturn:
        raise error("marbles", 36, SECRET) from KeyError(SECRET)

    session = Session(table(), SumFilter(1))
    with pytest.raises(MechanismFailed) as failure:
        session.pay("x", [PureDP("0.5")], run)
    assert failure.value.kind == error.__name__
    check_silent(failure.value, SECRET)
    assert spent(session) == Fraction("0.5")


@pytest.mark.parametrize("error", [KeyboardInterrupt, SystemExit, GeneratorExit])
def test_an_interrupt_goes_through_and_keeps_the_debit(error: type[BaseException]) -> None:
    def run() -> NoReturn:
        raise error

    session = Session(table(), SumFilter(1))
    with pytest.raises(error):
        session.pay("x", [PureDP("0.5")], run)
    assert spent(session) == Fraction("0.5")
    (entry,) = session.transcript
    assert (entry.outcome, entry.note) == ("failed", error.__name__)


def test_the_debit_comes_first() -> None:
    """When the mechanism runs, the budget has moved already, and another thread would see it."""
    session = Session(table(), SumFilter(1))
    seen = []

    def run() -> None:
        seen.append((spent(session), session.transcript[0].outcome))

    session.pay("x", [PureDP("0.5")], run)
    assert seen == [(Fraction("0.5"), "paid")]


def test_a_session_may_be_used_while_it_answers() -> None:
    session = Session(table(), SumFilter(1))
    inner = session.pay("outer", [PureDP("0.5")], lambda: session.ask(Count(), epsilon="0.5"))
    assert inner.costs == (PureDP("0.5"),)
    assert spent(session) == 1


def test_a_mechanism_that_fails_to_start() -> None:
    session = Session(broken_table(), SumFilter(1))
    spec = PrivateMultiplicativeWeights(["marbles"], tolerance=1, epsilon="0.5", corrections=1)
    with pytest.raises(MechanismFailed) as failure:
        session.open(spec)
    check_silent(failure.value, "optcomp_", "does not exist")
    assert spent(session) == Fraction("0.5")


def _loud(values: list[int]) -> NoReturn:
    raise RuntimeError(f"cannot add noise to {values}: {SECRET}")


def test_noise_that_fails(monkeypatch: pytest.MonkeyPatch) -> None:
    """The exact integers are known by then; they must not come out with the error, whoever asked for noise."""
    session = Session(table(), SumFilter(1))
    plan = session.commit([Question(Count(), epsilon="0.1")])
    sparse = session.open(SparseVector(5, epsilon="0.1"))
    guess = session.open(GuessAndCheck(5, epsilon="0.1", corrections=1))
    monkeypatch.setattr(drawing._Samplers, "get", lambda self, kind, scale: _loud)
    asked: list[Callable[[], Any]] = [
        lambda: session.ask(Count(), epsilon="0.1"),
        lambda: session.ask(Median("marbles"), epsilon="0.1"),
        lambda: session.open(SparseVector(5, epsilon="0.1")),
        lambda: plan.answer(0),
        lambda: sparse.ask(Count()),
        lambda: guess.ask(Count(), 77),
    ]
    for each in asked:
        with pytest.raises(MechanismFailed) as failure:
            each()
        check_silent(failure.value, SECRET, "36", "RuntimeError: ")
    assert spent(session) == Fraction("0.6")


def test_a_plan_that_fails_is_paid_and_can_be_asked_again() -> None:
    session = Session(broken_table(), SumFilter(1))
    plan = session.commit([Question(Count(), epsilon="0.5")])
    for _ in range(2):
        with pytest.raises(MechanismFailed) as failure:
            plan.answer(0)
        check_silent(failure.value, "optcomp_")
    assert spent(session) == Fraction("0.5")
