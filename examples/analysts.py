"""Three analysts interleave on one table, each within a quota, until one is refused; the total is certified.

Run by `make demo`.  The quotas are fixed before the first answer, so whatever the three do, in whatever order, and even
if they put all answers together, the total is the optimal composition of the quotas (Lyu22-1).
"""

from __future__ import annotations

import asyncio

from people import survey

import optcomp as oc
from optcomp.interactive import GuessAndCheck, Session, SparseVector, SumFilter, concurrent, open_sessions
from optcomp.statistics import Count, Histogram, Mean, Median, Quantiles, Question

DELTA = "1e-6"


def say(session: Session, text: str) -> None:
    """One line of one analyst."""
    print(f"  {session.name:>4} | {text}")


async def surveyor(session: Session) -> None:
    """Plain statistics, one after another, until the budget refuses; a smaller question still fits."""
    for statistic in (Count("employed == True"), Mean("income"), Median("age"), Mean("hours", "employed == True")):
        answer = await session.ask_async(statistic, epsilon="0.1")
        say(session, f"{statistic}: about {answer.value:,.0f}")
    try:
        await session.ask_async(Mean("satisfaction"), epsilon="0.2")
    except oc.BudgetExceeded as error:
        say(session, f"REFUSED {error}")
    answer = await session.ask_async(Mean("satisfaction"), epsilon="0.1")
    say(session, f"mean of satisfaction with ε = 0.1 instead: about {answer.value:.2f}")


async def searcher(session: Session) -> None:
    """Two interactive mechanisms at once: a search for an age, and guesses to be checked."""
    many = session.open(SparseVector(2000, epsilon="0.2", sensitivity=2, monotone=True))
    guesses = session.open(GuessAndCheck(1500, epsilon="0.3", corrections=2, sensitivity=2))
    for age, (region, guess) in zip(
        range(95, 60, -5), (("north", 13_000), ("islands", 9_000), ("south", 15_000)), strict=False
    ):
        if await asyncio.to_thread(many.ask, Count(f"age >= {age}")):
            say(session, f"about 2,000 rows or more are of people of {age} or older")
            break
        found = await asyncio.to_thread(guesses.ask, Count(f"region == '{region}'"), guess)
        told = f"no, rather {found.value:,.0f}" if found.corrected else "about right"
        say(session, f"{guess:,} rows from region {region}? {told}")


async def planner(session: Session) -> None:
    """A batch declared whole before its first answer: it costs its optimal composition, not its sum."""
    questions = [Question(Histogram("satisfaction", where=f"region == '{name}'"), epsilon="0.04") for name in REGIONS]
    questions += [Question(Quantiles("income", where=f"age >= {age}"), epsilon="0.04") for age in range(20, 80, 5)]
    plan = session.commit(questions, delta="1e-7")
    asked = len(questions) * 0.04
    say(
        session,
        f"{len(questions)} questions of ε = 0.04, committed at once: {plan.bound.epsilon:.3f} for a sum of {asked:.2f}",
    )
    islands = (await asyncio.to_thread(plan.answer, len(REGIONS) - 1)).value
    say(session, f"satisfaction on the islands: {list(islands.values())[:11]}")


REGIONS = ("north", "east", "south", "west", "centre", "islands")


async def together(sessions: dict[str, Session]) -> None:
    """All three at once."""
    ada, ben, cem = sessions.values()
    await asyncio.gather(surveyor(ada), searcher(ben), planner(cem))


def main() -> None:
    """Open the sessions, let the analysts ask, and certify the total."""
    table = survey()
    quotas = {"ada": SumFilter("0.5"), "ben": SumFilter("0.5"), "cem": SumFilter("0.8", "1e-7")}
    sessions = open_sessions(table, quotas)
    total = concurrent(sessions.values(), delta=DELTA)
    print(f"{table!r}: three analysts with quotas of ε = 0.5, 0.5 and (0.8, 1e-7), at once:\n")
    asyncio.run(together(sessions))
    print()
    for session in sessions.values():
        print(f"  {session.name:>4} has {session.remaining()}")
    print(f"\n  All that they learned together is ({total.epsilon:.6f}, {DELTA})-differentially private; no ε below")
    print(f"  {total.lower:.6f} could be promised for these quotas.  {total.theorem}, {total.notes[-1]}.")


if __name__ == "__main__":
    main()
