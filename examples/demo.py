"""The main job, end to end: a real data centre on this machine, two analysts who ask it, and an auditor who verifies.

Run by `make demo`; `make serve` starts the same centre and keeps it running.  Three analysts have a slot of ε = 0.5
each.  Whatever they ask, in whatever order, also if they put all answers together, is private by the
certificate of the batch.
"""

from __future__ import annotations

import json
from typing import Any
from urllib.request import Request, urlopen

import total

import optcomp as oc
from optcomp.center import demo_server
from optcomp.client import Client, RemoteSession
from optcomp.interactive import SparseVector
from optcomp.statistics import Count, Histogram, Mean


def say(who: str, text: str) -> None:
    """One line of one person."""
    print(f"  {who:>4} | {text}")


def surveyor(session: RemoteSession) -> None:
    """Look before paying, ask, ask again for nothing, and be refused what does not fit."""
    old = Count("age >= 65")
    told = session.preview(old, epsilon="0.1")
    say("ada", f"{told['words']} would be {told['error']['words']}; {told['note']}")
    answer = session.ask(old, epsilon="0.1")
    low, high = answer.interval()
    say("ada", f"{old}: about {answer.value:,.0f}, between {low:,.0f} and {high:,.0f} (95 %)")
    same = session.ask(old, epsilon="0.1").value == answer.value
    say("ada", f"asked again: {'the same answer' if same else 'ANOTHER ANSWER'}, {session.remaining()}")
    by_region = session.ask(Histogram("region"), epsilon="0.2")
    say("ada", "rows by region: " + ", ".join(f"{name} {count:,.0f}" for name, count in by_region.value.items()))
    try:
        session.ask(Mean("income"), epsilon="0.3")
    except oc.BudgetExceeded as error:
        say("ada", f"REFUSED {error}")


def searcher(session: RemoteSession) -> None:
    """An interactive mechanism: many questions about a threshold, and only the first yes is paid for."""
    many = session.open(SparseVector(2000, epsilon="0.4", sensitivity=2, monotone=True))
    for age in range(95, 60, -5):
        if many.ask(Count(f"age >= {age}")):
            say("ben", f"about 2,000 rows or more are of people of {age} or older ({session.remaining()})")
            return


def reasons(session: RemoteSession) -> None:
    """Why the first answer is private."""
    number = int(session.transcript[0].note.split()[1])
    for theorem in session.why(number)["theorems"]:
        say("why", f"{theorem['about']}: {theorem['id']}, {theorem['name']}")


def verified(url: str, token: str) -> None:
    """The auditor has every total derived again from the chain of the ledger."""
    asked = Request(f"{url}/api/v1/audit/verification", headers={"Authorization": f"Bearer {token}"})
    with urlopen(asked, timeout=60) as response:
        found = json.load(response)
    outcome = "all of it is true" if found["ok"] else f"WRONG: {found['findings']}"
    say("ruth", f"derived all totals again from {found['entries']} entries of the ledger: {outcome}")
    say("ruth", f"whatever was told about the people of 'survey' is private within {found['accounts'][0]['total']}")


def _client(told: dict[str, Any], number: int) -> Client:
    return Client(told["url"], told["analysts"][number])


def main() -> None:
    """Start the centre, ask it, verify it, and stop it; then the total of a release."""
    with demo_server() as told, _client(told, 0) as first, _client(told, 1) as second:
        print(f"A data centre at {told['url']}: three analysts with a slot of ε = 0.5 each, an owner, an auditor.\n")
        ada, ben = first.open("survey"), second.open("survey")
        surveyor(ada)
        searcher(ben)
        reasons(ada)
        verified(told["url"], told["auditor"])
    print("\nThe server is stopped. And without any data, the total of a release:\n")
    total.main()
    print("\nThree analysts in one process: examples/analysts.py. A planned release: examples/planned.py.")


if __name__ == "__main__":
    main()
