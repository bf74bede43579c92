"""What holds a budget is one object in one process; no lock is held while somebody else's code runs."""

from __future__ import annotations

import copy
import dataclasses
import multiprocessing
import os
import pickle
import signal
import threading
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from fractions import Fraction
from functools import partial
from typing import Any

import pyarrow
import pytest

from optcomp import CannotBeShared, InvalidInput, OptcompError, PureDP, RenyiDP
from optcomp.interactive import (
    Answer,
    GaussianSparseVector,
    GuessAndCheck,
    PrivateMultiplicativeWeights,
    RenyiFilter,
    Session,
    SparseVector,
    SumFilter,
    concurrent,
)
from optcomp.interactive.filters import Admitted, Cost, Refused, Request
from optcomp.statistics import Count, Declared, Integers, Mean, Question, Table

pytestmark = pytest.mark.filterwarnings("ignore:.*fork.*:DeprecationWarning")

TABLE = Table(pyarrow.table({"age": list(range(100))}), {"age": Integers(0, 99)}, name="people")
Uses = dict[str, Callable[[Any], object]]
COUNT = Question(Count(), epsilon=1)
SESSION: Uses = {
    "ask": lambda session: session.ask(Count(), epsilon=1),
    "pay": lambda session: session.pay("x", [PureDP(1)], lambda: 1),
    "open": lambda session: session.open(SparseVector(5, epsilon=1)),
    "delegate": lambda session: session.delegate(SumFilter(1)),
    "commit": lambda session: session.commit([COUNT]),
    "budget": lambda session: session.budget,
    "remaining": lambda session: session.remaining(),
    "transcript": lambda session: session.transcript,
    "explain": lambda session: session.explain(),
    "table": lambda session: session.table,
    "concurrent": lambda session: concurrent([session], delta=0),
}
SPARSE: Uses = {
    "ask": lambda run: run.ask(Count()),
    "above": lambda run: run.above(3),
    "left": lambda run: run.positives_left,
    "asked": lambda run: run.asked,
}
LIVE: dict[str, tuple[Callable[[Session], Any], Uses]] = {
    "session": (lambda session: session, SESSION),
    "delegate": (lambda session: session.delegate(SumFilter(5)), SESSION),
    "plan": (
        lambda session: session.commit([COUNT]),
        {"answer": lambda plan: plan.answer(0), "all": lambda p: p.answers()},
    ),
    "sparse vector": (lambda session: session.open(SparseVector(5, epsilon=1, positives=1)), SPARSE),
    "Gaussian": (
        lambda session: GaussianSparseVector(5, sigma_threshold=1, sigma_questions=1, questions=5).start(session.table),
        SPARSE,
    ),
    "guess and check": (
        lambda session: session.open(GuessAndCheck(5, epsilon=1, corrections=1)),
        {
            "ask": lambda run: run.ask(Count(), 3),
            "checked": lambda run: run.checked(3, 3),
            "left": lambda run: run.corrections_left,
        },
    ),
    "weights": (
        lambda session: session.open(PrivateMultiplicativeWeights(["age"], tolerance=5, epsilon=1, corrections=1)),
        {
            "ask": lambda run: run.ask(lambda cell: True),
            "left": lambda run: run.corrections_left,
            "synthetic": lambda run: run.synthetic,
        },
    ),
}
EACH = pytest.mark.parametrize("kind", LIVE)


def opened(kind: str) -> tuple[Session, Any]:
    session = Session(TABLE, SumFilter(100), name="Ada")
    return session, LIVE[kind][0](session)


