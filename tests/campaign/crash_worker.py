"""A worker: opens the ledger, does the script from its beginning, tells every answer on a pipe, and may be killed."""

from __future__ import annotations

import json
import os
import traceback
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from optcomp.errors import BudgetExceeded, MechanismClosed
from optcomp.interactive import GuessAndCheck, PrivateMultiplicativeWeights, SparseVector, SumFilter
from optcomp.ledger import Account, Ledger
from optcomp.statistics import Count, Question, Table
from tests.campaign.crash_points import break_ledger, install
from tests.campaign.crash_script import ACCOUNT, Script, Step


@dataclass(frozen=True)
class Place:
    """Where a ledger and its table are."""

    address: str
    private: Path
    snapshot: Path


class Told:
    """A line for each answer, written whole: what was written before a kill can be read after it."""

    def __init__(self, pipe: int) -> None:
        self._pipe = pipe

    def tell(self, **line: Any) -> None:
        """Reveal something."""
        os.write(self._pipe, (json.dumps(line, sort_keys=True) + "\n").encode())


class Worker:
    """Carries out steps; nothing that it knows outlives it."""

    def __init__(self, account: Account, table: Table) -> None:
        self._account, self._table = account, table
        self._made: dict[str, Any] = {ACCOUNT: account}

    def do(self, step: Step) -> dict[str, Any] | None:
        """What is told of it; None if it belongs to something that was refused."""
        needed = {step.holder, *([step.of] if step.do in ("ask", "planned") else [])}
        if step.do == "slot" and step.of not in {slot.name for slot in self._account.slots}:
            return None
        if not needed <= set(self._made):
            return None
        try:
            found: dict[str, Any] = getattr(self, f"_{step.do}")(step)
        except BudgetExceeded:
            return {"refused": True}
        except MechanismClosed:
            return {"closed": True}
        return found

    def _session(self, step: Step) -> dict[str, Any]:
        self._made[step.key] = self._account.session(self._table, SumFilter(*step.costs), name=step.key)
        return {"answer": "open"}

    def _delegate(self, step: Step) -> dict[str, Any]:
        self._made[step.key] = self._made[step.holder].delegate(SumFilter(*step.costs), name=step.key)
        return {"answer": "open"}

    def _batch(self, step: Step) -> dict[str, Any]:
        shares = dict.fromkeys(step.where.split(), "0.3")
        found = self._account.cut(shares, delta=0, epsilon=step.costs[0], name=step.key)
        return {"answer": {name: str(slot.epsilon) for name, slot in found.items()}}

    def _slot(self, step: Step) -> dict[str, Any]:
        self._made[step.key] = self._account.slot(step.of).session(self._table)
        return {"answer": "open"}

    def _question(self, step: Step) -> dict[str, Any]:
        found = self._made[step.holder].ask(Count(step.where), epsilon=step.costs[0], key=step.key, repeat=step.number)
        return {"answer": found.document(), "receipt": found.receipt}

    def _plan(self, step: Step) -> dict[str, Any]:
        questions = [Question(Count(f"age > {20 + n}"), epsilon=cost) for n, cost in enumerate(step.costs)]
        self._made[step.key] = self._made[step.holder].commit(questions, key=step.key)
        return {"answer": "committed"}

    def _planned(self, step: Step) -> dict[str, Any]:
        found = self._made[step.of].answer(step.number)
        return {"answer": found.document(), "receipt": found.receipt}

    def _open(self, step: Step) -> dict[str, Any]:
        self._made[step.key] = self._made[step.holder].open(_mechanism(step), key=step.key)
        return {"answer": "open"}

    def _ask(self, step: Step) -> dict[str, Any]:
        run = self._made[step.of]
        if isinstance(run.spec, SparseVector):
            found = run.ask(Count(step.where), key=step.key, repeat=step.number)
        elif isinstance(run.spec, GuessAndCheck):
            found = run.ask(Count(step.where), 20, key=step.key, repeat=step.number)
        else:
            found = run.ask(step.where, key=step.key, repeat=step.number)
        return {"answer": run.spec.told(found), "receipt": run.receipt.document()}

    def close(self) -> None:
        """Close the sessions."""
        for made in self._made.values():
            if hasattr(made, "close"):
                made.close()


def _mechanism(step: Step) -> Any:
    epsilon, number = step.costs[0], step.number
    if step.of == "sparse vector":
        return SparseVector(20, epsilon=epsilon, positives=number)
    if step.of == "guess and check":
        return GuessAndCheck(10, epsilon=epsilon, corrections=number)
    return PrivateMultiplicativeWeights(["region"], tolerance=10, epsilon=epsilon, corrections=number)


def work(place: Place, script: Script, pipe: int, point: str | None, times: int, broken: str | None) -> int:
    """The life of a worker; its exit code."""
    told = Told(pipe)
    try:
        install(point, times)
        if broken is not None:
            break_ledger(broken, lambda answer: told.tell(step=current[0], answer=json.loads(answer)))
        current = [0]
        table = Table.open(place.snapshot)
        with Ledger(place.address, private=place.private) as ledger:
            worker = Worker(ledger.open(ACCOUNT, SumFilter(script.budget)), table)
            for current[0], step in enumerate(script.steps):
                found = worker.do(step)
                if found is not None:
                    told.tell(step=current[0], **found)
            worker.close()
    except BaseException:  # whatever it is: the judge will tell
        told.tell(error=traceback.format_exc())
        return 1
    return 0
