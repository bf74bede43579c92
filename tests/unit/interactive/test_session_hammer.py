"""Many threads and tasks at one session: nothing is ever overspent, and every request is accounted for.

The hammer is tested too: sessions that are broken on purpose must not survive it.
"""

from __future__ import annotations

import asyncio
import sys
import threading
import time
from collections import Counter
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from fractions import Fraction
from random import Random
from typing import Any

import pyarrow
import pytest

from optcomp import ZCDP, ApproxDP, BudgetExceeded, MechanismFailed, PureDP
from optcomp.interactive import BestFilter, Entry, Filter, GuessAndCheck, Session, SparseVector, SumFilter, ZCDPFilter
from optcomp.interactive.filters import Request
from optcomp.statistics import Count, Histogram, Integers, Mean, Question, Table

THREADS, ROUNDS = 8, 1000
TABLE = Table(pyarrow.table({"age": list(range(50))}), {"age": Integers(0, 99)})
Step = Callable[[Session], Any]


@pytest.fixture(autouse=True)
def _restless() -> Iterator[None]:
    """Threads take turns as often as they can."""
    before = sys.getswitchinterval()
    sys.setswitchinterval(1e-6)
    yield
    sys.setswitchinterval(before)


def _fails() -> None:
    raise ZeroDivisionError


def mixed(rng: Random, *, pure: bool) -> Step:
    """A request of any kind, at a price that no float has."""
    eps = Fraction(rng.randint(1, 60), 997)
    steps: list[Step] = [
        lambda session: session.ask(Count("age > 7"), epsilon=eps),
        lambda session: session.ask(Mean("age"), epsilon=eps),
        lambda session: session.ask(Histogram("age", bins=3), epsilon=eps),
        lambda session: session.open(SparseVector(9, epsilon=eps, positives=2, refresh=eps > Fraction(1, 30))),
        lambda session: session.open(GuessAndCheck(9, epsilon=eps, corrections=3)),
        lambda session: session.delegate(SumFilter(eps)).ask(Count(), epsilon=eps / 2),
        lambda session: session.commit([Question(Count(), epsilon=eps / 3)] * 2),
        lambda session: session.pay("failure", [PureDP(eps)], _fails),
    ]
    if not pure:
        steps.append(lambda session: session.ask(Count(), rho=eps**2))
    return rng.choice(steps)


def attempt(session: Session, step: Step) -> str:
    try:
        step(session)
    except BudgetExceeded:
        return "refused"
    except MechanismFailed:
        return "failed"
    return "answered"


def paid(entries: tuple[Entry, ...]) -> tuple[Fraction | None, Fraction]:
    """Σε, if all that was paid has one, and Σρ, from the transcript and by hand."""
    costs: list[Any] = [cost for entry in entries if entry.outcome != "refused" for cost in entry.costs]
    assert all(isinstance(cost, PureDP | ZCDP) or (isinstance(cost, ApproxDP) and not cost.delta) for cost in costs)
    rho = sum((Fraction(c.rho) if isinstance(c, ZCDP) else Fraction(c.epsilon) ** 2 / 2 for c in costs), Fraction(0))
    if any(isinstance(cost, ZCDP) for cost in costs):
        return None, rho
    return sum((Fraction(cost.epsilon) for cost in costs), Fraction(0)), rho


def admitted(entry: Entry) -> int:
    """A plan that is committed whole is one request, whatever it is charged as."""
    return 1 if entry.what.startswith("plan: ") else len(entry.costs)


def check_accounts(session: Session, outcomes: list[str]) -> None:
    """What callers saw, what the transcript says, and what the filter holds are the same; and it is within the cap."""
    entries, budget = session.transcript, session.budget
    assert Counter(entry.outcome for entry in entries) == Counter(outcomes)
    assert [entry.number for entry in entries] == list(range(len(outcomes)))
    assert budget.admitted == sum(admitted(entry) for entry in entries if entry.outcome != "refused")
    eps, rho = paid(entries)
    assert budget.spent.rho in (None, rho)
    if isinstance(budget, SumFilter):
        assert budget.spent.epsilon == eps
        assert eps is not None
        assert eps <= budget.epsilon
    elif isinstance(budget, BestFilter):
        assert budget.spent.epsilon == eps
        assert rho <= budget.cap or (eps is not None and eps <= budget.epsilon)
    else:
        assert isinstance(budget, ZCDPFilter)
        assert rho <= budget.rho


