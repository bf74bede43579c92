"""What the pages of an owner show, put together from what the interface tells; nothing is reckoned here."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from fastapi import Request
from starlette.concurrency import run_in_threadpool

from optcomp.center import (
    Dataset,
    Person,
    Wish,
    api_analyst,
    api_audit,
    api_owner,
    replies,
    service_of,
)
from optcomp.pages.charts import Curve, line_chart


@dataclass(frozen=True)
class AccountShown:
    """An account, and the data sets that it pays for."""

    about: Mapping[str, Any]
    datasets: tuple[replies.Dataset, ...]

    @property
    def left(self) -> float:
        """The share that is left, for a gauge."""
        return max(0.0, 1.0 - float(self.about["spent"]))


@dataclass(frozen=True)
class SeatShown:
    """A seat with what the ledger says of its slot."""

    seat: replies.Seat
    slot: Mapping[str, Any]
    session: Mapping[str, Any] | None

    @property
    def left(self) -> float:
        """The share that is left, for a gauge."""
        return 1.0 if self.session is None else max(0.0, 1.0 - float(self.session["spent"]))

    @property
    def unused(self) -> bool:
        """Whether it can be handed on: nothing was asked in it."""
        return self.session is None


async def accounts_shown(request: Request) -> list[AccountShown]:
    """All accounts that data sets of this owner are paid by."""
    told = (await api_audit.accounts(request)).entries
    found = (await run_in_threadpool(_datasets, request)).values()
    shown = [AccountShown(each, tuple(_named(found, each["name"]))) for each in told]
    return [each for each in shown if each.datasets]


def _datasets(request: Request) -> dict[str, Dataset]:
    person: Person = request.state.person
    return {each.name: each for each in service_of(request).catalogue.datasets() if person.sees(each.account)}


def _named(found: Any, account: str) -> list[replies.Dataset]:
    return [replies.Dataset.of(each) for each in found if each.account == account]


async def seats_shown(
    request: Request, accounts: Sequence[AccountShown], dataset: str | None = None
) -> list[SeatShown]:
    """Seats, all or those of a data set, with their slots."""
    found = (await run_in_threadpool(api_analyst.seats, request)).seats
    slots, sessions = _by_dataset(accounts, "slots"), _by_dataset(accounts, "sessions")
    return [
        SeatShown(seat, slots[seat.dataset].get(seat.slot, _NO_SLOT), sessions[seat.dataset].get(seat.slot))
        for seat in found
        if seat.dataset in slots and dataset in (None, seat.dataset)
    ]


def _by_dataset(accounts: Sequence[AccountShown], kind: str) -> dict[str, dict[str, Any]]:
    """Slots or sessions by name, for each data set."""
    named = {each.about["name"]: {one["name"]: one for one in each.about[kind]} for each in accounts}
    return {dataset.name: named[each.about["name"]] for each in accounts for dataset in each.datasets}


_NO_SLOT = {"epsilon": "0", "delta": "0", "state": "taken"}
"""Of a seat that is being handed on at this moment."""


async def open_wishes(request: Request) -> list[Wish]:
    """What analysts ask for and nobody has decided; the owner sees those about the accounts of their token."""
    found = await run_in_threadpool(service_of(request).catalogue.wishes, request.state.person)
    return [each for each in found if each.state == "open"]


async def waiting(request: Request) -> list[dict[str, Any]]:
    """What waits for a second owner, each with its facts as text."""
    found = (await run_in_threadpool(api_owner.confirmations, request)).entries
    return [each | {"facts": facts(each["detail"])} for each in found]


def facts(detail: Mapping[str, Any]) -> list[tuple[str, str]]:
    """A detail as names and words; long documents are left out."""
    return [(name.replace("_", " "), _plain(value)) for name, value in detail.items() if _told(name, value)]


_LONG = ("certificate", "declaration")
"""What is too long for a line: both can be downloaded."""


def _told(name: str, value: Any) -> bool:
    return name not in _LONG and value is not None and value != ""


def _plain(value: Any) -> str:
    if isinstance(value, Mapping):
        return ", ".join(f"{name}: {_plain(each)}" for name, each in value.items())
    if isinstance(value, list | tuple):
        return " / ".join(map(_plain, value))
    return {True: "yes", False: "no"}.get(value, str(value)) if isinstance(value, bool) else str(value)


def gain_picture(gains: Sequence[replies.Gain], names: Mapping[str, str]) -> Any:
    """The ε of a slot over the number of slots, by optimal composition and by splitting."""
    curves = [
        Curve(names["optimal"], [(each.slots, float(each.optimal)) for each in gains]),
        Curve(names["split"], [(each.slots, float(each.split)) for each in gains]),
    ]
    return line_chart(
        curves, title=names["title"], across=names["across"], up=names["up"], log_across=True, log_up=True
    )