@EACH
def test_no_copies(kind: str) -> None:
    """A copied session overspent; a copied sparse vector gave one more positive answer for each copy."""
    session, live = opened(kind)
    before = session.budget, session.transcript
    attempts: list[Callable[[Any], Any]] = [copy.copy, copy.deepcopy, lambda live: copy.deepcopy({"x": [live]})]
    attempts += [partial(pickle.dumps, protocol=p) for p in range(pickle.HIGHEST_PROTOCOL + 1)]
    twice = "spend the whole budget" if isinstance(live, Session) else "give all the answers that were paid for once"
    for attempt in attempts:
        with pytest.raises(CannotBeShared, match=f"cannot be copied or pickled: each copy would {twice}"):
            attempt(live)
    with pytest.raises(TypeError):
        dataclasses.replace(live)
    for name in ("table", *(("spec",) if hasattr(live, "spec") else ())):
        with pytest.raises(AttributeError):
            setattr(live, name, None)
    assert (session.budget, session.transcript) == before
    assert issubclass(CannotBeShared, OptcompError)


def in_child(work: Callable[[], object], seconds: int = 120) -> str:
    """What comes of it in a process that was forked off: an error, or that there was none."""
    reading, writing = os.pipe()
    child = os.fork()
    if not child:
        signal.alarm(seconds)  # a child that waits for ever is ended, and has said nothing
        try:
            work()
            told = "no error"
        except BaseException as error:
            told = f"{type(error).__name__}: {error}"
        os.write(writing, told.encode())
        os._exit(0)
    os.close(writing)
    with os.fdopen(reading, "rb") as pipe:
        found = pipe.read().decode()
    os.waitpid(child, 0)
    return found


@EACH
def test_no_use_after_a_fork(kind: str) -> None:
    session, live = opened(kind)
    before = session.budget
    for name, use in LIVE[kind][1].items():
        found = in_child(partial(use, live))
        assert found.startswith("CannotBeShared: "), (name, found)
        assert found.endswith("; open a new one in this process"), (name, found)
        assert f"was opened in process {os.getpid()} and is used in process" in found
    assert session.budget is before
    next(iter(LIVE[kind][1].values()))(live)  # and goes on here


def test_a_forked_process_does_not_wait_for_a_lock_that_nobody_will_release() -> None:
    session = Session(TABLE, SumFilter(1))
    with session._lock:
        assert in_child(session.remaining).startswith("CannotBeShared")
        assert in_child(lambda: repr(session)) == "no error"
    assert "of another process" in in_child(lambda: (_ for _ in ()).throw(ValueError(repr(session))))


def test_a_forked_process_may_open_a_session_of_its_own() -> None:
    def work() -> None:
        own = Session(TABLE, SumFilter(1), name="own")
        own.pay("x", [PureDP(1)], lambda: 1)
        raise ValueError(own.remaining())

    assert in_child(work).startswith("ValueError: ε 0 of 1 left")


def _use(session: Session, pipe: Any) -> None:
    try:
        session.ask(Count(), epsilon=1)
    except CannotBeShared as error:
        pipe.send(str(error))
    else:
        pipe.send("answered")


def test_other_processes() -> None:
    session = Session(TABLE, SumFilter(1), name="Ada")
    forked = multiprocessing.get_context("fork")
    reading, writing = forked.Pipe(duplex=False)
    child = forked.Process(target=_use, args=(session, writing))
    child.start()
    try:
        child.join(120)
        assert child.exitcode == 0, "the child has not reported how its question was answered"
    finally:
        child.kill()
    assert "session 'Ada' was opened in process" in reading.recv()
    reading.close()
    writing.close()
    spawned = multiprocessing.get_context("spawn")
    with pytest.raises(CannotBeShared, match="pickled"):
        spawned.Process(target=_use, args=(session, None)).start()
    assert session.budget is session.quota


def test_filters_and_specifications_are_values() -> None:
    budget = SumFilter(1).admit("0.5").state  # type: ignore[union-attr]
    for value in (budget, SparseVector(5, epsilon=1), COUNT, GuessAndCheck(5, epsilon=1, corrections=1)):
        assert copy.copy(value) == copy.deepcopy(value) == pickle.loads(pickle.dumps(value)) == value


