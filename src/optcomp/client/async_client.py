"""The same client for asynchronous programs: every question may wait while others go on."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from ssl import SSLContext
from types import TracebackType
from typing import Any, Self, TypeVar

import httpx

from optcomp.client import flows, release_flows
from optcomp.client.exchange import Flow
from optcomp.client.flows import SeatPlace
from optcomp.client.frames import frame
from optcomp.client.release_flows import PlanLike
from optcomp.client.wire import carry_out_async, checked
from optcomp.interactive import Answer, Entry, Mechanism, Remaining, question_of
from optcomp.numerics import Number
from optcomp.statistics import Declared, Question, Statistic
from optcomp.statistics.noise import Noise

T = TypeVar("T")


class AsyncClient:
    """A data centre, as one person with a token sees it.

    A request that nobody answered is sent again up to `retries` times, with its key: it is paid once.
    `verify` is for a server whose certificate is not one that the system knows.
    """

    def __init__(
        self,
        url: str,
        token: str,
        *,
        timeout: float = 120.0,
        retries: int = 3,
        verify: bool | SSLContext = True,
        transport: httpx.AsyncBaseTransport | None = None,
    ) -> None:
        self._retries = retries
        self._http = httpx.AsyncClient(**checked(url, token, timeout, retries), verify=verify, transport=transport)

    async def datasets(self) -> list[str]:
        """The names of the datasets that you may ask."""
        return await carry_out_async(self._http, flows.datasets(self._retries))

    async def free_answers(self, dataset: str) -> list[Answer]:
        """Answers that others shared, where the owner allows it; they cost nothing."""
        return await carry_out_async(self._http, flows.free_answers(dataset, self._retries))

    async def open(self, dataset: str, *, slot: str | None = None) -> AsyncRemoteSession:
        """Your session about a dataset; `slot` says which one if you have several."""
        return AsyncRemoteSession(
            self._http, await carry_out_async(self._http, flows.opened(dataset, slot, self._retries))
        )

    async def look(self, dataset: str, plan: PlanLike) -> dict[str, Any]:
        """What a plan would cost, and how far off its numbers would be; nothing is spent.  For owners."""
        return await carry_out_async(self._http, release_flows.look(dataset, plan, self._retries))

    async def release(
        self, dataset: str, plan: PlanLike, *, key: str | None = None, publish: bool = False
    ) -> dict[str, Any]:
        """Release a plan: debited from the dataset's account, once, and never undone.  For owners.

        The result has the `record`; or a `confirmation`, if another owner must confirm it first.  With `publish`
        everybody who may see the dataset may read it.
        """
        return await carry_out_async(self._http, release_flows.release(dataset, plan, key, publish, self._retries))

    async def releases(self, dataset: str) -> list[dict[str, Any]]:
        """The releases about a dataset that you may read."""
        return await carry_out_async(self._http, release_flows.releases(dataset, self._retries))

    async def release_record(self, dataset: str, number: int) -> dict[str, Any]:
        """The record of a release, which `optcomp.release.verify_release` proves again."""
        return await carry_out_async(self._http, release_flows.release_record(dataset, number, self._retries))

    async def release_file(self, dataset: str, number: int, form: str = "json") -> str:
        """The record as text, its numbers as `csv`, or a report in `html`; it costs nothing."""
        return await carry_out_async(self._http, release_flows.release_file(dataset, number, form, self._retries))

    async def publish(self, dataset: str, number: int, published: bool = True) -> dict[str, Any]:
        """Let everybody who may see the dataset read a release, or end that.  For owners."""
        return await carry_out_async(self._http, release_flows.publish(dataset, number, published, self._retries))

    async def close(self) -> None:
        """Give back the connections."""
        await self._http.aclose()

    async def __aenter__(self) -> Self:
        return self

    async def __aexit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        await self.close()

    def __repr__(self) -> str:
        return f"AsyncClient({str(self._http.base_url)!r})"


class AsyncRemoteSession:
    """Questions and interactive mechanisms about one dataset of a centre, within one slot."""

    def __init__(self, http: httpx.AsyncClient, seat: SeatPlace) -> None:
        self._http, self._seat = http, seat

    @property
    def name(self) -> str:
        """Of the slot."""
        return self._seat.slot

    @property
    def declared(self) -> Declared:
        """What is declared about the table."""
        return self._seat.declared

    async def transcript(self) -> tuple[Entry, ...]:
        """Everything that was asked, with its outcome; no answers."""
        return await self._do(flows.transcript(self._seat))

    async def ask(
        self,
        statistic: Statistic | Question,
        *,
        epsilon: Number | None = None,
        delta: Number | None = None,
        rho: Number | None = None,
        mechanism: str | Noise | None = None,
        key: str | None = None,
        repeat: int = 0,
        share: bool = False,
    ) -> Answer:
        """Answer a statistic with noise for ε, (ε, δ) or ρ; BudgetExceeded if that does not fit.

        The same question again has the same answer, and costs nothing; `repeat=1` buys fresh noise.  With `share`
        others may read question and answer, where the owner allows it.
        """
        question = question_of(statistic, epsilon, delta, rho, mechanism)
        return await self._do(flows.ask(self._seat, question, key, repeat, share))

    async def remaining(self, like: Question | None = None) -> Remaining:
        """What is left; with `like`, how many more such questions fit."""
        return await self._do(flows.remaining(self._seat, like))

    async def preview(
        self,
        statistic: Statistic | Question,
        *,
        epsilon: Number | None = None,
        delta: Number | None = None,
        rho: Number | None = None,
        mechanism: str | Noise | None = None,
        confidence: float = 0.95,
    ) -> dict[str, Any]:
        """What a question would cost, and how far off its answer may be; nothing is spent."""
        question = question_of(statistic, epsilon, delta, rho, mechanism)
        return await self._do(flows.preview(self._seat, question, confidence))

    async def dry_run(
        self,
        statistic: Statistic | Question,
        *,
        epsilon: Number | None = None,
        delta: Number | None = None,
        rho: Number | None = None,
        mechanism: str | Noise | None = None,
        rows: int = 1000,
    ) -> Answer:
        """The answer about data that were invented from the declaration; nothing is spent, and it says nothing."""
        question = question_of(statistic, epsilon, delta, rho, mechanism)
        return await self._do(flows.dry_run(self._seat, question, rows))

    async def open(self, mechanism: Mechanism, *, key: str | None = None, repeat: int = 0) -> AsyncRemoteRun:
        """Pay for an interactive mechanism and start it; asked for again, it goes on where it was."""
        return AsyncRemoteRun(self, *await self._do(flows.open_mechanism(self._seat, mechanism, key, repeat)))

    async def commit(
        self, questions: Iterable[Question], *, delta: Number = 0, key: str | None = None
    ) -> AsyncRemotePlan:
        """Declare a batch whole before its first answer, at the price of its optimal composition."""
        return AsyncRemotePlan(self, *await self._do(flows.commit(self._seat, questions, delta, key)))

    async def why(self, request: int) -> dict[str, Any]:
        """Why an answer is private: theorems, slot, certificate of the batch, receipt."""
        return await self._do(flows.why(self._seat, request))

    async def wish(self, words: str) -> dict[str, Any]:
        """Ask the owner for more."""
        return await self._do(flows.wish(self._seat, words))

    async def cancel(self, key: str) -> dict[str, Any]:
        """Stop a request; what it cost stays spent."""
        return await self._do(flows.cancel(self._seat, key))

    async def explain(self) -> str:
        """What was asked and what is left, in words."""
        return await self._do(flows.explained(self._seat))

    def frame(self, answers: Iterable[Answer], confidence: Number = 0.95) -> Any:
        """Answers as a data frame with error bars."""
        return frame(answers, confidence)

    async def _do(self, flow: Flow[T]) -> T:
        return await carry_out_async(self._http, flow)

    def __repr__(self) -> str:
        return f"AsyncRemoteSession({self._seat.slot!r}, {self._seat.dataset!r})"


class AsyncRemoteRun:
    """A mechanism at work in a centre: ask it as the mechanism's own runs are asked."""

    def __init__(self, session: AsyncRemoteSession, number: int, spec: Mechanism) -> None:
        self._session, self.number, self.spec = session, number, spec

    async def ask(self, *args: Any, key: str | None = None, repeat: int = 0, **named: Any) -> Any:
        """Ask the mechanism; the same question again has the same answer, unless `repeat` counts it as another one."""
        seat = self._session._seat
        asked = self.spec.form(seat.declared, *args, **named)
        return await self._session._do(flows.ask_mechanism(seat, self.number, self.spec, asked, key, repeat))

    def __repr__(self) -> str:
        return f"AsyncRemoteRun({self.spec})"


class AsyncRemotePlan:
    """A batch whose parameters were fixed before its first answer."""

    def __init__(self, session: AsyncRemoteSession, number: int, count: int) -> None:
        self._session, self.number, self._count = session, number, count

    async def answer(self, index: int) -> Answer:
        """The answer to a question; the same one when asked again."""
        return await self._session._do(flows.planned(self._session._seat, self.number, index))

    async def answers(self, progress: Callable[[int, int], None] | None = None) -> tuple[Answer, ...]:
        """All answers; `progress` is told after each how many there are, and how many there will be."""
        found: list[Answer] = []
        while len(found) < self._count:
            found.append(await self.answer(len(found)))
            if progress is not None:
                progress(len(found), self._count)
        return tuple(found)
