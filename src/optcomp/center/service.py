"""A centre at work in one process: what its requests share.  No budget is kept here; all of them are in the ledger."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable, Mapping, Sequence
from contextlib import suppress
from contextvars import ContextVar
from fractions import Fraction
from typing import Any

from starlette.concurrency import run_in_threadpool

from optcomp.center import replies
from optcomp.center.buckets import Buckets
from optcomp.center.calculators import Calculators
from optcomp.center.cancellations import Cancelling
from optcomp.center.catalogue import Catalogue, Dataset, Seat
from optcomp.center.changes import Acting, Changes
from optcomp.center.failures import CenterError, database_failed
from optcomp.center.kinds import kind_of
from optcomp.center.meters import Meters
from optcomp.center.people import People
from optcomp.center.persons import Person
from optcomp.center.preparers import Preparers
from optcomp.center.problems import Problem, not_answered
from optcomp.center.processor_time import ProcessorTime
from optcomp.center.protection import described, log
from optcomp.center.rates import Rates
from optcomp.center.readiness import Readiness
from optcomp.center.runners import Runners, token_of
from optcomp.center.settings import Settings
from optcomp.center.store import Store
from optcomp.errors import InvalidInput, OptcompError
from optcomp.ledger import Ledger

_CODES = {
    "BudgetExceeded": "budget_exceeded",
    "InvalidInput": "invalid",
    "HypothesisNotMet": "invalid",
    "MechanismClosed": "conflict",
    "LedgerCopied": "conflict",
    "CannotAnswer": "conflict",
}
"""What the refusals of jobs are called, before any debit."""
_WORTH_TELLING = {"BudgetExceeded": ("remaining",), "InvalidInput": ("argument",), "HypothesisNotMet": ("theorem",)}
"""What else of a refusal a program may act on."""
_MOST_REFUSALS = 30
"""Refusals of one seat, or of the releases of one data set, that are noted in a minute: nobody fills the database."""
_REQUESTS = 60
"""Cancelling counts as so many requests: of the `rate` of a person, a share of cancellations in a minute."""
_AGAIN = 30.0
"""Seconds after which what was interrupted is looked for again: a process that is gone may hold it for a while."""
_WATCH = 5.0
"""Seconds after which it is tried again whether questions can be answered, and the ledger is looked at: a restore to a
point after the last look is not noticed by it."""

ASKING: ContextVar[int | None] = ContextVar("optcomp_asking", default=None)
"""Who asks, by number: set once for each request, so that no endpoint can forget whose turn a job takes."""


class Service:
    """Store, ledger and runners of one process of the centre."""

    def __init__(
        self,
        settings: Settings,
        finishing: Sequence[Callable[[Service], Awaitable[None]]] = (),
        *,
        calculates: bool = False,
    ) -> None:
        """`finishing` is what else goes on with work that was paid for and interrupted."""
        self.settings, self._more, self._calculates = settings, tuple(finishing), calculates
        self.store = Store(settings)
        self.ledger = Ledger(settings.ledger, **settings.beside_ledger)
        self.people, self.changes = People(self.store), Changes(self.store)
        self.rates = Rates(self.people)
        self.catalogue = Catalogue(self.store, self.ledger)
        self.runners = Runners(settings, settings.runners)
        self.cancelling = Cancelling(self.store, self.runners)
        self.meters, self._buckets = Meters(), Buckets(settings.bucket)
        self.readiness = Readiness(self.ledger, self.people, self.runners)
        self.calculators, self.preparers = Calculators(settings), Preparers(settings, self.store)
        self._finishing: asyncio.Task[None] | None = None
        self._watching: asyncio.Task[None] | None = None
        self._calculating: asyncio.Task[None] | None = None

    async def start(self) -> None:
        """Start the runners, and have them finish what was paid for and interrupted."""
        await self.runners.start()
        if self._calculates:
            self._calculating = asyncio.create_task(self.calculators.start())
        await self.readiness.look()
        self._finishing = asyncio.create_task(self._keep_finishing())
        self._watching = asyncio.create_task(self._keep_watching())

    async def _keep_finishing(self) -> None:
        while True:
            try:
                await self.finish()
            except Exception as error:  # the same question again runs them too
                log({"event": "finish", "failure": described(error)})
            await asyncio.sleep(_AGAIN)

    async def _keep_watching(self) -> None:
        while True:
            await asyncio.sleep(_WATCH)
            await self.readiness.look()

    async def finish(self) -> None:
        """Run requests that were paid for and whose process is gone, under their own keys; end such jobs of owners."""
        await self.preparers.tidy()
        waiting = {(each.account, each.holder) for each in await run_in_threadpool(self.ledger.waiting)}
        if waiting:
            for seat in await run_in_threadpool(self.catalogue.seats):
                if (seat.dataset.account, seat.slot) in waiting:
                    await self.runners.call("finish_waiting", {"seats": [place_of(seat)]})
        for more in self._more:
            await more(self)

    async def call(self, job: str, **arguments: Any) -> dict[str, Any]:
        """Have a job done where the data are; a refusal is raised as a problem."""
        kind, person = kind_of(job), ASKING.get()
        meter = None if person is None else ProcessorTime(self.people, person, self.settings.free_processor_seconds)
        async with self._buckets.of(arguments.get("seat"), spends=kind.spends):
            if kind.spends and "seat" in arguments and arguments.get("key") is not None:
                self.cancelling.begins(token_of(arguments["seat"], arguments["key"]))
            found = await self.runners.call(job, arguments, person=person, meter=meter)
        if isinstance(found.get("error"), str):  # the error of a preview is how far off an answer may be
            if found["error"] == "BudgetExceeded" and kind.spends and "seat" in arguments:
                await run_in_threadpool(self._note_refusal_of_seat, job, arguments["seat"], found["words"])
            raise _refused(found)
        return found

    async def cancel(self, seat: Seat, key: str) -> bool:
        """Stop what works on a request of a seat; whether there was anything."""
        place, person = place_of(seat), ASKING.get()
        if person is not None:  # a process that is killed must be started again
            most = max(1, self.settings.rate // _REQUESTS)
            await run_in_threadpool(self.people.count, f"cancelled {person}", most)
        await self._buckets.end_of_bucket(place)
        return await self.cancelling.stop(token_of(place, key))

    def _note_refusal_of_seat(self, job: str, seat: Mapping[str, Any], reason: str) -> None:
        account, slot = str(seat["account"]), str(seat["slot"])
        with suppress(OptcompError):  # whoever asked is told of the refusal all the same
            about = {"slot": slot, "request": job.replace("_", " "), "reason": reason}
            self.note_refusal(self.catalogue.analyst_of(account, slot), account, slot, about)

    def note_refusal(self, who: str | Acting, account: str, holder: str, about: Mapping[str, str]) -> None:
        """For auditors: the ledger debits nothing for what it refuses, and so has no entry of it."""
        with suppress(OptcompError):  # as there
            self.people.count(f"refused {account} {holder}", _MOST_REFUSALS)
            self.changes.record(who, "refused", {"account": account, **about})

    async def preview(self, seat: Seat, question: Mapping[str, Any], confidence: float) -> dict[str, Any]:
        """What a question would cost; from the declaration and what is left."""
        place = place_of(seat)
        return await self.call("preview", seat=place, question=dict(question), confidence=confidence)

    def share(self, seat: Seat, request: int, person: Person) -> None:
        """An analyst agrees that the answer to a request, which is paid for, is told to others."""
        try:
            self.catalogue.agree(seat.id, str(request), by=person)
        except InvalidInput as error:
            if database_failed(error):
                raise not_answered() from None
            raise

    def present(self, receipt: Mapping[str, Any], person: Person) -> replies.Presented:
        """Look for what a receipt proves; see `Ledger.present`."""
        trusted = person.role in ("owner", "auditor") and person.scope is None
        problem = self.ledger.present(receipt, close=trusted)
        if problem is None:
            return replies.Presented(found=True, problem=None, closed=False)
        with suppress(OptcompError):  # noted at most so often in a minute
            self.people.count(f"receipts {person.id}", _MOST_REFUSALS)
            self.changes.record(person.name, "presented a receipt that does not fit", {"entry": receipt["sequence"]})
        words = problem if trusted else "the ledger has no such entry"  # how long it is would tell what others do
        return replies.Presented(found=False, problem=words, closed=trusted and self.ledger.doubt is not None)

    def shared(self, dataset: Dataset) -> list[dict[str, Any]]:
        """Seats with the requests whose answers are shared."""
        requests: dict[int, list[int]] = {}
        for seat, request in self.catalogue.agreed(dataset.name):
            requests.setdefault(seat, []).append(int(request))
        return [place_of(self.catalogue.seat(seat)) | {"requests": found} for seat, found in requests.items()]

    def notice(self, left: Mapping[str, Any]) -> str | None:
        """A word when less of a slot is left than the settings say."""
        shares = [Fraction(each["left"]) / Fraction(each["whole"]) for each in left["amounts"].values() if _some(each)]
        if shares and min(shares) < Fraction(self.settings.notice):
            return f"Little is left: {left['words']}. You can ask the owner for more."
        return None

    def gauges(self) -> dict[str, float]:
        """What the runners do now; where answers leave in buckets, that would tell how long they took."""
        runners = self.runners
        if self.settings.bucket:
            return {"runners": runners.count}
        waiting = {"waiting": runners.waiting, "waiting_to_read": runners.reading_waiting}
        return {"runners": runners.count, "runners_working": runners.working, **waiting}

    async def close(self) -> None:
        """End the runners, and give back all connections."""
        for task in (self._finishing, self._watching):
            if task is not None:
                task.cancel()
                with suppress(asyncio.CancelledError, CenterError):
                    await task
        await self.readiness.close()
        await self.runners.close()
        await self.cancelling.close()
        if self._calculating is not None:
            await self._calculating
        await self.calculators.close()
        await self.preparers.close()
        self.store.close()
        self.ledger.close()


def place_of(seat: Seat) -> dict[str, Any]:
    """A seat as jobs know it."""
    return {"account": seat.dataset.account, "slot": seat.slot, "snapshot": str(seat.dataset.snapshot)}


def _some(amount: Mapping[str, str]) -> bool:
    return Fraction(amount["whole"]) > 0


def _refused(found: Mapping[str, Any]) -> Problem:
    """What a job told instead of a result."""
    kind = str(found["error"])
    if kind == "NotAnswered":
        return not_answered()
    more = {name: found.get(name) for name in _WORTH_TELLING.get(kind, ())}
    if kind == "MechanismClosed":
        more["closed"] = True
    return Problem(_CODES.get(kind, "conflict"), str(found["words"]), **more)
