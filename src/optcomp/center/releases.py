"""Plans and releases, as whoever serves them calls them: plain values in and out, and no HTTP.

    await work_out(service, plan)                          errors and total of a plan about any table
    await look(service, "survey", plan, by=owner)          what a plan would cost; nothing is spent
    await release(service, "survey", plan, by=owner)       debits the account, once, and keeps the record
    seen_releases(service, "survey", person)               those that a person may read
    await released_file(service, "survey", 3, "csv", person)    one of them, as a file

The work is done in processes that can be killed.  A record never changes, and reading it costs nothing.
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, Literal, get_args

from starlette.concurrency import run_in_threadpool

from optcomp.center.changes import Acting
from optcomp.center.failures import Busy, CannotStart
from optcomp.center.persons import By, Person
from optcomp.center.problems import Problem
from optcomp.center.protection import described, log
from optcomp.center.refusals import NotFound
from optcomp.center.seen import seen_by
from optcomp.center.service import Service
from optcomp.center.shelf import Release, place_of_dataset
from optcomp.errors import InvalidInput
from optcomp.release import csv_text, notebook_text, script_text

Format = Literal["json", "csv", "html", "py", "ipynb"]
"""In which a record may be had."""
_MEDIA = {
    "json": "application/json",
    "csv": "text/csv; charset=utf-8",
    "html": "text/html; charset=utf-8",
    "py": "text/x-python; charset=utf-8",
    "ipynb": "application/x-ipynb+json",
}
"""What browsers are told about each."""
_WRITERS = {"csv": csv_text, "py": script_text, "ipynb": notebook_text}
"""What makes a file of a record; the report is made elsewhere, for it draws pictures."""


@dataclass(frozen=True)
class ReleasedFile:
    """A record in one of its formats, ready to be sent."""

    name: str
    media: str
    text: str


async def look(service: Service, name: str, plan: object, *, by: Person) -> dict[str, Any]:
    """Statistics, allocation, errors, cost, and what would be left; from the declaration and the account alone.

    `released` is the number of a release of the same plan, which would be given again for nothing.
    """
    by.check("change budgets")
    found = await run_in_threadpool(seen_by, service.catalogue, by, name)
    told = await service.call("look_at_plan", dataset=place_of_dataset(found), plan=plan)
    known = await run_in_threadpool(service.catalogue.known_release, name, told["plan"])
    return told | {"released": None if known is None else known.id}


async def work_out(service: Service, plan: object, start: object = None) -> dict[str, Any]:
    """Errors, budgets and the total of a plan about any table; no account is asked, and nothing is spent.

    `start` is what an earlier call told, for nearly the same plan: with it the search is quicker.
    """
    return await service.call("work_out", plan=plan, start=start)


async def work_out_first(service: Service, plan: object, start: object = None) -> dict[str, Any]:
    """Errors, budgets and the certified total alone, in half the time; the entry `later` says that there is more."""
    return await service.call("work_out", plan=plan, start=start, comparing=False)


async def compare(service: Service, plan: object, worked: Mapping[str, Any]) -> dict[str, Any]:
    """All that `work_out` tells, for what `work_out_first` told about the same plan: the same budgets and errors."""
    return await service.call("compare", plan=plan, worked=worked)


async def release(
    service: Service, name: str, plan: object, *, key: str | None = None, publish: bool = False, by: By
) -> Release:
    """Debit the account of a data set for a plan, run it, and keep the record; the same again costs nothing.

    Where two owners are wanted, `NeedsSecond` says under which number it waits.
    """
    meant = await run_in_threadpool(service.catalogue.mean_release, name, plan, key=key, publish=publish, by=by)
    return await _carried_out(service, meant)


async def confirm(service: Service, number: int, *, by: By) -> dict[str, Any]:
    """Another owner confirms a change that reads no source; a release is carried out where it can be killed."""
    kind = await run_in_threadpool(service.changes.kind, number)
    if kind != "release":
        return await run_in_threadpool(service.catalogue.confirm, number, by=by)
    waiting = await run_in_threadpool(service.changes.confirm, number, by)
    acts = Acting(waiting.who, waiting.second, waiting.id)
    meant = await run_in_threadpool(service.catalogue.mean_confirmed, waiting.detail, acts)
    made = await _carried_out(service, meant)
    return {"kind": waiting.kind, "who": waiting.who, "second": waiting.second, "made": made.document()}


async def finish(service: Service) -> None:
    """Finish what was debited and interrupted."""
    for each in await run_in_threadpool(service.catalogue.interrupted_releases):
        try:
            place = await run_in_threadpool(service.catalogue.place_of_release, each)
            found = await service.call("finish_release", dataset=place, plan=each.source)
            if found["record"] is not None:
                await run_in_threadpool(service.catalogue.keep_release, each, found["record"])
        except Exception as error:  # the others are not in its way
            log({"event": "finish", "release": each.id, "failure": described(error)})


def seen_releases(service: Service, name: str, person: Person) -> list[Release]:
    """All releases about a data set for owners; for others those that were published."""
    seen_by(service.catalogue, person, name)
    return [each for each in service.catalogue.releases(name) if _seen(each, person)]


def seen_release(service: Service, name: str, number: int, person: Person) -> Release:
    """One of them; what a person may not read is not there."""
    seen_by(service.catalogue, person, name)
    found = service.catalogue.release(name, number)
    if not _seen(found, person):
        raise NotFound("release", number)
    return found


def record_of(service: Service, release: Release) -> dict[str, Any]:
    """The record of a release."""
    found: dict[str, Any] = json.loads(service.catalogue.record_text(release))
    return found


async def released_file(service: Service, name: str, number: int, form: str, person: Person) -> ReleasedFile:
    """A release as JSON, CSV, a report in HTML, a script or a notebook, all made from its record; it costs nothing."""
    if form not in get_args(Format):
        raise InvalidInput("format", form, f"must be one of {', '.join(get_args(Format))}")
    found = await run_in_threadpool(seen_release, service, name, number, person)
    text = await run_in_threadpool(service.catalogue.record_text, found)
    if form in _WRITERS:
        text = await run_in_threadpool(_WRITERS[form], json.loads(text))
    elif form == "html":
        text = (await service.call("report", record=json.loads(text)))["page"]
    return ReleasedFile(f"release-{number}.{form}", _MEDIA[form], text)


def _seen(release: Release, person: Person) -> bool:
    return person.role == "owner" or (release.published and release.done)


async def _carried_out(service: Service, meant: Release) -> Release:
    """The release with its record; if it was refused before the debit, nothing of it stays."""
    if meant.done:
        return meant
    place = await run_in_threadpool(service.catalogue.place_of_release, meant)
    try:
        found = await service.call("release", dataset=place, plan=meant.source)
    except (Problem, Busy, CannotStart) as error:
        await run_in_threadpool(service.catalogue.drop_release, meant)  # unless it was debited
        if isinstance(error, Problem) and error.code == "budget_exceeded":
            await run_in_threadpool(_note_refusal, service, meant, str(place["account"]), error.message)
        raise
    return await run_in_threadpool(service.catalogue.keep_release, meant, found["record"])


def _note_refusal(service: Service, meant: Release, account: str, reason: str) -> None:
    about = {"dataset": meant.dataset, "plan": meant.plan, "request": "release", "reason": reason}
    service.note_refusal(Acting(meant.who, meant.second), account, f"releases of {meant.dataset}", about)