def within(seconds: float, work: Callable[[], Any]) -> Any:
    """What a thread returns in time."""
    found: list[Any] = []
    thread = threading.Thread(target=lambda: found.append(work()), daemon=True)
    thread.start()
    thread.join(seconds)
    assert found, f"the session still waits for a lock after {seconds:g} seconds"
    return found[0]


def test_a_curve_may_look_at_the_session_and_spend_from_it() -> None:
    """The lock was held while it ran, so that it waited for itself."""
    session = Session(TABLE, RenyiFilter(8, 9))
    seen = []

    def curve(alpha: float) -> float:
        with ThreadPoolExecutor(1) as pool:
            seen.append(pool.submit(session.remaining).result(60))
        seen.append(session.remaining())
        session.ask(Count(), epsilon=1)
        return 0.5

    assert within(120, lambda: session.pay("curve", [RenyiDP(curve)], lambda: "told")) == "told"
    assert [entry.what for entry in session.transcript] == ["count at ε = 1", "curve"]
    inner = RenyiFilter(8, 9).price(PureDP(1)).divergence
    assert inner is not None
    assert session.budget.spent.divergence == inner + Fraction(1, 2)
    assert len(seen) == 2


def test_what_a_curve_spends_is_gone_when_its_own_price_is_charged() -> None:
    session = Session(TABLE, RenyiFilter(8, 1))

    def curve(alpha: float) -> float:
        session.pay("inner", [RenyiDP(8, "0.9")], lambda: None)
        return 0.5

    with pytest.raises(OptcompError, match=r"0\.1 of 1 is left"):
        within_error(lambda: session.pay("outer", [RenyiDP(curve)], lambda: None))
    assert session.budget.spent.divergence == Fraction("0.9")


def within_error(work: Callable[[], Any]) -> None:
    def caught() -> Any:
        try:
            return work()
        except OptcompError as error:
            return error

    found = within(60, caught)
    if isinstance(found, Exception):
        raise found


class Nosy:
    """Asks the session for its budget when it is shown."""

    def __init__(self, session: Session) -> None:
        self.session = session

    def __repr__(self) -> str:
        return repr(self.session.remaining())

    def __call__(self, alpha: float) -> float:
        return 5.0


def test_asking_again_from_within_is_an_error_and_not_a_wait() -> None:
    session = Session(TABLE, RenyiFilter(8, 1))
    with pytest.raises(CannotBeShared, match="is being asked from inside its own request"):
        within_error(lambda: session.pay("x", [RenyiDP(Nosy(session))], lambda: None))
    session.ask(Count(), epsilon="0.1")  # and the lock is free again


class Counting(SumFilter):
    """A filter of somebody else, that asks `admit` of its own."""

    def admit(self, request: Request) -> Any:
        return super().admit(request)


class Halved(SumFilter):
    """Admits no more than half of what is left at once."""

    def charge(self, request: object, cost: Cost) -> Admitted[Any] | Refused:
        return super().charge(request, Cost(epsilon=2 * (cost.epsilon or Fraction(0)), delta=cost.delta))


def test_filters_of_others_are_asked_for_price_and_charge() -> None:
    with pytest.raises(InvalidInput, match="must not have an `admit` of its own"):
        Session(TABLE, Counting(1))
    session = Session(TABLE, Halved(1))
    session.pay("x", ["0.5"], lambda: None)
    with pytest.raises(OptcompError):
        session.pay("x", ["0.1"], lambda: None)


def test_an_answer_is_a_value() -> None:
    """It held the table, connection and all."""
    session = Session(TABLE, SumFilter(100))
    plan = session.commit([COUNT])
    for answer in (session.ask(Mean("age"), epsilon=9), session.ask(Count(), epsilon=9), plan.answer(0)):
        assert type(answer.declared) is Declared
        twin: Answer = pickle.loads(pickle.dumps(answer))
        assert (twin, twin.interval("0.9")) == (answer, answer.interval("0.9"))
        assert copy.deepcopy(answer) == answer