@pytest.mark.parametrize("budget", [SumFilter(3), ZCDPFilter("1/15"), BestFilter(2, "1e-6")])
def test_eight_threads_with_everything(budget: Filter) -> None:
    """In whatever order: cheap requests, of which half fail, come first; and prices add up to more than the budget."""
    session, outcomes, cheap = Session(TABLE, budget), list[str](), (Fraction(1, 10**6), Fraction(1, 10**6 + 1))
    barrier = threading.Barrier(THREADS)

    def work(seed: int) -> None:
        rng = Random(seed)
        barrier.wait()
        outcomes.extend(attempt(session, _payment(price)) for price in cheap)
        barrier.wait()
        for _ in range(25):
            outcomes.append(attempt(session, mixed(rng, pure=isinstance(budget, SumFilter))))

    threads = [threading.Thread(target=work, args=(seed,)) for seed in range(THREADS)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert len(outcomes) == THREADS * 27
    assert all(outcomes.count(each) > 5 for each in ("answered", "failed", "refused"))
    check_accounts(session, outcomes)


def test_two_hundred_tasks() -> None:
    session, rng = Session(TABLE, SumFilter("3/2")), Random(9)
    amounts = [Fraction(rng.randint(1, 40), 1009) for _ in range(200)]

    async def ask(eps: Fraction) -> str:
        await asyncio.sleep(rng.random() / 100)
        try:
            await session.ask_async(Count() if rng.random() < 0.5 else Mean("age"), epsilon=eps)
        except BudgetExceeded:
            return "refused"
        return "answered"

    async def main() -> list[str]:
        return list(await asyncio.gather(*map(ask, amounts)))

    outcomes = asyncio.run(main())
    assert 0 < outcomes.count("refused") < 200
    check_accounts(session, outcomes)
    admitted = sum((eps for eps, each in zip(amounts, outcomes, strict=True) if each == "answered"), Fraction(0))
    assert admitted == session.budget.spent.epsilon


class Overspent(AssertionError):
    """What the hammer is after."""


def hammer(make: Callable[[Table, Filter], Session], rounds: int, seed: int) -> int:
    """Short rounds of contested requests, each at a random schedule; the number of requests, or Overspent."""
    rng, done = Random(seed), 0
    with ThreadPoolExecutor(THREADS) as pool:
        for _ in range(rounds):
            session = make(TABLE, SumFilter(1))
            prices = [[Fraction(1, rng.randint(2, 12)) for _ in range(rng.randint(1, 3))] for _ in range(THREADS)]
            naps = [[rng.randint(0, 3) for _ in each] for each in prices]
            barrier = threading.Barrier(THREADS)
            jobs = [pool.submit(_requests, session, *each, barrier) for each in zip(prices, naps, strict=True)]
            _check_round(session, [outcome for job in jobs for outcome in job.result()], sum(map(len, prices)))
            done += sum(map(len, prices))
    return done


def _requests(
    session: Session, prices: list[Fraction], naps: list[int], barrier: threading.Barrier
) -> list[tuple[Fraction, str]]:
    barrier.wait()
    found = []
    for price, nap in zip(prices, naps, strict=True):
        for _ in range(nap):
            time.sleep(0)
        found.append((price, attempt(session, _payment(price))))
    return found


def _payment(price: Fraction) -> Step:
    """Every fifth price or so is paid for an error."""
    run: Callable[[], Any] = _fails if price.denominator % 5 == 0 else int
    return lambda session: session.pay("x", [PureDP(price)], run)


def _check_round(session: Session, outcomes: list[tuple[Fraction, str]], requests: int) -> None:
    spent = sum((price for price, outcome in outcomes if outcome != "refused"), Fraction(0))
    if spent > 1 or spent != session.budget.spent.epsilon:
        raise Overspent(f"{spent} was told, {session.budget.spent.epsilon} was debited, and 1 is the cap")
    assert len(outcomes) == requests
    assert all(spent + price > 1 for price, outcome in outcomes if outcome == "refused")  # none was refused in vain
    check_accounts(session, [outcome for _, outcome in outcomes])


@pytest.mark.slow_cases("1000")
@pytest.mark.parametrize("rounds", [ROUNDS // 10, ROUNDS])
def test_contested_rounds(rounds: int) -> None:
    assert hammer(Session, rounds, seed=1) > 10 * rounds


class Unlocked(Session):
    """Reads, and then writes what it has read a moment ago."""

    def _debit(self, what: str, costs: tuple[Request, ...]) -> int:
        state = self._budget
        time.sleep(0)
        fresh = Session(self.table, state)
        fresh._debit(what, costs)  # raises if it does not fit
        self._budget = fresh._budget
        self._entries.append(Entry(len(self._entries), what, costs, "paid"))
        return len(self._entries) - 1


class TwoLocks(Session):
    """Looks whether it fits under the lock, lets go, and takes the lock again to pay."""

    def _debit(self, what: str, costs: tuple[Request, ...]) -> int:
        Session(self.table, self.budget)._debit(what, costs)
        time.sleep(0)
        with self._lock:
            for cost in costs:
                spent = self._budget.spent.plus(self._budget.price(cost))
                self._budget = self._budget._moved(spent, self._budget.admitted + 1)
            self._entries.append(Entry(len(self._entries), what, costs, "paid"))
            return len(self._entries) - 1


class Refunding(Session):
    """Gives back what failed: an error would be a way to ask for free."""

    def pay(self, what: str, costs: Any, run: Callable[[], Any]) -> Any:
        before = self.budget
        try:
            return super().pay(what, costs, run)
        except MechanismFailed:
            self._budget = before
            raise


@pytest.mark.parametrize("broken", [Unlocked, TwoLocks, Refunding])
def test_the_hammer_catches_broken_sessions(broken: type[Session]) -> None:
    """They are caught within five rounds of a thousand, on one core and on many."""
    with pytest.raises((Overspent, AssertionError)):  # overspent, or the accounts of callers and session disagree
        hammer(broken, ROUNDS, seed=2)
